/*
 * Rings in memory that two VMs share: blocks of bytes in order, without a call to the hypervisor. C11 and memcpy; for bare-metal guests
 * and for Linux user space alike. The Rust crate tactus-channel does the same in the same format;
 * docs/src/reference/channels.md describes it.
 *
 * Lock-free. Every call takes a number of steps that is bounded by the ring's capacity, whatever the other end does: what the other end
 * can write is loaded once, checked, and used then. The worst that a hostile end achieves is that what it sends is garbage.
 *
 * A producer and a consumer each belong to one thread of control at a time.
 */
#ifndef TACTUS_CHANNEL_H
#define TACTUS_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The guest-physical memory map of channels. */
#define TACTUS_DOORBELLS 0x30000000u /* a 32-bit store at 4 * n rings the other end of channel n */
#define TACTUS_CHANNELS 0x30001000u  /* memory of channel 0; the others follow in order */
#define TACTUS_CHANNEL_SOURCE 64u    /* PLIC source of channel 0; channel n has this plus n */

/* Why a record was not sent or not received; 0: it was. */
enum tactus_ring_result {
    TACTUS_RING_OK = 0,
    /* Sending: there is no room now. Receiving: there is no record now. */
    TACTUS_RING_FULL,
    TACTUS_RING_EMPTY,
    /* Sending: longer than any record can be. Receiving: longer than the buffer; it stays, see tactus_ring_skip. */
    TACTUS_RING_TOO_LONG,
    /* The producer has restarted. What it had sent before and was not received is lost. */
    TACTUS_RING_RESTARTED,
    /* The other end has written what is impossible. What was under way is lost, and the ring works again. */
    TACTUS_RING_CORRUPT,
};

/* The fields are the library's own. */
struct tactus_ring {
    _Atomic uint64_t *produced;
    _Atomic uint64_t *consumed;
    _Atomic uint64_t *records;
    uint32_t capacity;
};

struct tactus_producer {
    struct tactus_ring ring;
    uint32_t epoch;
    uint32_t sequence;
    uint32_t consumed;
};

struct tactus_consumer {
    struct tactus_ring ring;
    uint32_t epoch;
    uint32_t sequence;
};

/*
 * Starts one end of the channel whose memory, all of it, is `size` bytes at `memory` (aligned to 8). `end` is 0 for the VM that comes
 * first in system.toml, else 1: property tactus,end of the channel's node in the devicetree.
 *
 * Its own ring restarts; what it had sent before and the other end has not taken is dropped. Receiving continues where this end was before
 * it restarted. False: the memory is too small. An end is to be started once in a guest's life.
 */
bool tactus_ring_open(void *memory, size_t size, unsigned end, struct tactus_producer *producer,
                      struct tactus_consumer *consumer);

/* Bytes of the longest record. */
size_t tactus_ring_record_max(const struct tactus_ring *ring);

/* Drops what has not been taken, and restarts; the consumer is told by TACTUS_RING_RESTARTED. */
void tactus_ring_begin(struct tactus_producer *producer);

/* Sends a record of `length` bytes: TACTUS_RING_OK, FULL, TOO_LONG or CORRUPT. */
enum tactus_ring_result tactus_ring_send(struct tactus_producer *producer, const void *record, size_t length);

/*
 * Takes the oldest record and copies it to `buffer`, which has `capacity` bytes: TACTUS_RING_OK, EMPTY, TOO_LONG, RESTARTED or CORRUPT.
 * `*length` is its length if OK or TOO_LONG; the buffer may hold anything if not OK.
 */
enum tactus_ring_result tactus_ring_receive(struct tactus_consumer *consumer, void *buffer, size_t capacity,
                                            size_t *length);

/* Drops the oldest record. As tactus_ring_receive otherwise. */
enum tactus_ring_result tactus_ring_skip(struct tactus_consumer *consumer, size_t *length);

/* Rings the other end of channel `number`. `doorbells`: where TACTUS_DOORBELLS is mapped. */
static inline void tactus_doorbell(volatile void *doorbells, unsigned number)
{
    atomic_thread_fence(memory_order_seq_cst);
    ((volatile uint32_t *)doorbells)[number] = 1;
}

#endif
