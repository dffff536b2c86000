/*
 * What an image finds on a tile of the many-core board. The files of guests/freertos/platform that are compiled here, too,
 * have this in place of theirs: build.rs sees to it that it is included before anything else.
 */
#ifndef PLATFORM_H
#define PLATFORM_H

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the boot arguments that are kept, terminator included. */
#define PLATFORM_BOOTARGS_MAX 512

extern char platform_bootargs[PLATFORM_BOOTARGS_MAX];

struct platform {
    /* The 16550; the distance of its registers is 1 << shift. Nobody takes its interrupt. */
    uintptr_t uart;
    uint32_t uart_shift;
    uint32_t uart_source;
    /* The boot arguments, terminated. */
    const char *bootargs;
};

/* All of it is the board's: what depends on it is decided when it is compiled. */
static const struct platform platform = {.uart = 0x10000000, .bootargs = platform_bootargs};

/* This tile's number. */
extern uint32_t platform_tile;

/* What guests/freertos/platform/console.c asks of its own port: whether a task may sleep while the UART is busy. A tile's never is, and the supervisor's
 * status, in which that looks, says no here. */
#define portSSTATUS_SIE 0x2
#define xPortIsInsideInterrupt() 0

/* To be supplied by the application, and not to return. Called on the interrupt stack with interrupts off; the console works. */
void app_main(void);

/* Begins to run tasks, which from now on have interrupts, exceptions and the tick by the kernel's port. */
__attribute__((noreturn)) void platform_schedule(void);

/* Called for each external interrupt, if it is not null: the mesh interface's, on the interrupt stack. */
extern void (*platform_external)(void);

/* Whether external interrupts are taken. A tile that takes none is simulated faster, so that they are off but where somebody waits for one. */
static inline void platform_external_enable(bool enable)
{
    if (enable)
        __asm volatile("csrs mie, %0" ::"r"(1UL << 11) : "memory");
    else
        __asm volatile("csrc mie, %0" ::"r"(1UL << 11) : "memory");
}

/* Whether interrupts are taken at all: not in a critical section of the kernel's. */
static inline bool platform_interruptible(void)
{
    uintptr_t status;

    __asm volatile("csrr %0, mstatus" : "=r"(status)::"memory");
    return (status & 8) != 0;
}

/* Ends this tile's work. `failed`: with a code that says so. */
__attribute__((noreturn)) void platform_power_off(bool failed);

/* Reports `reason` (and `value`, if not null) on the console, and ends as failed. For any context. */
__attribute__((noreturn)) void platform_fail(const char *reason, const char *value);

/* Cycles since reset, the same on all tiles. */
static inline uint64_t platform_time(void)
{
    uint64_t time;

    __asm volatile("csrr %0, time" : "=r"(time)::"memory");
    return time;
}

#endif /* __ASSEMBLER__ */

#endif
