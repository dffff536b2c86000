/*
 * Calls between VMs, by channels whose description has `calls` (docs/src/how-to/call-another-vm.md): a VM calls a
 * function of another VM, which runs on the caller's hart and in its time.
 *
 * The caller. To FreeRTOS a call is one long instruction. It takes at most the channel's `calls`, and before that the
 * time of calls from other harts which the same VM serves first.
 *  - No task and no handler of the caller's vCPU runs meanwhile. Interrupts that become pending, the tick's included,
 *    are taken when the call returns. So `calls` bounds how late they are.
 *  - The timer is the vCPU's own and goes on. Ticks are due at fixed times: a call may delay a tick, and shifts none of
 *    those after it. Ticks that come due during a call longer than a tick are counted at once, after it.
 *  - Floating-point registers and sstatus.FS are the same before and after. A task may be preempted right before a call
 *    and right after it: the port's trap entry saves all registers of messages and replies. So tasks need no lock to
 *    call.
 *  - tactus_call does not use the kernel. Tasks may call it, within critical sections too, and so may interrupt
 *    handlers, code before the scheduler starts, functions on real-time vCPUs (rt.h), and services.
 *
 * The service. It is no task and no handler: neither the port nor the kernel knows that it runs.
 *  - It runs with interrupts off, on a stack of its own, one call at a time. Meanwhile the VM's vCPU may execute a task
 *    on another hart, or is stopped anywhere, in a critical section too: a critical section does not keep the service
 *    out. Share data by <stdatomic.h>. A task may wait for a lock that a service holds; a service only tries a lock
 *    that tasks hold.
 *  - It must not call the kernel, not even its ...FromISR functions, nor the console or platform_fail, must not execute
 *    `wfi`, and must not use floating point, which is off. It may use the VM's memory, passed-through devices, and
 *    tactus_call.
 *  - Whatever it does wrong, an overflow of its stack, and a call longer than the channel allows are a fault of its VM:
 *    the caller gets TACTUS_CALL_FAILED. With `on_fault = "restart"` the VM serves again as soon as its next life calls
 *    tactus_serve.
 */
#ifndef TACTUS_CALL_H
#define TACTUS_CALL_H

#include <stdint.h>

#include "tactus.h"

/* Words of a message, and of a reply. */
#define TACTUS_CALL_WORDS 8

/* Bytes of a service's stack. */
#define TACTUS_SERVICE_STACK_SIZE 4096

/* What became of a call. */
enum tactus_call_result {
    /* There is a reply. */
    TACTUS_CALL_OK = 0,
    /* The VM serves none at present: it has not started yet, is restarting, or has ended. */
    TACTUS_CALL_CLOSED = TACTUS_DENIED,
    /* The VM has had a fault in the call, or has taken too long. The call may have had some of its effects. */
    TACTUS_CALL_FAILED = TACTUS_FAILED,
    /* By a service only: less of its time is left than this call may take. */
    TACTUS_CALL_TIMEOUT = TACTUS_TIMEOUT_ERROR,
    /* There is no such channel, it has no calls, or its calls are in the other direction. */
    TACTUS_CALL_NO_CHANNEL = TACTUS_INVALID_PARAM,
    /* This is no Tactus VM. */
    TACTUS_CALL_NOT_SUPPORTED = TACTUS_NOT_SUPPORTED,
};

/* Serves a call: `channel` is the caller's, by its number in this VM. The reply's words are zero at first. */
typedef void tactus_service(unsigned channel, const uint64_t message[TACTUS_CALL_WORDS],
                            uint64_t reply[TACTUS_CALL_WORDS]);

/* A service's stack. An overflow is found when the function returns, by a mark at the low end. */
struct tactus_service_stack {
    _Alignas(16) uint64_t words[TACTUS_SERVICE_STACK_SIZE / 8];
};

_Static_assert(sizeof(struct tactus_service_stack) == TACTUS_SERVICE_STACK_SIZE, "the stack's top is not aligned");

/*
 * Calls the VM at the other end of a channel, and stores its reply. Unless the result is TACTUS_CALL_OK, `reply` is as
 * before. `message` and `reply` may be the same array.
 */
static inline enum tactus_call_result tactus_call(unsigned channel, const uint64_t message[TACTUS_CALL_WORDS],
                                                  uint64_t reply[TACTUS_CALL_WORDS])
{
    register uint64_t a0 __asm("a0") = channel;
    register uint64_t a1 __asm("a1") = message[0];
    register uint64_t a2 __asm("a2") = message[1];
    register uint64_t a3 __asm("a3") = message[2];
    register uint64_t a4 __asm("a4") = message[3];
    register uint64_t a5 __asm("a5") = message[4];
    register uint64_t t0 __asm("t0") = message[5];
    register uint64_t t1 __asm("t1") = message[6];
    register uint64_t t2 __asm("t2") = message[7];
    register uint64_t a6 __asm("a6") = TACTUS_CALL;
    register uint64_t a7 __asm("a7") = TACTUS_EXTENSION;

    __asm volatile("ecall"
                   : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(t0), "+r"(t1), "+r"(t2)
                   : "r"(a6), "r"(a7)
                   : "memory");
    enum tactus_call_result result = (enum tactus_call_result)(int64_t)a0;

    if (result == TACTUS_CALL_OK) {
        reply[0] = a1;
        reply[1] = a2;
        reply[2] = a3;
        reply[3] = a4;
        reply[4] = a5;
        reply[5] = t0;
        reply[6] = t1;
        reply[7] = t2;
    }
    return result;
}

/*
 * From now on `function` serves all calls of this VM, on `stack`; NULL: it serves no more, and no call is under way. By
 * tasks, handlers, and before the scheduler starts; by one at a time. 0; TACTUS_DENIED: no VM may call this one;
 * TACTUS_NOT_SUPPORTED: this is no Tactus VM.
 */
int64_t tactus_serve(tactus_service *function, struct tactus_service_stack *stack);

#endif
