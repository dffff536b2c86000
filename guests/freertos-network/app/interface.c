/*
 * lwIP's interface on the VM's network card. A task of its own receives; lwIP sends on the task that calls it. All
 * accesses to the card are under lwIP's lock.
 */

#include "interface.h"

#include "FreeRTOS.h"
#include "semphr.h"
#include "task.h"

#include "lwip/etharp.h"
#include "lwip/netif.h"
#include "lwip/tcpip.h"
#include "netif/ethernet.h"

#include "network_card.h"
#include "platform.h"
#include "plic.h"

/* How long the VM that emulates the card may take to start, in looks that are a tick apart. */
#define LOOKS 10000
/* The card is looked at so often at least. */
#define PATIENCE pdMS_TO_TICKS(1000)
#define PRIORITY 5

static struct netif interface;
static ip4_addr_t own;
static StaticTask_t task;
static StackType_t stack[1024];
static StaticSemaphore_t rung_semaphore, ready_semaphore;
static SemaphoreHandle_t rung, ready;
/* A frame that was received, or is to be sent; under lwIP's lock. */
static uint8_t frame[NETWORK_CARD_FRAME_MAX];

static void ring(void *unused)
{
    BaseType_t woken = pdFALSE;

    (void)unused;
    xSemaphoreGiveFromISR(rung, &woken);
    portYIELD_FROM_ISR(woken);
}

static err_t send(struct netif *on, struct pbuf *packet)
{
    (void)on;
    if (packet->tot_len > sizeof frame)
        return ERR_BUF;
    pbuf_copy_partial(packet, frame, packet->tot_len, 0);
    /* A card that is broken is started again by the task that receives. */
    return network_card_send(frame, packet->tot_len) == 0 ? ERR_OK : ERR_IF;
}

static err_t describe(struct netif *on)
{
    on->name[0] = 'e';
    on->name[1] = 'n';
    on->output = etharp_output;
    on->linkoutput = send;
    on->mtu = 1500;
    on->hwaddr_len = 6;
    on->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

/* Starts the card, again where it is broken: its frames are lost, as on any wire. */
static void start_card(void)
{
    bool started = false;

    for (unsigned looks = 0; !started && looks < LOOKS; looks++) {
        LOCK_TCPIP_CORE();
        started = network_card_start(interface.hwaddr);
        UNLOCK_TCPIP_CORE();
        if (!started)
            vTaskDelay(1);
    }
    if (!started)
        platform_fail("network card", "it does not start");
}

/* Takes what has arrived. False: the card is broken. */
static bool receive(void)
{
    struct pbuf *packet;
    int length;

    if (!network_card_acknowledge())
        return false;
    while ((length = network_card_receive(frame)) > 0) {
        packet = pbuf_alloc(PBUF_RAW, (u16_t)length, PBUF_POOL);
        if (packet == NULL)
            continue; /* Lost, as on any wire. */
        pbuf_take(packet, frame, (u16_t)length);
        if (interface.input(packet, &interface) != ERR_OK)
            pbuf_free(packet);
    }
    return length == 0;
}

static void receive_loop(void *unused)
{
    ip4_addr_t mask, gateway;
    bool works;

    (void)unused;
    start_card();
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 0, 0, 0, 0);
    LOCK_TCPIP_CORE();
    netif_add(&interface, &own, &mask, &gateway, NULL, describe, ethernet_input);
    netif_set_default(&interface);
    netif_set_up(&interface);
    UNLOCK_TCPIP_CORE();
    xSemaphoreGive(ready);
    for (;;) {
        LOCK_TCPIP_CORE();
        works = receive();
        UNLOCK_TCPIP_CORE();
        if (!works)
            start_card();
        xSemaphoreTake(rung, PATIENCE);
    }
}

static void lwip_is_up(void *unused)
{
    (void)unused;
    xSemaphoreGive(ready);
}

void interface_start(const ip4_addr_t *address)
{
    int channel = network_card_find();

    if (channel < 0 || (uint32_t)channel >= platform.channels)
        platform_fail("network card", "there is none, or its channel has less than 64 KiB");
    own = *address;
    rung = xSemaphoreCreateBinaryStatic(&rung_semaphore);
    ready = xSemaphoreCreateBinaryStatic(&ready_semaphore);
    tcpip_init(lwip_is_up, NULL);
    xSemaphoreTake(ready, portMAX_DELAY);
    configASSERT(plic_attach(platform.channel[channel].source, 1, ring, NULL));
    xTaskCreateStatic(receive_loop, "receive", sizeof stack / sizeof *stack, NULL, PRIORITY, stack, &task);
    xSemaphoreTake(ready, portMAX_DELAY);
}
