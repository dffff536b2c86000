/* Selects the next request that the server executes. */
#ifndef TURNS_H
#define TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURNS_CLIENTS 16u
#define TURNS_NONE TURNS_CLIENTS

struct turns {
    /* First come, first served; otherwise round robin. */
    bool fifo;
    /* A bit for each client that waits. */
    uint32_t waiting;
    /* Round robin: the client served last. */
    uint32_t last;
    /* First come, first served: the waiting clients in order, from `first` up to `end`, in a circular buffer. */
    uint8_t order[TURNS_CLIENTS];
    uint32_t first, end;
};

void turns_init(struct turns *turns, bool fifo);

/* Adds a client with a request. False: it has one already. */
bool turns_arrive(struct turns *turns, uint32_t client);

/* Selects and removes the next client. TURNS_NONE: no client waits. */
uint32_t turns_next(struct turns *turns);

#endif
