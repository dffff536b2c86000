/*
 * What the application has of I/O, whichever way it goes: an area of the flash, a window of the display, frames, text, and the counter of cycles at exact
 * times. Each image has one of the files that implement it: none.c, native.c, virtual.c or hypervisor.c. For one task.
 *
 * Each function gives how it went, IO_DONE or one of the others; none waits for longer than io_timeout.
 */
#ifndef IO_H
#define IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "area.h"

/* The most bytes that one request moves; the longest frame, without check sequence. */
#define IO_LENGTH_MAX 1536
#define IO_FRAME_MAX 1514

/* How an operation ended: the I/O hypervisor's statuses (docs/src/reference/io-hypervisor.md), and what becomes of it on the way. */
#define IO_DONE 0
#define IO_MALFORMED 1
#define IO_NO_DEVICE 2
#define IO_DENIED 3
#define IO_BAD_OP 4
#define IO_BAD_ADDRESS 5
#define IO_BAD_LENGTH 6
#define IO_PROTECTED 7
#define IO_DEVICE_FAILED 8
/* No answer in time; a time that is over already. */
#define IO_TIMED_OUT 16
#define IO_LATE 17

/* Cycles after which an answer is not waited for any more. An erasure of the flash takes 0.4 s at most, and others may be first. */
extern uint64_t io_timeout;

/* Before all others. `area`: what this tile has. */
uint32_t io_open(const struct area *area);

/* Reads from the tile's area of the flash; programs it: bits go from 1 to 0 only. Addresses count from the area's beginning. */
uint32_t io_flash_read(uint32_t address, void *to, size_t length);
uint32_t io_flash_write(uint32_t address, const void *from, size_t length);

/* Writes what more is to follow behind: what does not fill a page of 256 bytes is kept, and programmed with what follows, or before whatever else the tile asks of the
 * flash. When io_flash_write has gone well, all is in the flash. What went wrong may be said by a later call. */
uint32_t io_flash_append(uint32_t address, const void *from, size_t length);

/* Erases the sector of 4 KiB that begins there. */
uint32_t io_flash_erase(uint32_t address);

/* Draws pixels from a place of the tile's window to the right. What went wrong may be said by a later call. */
uint32_t io_draw(uint16_t x, uint16_t y, const void *colours, size_t length);

/* Sends a frame; takes the one that has come for this tile: `length` has the room, and gets the bytes, 0 if none has. */
uint32_t io_send_frame(const void *frame, size_t length);
uint32_t io_receive_frame(void *frame, size_t *length);

/* Sends text by the UART that all share. */
uint32_t io_print(const void *text, size_t length);

/* Waits until all that was asked for is done. */
uint32_t io_finish(void);

/* When the counter of cycles is to be read: at the cycle `at`, and then so many times in all each `every` cycles. */
struct io_times {
    uint64_t at;
    uint32_t every;
    uint32_t count;
    /* Software that reads it itself asks so many cycles before. */
    uint32_t lead;
};

/* Reads it, and gives how much it was more than the cycle for which it was wanted. `bits`: how many of the counter's were compared. */
uint32_t io_timed_read(const struct io_times *times, int32_t *errors, uint32_t *bits);

/* Has the lines in `lines` high for `width` cycles, from `at` on, and again each `every`. Returns when the last time is over. */
uint32_t io_timed_pulses(const struct io_times *times, uint32_t lines, uint32_t width);

/* Cycles from a request for the counter to the moment at which it is read, as one read has shown; 0: software asks for nothing. */
uint32_t io_flight(uint32_t *cycles);

#endif
