#include "controllers.h"

#include <stdbool.h>
#include <string.h>

#include "ethernet_controller_regs.h"
#include "gpio_controller_regs.h"
#include "io.h"
#include "packets.h"
#include "platform.h"
#include "registers.h"
#include "spi_controller_regs.h"
#include "uart_controller_regs.h"
#include "vga_controller_regs.h"

#define FLASH MESH_PLACE(0, 4)
#define GPIO_AND_UART MESH_PLACE(1, 4)
#define ETHERNET MESH_PLACE(2, 4)
#define VGA MESH_PLACE(3, 4)
/* The UART's page at this place. */
#define UART_PAGE 0x1000u

/* Registers, by their names in fabric/regs. The register that starts or ends a packet adjoins the words of its data. */
#define SPI(name) ((uint32_t)offsetof(spi_controller_t, name))
#define MAC(name) ((uint32_t)offsetof(ethernet_controller_t, name))
#define DISPLAY(name) ((uint32_t)offsetof(vga_controller_t, name))
#define UART(name) (UART_PAGE + (uint32_t)offsetof(uart_controller_t, name))

_Static_assert(offsetof(spi_controller_t, TXDATA) + sizeof(spi_controller__TXDATA_t) == offsetof(spi_controller_t, TRANSFER), "a transfer takes two packets");
_Static_assert(offsetof(ethernet_controller_t, FRAME) + 4 == offsetof(ethernet_controller_t, TXDATA), "a frame takes two packets");
_Static_assert(offsetof(vga_controller_t, ROW) + 4 == offsetof(vga_controller_t, COLOURS), "a row takes two packets");
_Static_assert(offsetof(gpio_controller_t, TIMER) == COUNTER_ADDRESS, "the counter is elsewhere");

/* Bytes that a transfer receives at most. */
#define SPI_BYTES_MAX 512u
#define UART_QUEUE 16u
/* Cycles of a byte: 115,200 baud, ten bits. */
#define UART_BYTE 8680u

/* Commands of the flash (data sheet "W25Q32JV", section 8.1.2), sent with the lowest byte first. */
#define FLASH_READ 0xebu
#define FLASH_PROGRAM 0x02u
#define FLASH_ERASE 0x20u
#define FLASH_WRITE_ENABLE 0x06u
#define FLASH_STATUS 0x05u
#define FLASH_VOLATILE 0x50u
/* Writes the second status register: enables the use of four lines. */
#define FLASH_QUAD_ENABLE (0x31u | 0x02u << 8)
/* Follows a read's address: the next read starts with its address, until FLASH_LEAVE. And the dummy clocks after it. */
#define FLASH_CONTINUE 0xa0u
#define FLASH_LEAVE 0xffu
#define FLASH_DUMMY_CLOCKS 4u
#define FLASH_BUSY 0x01u
/* Typical times (section 9.6), 0.4 ms and 45 ms; and the longest, 3 ms and 400 ms, plus a tenth. */
#define PROGRAM_TYPICAL 40000u
#define PROGRAM_MAX 330000u
#define ERASE_TYPICAL 4500000u
#define ERASE_MAX 44000000u

/* A command with an address, whose highest byte is sent first. */
static uint32_t flash_command(uint32_t command, uint32_t address)
{
    return command | (address >> 16 & 0xff) << 8 | (address >> 8 & 0xff) << 16 | (address & 0xff) << 24;
}

/* Starts a transfer that sends the bytes of `words`; the last word goes to TRANSFER. `how`: the other fields. */
static uint32_t transfer(uint32_t *words, size_t send, size_t receive, uint32_t how)
{
    size_t count = (send + 3) / 4;

    words[count] = (uint32_t)send | (uint32_t)receive << SPI_CONTROLLER__TRANSFER__RECEIVE_BYTES_bp | how;
    return registers_post(FLASH, 0, SPI(TRANSFER) - 4 * (uint32_t)count, words, count + 1);
}

/* What the flash expects next: an address where it was read last, else an opcode. Whether four lines are enabled. */
static enum { UNKNOWN, OPCODE, ADDRESS } expects;
static bool quad;

/* Sends a command on one line, and receives its result. */
static uint32_t command(uint32_t *words, size_t send, size_t receive)
{
    uint32_t leave[2] = {FLASH_LEAVE}, status = IO_DONE;

    if (expects != OPCODE)
        status = transfer(leave, 1, 0, 0);
    expects = OPCODE;
    return status == IO_DONE ? transfer(words, send, receive, 0) : status;
}

/* Puts the flash into the state in which it expects the address of a read on four lines. */
static __attribute__((noinline)) uint32_t begin_reading(void)
{
    uint32_t opcode[2] = {FLASH_READ}, status = IO_DONE;

    if (!quad) {
        uint32_t free[2] = {FLASH_VOLATILE}, enable[2] = {FLASH_QUAD_ENABLE};

        status = command(free, 1, 0);
        if (status == IO_DONE)
            status = command(enable, 2, 0);
        quad = true;
    }
    expects = ADDRESS;
    return status == IO_DONE ? transfer(opcode, 1, 0, SPI_CONTROLLER__TRANSFER__KEEP_bm) : status;
}

/* Starts a read on four lines. */
static inline uint32_t fast_read(uint32_t address, size_t length)
{
    uint32_t words[2] = {FLASH_CONTINUE << 24 | flash_command(0, address) >> 8}, status = IO_DONE;

    if (expects != ADDRESS)
        status = begin_reading();
    if (status != IO_DONE)
        return status;
    return transfer(words, 4, length, SPI_CONTROLLER__TRANSFER__QUAD_bm | FLASH_DUMMY_CLOCKS << SPI_CONTROLLER__TRANSFER__DUMMY_CLOCKS_bp);
}

/* Takes the data of a transfer, as bytes. */
static uint32_t receive(void *to, size_t length)
{
    uint32_t words[SPI_BYTES_MAX / 4], status;

    if (length % 4 == 0 && ((uintptr_t)to & 3) == 0)
        return registers_read(FLASH, REGISTERS_FIXED, SPI(RXDATA), to, length / 4);
    status = registers_read(FLASH, REGISTERS_FIXED, SPI(RXDATA), words, (length + 3) / 4);
    if (status == IO_DONE)
        memcpy(to, words, length);
    return status;
}

/* The shortest busy time of the flash observed so far, during which the driver does not poll; and the timeout. */
struct busy {
    uint64_t shortest;
    uint64_t longest;
};

/* The operation that may keep the flash busy since `changed`, or null. */
static struct busy *pending;
static uint64_t changed;

static __attribute__((noinline)) uint32_t await_flash(void);

/* Waits until the flash is ready: before its use, and before a change counts as done. */
static inline uint32_t flash_ready(void)
{
    return pending != NULL ? await_flash() : IO_DONE;
}

uint32_t flash_read(uint32_t address, void *to, size_t length)
{
    uint32_t status = flash_ready();

    for (size_t at = 0; at < length && status == IO_DONE;) {
        size_t part = length - at < SPI_BYTES_MAX ? length - at : SPI_BYTES_MAX;

        status = fast_read(address + (uint32_t)at, part);
        if (status == IO_DONE)
            status = receive((uint8_t *)to + at, part);
        at += part;
    }
    return status;
}

static uint32_t await_flash(void)
{
    struct busy *busy = pending;

    pending = NULL;
    packet_pause(changed + busy->shortest);
    for (;;) {
        uint64_t asked = platform_time();
        uint32_t words[2] = {FLASH_STATUS};
        uint32_t word, status = command(words, 1, 1);

        if (status == IO_DONE)
            status = registers_read(FLASH, 0, SPI(RXDATA), &word, 1);
        if (status != IO_DONE)
            return status;
        if ((word & FLASH_BUSY) == 0) {
            /* It may have been ready for the time of one query: the next query is that much earlier, never later. */
            uint64_t took = asked - changed, question = platform_time() - asked;

            if (took < busy->shortest + question)
                busy->shortest = took > question ? took - question : 0;
            return IO_DONE;
        }
        if (asked - changed > busy->longest)
            return IO_DEVICE_FAILED;
    }
}

/* Executes a command that changes the flash: its bytes are in `words`, which have room for one more. */
static uint32_t change(uint32_t *words, size_t send, struct busy *busy)
{
    uint32_t enable[2] = {FLASH_WRITE_ENABLE};
    uint32_t status = flash_ready();

    if (status == IO_DONE)
        status = command(enable, 1, 0);
    if (status == IO_DONE)
        status = command(words, send, 0);
    if (status == IO_DONE)
        pending = busy;
    changed = platform_time();
    return status;
}

/* Programs the buffered data. */
static uint32_t flash_program(struct flash_page *page)
{
    static struct busy busy = {PROGRAM_TYPICAL, PROGRAM_MAX};
    uint32_t words[1 + FLASH_PAGE / 4 + 1];
    size_t length = page->length;

    page->length = 0;
    words[0] = flash_command(FLASH_PROGRAM, page->address);
    memcpy(words + 1, page->bytes, length);
    return change(words, 4 + length, &busy);
}

uint32_t flash_flush(struct flash_page *page)
{
    uint32_t status = page->length > 0 ? flash_program(page) : IO_DONE;

    return status == IO_DONE ? flash_ready() : status;
}

uint32_t flash_write(struct flash_page *page, uint32_t address, const void *from, size_t length, bool more)
{
    const uint8_t *bytes = from;
    uint32_t status = IO_DONE;

    if (page->length > 0 && address != page->address + page->length)
        status = flash_program(page);
    while (length > 0 && status == IO_DONE) {
        size_t rest = FLASH_PAGE - address % FLASH_PAGE, part = length < rest ? length : rest;

        if (page->length == 0)
            page->address = address;
        memcpy(page->bytes + page->length, bytes, part);
        page->length += part;
        address += (uint32_t)part;
        bytes += part;
        length -= part;
        if (part == rest)
            status = flash_program(page);
    }
    return status == IO_DONE && !more ? flash_flush(page) : status;
}

uint32_t flash_erase(uint32_t address)
{
    static struct busy busy = {ERASE_TYPICAL, ERASE_MAX};
    uint32_t words[2] = {flash_command(FLASH_ERASE, address)};
    uint32_t status = change(words, 4, &busy);

    return status == IO_DONE ? flash_ready() : status;
}

uint32_t vga_draw(uint32_t x, uint32_t y, const void *colours, size_t length)
{
    uint32_t words[1 + DISPLAY_WIDTH / 4];
    const uint8_t *colour = colours;

    if (length == 1) {
        words[0] = x | y << VGA_CONTROLLER__PIXEL__Y_bp | (uint32_t)*colour << VGA_CONTROLLER__PIXEL__COLOUR_bp;
        return registers_post(VGA, 0, DISPLAY(PIXEL), words, 1);
    }
    if (length > DISPLAY_WIDTH)
        return IO_BAD_LENGTH;
    words[0] = x | y << VGA_CONTROLLER__ROW__Y_bp | (uint32_t)length << VGA_CONTROLLER__ROW__PIXELS_bp;
    memcpy(words + 1, colours, length);
    return registers_post(VGA, 0, DISPLAY(ROW), words, 1 + (length + 3) / 4);
}

uint32_t ethernet_send(const void *frame, size_t length)
{
    uint32_t words[REGISTERS_MAX];
    uint32_t address = MAC(FRAME), status = IO_DONE;
    /* The length precedes the first part. */
    size_t front = 1;

    words[0] = (uint32_t)length;
    for (size_t at = 0; at < length && status == IO_DONE;) {
        size_t room = 4 * (REGISTERS_MAX - front), part = length - at < room ? length - at : room;
        size_t count = front + (part + 3) / 4;

        memcpy(words + front, (const uint8_t *)frame + at, part);
        status = registers_post(ETHERNET, 0, address, words, count);
        address += 4 * (uint32_t)count;
        at += part;
        front = 0;
    }
    return status;
}

uint32_t ethernet_receive(void *frame, size_t *length, bool expected)
{
    /* Cycles of the longest frame on the wire. */
    static const uint32_t patience = IO_FRAME_MAX + 38;
    static bool patient;
    uint32_t words[REGISTERS_MAX];
    uint32_t bytes = 0, status = IO_DONE;
    size_t room = *length;

    *length = 0;
    if (!patient)
        status = registers_post(ETHERNET, 0, MAC(PATIENCE), &patience, 1);
    patient = true;
    if (status == IO_DONE && !expected) {
        status = registers_read(ETHERNET, 0, MAC(STATUS), &bytes, 1);
        if (status == IO_DONE && (bytes & ETHERNET_CONTROLLER__STATUS__RECEIVED_bm) == 0)
            return IO_DONE;
    }
    if (status == IO_DONE)
        status = registers_read(ETHERNET, 0, MAC(RX_LENGTH), &bytes, 1);
    if (status != IO_DONE)
        return status;
    /* Reads all of the frame, so that the controller can receive the next one. */
    for (size_t at = 0; at < bytes && status == IO_DONE;) {
        size_t part = bytes - at < sizeof words ? bytes - at : sizeof words;

        status = registers_read(ETHERNET, REGISTERS_FIXED, MAC(RXDATA), words, (part + 3) / 4);
        if (status == IO_DONE && at < room)
            memcpy((uint8_t *)frame + at, words, part < room - at ? part : room - at);
        at += part;
    }
    if (status == IO_DONE)
        *length = bytes < room ? bytes : room;
    return status;
}

uint32_t uart_write(const void *bytes, size_t length)
{
    uint64_t deadline = platform_time() + io_timeout;

    for (size_t at = 0; at < length;) {
        uint32_t words[UART_QUEUE];
        uint32_t waiting, room, status = registers_read(GPIO_AND_UART, 0, UART(STATUS), &waiting, 1);
        size_t part = 0;

        if (status != IO_DONE)
            return status;
        waiting &= UART_CONTROLLER__STATUS__TO_SEND_bm;
        room = waiting < UART_QUEUE ? UART_QUEUE - waiting : 0;
        if (platform_time() > deadline)
            return IO_TIMED_OUT;
        if (room == 0 || (room < UART_QUEUE / 2 && room < length - at)) {
            /* Waits until half of the queue is empty. */
            packet_pause(platform_time() + (uint64_t)UART_BYTE * UART_QUEUE / 2);
            continue;
        }
        for (; part < room && at < length; part++)
            words[part] = ((const uint8_t *)bytes)[at++];
        status = registers_post(GPIO_AND_UART, REGISTERS_FIXED, UART(TXDATA), words, part);
        if (status != IO_DONE)
            return status;
    }
    return IO_DONE;
}
