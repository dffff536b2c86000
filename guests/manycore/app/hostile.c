/*
 * A hostile tile: it writes random data to its interface to the mesh, and sends packets of any kind to the I/O
 * hypervisor, to timed I/O, to other tiles and to empty places, as fast as it can. It takes few of the responses.
 *
 * Boot arguments: `seed=N`; `until=CYCLE`: powers off then, and reports the number of packets sent.
 */

#include "arguments.h"
#include "console.h"
#include "mesh.h"
#include "platform.h"

#define BUFFER_WORDS 512
#define PAGE_WORDS 1024

#define HYPERVISOR MESH_PLACE(0, 4)
#define TIMED_IO MESH_PLACE(1, 4)

static volatile uint32_t *const page = &MESH_REGISTER(ID), *const buffer = &MESH_REGISTER(BUFFER);

/* xorshift32 (Marsaglia, "Xorshift RNGs", 2003). */
static uint32_t state;

static uint32_t any(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static uint32_t below(uint32_t bound)
{
    return any() % bound;
}

static void send(uint32_t head, uint32_t words)
{
    MESH_REGISTER(PACKET) = words << 16 | below(BUFFER_WORDS);
    MESH_REGISTER(HEADER) = head;
}

/* A random place: a tile, a place of the I/O, or an empty one. */
static uint32_t place(void)
{
    return any() & MESH_PLACE_bm;
}

static void one(void)
{
    switch (below(8)) {
    case 0:
        /* A plausible request: any device, any operation, usually any length. */
        send(HYPERVISOR | (any() & 0xfffff), below(4) == 0 ? below(BUFFER_WORDS) : 1 + below(8));
        break;
    case 1:
        /* A flood of reads of the flash, of the greatest length; most of them outside the area. */
        buffer[0] = any();
        MESH_REGISTER(PACKET) = 1 << 16;
        MESH_REGISTER(HEADER) = HYPERVISOR | 2 << 17 | 1536;
        break;
    case 2:
        /* A broadcast frame. */
        buffer[0] = 0;
        buffer[1] = 0xffffffff;
        buffer[2] = 0xffff;
        MESH_REGISTER(PACKET) = 17 << 16;
        MESH_REGISTER(HEADER) = HYPERVISOR | 4 << 17 | 1 << 15 | 64;
        break;
    case 3:
        /* Registers of timed I/O: any register, any value; with more words than the head says, or fewer. */
        buffer[0] = below(PAGE_WORDS) * 4 | (below(8) == 0 ? any() : 0);
        send(TIMED_IO | below(2) << 15 | below(2) << 14 | (1 + below(16)), below(18));
        break;
    case 4:
        /* The other tiles. */
        send(MESH_TILE(below(MESH_TILES)) | (any() & 0xfffff), below(BUFFER_WORDS));
        break;
    case 5:
        send(place() | (any() & 0xfffff), below(BUFFER_WORDS));
        break;
    case 6:
        /* Its own page. */
        page[below(PAGE_WORDS)] = any();
        break;
    default:
        /* Takes some of the received packets, so that there is room for more. */
        for (uint32_t i = below(16); i > 0; i--)
            (void)mesh_first(below(2) == 0 ? MESH_RESPONSES : MESH_MESSAGES);
        break;
    }
}

void app_main(void)
{
    uint64_t until = argument_number("until=", 1000000), done = 0;

    platform_external_enable(false);
    state = (uint32_t)argument_number("seed=", 1) * 2654435761u + platform_tile + 1;
    for (uint32_t i = 0; i < BUFFER_WORDS; i++)
        buffer[i] = any();
    for (; platform_time() < until; done++)
        one();
    MESH_REGISTER(IRQ_ENABLE) = 0;
    console_print("@tactus metric name=hostile_acts value=%lu unit=count\n", done);
    console_print("@tactus pass name=manycore\n");
    platform_power_off(false);
}
