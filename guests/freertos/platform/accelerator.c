#include "accelerator.h"

#include <stddef.h>

#include "platform.h"
#include "plic.h"
#include "tactus.h"
#include "task.h"

/* Registers, in words (fabric/regs/virtual_device.rdl). */
#define ID 0
#define STAT 1
#define START 2
#define OVER 3
#define CMD 4
#define DATA_ADDR 5
#define DATA_SIZE 6
#define INT_CTRL 7
#define RESULT 8
#define CYCLES 9
#define CUSTOM0 16

#define KIND 0x5644
#define STAT_CONNECTED 0x1
#define STAT_UNFINISHED 0x4
#define INT_ENABLE 0x1
#define INT_OVER 0x100
#define RESULT_ERROR 0xf

#define PRIORITY 4
#define DOORBELLS 0x30000000
/* Ticks after which a task polls without an interrupt: the doorbell of a signal may be another device's. */
#define LOOK 1

/* Orders accesses to memory and to the device, as this vCPU and the device observe them. */
static inline void fence(void)
{
    __asm__ volatile("fence iorw, iorw" ::: "memory");
}

static void interrupted(void *argument)
{
    struct accelerator *device = argument;
    BaseType_t woken = pdFALSE;

    device->registers[INT_CTRL] = INT_ENABLE | INT_OVER;
    /* The readback makes the interrupt line low before the interrupt is completed. */
    (void)device->registers[INT_CTRL];
    xSemaphoreGiveFromISR(device->changed, &woken);
    portYIELD_FROM_ISR(woken);
}

static const struct virtual_device *find(uint32_t task)
{
    for (uint32_t i = 0; i < platform.accelerators; i++)
        if (platform.accelerator[i].task == task)
            return &platform.accelerator[i];
    return NULL;
}

bool accelerator_open(struct accelerator *device, uint32_t task)
{
    const struct virtual_device *found = find(task);

    if (found == NULL)
        return false;
    device->registers = (volatile uint32_t *)found->registers;
    device->slot = NULL;
    device->doorbell = NULL;
    if (device->registers[ID] >> 16 != KIND)
        return false;
    if (found->channel < platform.channels) {
        device->slot = (volatile uint32_t *)(platform.channel[found->channel].memory +
                                             (uintptr_t)found->interface * TACTUS_SLOT_SIZE);
        device->doorbell = (volatile uint32_t *)(uintptr_t)(DOORBELLS + 4 * (uint64_t)found->channel);
    }
    device->changed = xSemaphoreCreateBinaryStatic(&device->memory);
    if (!plic_attach(found->source, PRIORITY, interrupted, device))
        return false;
    device->registers[INT_CTRL] = INT_ENABLE | INT_OVER;
    return true;
}

bool accelerator_has_region(const struct accelerator *device)
{
    return (device->registers[STAT] & STAT_CONNECTED) != 0;
}

static uint32_t signal_word(const struct accelerator *device)
{
    return device->slot == NULL ? 0 : device->slot[TACTUS_SLOT_SIGNAL / 4];
}

uint32_t accelerator_signal(const struct accelerator *device)
{
    return signal_word(device) & 0xff;
}

/* Sends the device manager a command; does nothing without a channel to it. */
static bool command(const struct accelerator *device, uint32_t kind)
{
    if (device->slot == NULL) {
        return false;
    }
    uint32_t last = device->slot[TACTUS_SLOT_COMMAND / 4];

    device->slot[TACTUS_SLOT_COMMAND / 4] = ((last & ~0xffU) + 0x100) | kind;
    fence();
    *device->doorbell = 1;
    return true;
}

static void start(struct accelerator *device, const struct accelerator_computation *computation)
{
    (void)xSemaphoreTake(device->changed, 0);
    device->registers[DATA_ADDR] = computation->input;
    device->registers[DATA_SIZE] = computation->length;
    device->registers[CUSTOM0] = computation->output;
    device->registers[CMD] = computation->parameter;
    device->registers[INT_CTRL] = INT_ENABLE | INT_OVER;
    /* The input is in memory before the hardware task reads it. */
    fence();
    device->registers[START] = 1;
}

static bool is_over(const struct accelerator *device)
{
    return (device->registers[START] & 1) == 0 && (device->registers[OVER] & 1) != 0;
}

static uint32_t outcome(const struct accelerator *device)
{
    uint32_t error = device->registers[RESULT] & RESULT_ERROR;

    /* Orders the reads of the task's output after its completion. */
    fence();
    return error;
}

uint32_t accelerator_run(struct accelerator *device, const struct accelerator_computation *computation, uint32_t *cycles)
{
    start(device, computation);
    while (!is_over(device)) {
        (void)xSemaphoreTake(device->changed, portMAX_DELAY);
    }
    if (cycles != NULL) {
        *cycles = device->registers[CYCLES];
    }
    return outcome(device);
}

uint32_t accelerator_run_or(struct accelerator *device, const struct accelerator_computation *computation,
                            TickType_t patience,
                            void (*software)(const struct accelerator_computation *computation))
{
    TickType_t begin = xTaskGetTickCount();
    bool cancelled = false;

    start(device, computation);
    while (!is_over(device)) {
        bool is_taken = (device->registers[STAT] & (STAT_CONNECTED | STAT_UNFINISHED)) == STAT_UNFINISHED;
        bool is_late = !accelerator_has_region(device) && xTaskGetTickCount() - begin >= patience;

        if ((is_taken || is_late) && !cancelled) {
            /* A computation that runs again by now continues, and its result counts. */
            cancelled = command(device, TACTUS_COMMAND_CANCEL);
        }
        (void)xSemaphoreTake(device->changed, LOOK);
    }
    uint32_t error = outcome(device);

    if (error != ACCELERATOR_TAKEN && error != ACCELERATOR_GIVEN_UP) {
        return error;
    }
    software(computation);
    return ACCELERATOR_SOFTWARE;
}
