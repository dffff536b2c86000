/*
 * Ports to the I/O hypervisor (docs/src/reference/io-hypervisor.md), which shares its devices between VMs: an area of a
 * flash, a window of a display, Ethernet, a UART. A request blocks its task. Only one task at a time may use a port.
 */
#ifndef IO_PORT_H
#define IO_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "semphr.h"

/* Bytes that one request moves at most. */
#define IO_LENGTH_MAX 1536
/* Bytes of the longest frame, without check sequence; the shortest has 14. */
#define IO_FRAME_MAX 1514

/* Devices, by their numbers at the I/O hypervisor. */
#define IO_UART 1
#define IO_FLASH 2
#define IO_VGA 3
#define IO_ETHERNET 4

/* Status of a request. */
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

/* Opens the VM's port `number`, counted from 0. Ends earlier requests, and waits until the I/O manager has granted the
 * port its permissions. To be called by a task. False: no such port, or its interrupt is taken. */
bool io_port_open(struct io_port *port, uint32_t number);

/* Requests `op` (0 read, 1 write, 2 control) of a device: `length` bytes at `address`. The data are in the VM's memory,
 * at offset `place`, a multiple of 64. Returns the status, and the number of bytes received in `came`, unless NULL. */
uint32_t io_port_call(struct io_port *port, uint32_t device, uint32_t op, uint32_t address, uint32_t place, size_t length, size_t *came);

/* Reads from the port's area of the flash; programs it: bits change from 1 to 0 only. */
uint32_t io_flash_read(struct io_port *port, uint32_t address, void *to, size_t length);
uint32_t io_flash_write(struct io_port *port, uint32_t address, const void *from, size_t length);

/* Programs data that later writes continue. A partial page of 256 bytes is buffered until later data fill it, or until
 * the port's next other request to the flash. After a successful io_flash_write, all data are in the flash. */
uint32_t io_flash_append(struct io_port *port, uint32_t address, const void *from, size_t length);

/* Erases the sector of 4 KiB that starts at `address`. */
uint32_t io_flash_erase(struct io_port *port, uint32_t address);

/* Draws pixels to the right of a position in the port's window; fills a rectangle. */
uint32_t io_draw(struct io_port *port, uint16_t x, uint16_t y, const void *colours, size_t length);
uint32_t io_fill(struct io_port *port, uint16_t x, uint16_t y, uint16_t width, uint16_t height, uint8_t colour);

/* Sends a frame, with the port's source address. Receives a frame, truncated to `length` bytes; sets `length` to the
 * bytes received, 0 if there is no frame. */
uint32_t io_send(struct io_port *port, const void *frame, size_t length);
uint32_t io_receive(struct io_port *port, void *frame, size_t *length);

/* Sends text by the UART. Receives text: at most `length` bytes, and sets `length` to the bytes received. */
uint32_t io_write_text(struct io_port *port, const void *text, size_t length);
uint32_t io_read_text(struct io_port *port, void *text, size_t *length);

#endif
