#include "plic.h"

#include <stddef.h>

#include "FreeRTOS.h"
#include "task.h"

#include "platform.h"

/* Interrupts served in one trap at most: a source that does not fall silent must not keep the tick out. */
#define CLAIMS_MAX 32

struct attachment {
    plic_handler *handler;
    void *argument;
};

static struct attachment attachments[PLIC_SOURCES_MAX + 1];

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

bool plic_attach(uint32_t source, uint32_t priority, plic_handler *handler, void *argument)
{
    if (platform.plic == 0 || source == 0 || source > platform.plic_sources ||
        source > PLIC_SOURCES_MAX || attachments[source].handler != NULL)
        return false;
    UBaseType_t mask = portSET_INTERRUPT_MASK_FROM_ISR();
    attachments[source] = (struct attachment){handler, argument};
    *priority_of(source) = priority;
    *enables_of(source) |= 1u << (source % 32);
    portCLEAR_INTERRUPT_MASK_FROM_ISR(mask);
    return true;
}

void plic_detach(uint32_t source)
{
    if (source == 0 || source > PLIC_SOURCES_MAX || attachments[source].handler == NULL)
        return;
    UBaseType_t mask = portSET_INTERRUPT_MASK_FROM_ISR();
    *enables_of(source) &= ~(1u << (source % 32));
    attachments[source].handler = NULL;
    portCLEAR_INTERRUPT_MASK_FROM_ISR(mask);
}

/* Called by the port: serves what is pending. External interrupts come before the timer's, so a source that never falls silent
 * would stop the tick: after CLAIMS_MAX in a row the next tick comes first. */
void vApplicationExternalInterrupt(void)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        uint32_t source = *claim_complete();

        if (source == 0)
            return;
        if (source <= PLIC_SOURCES_MAX && attachments[source].handler != NULL)
            attachments[source].handler(attachments[source].argument);
        *claim_complete() = source;
    }
    vPortDeferExternalInterrupts();
}
