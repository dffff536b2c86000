#include "plic.h"

#include <stddef.h>

#include "FreeRTOS.h"
#include "task.h"

#include "platform.h"
#include "sbi.h"
#include "tactus.h"

/* Interrupts served in one trap at most, so that a source that stays pending cannot starve the tick. */
#define CLAIMS_MAX 32

struct attachment {
    plic_handler *handler;
    void *argument;
};

static struct attachment attachments[PLIC_SOURCES_MAX + 1];

/* Highest source that is a device: a call completes its interrupt. Doorbells and faults, above it, need no call. */
#define DEVICES_MAX 62
/* Bit 0 of the page's sets: another vCPU's interrupt, which no vCPU sends here. */
#define PAGE_WORDS 2

/* The interrupt page, used when `paged`. */
static _Alignas(sizeof(struct tactus_interrupt_page)) struct tactus_interrupt_page page;
static bool paged;

/* Register layout: PLIC specification, "Memory Map". */
static volatile uint32_t *reg(uintptr_t offset)
{
    return (volatile uint32_t *)(platform.plic + offset);
}

/* Each hart has a machine context and then a supervisor one, as on QEMU's `virt` and in VMs (abi/src/map.rs). */
static uintptr_t context(void)
{
    return 2 * platform.hart + 1;
}

static volatile uint32_t *priority_of(uint32_t source)
{
    return reg(4 * source);
}

static volatile uint32_t *enables_of(uint32_t source)
{
    return reg(0x2000 + 0x80 * context() + 4 * (source / 32));
}

static volatile uint32_t *threshold(void)
{
    return reg(0x200000 + 0x1000 * context());
}

static volatile uint32_t *claim_complete(void)
{
    return reg(0x200004 + 0x1000 * context());
}

void plic_init(void)
{
    if (platform.plic == 0)
        return;
    for (uint32_t source = 0; source <= platform.plic_sources; source += 32)
        *enables_of(source) = 0;
    *threshold() = 0;
}

static void set_enabled(uint32_t source, bool enabled)
{
    if (!paged) {
        uint32_t bit = 1u << (source % 32);

        *enables_of(source) = enabled ? *enables_of(source) | bit : *enables_of(source) & ~bit;
        return;
    }
    uint64_t bit = 1ull << (source % 64);

    if (!enabled) {
        __atomic_fetch_and(&page.enabled[source / 64], ~bit, __ATOMIC_SEQ_CST);
        return;
    }
    __atomic_fetch_or(&page.enabled[source / 64], bit, __ATOMIC_SEQ_CST);
    /* An interrupt that is already pending is not signalled again: the next switch of tasks checks the page. */
    if (__atomic_load_n(&page.pending[source / 64], __ATOMIC_SEQ_CST) & bit)
        portYIELD();
}

static void serve(uint32_t source)
{
    if (source <= PLIC_SOURCES_MAX && attachments[source].handler != NULL)
        attachments[source].handler(attachments[source].argument);
}

/* Called by the port. Bounded: serves the interrupts pending at entry; later ones pend the software interrupt. */
static void serve_page(void)
{
    for (uint32_t word = 0; word < PAGE_WORDS; word++) {
        uint64_t enabled = __atomic_load_n(&page.enabled[word], __ATOMIC_SEQ_CST);

        if ((__atomic_load_n(&page.pending[word], __ATOMIC_RELAXED) & enabled) == 0)
            continue;
        /* Acknowledges the interrupts: from now on they may be raised again. */
        uint64_t taken = __atomic_fetch_and(&page.pending[word], ~enabled, __ATOMIC_SEQ_CST) & enabled;

        while (taken != 0) {
            uint32_t source = 64 * word + (uint32_t)__builtin_ctzll(taken);

            taken &= taken - 1;
            serve(source);
            if (source != 0 && source <= DEVICES_MAX)
                sbi_call(TACTUS_EXTENSION, TACTUS_INTERRUPT_END, source, 0);
        }
    }
}

bool plic_use_page(void)
{
    UBaseType_t mask = portSET_INTERRUPT_MASK_FROM_ISR();

    paged = sbi_call(TACTUS_EXTENSION, TACTUS_INTERRUPT_PAGE, (uintptr_t)&page, 0).error == 0;
    if (paged)
        pxPortSoftwareInterrupt = serve_page;
    portCLEAR_INTERRUPT_MASK_FROM_ISR(mask);
    return paged;
}

bool plic_attach(uint32_t source, uint32_t priority, plic_handler *handler, void *argument)
{
    if (platform.plic == 0 || source == 0 || source > platform.plic_sources ||
        source > PLIC_SOURCES_MAX || attachments[source].handler != NULL)
        return false;
    UBaseType_t mask = portSET_INTERRUPT_MASK_FROM_ISR();
    attachments[source] = (struct attachment){handler, argument};
    if (!paged)
        *priority_of(source) = priority;
    set_enabled(source, true);
    portCLEAR_INTERRUPT_MASK_FROM_ISR(mask);
    return true;
}

void plic_detach(uint32_t source)
{
    if (source == 0 || source > PLIC_SOURCES_MAX || attachments[source].handler == NULL)
        return;
    UBaseType_t mask = portSET_INTERRUPT_MASK_FROM_ISR();
    set_enabled(source, false);
    attachments[source].handler = NULL;
    portCLEAR_INTERRUPT_MASK_FROM_ISR(mask);
}

/* Called by the port: serves pending interrupts. External interrupts have priority over the timer's, so that a source
 * that stays pending would stop the tick: after CLAIMS_MAX in a row the next tick is served first. */
void vApplicationExternalInterrupt(void)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        uint32_t source = *claim_complete();

        if (source == 0)
            return;
        serve(source);
        *claim_complete() = source;
    }
    vPortDeferExternalInterrupts();
}
