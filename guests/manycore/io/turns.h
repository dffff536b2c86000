/* Whose request the server carries out next. */
#ifndef TURNS_H
#define TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURNS_CLIENTS 16u
#define TURNS_NOBODY TURNS_CLIENTS

struct turns {
    /* In the order in which they came; otherwise round robin. */
    bool fifo;
    /* A bit for each client that waits. */
    uint32_t waiting;
    /* Round robin: who had the last turn. */
    uint32_t last;
    /* Otherwise those that wait, in the order in which they came: from `first` up to `end`, around. */
    uint8_t order[TURNS_CLIENTS];
    uint32_t first, end;
};

void turns_init(struct turns *turns, bool fifo);

/* A client has a request. False: it has one already. */
bool turns_arrive(struct turns *turns, uint32_t client);

/* Gives a client its turn: it does not wait any more. TURNS_NOBODY: nobody does. */
uint32_t turns_next(struct turns *turns);

#endif
