/*
 * The demonstration. Every tick (1 kHz) releases a task of the highest priority, which records the latency of its
 * first instruction. Other tasks work beside it, as in any real application: a worker that receives its figures
 * through a queue and computes with floating point, and a task that an interrupt handler wakes through a semaphore.
 * Where the VM has accelerators for FFTs, which are shared, a further task has them transform a burst periodically.
 * Where the VM has timed I/O, all of its pins pulse together on exact cycles of the fabric, by one schedule.
 *
 * The measurement has phases. In a VM with a channel, another VM selects the current phase by the 32-bit word
 * at the start of the channel's memory (enum phase). Without a channel, natively or in a VM, this program
 * switches the phases itself: some releases idle, as many beside a busy task of low priority. At the end it
 * prints records for the `tactus` tool and powers off.
 */

#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"

#include <string.h>

#include "accelerator.h"
#include "clock.h"
#include "console.h"
#include "plic.h"
#include "platform.h"
#include "record.h"
#include "timed_io.h"

void demo_main(void);

/* Values of the word by which another VM steers the measurement. Any other value counts as PHASE_BOOT. */
enum phase { PHASE_BOOT = 0, PHASE_IDLE = 1, PHASE_LOADED = 2, PHASE_DONE = 3 };

/* Releases in each phase when no other VM steers the measurement. */
#define RELEASES 2000
/* Samples kept in each phase; later ones are counted only. A little more than a minute. */
#define SAMPLES_MAX 65536
/* Releases that the worker receives in one message. */
#define BATCH 100
/* Capacity of the worker's queue in messages. */
#define BATCHES_WAITING_MAX 16
/* Interval of the interrupts that wake the heartbeat task, and the task's timeout for each, in ticks. */
#define HEARTBEAT_PERIOD 100
#define HEARTBEAT_PATIENCE 50

/* Interval of the bursts, in ticks. */
#define BURST_PERIOD 20
/* Symbols of 32 bits in a burst, and bytes of its spectrum, whose last block is padded. */
#define BURST_SYMBOLS 4700
#define SPECTRUM_BYTES 20480
/* Hardware tasks that transform a burst: FFTs of 512 and 1,024 points (docs/src/reference/hardware-tasks.md). */
#define TRANSFORMS 2
#define FIRST_TRANSFORM 4
#define MEMORY_BASE 0x80000000UL

/* Pulses of the pins: length, period and lead time of the first, in cycles of the fabric, of 10 ns. */
#define PULSE_LENGTH 250
#define PULSE_PERIOD 200000
#define PULSE_AHEAD 100000

enum priority { PRIORITY_LOAD = 1, PRIORITY_WORKER = 2, PRIORITY_BURST = 2, PRIORITY_PULSES = 2, PRIORITY_HEARTBEAT = 3, PRIORITY_RELEASE = 7 };

struct samples {
    uint32_t values[SAMPLES_MAX];
    uint32_t count;
    uint32_t dropped;
};

static struct samples samples[PHASE_DONE];
static const char *const phase_names[PHASE_DONE] = {
    [PHASE_BOOT] = "boot",
    [PHASE_IDLE] = "idle",
    [PHASE_LOADED] = "loaded",
};

/* A message to the worker: the latencies of several releases. */
struct batch {
    /* The batch's number, by which the worker detects a lost batch. */
    uint32_t number;
    /* 0 marks the end of the measurement. */
    uint32_t releases;
    uint64_t latency_ns_sum;
};

static uint64_t deadline_misses;
static uint64_t releases;
static uint64_t batches_lost;
static uint64_t heartbeats, heartbeats_missed, doorbells;

/* The accelerators of the VM, the first result of each, and the number of its results. */
static struct transform {
    struct accelerator device;
    bool there;
    uint64_t done;
    uint8_t first[SPECTRUM_BYTES];
} transforms[TRANSFORMS];
static uint32_t burst[BURST_SYMBOLS] __attribute__((aligned(8)));
static uint8_t spectrum[SPECTRUM_BYTES] __attribute__((aligned(128)));
static uint64_t spectra, spectra_wrong, spectrum_ns_max;

/* The cycle of the pins' first rising edge; 0: the pins do not pulse. */
static volatile uint64_t pulses_start;

static QueueHandle_t batches;
static SemaphoreHandle_t heartbeat, doorbell;
static TaskHandle_t load;

/* Static memory of all tasks and queues: nothing is allocated at run time. */
#define STACK 512
static StaticTask_t release_task, worker_task, heartbeat_task, doorbell_task, load_task, burst_task, pulses_task;
static StackType_t release_stack[STACK], worker_stack[2 * STACK], heartbeat_stack[STACK],
    doorbell_stack[STACK], load_stack[STACK], burst_stack[STACK], pulses_stack[STACK];
static StaticQueue_t batches_queue;
static uint8_t batches_storage[BATCHES_WAITING_MAX * sizeof(struct batch)];
static StaticSemaphore_t heartbeat_semaphore, doorbell_semaphore;

/* The current phase, for the next sample. */
static enum phase current_phase(void)
{
    if (platform.channels > 0) {
        uint32_t word = *(volatile uint32_t *)platform.channel[0].memory;

        return word <= PHASE_DONE ? (enum phase)word : PHASE_BOOT;
    }
    return releases < RELEASES ? PHASE_IDLE : releases < 2 * RELEASES ? PHASE_LOADED : PHASE_DONE;
}

/* Stores one release's latency. A release that has not begun when the next one is due misses its deadline. */
static void record(enum phase phase, uint64_t latency_ns)
{
    struct samples *into = &samples[phase];

    if (into->count < SAMPLES_MAX)
        into->values[into->count++] = latency_ns < UINT32_MAX ? (uint32_t)latency_ns : UINT32_MAX;
    else
        into->dropped++;
    if (latency_ns >= clock_nanoseconds(ullPortTickPeriod()))
        deadline_misses++;
    releases++;
}

/* Measures the latency of every tick, and sends the worker one batch per BATCH releases. */
static void release_loop(void *unused)
{
    TickType_t release = xTaskGetTickCount();
    struct batch batch = {0};
    enum phase phase;

    (void)unused;
    while ((phase = current_phase()) != PHASE_DONE) {
        xTaskDelayUntil(&release, 1);
        uint64_t stamp = clock_stamp();
        uint64_t latency_ns = clock_since(ullPortTickTime(release), stamp);

        record(phase, latency_ns);
        if (phase == PHASE_LOADED && load != NULL && releases == RELEASES + 1)
            xTaskNotifyGive(load);
        batch.latency_ns_sum += latency_ns;
        if (++batch.releases == BATCH) {
            batches_lost += xQueueSend(batches, &batch, 0) != pdTRUE;
            batch = (struct batch){.number = batch.number + 1};
        }
    }
    batch.releases = 0;
    xQueueSend(batches, &batch, portMAX_DELAY);
    vTaskSuspend(NULL);
}

/* Ends the pulses and reports their schedule. The fabric's pin n carries line n. */
static void report_pulses(void)
{
    uint64_t until, cycle;
    uint32_t cause;

    if (pulses_start == 0)
        return;
    until = timed_io_now();
    timed_io_cancel(false);
    while (timed_io_is_busy())
        ;
    timed_io_await_reports();
    console_print("@tactus pulses pins=%u start=%lu length=%u period=%u until=%lu\n", platform.timed_io_lines, pulses_start,
                  PULSE_LENGTH, PULSE_PERIOD, until);
    cause = timed_io_report(&cycle);
    if (cause != 0)
        console_print("@tactus fail name=freertos_pulses reason=report_%u_of_cycle_%lu\n", cause, cycle);
    else
        console_print("@tactus pass name=freertos_pulses\n");
}

/* Prints the results. `mean_ns` is the mean that the worker computed. */
static void report(double mean_ns, uint64_t batched)
{
    uint64_t dropped = 0;

    console_print("@tactus deadline name=release_latency value=%lu unit=ns\n", clock_nanoseconds(ullPortTickPeriod()));
    for (enum phase phase = PHASE_BOOT; phase < PHASE_DONE; phase++) {
        dropped += samples[phase].dropped;
        record_samples("release_latency", phase_names[phase], "ns", samples[phase].values,
                       samples[phase].count);
    }
    console_print("@tactus metric name=releases value=%lu unit=count\n", releases);
    console_print("@tactus metric name=release_deadline_misses value=%lu unit=count\n", deadline_misses);
    console_print("@tactus metric name=release_samples_dropped value=%lu unit=count\n", dropped);
    console_print("@tactus metric name=release_latency_resolution value=%lu unit=ns\n", clock_resolution());
    console_print("@tactus metric name=release_latency_mean value=%lu unit=ns\n", (uint64_t)(mean_ns + 0.5));
    console_print("@tactus metric name=ticks_late value=%lu unit=count\n", ullPortTicksLate());
    console_print("@tactus metric name=heartbeats value=%lu unit=count\n", heartbeats);
    console_print("@tactus metric name=doorbells value=%lu unit=count\n", doorbells);
    if (transforms[0].there || transforms[1].there) {
        console_print("@tactus metric name=spectra value=%lu unit=count\n", spectra);
        console_print("@tactus metric name=spectrum_response_max value=%lu unit=ns\n", spectrum_ns_max);
        if (spectra_wrong != 0 || spectra == 0)
            console_print("@tactus fail name=freertos_spectra reason=%lu_of_%lu_are_wrong\n", spectra_wrong, spectra);
        else
            console_print("@tactus pass name=freertos_spectra\n");
    }
    report_pulses();
    if (batches_lost != 0 || batched != releases / BATCH)
        console_print("@tactus fail name=freertos_worker reason=lost_%lu_batches\n",
                      releases / BATCH - batched);
    else
        console_print("@tactus pass name=freertos_worker\n");
    if (heartbeats_missed != 0)
        console_print("@tactus fail name=freertos_heartbeat reason=missed_%lu_of_%lu\n", heartbeats_missed,
                      heartbeats_missed + heartbeats);
    else
        console_print("@tactus pass name=freertos_heartbeat\n");
}

/* Computes the mean of all latencies in floating point. Reports and powers off at the end of the measurement. */
static void worker_loop(void *unused)
{
    struct batch batch;
    double sum_ns = 0;
    uint64_t count = 0, batched = 0;

    (void)unused;
    for (;;) {
        xQueueReceive(batches, &batch, portMAX_DELAY);
        if (batch.releases == 0)
            break;
        sum_ns += (double)batch.latency_ns_sum;
        count += batch.releases;
        batched++;
    }
    report(count > 0 ? sum_ns / (double)count : 0, batched);
    platform_power_off(false);
}

/* Waits for an interrupt ten times a second, on the path device, PLIC, handler, semaphore, task. */
static void heartbeat_loop(void *unused)
{
    TickType_t wake = xTaskGetTickCount();

    (void)unused;
    for (;;) {
        xTaskDelayUntil(&wake, HEARTBEAT_PERIOD);
        console_interrupt_fire();
        if (xSemaphoreTake(heartbeat, HEARTBEAT_PATIENCE) == pdTRUE)
            heartbeats++;
        else
            heartbeats_missed++;
    }
}

/* Has each accelerator in turn transform the burst; the result must be the same every time. */
static void burst_loop(void *unused)
{
    const struct accelerator_computation computation = {
        .input = (uint32_t)((uintptr_t)burst - MEMORY_BASE),
        .length = sizeof burst,
        .output = (uint32_t)((uintptr_t)spectrum - MEMORY_BASE),
    };
    TickType_t wake = xTaskGetTickCount();
    uint32_t random = 0x7463746d;

    (void)unused;
    for (uint32_t i = 0; i < BURST_SYMBOLS; i++)
        burst[i] = random = random * 1664525 + 1013904223;
    for (uint32_t next = 0;; next = (next + 1) % TRANSFORMS) {
        struct transform *transform = &transforms[next];

        if (!transform->there)
            continue;
        xTaskDelayUntil(&wake, BURST_PERIOD);
        memset(spectrum, 0, sizeof spectrum);
        uint64_t begin = clock_time();
        bool right = accelerator_run(&transform->device, &computation, NULL) == ACCELERATOR_DONE;
        uint64_t took_ns = clock_nanoseconds(clock_time() - begin);

        if (transform->done++ == 0)
            memcpy(transform->first, spectrum, sizeof spectrum);
        spectra++;
        spectra_wrong += !right || memcmp(transform->first, spectrum, sizeof spectrum) != 0;
        spectrum_ns_max = took_ns > spectrum_ns_max ? took_ns : spectrum_ns_max;
    }
}

/* Schedules the pulses; from then on the fabric runs them without this program. */
static void pulses_begin(void *unused)
{
    const uint32_t lines = platform.timed_io_lines;
    /* Commands (docs/src/reference/timed-io.md): all lines up; PULSE_LENGTH later; all lines down; the end. */
    const uint32_t program[] = {0x10000 | lines << 8 | lines, 0x30000 | (PULSE_LENGTH - 1), 0x10000 | lines << 8, 0};
    uint64_t start;

    (void)unused;
    configASSERT(timed_io_open());
    timed_io_store(0, program, sizeof program / sizeof *program);
    do
        start = timed_io_now() + PULSE_AHEAD;
    while (timed_io_run(0, start, PULSE_PERIOD, 0) != TIMED_IO_ACCEPTED);
    pulses_start = start;
    vTaskSuspend(NULL);
}

/* Handles the channel's doorbell. */
static void doorbell_rings(void *semaphore)
{
    BaseType_t woken = pdFALSE;

    xSemaphoreGiveFromISR((SemaphoreHandle_t)semaphore, &woken);
    portYIELD_FROM_ISR(woken);
}

/* Counts the doorbell's rings. */
static void doorbell_loop(void *unused)
{
    (void)unused;
    for (;;) {
        xSemaphoreTake(doorbell, portMAX_DELAY);
        doorbells++;
    }
}

/* Generates load: uses floating point, so that each switch saves and restores a full context. */
static void load_loop(void *unused)
{
    volatile double value = 1;

    (void)unused;
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    for (;;)
        value = value * 1.0000001 + 0.5 / value;
}

void demo_main(void)
{
    console_print("FreeRTOS %s, hart %lu, timebase %lu Hz, %u channel(s), latency to %lu ns\n",
                  tskKERNEL_VERSION_NUMBER, platform.hart, platform.timebase_hz, platform.channels,
                  clock_resolution());

    batches = xQueueCreateStatic(BATCHES_WAITING_MAX, sizeof(struct batch), batches_storage, &batches_queue);
    xTaskCreateStatic(release_loop, "release", STACK, NULL, PRIORITY_RELEASE, release_stack, &release_task);
    xTaskCreateStatic(worker_loop, "worker", 2 * STACK, NULL, PRIORITY_WORKER, worker_stack, &worker_task);

    heartbeat = xSemaphoreCreateBinaryStatic(&heartbeat_semaphore);
    if (console_interrupt_attach(heartbeat))
        xTaskCreateStatic(heartbeat_loop, "heartbeat", STACK, NULL, PRIORITY_HEARTBEAT, heartbeat_stack,
                          &heartbeat_task);
    for (uint32_t i = 0; i < TRANSFORMS; i++)
        transforms[i].there = accelerator_open(&transforms[i].device, FIRST_TRANSFORM + i);
    if (transforms[0].there || transforms[1].there)
        xTaskCreateStatic(burst_loop, "burst", STACK, NULL, PRIORITY_BURST, burst_stack, &burst_task);

    if (platform.timed_io != 0)
        xTaskCreateStatic(pulses_begin, "pulses", STACK, NULL, PRIORITY_PULSES, pulses_stack, &pulses_task);

    if (platform.channels > 0) {
        doorbell = xSemaphoreCreateBinaryStatic(&doorbell_semaphore);
        configASSERT(plic_attach(platform.channel[0].source, 1, doorbell_rings, doorbell));
        xTaskCreateStatic(doorbell_loop, "doorbell", STACK, NULL, PRIORITY_HEARTBEAT, doorbell_stack,
                          &doorbell_task);
    } else {
        load = xTaskCreateStatic(load_loop, "load", STACK, NULL, PRIORITY_LOAD, load_stack, &load_task);
    }
    vTaskStartScheduler();
}
