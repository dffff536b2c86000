#include "rt.h"

#include "clock.h"
#include "platform.h"
#include "sbi.h"

#define MICROSECONDS 1000000ULL

/* Data at the top of a vCPU's stack, for its start code (rt_start.S). */
struct start {
    void (*entry)(void *argument);
    uint64_t unused;
};

/* The entry point of a vCPU. */
void rt_start(void);
/* Reports an exception of a vCPU. */
void rt_exception(uint64_t cause);

static struct rt_result call(uint64_t function, const uint64_t arguments[6])
{
    struct sbi_result result = sbi_call_six(TACTUS_EXTENSION, function, arguments);

    return (struct rt_result){result.error, (uint64_t)result.value};
}

uint64_t rt_ticks(uint64_t microseconds)
{
    uint64_t hertz = platform.timebase_hz;

    return microseconds / MICROSECONDS * hertz +
           (microseconds % MICROSECONDS * hertz + MICROSECONDS - 1) / MICROSECONDS;
}

const char *rt_text(struct rt_result result)
{
    return result.error == TACTUS_DENIED ? tactus_refusal_text(result.value) : tactus_error_text(result.error);
}

struct rt_result rt_create(void (*entry)(void *argument), void *argument, void *stack, size_t size,
                           const struct rt_reservation *reservation)
{
    struct start *top = (struct start *)((char *)stack + size) - 1;

    top->entry = entry;
    return call(TACTUS_RT_CREATE, (uint64_t[6]){(uintptr_t)rt_start, (uintptr_t)top, (uintptr_t)argument,
                                                reservation->period, reservation->budget, reservation->deadline});
}

struct rt_result rt_query(uint64_t number, struct tactus_rt_status *status)
{
    return call(TACTUS_RT_QUERY, (uint64_t[6]){number, (uintptr_t)status, sizeof *status});
}

struct rt_result rt_change(uint64_t number, const struct rt_reservation *reservation)
{
    return call(TACTUS_RT_CHANGE,
                (uint64_t[6]){number, reservation->period, reservation->budget, reservation->deadline});
}

struct rt_result rt_delete(uint64_t number)
{
    struct rt_result result = call(TACTUS_RT_DELETE, (uint64_t[6]){number});
    struct tactus_rt_status status;

    /* Another hart may take a moment to stop the vCPU. */
    while (result.error == 0 && rt_query(number, &status).error == 0)
        ;
    return result;
}

uint64_t rt_yield(void)
{
    return call(TACTUS_RT_YIELD, (uint64_t[6]){0}).value;
}

void rt_exception(uint64_t cause)
{
    static const char *const names[] = {
        [0] = "instruction address misaligned", [1] = "instruction access fault",
        [2] = "illegal instruction",            [3] = "breakpoint",
        [4] = "load address misaligned",        [5] = "load access fault",
        [6] = "store address misaligned",       [7] = "store access fault",
        [12] = "instruction page fault",        [13] = "load page fault",
        [15] = "store page fault",
    };
    const char *name = cause < sizeof names / sizeof *names ? names[cause] : NULL;

    platform_fail("rt-exception", name != NULL ? name : "unknown");
}
