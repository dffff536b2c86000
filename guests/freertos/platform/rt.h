/*
 * Real-time vCPUs: functions that run beside FreeRTOS, on a vCPU of their own, for so much time every period. The
 * hypervisor makes one only if it can promise that time. docs/src/how-to/real-time-vcpus.md explains them.
 *
 * A function on such a vCPU has the VM's memory, its own stack, the clock (clock_time), floating point, and the calls below that say
 * so. It is none of FreeRTOS's tasks: no function of the kernel is for it, nor console_print. It talks to tasks through memory
 * (<stdatomic.h>). There are no interrupts on it. An exception there powers the VM off as failed.
 */
#ifndef RT_H
#define RT_H

#include <stddef.h>
#include <stdint.h>

#include "tactus.h"

/* So much time, every period, before a deadline that counts from the period's begin. In ticks of the `time` CSR:
 * 1 <= budget <= deadline <= period. */
struct rt_reservation {
    uint64_t period;
    uint64_t budget;
    uint64_t deadline;
};

/* Microseconds in ticks, rounded up. */
uint64_t rt_ticks(uint64_t microseconds);

/* How a call went. `error` is 0 or one of TACTUS_...; beside TACTUS_DENIED `value` is one of TACTUS_REFUSAL_.... */
struct rt_result {
    int64_t error;
    uint64_t value;
};

/* The same in words. */
const char *rt_text(struct rt_result result);

/* Makes a vCPU that runs entry(argument); it ends when that returns, or by rt_delete. `stack` has `size` bytes, is aligned to 16, and is
 * the vCPU's until it has ended. The value is its number. */
struct rt_result rt_create(void (*entry)(void *argument), void *argument, void *stack, size_t size,
                           const struct rt_reservation *reservation);

/* How a vCPU does: see tactus.h. */
struct rt_result rt_query(uint64_t number, struct tactus_rt_status *status);

/* Gives a vCPU another reservation, from its next release on. It keeps the old one if the new one does not fit. */
struct rt_result rt_change(uint64_t number, const struct rt_reservation *reservation);

/* Ends a vCPU wherever it is, and returns when it has. Another task must not make one meanwhile: it could get the same number. */
struct rt_result rt_delete(uint64_t number);

/* For functions on a real-time vCPU: the job is done. Returns when the next is released, with that time in ticks. */
uint64_t rt_yield(void);

#endif
