/*
 * A tile of the many-core board, as an image sees it. Files of guests/freertos/platform that are compiled here use
 * this header in place of theirs: build.rs includes it before any other.
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
    /* The 16550; the distance of its registers is 1 << shift. Its interrupt is not used. */
    uintptr_t uart;
    uint32_t uart_shift;
    uint32_t uart_source;
    /* The boot arguments, zero-terminated. */
    const char *bootargs;
};

/* Constants of the board, so that the compiler decides all conditions on them. */
static const struct platform platform = {.uart = 0x10000000, .bootargs = platform_bootargs};

/* This tile's number. */
extern uint32_t platform_tile;

/* For guests/freertos/platform/console.c, which checks whether a task may sleep while the UART is busy. A tile's is
 * never busy, and the supervisor's status in this check makes the answer no. */
#define portSSTATUS_SIE 0x2
#define xPortIsInsideInterrupt() 0

/* The application's entry, which must not return. Called on the interrupt stack, interrupts off; the console works. */
void app_main(void);

/* Starts the scheduler; from then on the kernel's port handles interrupts, exceptions and the tick. */
__attribute__((noreturn)) void platform_schedule(void);

/* The handler of external interrupts, or null: those of the mesh interface, on the interrupt stack. */
extern void (*platform_external)(void);

/* Enables or disables external interrupts. On only during a wait, as a tile without them is simulated faster. */
static inline void platform_external_enable(bool enable)
{
    if (enable)
        __asm volatile("csrs mie, %0" ::"r"(1UL << 11) : "memory");
    else
        __asm volatile("csrc mie, %0" ::"r"(1UL << 11) : "memory");
}

/* Whether interrupts are enabled: they are not in a critical section of the kernel. */
static inline bool platform_interruptible(void)
{
    uintptr_t status;

    __asm volatile("csrr %0, mstatus" : "=r"(status)::"memory");
    return (status & 8) != 0;
}

/* Ends this tile's work. `failed`: with a failure code. */
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
