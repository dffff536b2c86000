/*
 * Virtual devices, behind which an accelerator of the fabric stands when the device manager has given it a region
 * (docs/src/reference/regions.md, docs/src/reference/device-manager.md).
 *
 * Two models. Native: write and wait, as with any device: accelerator_run. Guest: the VM is told when it waits for a region, has one, or has lost it,
 * and may do the work itself meanwhile: accelerator_run_or. A device is one task's at a time.
 */
#ifndef ACCELERATOR_H
#define ACCELERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "semphr.h"

/* Results: those of the task are 1 to 6 (docs/src/reference/hardware-tasks.md). */
#define ACCELERATOR_DONE 0
/* The region was taken from a task that did not stop. */
#define ACCELERATOR_TAKEN 14
/* There was no region for it, or it was cancelled. */
#define ACCELERATOR_GIVEN_UP 15
/* accelerator_run_or: the software has done it. */
#define ACCELERATOR_SOFTWARE 16

/* What is to be computed. Addresses are in bytes from the start of the VM's memory, and multiples of 8. */
struct accelerator_computation {
    uint32_t input;
    uint32_t length;
    uint32_t output;
    uint32_t parameter;
};

/* A virtual device. */
struct accelerator {
    volatile uint32_t *registers;
    /* The slot in the channel to the device manager, and its doorbell; NULL where the VM is not told. */
    volatile uint32_t *slot;
    volatile uint32_t *doorbell;
    SemaphoreHandle_t changed;
    StaticSemaphore_t memory;
};

/* The VM's virtual device of the hardware task of that number, as the devicetree describes it. Where the VM has a channel to the device manager, it is told by it what
 * becomes of its requests. False: there is no such device, or its interrupt is taken. */
bool accelerator_open(struct accelerator *device, uint32_t task);

/* Whether a region stands behind it. */
bool accelerator_has_region(const struct accelerator *device);

/* The last signal, TACTUS_SIGNAL_...; 0: none yet, or it is not told. */
uint32_t accelerator_signal(const struct accelerator *device);

/* Native model: computes, and waits until that is over; other tasks run meanwhile. `cycles`, unless NULL, gets what it took of the fabric's. */
uint32_t accelerator_run(struct accelerator *device, const struct accelerator_computation *computation, uint32_t *cycles);

/* Guest model: the same, but `software` does it when there is no region `patience` ticks after the start, or when the region is taken away. */
uint32_t accelerator_run_or(struct accelerator *device, const struct accelerator_computation *computation,
                            TickType_t patience,
                            void (*software)(const struct accelerator_computation *computation));

#endif
