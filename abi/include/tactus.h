/*
 * Tactus's calls for C. abi/src/hypercall.rs and abi/src/map.rs define and explain them; abi/tests/c_header.rs checks
 * that both agree. It needs nothing but a compiler's own headers. Assembler sources get the numbers only.
 */
#ifndef TACTUS_H
#define TACTUS_H

/* The SBI extension, and its functions. */
#define TACTUS_EXTENSION 0x08544354
#define TACTUS_VERSION 0
#define TACTUS_CHANNEL_NOTIFY 1
#define TACTUS_VM_STATUS 2
#define TACTUS_VM_RESTART 3
#define TACTUS_CPU_TIME 4
#define TACTUS_RT_CREATE 5
#define TACTUS_RT_QUERY 6
#define TACTUS_RT_CHANGE 7
#define TACTUS_RT_DELETE 8
#define TACTUS_RT_YIELD 9
#define TACTUS_MESSAGE_SEND 10
#define TACTUS_MESSAGE_RECEIVE 11
#define TACTUS_INTERRUPT_PAGE 12
#define TACTUS_INTERRUPT_END 13
#define TACTUS_ACCELERATOR_REQUESTS 14
#define TACTUS_CALL_SERVE 15
#define TACTUS_CALL 16
#define TACTUS_CALL_REPLY 17
#define TACTUS_VM_STOP 18
#define TACTUS_VM_LOAD 19
#define TACTUS_VM_WRITE 20
#define TACTUS_VM_START 21
#define TACTUS_VM_COUNTERS 22
#define TACTUS_VM_CONSOLE 23

/* Errors of the SBI (specification, chapter "Binary Encoding"). */
#define TACTUS_FAILED -1
#define TACTUS_NOT_SUPPORTED -2
#define TACTUS_INVALID_PARAM -3
#define TACTUS_DENIED -4
#define TACTUS_INVALID_ADDRESS -5
#define TACTUS_ALREADY_AVAILABLE -6
#define TACTUS_ALREADY_STARTED_ERROR -7
#define TACTUS_ALREADY_STOPPED_ERROR -8
#define TACTUS_BAD_RANGE_ERROR -11
#define TACTUS_TIMEOUT_ERROR -12

/* Number of the calling vCPU itself. */
#define TACTUS_RT_SELF UINT64_MAX

/* The value beside TACTUS_DENIED: why a real-time vCPU was not created or changed. */
#define TACTUS_REFUSAL_COUNT 1
#define TACTUS_REFUSAL_SHARE 2
#define TACTUS_REFUSAL_UTILISATION 3
#define TACTUS_REFUSAL_DEMAND 4
#define TACTUS_REFUSAL_UNDECIDED 5

/* A 64-bit store here makes the call of a struct tactus_call, for code that can store but not call. */
#define TACTUS_CALL_BASE 0x30000800

/*
 * Virtual devices of accelerators: that of hardware task n is at TACTUS_ACCELERATOR_BASE + n * 4096. Their slots, for
 * signals and commands between a VM and the device manager: abi/src/accelerator.rs.
 */
#define TACTUS_ACCELERATOR_BASE 0x28000000

/* Ports to the I/O hypervisor: that of number n is at TACTUS_IO_PORT_BASE + n * 4096; and the page of timed I/O. */
#define TACTUS_IO_PORT_BASE 0x28010000
#define TACTUS_TIMED_IO_BASE 0x28020000
#define TACTUS_SLOT_SIZE 64
#define TACTUS_SLOT_SIGNAL 0
#define TACTUS_SLOT_COMMAND 4
#define TACTUS_SLOT_COMPLETED 8
#define TACTUS_SIGNAL_WAIT 1
#define TACTUS_SIGNAL_READY 2
#define TACTUS_SIGNAL_PREEMPT 3
#define TACTUS_COMMAND_REQUEST 1
#define TACTUS_COMMAND_CANCEL 2

#ifndef __ASSEMBLER__

#include <stdint.h>

/*
 * The result of TACTUS_RT_QUERY. Times in ticks of the `time` CSR. From `release` on: JobRecord of
 * abi/src/hypercall.rs.
 */
struct tactus_rt_status {
    uint64_t period;
    uint64_t budget;
    uint64_t deadline;
    uint64_t hart;
    uint64_t release;
    uint64_t jobs;
    uint64_t used;
    uint64_t used_max;
    uint64_t overruns;
    uint64_t lost;
    uint64_t missed;
    uint64_t interference_max;
    uint64_t skipped;
    uint64_t late_max;
    uint64_t late[6];
    uint64_t extended;
    uint64_t dropped;
};

_Static_assert(sizeof(struct tactus_rt_status) == 176, "struct tactus_rt_status differs from abi/src/hypercall.rs");

/* A call by memory. */
struct tactus_call {
    uint64_t function;
    uint64_t arguments[6];
    int64_t error;
    uint64_t value;
};

_Static_assert(sizeof(struct tactus_call) == 72, "struct tactus_call differs from abi/src/hypercall.rs");

/*
 * The memory that a vCPU and the hypervisor share (abi/src/interrupts.rs): bit n of a set is source n of the PLIC, bit
 * 0 an interrupt from another vCPU. Aligned to its size. The vCPU changes the words by atomic instructions only.
 */
struct tactus_interrupt_page {
    uint64_t pending[2];
    uint64_t enabled[2];
    uint64_t reserved[4];
};

_Static_assert(sizeof(struct tactus_interrupt_page) == 64,
               "struct tactus_interrupt_page differs from abi/src/interrupts.rs");

/* An error in words. */
static inline const char *tactus_error_text(int64_t error)
{
    switch (error) {
    case 0:
        return "done";
    case TACTUS_FAILED:
        return "failed";
    case TACTUS_NOT_SUPPORTED:
        return "not supported: this is no Tactus VM, or an older Tactus";
    case TACTUS_INVALID_PARAM:
        return "invalid parameter: no such vCPU, or times out of order (1 <= budget <= deadline <= period)";
    case TACTUS_DENIED:
        return "denied";
    case TACTUS_INVALID_ADDRESS:
        return "invalid address: not in the VM's memory, or not aligned";
    case TACTUS_ALREADY_AVAILABLE:
        return "already available";
    case TACTUS_BAD_RANGE_ERROR:
        return "out of range";
    case TACTUS_TIMEOUT_ERROR:
        return "timeout";
    default:
        return "an error this program does not know";
    }
}

/* A refusal in words. */
static inline const char *tactus_refusal_text(uint64_t refusal)
{
    switch (refusal) {
    case TACTUS_REFUSAL_COUNT:
        return "the VM has as many real-time vCPUs as its configuration allows (rt_vcpus)";
    case TACTUS_REFUSAL_SHARE:
        return "it would exceed the VM's share of real time (rt_share)";
    case TACTUS_REFUSAL_UTILISATION:
        return "no hart has so much of its time left";
    case TACTUS_REFUSAL_DEMAND:
        return "there is time on some hart, but not before every deadline";
    case TACTUS_REFUSAL_UNDECIDED:
        return "the proof takes too many steps; shorter or rounder periods help";
    default:
        return "a reason this program does not know";
    }
}

#endif /* __ASSEMBLER__ */

#endif
