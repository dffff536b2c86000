/*
 * Messages that the hypervisor copies between the two VMs of a channel (abi/src/hypercall.rs), for C code at supervisor
 * level with guest-physical addresses. Linux user space makes the same calls by memory: struct tactus_call in tactus.h.
 */
#ifndef TACTUS_MESSAGE_H
#define TACTUS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "tactus.h"

/* An infinite timeout. */
#define TACTUS_FOR_EVER UINT64_MAX

static inline int64_t tactus_message_call(uint64_t function, unsigned channel, uintptr_t address, size_t length, uint64_t third,
                                          uint64_t fourth, uint64_t *value)
{
    register uint64_t a0 __asm("a0") = channel;
    register uint64_t a1 __asm("a1") = address;
    register uint64_t a2 __asm("a2") = length;
    register uint64_t a3 __asm("a3") = third;
    register uint64_t a4 __asm("a4") = fourth;
    register uint64_t a6 __asm("a6") = function;
    register uint64_t a7 __asm("a7") = TACTUS_EXTENSION;

    __asm volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a3), "r"(a4), "r"(a6), "r"(a7) : "memory");
    *value = a1;
    return (int64_t)a0;
}

/*
 * Sends a copy of a message. `priority`: 0 to 255, higher first. Waits for room for at most `timeout` ticks. The vCPU
 * blocks and takes no interrupts meanwhile: under an RTOS, pass 0 and retry. 0: sent. TACTUS_TIMEOUT_ERROR: no room in
 * time. TACTUS_INVALID_PARAM: no such channel, no messages by it, or the message is too long for it.
 */
static inline int64_t tactus_message_send(unsigned channel, const void *message, size_t length, unsigned priority,
                                          uint64_t timeout)
{
    uint64_t value;

    return tactus_message_call(TACTUS_MESSAGE_SEND, channel, (uintptr_t)message, length, priority, timeout, &value);
}

/*
 * Receives the first message of the highest priority into `buffer`, and its length into `*length`. Waits for at most
 * `timeout` ticks. Errors as tactus_message_send; TACTUS_BAD_RANGE_ERROR: `*length` bytes exceed `capacity`; it stays.
 */
static inline int64_t tactus_message_receive(unsigned channel, void *buffer, size_t capacity, uint64_t timeout,
                                             size_t *length)
{
    uint64_t value;
    int64_t error =
        tactus_message_call(TACTUS_MESSAGE_RECEIVE, channel, (uintptr_t)buffer, capacity, timeout, 0, &value);

    *length = (size_t)value;
    return error;
}

#endif
