/*
 * Measures time between two events, with a finer resolution than the `time` CSR.
 *
 * Deadlines are in ticks of `time`, as the timer comparator is. On many machines a tick lasts a hundred
 * instructions, so that a latency also needs the `cycle` CSR. No fixed relation of the two is assumed
 * over long spans (cycles may stop in `wfi` or change their rate): an event's cycle count is compared with that at the
 * next edge of `time`, less than a tick later, which the caller awaits after the event.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Determines whether `cycle` is readable and how long a cycle is. Requires interrupts off; takes about 0.3 ms. */
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

/* An event's time stamp, to be passed to clock_since at once: one instruction and a well predicted branch. */
static inline uint64_t clock_stamp(void)
{
    uint64_t stamp = 0;

    if (clock_has_cycle)
        __asm volatile("csrr %0, cycle" : "=r"(stamp)::"memory");
    return stamp;
}

/* Nanoseconds from `deadline`, a past value of `time`, to the event of `stamp`. Waits for the next tick of `time`. */
uint64_t clock_since(uint64_t deadline, uint64_t stamp);

/* Converts ticks of `time` to nanoseconds. */
uint64_t clock_nanoseconds(uint64_t ticks);

/* Converts cycles, of less than some milliseconds, to nanoseconds. Valid only where `cycle` can be read. */
uint64_t clock_cycle_nanoseconds(uint64_t cycles);

/* The resolution of clock_since, in nanoseconds: the length of a cycle, at least 1, or of a tick. */
uint64_t clock_resolution(void);

#endif
