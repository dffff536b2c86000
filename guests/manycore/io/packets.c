#include "packets.h"

#include "FreeRTOS.h"
#include "task.h"

#define TICK (configCPU_CLOCK_HZ / configTICK_RATE_HZ)
/* Cycles for which a waiting task polls before it blocks until the interface's interrupt: a tenth of a tick. A wake-up
 * takes some hundreds. */
#define LOOKING 10000

static TaskHandle_t waiting;

static void arrived(void)
{
    BaseType_t woken = pdFALSE;

    /* Disables the interrupts of both queues; only one is enabled. */
    mesh_interrupt(MESH_MESSAGES, false);
    vTaskNotifyGiveFromISR(waiting, &woken);
    portYIELD_FROM_ISR(woken);
}

/* Blocks until a packet arrives; in a critical section, polls instead. Separate from packet_await, to keep that
 * function short for responses that arrive soon. */
static __attribute__((noinline)) uint32_t await_asleep(enum mesh_queue queue, uint64_t deadline)
{
    for (;;) {
        uint64_t now = platform_time();
        uint32_t head;

        if (now > deadline)
            return 0;
        if (platform_interruptible()) {
            waiting = xTaskGetCurrentTaskHandle();
            platform_external = arrived;
            mesh_interrupt(queue, true);
            ulTaskNotifyTake(pdTRUE, (deadline - now) / TICK + 1);
            mesh_interrupt(queue, false);
        }
        head = mesh_first(queue);
        if (head != 0)
            return head;
    }
}

uint32_t packet_await(enum mesh_queue queue, uint64_t deadline)
{
    uint64_t until = platform_time() + LOOKING;

    do {
        uint32_t head = mesh_first(queue);

        if (head != 0)
            return head;
    } while (platform_time() < until);
    return await_asleep(queue, deadline);
}

void packet_pause(uint64_t until)
{
    uint64_t now = platform_time();

    /* Sleeps for whole ticks, of which the first is shorter, and polls for the rest. */
    if (platform_interruptible() && until > now + TICK)
        vTaskDelay((until - now) / TICK);
    while (platform_time() < until)
        ;
}

void packet_stray(uint32_t head)
{
    (void)head;
    mesh_skip(MESH_MESSAGES);
}
