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
    turns->order[(turns->first + turns->count++) % TURNS_CLIENTS] = (uint8_t)client;
    return true;
}

/* Takes the place away that a client has in the order. */
static void leave(struct turns *turns, uint32_t client)
{
    uint32_t at = 0;

    while (turns->order[(turns->first + at) % TURNS_CLIENTS] != client)
        at++;
    for (; at > 0; at--)
        turns->order[(turns->first + at) % TURNS_CLIENTS] = turns->order[(turns->first + at - 1) % TURNS_CLIENTS];
    turns->first = (turns->first + 1) % TURNS_CLIENTS;
    turns->count--;
}

uint32_t turns_next(struct turns *turns)
{
    uint32_t client;

    if (turns->waiting == 0)
        return TURNS_NOBODY;
    if (turns->fifo)
        client = turns->order[turns->first];
    else
        for (client = (turns->last + 1) % TURNS_CLIENTS; (turns->waiting >> client & 1) == 0;)
            client = (client + 1) % TURNS_CLIENTS;
    leave(turns, client);
    turns->waiting &= ~(1u << client);
    turns->last = client;
    return client;
}
