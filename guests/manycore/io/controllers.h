/*
 * Drivers for the baseline's controllers (design `manycore_baseline`), by register packets. They are independent of the
 * clients: addresses are the device's. Operations return a status of io.h.
 */
#ifndef CONTROLLERS_H
#define CONTROLLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh.h"

#define FLASH_PAGE 256u

/* Buffered bytes of a page of the flash, from an address on; they do not reach the page's end. */
struct flash_page {
    uint32_t address;
    size_t length;
    uint8_t bytes[FLASH_PAGE] __attribute__((aligned(4)));
};

/* SPI NOR flash: reads; programs by pages, and with `more` buffers a partial page; programs buffered data and waits;
 * erases a sector. Buffered data are lost if programming fails. */
uint32_t flash_read(uint32_t address, void *to, size_t length);
uint32_t flash_write(struct flash_page *page, uint32_t address, const void *from, size_t length, bool more);
uint32_t flash_flush(struct flash_page *page);
uint32_t flash_erase(uint32_t address);

/* VGA: writes pixels of a row; they are on the display afterwards. */
uint32_t vga_draw(uint32_t x, uint32_t y, const void *colours, size_t length);

/* Ethernet: sends a frame; takes a received one, and sets `length` to its bytes: 0 if none. If `expected`, waits for as
 * long as the longest frame takes. The controller has room for one frame, to be taken before the next arrives. */
uint32_t ethernet_send(const void *frame, size_t length);
uint32_t ethernet_receive(void *frame, size_t *length, bool expected);

/* UART: sends bytes. */
uint32_t uart_write(const void *bytes, size_t length);

/* GPIO: address of the counter of cycles. */
#define COUNTER_PLACE MESH_PLACE(1, 4)
#define COUNTER_ADDRESS 0x18u

#endif
