/* The console: a 16550 UART, real or virtual; without one, the firmware's debug console. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "semphr.h"

/* Turns the FIFO on if there is one, all the UART's interrupts off. */
void console_init(void);

/* Writes `size` bytes. Tasks take turns and sleep while the UART is full; main() and handlers spin. */
void console_write(const char *text, size_t size);

/* The same without regard to other tasks: for the report of a failure. */
void console_write_polled(const char *text, size_t size);

/* Writes a line of at most CONSOLE_LINE_MAX characters, longer ones are cut. Knows %s %c %d %u %x, %ld %lu %lx and %%,
 * without widths. A line end is written as CR LF. */
#define CONSOLE_LINE_MAX 256
__attribute__((format(printf, 1, 2))) void console_print(const char *format, ...);

/* The UART's "transmitter empty" interrupt, as an interrupt source that every platform has. From now on each
 * console_interrupt_fire() makes it interrupt once, as soon as the transmitter is empty, and the handler give
 * `semaphore`. False: there is no UART, or its interrupt is taken. */
bool console_interrupt_attach(SemaphoreHandle_t semaphore);
void console_interrupt_fire(void);
/* Turns that interrupt off again, for handlers other than the one of console_interrupt_attach. */
void console_interrupt_silence(void);

#endif
