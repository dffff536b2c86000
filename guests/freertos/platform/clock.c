#include "clock.h"

#include "platform.h"

#define NANOSECONDS 1000000000ULL
/* Span in which a cycle's length is measured, as a fraction of a second. */
#define CALIBRATION_FRACTION 10000
/* Reciprocal of the relative difference that two calibrations may have. */
#define CALIBRATION_AGREEMENT 16
/* Readings within which `time` must advance; a tick is never this long. */
#define EDGE_READS_MAX 1000000

bool clock_has_cycle;
/* Cycles that last as long as ticks_measured ticks of `time`. */
static uint64_t cycles_measured = 1, ticks_measured;

bool clock_cycle_readable(void);

/* An edge of `time` and the cycle count there: exact to the three instructions of the loop. */
struct edge {
    uint64_t time;
    uint64_t cycle;
};

static struct edge next_edge(void)
{
    struct edge edge;
    uint64_t before = clock_time();

    for (int i = 0; i < EDGE_READS_MAX; i++) {
        __asm volatile("csrr %0, cycle\n\tcsrr %1, time" : "=&r"(edge.cycle), "=r"(edge.time)::"memory");
        if (edge.time != before)
            break;
    }
    return edge;
}

uint64_t clock_nanoseconds(uint64_t ticks)
{
    /* Split, because the product of a whole uptime and 10^9 does not fit into 64 bits. */
    uint64_t hertz = platform.timebase_hz;

    return ticks / hertz * NANOSECONDS + ticks % hertz * NANOSECONDS / hertz;
}

/* Counts the cycles of a calibration's span, and its exact length in ticks. */
static uint64_t measure(uint64_t *ticks)
{
    uint64_t span = platform.timebase_hz / CALIBRATION_FRACTION;
    struct edge first = next_edge(), last;

    do
        last = next_edge();
    while (last.time - first.time < span);
    *ticks = last.time - first.time;
    return last.cycle - first.cycle;
}

void clock_init(void)
{
    uint64_t cycles, ticks, again, again_ticks, difference;

    if (!clock_cycle_readable())
        return;
    cycles = measure(&ticks);
    again = measure(&again_ticks);
    /* Compares the rates by cross-multiplication. A counter that stands still or jumps is not used. */
    difference = cycles * again_ticks > again * ticks ? cycles * again_ticks - again * ticks
                                                      : again * ticks - cycles * again_ticks;
    if (cycles == 0 || difference > again * ticks / CALIBRATION_AGREEMENT)
        return;
    cycles_measured = again;
    ticks_measured = again_ticks;
    clock_has_cycle = true;
}

uint64_t clock_cycle_nanoseconds(uint64_t cycles)
{
    return cycles * clock_nanoseconds(ticks_measured) / cycles_measured;
}

uint64_t clock_since(uint64_t deadline, uint64_t stamp)
{
    struct edge edge;
    uint64_t since_deadline, since_event;

    if (!clock_has_cycle)
        return clock_nanoseconds(clock_time() - deadline);
    edge = next_edge();
    since_deadline = clock_nanoseconds(edge.time - deadline);
    since_event = clock_cycle_nanoseconds(edge.cycle - stamp);
    return since_deadline > since_event ? since_deadline - since_event : 0;
}

uint64_t clock_resolution(void)
{
    uint64_t resolution =
        clock_has_cycle ? clock_cycle_nanoseconds(1) : clock_nanoseconds(1);

    return resolution > 0 ? resolution : 1;
}
