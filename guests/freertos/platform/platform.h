/*
 * The machine as an application of this folder sees it, natively and in a VM alike. All of it is read
 * from the devicetree that the image receives at its entry.
 */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

/* Capacity for channels; further ones are ignored (`platform.channels_ignored`). */
#define PLATFORM_CHANNELS_MAX 8
/* Capacity for virtual devices: the number of the fabric's interfaces. */
#define PLATFORM_ACCELERATORS_MAX 8
/* Ports to the I/O hypervisor that a VM can have at most. */
#define PLATFORM_IO_PORTS_MAX 4
/* Bytes of the boot arguments that are kept, including the terminator. */
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

/* A virtual device, to which an accelerator can be connected (accelerator.h). */
struct virtual_device {
    /* Address of its page. */
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
    /* Address of its page. */
    uintptr_t registers;
    /* PLIC source of its interrupt. */
    uint32_t source;
    /* The devices that the port may use, a bit each. */
    uint32_t devices;
};

/* src/devicetree.rs declares the same members, in the same order and with the same types. */
struct platform {
    /* The hart or vCPU that runs this. */
    uint64_t hart;
    /* Ticks of the `time` CSR in a second. */
    uint64_t timebase_hz;
    /* Address of the 16550; 0: none, and the firmware is the console. log2 of the distance of its registers. */
    uintptr_t uart;
    uint32_t uart_shift;
    uint32_t uart_source;
    /* Address of the PLIC; 0: none. Its highest source. */
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
    /* Address of the page of timed I/O; 0: none (timed_io.h). */
    uintptr_t timed_io;
    /* /chosen/bootargs, zero-terminated, truncated to PLATFORM_BOOTARGS_MAX. */
    char bootargs[PLATFORM_BOOTARGS_MAX];
};

_Static_assert(sizeof(struct platform) == 584, "struct platform differs from src/devicetree.rs");

extern struct platform platform;

/* The application's entry, which must not return: creates tasks and starts the scheduler. Called on the interrupt
 * stack with interrupts off, when the console, PLIC and clock are initialized. */
void app_main(void);

/* Powers the machine or the VM off (SBI system reset). `failed`: reason "system failure". */
__attribute__((noreturn)) void platform_power_off(bool failed);

/* Reports `reason` (and `value`, if not null) on the console, and powers off as failed. For any context. */
__attribute__((noreturn)) void platform_fail(const char *reason, const char *value);

/* Rings the other end of channel `number` (Tactus hypercall). False: there is no such
 * channel, or no hypervisor. */
bool channel_notify(uint32_t number);

#endif
