/*
 * The self-test of the port and the platform, natively and in a VM. A director task runs the tests one after the
 * other; each returns its failure, or null. Every verdict is a record line (abi/src/record.rs); the last one is the
 * verdict of the whole. A failure is also reported by the reset reason of the power-off.
 *
 * No test depends on the machine's speed, or on how long the hart runs other VMs.
 *
 * A boot argument selects a failure that must be detected and reported instead: see failure_cases.
 */

#include "FreeRTOS.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "stream_buffer.h"
#include "task.h"
#include "timers.h"

#include <string.h>

#include "clock.h"
#include "console.h"
#include "platform.h"
#include "plic.h"

void selftest_main(void);

/* Words of a helper task's stack. */
#define STACK 512
/* Ticks after which a missing event is a failure: much longer than a busy neighbour may delay the event. */
#define PATIENCE 5000

enum priority { LOW = 1, MIDDLE = 2, HIGH = 3, DIRECTOR = 5 };

static TaskHandle_t director;

/* A test. Returns null if it passed, `skipped` if the machine lacks a device it needs, else the failure. */
typedef const char *test(void);
static const char skipped[] = "skipped";

/* The end of a helper task, which must not return: notifies the director and deletes itself. */
static void finish(void)
{
    xTaskNotifyGive(director);
    vTaskDelete(NULL);
}

/* Waits until `count` helpers have finished. */
static bool helpers_finished(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (ulTaskNotifyTake(pdFALSE, PATIENCE) == 0)
            return false;
    return true;
}

static TaskHandle_t start(TaskFunction_t function, void *argument, enum priority priority)
{
    TaskHandle_t task = NULL;

    configASSERT(xTaskCreate(function, "helper", STACK, argument, priority, &task) == pdPASS);
    return task;
}

/* Registers: see selftest_registers.S. */

struct registers {
    uint64_t seed;
    volatile uint64_t rounds;
    volatile uint64_t errors;
};

void selftest_registers_busy(void *registers);
void selftest_registers_yield(void *registers);

static const char *registers_survive_switches(void)
{
    /* The rounding mode is in bits 7:5 of a seed: modes 0 to 3, the flags differ too. */
    static struct registers registers[4] = {
        {.seed = 0x1111111111111100}, {.seed = 0x2222222222222235},
        {.seed = 0x4444444444444446}, {.seed = 0x788888888888886f}};
    TaskHandle_t tasks[4];
    const char *problem = NULL;

    for (int i = 0; i < 4; i++)
        tasks[i] = start(i < 2 ? selftest_registers_busy : selftest_registers_yield, &registers[i], LOW);
    /* Hundreds of preemptions, some of them by the director. */
    for (int i = 0; i < 50; i++)
        vTaskDelay(10);
    for (int i = 0; i < 4; i++) {
        vTaskDelete(tasks[i]);
        if (registers[i].errors != 0)
            problem = "a_register_changed";
        else if (registers[i].rounds < 10)
            problem = "a_task_did_not_run";
    }
    return problem;
}

/* Floating point. */

struct series {
    unsigned terms;
    double sum;
};

/* An alternating series; its rounding depends on every bit of the floating-point state. */
static double sum_series(unsigned terms)
{
    double sum = 0;

    for (unsigned i = 0; i < terms; i++)
        sum += (i % 2 == 0 ? 1.0 : -1.0) / (2.0 * i + 1.0);
    return sum;
}

static void series_task(void *argument)
{
    struct series *series = argument;

    series->sum = sum_series(series->terms);
    finish();
}

static const char *floating_point_is_each_tasks_own(void)
{
    static struct series series[3] = {{.terms = 400000}, {.terms = 300001}, {.terms = 350007}};

    for (int i = 0; i < 3; i++)
        start(series_task, &series[i], LOW);
    if (!helpers_finished(3))
        return "a_task_did_not_finish";
    for (int i = 0; i < 3; i++) {
        double expected = sum_series(series[i].terms);

        if (memcmp(&expected, &series[i].sum, sizeof expected) != 0)
            return "a_sum_differs";
    }
    return NULL;
}

static uint64_t fs_before, fs_after, fcsr_at_first, register_at_first;

static uint64_t fs_field(void)
{
    uint64_t status;

    __asm volatile("csrr %0, sstatus" : "=r"(status));
    return (status & portSSTATUS_FS) >> portSSTATUS_FS_SHIFT;
}

static void first_use_task(void *unused)
{
    (void)unused;
    fs_before = fs_field();
    __asm volatile("frcsr %0" : "=r"(fcsr_at_first));
    __asm volatile("fmv.x.d %0, f9" : "=r"(register_at_first));
    fs_after = fs_field();
    finish();
}

static const char *floating_point_starts_clean(void)
{
    uint64_t fcsr = 0x7f, value = 0x123456789abcdef0;

    /* This task's values, which the new task must not see. */
    __asm volatile("fscsr %0\n\tfmv.d.x f9, %1" ::"r"(fcsr), "r"(value) : "f9");
    start(first_use_task, NULL, HIGH);
    bool finished = helpers_finished(1);
    __asm volatile("frcsr %0\n\tfmv.x.d %1, f9\n\tfscsr zero" : "=r"(fcsr), "=r"(value)::"f9");
    if (!finished)
        return "the_task_did_not_finish";
    if (fs_before != 0)
        return "on_before_its_first_use";
    if (fs_after == 0)
        return "off_after_its_first_use";
    if (fcsr_at_first != 0 || register_at_first != 0)
        return "another_tasks_values_seen";
    if (fcsr != 0x7f || value != 0x123456789abcdef0)
        return "own_values_lost";
    return NULL;
}

/* LR and SC: a reservation must not survive a switch to another task. */

static const char *reservations_end_with_a_switch(void)
{
    static uint64_t word;
    uint64_t failed, failed_undisturbed = 1, value;

    __asm volatile("lr.d %1, %2\n\t"
                   "csrsi sip, %3\n\t"
                   "sc.d %0, %1, %2"
                   : "=&r"(failed), "=&r"(value), "+A"(word)
                   : "i"(portSIP_SSIP)
                   : "memory");
    /* The cross-check: an SC without a switch succeeds. A tick may interrupt one attempt, but not a hundred. */
    for (int i = 0; i < 100 && failed_undisturbed != 0; i++)
        __asm volatile("lr.d %1, %2\n\tsc.d %0, %1, %2"
                       : "=&r"(failed_undisturbed), "=&r"(value), "+A"(word)::"memory");
    if (failed_undisturbed != 0)
        return "never_succeeds";
    return failed != 0 ? NULL : "survived_a_switch";
}

/* Queues. */

#define ITEMS 5000

struct stream {
    QueueHandle_t queue;
    const char *problem;
};

static void produce(void *argument)
{
    struct stream *stream = argument;

    for (uint64_t i = 0; i < ITEMS; i++)
        if (xQueueSend(stream->queue, &i, PATIENCE) != pdTRUE)
            stream->problem = "full_for_ever";
    finish();
}

static void consume(void *argument)
{
    struct stream *stream = argument;

    for (uint64_t i = 0; i < ITEMS; i++) {
        uint64_t item = ITEMS;

        if (xQueueReceive(stream->queue, &item, PATIENCE) != pdTRUE)
            stream->problem = "empty_for_ever";
        else if (item != i)
            stream->problem = "out_of_order";
    }
    finish();
}

static const char *queues_keep_order(void)
{
    static const enum priority pairs[3][2] = {{LOW, MIDDLE}, {MIDDLE, LOW}, {LOW, LOW}};

    for (int i = 0; i < 3; i++) {
        static struct stream stream;

        stream = (struct stream){.queue = xQueueCreate(4, sizeof(uint64_t))};
        start(produce, &stream, pairs[i][0]);
        start(consume, &stream, pairs[i][1]);
        if (!helpers_finished(2))
            return "a_task_did_not_finish";
        if (stream.problem != NULL)
            return stream.problem;
        if (uxQueueMessagesWaiting(stream.queue) != 0)
            return "items_left_over";
        vQueueDelete(stream.queue);
    }
    return NULL;
}

static const char *an_empty_queue_times_out(void)
{
    QueueHandle_t queue = xQueueCreate(1, 1);
    uint8_t item;
    TickType_t before = xTaskGetTickCount();
    BaseType_t received = xQueueReceive(queue, &item, 20);
    TickType_t waited = xTaskGetTickCount() - before;

    vQueueDelete(queue);
    if (received != pdFALSE)
        return "received_something";
    return waited >= 20 ? NULL : "too_early";
}

/* Notifications back and forth: two switches a round. */

#define ROUNDS 2000

static volatile uint64_t rounds_answered;

static void answer(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        if (ulTaskNotifyTake(pdTRUE, PATIENCE) == 0)
            break;
        rounds_answered++;
        xTaskNotifyGive(director);
    }
    finish();
}

static const char *notifications_go_back_and_forth(void)
{
    rounds_answered = 0;
    TaskHandle_t task = start(answer, NULL, LOW);

    for (int i = 0; i < ROUNDS; i++) {
        xTaskNotifyGive(task);
        if (ulTaskNotifyTake(pdTRUE, PATIENCE) == 0)
            return "no_answer";
    }
    if (!helpers_finished(1))
        return "the_task_did_not_finish";
    return rounds_answered == ROUNDS ? NULL : "a_round_was_lost";
}

/* Interrupts. */

#define INTERRUPTS 200

static const char *handlers_wake_tasks(void)
{
    static StaticSemaphore_t memory;
    SemaphoreHandle_t semaphore = xSemaphoreCreateBinaryStatic(&memory);

    if (platform.uart == 0)
        return skipped; /* There is no device that could interrupt. */
    if (!console_interrupt_attach(semaphore))
        return "not_attached";
    for (int i = 0; i < INTERRUPTS; i++) {
        console_interrupt_fire();
        if (xSemaphoreTake(semaphore, PATIENCE) != pdTRUE)
            return "no_interrupt";
    }
    plic_detach(platform.uart_source);
    return uxSemaphoreGetCount(semaphore) == 0 ? NULL : "more_interrupts_than_asked_for";
}

/* A task that a handler wakes runs before the interrupted task continues. */

static SemaphoreHandle_t interrupted;
static volatile bool fire;
static volatile uint64_t spins, spins_at_interrupt;

static void give_at_once(void *unused)
{
    BaseType_t switch_tasks = pdFALSE;

    (void)unused;
    console_interrupt_silence();
    spins_at_interrupt = spins;
    xSemaphoreGiveFromISR(interrupted, &switch_tasks);
    portYIELD_FROM_ISR(switch_tasks);
}

static void spin(void *unused)
{
    (void)unused;
    for (;;) {
        spins++;
        if (fire) {
            fire = false;
            console_interrupt_fire();
        }
    }
}

static const char *handlers_switch_tasks_at_once(void)
{
    static StaticSemaphore_t memory;
    const char *problem = NULL;

    if (platform.uart == 0)
        return skipped;
    interrupted = xSemaphoreCreateBinaryStatic(&memory);
    if (!plic_attach(platform.uart_source, 1, give_at_once, NULL))
        return "not_attached";
    TaskHandle_t spinner = start(spin, NULL, LOW);

    for (int i = 0; i < 20 && problem == NULL; i++) {
        fire = true;
        if (xSemaphoreTake(interrupted, PATIENCE) != pdTRUE)
            problem = "no_interrupt";
        else if (spins != spins_at_interrupt)
            problem = "the_interrupted_task_went_on";
    }
    vTaskDelete(spinner);
    plic_detach(platform.uart_source);
    return problem;
}

/* A device that interrupts again as soon as it is served. It stops after STORM interrupts, so that the test ends. */
#define STORM 1000
/* Interrupts served between two ticks: CLAIMS_MAX of platform/plic.c. */
#define STORM_PER_TICK 32

static volatile uint64_t storm_left;
static volatile TickType_t storm_first, storm_last;

static void storm_handler(void *unused)
{
    (void)unused;
    if (storm_left == STORM)
        storm_first = xTaskGetTickCountFromISR();
    storm_last = xTaskGetTickCountFromISR();
    console_interrupt_silence();
    if (storm_left > 0 && --storm_left > 0)
        console_interrupt_fire();
}

static const char *an_interrupt_storm_leaves_the_tick_alone(void)
{
    if (platform.uart == 0)
        return skipped;
    storm_left = STORM;
    if (!plic_attach(platform.uart_source, 1, storm_handler, NULL))
        return "not_attached";
    console_interrupt_fire();
    for (int i = 0; i < PATIENCE && storm_left > 0; i++)
        vTaskDelay(1);
    console_interrupt_silence();
    plic_detach(platform.uart_source);
    if (storm_left != 0)
        return "it_did_not_go_on";
    return storm_last - storm_first + 1 >= STORM / STORM_PER_TICK ? NULL : "the_tick_stood_still";
}

/* Software interrupts of the application share their bit with yields; the next switch of tasks serves both. */

/* Readings of `sip` after which a fired external interrupt must be pending. */
#define PENDING_READS_MAX 1000000
#define SIP_EXTERNAL (1 << portCAUSE_EXTERNAL)
#define TOGETHER 20

static volatile uint64_t software_calls, software_again;
static volatile bool software_late;

static void software_handler(void)
{
    software_calls++;
    if (software_again > 0) {
        software_again--;
        vPortRaiseSoftware();
    }
}

static void take_at_once(void *unused)
{
    (void)unused;
    for (uint64_t i = 1; i <= TOGETHER; i++) {
        if (xSemaphoreTake(interrupted, PATIENCE) != pdTRUE)
            break;
        software_late = software_late || software_calls != i;
    }
    finish();
}

static const char *software_interrupts_come_once(void)
{
    static StaticSemaphore_t memory;
    uint64_t inside;

    vPortAttachSoftware(software_handler);
    software_calls = 0;
    for (uint64_t i = 1; i <= INTERRUPTS; i++) {
        vPortRaiseSoftware();
        if (software_calls != i)
            return "not_at_once";
    }

    software_calls = 0;
    taskENTER_CRITICAL();
    vPortRaiseSoftware();
    portYIELD();
    vPortRaiseSoftware();
    inside = software_calls;
    taskEXIT_CRITICAL();
    if (inside != 0)
        return "within_a_critical_section";
    if (software_calls != 1)
        return "not_once_behind_a_critical_section";

    software_calls = 0;
    software_again = 1;
    vPortRaiseSoftware();
    if (software_calls != 2)
        return "not_again_from_the_handler";

    /* An external interrupt is taken first, and its handler switches to another task. */
    if (platform.uart == 0)
        return skipped;
    interrupted = xSemaphoreCreateBinaryStatic(&memory);
    if (!plic_attach(platform.uart_source, 1, give_at_once, NULL))
        return "not_attached";
    start(take_at_once, NULL, DIRECTOR + 1);
    software_calls = 0;
    for (int i = 0; i < TOGETHER; i++) {
        uint64_t pending = 0;

        taskENTER_CRITICAL();
        console_interrupt_fire();
        for (int reads = 0; reads < PENDING_READS_MAX && (pending & SIP_EXTERNAL) == 0; reads++)
            __asm volatile("csrr %0, sip" : "=r"(pending));
        vPortRaiseSoftware();
        taskEXIT_CRITICAL();
    }
    plic_detach(platform.uart_source);
    if (!helpers_finished(1))
        return "an_interrupt_was_lost";
    if (software_calls != TOGETHER)
        return "not_once_with_another_interrupt";
    return software_late ? "behind_another_task" : NULL;
}

/* Critical sections. */

static volatile uint64_t shared;

static void increment(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        taskENTER_CRITICAL();
        taskENTER_CRITICAL();
        uint64_t value = shared;

        taskEXIT_CRITICAL();
        /* Still within the outer section: the exit of the inner one must not have admitted another task. */
        shared = value + 1;
        taskEXIT_CRITICAL();
    }
    finish();
}

static bool interrupts_enabled(void)
{
    uint64_t status;

    __asm volatile("csrr %0, sstatus" : "=r"(status));
    return (status & portSSTATUS_SIE) != 0;
}

static volatile bool woken;

static void wake(void *unused)
{
    (void)unused;
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    woken = true;
    finish();
}

static const char *critical_sections_exclude(void)
{
    shared = 0;
    start(increment, NULL, LOW);
    start(increment, NULL, LOW);
    if (!helpers_finished(2))
        return "a_task_did_not_finish";
    if (shared != 200000)
        return "an_increment_was_lost";

    bool outside = interrupts_enabled();

    taskENTER_CRITICAL();
    bool inside = interrupts_enabled();

    taskENTER_CRITICAL();
    taskEXIT_CRITICAL();
    bool after_inner = interrupts_enabled();

    taskEXIT_CRITICAL();
    bool after_outer = interrupts_enabled();

    if (!outside || inside || after_inner || !after_outer)
        return "interrupts_enabled_at_the_wrong_time";

    /* The calls for interrupt handlers, nested. */
    UBaseType_t first = taskENTER_CRITICAL_FROM_ISR();
    UBaseType_t second = taskENTER_CRITICAL_FROM_ISR();

    taskEXIT_CRITICAL_FROM_ISR(second);
    inside = interrupts_enabled();
    taskEXIT_CRITICAL_FROM_ISR(first);
    if (inside || !interrupts_enabled())
        return "mask_not_nested";
    return NULL;
}

static const char *a_yield_waits_for_the_critical_section(void)
{
    woken = false;
    TaskHandle_t task = start(wake, NULL, DIRECTOR + 1);

    taskENTER_CRITICAL();
    xTaskNotifyGive(task); /* The task has a higher priority, so the notification requests a yield. */
    bool too_early = woken;

    taskEXIT_CRITICAL();
    bool at_once = woken;

    helpers_finished(1);
    if (too_early)
        return "switched_within";
    return at_once ? NULL : "not_switched_at_its_end";
}

/* Time. */

static const char *the_tick_catches_up(void)
{
    uint64_t late = ullPortTicksLate(), period = ullPortTickPeriod();

    vTaskDelay(1);
    taskENTER_CRITICAL();
    uint64_t begin = clock_time();

    while (clock_time() - begin < 200 * period)
        ;
    taskEXIT_CRITICAL();

    /* One interrupt counts at most 64 ticks. The following interrupts are taken at once, so allow them a moment. */
    uint64_t now = 0;
    TickType_t tick = 0;

    for (int i = 0; i < 1000; i++) {
        now = clock_time();
        tick = xTaskGetTickCount();
        if (now < ullPortTickTime(tick + 1))
            break;
    }
    if (now >= ullPortTickTime(tick + 1))
        return "ticks_lost";
    if (clock_time() < ullPortTickTime(tick))
        return "ticks_too_many";
    return ullPortTicksLate() - late >= 198 ? NULL : "lateness_not_counted";
}

static const char *delays_last_as_long_as_they_should(void)
{
    TickType_t wake_tick = xTaskGetTickCount(), first = wake_tick;

    for (int i = 0; i < 100; i++) {
        xTaskDelayUntil(&wake_tick, 3);
        if (clock_time() < ullPortTickTime(wake_tick))
            return "too_early";
    }
    return wake_tick - first == 300 ? NULL : "not_its_own_rhythm";
}

static volatile unsigned reloads, shots;

static void count_timer(TimerHandle_t timer)
{
    volatile unsigned *count = pvTimerGetTimerID(timer);

    (*count)++;
}

static const char *timers_expire(void)
{
    reloads = 0;
    shots = 0;
    TimerHandle_t again = xTimerCreate("again", 5, pdTRUE, (void *)&reloads, count_timer);
    TimerHandle_t once = xTimerCreate("once", 7, pdFALSE, (void *)&shots, count_timer);

    if (again == NULL || once == NULL)
        return "not_created";
    TickType_t begin = xTaskGetTickCount();

    xTimerStart(again, PATIENCE);
    xTimerStart(once, PATIENCE);
    vTaskDelay(102);
    xTimerStop(again, PATIENCE);
    /* The timer task has a higher priority, so the timer has stopped; the current tick bounds the number of reloads. */
    unsigned counted = reloads, most = (unsigned)((xTaskGetTickCount() - begin) / 5);

    vTaskDelay(20);
    bool stopped = reloads == counted;

    xTimerDelete(again, PATIENCE);
    xTimerDelete(once, PATIENCE);
    if (!stopped)
        return "not_stopped";
    if (shots != 1)
        return "one_shot_more_or_less";
    return counted >= 20 && counted <= most ? NULL : "wrong_number_of_expiries";
}

/* Mutexes: the holder inherits the priority of a waiting task. */

static SemaphoreHandle_t mutex;
static volatile UBaseType_t inherited, restored;

static void hold(void *unused)
{
    (void)unused;
    xSemaphoreTake(mutex, PATIENCE);
    xTaskNotifyGive(director);
    ulTaskNotifyTake(pdTRUE, PATIENCE);
    inherited = uxTaskPriorityGet(NULL);
    xSemaphoreGive(mutex);
    restored = uxTaskPriorityGet(NULL);
    finish();
}

static void want(void *unused)
{
    (void)unused;
    if (xSemaphoreTake(mutex, PATIENCE) == pdTRUE)
        xSemaphoreGive(mutex);
    finish();
}

static const char *mutexes_inherit_priority(void)
{
    mutex = xSemaphoreCreateMutex();
    TaskHandle_t holder = start(hold, NULL, LOW);

    if (!helpers_finished(1))
        return "not_taken";
    start(want, NULL, HIGH);
    vTaskDelay(2);
    xTaskNotifyGive(holder);
    if (!helpers_finished(2))
        return "a_task_did_not_finish";
    vSemaphoreDelete(mutex);
    if (inherited != HIGH)
        return "not_inherited";
    return restored == LOW ? NULL : "not_given_back";
}

/* Event groups and stream buffers. */

static EventGroupHandle_t events;
static StreamBufferHandle_t bytes;

static void set_events(void *unused)
{
    (void)unused;
    for (int i = 0; i < 8; i++) {
        vTaskDelay(1);
        xEventGroupSetBits(events, 1u << i);
    }
    finish();
}

static void send_bytes(void *unused)
{
    (void)unused;
    for (int i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;

        xStreamBufferSend(bytes, &byte, 1, PATIENCE);
    }
    finish();
}

static const char *events_and_streams_arrive(void)
{
    events = xEventGroupCreate();
    start(set_events, NULL, LOW);
    EventBits_t bits = xEventGroupWaitBits(events, 0xff, pdTRUE, pdTRUE, PATIENCE);

    if (!helpers_finished(1) || (bits & 0xff) != 0xff)
        return "an_event_is_missing";
    vEventGroupDelete(events);

    bytes = xStreamBufferCreate(16, 1);
    start(send_bytes, NULL, LOW);
    unsigned expected = 0;

    while (expected < 256) {
        uint8_t chunk[16];
        size_t size = xStreamBufferReceive(bytes, chunk, sizeof chunk, PATIENCE);

        if (size == 0)
            return "a_byte_is_missing";
        for (size_t i = 0; i < size; i++)
            if (chunk[i] != expected++)
                return "a_byte_is_wrong";
    }
    if (!helpers_finished(1))
        return "the_task_did_not_finish";
    vStreamBufferDelete(bytes);
    return NULL;
}

/* Short-lived tasks, each of which uses floating point, so that the area in a reused stack is owned again. */

static volatile uint64_t short_lives;

static void live_shortly(void *unused)
{
    volatile double value = 1.5;

    (void)unused;
    value = value * value;
    if (value == 2.25)
        short_lives++;
    finish();
}

static const char *deleted_tasks_leave_nothing(void)
{
    vTaskDelay(2); /* Lets the idle task free the memory of earlier tests. */
    size_t before = xPortGetFreeHeapSize();

    short_lives = 0;
    for (int i = 0; i < 200; i++) {
        start(live_shortly, NULL, i % 2 == 0 ? LOW : HIGH);
        start(live_shortly, NULL, LOW);
        if (!helpers_finished(2))
            return "a_task_did_not_finish";
        vTaskDelay(1);
    }
    if (short_lives != 400)
        return "wrong_result";
    vTaskDelay(2);
    return xPortGetFreeHeapSize() == before ? NULL : "memory_lost";
}

static const struct {
    const char *name;
    test *run;
} tests[] = {
    {"registers_survive_switches", registers_survive_switches},
    {"floating_point_is_each_tasks_own", floating_point_is_each_tasks_own},
    {"floating_point_starts_clean", floating_point_starts_clean},
    {"reservations_end_with_a_switch", reservations_end_with_a_switch},
    {"queues_keep_order", queues_keep_order},
    {"an_empty_queue_times_out", an_empty_queue_times_out},
    {"notifications_go_back_and_forth", notifications_go_back_and_forth},
    {"handlers_wake_tasks", handlers_wake_tasks},
    {"handlers_switch_tasks_at_once", handlers_switch_tasks_at_once},
    {"an_interrupt_storm_leaves_the_tick_alone", an_interrupt_storm_leaves_the_tick_alone},
    {"software_interrupts_come_once", software_interrupts_come_once},
    {"critical_sections_exclude", critical_sections_exclude},
    {"a_yield_waits_for_the_critical_section", a_yield_waits_for_the_critical_section},
    {"the_tick_catches_up", the_tick_catches_up},
    {"delays_last_as_long_as_they_should", delays_last_as_long_as_they_should},
    {"timers_expire", timers_expire},
    {"mutexes_inherit_priority", mutexes_inherit_priority},
    {"events_and_streams_arrive", events_and_streams_arrive},
    {"deleted_tasks_leave_nothing", deleted_tasks_leave_nothing},
};

static void run_tests(void)
{
    unsigned failed = 0, total = sizeof tests / sizeof tests[0];

    for (unsigned i = 0; i < total; i++) {
        const char *problem = tests[i].run();

        /* Discards notifications left by a failed test, which the next test would take for its own. */
        ulTaskNotifyTake(pdTRUE, 0);
        if (problem == NULL) {
            console_print("@tactus pass name=%s\n", tests[i].name);
        } else if (problem == skipped) {
            console_print("%s: skipped, there is no UART to interrupt\n", tests[i].name);
        } else {
            failed++;
            console_print("@tactus fail name=%s reason=%s\n", tests[i].name, problem);
        }
    }
    if (failed == 0)
        console_print("@tactus pass name=freertos_selftest\n");
    else
        console_print("@tactus fail name=freertos_selftest reason=%u_of_%u_failed\n", failed, total);
    platform_power_off(failed != 0);
}

/* Failures that must be detected, be reported, and end the machine. */

static void fail_assertion(void)
{
    configASSERT(1 + 1 == 3);
}

static __attribute__((noinline)) uint64_t recurse(volatile uint64_t depth)
{
    volatile uint64_t frame[16];

    frame[0] = depth;
    return depth == 0 ? 0 : recurse(depth - 1) + frame[0];
}

static void overflow_task(void *unused)
{
    (void)unused;
    recurse(20);
    vTaskDelay(1); /* The kernel checks the stack when the task is switched out. */
    finish();
}

static void fail_stack(void)
{
    /* 20 frames of at least 19 words, on a stack of 256 that also holds contexts; damages the heap below the stack. */
    xTaskCreate(overflow_task, "overflow", configMINIMAL_STACK_SIZE, NULL, HIGH, NULL);
    helpers_finished(1);
}

static void fail_exception(void)
{
    __asm volatile(".word 0");
}

static void float_handler(void *unused)
{
    (void)unused;
    __asm volatile("fmv.d.x f0, zero" ::: "f0");
}

static void fail_in_handler(void)
{
    /* The handler interrupts a task that has used floating point, and thus has it enabled. */
    __asm volatile("fmv.d.x f0, zero" ::: "f0");
    plic_attach(platform.uart_source, 1, float_handler, NULL);
    console_interrupt_fire();
    for (TickType_t begin = xTaskGetTickCount(); xTaskGetTickCount() - begin < PATIENCE;)
        ;
}

static void return_task(void *unused)
{
    (void)unused;
}

static void fail_return(void)
{
    start(return_task, NULL, HIGH);
    vTaskDelay(PATIENCE);
}

static const struct {
    const char *argument;
    void (*run)(void);
} failure_cases[] = {
    {"selftest=assert", fail_assertion},   {"selftest=overflow", fail_stack},
    {"selftest=exception", fail_exception}, {"selftest=handler-fp", fail_in_handler},
    {"selftest=return", fail_return},
};

static bool same(const char *left, const char *right)
{
    return strlen(left) == strlen(right) && memcmp(left, right, strlen(left)) == 0;
}

static void direct(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < sizeof failure_cases / sizeof failure_cases[0]; i++) {
        if (same(platform.bootargs, failure_cases[i].argument)) {
            failure_cases[i].run();
            platform_fail("unnoticed", failure_cases[i].argument);
        }
    }
    run_tests();
}

void selftest_main(void)
{
    console_print("FreeRTOS %s self-test, hart %lu\n", tskKERNEL_VERSION_NUMBER, platform.hart);
    configASSERT(xTaskCreate(direct, "director", 2 * STACK, NULL, DIRECTOR, &director) == pdPASS);
    vTaskStartScheduler();
}
