/* The console: a 16550 UART, real or virtual; without one, the firmware's debug console. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "semphr.h"

/* Enables the FIFO if there is one, and disables all interrupts of the UART. */
void console_init(void);

/* Writes `size` bytes. Tasks take turns and sleep while the UART is full; main() and handlers spin. */
void console_write(const char *text, size_t size);

/* Writes without locking out other tasks: for the report of a failure. */
void console_write_polled(const char *text, size_t size);

/* Writes a line, truncated to CONSOLE_LINE_MAX characters. Supports %s %c %d %u %x, %ld %lu %lx and %%,
 * without widths. Writes a line end as CR LF. */
#define CONSOLE_LINE_MAX 256
__attribute__((format(printf, 1, 2))) void console_print(const char *format, ...);

/* Attaches to the UART's "transmitter empty" interrupt, an interrupt source that every platform has. Each
 * console_interrupt_fire() then raises it once, as soon as the transmitter is empty; the handler gives
 * `semaphore`. False: there is no UART, or its interrupt is taken. */
bool console_interrupt_attach(SemaphoreHandle_t semaphore);
void console_interrupt_fire(void);
/* Disables that interrupt again, for handlers other than the one of console_interrupt_attach. */
void console_interrupt_silence(void);

#endif
