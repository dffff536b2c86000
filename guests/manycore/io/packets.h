/* Waiting for packets: with the kernel (packets.c), or at the server, which does nothing else (app/server.c). */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdint.h>

#include "mesh.h"

/* Waits for the next packet, and gives its first word; 0: none has come until `deadline`. */
uint32_t packet_await(enum mesh_queue queue, uint64_t deadline);

/* Leaves the tile to others until a cycle. */
void packet_pause(uint64_t until);

/* Sees to a message that nobody waits for, whose first word was taken. */
void packet_stray(uint32_t head);

#endif
