/* Waiting for packets: with the kernel (packets.c), or on the server's dedicated tile (app/server.c). */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdint.h>

#include "mesh.h"

/* Waits for the next packet, and returns its first word; 0: none has arrived until `deadline`. */
uint32_t packet_await(enum mesh_queue queue, uint64_t deadline);

/* Lets other tasks run until a cycle. */
void packet_pause(uint64_t until);

/* Handles an unexpected message, whose first word was taken. */
void packet_stray(uint32_t head);

#endif
