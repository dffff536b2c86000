/*
 * What an application of this folder finds on the machine, natively and in a VM alike. All of it is read
 * from the devicetree that the image is entered with.
 */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

/* Channels that are remembered; further ones are ignored (`platform.channels_ignored`). */
#define PLATFORM_CHANNELS_MAX 8
/* Virtual devices that are remembered: as many as the fabric has interfaces. */
#define PLATFORM_ACCELERATORS_MAX 8
/* Ports to the I/O hypervisor that a VM can have. */
#define PLATFORM_IO_PORTS_MAX 4
/* Bytes of the boot arguments that are kept, terminator included. */
#define PLATFORM_BOOTARGS_MAX 64

/* A channel to another VM. */
struct channel {
    /* The shared memory. */
    uintptr_t memory;
    uint64_t size;
    /* PLIC source of the doorbell that the peer rings. */
    uint32_t source;
    /* Which end this is: 0 or 1 (tactus_channel.h). */
    uint32_t end;
};

/* A virtual device, behind which an accelerator stands (accelerator.h). */
struct virtual_device {
    /* Its page. */
    uintptr_t registers;
    /* The number of its hardware task, and of its interface. */
    uint32_t task;
    uint32_t interface;
    /* PLIC source of its interrupt. */
    uint32_t source;
    /* The number of the channel to the device manager; UINT32_MAX: there is none. */
    uint32_t channel;
};

/* A port to the I/O hypervisor (io_port.h). */
struct io_port_page {
    /* Its page. */
    uintptr_t registers;
    /* PLIC source of its interrupt. */
    uint32_t source;
    /* The devices that it may use, a bit each. */
    uint32_t devices;
};

/* The order and the types of the members are known to src/devicetree.rs as well. */
struct platform {
    /* The hart or vCPU that runs this. */
    uint64_t hart;
    /* Ticks of the `time` CSR in a second. */
    uint64_t timebase_hz;
    /* The 16550: 0 if there is none (the console is then the firmware's); log2 of the distance of its registers. */
    uintptr_t uart;
    uint32_t uart_shift;
    uint32_t uart_source;
    /* The PLIC: 0 if there is none; its highest source. */
    uintptr_t plic;
    uint32_t plic_sources;
    /* Channels in the order of their addresses, which is that of their numbers. */
    uint32_t channels;
    struct channel channel[PLATFORM_CHANNELS_MAX];
    uint32_t channels_ignored;
    uint32_t accelerators;
    struct virtual_device accelerator[PLATFORM_ACCELERATORS_MAX];
    uint32_t io_ports;
    /* The lines of timed I/O that have pins, a bit each. */
    uint32_t timed_io_lines;
    struct io_port_page io_port[PLATFORM_IO_PORTS_MAX];
    /* The page of timed I/O: 0 if there is none (timed_io.h). */
    uintptr_t timed_io;
    /* /chosen/bootargs, terminated; cut at PLATFORM_BOOTARGS_MAX. */
    char bootargs[PLATFORM_BOOTARGS_MAX];
};

_Static_assert(sizeof(struct platform) == 584, "struct platform differs from src/devicetree.rs");

extern struct platform platform;

/* To be supplied by the application, and not to return: makes tasks, starts the scheduler. Called on the interrupt
 * stack with interrupts off; the console, PLIC and clock work. */
void app_main(void);

/* Powers the machine or the VM off (SBI system reset). `failed`: reason "system failure". */
__attribute__((noreturn)) void platform_power_off(bool failed);

/* Reports `reason` (and `value`, if not null) on the console, and powers off as failed. For any context. */
__attribute__((noreturn)) void platform_fail(const char *reason, const char *value);

/* Tells the other end of channel `number` that there is something for it (Tactus hypercall). False: there is no such
 * channel, or no hypervisor. */
bool channel_notify(uint32_t number);

#endif
