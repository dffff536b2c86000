/*
 * An I/O hypervisor in software, on a dedicated tile. Other tiles send it requests for operations of devices, as
 * messages over the mesh. It executes them one by one with the baseline's controllers, within the client's area.
 *
 * It runs without tasks and interrupts, and polls its interface. This has room for all messages that may arrive at
 * once: requests with data, 15 * 16 words, and a controller's answer or a client's data, 257 words; less than 512.
 *
 * Boot arguments: `policy=fifo` (the default) or `policy=rr`; `idle=CYCLES`: powers off after that time without a
 * request, except before the first one, which may take longer.
 */

#include <string.h>

#include "arguments.h"
#include "area.h"
#include "console.h"
#include "controllers.h"
#include "io.h"
#include "packets.h"
#include "platform.h"
#include "registers.h"
#include "request.h"
#include "turns.h"

#define IDLE 2000000
/* Timeout of the first request, in cycles. */
#define FIRST 1000000000
/* Timeouts in cycles: an operation of a controller; data that a client has offered; sending a response. */
#define TIMEOUT 100000000
#define DATA_TIMEOUT 100000
#define SEND_TIMEOUT 1000000

_Static_assert(15 * (2 + DATA_AT_ONCE / 4) + 1 + REGISTERS_MAX <= 512, "what may come at once finds no room");
_Static_assert(DATA_LATER / 4 <= REGISTERS_MAX, "data that come later find no room");

struct client {
    struct area area;
    /* Its request. Malformed: longer than permitted, or shorter than its head says. */
    uint32_t request, address;
    bool malformed;
    uint32_t data[DATA_AT_ONCE / sizeof(uint32_t)];
    /* A frame received for it, and the frame's length; 0: none. */
    uint32_t frame[(IO_LENGTH_MAX) / sizeof(uint32_t)];
    size_t frame_length;
    /* The buffered part of a page of the flash that it is writing. */
    struct flash_page page;
};

uint64_t io_timeout = TIMEOUT;

static struct client clients[MESH_TILES];
static struct turns turns;
/* Data of the current request: to be written, or read. */
static uint32_t buffer[IO_LENGTH_MAX / sizeof(uint32_t)];
static uint64_t served, refused, dropped;

uint32_t packet_await(enum mesh_queue queue, uint64_t deadline)
{
    uint32_t head;

    while ((head = mesh_first(queue)) == 0)
        if (platform_time() > deadline)
            return 0;
    return head;
}

void packet_pause(uint64_t until)
{
    while (platform_time() < until)
        ;
}

/* The number of the tile at a place; MESH_TILES: there is none. */
static uint32_t tile_at(uint32_t place)
{
    uint32_t x = place >> 26 & 7, y = place >> 29;

    return x < 4 && y < 4 ? 4 * y + x : MESH_TILES;
}

/* Stores a client's request until the policy selects it. */
void packet_stray(uint32_t head)
{
    uint32_t tile = tile_at(mesh_from(head));
    size_t words, length;

    if (tile == MESH_TILES || request_op(head) == OP_DATA || !turns_arrive(&turns, tile)) {
        mesh_skip(MESH_MESSAGES);
        dropped++;
        return;
    }
    struct client *client = &clients[tile];

    client->request = head & MESH_HEAD_bm;
    length = request_op(head) != OP_READ && (head & REQUEST_LATER) == 0 ? request_length(head) : 0;
    words = (length + 3) / 4;
    client->malformed = length > DATA_AT_ONCE || !mesh_take_word(MESH_MESSAGES, &client->address);
    for (size_t i = 0; i < words && !client->malformed; i++)
        client->malformed = !mesh_take_word(MESH_MESSAGES, &client->data[i]);
    if (mesh_skip(MESH_MESSAGES) > 0)
        client->malformed = true;
}

static void respond(uint32_t tile, uint32_t status, size_t length, const void *data, size_t bytes)
{
    uint32_t response = MESH_TILE(tile) | response_make(clients[tile].request, status, length);

    /* If a response cannot be sent, its client times out. */
    if (!mesh_send(response, NULL, 0, data, bytes, platform_time() + SEND_TIMEOUT))
        dropped++;
}

/* Fetches the data that a client has offered into the buffer, in parts. */
static bool fetch(uint32_t tile)
{
    size_t length = request_length(clients[tile].request);

    for (size_t at = 0; at < length;) {
        size_t part = length - at < DATA_LATER ? length - at : DATA_LATER;
        uint64_t deadline = platform_time() + DATA_TIMEOUT;
        uint32_t head;

        respond(tile, STATUS_GRANT, part, NULL, 0);
        for (;;) {
            head = packet_await(MESH_MESSAGES, deadline);
            if (head == 0)
                return false;
            if (tile_at(mesh_from(head)) == tile && request_op(head) == OP_DATA && request_length(head) == part)
                break;
            packet_stray(head);
        }
        mesh_take(MESH_MESSAGES, (uint8_t *)buffer + at, part);
        if (mesh_skip(MESH_MESSAGES) > 0)
            return false;
        at += part;
    }
    return true;
}

static uint32_t serve_uart(const struct client *client, uint32_t op, const void *data, size_t length)
{
    if (op != OP_WRITE)
        return IO_BAD_OP;
    if (client->address != 0)
        return IO_BAD_ADDRESS;
    return length > 0 ? uart_write(data, length) : IO_BAD_LENGTH;
}

static uint32_t serve_flash(struct client *client, uint32_t op, const void *data, size_t length, size_t *came)
{
    bool more = op == OP_WRITE && (client->address & FLASH_MORE) != 0;
    uint32_t place, status;

    if (!area_flash(&client->area, more ? client->address - FLASH_MORE : client->address, op == OP_CONTROL ? FLASH_SECTOR : length, &place))
        return IO_BAD_ADDRESS;
    if (op == OP_WRITE)
        return flash_write(&client->page, place, data, length, more);
    if (op == OP_CONTROL && length > 0)
        return IO_BAD_LENGTH;
    if (op == OP_CONTROL && client->address % FLASH_SECTOR != 0)
        return IO_BAD_ADDRESS;
    /* A read or an erase must follow all earlier writes. */
    status = client->page.length > 0 ? flash_flush(&client->page) : IO_DONE;
    if (status != IO_DONE || op == OP_CONTROL)
        return status == IO_DONE ? flash_erase(place) : status;
    *came = length;
    return length > 0 ? flash_read(place, buffer, length) : IO_DONE;
}

static uint32_t serve_vga(const struct client *client, uint32_t op, const void *data, size_t length)
{
    uint32_t x, y;
    size_t part;

    if (op != OP_WRITE)
        return IO_BAD_OP;
    part = area_row(&client->area, client->address & 0xffff, client->address >> 16, length, &x, &y);
    return part > 0 ? vga_draw(x, y, data, part) : IO_DONE;
}

/* A frame was sent, and none has arrived since: it may still be on its way back. */
static bool frame_expected;

/* Takes a received frame, if there is one, and stores it for its receivers. */
static uint32_t take_frame(void)
{
    static uint32_t arrival[IO_LENGTH_MAX / sizeof(uint32_t)];
    size_t length = IO_FRAME_MAX;

    uint32_t status = ethernet_receive(arrival, &length, frame_expected);

    frame_expected = false;
    if (status != IO_DONE || length == 0)
        return status;
    for (uint32_t tile = 0; tile < MESH_TILES; tile++) {
        struct client *client = &clients[tile];

        /* A client that has not taken its last frame loses this one, without an effect on others. */
        if (client->frame_length == 0 && area_receives(&client->area, (const uint8_t *)arrival)) {
            memcpy(client->frame, arrival, length);
            client->frame_length = length;
        }
    }
    return IO_DONE;
}

/* Copies the frame received for a client into the buffer. */
static uint32_t receive(uint32_t tile, size_t room, size_t *came)
{
    struct client *client = &clients[tile];
    uint32_t status = client->frame_length == 0 ? take_frame() : IO_DONE;

    *came = client->frame_length < room ? client->frame_length : room;
    memcpy(buffer, client->frame, *came);
    client->frame_length = 0;
    return status;
}

static uint32_t serve_ethernet(uint32_t tile, uint32_t op, void *data, size_t length, size_t *came)
{
    struct client *client = &clients[tile];
    uint32_t status = IO_DONE;

    if (client->address != 0)
        return IO_BAD_ADDRESS;
    if (op == OP_READ)
        return length <= IO_FRAME_MAX ? receive(tile, length, came) : IO_BAD_LENGTH;
    if (op != OP_WRITE)
        return IO_BAD_OP;
    if (length < 14 || length > IO_FRAME_MAX)
        return IO_BAD_LENGTH;
    /* The controller has room for one frame: a received one is taken first. */
    if (frame_expected)
        status = take_frame();
    /* The client's source address replaces the one in the frame. */
    memcpy((uint8_t *)data + sizeof client->area.mac, client->area.mac, sizeof client->area.mac);
    if (status == IO_DONE)
        status = ethernet_send(data, length);
    frame_expected = status == IO_DONE;
    return status;
}

static uint32_t serve_counter(uint32_t op, size_t length, size_t *came)
{
    if (op != OP_READ)
        return IO_BAD_OP;
    if (length != sizeof(uint32_t))
        return IO_BAD_LENGTH;
    *came = length;
    return registers_read(COUNTER_PLACE, 0, COUNTER_ADDRESS, buffer, 1);
}

/* Executes a client's request, and responds. */
static void serve(uint32_t tile)
{
    struct client *client = &clients[tile];
    uint32_t op = request_op(client->request), status;
    size_t length = request_length(client->request), came = 0;
    bool later = op != OP_READ && (client->request & REQUEST_LATER) != 0;
    void *data = later ? buffer : client->data;

    if (client->malformed || length > IO_LENGTH_MAX || (later && !fetch(tile)))
        status = IO_MALFORMED;
    else if (request_device(client->request) == DEVICE_UART)
        status = serve_uart(client, op, data, length);
    else if (request_device(client->request) == DEVICE_FLASH)
        status = serve_flash(client, op, data, length, &came);
    else if (request_device(client->request) == DEVICE_VGA)
        status = serve_vga(client, op, data, length);
    else if (request_device(client->request) == DEVICE_ETHERNET)
        status = serve_ethernet(tile, op, data, length, &came);
    else if (request_device(client->request) == DEVICE_COUNTER)
        status = serve_counter(op, length, &came);
    else
        status = IO_NO_DEVICE;
    if (status == IO_TIMED_OUT)
        status = IO_DEVICE_FAILED;
    if (status != IO_DONE) {
        came = 0;
        refused++;
    }
    served++;
    respond(tile, status, came, buffer, came);
}

static bool round_robin(void)
{
    const char *policy = argument("policy=");

    if (policy == NULL || argument_behind(policy, "fifo") != NULL)
        return false;
    if (argument_behind(policy, "rr") == NULL)
        platform_fail("argument", "policy=");
    return true;
}

void app_main(void)
{
    uint64_t idle = argument_number("idle=", IDLE), off;

    for (uint32_t tile = 0; tile < MESH_TILES; tile++)
        clients[tile].area = area_of_tile(tile);
    turns_init(&turns, !round_robin());
    if (!mesh_open())
        platform_fail("open", "no-device");
    off = platform_time() + FIRST;
    while (platform_time() < off) {
        uint32_t head, tile;

        /* At most one request of each client waits; any further ones are dropped. */
        while ((head = mesh_first(MESH_MESSAGES)) != 0)
            packet_stray(head);
        tile = turns_next(&turns);
        if (tile != TURNS_NONE) {
            serve(tile);
            off = platform_time() + idle;
        }
    }
    uint32_t not_sent, lost;

    mesh_lost(&not_sent, &lost);
    console_print("@tactus metric name=server_requests value=%lu unit=count\n", served);
    console_print("@tactus metric name=server_refused value=%lu unit=count\n", refused);
    console_print("@tactus metric name=server_dropped value=%lu unit=count\n", dropped + not_sent + lost);
    console_print("@tactus pass name=manycore\n");
    platform_power_off(false);
}
