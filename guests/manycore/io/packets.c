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

uint32_t packet_await(enum mesh_queue queue, uint64_t deadline)
{
    uint64_t begin = platform_time();

    for (;;) {
        uint32_t head = mesh_first(queue);
        uint64_t now;

        if (head != 0)
            return head;
        now = platform_time();
        if (now > deadline)
            return 0;
        if (now - begin < LOOKING)
            continue;
        waiting = xTaskGetCurrentTaskHandle();
        platform_external = arrived;
        mesh_interrupt(queue, true);
        ulTaskNotifyTake(pdTRUE, (deadline - now) / TICK + 1);
        mesh_interrupt(queue, false);
    }
}

void packet_pause(uint64_t until)
{
    uint64_t now = platform_time();

    /* Whole ticks; the first one is shorter. */
    if (until > now + TICK)
        vTaskDelay((until - now) / TICK);
    while (platform_time() < until)
        ;
}

void packet_stray(uint32_t head)
{
    (void)head;
    mesh_skip(MESH_MESSAGES);
}
