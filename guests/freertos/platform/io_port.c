#include "io_port.h"

#include <string.h>

#include "io_port_regs.h"
#include "platform.h"
#include "plic.h"
#include "task.h"

/* A register, by its name in fabric/regs/io_port.rdl. Accessed by words, as the header's structures are packed. */
#define REGISTER(port, name) ((port)->registers[offsetof(io_port_t, name) / sizeof(uint32_t)])
#define FIELD(word, name) (((word) & IO_PORT__##name##_bm) >> IO_PORT__##name##_bp)

#define READ 0
#define WRITE 1
#define CONTROL 2
/* Flag in the address of a flash write: another write follows. */
#define FLASH_MORE 0x80000000u
#define PRIORITY 4

/* Orders accesses to memory and to the fabric, as this vCPU and the fabric observe them. */
static inline void fence(void)
{
    __asm__ volatile("fence iorw, iorw" ::: "memory");
}

static void interrupted(void *argument)
{
    struct io_port *port = argument;
    BaseType_t woken = pdFALSE;

    REGISTER(port, IRQ_ENABLE) = 0;
    /* The readback makes the interrupt line low before the interrupt is completed. */
    (void)REGISTER(port, IRQ_ENABLE);
    xSemaphoreGiveFromISR(port->answered, &woken);
    portYIELD_FROM_ISR(woken);
}

/* Submits a request, when no other is in flight, and waits for the response. */
static uint32_t call(struct io_port *port, uint32_t request, uint32_t address, uint32_t place, size_t *came)
{
    uint32_t response;

    REGISTER(port, ADDRESS) = address;
    REGISTER(port, DATA) = place;
    /* The data to be sent is in memory before the port reads it. */
    fence();
    REGISTER(port, REQUEST) = request;
    for (;;) {
        response = REGISTER(port, RESPONSE);
        if (response & IO_PORT__RESPONSE__VALID_bm)
            break;
        REGISTER(port, IRQ_ENABLE) = 1;
        (void)xSemaphoreTake(port->answered, portMAX_DELAY);
    }
    /* Orders the reads of the received data after the response. */
    fence();
    if (came != NULL)
        *came = FIELD(response, RESPONSE__LENGTH);
    return FIELD(response, RESPONSE__STATUS);
}

static uint32_t request_of(uint32_t device, uint32_t op, size_t length)
{
    return device << IO_PORT__REQUEST__DEVICE_bp | op << IO_PORT__REQUEST__OP_bp | (uint32_t)length;
}

bool io_port_open(struct io_port *port, uint32_t number)
{
    if (number >= platform.io_ports)
        return false;
    const struct io_port_page *page = &platform.io_port[number];

    if (page->devices == 0)
        return false;
    port->registers = (volatile uint32_t *)page->registers;
    if (REGISTER(port, ID) >> IO_PORT__ID__KIND_bp != IO_PORT__ID__KIND_reset)
        return false;
    REGISTER(port, RESET) = IO_PORT__RESET__NOW_bm;
    /* The request in flight, whose data may be in the buffer, runs to completion. */
    while (FIELD(REGISTER(port, STATUS), STATUS__ROOM) < 4)
        ;
    port->answered = xSemaphoreCreateBinaryStatic(&port->memory);
    if (!plic_attach(page->source, PRIORITY, interrupted, port))
        return false;
    /* Every device refuses a read of length 0, but not with IO_DENIED, which means that the port lacks permission. */
    while (call(port, request_of((uint32_t)__builtin_ctz(page->devices), READ, 0), 0, 0, NULL) == IO_DENIED)
        vTaskDelay(1);
    return true;
}

uint32_t io_port_call(struct io_port *port, uint32_t device, uint32_t op, uint32_t address, uint32_t place, size_t length, size_t *came)
{
    if (length > IO_LENGTH_MAX)
        return IO_BAD_LENGTH;
    return call(port, request_of(device, op, length) | IO_PORT__REQUEST__MEMORY_bm, address, place, came);
}

static uint32_t put(struct io_port *port, uint32_t device, uint32_t op, uint32_t address, const void *from, size_t length)
{
    volatile uint32_t *buffer = &REGISTER(port, BUFFER);

    if (length > IO_LENGTH_MAX)
        return IO_BAD_LENGTH;
    for (size_t at = 0; at < length; at += sizeof(uint32_t)) {
        uint32_t word = 0;
        size_t rest = length - at;

        memcpy(&word, (const uint8_t *)from + at, rest < sizeof word ? rest : sizeof word);
        buffer[at / sizeof word] = word;
    }
    return call(port, request_of(device, op, length), address, 0, NULL);
}

static uint32_t take(struct io_port *port, uint32_t device, uint32_t address, void *to, size_t *length)
{
    volatile uint32_t *buffer = &REGISTER(port, BUFFER);
    uint32_t status = call(port, request_of(device, READ, *length), address, 0, length);

    for (size_t at = 0; at < *length; at += sizeof(uint32_t)) {
        uint32_t word = buffer[at / sizeof word];
        size_t rest = *length - at;

        memcpy((uint8_t *)to + at, &word, rest < sizeof word ? rest : sizeof word);
    }
    return status;
}

uint32_t io_flash_read(struct io_port *port, uint32_t address, void *to, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t part = length - at < IO_LENGTH_MAX ? length - at : IO_LENGTH_MAX;
        uint32_t status = take(port, IO_FLASH, address + (uint32_t)at, (uint8_t *)to + at, &part);

        if (status != IO_DONE)
            return status;
        at += part;
    }
    return IO_DONE;
}

uint32_t io_flash_write(struct io_port *port, uint32_t address, const void *from, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t part = length - at < IO_LENGTH_MAX ? length - at : IO_LENGTH_MAX;
        uint32_t status = put(port, IO_FLASH, WRITE, address + (uint32_t)at, (const uint8_t *)from + at, part);

        if (status != IO_DONE)
            return status;
        at += part;
    }
    return IO_DONE;
}

uint32_t io_flash_append(struct io_port *port, uint32_t address, const void *from, size_t length)
{
    return (address & FLASH_MORE) == 0 ? io_flash_write(port, address | FLASH_MORE, from, length) : IO_BAD_ADDRESS;
}

uint32_t io_flash_erase(struct io_port *port, uint32_t address)
{
    return put(port, IO_FLASH, CONTROL, address, NULL, 0);
}

uint32_t io_draw(struct io_port *port, uint16_t x, uint16_t y, const void *colours, size_t length)
{
    return put(port, IO_VGA, WRITE, (uint32_t)y << 16 | x, colours, length);
}

uint32_t io_fill(struct io_port *port, uint16_t x, uint16_t y, uint16_t width, uint16_t height, uint8_t colour)
{
    const uint8_t operands[5] = {(uint8_t)width, (uint8_t)(width >> 8), (uint8_t)height, (uint8_t)(height >> 8), colour};

    return put(port, IO_VGA, CONTROL, (uint32_t)y << 16 | x, operands, sizeof operands);
}

uint32_t io_send(struct io_port *port, const void *frame, size_t length)
{
    return put(port, IO_ETHERNET, WRITE, 0, frame, length);
}

uint32_t io_receive(struct io_port *port, void *frame, size_t *length)
{
    if (*length > IO_FRAME_MAX)
        *length = IO_FRAME_MAX;
    return take(port, IO_ETHERNET, 0, frame, length);
}

uint32_t io_write_text(struct io_port *port, const void *text, size_t length)
{
    return put(port, IO_UART, WRITE, 0, text, length);
}

uint32_t io_read_text(struct io_port *port, void *text, size_t *length)
{
    if (*length > IO_LENGTH_MAX)
        *length = IO_LENGTH_MAX;
    return take(port, IO_UART, 0, text, length);
}
