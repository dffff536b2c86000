/*
 * Time between two events, finer than the `time` CSR counts.
 *
 * Deadlines are in ticks of `time`: the timer comparator is. On many machines a tick is as long as a hundred instructions,
 * so that "how late was I?" needs the `cycle` CSR too. Nothing is assumed about how the two
 * relate over long spans (cycles may stop in `wfi` or change their rate): an event's cycle count is compared with the
 * next tick's edge, less than a tick away, which the caller waits for after the event.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Finds out whether `cycle` may be read and how long a cycle is. Interrupts are off; takes about 0.3 ms. */
void clock_init(void);

/* Ticks of the `time` CSR. */
static inline uint64_t clock_time(void)
{
    uint64_t time;

    __asm volatile("csrr %0, time" : "=r"(time)::"memory");
    return time;
}

/* Set by clock_init: `cycle` can be read. */
extern bool clock_has_cycle;

/* An event's time stamp, to be given to clock_since at once: one instruction and a well predicted branch. */
static inline uint64_t clock_stamp(void)
{
    uint64_t stamp = 0;

    if (clock_has_cycle)
        __asm volatile("csrr %0, cycle" : "=r"(stamp)::"memory");
    return stamp;
}

/* Nanoseconds from `deadline`, in ticks of `time` and past, to the event of `stamp`. Waits for the next tick of `time`. */
uint64_t clock_since(uint64_t deadline, uint64_t stamp);

/* Ticks of `time` in nanoseconds. */
uint64_t clock_nanoseconds(uint64_t ticks);

/* Cycles, less than some milliseconds of them, in nanoseconds. Only where `cycle` can be read. */
uint64_t clock_cycle_nanoseconds(uint64_t cycles);

/* What clock_since resolves, in nanoseconds: the length of a cycle, at least 1, or that of a tick. */
uint64_t clock_resolution(void);

#endif
