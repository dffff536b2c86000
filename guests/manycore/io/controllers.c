#include "controllers.h"

#include "io.h"
#include "registers.h"

uint32_t flash_read(uint32_t address, void *to, size_t length)
{
    return registers_read(MESH_PLACE(0, 4), REGISTERS_FIXED, address, to, length / 4);
}

uint32_t flash_program(uint32_t address, const void *from, size_t length)
{
    return registers_write(MESH_PLACE(0, 4), 0, address, from, length / 4);
}

uint32_t flash_erase(uint32_t address)
{
    return registers_post(MESH_PLACE(0, 4), 0, address, &address, 1);
}

uint32_t vga_draw(uint32_t x, uint32_t y, const void *colours, size_t length)
{
    return registers_write(MESH_PLACE(3, 4), 0, x + y, colours, length / 4);
}

uint32_t ethernet_send(const void *frame, size_t length)
{
    return registers_write(MESH_PLACE(2, 4), 0, 0, frame, length / 4);
}

uint32_t ethernet_receive(void *frame, size_t *length)
{
    *length = 0;
    return registers_read(MESH_PLACE(2, 4), 0, 0, frame, 1);
}

uint32_t uart_write(const void *bytes, size_t length)
{
    return registers_write(MESH_PLACE(1, 4), 0, 0, bytes, length);
}
