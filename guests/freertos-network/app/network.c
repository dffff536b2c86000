/*
 * An MQTT client (OASIS MQTT 3.1.1): a plant's controller that publishes a temperature and is told a set point. It
 * connects to a broker, subscribes to `plant/setpoint`, publishes `plant/temperature` with quality of service 1, and
 * waits for the set point of each before it publishes the next.
 *
 * Boot arguments: `address` and `broker`, this guest's and the broker's; `values` (default 20), how many it publishes.
 */

#include "FreeRTOS.h"
#include "semphr.h"
#include "task.h"

#include <string.h>

#include "lwip/apps/mqtt.h"
#include "lwip/ip4_addr.h"
#include "lwip/tcpip.h"

#include "arguments.h"
#include "clock.h"
#include "console.h"
#include "interface.h"
#include "platform.h"

void network_main(void);

#define PORT 1883
#define PRIORITY 3
/* From one attempt to connect to the next, and how many there are: the broker may start later. */
#define RETRY pdMS_TO_TICKS(500)
#define ATTEMPTS 100
/* How long an answer may take. */
#define PATIENCE pdMS_TO_TICKS(10000)
/* The set point that belongs to a temperature is so much above. */
#define ABOVE 5
#define TEXT_MAX 24

static StaticTask_t task;
static StackType_t stack[2048];
static StaticSemaphore_t answered_semaphore, told_semaphore;
static SemaphoreHandle_t answered, told;
static mqtt_client_t *client;
static mqtt_connection_status_t connection;
static err_t answer;
/* The set point as it arrives. */
static char setpoint[TEXT_MAX];
static size_t setpoint_size;

static void connected(mqtt_client_t *from, void *unused, mqtt_connection_status_t status)
{
    (void)from;
    (void)unused;
    connection = status;
    xSemaphoreGive(answered);
}

static void requested(void *unused, err_t result)
{
    (void)unused;
    answer = result;
    xSemaphoreGive(answered);
}

static void arrives(void *unused, const char *topic, u32_t size)
{
    (void)unused;
    (void)size;
    setpoint_size = strlen(topic) == 14 && memcmp(topic, "plant/setpoint", 14) == 0 ? 0 : sizeof setpoint;
}

static void arrived(void *unused, const u8_t *bytes, u16_t size, u8_t flags)
{
    (void)unused;
    if (size >= sizeof setpoint - setpoint_size || setpoint_size >= sizeof setpoint) {
        setpoint_size = sizeof setpoint;
        return;
    }
    memcpy(setpoint + setpoint_size, bytes, size);
    setpoint_size += size;
    setpoint[setpoint_size] = 0;
    if ((flags & MQTT_DATA_FLAG_LAST) != 0)
        xSemaphoreGive(told);
}

/* Reads an address of a boot argument. */
static ip4_addr_t address_argument(const char *name)
{
    const char *text = argument(name);
    char copy[16] = "";
    ip4_addr_t address;

    for (size_t i = 0; text != NULL && i < sizeof copy - 1 && text[i] > ' '; i++)
        copy[i] = text[i];
    if (!ip4addr_aton(copy, &address))
        platform_fail(name, "this boot argument is to be an address, such as 10.0.2.4");
    return address;
}

static void connect(const ip4_addr_t *broker)
{
    const struct mqtt_connect_client_info_t who = {.client_id = "freertos", .keep_alive = 60};
    err_t result;

    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        LOCK_TCPIP_CORE();
        result = mqtt_client_connect(client, broker, PORT, connected, NULL, &who);
        UNLOCK_TCPIP_CORE();
        if (result == ERR_OK && xSemaphoreTake(answered, PATIENCE) == pdTRUE && connection == MQTT_CONNECT_ACCEPTED)
            return;
        LOCK_TCPIP_CORE();
        mqtt_disconnect(client);
        UNLOCK_TCPIP_CORE();
        vTaskDelay(RETRY);
    }
    platform_fail("mqtt", "the broker accepts no connection");
}

/* Waits for the answer to a request that was made. */
static void await(const char *what, err_t made)
{
    if (made != ERR_OK || xSemaphoreTake(answered, PATIENCE) != pdTRUE || answer != ERR_OK)
        platform_fail(what, "the broker does not acknowledge it");
}

/* Writes a number in decimal digits, and gives how many these are. */
static u16_t decimal(uint64_t number, char text[TEXT_MAX])
{
    char digits[TEXT_MAX];
    u16_t count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    for (u16_t i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    return count;
}

static void control(void *unused)
{
    const ip4_addr_t address = address_argument("address="), broker = address_argument("broker=");
    const uint64_t values = argument_number("values=", 20);
    uint64_t round_trip_max = 0;
    char text[TEXT_MAX];
    err_t made;

    (void)unused;
    interface_start(&address);
    LOCK_TCPIP_CORE();
    client = mqtt_client_new();
    UNLOCK_TCPIP_CORE();
    configASSERT(client != NULL);
    connect(&broker);
    LOCK_TCPIP_CORE();
    mqtt_set_inpub_callback(client, arrives, arrived, NULL);
    made = mqtt_subscribe(client, "plant/setpoint", 0, requested, NULL);
    UNLOCK_TCPIP_CORE();
    await("mqtt subscription", made);
    for (uint64_t value = 0; value < values; value++) {
        const uint64_t begin = clock_time();
        u16_t size = decimal(20 + value, text);

        LOCK_TCPIP_CORE();
        made = mqtt_publish(client, "plant/temperature", text, size, 1, 0, requested, NULL);
        UNLOCK_TCPIP_CORE();
        await("mqtt publication", made);
        if (xSemaphoreTake(told, PATIENCE) != pdTRUE)
            platform_fail("mqtt", "no set point arrives");
        if (clock_time() - begin > round_trip_max)
            round_trip_max = clock_time() - begin;
        size = decimal(20 + value + ABOVE, text);
        if (size != setpoint_size || memcmp(text, setpoint, size) != 0)
            platform_fail("mqtt", "the set point is not that of this temperature");
    }
    LOCK_TCPIP_CORE();
    mqtt_disconnect(client);
    UNLOCK_TCPIP_CORE();
    console_print("@tactus metric name=mqtt_values value=%lu unit=count\n", values);
    console_print("@tactus metric name=mqtt_round_trip_max value=%lu unit=ns\n", clock_nanoseconds(round_trip_max));
    console_print("@tactus pass name=freertos-network\n");
    /* The end of the connection is to be sent. */
    vTaskDelay(pdMS_TO_TICKS(100));
    platform_power_off(false);
}

void network_main(void)
{
    answered = xSemaphoreCreateBinaryStatic(&answered_semaphore);
    told = xSemaphoreCreateBinaryStatic(&told_semaphore);
    xTaskCreateStatic(control, "control", sizeof stack / sizeof *stack, NULL, PRIORITY, stack, &task);
    vTaskStartScheduler();
}
