#include "tactus_call.h"

#include <stdatomic.h>
#include <stddef.h>

#include "sbi.h"

/* In the lowest word of the stack in use. */
#define MARK 0x5afe57ac5e121ce5ULL

/* Where calls begin (tactus_call_entry.S). */
void tactus_service_entry(void);
/* Called there, in C. */
void tactus_service_dispatch(uint64_t channel, const uint64_t message[TACTUS_CALL_WORDS],
                             uint64_t reply[TACTUS_CALL_WORDS]);

/* Read by calls, on any hart, while a task may be exchanging them. */
static _Atomic(tactus_service *) service;
static _Atomic(const uint64_t *) mark;

int64_t tactus_serve(tactus_service *function, struct tactus_service_stack *stack)
{
    if (function == NULL)
        return sbi_call(TACTUS_EXTENSION, TACTUS_CALL_SERVE, 0, 0).error;
    stack->words[0] = MARK;
    atomic_store_explicit(&mark, &stack->words[0], memory_order_release);
    atomic_store_explicit(&service, function, memory_order_release);
    return sbi_call(TACTUS_EXTENSION, TACTUS_CALL_SERVE, (uintptr_t)tactus_service_entry, (uintptr_t)(stack + 1)).error;
}

void tactus_service_dispatch(uint64_t channel, const uint64_t message[TACTUS_CALL_WORDS],
                             uint64_t reply[TACTUS_CALL_WORDS])
{
    tactus_service *function = atomic_load_explicit(&service, memory_order_acquire);

    function((unsigned)channel, message, reply);
    /* An exception without a handler is a fault of the VM: no reply may come of a stack that was overrun. */
    if (*atomic_load_explicit(&mark, memory_order_acquire) != MARK)
        __asm volatile("unimp");
}
