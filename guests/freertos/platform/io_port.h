/*
 * Ports to the I/O hypervisor (docs/src/reference/io-hypervisor.md), which shares the devices behind it between VMs: an area of a flash, a window of a
 * display, Ethernet, a UART. A request waits for its answer, and other tasks run meanwhile; a port is one task's at a time.
 */
#ifndef IO_PORT_H
#define IO_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "semphr.h"

/* The most bytes that one request moves. */
#define IO_LENGTH_MAX 1536
/* The longest frame, without check sequence; the shortest has 14. */
#define IO_FRAME_MAX 1514

/* Devices, by their numbers at the I/O hypervisor. */
#define IO_UART 1
#define IO_FLASH 2
#define IO_VGA 3
#define IO_ETHERNET 4

/* How a request ended. */
#define IO_DONE 0
#define IO_MALFORMED 1
#define IO_NO_DEVICE 2
#define IO_DENIED 3
#define IO_BAD_OP 4
#define IO_BAD_ADDRESS 5
#define IO_BAD_LENGTH 6
#define IO_PROTECTED 7
#define IO_DEVICE_FAILED 8
#define IO_MEMORY_FAILED 9

/* A port. */
struct io_port {
    volatile uint32_t *registers;
    SemaphoreHandle_t answered;
    StaticSemaphore_t memory;
};

/* The VM's port of that number, counted from 0. What was asked of it before is ended; and the I/O manager is waited for, which says what the port may
 * do. For a task. False: there is no such port, or its interrupt is taken. */
bool io_port_open(struct io_port *port, uint32_t number);

/* Asks a device for `op` (0 read, 1 write, 2 control) of `length` bytes at `address`, whose data are in the VM's memory, `place` bytes behind its
 * beginning: a multiple of 64. Gives how it ended; `came`, unless NULL, gets the bytes that came back. */
uint32_t io_port_call(struct io_port *port, uint32_t device, uint32_t op, uint32_t address, uint32_t place, size_t length, size_t *came);

/* Reads from the port's area of the flash; programs it: bits go from 1 to 0 only. */
uint32_t io_flash_read(struct io_port *port, uint32_t address, void *to, size_t length);
uint32_t io_flash_write(struct io_port *port, uint32_t address, const void *from, size_t length);

/* Writes what more is to follow behind: what does not fill a page of 256 bytes is kept, and programmed with what follows, or before whatever else the port asks of the
 * flash. When io_flash_write has gone well, all is in the flash. */
uint32_t io_flash_append(struct io_port *port, uint32_t address, const void *from, size_t length);

/* Erases the sector of 4 KiB that begins there. */
uint32_t io_flash_erase(struct io_port *port, uint32_t address);

/* Draws pixels from a place of the port's window to the right; fills a rectangle. */
uint32_t io_draw(struct io_port *port, uint16_t x, uint16_t y, const void *colours, size_t length);
uint32_t io_fill(struct io_port *port, uint16_t x, uint16_t y, uint16_t width, uint16_t height, uint8_t colour);

/* Sends a frame, whose source address becomes the port's; takes the one that has come, or as much of it as there is room for: `length`, of which it
 * gets the bytes, 0 if none has. */
uint32_t io_send(struct io_port *port, const void *frame, size_t length);
uint32_t io_receive(struct io_port *port, void *frame, size_t *length);

/* Sends text by the UART; takes what has come: `length`, of which it gets the bytes. */
uint32_t io_write_text(struct io_port *port, const void *text, size_t length);
uint32_t io_read_text(struct io_port *port, void *text, size_t *length);

#endif
