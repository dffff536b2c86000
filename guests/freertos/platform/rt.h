/*
 * Real-time vCPUs: functions that run beside FreeRTOS, each on its own vCPU with a reserved budget per period. The
 * hypervisor admits a vCPU only if it can guarantee the budget. See docs/src/how-to/real-time-vcpus.md.
 *
 * A function on such a vCPU has the VM's memory, its own stack, the clock (clock_time), floating point, and the calls
 * below that are marked. It is no task of FreeRTOS and must not call the kernel or console_print. It communicates with
 * tasks through memory (<stdatomic.h>). It has no interrupts. An exception powers the VM off as failed.
 */
#ifndef RT_H
#define RT_H

#include <stddef.h>
#include <stdint.h>

#include "tactus.h"

/* A reservation: `budget` in every period, before a deadline counted from the period's start. In ticks of `time`:
 * 1 <= budget <= deadline <= period. */
struct rt_reservation {
    uint64_t period;
    uint64_t budget;
    uint64_t deadline;
};

/* Converts microseconds to ticks, rounded up. */
uint64_t rt_ticks(uint64_t microseconds);

/* Result of a call. `error` is 0 or one of TACTUS_...; with TACTUS_DENIED, `value` is one of TACTUS_REFUSAL_.... */
struct rt_result {
    int64_t error;
    uint64_t value;
};

/* Describes a result in words. */
const char *rt_text(struct rt_result result);

/* Creates a vCPU that runs entry(argument). It ends when the function returns, or by rt_delete. `stack`: `size` bytes,
 * aligned to 16, and belongs to the vCPU until its end. The value is the vCPU's number. */
struct rt_result rt_create(void (*entry)(void *argument), void *argument, void *stack, size_t size,
                           const struct rt_reservation *reservation);

/* The state of a vCPU: see tactus.h. */
struct rt_result rt_query(uint64_t number, struct tactus_rt_status *status);

/* Changes a vCPU's reservation from its next release on. If the new one does not fit, the old one stays in force. */
struct rt_result rt_change(uint64_t number, const struct rt_reservation *reservation);

/* Ends a vCPU and waits for its end. Other tasks must not create a vCPU meanwhile: it could get the same number. */
struct rt_result rt_delete(uint64_t number);

/* For functions on a real-time vCPU: ends the job. Returns at the next release, with its time in ticks. */
uint64_t rt_yield(void);

#endif
