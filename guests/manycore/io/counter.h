/* The counter of cycles, read by software. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

/* Supplied by an implementation of I/O: requests the counter at a cycle, as exactly as possible. */
uint32_t io_counter(uint64_t when, uint32_t *counter);

#endif
