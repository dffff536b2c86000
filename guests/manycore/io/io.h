/*
 * The application's interface to I/O: an area of the flash, a window of the display, frames, text, and the counter at
 * exact times. Each image has one implementation: none.c, native.c, virtual.c or hypervisor.c. For one task.
 *
 * Each function returns a status, IO_DONE or one of the others; none waits for longer than io_timeout.
 */
#ifndef IO_H
#define IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "area.h"

/* Bytes that one request moves at most; bytes of the longest frame, without check sequence. */
#define IO_LENGTH_MAX 1536
#define IO_FRAME_MAX 1514

/* Status of an operation: that of the I/O hypervisor (docs/src/reference/io-hypervisor.md), or an error on the path. */
#define IO_DONE 0
#define IO_MALFORMED 1
#define IO_NO_DEVICE 2
#define IO_DENIED 3
#define IO_BAD_OP 4
#define IO_BAD_ADDRESS 5
#define IO_BAD_LENGTH 6
#define IO_PROTECTED 7
#define IO_DEVICE_FAILED 8
/* No response in time; a time that has passed already. */
#define IO_TIMED_OUT 16
#define IO_LATE 17

/* Timeout of a response, in cycles. An erase of the flash takes 0.4 s at most, after the requests of other tiles. */
extern uint64_t io_timeout;

/* To be called before all others. `area`: this tile's area. */
uint32_t io_open(const struct area *area);

/* Reads from the tile's area of the flash; programs it: bits change from 1 to 0 only. Addresses are offsets in it. */
uint32_t io_flash_read(uint32_t address, void *to, size_t length);
uint32_t io_flash_write(uint32_t address, const void *from, size_t length);

/* Programs data that later writes continue. A partial page of 256 bytes is buffered until they fill it, or until
 * another request to the flash. After a successful io_flash_write all data are in it. Later calls may return errors. */
uint32_t io_flash_append(uint32_t address, const void *from, size_t length);

/* Erases the sector of 4 KiB that starts at `address`. */
uint32_t io_flash_erase(uint32_t address);

/* Draws pixels to the right of a position in the tile's window. A later call may return the error. */
uint32_t io_draw(uint16_t x, uint16_t y, const void *colours, size_t length);

/* Sends a frame; takes a received one: at most `length` bytes, and sets `length` to the bytes received, 0 if none. */
uint32_t io_send_frame(const void *frame, size_t length);
uint32_t io_receive_frame(void *frame, size_t *length);

/* Sends text by the shared UART. */
uint32_t io_print(const void *text, size_t length);

/* Waits until all earlier requests are done. */
uint32_t io_finish(void);

/* Times to read the counter of cycles: at the cycle `at`, and `count` times in all, each `every` cycles. */
struct io_times {
    uint64_t at;
    uint32_t every;
    uint32_t count;
    /* Cycles by which software requests the counter earlier. */
    uint32_t lead;
};

/* Reads the counter; stores how much it exceeded the wanted cycle. `bits`: number of the counter's bits compared. */
uint32_t io_timed_read(const struct io_times *times, int32_t *errors, uint32_t *bits);

/* Sets `lines` high for `width` cycles, first at `at`, then each `every` cycles. Returns after the last time. */
uint32_t io_timed_pulses(const struct io_times *times, uint32_t lines, uint32_t width);

/* Cycles from a request for the counter until it is read, measured by one read; 0: software sends no request. */
uint32_t io_flight(uint32_t *cycles);

#endif
