/*
 * The measurements of the paper on SPUMONE (sections 4.1, 4.3 and 4.4). One task, besides the kernel's own, is
 * released by every tick and records the latency of its first instruction; or it computes for a part of every
 * 10 ms; or there is no such task, and the kernel only counts ticks.
 *
 * Boot arguments:
 *   hz=N        ticks in a second (1000)
 *   samples=N   number of releases measured before the program reports and powers off (0: it runs for ever)
 *   skip=N      number of releases before the first of these (0)
 *   load=N      percent of every 10 ms in which the task computes, instead of measuring
 *   entry=1     also measures the latency of the trap handler's first instruction and the time from there to the task;
 *               this adds a few cycles to each release
 *
 * With a channel, the measurement starts when the other end has written a non-zero first 32-bit word.
 */

#include "FreeRTOS.h"
#include "task.h"

#include "arguments.h"
#include "clock.h"
#include "console.h"
#include "platform.h"
#include "record.h"

void dispatch_main(void);

/* Capacity for samples: the number of the paper, and some reserve. */
#define SAMPLES_MAX 131072
/* The frequency of the computing task's period. */
#define LOAD_PERIOD_HZ 100
#define PERCENT 100
#define PRIORITY (configMAX_PRIORITIES - 1)

static uint32_t task_ns[SAMPLES_MAX], entry_ns[SAMPLES_MAX], release_ns[SAMPLES_MAX];
static uint64_t hz, samples, skip, load;
static bool entry;

/* The value of `cycle` when the trap handler was last entered. */
uint64_t dispatch_entered;

/* Runs before the port's trap handler, with entry=1. All traps come from tasks, whose stacks may be used: the only
 * exceptions in the kernel's handlers are fatal ones. */
void dispatch_trap(void);
__asm(".pushsection .text.dispatch_trap, \"ax\"\n"
      ".balign 4\n"
      ".type dispatch_trap, @function\n"
      "dispatch_trap:\n"
      "    addi sp, sp, -16\n"
      "    sd t0, 0(sp)\n"
      "    sd t1, 8(sp)\n"
      "    csrr t0, cycle\n"
      "    la t1, dispatch_entered\n"
      "    sd t0, 0(t1)\n"
      "    ld t0, 0(sp)\n"
      "    ld t1, 8(sp)\n"
      "    addi sp, sp, 16\n"
      "    j vPortTrapEntry\n"
      ".size dispatch_trap, . - dispatch_trap\n"
      ".popsection\n");

static uint32_t clamped(uint64_t ns)
{
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Whether the load generator has announced itself through the channel; without a channel, always. */
static bool may_begin(void)
{
    return platform.channels == 0 || *(volatile uint32_t *)platform.channel[0].memory != 0;
}

static void report(void)
{
    record_samples("dispatch", "all", "ns", task_ns, samples);
    if (entry) {
        record_samples("timer_entry", "all", "ns", entry_ns, samples);
        record_samples("task_release", "all", "ns", release_ns, samples);
    }
    console_print("@tactus metric name=dispatch_ticks_late value=%lu unit=count\n", ullPortTicksLate());
    console_print("@tactus metric name=dispatch_resolution value=%lu unit=ns\n", clock_resolution());
    console_print("@tactus pass name=dispatch\n");
    platform_power_off(false);
}

/* The board watches for this: what was skipped is over. */
__attribute__((noinline)) static void dispatch_begin(void)
{
    __asm volatile("");
}

/* Measures; released by every tick. No release is skipped, however late the previous one was. */
static void measure(void *unused)
{
    TickType_t release = xTaskGetTickCount();

    (void)unused;
    if (entry)
        __asm volatile("csrw stvec, %0" ::"r"(dispatch_trap));
    while (!may_begin())
        xTaskDelayUntil(&release, 1);
    for (uint64_t skipped = 0; skipped < skip; skipped++)
        xTaskDelayUntil(&release, 1);
    dispatch_begin();
    for (uint64_t sample = 0; sample < samples; sample++) {
        xTaskDelayUntil(&release, 1);
        uint64_t stamp = clock_stamp();
        uint64_t entered = dispatch_entered;
        uint64_t late = clock_since(ullPortTickTime(release), stamp);

        task_ns[sample] = clamped(late);
        if (entry) {
            /* After a late release, the last trap may predate the time at which the release was due. */
            uint64_t between = clock_cycle_nanoseconds(stamp - entered);

            entry_ns[sample] = clamped(late > between ? late - between : 0);
            release_ns[sample] = clamped(between);
        }
    }
    report();
}

/* Computes for a part of every 10 ms, for ever. */
static void compute(void *unused)
{
    uint64_t period = platform.timebase_hz / LOAD_PERIOD_HZ, busy = period * load / PERCENT;
    TickType_t release = xTaskGetTickCount();

    (void)unused;
    for (;;) {
        xTaskDelayUntil(&release, hz / LOAD_PERIOD_HZ);
        while (clock_time() - ullPortTickTime(release) < busy)
            ;
    }
}

void dispatch_main(void)
{
    static StaticTask_t memory;
    static StackType_t stack[512];

    hz = argument_number("hz=", configTICK_RATE_HZ);
    samples = argument_number("samples=", 0);
    skip = argument_number("skip=", 0);
    load = argument_number("load=", 0);
    entry = argument_number("entry=", 0) != 0;
    if (hz == 0 || samples > SAMPLES_MAX || load >= PERCENT || (load > 0 && samples > 0))
        platform_fail("arguments", platform.bootargs);
    console_print("FreeRTOS %s, %lu ticks a second, %lu samples, load %lu %%\n", tskKERNEL_VERSION_NUMBER, hz, samples,
                  load);
    vPortSetTickRate(hz);
    if (samples > 0)
        xTaskCreateStatic(measure, "measure", sizeof stack / sizeof *stack, NULL, PRIORITY, stack, &memory);
    else if (load > 0)
        xTaskCreateStatic(compute, "compute", sizeof stack / sizeof *stack, NULL, PRIORITY, stack, &memory);
    vTaskStartScheduler();
}
