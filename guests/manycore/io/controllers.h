/*
 * Drivers for the baseline's controllers (design `manycore_baseline`), by register packets. They know devices and nothing of who uses them: addresses are the
 * device's. How an operation ended is one of io.h's statuses.
 */
#ifndef CONTROLLERS_H
#define CONTROLLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh.h"

#define FLASH_PAGE 256u

/* What is kept of a page of the flash: bytes from an address on, which do not reach its end. */
struct flash_page {
    uint32_t address;
    size_t length;
    uint8_t bytes[FLASH_PAGE] __attribute__((aligned(4)));
};

/* SPI NOR flash: reads; programs a page at a time, and where `more` is to follow keeps what is left; programs what is kept, and waits for it; erases a sector. What is
 * kept is lost where programming fails. */
uint32_t flash_read(uint32_t address, void *to, size_t length);
uint32_t flash_write(struct flash_page *page, uint32_t address, const void *from, size_t length, bool more);
uint32_t flash_flush(struct flash_page *page);
uint32_t flash_erase(uint32_t address);

/* VGA: writes pixels of a row, which are on the display. */
uint32_t vga_draw(uint32_t x, uint32_t y, const void *colours, size_t length);

/* Ethernet: sends a frame; takes the one that has come, of which `length` gets the bytes: 0, none has. One that is `expected` is waited for as long as the
 * longest frame takes. There is room for one: it has to be taken before the next comes. */
uint32_t ethernet_send(const void *frame, size_t length);
uint32_t ethernet_receive(void *frame, size_t *length, bool expected);

/* UART: sends bytes. */
uint32_t uart_write(const void *bytes, size_t length);

/* GPIO: where the counter of cycles is. */
#define COUNTER_PLACE MESH_PLACE(1, 4)
#define COUNTER_ADDRESS 0x18u

#endif
