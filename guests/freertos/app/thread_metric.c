/*
 * The cost of the kernel's services: the seven tests of the suite "Thread-Metric", which the paper on Ker-ONE (section
 * 5.2.1) runs on a virtualized RTOS, rewritten from their description. A test repeats one operation for a fixed time;
 * its score is the number of rounds. The difference of the scores natively and in a VM is the cost of the VM.
 *
 * Boot arguments: `ms=N`, the duration of each test; `pause=N`, the milliseconds that the program sleeps before each
 * test, so that the hart runs other VMs; `test=NAME`, only that test.
 *
 * Each test prints its rounds, the cycles of a round including ticks, and a verdict: whether the counters of its
 * tasks and its handler agree, and no operation was refused or lost.
 */

#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"

#include <string.h>

#include "arguments.h"
#include "clock.h"
#include "console.h"
#include "platform.h"

void thread_metric_main(void);

/* Duration of a test and of the pause before it, in milliseconds, unless boot arguments override them. */
#define MS 20
#define PAUSE 5

/* Tasks of a test; their priorities start at 1. */
#define TASKS_MAX 5
#define PRIORITY_DIRECTOR (configMAX_PRIORITIES - 1)
#define STACK 256

_Static_assert(TASKS_MAX < PRIORITY_DIRECTOR, "the director comes before all tests");

/* Rounds of each task of a test, by rising priority, then those of the handler. */
static volatile uint64_t done[TASKS_MAX];
/* The failure of a test, or null. */
static const char *volatile trouble;
static TaskHandle_t tasks[TASKS_MAX];

struct test {
    const char *name;
    /* By rising priority. The argument of each task is its index in this list. */
    TaskFunction_t tasks[TASKS_MAX];
    /* Handler of the software interrupt, or null; its counter follows those of the tasks. */
    void (*handler)(void);
    /* Called before and after the test, or null. `end` returns a failure, or null. */
    void (*begin)(void);
    const char *(*end)(void);
};

/* Ends the part of a task that has failed. */
static void stop(const char *what)
{
    trouble = what;
    vTaskSuspend(NULL);
}

/* Calibration: one task computes with an array, without the kernel. */

#define WORDS 1024
static volatile uint32_t array[WORDS];

static inline uint32_t computed(uint32_t word, uint32_t round)
{
    return (word + round) ^ (word >> 3);
}

static void compute(void *unused)
{
    (void)unused;
    for (uint32_t round = 0;; round++) {
        for (unsigned i = 0; i < WORDS; i++)
            array[i] = computed(array[i], round);
        done[0]++;
    }
}

static void compute_begin(void)
{
    for (unsigned i = 0; i < WORDS; i++)
        array[i] = i;
}

/* Each word went through all counted rounds; some first words may have gone through one more. */
static const char *compute_end(void)
{
    bool in_next = true;

    for (unsigned i = 0; i < WORDS; i += WORDS / 16) {
        uint32_t round, word = i;

        for (round = 0; round < done[0]; round++)
            word = computed(word, round);
        in_next = in_next && array[i] == computed(word, round);
        if (!in_next && array[i] != word)
            return "wrong_result";
    }
    return NULL;
}

/* Preemptive switching: each of five tasks resumes the next higher one, which preempts it, and then suspends
 * itself. The lowest does not suspend itself. */

static void chain_lowest(void *unused)
{
    (void)unused;
    for (;;) {
        vTaskResume(tasks[1]);
        done[0]++;
    }
}

static void chain(void *place)
{
    uintptr_t self = (uintptr_t)place;

    for (;;) {
        vTaskSuspend(NULL);
        if (self + 1 < TASKS_MAX)
            vTaskResume(tasks[self + 1]);
        done[self]++;
    }
}

/* Messages: one task sends 16 bytes through a queue and receives them. */

struct message {
    uint64_t number;
    uint64_t complement;
};

static QueueHandle_t queue;

static void pass_messages(void *unused)
{
    (void)unused;
    for (uint64_t number = 0;; number++) {
        struct message sent = {number, ~number}, received = {0};

        if (xQueueSend(queue, &sent, 0) != pdTRUE)
            stop("queue_full");
        if (xQueueReceive(queue, &received, 0) != pdTRUE)
            stop("queue_empty");
        if (received.number != number || received.complement != ~number)
            stop("wrong_message");
        done[0]++;
    }
}

static void messages_begin(void)
{
    xQueueReset(queue);
}

/* Memory: one task allocates and frees 128 bytes of the kernel's heap. (The kernel has no fixed-size block pools.) */

#define BLOCK 128
static size_t heap_before, heap_with_block;

static void allocate(void *unused)
{
    (void)unused;
    for (;;) {
        void *block = pvPortMalloc(BLOCK);

        if (block == NULL)
            stop("out_of_memory");
        vPortFree(block);
        done[0]++;
    }
}

static void allocate_begin(void)
{
    void *block = pvPortMalloc(BLOCK);

    configASSERT(block != NULL);
    heap_with_block = xPortGetFreeHeapSize();
    vPortFree(block);
    heap_before = xPortGetFreeHeapSize();
}

/* The task may have held a block when it was deleted; that block is lost. */
static const char *allocate_end(void)
{
    size_t left = xPortGetFreeHeapSize();

    return left == heap_before || left == heap_with_block ? NULL : "memory_lost";
}

/* Synchronization: one task takes a semaphore and gives it. */

static SemaphoreHandle_t semaphore;

static void synchronize(void *unused)
{
    (void)unused;
    for (;;) {
        if (xSemaphoreTake(semaphore, 0) != pdTRUE)
            stop("semaphore_taken");
        if (xSemaphoreGive(semaphore) != pdTRUE)
            stop("semaphore_given");
        done[0]++;
    }
}

static void semaphore_given(void)
{
    xQueueReset(semaphore);
    xSemaphoreGive(semaphore);
}

/* Interrupt handling: one task raises an interrupt and takes the semaphore that the handler gives. */

static void raise_and_take(void *unused)
{
    (void)unused;
    for (;;) {
        vPortRaiseSoftware();
        if (xSemaphoreTake(semaphore, 0) != pdTRUE)
            stop("no_interrupt");
        done[0]++;
    }
}

static void handle_and_give(void)
{
    BaseType_t woken = pdFALSE;

    if (xSemaphoreGiveFromISR(semaphore, &woken) != pdTRUE)
        trouble = "needless_interrupt";
    portYIELD_FROM_ISR(woken);
    done[1]++;
}

static void semaphore_taken(void)
{
    xQueueReset(semaphore);
}

/* Interrupt preemption: one task raises an interrupt, whose handler resumes a task of higher priority. That task runs
 * before the first one continues, and suspends itself. */

static void raise_and_count(void *unused)
{
    (void)unused;
    for (;;) {
        vPortRaiseSoftware();
        done[0]++;
    }
}

static void resumed(void *unused)
{
    (void)unused;
    for (;;) {
        vTaskSuspend(NULL);
        done[1]++;
    }
}

static void handle_and_resume(void)
{
    portYIELD_FROM_ISR(xTaskResumeFromISR(tasks[1]));
    done[2]++;
}

static const struct test tests[] = {
    {"calibration", {compute}, NULL, compute_begin, compute_end},
    {"preemptive_switching", {chain_lowest, chain, chain, chain, chain}, NULL, NULL, NULL},
    {"messages", {pass_messages}, NULL, messages_begin, NULL},
    {"memory", {allocate}, NULL, allocate_begin, allocate_end},
    {"synchronization", {synchronize}, NULL, semaphore_given, NULL},
    {"interrupt_handling", {raise_and_take}, handle_and_give, semaphore_taken, NULL},
    {"interrupt_preemption", {raise_and_count, resumed}, handle_and_resume, NULL, NULL},
};

/* Whether all counters agree, to within one round: tasks are stopped in the middle of a round. */
static bool agree(unsigned counters)
{
    for (unsigned i = 1; i < counters; i++)
        if (done[i] + 1 < done[0] || done[i] > done[0] + 1)
            return false;
    return done[0] > 0;
}

/* Runs a test, from the creation of its tasks to its records. */
static void run(const struct test *test, TickType_t ms, TickType_t pause)
{
    static StaticTask_t memory[TASKS_MAX];
    static StackType_t stacks[TASKS_MAX][STACK];
    unsigned count = 0, counters;
    TickType_t now;
    uint64_t begin, cycles;

    trouble = NULL;
    memset((void *)done, 0, sizeof done);
    vPortAttachSoftware(test->handler);
    if (test->begin != NULL)
        test->begin();
    for (; count < TASKS_MAX && test->tasks[count] != NULL; count++) {
        tasks[count] = xTaskCreateStatic(test->tasks[count], test->name, STACK, (void *)(uintptr_t)count, 1 + count,
                                         stacks[count], &memory[count]);
        vTaskSuspend(tasks[count]);
    }
    counters = count + (test->handler != NULL);

    vTaskDelay(pause);
    now = xTaskGetTickCount();
    for (unsigned i = 0; i < count; i++)
        vTaskResume(tasks[i]);
    begin = clock_stamp();
    xTaskDelayUntil(&now, ms);
    cycles = clock_stamp() - begin;

    /* No task of the test runs any more: the caller's priority is the highest. */
    for (unsigned i = 0; i < count; i++)
        vTaskDelete(tasks[i]);
    if (trouble == NULL && test->end != NULL)
        trouble = test->end();
    if (trouble == NULL && !agree(counters))
        trouble = "counters_differ";

    console_print("@tactus metric name=thread_metric_%s value=%lu unit=count\n", test->name, done[0]);
    if (clock_has_cycle && done[0] > 0) {
        uint64_t hundredths = cycles * 100 / done[0];

        console_print("@tactus metric name=thread_metric_%s_cycles value=%lu.%lu%lu unit=cycles\n", test->name,
                      hundredths / 100, hundredths / 10 % 10, hundredths % 10);
    }
    if (trouble != NULL)
        console_print("@tactus fail name=thread_metric_%s reason=%s\n", test->name, trouble);
    else
        console_print("@tactus pass name=thread_metric_%s\n", test->name);
}

static bool wanted(const struct test *test)
{
    const char *only = argument("test=");
    const char *rest = only == NULL ? "" : argument_behind(only, test->name);

    return rest != NULL && (*rest == 0 || *rest == ' ');
}

static void direct(void *unused)
{
    TickType_t ms = argument_number("ms=", MS), pause = argument_number("pause=", PAUSE);
    unsigned ran = 0;

    (void)unused;
    for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (wanted(&tests[i])) {
            run(&tests[i], ms, pause);
            ran++;
        }
    }
    if (ran == 0)
        platform_fail("no-such-test", platform.bootargs);
    platform_power_off(false);
}

void thread_metric_main(void)
{
    static StaticTask_t memory;
    static StackType_t stack[2 * STACK];
    static StaticQueue_t queue_memory;
    static uint8_t messages[sizeof(struct message)];
    static StaticSemaphore_t semaphore_memory;

    console_print("FreeRTOS %s Thread-Metric, hart %lu\n", tskKERNEL_VERSION_NUMBER, platform.hart);
    queue = xQueueCreateStatic(1, sizeof(struct message), messages, &queue_memory);
    semaphore = xSemaphoreCreateBinaryStatic(&semaphore_memory);
    xTaskCreateStatic(direct, "director", 2 * STACK, NULL, PRIORITY_DIRECTOR, stack, &memory);
    vTaskStartScheduler();
}
