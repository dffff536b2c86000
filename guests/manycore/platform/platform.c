/* The tile, from the entry point to the application, and its power-off. */

#include <string.h>

#include "FreeRTOS.h"
#include "task.h"

#include "console.h"

/* The finisher, and the values written to it (QEMU's "sifive_test", which the board has). */
#define FINISHER ((volatile uint32_t *)0x00100000)
#define FINISHER_OFF 0x5555
#define FINISHER_FAILED (0x3333 | 1 << 16)

/* mcause of an external interrupt, without the interrupt bit. */
#define CAUSE_EXTERNAL 11

uint32_t platform_tile;
char platform_bootargs[PLATFORM_BOOTARGS_MAX];
void (*platform_external)(void);

void platform_main(uint64_t tile, const char *arguments);
void platform_exception(void);
/* The kernel's port (portASM.S): its trap handler, and the functions that it calls for unknown traps. */
void freertos_risc_v_trap_handler(void);
void freertos_risc_v_application_exception_handler(UBaseType_t cause);
void freertos_risc_v_application_interrupt_handler(UBaseType_t cause);

void platform_main(uint64_t tile, const char *arguments)
{
    size_t size = arguments != NULL ? strlen(arguments) : 0;

    platform_tile = (uint32_t)tile;
    console_init();
    if (size >= sizeof platform_bootargs)
        platform_fail("arguments", "too long");
    if (size > 0)
        memcpy(platform_bootargs, arguments, size);
    app_main();
    platform_fail("application", "app_main returned");
}

void platform_schedule(void)
{
    __asm volatile("csrw mtvec, %0" ::"r"(freertos_risc_v_trap_handler));
    vTaskStartScheduler();
    platform_fail("scheduler", "out of memory");
}

void platform_power_off(bool failed)
{
    portDISABLE_INTERRUPTS();
    *FINISHER = failed ? FINISHER_FAILED : FINISHER_OFF;
    for (;;)
        __asm volatile("wfi");
}

/* Failing. The code below runs in any state: without locks or tasks, with interrupts off. */

static bool failing;

static void begin_failure(const char *reason)
{
    portDISABLE_INTERRUPTS();
    if (failing)
        platform_power_off(true); /* A failure during the report of another one: power off at once. */
    failing = true;
    console_print("\n@tactus fail name=manycore reason=%s\nmanycore: %s", reason, reason);
}

__attribute__((noreturn)) static void end_failure(void)
{
    if (xTaskGetSchedulerState() != taskSCHEDULER_NOT_STARTED)
        console_print(" task=%s", pcTaskGetName(NULL));
    console_print("\n");
    platform_power_off(true);
}

void platform_fail(const char *reason, const char *value)
{
    begin_failure(reason);
    if (value != NULL)
        console_print(": %s", value);
    end_failure();
}

void vPortAssertFailed(const char *file, int line)
{
    begin_failure("assertion");
    console_print(": %s:%d", file, line);
    end_failure();
}

void platform_exception(void)
{
    uint64_t cause, value, pc;

    __asm volatile("csrr %0, mcause\n\tcsrr %1, mtval\n\tcsrr %2, mepc" : "=r"(cause), "=r"(value), "=r"(pc));
    begin_failure("exception");
    console_print(" cause=0x%lx value=0x%lx pc=0x%lx", cause, value, pc);
    end_failure();
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name);

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    platform_fail("stack-overflow", name);
}

/* Functions that the kernel's port calls. */

void freertos_risc_v_application_exception_handler(UBaseType_t cause)
{
    (void)cause;
    platform_exception();
}

void freertos_risc_v_application_interrupt_handler(UBaseType_t cause)
{
    if ((cause & ~(1UL << 63)) != CAUSE_EXTERNAL || platform_external == NULL)
        platform_fail("interrupt", "no handler for it");
    platform_external();
}

void vApplicationIdleHook(void);

void vApplicationIdleHook(void)
{
    __asm volatile("wfi");
}
