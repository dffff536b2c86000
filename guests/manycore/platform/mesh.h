/*
 * A tile's interface to the mesh (docs/src/reference/mesh.md): whole packets to other places, and those that have come. One task's, or nobody else's than
 * the application's: there are no locks.
 */
#ifndef MESH_H
#define MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh_interface_regs.h"

/* A register of the interface, by its name in fabric/regs/mesh_interface.rdl. The header's structure is packed: members have to be accessed by words. */
#define MESH_REGISTER(name) (((volatile uint32_t *)0x40000000)[offsetof(mesh_interface_t, name) / sizeof(uint32_t)])

/* A place, as the bits of a packet's first word that say where it goes. */
#define MESH_PLACE(x, y) ((uint32_t)(y) << 29 | (uint32_t)(x) << 26)
#define MESH_PLACE_bm 0xfc000000u
/* Tiles are in rows of four. */
#define MESH_TILE(tile) MESH_PLACE((tile) % 4, (tile) / 4)
#define MESH_TILES 16

/* The place that a packet came from, of its first word; in the form of MESH_PLACE. */
static inline uint32_t mesh_from(uint32_t head)
{
    return head << 6 & MESH_PLACE_bm;
}

/* What a first word says besides: bits 19 to 0. */
#define MESH_HEAD_bm 0xfffffu

/* The most words that follow the first one. */
#define MESH_WORDS_MAX 511

/* What has come: the I/O hypervisor's responses, or other places' messages. */
enum mesh_queue { MESH_RESPONSES, MESH_MESSAGES };

/* False: there is no such interface. Nothing that came before is there any more. */
bool mesh_open(void);

/* Puts the words behind the head of the next packet into the interface: `fronts` words, then `length` bytes as words, of the last of which the upper bytes are
 * zero; at most MESH_WORDS_MAX words in all. When it returns the packet before has gone. False: it has not until `deadline`. */
bool mesh_prepare(const uint32_t *front, size_t fronts, const void *bytes, size_t length, uint64_t deadline);

/* Sends what was prepared behind `head`, in which its place is. */
void mesh_launch(uint32_t head);

/* Both. */
bool mesh_send(uint32_t head, const uint32_t *front, size_t fronts, const void *bytes, size_t length, uint64_t deadline);

/* The packet that was sent last is known to have arrived, as it was answered: the next one need not wait for it. */
void mesh_settled(void);

/* The first word of the next packet, of which the others are there then; 0: nothing has come. */
static inline uint32_t mesh_first(enum mesh_queue queue)
{
    return queue == MESH_RESPONSES ? MESH_REGISTER(RESPONSE) : MESH_REGISTER(MESSAGE);
}

/* Takes the words of the packet that has begun, as `length` bytes. */
void mesh_take(enum mesh_queue queue, void *to, size_t length);

/* Takes the next word of the packet that has begun. False: it is over. */
bool mesh_take_word(enum mesh_queue queue, uint32_t *word);

/* Throws away what is left of the packet that has begun. Gives how many words that were. */
size_t mesh_skip(enum mesh_queue queue);

/* Packets that this interface has refused to send, and that have come and were lost: since reset, at most 255 each. */
void mesh_lost(uint32_t *refused, uint32_t *lost);

/* Has the interface interrupt while something of `queue` waits. */
void mesh_interrupt(enum mesh_queue queue, bool enable);

#endif
