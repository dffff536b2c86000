#include "registers.h"

#include "io.h"
#include "packets.h"
#include "platform.h"

/* The head of a request and of its answer. */
#define WRITE 0x8000u
#define QUIET 0x4000u
#define ERROR 0x2000u
#define TAG_bp 16
#define WORDS_bm 0x1ffu

/* Distinguishes a late answer, after its timeout, from the next request's. */
static uint32_t tag;

static uint32_t request(uint32_t place, uint32_t flags, size_t words)
{
    tag = (tag + 1) % 16;
    return place | tag << TAG_bp | flags | (uint32_t)words;
}

/* Waits for the answer to the last request, and takes its words. */
static uint32_t answer(uint32_t place, void *to, size_t words, uint64_t deadline)
{
    for (;;) {
        uint32_t head = packet_await(MESH_MESSAGES, deadline);

        if (head == 0)
            return IO_TIMED_OUT;
        if (mesh_from(head) != place || (head >> TAG_bp & 15) != tag) {
            packet_stray(head);
            continue;
        }
        mesh_settled();
        if ((head & WORDS_bm) != words || (head & ERROR) != 0) {
            mesh_skip(MESH_MESSAGES);
            return IO_DEVICE_FAILED;
        }
        mesh_take(MESH_MESSAGES, to, words * sizeof(uint32_t));
        return IO_DONE;
    }
}

static bool send(uint32_t head, uint32_t address, const void *from, size_t words, uint64_t deadline)
{
    return mesh_send(head, &address, 1, from, words * sizeof(uint32_t), deadline);
}

uint32_t registers_read(uint32_t place, uint32_t flags, uint32_t address, void *to, size_t words)
{
    uint64_t deadline = platform_time() + io_timeout;

    if (!send(request(place, flags, words), address, NULL, 0, deadline))
        return IO_TIMED_OUT;
    return answer(place, to, words, deadline);
}

uint32_t registers_write(uint32_t place, uint32_t flags, uint32_t address, const void *from, size_t words)
{
    uint64_t deadline = platform_time() + io_timeout;

    if (!send(request(place, WRITE | flags, words), address, from, words, deadline))
        return IO_TIMED_OUT;
    return answer(place, NULL, 0, deadline);
}

uint32_t registers_post(uint32_t place, uint32_t flags, uint32_t address, const void *from, size_t words)
{
    uint64_t deadline = platform_time() + io_timeout;

    return send(request(place, WRITE | QUIET | flags, words), address, from, words, deadline) ? IO_DONE : IO_TIMED_OUT;
}

uint32_t registers_prepare(uint32_t address, uint64_t deadline)
{
    return mesh_prepare(&address, 1, NULL, 0, deadline) ? IO_DONE : IO_TIMED_OUT;
}

void registers_launch(uint32_t place)
{
    mesh_launch(request(place, 0, 1));
}

uint32_t registers_answer(uint32_t place, uint32_t *word, uint64_t deadline)
{
    return answer(place, word, 1, deadline);
}
