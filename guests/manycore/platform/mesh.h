/*
 * A tile's interface to the mesh (docs/src/reference/mesh.md): sends and receives whole packets. There are no locks:
 * only one task, or only the application, may use it.
 */
#ifndef MESH_H
#define MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh_interface_regs.h"

/* A register, by its name in fabric/regs/mesh_interface.rdl. Accessed by words, as the header's structure is packed. */
#define MESH_REGISTER(name) (((volatile uint32_t *)0x40000000)[offsetof(mesh_interface_t, name) / sizeof(uint32_t)])

/* A place, as the bits of a packet's first word that hold the destination. */
#define MESH_PLACE(x, y) ((uint32_t)(y) << 29 | (uint32_t)(x) << 26)
#define MESH_PLACE_bm 0xfc000000u
/* Tiles are in rows of four. */
#define MESH_TILE(tile) MESH_PLACE((tile) % 4, (tile) / 4)
#define MESH_TILES 16

/* The place from which a packet came, by its first word; in the form of MESH_PLACE. */
static inline uint32_t mesh_from(uint32_t head)
{
    return head << 6 & MESH_PLACE_bm;
}

/* The other contents of a first word: bits 19 to 0. */
#define MESH_HEAD_bm 0xfffffu

/* Words that follow the first one at most. */
#define MESH_WORDS_MAX 511

/* Queues of received packets: responses of the I/O hypervisor, and messages of other places. */
enum mesh_queue { MESH_RESPONSES, MESH_MESSAGES };

/* Opens the interface and drops all received packets. False: there is no such interface. */
bool mesh_open(void);

/* Stores the next packet behind its head: `fronts` words, then `length` bytes, zero-padded to words; at most
 * MESH_WORDS_MAX words. Waits for the previous packet's transmission. False: it has not ended by `deadline`. */
bool mesh_prepare(const uint32_t *front, size_t fronts, const void *bytes, size_t length, uint64_t deadline);

/* Sends the prepared packet with `head`, which contains the destination. */
void mesh_launch(uint32_t head);

/* Prepares and sends a packet. */
bool mesh_send(uint32_t head, const uint32_t *front, size_t fronts, const void *bytes, size_t length, uint64_t deadline);

/* Notes that the last packet was answered, and so has arrived: the next one need not wait for it. */
void mesh_settled(void);

/* The first word of the next packet, whose other words have arrived then; 0: there is no packet. */
static inline uint32_t mesh_first(enum mesh_queue queue)
{
    return queue == MESH_RESPONSES ? MESH_REGISTER(RESPONSE) : MESH_REGISTER(MESSAGE);
}

/* Takes the words of the current packet, as `length` bytes. */
void mesh_take(enum mesh_queue queue, void *to, size_t length);

/* Takes the next word of the current packet. False: there is none left. */
bool mesh_take_word(enum mesh_queue queue, uint32_t *word);

/* Drops the rest of the current packet. Returns the number of words dropped. */
size_t mesh_skip(enum mesh_queue queue);

/* Packets that this interface has refused to send, and received packets that were lost: since reset, up to 255 each. */
void mesh_lost(uint32_t *refused, uint32_t *lost);

/* Enables or disables the interrupt for packets in `queue`. */
void mesh_interrupt(enum mesh_queue queue, bool enable);

#endif
