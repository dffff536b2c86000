#include "operations.h"

#include "io.h"
#include "request.h"

/* Makes no request for an empty range, and several for one longer than the limit. */
static __attribute__((noinline)) uint32_t flash_parts(uint32_t request, uint32_t address, const uint8_t *from, uint8_t *to, size_t length)
{
    uint32_t status = IO_DONE;

    for (size_t at = 0; at < length && status == IO_DONE;) {
        size_t part = length - at < IO_LENGTH_MAX ? length - at : IO_LENGTH_MAX;

        status = io_call(request + (uint32_t)part, address + (uint32_t)at, from != NULL ? from + at : NULL,
                         to != NULL ? to + at : NULL, NULL);
        at += part;
    }
    return status;
}

/* Makes one request in the usual case. */
static inline uint32_t flash_all(uint32_t request, uint32_t address, const uint8_t *from, uint8_t *to, size_t length)
{
    if (length > 0 && length <= IO_LENGTH_MAX)
        return io_call(request + (uint32_t)length, address, from, to, NULL);
    return flash_parts(request, address, from, to, length);
}

uint32_t io_flash_read(uint32_t address, void *to, size_t length)
{
    return flash_all(request_make(DEVICE_FLASH, OP_READ, 0), address, NULL, to, length);
}

uint32_t io_flash_write(uint32_t address, const void *from, size_t length)
{
    return flash_all(request_make(DEVICE_FLASH, OP_WRITE, 0), address, from, NULL, length);
}

uint32_t io_flash_append(uint32_t address, const void *from, size_t length)
{
    if ((address & FLASH_MORE) != 0)
        return IO_BAD_ADDRESS;
    return flash_all(request_make(DEVICE_FLASH, OP_WRITE, 0) | REQUEST_QUIET, address | FLASH_MORE, from, NULL, length);
}

uint32_t io_flash_erase(uint32_t address)
{
    return io_call(request_make(DEVICE_FLASH, OP_CONTROL, 0), address, NULL, NULL, NULL);
}

uint32_t io_draw(uint16_t x, uint16_t y, const void *colours, size_t length)
{
    if (length > IO_LENGTH_MAX)
        return IO_BAD_LENGTH;
    return io_call(request_make(DEVICE_VGA, OP_WRITE, length) | REQUEST_QUIET, (uint32_t)y << 16 | x, colours, NULL, NULL);
}

uint32_t io_send_frame(const void *frame, size_t length)
{
    if (length > IO_FRAME_MAX)
        return IO_BAD_LENGTH;
    return io_call(request_make(DEVICE_ETHERNET, OP_WRITE, length), 0, frame, NULL, NULL);
}

uint32_t io_receive_frame(void *frame, size_t *length)
{
    size_t room = *length < IO_FRAME_MAX ? *length : IO_FRAME_MAX;

    return io_call(request_make(DEVICE_ETHERNET, OP_READ, room), 0, NULL, frame, length);
}

uint32_t io_print(const void *text, size_t length)
{
    if (length > IO_LENGTH_MAX)
        return IO_BAD_LENGTH;
    return io_call(request_make(DEVICE_UART, OP_WRITE, length), 0, text, NULL, NULL);
}
