/*
 * Virtual devices. The device manager connects each to an accelerator of the fabric by assigning it a region
 * (docs/src/reference/regions.md, docs/src/reference/device-manager.md).
 *
 * Two models. Native: start and wait, as with any device: accelerator_run. Guest: the VM is notified when it waits for,
 * receives or loses a region, and may compute in software meanwhile: accelerator_run_or. Only one task uses a device.
 */
#ifndef ACCELERATOR_H
#define ACCELERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "semphr.h"

/* Results: 1 to 6 are those of the task (docs/src/reference/hardware-tasks.md). */
#define ACCELERATOR_DONE 0
/* The region was revoked from a task that did not stop. */
#define ACCELERATOR_TAKEN 14
/* There was no region for the computation, or it was cancelled. */
#define ACCELERATOR_GIVEN_UP 15
/* accelerator_run_or: the computation was done in software. */
#define ACCELERATOR_SOFTWARE 16

/* A computation. Addresses are in bytes from the start of the VM's memory, and multiples of 8. */
struct accelerator_computation {
    uint32_t input;
    uint32_t length;
    uint32_t output;
    uint32_t parameter;
};

/* A virtual device. */
struct accelerator {
    volatile uint32_t *registers;
    /* The slot in the channel to the device manager, and its doorbell; NULL: the VM is not notified. */
    volatile uint32_t *slot;
    volatile uint32_t *doorbell;
    SemaphoreHandle_t changed;
    StaticSemaphore_t memory;
};

/* Opens the VM's virtual device of a hardware task, as the devicetree describes it. With a channel to the device
 * manager, the VM is notified of its requests' states. False: no such device, or its interrupt is taken. */
bool accelerator_open(struct accelerator *device, uint32_t task);

/* Whether the device is connected to a region. */
bool accelerator_has_region(const struct accelerator *device);

/* The last signal, TACTUS_SIGNAL_...; 0: none yet, or the VM is not notified. */
uint32_t accelerator_signal(const struct accelerator *device);

/* Native model: computes; other tasks run until completion. Stores the fabric's cycles in `cycles` unless NULL. */
uint32_t accelerator_run(struct accelerator *device, const struct accelerator_computation *computation, uint32_t *cycles);

/* Guest model: also calls `software`, if there is no region `patience` ticks after the start, or it is revoked. */
uint32_t accelerator_run_or(struct accelerator *device, const struct accelerator_computation *computation,
                            TickType_t patience,
                            void (*software)(const struct accelerator_computation *computation));

#endif
