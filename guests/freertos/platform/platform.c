/* The machine, from the entry point to the application, and its power-off. */

#include "platform.h"

#include <string.h>

#include "FreeRTOS.h"
#include "task.h"

#include "clock.h"
#include "console.h"
#include "plic.h"
#include "sbi.h"
#include "tactus.h"

struct platform platform;

/* Reads the devicetree: src/devicetree.rs. Returns null on success, else the reason. */
const char *platform_describe(const void *devicetree, struct platform *platform);

void platform_main(uint64_t hart, const void *devicetree);

void platform_main(uint64_t hart, const void *devicetree)
{
    const char *problem = platform_describe(devicetree, &platform);

    platform.hart = hart;
    if (problem != NULL)
        platform_fail("devicetree", problem);
    console_init();
    plic_init();
    vPortSetTimebase(platform.timebase_hz);
    clock_init();
    app_main();
    platform_fail("application", "app_main returned");
}

void platform_power_off(bool failed)
{
    portDISABLE_INTERRUPTS();
    sbi_call(SBI_SYSTEM_RESET, 0, SBI_SYSTEM_RESET_SHUTDOWN,
             failed ? SBI_SYSTEM_RESET_FAILURE : SBI_SYSTEM_RESET_NO_REASON);
    /* The firmware has no system reset: stop here. */
    for (;;)
        __asm volatile("wfi");
}

bool channel_notify(uint32_t number)
{
    return sbi_call(TACTUS_EXTENSION, TACTUS_CHANNEL_NOTIFY, number, 0).error == 0;
}

/* Failing. The code below runs in any state: without locks or tasks, with interrupts off. */

static bool failing;

/* Writes to the console without waiting for other tasks. */
static void say(const char *text)
{
    console_write_polled(text, strlen(text));
}

static void say_hex(const char *name, uint64_t value)
{
    char digits[17];

    for (int i = 0; i < 16; i++)
        digits[i] = "0123456789abcdef"[(value >> (60 - 4 * i)) & 15];
    digits[16] = 0;
    say(" ");
    say(name);
    say("=0x");
    say(digits);
}

static void begin_failure(const char *reason)
{
    portDISABLE_INTERRUPTS();
    if (failing)
        platform_power_off(true); /* A failure during the report of another one: power off at once. */
    failing = true;
    say("\r\n@tactus fail name=freertos reason=");
    say(reason);
    say("\r\nfreertos: ");
    say(reason);
}

/* Reports the current task. */
static void say_task(void)
{
    if (xTaskGetSchedulerState() != taskSCHEDULER_NOT_STARTED) {
        say(" task=");
        say(pcTaskGetName(NULL));
    }
}

void platform_fail(const char *reason, const char *value)
{
    begin_failure(reason);
    if (value != NULL) {
        say(": ");
        say(value);
    }
    say_task();
    say("\r\n");
    platform_power_off(true);
}

void vPortAssertFailed(const char *file, int line)
{
    char digits[12];
    int at = sizeof digits - 1;

    begin_failure("assertion");
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + line % 10);
        line /= 10;
    } while (line != 0);
    say(": ");
    say(file);
    say(":");
    say(&digits[at]);
    say_task();
    say("\r\n");
    platform_power_off(true);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name);

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    begin_failure("stack-overflow");
    say(": task=");
    say(name);
    say("\r\n");
    platform_power_off(true);
}

void vApplicationMallocFailedHook(void);

void vApplicationMallocFailedHook(void)
{
    platform_fail("out-of-memory", NULL);
}

void vApplicationException(uint64_t cause, uint64_t value, const uint64_t *frame)
{
    begin_failure("exception");
    say_hex("cause", cause);
    say_hex("value", value);
    say_hex("pc", frame[portFRAME_SEPC]);
    say_hex("status", frame[portFRAME_SSTATUS]);
    say_hex("sp", (uint64_t)(frame + portFRAME_WORDS));
    say_hex("ra", frame[portFRAME_RA]);
    say_task();
    say("\r\n");
    platform_power_off(true);
}
