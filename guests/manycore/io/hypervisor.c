/* I/O by the hardware's I/O hypervisor (docs/src/reference/mesh.md) and timed I/O: the design `manycore`. */

#include "io.h"
#include "mesh.h"
#include "operations.h"
#include "packets.h"
#include "platform.h"
#include "registers.h"
#include "request.h"
#include "timed_io_regs.h"

#define HYPERVISOR MESH_PLACE(0, 4)
#define TIMED_IO MESH_PLACE(1, 4)

/* The I/O hypervisor's room for this tile's requests, in words. */
#define ROOM 512u
/* Words of a request without data: when all earlier requests have completed, there is always room for one more. */
#define SHORT 2u

uint64_t io_timeout;

/* Words of quiet requests since the last other response, which may still be queued; status of the first that failed. */
static uint32_t unanswered, failed;
static uint32_t tag;

uint32_t io_open(const struct area *area)
{
    /* The I/O hypervisor has the area's configuration. */
    (void)area;
    return mesh_open() ? IO_DONE : IO_NO_DEVICE;
}

/* Returns the result of earlier quiet requests, as far as it is known, and clears it. */
static uint32_t quiet_result(void)
{
    uint32_t status = failed;

    failed = IO_DONE;
    return status;
}

/* Bytes of data sent with a request. */
static inline size_t sent_with(uint32_t request)
{
    return request_op(request) != OP_READ ? request_length(request) : 0;
}

static uint32_t ask(uint32_t request, uint32_t address, const void *from, void *to, size_t *came)
{
    uint64_t deadline = platform_time() + io_timeout;
    size_t length = sent_with(request);

    tag++;
    request = request_with_tag(request, tag);
    if (!mesh_send(HYPERVISOR | request, &address, 1, from, length, deadline))
        return IO_TIMED_OUT;
    if ((request & REQUEST_QUIET) != 0) {
        unanswered += SHORT + (uint32_t)(length + 3) / 4;
        return quiet_result();
    }
    for (;;) {
        uint32_t response = packet_await(MESH_RESPONSES, deadline), status;
        size_t bytes;

        if (response == 0)
            return IO_TIMED_OUT;
        status = response_status(response);
        if (response_was_quiet(response)) {
            if (failed == IO_DONE)
                failed = status;
            continue;
        }
        bytes = status == IO_DONE ? request_length(response) : 0;
        if (request_tag(response) != request_tag(request) || bytes > request_length(request)) {
            mesh_skip(MESH_RESPONSES);
            continue;
        }
        mesh_settled();
        unanswered = 0;
        if (request_op(request) == OP_READ)
            mesh_take(MESH_RESPONSES, to, bytes);
        if (came != NULL)
            *came = bytes;
        return status;
    }
}

/* Sends a request without effect: its response shows that all earlier ones have completed. */
static uint32_t settle(void)
{
    uint32_t status = unanswered > 0 ? ask(request_make(DEVICE_FLASH, OP_READ, 0), 0, NULL, NULL, NULL) : IO_DONE;

    return status == IO_TIMED_OUT ? status : quiet_result();
}

/* Sends a request after quiet ones. If pending ones may leave no room, waits for them first. */
static __attribute__((noinline)) uint32_t ask_behind(uint32_t request, uint32_t address, const void *from, void *to, size_t *came)
{
    size_t length = sent_with(request);
    uint32_t words = SHORT + (uint32_t)(length + 3) / 4;
    uint32_t answer = 1 + (uint32_t)(request_length(request) - length + 3) / 4;

    /* Each quiet request may still be answered by one word, if it has failed. */
    if (unanswered + words + SHORT > ROOM || unanswered / SHORT + answer > ROOM) {
        uint32_t status = settle();

        if (status != IO_DONE)
            return status;
    }
    return ask(request, address, from, to, came);
}

uint32_t io_call(uint32_t request, uint32_t address, const void *from, void *to, size_t *came)
{
    return unanswered == 0 ? ask(request, address, from, to, came) : ask_behind(request, address, from, to, came);
}

uint32_t io_finish(void)
{
    return settle();
}

/* Timed I/O: a program reads the pins that carry the counter, or changes them; a schedule runs it. */

#define REGISTER(name) ((uint32_t)offsetof(timed_io_t, name))
#define PROGRAM_READ 0x02000u
#define PROGRAM_WRITE 0x10000u
#define PROGRAM_UNTIL 0x30000u
#define PROGRAM_END 0x00000u
#define UNTIL_MAX 65535u
/* The shortest period of a schedule for 16 VMs. */
#define PERIOD_MIN 176u
/* Number of lines, and so of the counter's bits. */
#define LINES 8u
/* Samples taken at once: half of the queue's capacity. */
#define SAMPLES_AT_ONCE 16u
/* Cycles after which a run's samples and reports can be read. */
#define SETTLED (20 * MESH_TILES + 16)

/* Waits for a cycle with interrupts enabled; preemption delays only this task. */
static void await_time(uint64_t time)
{
    while (platform_time() < time)
        ;
}

static uint32_t schedule(const struct io_times *times, const uint32_t *program, size_t words)
{
    const uint32_t run[] = {(uint32_t)times->at, (uint32_t)(times->at >> 32), times->every, times->count, 0};
    uint32_t word = TIMED_IO__CANCEL__STOP_bm;
    uint32_t status = registers_write(TIMED_IO, 0, REGISTER(CANCEL), &word, 1);

    if (status == IO_DONE)
        status = registers_write(TIMED_IO, 0, REGISTER(PROGRAM), program, words);
    /* START, PERIOD, RUNS and RUN are consecutive. */
    if (status == IO_DONE)
        status = registers_write(TIMED_IO, 0, REGISTER(START), run, sizeof run / sizeof *run);
    if (status == IO_DONE)
        status = registers_read(TIMED_IO, 0, REGISTER(STATUS), &word, 1);
    if (status == IO_DONE && (word & TIMED_IO__STATUS__ANSWER_bm) != 0)
        status = IO_LATE;
    return status;
}

/* Whether any operation was not done as scheduled. */
static uint32_t reported(void)
{
    uint32_t report, status = registers_read(TIMED_IO, 0, REGISTER(REPORT), &report, 1);

    return status == IO_DONE && (report & TIMED_IO__REPORT__VALID_bm) != 0 ? IO_DEVICE_FAILED : status;
}

uint32_t io_timed_read(const struct io_times *times, int32_t *errors, uint32_t *bits)
{
    const uint32_t program[] = {PROGRAM_READ, PROGRAM_END};
    uint32_t status;

    if (times->every < PERIOD_MIN && times->count > 1)
        return IO_BAD_LENGTH;
    *bits = LINES;
    status = schedule(times, program, sizeof program / sizeof *program);
    for (uint32_t done = 0; status == IO_DONE && done < times->count;) {
        uint32_t samples[SAMPLES_AT_ONCE];
        uint32_t part = times->count - done < SAMPLES_AT_ONCE ? times->count - done : SAMPLES_AT_ONCE;

        await_time(times->at + (uint64_t)times->every * (done + part - 1) + SETTLED);
        status = registers_read(TIMED_IO, REGISTERS_FIXED, REGISTER(SAMPLE), samples, part);
        for (uint32_t i = 0; status == IO_DONE && i < part; i++, done++) {
            uint64_t wanted = times->at + (uint64_t)times->every * done;

            if ((samples[i] & TIMED_IO__SAMPLE__VALID_bm) == 0)
                status = IO_DEVICE_FAILED;
            errors[done] = (int8_t)(uint8_t)(samples[i] - (uint32_t)wanted);
        }
    }
    return status == IO_DONE ? reported() : status;
}

uint32_t io_timed_pulses(const struct io_times *times, uint32_t lines, uint32_t width)
{
    const uint32_t program[] = {PROGRAM_WRITE | lines << 8 | lines, PROGRAM_UNTIL | (width - 1), PROGRAM_WRITE | lines << 8, PROGRAM_END};
    uint32_t status;

    if ((times->every < PERIOD_MIN && times->count > 1) || width < 2 || width > UNTIL_MAX || lines >> LINES != 0)
        return IO_BAD_LENGTH;
    status = schedule(times, program, sizeof program / sizeof *program);
    if (status != IO_DONE)
        return status;
    await_time(times->at + (uint64_t)times->every * (times->count - 1) + width + SETTLED);
    return reported();
}

uint32_t io_flight(uint32_t *cycles)
{
    *cycles = 0;
    return IO_DONE;
}
