#include "mesh.h"

#define REGISTER(name) MESH_REGISTER(name)
#define FIELD(word, name) (((word) & MESH_INTERFACE__##name##_bm) >> MESH_INTERFACE__##name##_bp)

#define BUFFER_WORDS 512

/* Index of the next packet in the buffer, and words of the previous one, which may still be in transmission. */
static uint32_t next, before;
/* Whether the previous packet may still be in transmission. */
static bool sending;

/* A word that may alias a caller's bytes. */
typedef uint32_t __attribute__((may_alias)) word_t;

static inline bool is_aligned(const void *bytes)
{
    return ((uintptr_t)bytes & (sizeof(word_t) - 1)) == 0;
}

static inline volatile uint32_t *queue_register(enum mesh_queue queue)
{
    return queue == MESH_RESPONSES ? &REGISTER(RESPONSE) : &REGISTER(MESSAGE);
}

bool mesh_open(void)
{
    if (FIELD(REGISTER(ID), ID__KIND) != MESH_INTERFACE__ID__KIND_reset)
        return false;
    mesh_interrupt(MESH_MESSAGES, false);
    while (mesh_first(MESH_RESPONSES) != 0)
        mesh_skip(MESH_RESPONSES);
    while (mesh_first(MESH_MESSAGES) != 0)
        mesh_skip(MESH_MESSAGES);
    return true;
}

static __attribute__((noinline)) bool await_sent(uint64_t deadline)
{
    while (FIELD(REGISTER(STATUS), STATUS__SENDING))
        if (platform_time() > deadline)
            return false;
    sending = false;
    return true;
}

/* Stores unaligned bytes in the buffer from a word on; returns the index of the next word. */
static __attribute__((noinline)) uint32_t put_bytes(uint32_t at, const uint8_t *from, size_t length)
{
    volatile uint32_t *buffer = &REGISTER(BUFFER);

    while (length > 0) {
        uint32_t word = 0;

        for (uint32_t shift = 0; shift < 32 && length > 0; shift += 8, length--)
            word |= (uint32_t)*from++ << shift;
        buffer[at++ % BUFFER_WORDS] = word;
    }
    return at;
}

bool mesh_prepare(const uint32_t *front, size_t fronts, const void *bytes, size_t length, uint64_t deadline)
{
    volatile uint32_t *buffer = &REGISTER(BUFFER);
    const uint8_t *from = bytes;
    uint32_t words = (uint32_t)(fronts + (length + 3) / 4), at = next;

    /* If there is room for both, the previous packet is transmitted while this one is written. */
    if (before + words > BUFFER_WORDS && sending && !await_sent(deadline))
        return false;
    for (size_t i = 0; i < fronts; i++)
        buffer[at++ % BUFFER_WORDS] = front[i];
    if (is_aligned(from))
        for (; length >= sizeof(uint32_t); length -= sizeof(uint32_t), from += sizeof(uint32_t))
            buffer[at++ % BUFFER_WORDS] = *(const word_t *)(const void *)from;
    if (length > 0)
        at = put_bytes(at, from, length);
    if (sending && !await_sent(deadline))
        return false;
    REGISTER(PACKET) = words << MESH_INTERFACE__PACKET__WORDS_bp | next;
    next = at % BUFFER_WORDS;
    before = words;
    return true;
}

void mesh_launch(uint32_t head)
{
    REGISTER(HEADER) = head;
    sending = true;
}

void mesh_settled(void)
{
    sending = false;
}

bool mesh_send(uint32_t head, const uint32_t *front, size_t fronts, const void *bytes, size_t length, uint64_t deadline)
{
    /* The usual case: a packet of one word, after a packet that was answered. */
    if (fronts == 1 && length == 0 && !sending) {
        (&REGISTER(BUFFER))[next] = *front;
        REGISTER(PACKET) = 1u << MESH_INTERFACE__PACKET__WORDS_bp | next;
        next = (next + 1) % BUFFER_WORDS;
        before = 1;
    } else if (!mesh_prepare(front, fronts, bytes, length, deadline)) {
        return false;
    }
    mesh_launch(head);
    return true;
}

void mesh_take(enum mesh_queue queue, void *to, size_t length)
{
    volatile uint32_t *from = queue_register(queue);
    uint8_t *bytes = to;

    if (is_aligned(to))
        for (; length >= sizeof(uint32_t); length -= sizeof(uint32_t), bytes += sizeof(uint32_t))
            *(word_t *)(void *)bytes = *from;
    while (length > 0) {
        uint32_t word = *from;

        for (uint32_t i = 0; i < sizeof word && length > 0; i++, word >>= 8, length--)
            *bytes++ = (uint8_t)word;
    }
}

bool mesh_take_word(enum mesh_queue queue, uint32_t *word)
{
    uint32_t begun = queue == MESH_RESPONSES ? MESH_INTERFACE__STATUS__RESPONSE_BEGUN_bm : MESH_INTERFACE__STATUS__MESSAGE_BEGUN_bm;

    if ((REGISTER(STATUS) & begun) == 0)
        return false;
    *word = *queue_register(queue);
    return true;
}

size_t mesh_skip(enum mesh_queue queue)
{
    uint32_t word;
    size_t words = 0;

    while (mesh_take_word(queue, &word))
        words++;
    return words;
}

void mesh_lost(uint32_t *refused, uint32_t *lost)
{
    uint32_t status = REGISTER(STATUS);

    *refused = FIELD(status, STATUS__REFUSED);
    *lost = FIELD(status, STATUS__LOST);
}

void mesh_interrupt(enum mesh_queue queue, bool enable)
{
    uint32_t bit = queue == MESH_RESPONSES ? MESH_INTERFACE__IRQ_ENABLE__RESPONSE_bm : MESH_INTERFACE__IRQ_ENABLE__MESSAGE_bm;

    REGISTER(IRQ_ENABLE) = enable ? bit : 0;
    /* The readback makes the line low before the interrupt's handler returns. */
    (void)REGISTER(IRQ_ENABLE);
    platform_external_enable(enable);
}
