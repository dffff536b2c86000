#include "packets.h"

#include "FreeRTOS.h"
#include "task.h"

#define TICK (configCPU_CLOCK_HZ / configTICK_RATE_HZ)
/* Cycles for which the task that waits looks itself, before it leaves the tile to others until the interface interrupts: a tenth of a tick. Coming back takes
 * some hundreds. */
#define LOOKING 10000

static TaskHandle_t waiting;

static void arrived(void)
{
    BaseType_t woken = pdFALSE;

    /* Both queues': one is enabled. */
    mesh_interrupt(MESH_MESSAGES, false);
    vTaskNotifyGiveFromISR(waiting, &woken);
    portYIELD_FROM_ISR(woken);
}

/* Leaves the tile to others until something comes; in a critical section there is nobody to leave it to. Not a part of packet_await: that is short where the
 * answer is there soon. */
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

    /* Whole ticks; the first one is shorter. */
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
