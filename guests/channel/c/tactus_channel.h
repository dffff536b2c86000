/*
 * Rings in memory that two VMs share: blocks of bytes in order, without hypercalls. C11 and memcpy; for bare-metal
 * guests and for Linux user space alike. The Rust crate tactus-channel implements the same format;
 * docs/src/reference/channels.md describes it.
 *
 * Lock-free. The ring's capacity bounds the number of steps of every call, for any behaviour of the other end: shared
 * data are loaded once, checked, and then used. A hostile end can at worst make its own records garbage.
 *
 * Only one thread at a time may use a producer or a consumer.
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

/* The reason why a record was not sent or received; 0: it was. */
enum tactus_ring_result {
    TACTUS_RING_OK = 0,
    /* Sending: there is no room now. Receiving: there is no record now. */
    TACTUS_RING_FULL,
    TACTUS_RING_EMPTY,
    /* Sending: longer than the longest record. Receiving: longer than the buffer; it stays, see tactus_ring_skip. */
    TACTUS_RING_TOO_LONG,
    /* The producer has restarted. Its earlier records that were not received are lost. */
    TACTUS_RING_RESTARTED,
    /* The other end has written invalid data. Records in the ring are lost, and the ring works again. */
    TACTUS_RING_CORRUPT,
};

/* The fields are private. */
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
 * Starts one end of the channel whose whole memory is `size` bytes at `memory` (aligned to 8). `end` is 0 for the VM
 * that is first in system.toml, else 1: property tactus,end of the channel's node in the devicetree.
 *
 * The end's own ring restarts; its records that the other end has not received are dropped. Receiving resumes where
 * this end was before its restart. False: the memory is too small. To be called once after each start of the guest.
 */
bool tactus_ring_open(void *memory, size_t size, unsigned end, struct tactus_producer *producer,
                      struct tactus_consumer *consumer);

/* Bytes of the longest record. */
size_t tactus_ring_record_max(const struct tactus_ring *ring);

/* Drops records that were not received, and restarts; the consumer gets TACTUS_RING_RESTARTED. */
void tactus_ring_begin(struct tactus_producer *producer);

/* Sends a record of `length` bytes: TACTUS_RING_OK, FULL, TOO_LONG or CORRUPT. */
enum tactus_ring_result tactus_ring_send(struct tactus_producer *producer, const void *record, size_t length);

/*
 * Takes the oldest record and copies it to `buffer` of `capacity` bytes: TACTUS_RING_OK, EMPTY, TOO_LONG, RESTARTED or
 * CORRUPT. `*length` is its length if OK or TOO_LONG; the buffer's contents are undefined if not OK.
 */
enum tactus_ring_result tactus_ring_receive(struct tactus_consumer *consumer, void *buffer, size_t capacity,
                                            size_t *length);

/* Drops the oldest record. Otherwise like tactus_ring_receive. */
enum tactus_ring_result tactus_ring_skip(struct tactus_consumer *consumer, size_t *length);

/* Rings the other end of channel `number`. `doorbells`: the address at which TACTUS_DOORBELLS is mapped. */
static inline void tactus_doorbell(volatile void *doorbells, unsigned number)
{
    atomic_thread_fence(memory_order_seq_cst);
    ((volatile uint32_t *)doorbells)[number] = 1;
}

#endif
