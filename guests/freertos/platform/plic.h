/*
 * The platform-level interrupt controller (RISC-V PLIC specification 1.0), this hart's supervisor context. A Tactus VM
 * can instead take the same interrupts by a page, without traps (abi/src/interrupts.rs). A source that stays pending
 * stops the tick if it is delivered by the page, but not by the controller.
 */
#ifndef PLIC_H
#define PLIC_H

#include <stdbool.h>
#include <stdint.h>

/* Sources that can have a handler: 1 up to this number. */
#define PLIC_SOURCES_MAX 127

/* A handler: on the interrupt stack, interrupts off. It may use the kernel's ...FromISR functions and
 * portYIELD_FROM_ISR, and no floating point. It must silence its device. */
typedef void plic_handler(void *argument);

/* Disables all sources for this hart and lets every priority above 0 pass. Without a PLIC: nothing. */
void plic_init(void);

/* Delivers interrupts by a page instead of the controller; to be called before the first plic_attach. The lowest source
 * is then served first, as there are no priorities. False: no Tactus VM, or no pages; nothing has changed. */
bool plic_use_page(void);

/* Makes `handler(argument)` the handler of `source`. `priority` is 1 to the controller's maximum, higher first. False:
 * no such source, or it has a handler. */
bool plic_attach(uint32_t source, uint32_t priority, plic_handler *handler, void *argument);

/* Undoes plic_attach. */
void plic_detach(uint32_t source);

#endif
