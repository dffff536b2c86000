#include "kernel.h"

#include <stdint.h>
#include <string.h>

#include "FreeRTOS.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "stream_buffer.h"
#include "task.h"
#include "timers.h"

/* Timeout of every operation here. */
#define PATIENCE pdMS_TO_TICKS(100)
#define WORDS 8
#define ECHO_BIT 1u
#define TIMER_BIT 2u

struct check {
    QueueHandle_t queue;
    StreamBufferHandle_t stream;
    EventGroupHandle_t events;
    SemaphoreHandle_t mutex;
};

/* Forwards the queue's items to the stream, and signals the end. */
static void echo(void *argument)
{
    struct check *check = argument;
    uint32_t word;

    for (uint32_t i = 0; i < WORDS && xQueueReceive(check->queue, &word, PATIENCE) == pdTRUE; i++) {
        xSemaphoreTake(check->mutex, PATIENCE);
        (void)xStreamBufferSend(check->stream, &word, sizeof word, PATIENCE);
        xSemaphoreGive(check->mutex);
    }
    xEventGroupSetBits(check->events, ECHO_BIT);
    vTaskDelete(NULL);
}

static void expired(TimerHandle_t timer)
{
    const struct check *check = pvTimerGetTimerID(timer);

    xEventGroupSetBits(check->events, TIMER_BIT);
}

static const char *run(struct check *check, TimerHandle_t timer)
{
    TickType_t begin = xTaskGetTickCount();

    if (xTimerStart(timer, PATIENCE) != pdPASS)
        return "timer";
    for (uint32_t word = 1; word <= WORDS; word++) {
        uint32_t back = 0;

        if (xQueueSend(check->queue, &word, PATIENCE) != pdTRUE)
            return "queue";
        if (xStreamBufferReceive(check->stream, &back, sizeof back, PATIENCE) != sizeof back || back != word)
            return "stream-buffer";
    }
    if (xEventGroupWaitBits(check->events, ECHO_BIT | TIMER_BIT, pdTRUE, pdTRUE, PATIENCE) != (ECHO_BIT | TIMER_BIT))
        return "event-group";
    if (xTaskGetTickCount() == begin)
        return "tick";
    return NULL;
}

const char *kernel_check(void)
{
    static struct check check;
    TimerHandle_t timer = xTimerCreate("check", 2, pdFALSE, &check, expired);

    check.queue = xQueueCreate(2, sizeof(uint32_t));
    check.stream = xStreamBufferCreate(64, sizeof(uint32_t));
    check.events = xEventGroupCreate();
    check.mutex = xSemaphoreCreateMutex();
    if (timer == NULL || check.queue == NULL || check.stream == NULL || check.events == NULL || check.mutex == NULL ||
        xTaskCreate(echo, "echo", configMINIMAL_STACK_SIZE, &check, 2, NULL) != pdPASS)
        return "heap";
    return run(&check, timer);
}
