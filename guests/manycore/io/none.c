/* No I/O at all: the cost of another implementation is its difference to an image with this one. */

#include "io.h"

uint64_t io_timeout;

uint32_t io_open(const struct area *area)
{
    (void)area;
    return IO_NO_DEVICE;
}

uint32_t io_flash_read(uint32_t address, void *to, size_t length)
{
    (void)address, (void)to, (void)length;
    return IO_NO_DEVICE;
}

uint32_t io_flash_write(uint32_t address, const void *from, size_t length)
{
    (void)address, (void)from, (void)length;
    return IO_NO_DEVICE;
}

uint32_t io_flash_append(uint32_t address, const void *from, size_t length)
{
    (void)address, (void)from, (void)length;
    return IO_NO_DEVICE;
}

uint32_t io_flash_erase(uint32_t address)
{
    (void)address;
    return IO_NO_DEVICE;
}

uint32_t io_draw(uint16_t x, uint16_t y, const void *colours, size_t length)
{
    (void)x, (void)y, (void)colours, (void)length;
    return IO_NO_DEVICE;
}

uint32_t io_send_frame(const void *frame, size_t length)
{
    (void)frame, (void)length;
    return IO_NO_DEVICE;
}

uint32_t io_receive_frame(void *frame, size_t *length)
{
    (void)frame, (void)length;
    return IO_NO_DEVICE;
}

uint32_t io_print(const void *text, size_t length)
{
    (void)text, (void)length;
    return IO_NO_DEVICE;
}

uint32_t io_finish(void)
{
    return IO_DONE;
}

uint32_t io_timed_read(const struct io_times *times, int32_t *errors, uint32_t *bits)
{
    (void)times, (void)errors, (void)bits;
    return IO_NO_DEVICE;
}

uint32_t io_flight(uint32_t *cycles)
{
    (void)cycles;
    return IO_NO_DEVICE;
}

uint32_t io_timed_pulses(const struct io_times *times, uint32_t lines, uint32_t width)
{
    (void)times, (void)lines, (void)width;
    return IO_NO_DEVICE;
}
