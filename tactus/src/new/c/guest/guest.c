#include "guest.h"

#include <stdarg.h>

/* The guest's own. */
int main(void);

/* Called by crt0.S. */
_Noreturn void guest_start(uint64_t vcpu, const void *tree);
void guest_trap(uint64_t cause, uint64_t pc, uint64_t value);

/* ----- Memory */

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    while (size-- > 0)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    if (t < f)
        return memcpy(to, from, size);
    while (size-- > 0)
        t[size] = f[size];
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    unsigned char *t = to;

    while (size-- > 0)
        *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;

    for (; size > 0; size--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

/* ----- Registers of devices */

static volatile uint8_t *uart(unsigned offset)
{
    return (volatile uint8_t *)(uintptr_t)(TACTUS_UART_BASE + offset);
}

static volatile uint32_t *plic(unsigned offset)
{
    return (volatile uint32_t *)(uintptr_t)(TACTUS_PLIC_BASE + offset);
}

/* ----- Text */

static void put(char character)
{
    while ((*uart(TACTUS_UART_LSR) & TACTUS_UART_LSR_TRANSMITTER_EMPTY) == 0)
        ;
    *uart(TACTUS_UART_DATA) = (uint8_t)character;
}

static void put_text(const char *text)
{
    while (*text != 0)
        put(*text++);
}

static void put_number(uint64_t value, unsigned base)
{
    char digits[20];
    unsigned count = 0;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0)
        put(digits[--count]);
}

void print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    for (; *format != 0; format++) {
        bool is_long = false;

        if (*format != '%') {
            if (*format == '\n')
                put('\r');
            put(*format);
            continue;
        }
        format++;
        if (*format == 'l') {
            is_long = true;
            format++;
        }
        switch (*format) {
        case 's':
            put_text(va_arg(arguments, const char *));
            break;
        case 'c':
            put((char)va_arg(arguments, int));
            break;
        case 'd': {
            int64_t value = is_long ? va_arg(arguments, long) : va_arg(arguments, int);

            if (value < 0)
                put('-');
            put_number(value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
            break;
        }
        case 'u':
        case 'x':
            put_number(is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned), *format == 'x' ? 16 : 10);
            break;
        case 0:
            va_end(arguments);
            return;
        default:
            put(*format);
            break;
        }
    }
    va_end(arguments);
}

/* ----- Records */

void record_metric(const char *name, uint64_t value, const char *unit)
{
    print(TACTUS_RECORD "metric name=%s value=%lu unit=%s\n", name, value, unit);
}

void record_samples(const char *name, const char *phase, const char *unit, const uint64_t *values, size_t count)
{
    /* A line has at most so many values, to be of a reasonable length. */
    enum { LINE = 32 };

    for (size_t i = 0; i < count; i++) {
        if (i % LINE == 0)
            print(TACTUS_RECORD "samples name=%s phase=%s unit=%s values=", name, phase, unit);
        print("%lu", values[i]);
        print(i % LINE == LINE - 1 || i == count - 1 ? "\n" : ",");
    }
}

void record_phase(const char *name)
{
    print(TACTUS_RECORD "phase name=%s\n", name);
}

void record_pass(const char *name)
{
    print(TACTUS_RECORD "pass name=%s\n", name);
}

void record_fail(const char *name, const char *reason)
{
    print(TACTUS_RECORD "fail name=%s reason=%s\n", name, reason);
}

/* ----- The devicetree (Devicetree Specification 0.4, chapter 5 "Flattened Devicetree (DTB) Format") */

#define FDT_MAGIC 0xd00dfeedu
enum { FDT_BEGIN_NODE = 1, FDT_END_NODE = 2, FDT_PROP = 3, FDT_NOP = 4 };

static const void *devicetree;

static uint32_t big_endian(const void *at)
{
    const unsigned char *byte = at;

    return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

static size_t text_length(const char *text)
{
    size_t length = 0;

    while (text[length] != 0)
        length++;
    return length;
}

static bool same(const char *a, const char *b)
{
    size_t length = text_length(a);

    return text_length(b) == length && memcmp(a, b, length) == 0;
}

/* Whether a node is called so, apart from its address. */
static bool is_called(const char *node, const char *name)
{
    size_t length = text_length(name);

    return text_length(node) >= length && memcmp(node, name, length) == 0 && (node[length] == 0 || node[length] == '@');
}

/*
 * The cells of a property of the node that is called so; of several such nodes, the one whose `key` (if any) begins
 * with the cell `wanted`. Properties come before a node's children, and a node's name cannot be told from its siblings'
 * before it, so that one pass over the nodes does.
 */
static const void *devicetree_property(const char *name, const char *key, uint32_t wanted, const char *property,
                                       uint32_t *size)
{
    const unsigned char *tree = devicetree, *at, *end;
    const char *strings;
    const void *found = NULL;
    bool here = false, matches = false;

    if (tree == NULL || big_endian(tree) != FDT_MAGIC)
        return NULL;
    at = tree + big_endian(tree + 8);
    strings = (const char *)tree + big_endian(tree + 12);
    end = at + big_endian(tree + 36);
    while (at < end) {
        uint32_t token = big_endian(at);

        at += 4;
        if (token == FDT_BEGIN_NODE || token == FDT_END_NODE) {
            if (here && matches && found != NULL)
                return found;
            here = false;
        }
        if (token == FDT_BEGIN_NODE) {
            here = is_called((const char *)at, name);
            matches = key == NULL;
            found = NULL;
            at += (text_length((const char *)at) + 4) & ~(size_t)3;
        } else if (token == FDT_PROP) {
            uint32_t length = big_endian(at);
            const char *called = strings + big_endian(at + 4);

            at += 8;
            if (here && key != NULL && length >= 4 && same(called, key) && big_endian(at) == wanted)
                matches = true;
            if (here && same(called, property)) {
                found = at;
                *size = length;
            }
            at += (length + 3) & ~3u;
        } else if (token != FDT_END_NODE && token != FDT_NOP) {
            break;
        }
    }
    return NULL;
}

bool devicetree_cell(const char *node, const char *property, uint32_t *value)
{
    uint32_t size = 0;
    const void *found = devicetree_property(node, NULL, 0, property, &size);

    if (found == NULL || size < 4)
        return false;
    *value = big_endian(found);
    return true;
}

/* ----- Time */

uint64_t time_hz(void)
{
    static uint32_t hz;

    /* QEMU's `virt` has 10 MHz. */
    if (hz == 0 && !devicetree_cell("cpus", "timebase-frequency", &hz))
        hz = 10000000;
    return hz;
}

/* ----- Interrupts */

#define SIE_TIMER (1ul << 5)
#define SIE_EXTERNAL (1ul << 9)
#define CAUSE_INTERRUPT (1ul << 63)

static interrupt_handler *timer_handler;
static interrupt_handler *source_handlers[TACTUS_PLIC_SOURCES];

/* The PLIC's context of vCPU 0 at supervisor level (PLIC specification, "Memory Map"). */
#define CONTEXT 1u
#define PRIORITY(source) plic(4 * (source))
#define ENABLES(source) plic(0x2000 + 0x80 * CONTEXT + 4 * ((source) / 32))
#define THRESHOLD plic(0x200000 + 0x1000 * CONTEXT)
#define CLAIM plic(0x200004 + 0x1000 * CONTEXT)

void on_timer(interrupt_handler *handler)
{
    timer_handler = handler;
    __asm volatile("csrs sie, %0" : : "r"(SIE_TIMER) : "memory");
}

void on_source(unsigned source, interrupt_handler *handler)
{
    if (source == 0 || source >= TACTUS_PLIC_SOURCES) {
        record_fail("on_source", "no_such_source");
        power_off(true);
    }
    source_handlers[source] = handler;
    *PRIORITY(source) = 1;
    *ENABLES(source) |= 1u << (source % 32);
    *THRESHOLD = 0;
    __asm volatile("csrs sie, %0" : : "r"(SIE_EXTERNAL) : "memory");
}

void wait_for_interrupt(void)
{
    /* Interrupts are off: one that comes before the wfi ends it at once, and is taken behind it. */
    __asm volatile("wfi\n\tcsrsi sstatus, 2\n\tcsrci sstatus, 2" : : : "memory");
}

static void external(void)
{
    /* As many as there are sources, so that one that never falls silent does not keep the others out. */
    for (unsigned i = 0; i < TACTUS_PLIC_SOURCES; i++) {
        uint32_t source = *CLAIM;

        if (source == 0)
            return;
        if (source < TACTUS_PLIC_SOURCES && source_handlers[source] != NULL)
            source_handlers[source]();
        *CLAIM = source;
    }
}

void guest_trap(uint64_t cause, uint64_t pc, uint64_t value)
{
    if (cause == (CAUSE_INTERRUPT | 5)) {
        timer_set(TIMER_NEVER);
        if (timer_handler != NULL)
            timer_handler();
    } else if (cause == (CAUSE_INTERRUPT | 9)) {
        external();
    } else {
        /* Causes: RISC-V privileged specification, "Supervisor Cause Register". */
        print("Exception: cause %lu at pc 0x%lx, value 0x%lx.\n", cause, pc, value);
        record_fail("exception", "see_console");
        power_off(true);
    }
}

/* ----- Channels */

bool channel_open(unsigned number, struct channel *channel, interrupt_handler *rung)
{
    uint32_t size = 0;
    const unsigned char *reg = devicetree_property("channel", "tactus,index", number, "reg", &size);
    const unsigned char *end;

    /* Two cells of address, two of size. */
    if (reg == NULL || size < 16)
        return false;
    end = devicetree_property("channel", "tactus,index", number, "tactus,end", &size);
    if (end == NULL || size < 4)
        return false;
    channel->number = number;
    channel->end = big_endian(end);
    if (!tactus_ring_open((void *)((uintptr_t)big_endian(reg) << 32 | big_endian(reg + 4)), big_endian(reg + 12),
                          channel->end, &channel->out, &channel->in))
        return false;
    on_source(TACTUS_CHANNEL_SOURCE + number, rung);
    return true;
}

/* ----- Begin and end */

/* SBI specification, chapter "System Reset Extension". */
#define SBI_SYSTEM_RESET 0x53525354

_Noreturn void power_off(bool failed)
{
    sbi_call(SBI_SYSTEM_RESET, 0, 0, failed, 0);
    for (;;)
        __asm volatile("wfi");
}

_Noreturn void guest_start(uint64_t vcpu, const void *tree)
{
    (void)vcpu;
    devicetree = tree;
    power_off(main() != 0);
}
