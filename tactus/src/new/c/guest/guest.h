/*
 * Console, records, time, interrupts and channels of a guest, in a Tactus VM and natively under OpenSBI on QEMU's
 * `virt`. For one vCPU. Interrupts are taken in wait_for_interrupt() only, so no other code has to be protected from
 * them.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tactus.h"
#include "tactus_channel.h"
#include "tactus_map.h"

/* ----- Memory: the compiler calls these by itself, too. */

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

/* ----- Text */

/* Prints to the console (16550). Knows %s, %c, %d, %u, %x, each but %s and %c with `l` too, and %%. */
__attribute__((format(printf, 1, 2))) void print(const char *format, ...);

/* ----- Records: lines that `tactus run` takes into its report. Names, units and reasons hold no spaces. */

/* One figure. Units that the tool knows: ns, us, ms, s, ticks, instructions, cycles, bytes, count, percent. */
void record_metric(const char *name, uint64_t value, const char *unit);
/* Raw samples of a distribution; may be called again with more. */
void record_samples(const char *name, const char *phase, const char *unit, const uint64_t *values, size_t count);
/* A marker in time. */
void record_phase(const char *name);
/* The guest's verdict on itself. A failed check makes `tactus run` exit with 1. */
void record_pass(const char *name);
void record_fail(const char *name, const char *reason);

/* ----- Time */

#define TIMER_NEVER UINT64_MAX

/* The clock, in ticks; reading it is one instruction, in a VM too. */
static inline uint64_t time_now(void)
{
    uint64_t ticks;

    __asm volatile("csrr %0, time" : "=r"(ticks) : : "memory");
    return ticks;
}

/* Ticks a second, as the devicetree says. */
uint64_t time_hz(void);

/* Sets when the timer interrupts next (`stimecmp`, extension Sstc): one instruction, no call. */
static inline void timer_set(uint64_t deadline)
{
    __asm volatile("csrw 0x14d, %0" : : "r"(deadline) : "memory");
}

/* ----- Interrupts */

typedef void interrupt_handler(void);

/* Sets the handler of the timer interrupt; NULL: none. The timer is set to TIMER_NEVER before each call. */
void on_timer(interrupt_handler *handler);
/* Sets the handler of a PLIC source, 1 to TACTUS_PLIC_SOURCES - 1, and enables the source. */
void on_source(unsigned source, interrupt_handler *handler);
/* Sleeps until an interrupt is pending, and takes it. Returns at once if one is pending already. */
void wait_for_interrupt(void);

/* ----- The devicetree */

/*
 * A property's first 32-bit cell, of the first node with this name, with or without `@address`. False: there is none.
 */
bool devicetree_cell(const char *node, const char *property, uint32_t *value);

/* ----- Channels */

/* This VM's end of a channel, with rings of records in its memory (tactus_channel.h). */
struct channel {
    unsigned number;
    unsigned end; /* 0: this VM comes first in system.toml */
    struct tactus_producer out;
    struct tactus_consumer in;
};

/* Opens channel `number` of this VM; `rung` is called when the other end rings. False: the VM has no such channel. */
bool channel_open(unsigned number, struct channel *channel, interrupt_handler *rung);

/* Rings the other end. */
static inline void channel_ring(const struct channel *channel)
{
    tactus_doorbell((volatile void *)TACTUS_DOORBELLS, channel->number);
}

/* ----- Calls */

struct sbi_result {
    int64_t error;
    uint64_t value;
};

/* A call to the SBI, or to Tactus (TACTUS_EXTENSION, tactus.h). */
static inline struct sbi_result sbi_call(uint64_t extension, uint64_t function, uint64_t first, uint64_t second,
                                         uint64_t third)
{
    register uint64_t a0 __asm("a0") = first;
    register uint64_t a1 __asm("a1") = second;
    register uint64_t a2 __asm("a2") = third;
    register uint64_t a6 __asm("a6") = function;
    register uint64_t a7 __asm("a7") = extension;

    __asm volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a6), "r"(a7) : "memory");
    return (struct sbi_result){(int64_t)a0, a1};
}

/* ----- The end */

_Noreturn void power_off(bool failed);

#endif
