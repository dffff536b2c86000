#include "console.h"

#include <stdarg.h>
#include <string.h>

#include "task.h"

#include "platform.h"
#include "plic.h"
#include "sbi.h"

/* Registers and bits of the 16550 (data sheet "PC16550D", section 8). */
enum { THR = 0, IER = 1, IIR = 2, FCR = 2, LCR = 3, LSR = 5 };
#define IER_TRANSMITTER_EMPTY 0x02
#define IIR_FIFO_ENABLED 0xc0
#define FCR_ENABLE 0x07 /* enables and clears both FIFOs */
#define LCR_8N1 0x03
#define LSR_THR_EMPTY 0x20
#define FIFO_SIZE 16

/* Polls of a busy line status before the task sleeps for a tick. */
#define BUSY_READS_MAX 64

/* Bytes that may be written when the transmitter is empty: 1, or the size of the FIFO. */
static unsigned burst = 1;

static StaticSemaphore_t turn_memory;
static SemaphoreHandle_t turn;

static volatile uint8_t *reg(unsigned number)
{
    return (volatile uint8_t *)(platform.uart + ((uintptr_t)number << platform.uart_shift));
}

void console_init(void)
{
    turn = xSemaphoreCreateMutexStatic(&turn_memory);
    if (platform.uart == 0)
        return;
    *reg(IER) = 0;
    *reg(LCR) = LCR_8N1;
    *reg(FCR) = FCR_ENABLE;
    /* Both bits are set if the FIFO works (a 16450 sets neither, a 16550 without suffix one). */
    burst = (*reg(IIR) & IIR_FIFO_ENABLED) == IIR_FIFO_ENABLED ? FIFO_SIZE : 1;
}

/* Whether the caller can sleep: it is a task and has interrupts enabled. */
static bool may_sleep(void)
{
    UBaseType_t status;

    __asm volatile("csrr %0, sstatus" : "=r"(status));
    return (status & portSSTATUS_SIE) != 0 && !xPortIsInsideInterrupt() &&
           xTaskGetSchedulerState() == taskSCHEDULER_RUNNING;
}

static void write_bytes(const char *text, size_t size, bool sleep)
{
    unsigned room = 0, reads = 0;

    if (platform.uart == 0) {
        for (size_t i = 0; i < size; i++)
            sbi_call(SBI_DEBUG_CONSOLE, SBI_DEBUG_CONSOLE_WRITE_BYTE, (uint8_t)text[i], 0);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        while (room == 0) {
            if ((*reg(LSR) & LSR_THR_EMPTY) != 0) {
                room = burst;
                reads = 0;
            } else if (sleep && ++reads == BUSY_READS_MAX) {
                reads = 0;
                vTaskDelay(1);
            }
        }
        *reg(THR) = (uint8_t)text[i];
        room--;
    }
}

void console_write(const char *text, size_t size)
{
    if (!may_sleep()) {
        write_bytes(text, size, false);
        return;
    }
    xSemaphoreTake(turn, portMAX_DELAY);
    write_bytes(text, size, true);
    xSemaphoreGive(turn);
}

void console_write_polled(const char *text, size_t size)
{
    write_bytes(text, size, false);
}

/* A line under construction. */
struct line {
    char text[CONSOLE_LINE_MAX];
    size_t size;
};

static void put(struct line *line, char character)
{
    if (line->size < sizeof line->text)
        line->text[line->size++] = character;
}

static void put_number(struct line *line, uint64_t value, unsigned base)
{
    char digits[20];
    unsigned count = 0;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0)
        put(line, digits[--count]);
}

void console_print(const char *format, ...)
{
    struct line line;
    va_list arguments;

    line.size = 0;
    va_start(arguments, format);
    for (const char *at = format; *at != 0; at++) {
        bool is_long = false;

        if (*at == '\n')
            put(&line, '\r');
        if (*at != '%') {
            put(&line, *at);
            continue;
        }
        if (*++at == 'l') {
            is_long = true;
            at++;
        }
        switch (*at) {
        case 's':
            for (const char *text = va_arg(arguments, const char *); *text != 0; text++)
                put(&line, *text);
            break;
        case 'c':
            put(&line, (char)va_arg(arguments, int));
            break;
        case 'd': {
            int64_t value = is_long ? va_arg(arguments, long) : va_arg(arguments, int);

            if (value < 0)
                put(&line, '-');
            put_number(&line, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
            break;
        }
        case 'u':
        case 'x':
            put_number(&line,
                       is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
                       *at == 'x' ? 16 : 10);
            break;
        case 0:
            at--; /* A single % at the end. */
            break;
        default:
            put(&line, *at);
            break;
        }
    }
    va_end(arguments);
    console_write(line.text, line.size);
}

void console_interrupt_silence(void)
{
    (void)*reg(IIR); /* Reading IIR acknowledges the interrupt. */
    *reg(IER) = 0;
}

/* Handles the transmitter's interrupt. */
static void transmitter_empty(void *semaphore)
{
    BaseType_t woken = pdFALSE;

    console_interrupt_silence();
    xSemaphoreGiveFromISR((SemaphoreHandle_t)semaphore, &woken);
    portYIELD_FROM_ISR(woken);
}

bool console_interrupt_attach(SemaphoreHandle_t semaphore)
{
    return platform.uart != 0 && plic_attach(platform.uart_source, 1, transmitter_empty, semaphore);
}

void console_interrupt_fire(void)
{
    *reg(IER) = IER_TRANSMITTER_EMPTY;
}
