/*
 * Calls other VMs from tasks, from a critical section and from a handler: a table in Rust, and a valve in C
 * (systems/freertos-calls.toml, app/serve.c). Checks replies and errors, and that each tick comes in time meanwhile.
 */

#include <stdatomic.h>
#include <stdbool.h>

#include "FreeRTOS.h"
#include "task.h"

#include "clock.h"
#include "console.h"
#include "platform.h"
#include "record.h"
#include "rt.h"
#include "tactus_call.h"
#include "valve.h"

void call_main(void);

/* Its channels, in the order of the system's description. The last one has no calls. */
#define TABLE 0
#define VALVE 1
#define OPERATOR 2
/* Rounds of calls that are replied to. */
#define ROUNDS 2000
/* The limit of the valve's position. */
#define LIMIT 60
/* A VM serves within this time. */
#define PATIENCE pdMS_TO_TICKS(500)
/* Ticks that are measured in each phase, and how long the calls meanwhile take in the valve's VM. */
#define TICKS 100
#define SPEND_US 60
/* What leaves less time of a call, which may take 100 us, than a call of the table may take: 20 us. */
#define SPEND_TOO_MUCH_US 85

/* More calls than the operator makes of the valve in the tick in which its VM has restarted. */
#define CALLS_OF_A_LIFE 200

/* Phases of the measurement. */
enum phase { QUIET, CALLING, PHASES, NOT_MEASURED };

static _Atomic(enum phase) phase = NOT_MEASURED;
static uint32_t late_ns[PHASES][TICKS + 2];
static atomic_uint measured[PHASES];

static StaticTask_t tick_task, control_task;
static StackType_t tick_stack[1024], control_stack[1024];

static tactus_service serve;

/* Ends with a failure unless it is so. */
static void expect(bool holds, const char *what)
{
    if (!holds)
        platform_fail("freertos-call", what);
}

static void passed(const char *name)
{
    console_print("@tactus pass name=%s\n", name);
}

/* The result, and the first words of the reply as most commands have them. */
struct answer {
    enum tactus_call_result result;
    uint64_t status;
    uint64_t value;
    uint64_t served;
};

static struct answer ask(unsigned channel, uint64_t command, uint64_t first, uint64_t second)
{
    uint64_t words[TACTUS_CALL_WORDS] = {command, first, second};
    enum tactus_call_result result = tactus_call(channel, words, words);

    return (struct answer){result, words[0], words[1], words[2]};
}

/* Whether the table inverts these eight words. */
static bool inverts(uint64_t seed)
{
    const uint64_t message[TACTUS_CALL_WORDS] = {TABLE_INVERT, seed, ~seed, 3, seed << 32, 5, UINT64_MAX, seed * seed};
    uint64_t reply[TACTUS_CALL_WORDS];

    if (tactus_call(TABLE, message, reply) != TACTUS_CALL_OK)
        return false;
    for (unsigned i = 0; i < TACTUS_CALL_WORDS; i++)
        if (reply[i] != ~message[i])
            return false;
    return true;
}

/* Asks until the VM serves. */
static struct answer when_it_serves(unsigned channel, uint64_t command)
{
    TickType_t begin = xTaskGetTickCount();
    struct answer answer;

    while ((answer = ask(channel, command, 0, 0)).result == TACTUS_CALL_CLOSED) {
        expect(xTaskGetTickCount() - begin < PATIENCE, "a VM never serves");
        vTaskDelay(1);
    }
    expect(answer.result == TACTUS_CALL_OK, "a call fails");
    return answer;
}

/* Each tick, before all other tasks: measures how late it comes, and calls too. */
static void follow_ticks(void *unused)
{
    TickType_t wake = xTaskGetTickCount();

    (void)unused;
    for (uint64_t round = 0;; round++) {
        xTaskDelayUntil(&wake, 1);
        uint64_t stamp = clock_stamp();
        enum phase now = atomic_load(&phase);

        if (now < PHASES) {
            unsigned at = atomic_fetch_add(&measured[now], 1);

            expect(at < TICKS + 2, "more ticks than time");
            late_ns[now][at] = (uint32_t)clock_since(ullPortTickTime(wake), stamp);
        }
        expect(inverts(round), "the replies of two tasks are mixed");
    }
}

static void check_replies(void)
{
    double sum = 0, step = 0.5;
    uint64_t begin = clock_time();

    for (uint64_t round = 0; round < ROUNDS; round++) {
        expect(inverts(round << 20), "a call has another reply");
        sum += step;
    }
    console_print("@tactus metric name=call_ns value=%lu unit=ns\n", clock_nanoseconds(clock_time() - begin) / ROUNDS);
    expect(sum == ROUNDS * step, "the floating-point registers are others");

    struct answer answer = ask(TABLE, TABLE_SET, TABLE_LIMIT, LIMIT);

    expect(answer.result == TACTUS_CALL_OK && answer.status == TABLE_DONE, "the table takes no value");
    expect(ask(TABLE, TABLE_GET, TABLE_LIMIT, 0).value == LIMIT, "the table has another value");
    expect(ask(TABLE, TABLE_GET, 1000, 0).status == TABLE_REFUSED, "the table has too many entries");
    passed("call_replies");
}

/* The valve's service asks the table: a call within a call. */
static void check_valve(void)
{
    enum { POSITION = 7 };
    struct answer answer;

    /* Its task may hold the valve at any time. */
    do
        answer = ask(VALVE, VALVE_MOVE, POSITION, 0);
    while (answer.result == TACTUS_CALL_OK && answer.status == VALVE_BUSY);
    expect(answer.result == TACTUS_CALL_OK && answer.status == VALVE_DONE, "the valve does not move");
    expect(ask(VALVE, VALVE_MOVE, LIMIT + 1, 0).status == VALVE_REFUSED, "the valve moves beyond its limit");

    TickType_t begin = xTaskGetTickCount();

    do {
        vTaskDelay(1);
        answer = ask(VALVE, VALVE_READ, 0, 0);
        expect(xTaskGetTickCount() - begin < PATIENCE, "the valve never gets there");
    } while (answer.result == TACTUS_CALL_OK && (answer.status == VALVE_BUSY || answer.value != POSITION));
    expect(answer.result == TACTUS_CALL_OK, "a call fails");
    passed("call_within_call");
}

/* Values that others than tasks have got from the table. */
static atomic_ullong of_handler, of_vcpu;

static void handle(void)
{
    atomic_store(&of_handler, ask(TABLE, TABLE_GET, TABLE_LIMIT, 0).value);
}

static void call_once(void *unused)
{
    (void)unused;
    atomic_store(&of_vcpu, ask(TABLE, TABLE_GET, TABLE_LIMIT, 0).value);
}

static void check_callers(void)
{
    static _Alignas(16) uint8_t stack[4096];
    const struct rt_reservation reservation = {rt_ticks(1000), rt_ticks(100), rt_ticks(1000)};

    taskENTER_CRITICAL();
    struct answer answer = ask(TABLE, TABLE_GET, TABLE_LIMIT, 0);
    taskEXIT_CRITICAL();
    expect(answer.result == TACTUS_CALL_OK && answer.value == LIMIT, "a call within a critical section");

    vPortAttachSoftware(handle);
    vPortRaiseSoftware();
    expect(atomic_load(&of_handler) == LIMIT, "a call by a handler");

    struct rt_result made = rt_create(call_once, NULL, stack, sizeof stack, &reservation);
    TickType_t begin = xTaskGetTickCount();

    expect(made.error == 0, rt_text(made));
    while (atomic_load(&of_vcpu) != LIMIT) {
        expect(xTaskGetTickCount() - begin < PATIENCE, "a call by a real-time vCPU");
        vTaskDelay(1);
    }
    passed("call_callers");
}

static void serve(unsigned channel, const uint64_t message[TACTUS_CALL_WORDS], uint64_t reply[TACTUS_CALL_WORDS])
{
    (void)channel;
    (void)message;
    (void)reply;
}

static void check_errors(void)
{
    static const unsigned none[] = {OPERATOR, OPERATOR + 1, 31, 32, UINT32_MAX};
    static struct tactus_service_stack stack;
    const uint64_t message[TACTUS_CALL_WORDS] = {TABLE_INVERT, 2, 3, 4, 5, 6, 7, 8};

    for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
        uint64_t reply[TACTUS_CALL_WORDS] = {11, 12, 13, 14, 15, 16, 17, 18};

        expect(tactus_call(none[i], message, reply) == TACTUS_CALL_NO_CHANNEL, "a call by no channel");
        for (unsigned j = 0; j < TACTUS_CALL_WORDS; j++)
            expect(reply[j] == 11 + j, "a reply beside an error");
    }
    expect(tactus_serve(serve, &stack) == TACTUS_DENIED, "it may not serve");

    struct answer answer = ask(VALVE, VALVE_SPEND, platform.timebase_hz * SPEND_TOO_MUCH_US / 1000000, 0);

    expect(answer.result == TACTUS_CALL_OK, "a call that takes long");
    expect((int64_t)answer.value == TACTUS_CALL_TIMEOUT, "a call within a call without the time for it");
    passed("call_errors");
}

/* The valve's VM ends its service for a while: its life goes on. */
static void check_closed(void)
{
    uint64_t served = when_it_serves(VALVE, VALVE_PAUSE).served;
    TickType_t begin = xTaskGetTickCount();

    while (ask(VALVE, VALVE_READ, 0, 0).result != TACTUS_CALL_CLOSED) {
        expect(xTaskGetTickCount() - begin < PATIENCE, "the valve's VM never closes its service");
        vTaskDelay(1);
    }
    expect(when_it_serves(VALVE, VALVE_READ).served > served, "the valve's VM has restarted");
    passed("call_closed");
}

/* What the valve's service does wrong is a fault of its VM, which restarts. */
static void check_faults(void)
{
    for (uint64_t fault = 0; fault < VALVE_FAULTS; fault++) {
        uint64_t served = 0;

        for (unsigned i = 0; i < CALLS_OF_A_LIFE; i++)
            served = ask(VALVE, VALVE_READ, 0, 0).served;
        expect(served + 1 >= CALLS_OF_A_LIFE, "the valve's VM serves other calls");
        expect(ask(VALVE, VALVE_FAULT, fault, 0).result == TACTUS_CALL_FAILED, "a fault within a call");
        expect(ask(VALVE, VALVE_READ, 0, 0).result == TACTUS_CALL_CLOSED, "a call after a fault");
        expect(inverts(fault), "a call of another VM after a fault");
        expect(when_it_serves(VALVE, VALVE_READ).served < served, "the valve's VM has not restarted");
    }
    passed("call_faults");
}

/* Lets the ticks be measured for TICKS while `work` is done again and again. */
static void measure(enum phase which, void (*work)(void))
{
    uint64_t late = ullPortTicksLate();
    TickType_t begin, end;

    vTaskDelay(1);
    begin = xTaskGetTickCount();
    atomic_store(&phase, which);
    while ((end = xTaskGetTickCount()) < begin + TICKS)
        work();
    atomic_store(&phase, NOT_MEASURED);
    end = xTaskGetTickCount();
    expect(clock_time() - ullPortTickTime(end) < 2 * ullPortTickPeriod(), "ticks are lost");
    expect(ullPortTicksLate() == late, "a tick comes after the next one is due");

    unsigned count = atomic_load(&measured[which]);

    expect(count + 1 >= end - begin && count <= end - begin + 1, "a task misses a tick");
}

static void wait(void)
{
    vTaskDelay(1);
}

static void spend(void)
{
    struct answer answer = ask(VALVE, VALVE_SPEND, platform.timebase_hz * SPEND_US / 1000000, 0);

    expect(answer.result == TACTUS_CALL_OK, "a call that takes time");
}

static void check_ticks(void)
{
    measure(QUIET, wait);
    measure(CALLING, spend);
    record_samples("tick_latency", "quiet", "ns", late_ns[QUIET], measured[QUIET]);
    record_samples("tick_latency", "calling", "ns", late_ns[CALLING], measured[CALLING]);
    passed("call_ticks");
}

/* Tells the operator that it is over, and waits until it has ended. */
static void end_operator(void)
{
    volatile atomic_ullong *word = (volatile atomic_ullong *)platform.channel[OPERATOR].memory;
    TickType_t begin = xTaskGetTickCount();

    atomic_store(word, 1);
    while (atomic_load(word) != 2) {
        expect(xTaskGetTickCount() - begin < PATIENCE, "the operator does not end");
        vTaskDelay(1);
    }
}

static void control(void *unused)
{
    (void)unused;
    expect(ask(TABLE, TABLE_GET, 0, 0).result != TACTUS_CALL_NOT_SUPPORTED, "this is no Tactus VM");
    when_it_serves(TABLE, TABLE_GET);
    when_it_serves(VALVE, VALVE_READ);
    xTaskCreateStatic(follow_ticks, "ticks", sizeof tick_stack / sizeof *tick_stack, NULL, configMAX_PRIORITIES - 1,
                      tick_stack, &tick_task);
    check_replies();
    check_valve();
    check_callers();
    check_errors();
    check_closed();
    check_faults();
    check_ticks();
    end_operator();
    passed("freertos-call");
    platform_power_off(false);
}

void call_main(void)
{
    xTaskCreateStatic(control, "control", sizeof control_stack / sizeof *control_stack, NULL, 1, control_stack,
                      &control_task);
    vTaskStartScheduler();
}
