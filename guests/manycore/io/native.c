/* I/O by this tile's own drivers for the baseline's controllers. Tiles are isolated only by keeping to their areas. */

#include "FreeRTOS.h"
#include "task.h"

#include "controllers.h"
#include "counter.h"
#include "io.h"
#include "mesh.h"
#include "platform.h"
#include "registers.h"

/* Cycles before a request for the counter in which the tile runs nothing else. */
#define UNDISTURBED 1000u

uint64_t io_timeout;

static struct area own;
/* Buffered part of a page of the flash, for later writes. */
static struct flash_page kept;

uint32_t io_open(const struct area *area)
{
    own = *area;
    return mesh_open() ? IO_DONE : IO_NO_DEVICE;
}

uint32_t io_flash_read(uint32_t address, void *to, size_t length)
{
    uint32_t place, status;

    if (!area_flash(&own, address, length, &place))
        return IO_BAD_ADDRESS;
    status = flash_flush(&kept);
    return status == IO_DONE ? flash_read(place, to, length) : status;
}

uint32_t io_flash_write(uint32_t address, const void *from, size_t length)
{
    uint32_t place;

    return area_flash(&own, address, length, &place) ? flash_write(&kept, place, from, length, false) : IO_BAD_ADDRESS;
}

uint32_t io_flash_append(uint32_t address, const void *from, size_t length)
{
    uint32_t place;

    return area_flash(&own, address, length, &place) ? flash_write(&kept, place, from, length, true) : IO_BAD_ADDRESS;
}

uint32_t io_flash_erase(uint32_t address)
{
    uint32_t place, status;

    if (!area_flash(&own, address, FLASH_SECTOR, &place))
        return IO_BAD_ADDRESS;
    status = flash_flush(&kept);
    return status == IO_DONE ? flash_erase(place) : status;
}

uint32_t io_draw(uint16_t x, uint16_t y, const void *colours, size_t length)
{
    uint32_t device_x, device_y;
    size_t part = area_row(&own, x, y, length, &device_x, &device_y);

    return part > 0 ? vga_draw(device_x, device_y, colours, part) : IO_DONE;
}

uint32_t io_send_frame(const void *frame, size_t length)
{
    return length <= IO_FRAME_MAX ? ethernet_send(frame, length) : IO_BAD_LENGTH;
}

uint32_t io_receive_frame(void *frame, size_t *length)
{
    uint32_t status = ethernet_receive(frame, length, true);

    /* A frame for another tile is dropped. */
    if (status == IO_DONE && *length > 0 && !area_receives(&own, frame))
        *length = 0;
    return status;
}

uint32_t io_print(const void *text, size_t length)
{
    return uart_write(text, length);
}

uint32_t io_finish(void)
{
    return IO_DONE;
}

uint32_t io_counter(uint64_t when, uint32_t *counter)
{
    uint64_t deadline = when + io_timeout;
    uint32_t status = registers_prepare(COUNTER_ADDRESS, deadline);

    if (status != IO_DONE)
        return status;
    while (platform_time() + UNDISTURBED < when)
        ;
    /* Only one store remains, which no tick may delay. */
    taskENTER_CRITICAL();
    while (platform_time() < when)
        ;
    registers_launch(COUNTER_PLACE);
    taskEXIT_CRITICAL();
    return registers_answer(COUNTER_PLACE, counter, deadline);
}
