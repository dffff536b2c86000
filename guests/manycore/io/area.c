#include "area.h"

#define COLUMNS 4

struct area area_of_tile(uint32_t tile)
{
    const uint16_t width = DISPLAY_WIDTH / COLUMNS, height = DISPLAY_HEIGHT / COLUMNS;

    return (struct area){
        .sector = 4 * tile,
        .sectors = 4,
        .x = (uint16_t)(tile % COLUMNS * width),
        .y = (uint16_t)(tile / COLUMNS * height),
        .width = width,
        .height = height,
        /* Locally administered. */
        .mac = {0x02, 0, 0, 0, 0, (uint8_t)tile},
    };
}

bool area_flash(const struct area *area, uint32_t address, size_t length, uint32_t *place)
{
    size_t size = (size_t)area->sectors * FLASH_SECTOR;

    *place = area->sector * FLASH_SECTOR + address;
    return address <= size && length <= size - address;
}

size_t area_row(const struct area *area, uint32_t x, uint32_t y, size_t length, uint32_t *device_x, uint32_t *device_y)
{
    size_t room;

    *device_x = area->x + x;
    *device_y = area->y + y;
    if (x >= area->width || y >= area->height || *device_x >= DISPLAY_WIDTH || *device_y >= DISPLAY_HEIGHT)
        return 0;
    room = area->width - x;
    if (room > DISPLAY_WIDTH - *device_x)
        room = DISPLAY_WIDTH - *device_x;
    return length < room ? length : room;
}

bool area_receives(const struct area *area, const uint8_t destination[6])
{
    bool own = true, all = true;

    for (size_t i = 0; i < 6; i++) {
        own = own && destination[i] == area->mac[i];
        all = all && destination[i] == 0xff;
    }
    return own || all;
}
