/* The counter of cycles, read by software. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

/* To be supplied by what knows the way: asks for the counter at a cycle, as exactly as it can. */
uint32_t io_counter(uint64_t when, uint32_t *counter);

#endif
