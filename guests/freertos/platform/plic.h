/*
 * The platform-level interrupt controller (RISC-V PLIC specification 1.0), this hart's supervisor context; or, in a Tactus VM that asks for
 * it, a page by which the hypervisor brings the same interrupts without a trap (abi/src/interrupts.rs). A source that never falls silent stops the
 * tick if it comes by the page, not if it comes by the controller.
 */
#ifndef PLIC_H
#define PLIC_H

#include <stdbool.h>
#include <stdint.h>

/* Sources that can be attached to: 1 up to this. */
#define PLIC_SOURCES_MAX 127

/* A handler: on the interrupt stack, interrupts off. It may use the kernel's ...FromISR functions and
 * portYIELD_FROM_ISR, and no floating point. It must silence its device. */
typedef void plic_handler(void *argument);

/* Disables all sources for this hart and lets every priority above 0 pass. Without a PLIC: nothing. */
void plic_init(void);

/* From now on interrupts come by a page, not by the controller. For before the first plic_attach. False: this is no Tactus VM, or one without pages; nothing
 * has changed. Sources have no priorities then: that of the lowest number comes first. */
bool plic_use_page(void);

/* From now on `source` calls `handler(argument)`. `priority` is 1 up to the controller's maximum, higher first. False: no
 * such source, or it is taken. */
bool plic_attach(uint32_t source, uint32_t priority, plic_handler *handler, void *argument);

/* Undoes plic_attach. */
void plic_detach(uint32_t source);

#endif
