/* A tile's area of the shared devices. */
#ifndef AREA_H
#define AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLASH_SECTOR 4096u
#define FLASH_SECTORS 1024u
#define DISPLAY_WIDTH 320u
#define DISPLAY_HEIGHT 240u

struct area {
    /* Sectors of the flash. */
    uint32_t sector, sectors;
    /* A window of the display, in pixels. */
    uint16_t x, y, width, height;
    /* Its Ethernet address, in the order of a frame. */
    uint8_t mac[6];
};

/* The default area of a tile: four sectors, a sixteenth of the display, a unique Ethernet address. */
struct area area_of_tile(uint32_t tile);

/* Translates a range of the area to the device's address; false: the range exceeds the area. */
bool area_flash(const struct area *area, uint32_t address, size_t length, uint32_t *place);

/* Clips a row of pixels to the window, from its start on; returns its length and the device's coordinates. */
size_t area_row(const struct area *area, uint32_t x, uint32_t y, size_t length, uint32_t *device_x, uint32_t *device_y);

/* Whether a frame with this destination is for the tile: sent to its address or to all. */
bool area_receives(const struct area *area, const uint8_t destination[6]);

#endif
