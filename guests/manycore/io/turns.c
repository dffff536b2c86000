#include "turns.h"

void turns_init(struct turns *turns, bool fifo)
{
    *turns = (struct turns){.fifo = fifo, .last = TURNS_CLIENTS - 1};
}

bool turns_arrive(struct turns *turns, uint32_t client)
{
    if ((turns->waiting >> client & 1) != 0)
        return false;
    turns->waiting |= 1u << client;
    if (turns->fifo)
        turns->order[turns->end++ % TURNS_CLIENTS] = (uint8_t)client;
    return true;
}

/* Index of the lowest set bit, of sixteen; at least one is set. RV64GC has no instruction for it. */
static uint32_t lowest(uint32_t bits)
{
    uint32_t number = 0;

    if ((bits & 0xff) == 0) {
        number += 8;
        bits >>= 8;
    }
    if ((bits & 0xf) == 0) {
        number += 4;
        bits >>= 4;
    }
    if ((bits & 0x3) == 0) {
        number += 2;
        bits >>= 2;
    }
    return number + ((bits & 1) == 0);
}

uint32_t turns_next(struct turns *turns)
{
    uint32_t client;

    if (turns->waiting == 0)
        return TURNS_NONE;
    if (turns->fifo) {
        client = turns->order[turns->first++ % TURNS_CLIENTS];
    } else {
        /* The next client after the last one served, else the first. */
        uint32_t behind = turns->waiting & ~((2u << turns->last) - 1);

        client = lowest(behind != 0 ? behind : turns->waiting);
        turns->last = client;
    }
    turns->waiting &= ~(1u << client);
    return client;
}
