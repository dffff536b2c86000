/*
 * A control loop at 1 kHz on its own real-time vCPU, supervised by FreeRTOS: a task creates the vCPU, changes
 * setpoints, watches the loop, and deletes the vCPU at the end. The two share `struct control` and nothing else.
 *
 * The loop is a PI controller of a motor's speed, and simulates the motor. It measures its own release latency,
 * which FreeRTOS prints as records for the `tactus` tool.
 *
 * With the boot argument rt=exception the loop executes an illegal instruction instead, which the VM must report.
 */

#include <stdatomic.h>
#include <string.h>

#include "FreeRTOS.h"
#include "task.h"

#include "clock.h"
#include "console.h"
#include "platform.h"
#include "record.h"
#include "rt.h"

void rt_loop_main(void);

/* The loop's reservation, in microseconds. */
#define PERIOD 1000
#define BUDGET 100
#define DEADLINE 500
/* Duration of each setpoint, in ticks of FreeRTOS, and number of setpoints. */
#define STEP pdMS_TO_TICKS(250)
#define STEPS 4
/* Greatest difference of speed and setpoint at the end of a step, in 1/1000 rad/s. */
#define TOLERANCE 500
/* Capacity for latencies. */
#define SAMPLES_MAX 2048

/* State shared by the loop and FreeRTOS. Each member has one writer. */
struct control {
    /* Written by FreeRTOS: the setpoint of the speed, in 1/1000 rad/s. */
    atomic_int setpoint;
    /* Written by the loop: the actual speed, jobs done, jobs not released one period after the previous one. */
    atomic_int speed;
    atomic_uint jobs;
    atomic_uint off_grid;
    /* Written by the loop; valid below `jobs`: latency from release to first instruction, in nanoseconds. */
    uint32_t latency_ns[SAMPLES_MAX];
};

static struct control control;
static _Alignas(16) uint8_t stack[4096];

static StaticTask_t supervisor_task;
static StackType_t supervisor_stack[1024];

/* The real-time vCPU's function. */
static void loop(void *argument)
{
    struct control *shared = argument;
    uint64_t period = rt_ticks(PERIOD), before = 0;
    double speed = 0, integral = 0;

    for (unsigned job = 0;; job++) {
        uint64_t release = rt_yield();
        uint64_t stamp = clock_stamp();
        double dt = PERIOD * 1e-6;

        if (job < SAMPLES_MAX)
            shared->latency_ns[job] = (uint32_t)clock_since(release, stamp);
        if (before != 0 && release - before != period)
            atomic_fetch_add(&shared->off_grid, 1);
        before = release;

        /* The controller, and a motor with a time constant of 20 ms and a gain of 50 rad/s per volt. */
        double error = atomic_load(&shared->setpoint) * 1e-3 - speed;
        integral += error * dt;
        double volts = 0.05 * error + 4.0 * integral;
        speed += (50.0 * volts - speed) * (dt / 20e-3);
        atomic_store(&shared->speed, (int)(speed * 1000.0));
        atomic_store_explicit(&shared->jobs, job + 1, memory_order_release);
    }
}

/* The function of the real-time vCPU with rt=exception. */
static void break_down(void *unused)
{
    (void)unused;
    __asm volatile("unimp");
}

static void check(const char *name, bool holds, const char *reason)
{
    if (holds)
        console_print("@tactus pass name=%s\n", name);
    else
        console_print("@tactus fail name=%s reason=%s\n", name, reason);
}

/* Follows the loop through its setpoints; returns whether the speed reached each. */
static bool watch(TickType_t *wake)
{
    bool arrived = true;

    for (int step = 1; step <= STEPS; step++) {
        int setpoint = step % 2 != 0 ? 100000 : 40000, speed;

        atomic_store(&control.setpoint, setpoint);
        xTaskDelayUntil(wake, STEP);
        speed = atomic_load(&control.speed);
        console_print("control: setpoint %d, speed %d (1/1000 rad/s) after %u jobs\n", setpoint, speed,
                      atomic_load(&control.jobs));
        arrived = arrived && speed > setpoint - TOLERANCE && speed < setpoint + TOLERANCE;
    }
    return arrived;
}

static void supervise(void *unused)
{
    static const char exception[] = "rt=exception";
    struct rt_reservation reservation = {rt_ticks(PERIOD), rt_ticks(PERIOD), rt_ticks(PERIOD)};
    struct tactus_rt_status status = {0};
    TickType_t wake;
    unsigned jobs;

    (void)unused;
    if (strlen(platform.bootargs) == sizeof exception - 1 && memcmp(platform.bootargs, exception, sizeof exception) == 0) {
        reservation.budget = rt_ticks(BUDGET);
        rt_create(break_down, NULL, stack, sizeof stack, &reservation);
        vTaskDelay(STEP);
        platform_fail("rt-exception-lost", NULL);
    }
    /* A reservation of a hart's whole time exceeds this VM's share. */
    struct rt_result made = rt_create(loop, &control, stack, sizeof stack, &reservation);
    console_print("rt_create with all of the time: %s\n", rt_text(made));
    check("rt_refusal", made.error == TACTUS_DENIED, "admitted");

    reservation = (struct rt_reservation){rt_ticks(PERIOD), rt_ticks(BUDGET), rt_ticks(DEADLINE)};
    made = rt_create(loop, &control, stack, sizeof stack, &reservation);
    if (made.error != 0)
        platform_fail("rt-create", rt_text(made));
    wake = xTaskGetTickCount();
    check("rt_control", watch(&wake), "setpoint_not_reached");

    struct rt_result asked = rt_query(made.value, &status);
    jobs = atomic_load_explicit(&control.jobs, memory_order_acquire);
    check("rt_status", asked.error == 0 && status.period == reservation.period && status.jobs >= jobs, "rt_query");
    check("rt_in_time", status.overruns == 0 && status.missed == 0 && atomic_load(&control.off_grid) == 0, "late");

    struct rt_result deleted = rt_delete(made.value);
    jobs = atomic_load(&control.jobs);
    vTaskDelay(pdMS_TO_TICKS(10));
    check("rt_delete", deleted.error == 0 && jobs == atomic_load(&control.jobs), "rt_delete");
    check("rt_deleted", rt_query(made.value, &status).error == TACTUS_INVALID_PARAM, "it_is_still_there");

    record_samples("rt_release_latency", "control", "ns", control.latency_ns, jobs < SAMPLES_MAX ? jobs : SAMPLES_MAX);
    console_print("@tactus metric name=rt_jobs value=%u unit=count\n", jobs);
    console_print("@tactus metric name=rt_job_longest value=%lu unit=ticks\n", status.used_max);
    platform_power_off(false);
}

void rt_loop_main(void)
{
    xTaskCreateStatic(supervise, "supervise", sizeof supervisor_stack / sizeof *supervisor_stack, NULL, 1,
                      supervisor_stack, &supervisor_task);
    vTaskStartScheduler();
}
