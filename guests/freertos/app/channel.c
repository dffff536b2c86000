/*
 * One end of a channel. The program at the other end (guests/runtime/src/bin/channel-selftest.rs) sends commands as
 * records and checks the answers. `page=1` delivers doorbells by an interrupt page (docs/src/how-to/use-a-channel.md).
 */

#include <string.h>

#include "FreeRTOS.h"
#include "semphr.h"
#include "task.h"

#include "tactus_channel.h"
#include "tactus_message.h"

#include "console.h"
#include "platform.h"
#include "plic.h"

void channel_main(void);

/* Commands of the other end. */
enum command { ECHO = 1, SEND = 2, DRAIN = 3, SEND_LATER = 4, RESTART = 5, END = 6 };

/* Bytes of a message (systems/channel.toml), and of the longest record. */
#define MESSAGE_SIZE 1024
#define RECORD_SIZE 1024
/* Delay of the commands that act "later". */
#define LATER pdMS_TO_TICKS(5)
/* Time without a doorbell after which the ring is polled. */
#define PATIENCE pdMS_TO_TICKS(100)

static StaticTask_t serve_task;
static StackType_t serve_stack[1024];
static StaticSemaphore_t doorbell_semaphore;
static SemaphoreHandle_t doorbell;
static struct tactus_producer producer;
static struct tactus_consumer consumer;
static unsigned char record[RECORD_SIZE], message[MESSAGE_SIZE];

static void rung(void *unused)
{
    BaseType_t woken = pdFALSE;

    (void)unused;
    xSemaphoreGiveFromISR(doorbell, &woken);
    portYIELD_FROM_ISR(woken);
}

static void open_rings(void)
{
    const struct channel *channel = &platform.channel[0];

    if (!tactus_ring_open((void *)channel->memory, channel->size, channel->end, &producer, &consumer))
        platform_fail("channel", "its memory is too small");
}

/* Sends a record, and waits while the ring is full. */
static void answer(const void *bytes, size_t length)
{
    enum tactus_ring_result result;

    while ((result = tactus_ring_send(&producer, bytes, length)) == TACTUS_RING_FULL) {
        tactus_doorbell((void *)(uintptr_t)TACTUS_DOORBELLS, 0);
        vTaskDelay(1);
    }
    if (result != TACTUS_RING_OK)
        platform_fail("channel", "the other end's position is impossible");
    tactus_doorbell((void *)(uintptr_t)TACTUS_DOORBELLS, 0);
}

static void echo(size_t length)
{
    for (size_t i = 1; i < length; i++)
        record[i] = (unsigned char)~record[i];
    answer(record, length);
}

/* Sends one message for each priority, and answers with the number of messages sent. */
static void send(const unsigned char *priorities, size_t count)
{
    unsigned char sent = 0;

    for (size_t i = 0; i < count; i++) {
        memset(message, (int)i, sizeof message);
        if (tactus_message_send(0, message, sizeof message, priorities[i], 0) == 0)
            sent++;
    }
    answer(&sent, 1);
}

/* Receives all pending messages; the other end numbers its messages. */
static void drain(void)
{
    static uint32_t expected;
    unsigned char count = 0;
    uint32_t number;
    size_t length;

    vTaskDelay(LATER);
    while (tactus_message_receive(0, message, sizeof message, 0, &length) == 0) {
        memcpy(&number, message, sizeof number);
        if (length != sizeof message || number != expected++)
            platform_fail("message", "not the one that was to come");
        count++;
    }
    answer(&count, 1);
}

static void send_later(void)
{
    vTaskDelay(LATER);
    if (tactus_message_send(0, "\x5a", 1, 0, 0) != 0)
        platform_fail("message", "there is no room");
}

/* Executes the command in a record. */
static void serve(size_t length)
{
    switch (length > 0 ? record[0] : 0) {
    case ECHO:
        echo(length);
        break;
    case SEND:
        send(&record[1], length - 1);
        break;
    case DRAIN:
        drain();
        break;
    case SEND_LATER:
        send_later();
        break;
    case RESTART:
        open_rings();
        break;
    case END:
        console_print("@tactus pass name=freertos-channel\n");
        platform_power_off(false);
    default:
        platform_fail("channel", "an unknown command");
    }
}

static void serve_loop(void *unused)
{
    size_t length;

    (void)unused;
    for (;;) {
        switch (tactus_ring_receive(&consumer, record, sizeof record, &length)) {
        case TACTUS_RING_OK:
            serve(length);
            break;
        case TACTUS_RING_EMPTY:
            xSemaphoreTake(doorbell, PATIENCE);
            break;
        case TACTUS_RING_RESTARTED:
            break; /* The records that follow belong to the new epoch. */
        default:
            platform_fail("channel", "the other end has written what is impossible");
        }
    }
}

void channel_main(void)
{
    static const char by_page[] = "page=1";

    if (platform.channels == 0)
        platform_fail("channel", "the system gives it none");
    doorbell = xSemaphoreCreateBinaryStatic(&doorbell_semaphore);
    /* Not reached natively, where there is neither an interrupt page nor a channel. */
    if (memcmp(platform.bootargs, by_page, sizeof by_page) == 0)
        configASSERT(plic_use_page());
    configASSERT(plic_attach(platform.channel[0].source, 1, rung, NULL));
    open_rings();
    xTaskCreateStatic(serve_loop, "serve", sizeof serve_stack / sizeof *serve_stack, NULL, 1, serve_stack, &serve_task);
    vTaskStartScheduler();
}
