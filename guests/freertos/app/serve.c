/*
 * A service in C: a valve, which other VMs move by calls. The service checks each position against a limit in a table
 * of a third VM, which it calls in turn; a task moves the valve there step by step (systems/freertos-calls.toml).
 */

#include <stdatomic.h>
#include <stdbool.h>

#include "FreeRTOS.h"
#include "task.h"

#include "clock.h"
#include "platform.h"
#include "tactus_call.h"
#include "valve.h"

void serve_main(void);

/* The channel to the table. */
#define TABLE 1
/* Words of an array that is larger than the service's stack, and of what lies below the stack for it to overrun. */
#define LARGE (TACTUS_SERVICE_STACK_SIZE / 8 + 64)
#define BELOW 256

/* The valve. Service and task hold `held` while they use the rest. */
static struct {
    atomic_flag held;
    uint64_t target;
    uint64_t position;
} valve = {.held = ATOMIC_FLAG_INIT};

static atomic_ullong served;
static atomic_int pause_wanted;

static struct {
    uint64_t below[BELOW];
    struct tactus_service_stack stack;
} service;

static StaticTask_t drive_task;
static StackType_t drive_stack[512];

static bool try_to_hold(void)
{
    return !atomic_flag_test_and_set_explicit(&valve.held, memory_order_acquire);
}

static void release(void)
{
    atomic_flag_clear_explicit(&valve.held, memory_order_release);
}

static enum valve_status move(uint64_t position)
{
    const uint64_t question[TACTUS_CALL_WORDS] = {TABLE_GET, TABLE_LIMIT};
    uint64_t answer[TACTUS_CALL_WORDS];

    if (tactus_call(TABLE, question, answer) != TACTUS_CALL_OK || answer[0] != TABLE_DONE)
        return VALVE_NO_LIMIT;
    if (position > answer[1])
        return VALVE_REFUSED;
    /* The task that holds it may have been stopped: a service does not wait. */
    if (!try_to_hold())
        return VALVE_BUSY;
    valve.target = position;
    release();
    return VALVE_DONE;
}

static enum valve_status read(uint64_t *position)
{
    if (!try_to_hold())
        return VALVE_BUSY;
    *position = valve.position;
    release();
    return VALVE_DONE;
}

static enum tactus_call_result spend(uint64_t ticks)
{
    const uint64_t question[TACTUS_CALL_WORDS] = {TABLE_GET, TABLE_LIMIT};
    uint64_t answer[TACTUS_CALL_WORDS], end = clock_time() + ticks;

    while (clock_time() < end)
        ;
    return tactus_call(TABLE, question, answer);
}

static __attribute__((noinline)) void overflow(void)
{
    uint64_t large[LARGE];
    volatile uint64_t *word = large;

    for (unsigned i = 0; i < LARGE; i++)
        word[i] = i;
}

static void fail(enum valve_fault fault)
{
    static volatile double number = 1.5;

    switch (fault) {
    case VALVE_FAULT_NEVER_ENDS:
        for (;;)
            ;
    case VALVE_FAULT_WAITS:
        __asm volatile("wfi");
        break;
    case VALVE_FAULT_COMPUTES_WITH_FLOATS:
        number = number * 2.0;
        break;
    case VALVE_FAULT_OVERFLOWS:
        overflow();
        break;
    default:
        __asm volatile("unimp");
    }
}

/* The service. */
static void serve(unsigned channel, const uint64_t message[TACTUS_CALL_WORDS], uint64_t reply[TACTUS_CALL_WORDS])
{
    (void)channel;
    reply[2] = atomic_fetch_add(&served, 1);
    switch (message[0]) {
    case VALVE_MOVE:
        reply[0] = move(message[1]);
        break;
    case VALVE_READ:
        reply[0] = read(&reply[1]);
        break;
    case VALVE_SPEND:
        reply[1] = (uint64_t)spend(message[1]);
        break;
    case VALVE_PAUSE:
        atomic_store(&pause_wanted, 1);
        break;
    case VALVE_FAULT:
        fail((enum valve_fault)message[1]);
        break;
    default:
        reply[0] = VALVE_REFUSED;
    }
}

/* Moves the valve by one step in each tick. */
static void drive(void *unused)
{
    TickType_t wake = xTaskGetTickCount();

    (void)unused;
    for (;;) {
        /* A call ends within its time on whatever hart it is: a task may wait. */
        while (!try_to_hold())
            ;
        if (valve.position != valve.target)
            valve.position += valve.position < valve.target ? 1 : -1;
        release();
        if (atomic_exchange(&pause_wanted, 0) != 0) {
            configASSERT(tactus_serve(NULL, NULL) == 0);
            vTaskDelay(VALVE_PAUSE_TICKS);
            configASSERT(tactus_serve(serve, &service.stack) == 0);
        }
        xTaskDelayUntil(&wake, 1);
    }
}

void serve_main(void)
{
    int64_t error = tactus_serve(serve, &service.stack);

    if (error != 0)
        platform_fail("serve", tactus_error_text(error));
    xTaskCreateStatic(drive, "drive", sizeof drive_stack / sizeof *drive_stack, NULL, 1, drive_stack, &drive_task);
    vTaskStartScheduler();
}
