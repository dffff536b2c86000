#include "tactus_channel.h"

/* The layout of abi/src/ring.rs; a test compares the two. */
#define CONTROL 256u
#define LINE 64u
#define ALIGN 8u
#define FIRST ((uint32_t)-4096)
#define CAPACITY_MAX (1u << 30)

#define EPOCH(word) ((uint32_t)((word) >> 32))
#define SEQUENCE(word) ((uint32_t)(word))

static uint64_t position(uint32_t epoch, uint32_t sequence)
{
    return (uint64_t)epoch << 32 | sequence;
}

static uint32_t ring_capacity(size_t size)
{
    size_t each = size < CONTROL ? 0 : (size - CONTROL) / 2;
    uint32_t capacity = 2 * ALIGN;

    if (each < capacity)
        return 0;
    while (capacity < CAPACITY_MAX && 2 * (size_t)capacity <= each)
        capacity *= 2;
    return capacity;
}

/* Bytes that a record occupies; `length` is less than CAPACITY_MAX. */
static uint32_t record_size(size_t length)
{
    return ALIGN + (((uint32_t)length + ALIGN - 1) & ~(ALIGN - 1));
}

static void bind(struct tactus_ring *ring, unsigned char *memory, uint32_t number, uint32_t capacity)
{
    ring->produced = (_Atomic uint64_t *)(void *)(memory + 2 * number * LINE);
    ring->consumed = (_Atomic uint64_t *)(void *)(memory + 2 * number * LINE + LINE);
    ring->records = (_Atomic uint64_t *)(void *)(memory + CONTROL + (size_t)number * capacity);
    ring->capacity = capacity;
}

static uint32_t offset(const struct tactus_ring *ring, uint32_t sequence)
{
    return sequence & (ring->capacity - 1);
}

/* Copies between a caller's bytes and shared words. The other end may write the words concurrently: accesses are
   atomics of eight bytes. For aligned bytes of the caller, a word takes one load and one store, a cache line
   sixteen. Unaligned bytes take as many again, and two shifts per word. */

static uint64_t load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Bytes from `bytes` to the first address that is aligned to 8. */
static size_t to_aligned(const void *bytes)
{
    return -(uintptr_t)bytes & (ALIGN - 1);
}

static uint64_t bytes_of(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;

    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

static void put_few(_Atomic uint64_t *words, const unsigned char *bytes, size_t length)
{
    for (; length > ALIGN; length -= ALIGN, bytes += ALIGN)
        store(words++, bytes_of(bytes, ALIGN));
    if (length > 0)
        store(words, bytes_of(bytes, length));
}

static void get_few(const _Atomic uint64_t *words, unsigned char *bytes, size_t length)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++, value >>= 8) {
        if (i % ALIGN == 0)
            value = load(words++);
        bytes[i] = (unsigned char)value;
    }
}

static void put(_Atomic uint64_t *words, const unsigned char *bytes, size_t length)
{
    size_t offset = to_aligned(bytes), shift = 8 * offset;
    unsigned char last[2 * ALIGN];
    uint64_t value[8], carry;

    if (length < 2 * ALIGN) {
        put_few(words, bytes, length);
        return;
    }
    if (offset == 0) {
        for (; length >= sizeof value; length -= sizeof value, bytes += sizeof value, words += 8) {
            __builtin_memcpy(value, __builtin_assume_aligned(bytes, ALIGN), sizeof value);
            for (int i = 0; i < 8; i++)
                store(&words[i], value[i]);
        }
        put_few(words, bytes, length);
        return;
    }
    carry = bytes_of(bytes, offset);
    for (bytes += offset, length -= offset; length >= ALIGN; length -= ALIGN, bytes += ALIGN) {
        __builtin_memcpy(value, __builtin_assume_aligned(bytes, ALIGN), ALIGN);
        store(words++, carry | value[0] << shift);
        carry = value[0] >> (64 - shift);
    }
    for (size_t i = 0; i < offset; i++)
        last[i] = (unsigned char)(carry >> 8 * i);
    for (size_t i = 0; i < length; i++)
        last[offset + i] = bytes[i];
    put_few(words, last, offset + length);
}

static void get(const _Atomic uint64_t *words, unsigned char *bytes, size_t length)
{
    size_t offset = to_aligned(bytes), shift = 8 * offset;
    uint64_t value[8], carry;

    if (length < 2 * ALIGN) {
        get_few(words, bytes, length);
        return;
    }
    if (offset == 0) {
        for (; length >= sizeof value; length -= sizeof value, bytes += sizeof value, words += 8) {
            for (int i = 0; i < 8; i++)
                value[i] = load(&words[i]);
            __builtin_memcpy(__builtin_assume_aligned(bytes, ALIGN), value, sizeof value);
        }
        get_few(words, bytes, length);
        return;
    }
    carry = load(words++);
    for (size_t i = 0; i < offset; i++, carry >>= 8)
        bytes[i] = (unsigned char)carry;
    for (bytes += offset, length -= offset; length >= ALIGN; length -= ALIGN, bytes += ALIGN) {
        uint64_t next = load(words++);

        value[0] = carry | next << (64 - shift);
        __builtin_memcpy(__builtin_assume_aligned(bytes, ALIGN), value, ALIGN);
        carry = next >> shift;
    }
    for (size_t i = 0; i < length; i++, carry >>= 8) {
        if (i == ALIGN - offset)
            carry = load(words);
        bytes[i] = (unsigned char)carry;
    }
}

bool tactus_ring_open(void *memory, size_t size, unsigned end, struct tactus_producer *producer,
                      struct tactus_consumer *consumer)
{
    uint32_t capacity = ring_capacity(size);
    uint64_t produced, consumed;

    if (capacity == 0 || end > 1)
        return false;
    bind(&producer->ring, memory, end, capacity);
    producer->epoch = EPOCH(atomic_load_explicit(producer->ring.produced, memory_order_relaxed));
    tactus_ring_begin(producer);

    bind(&consumer->ring, memory, 1 - end, capacity);
    consumed = atomic_load_explicit(consumer->ring.consumed, memory_order_relaxed);
    produced = atomic_load_explicit(consumer->ring.produced, memory_order_relaxed);
    /* In an earlier epoch there is no position to continue from. */
    consumer->epoch = EPOCH(consumed) == EPOCH(produced) ? EPOCH(consumed) : 0;
    consumer->sequence = consumer->epoch == 0 ? FIRST : SEQUENCE(consumed);
    return true;
}

size_t tactus_ring_record_max(const struct tactus_ring *ring)
{
    return ring->capacity - ALIGN;
}

/* Restores this end's shared position before a wait: if the other end has corrupted it, the wait might never end. */
static void mend(_Atomic uint64_t *shared, uint64_t own)
{
    if (atomic_load_explicit(shared, memory_order_relaxed) != own)
        atomic_store_explicit(shared, own, memory_order_release);
}

/* ----- sending */

void tactus_ring_begin(struct tactus_producer *producer)
{
    struct tactus_ring *ring = &producer->ring;
    uint32_t seen = EPOCH(atomic_load_explicit(ring->consumed, memory_order_relaxed));

    /* At most three steps: two numbers are excluded. */
    do
        producer->epoch++;
    while (producer->epoch == 0 || producer->epoch == seen);
    producer->sequence = FIRST;
    producer->consumed = FIRST;
    atomic_store_explicit(ring->produced, position(producer->epoch, FIRST), memory_order_relaxed);
    /* An observer of any later store to the ring also observes the new epoch. */
    atomic_thread_fence(memory_order_release);
}

static uint32_t room(const struct tactus_producer *producer)
{
    return producer->ring.capacity - (producer->sequence - producer->consumed);
}

/* Reads the consumer's position. */
static enum tactus_ring_result look(struct tactus_producer *producer)
{
    uint64_t consumed = atomic_load_explicit(producer->ring.consumed, memory_order_acquire);
    uint32_t used = producer->sequence - SEQUENCE(consumed);

    if (EPOCH(consumed) != producer->epoch)
        return TACTUS_RING_OK; /* The consumer has not started in this epoch. */
    if (used > producer->ring.capacity || used % ALIGN != 0) {
        tactus_ring_begin(producer);
        return TACTUS_RING_CORRUPT;
    }
    producer->consumed = SEQUENCE(consumed);
    return TACTUS_RING_OK;
}

enum tactus_ring_result tactus_ring_send(struct tactus_producer *producer, const void *record, size_t length)
{
    struct tactus_ring *ring = &producer->ring;
    const unsigned char *bytes = record;
    uint32_t size, begin;
    size_t first;

    if (length > tactus_ring_record_max(ring))
        return TACTUS_RING_TOO_LONG;
    size = record_size(length);
    if (room(producer) < size) {
        if (look(producer) != TACTUS_RING_OK)
            return TACTUS_RING_CORRUPT;
        if (room(producer) < size) {
            mend(ring->produced, position(producer->epoch, producer->sequence));
            return TACTUS_RING_FULL;
        }
    }
    atomic_store_explicit(&ring->records[offset(ring, producer->sequence) / ALIGN], length, memory_order_relaxed);
    begin = offset(ring, producer->sequence + ALIGN);
    first = ring->capacity - begin < length ? ring->capacity - begin : length;
    put(&ring->records[begin / ALIGN], bytes, first);
    put(ring->records, bytes + first, length - first);
    producer->sequence += size;
    /* An observer of the new position also observes the record. */
    atomic_store_explicit(ring->produced, position(producer->epoch, producer->sequence), memory_order_release);
    return TACTUS_RING_OK;
}

/* ----- receiving */

/* Publishes the position: all loads of consumed data precede it. */
static void publish(const struct tactus_consumer *consumer)
{
    atomic_store_explicit(consumer->ring.consumed, position(consumer->epoch, consumer->sequence),
                          memory_order_release);
}

static void adopt(struct tactus_consumer *consumer, uint32_t epoch)
{
    consumer->epoch = epoch;
    consumer->sequence = FIRST;
    publish(consumer);
}

/* Whether the data loaded from the ring belong to this epoch. */
static bool still_valid(struct tactus_consumer *consumer)
{
    uint64_t produced;

    /* All loads above precede the load below. */
    atomic_thread_fence(memory_order_acquire);
    produced = atomic_load_explicit(consumer->ring.produced, memory_order_relaxed);
    if (EPOCH(produced) == consumer->epoch)
        return true;
    adopt(consumer, EPOCH(produced));
    return false;
}

/* Length of the oldest record, which lies within the ring's contents. */
static enum tactus_ring_result first_record(struct tactus_consumer *consumer, size_t *length)
{
    struct tactus_ring *ring = &consumer->ring;
    /* The producer's stores of the data precede its store of this position. */
    uint64_t produced = atomic_load_explicit(ring->produced, memory_order_acquire);
    uint64_t said;
    uint32_t held;

    if (EPOCH(produced) != consumer->epoch) {
        bool first = consumer->epoch == 0;

        adopt(consumer, EPOCH(produced));
        if (!first)
            return TACTUS_RING_RESTARTED;
    }
    held = SEQUENCE(produced) - consumer->sequence;
    if (EPOCH(produced) == 0 || held == 0) {
        mend(ring->consumed, position(consumer->epoch, consumer->sequence));
        return TACTUS_RING_EMPTY;
    }
    said = atomic_load_explicit(&ring->records[offset(ring, consumer->sequence) / ALIGN], memory_order_relaxed);
    /* The ring holds a whole number of words, at least one and at most its capacity, which include the record. */
    if (held > ring->capacity || held % ALIGN != 0 || consumer->sequence % ALIGN != 0 || said > held - ALIGN) {
        if (!still_valid(consumer))
            return TACTUS_RING_RESTARTED;
        consumer->sequence = SEQUENCE(produced) & ~(ALIGN - 1);
        publish(consumer);
        return TACTUS_RING_CORRUPT;
    }
    *length = (size_t)said;
    return TACTUS_RING_OK;
}

static enum tactus_ring_result take(struct tactus_consumer *consumer, size_t length)
{
    if (!still_valid(consumer))
        return TACTUS_RING_RESTARTED;
    consumer->sequence += record_size(length);
    publish(consumer);
    return TACTUS_RING_OK;
}

enum tactus_ring_result tactus_ring_receive(struct tactus_consumer *consumer, void *buffer, size_t capacity,
                                            size_t *length)
{
    struct tactus_ring *ring = &consumer->ring;
    unsigned char *bytes = buffer;
    enum tactus_ring_result result = first_record(consumer, length);
    uint32_t begin;
    size_t first;

    if (result != TACTUS_RING_OK)
        return result;
    if (*length > capacity)
        return still_valid(consumer) ? TACTUS_RING_TOO_LONG : TACTUS_RING_RESTARTED;
    begin = offset(ring, consumer->sequence + ALIGN);
    first = ring->capacity - begin < *length ? ring->capacity - begin : *length;
    get(&ring->records[begin / ALIGN], bytes, first);
    get(ring->records, bytes + first, *length - first);
    return take(consumer, *length);
}

enum tactus_ring_result tactus_ring_skip(struct tactus_consumer *consumer, size_t *length)
{
    enum tactus_ring_result result = first_record(consumer, length);

    return result == TACTUS_RING_OK ? take(consumer, *length) : result;
}
