/*
 * Entry from the firmware or the hypervisor: supervisor (or virtual supervisor) level, a0 = hart or vCPU
 * number, a1 = devicetree, no translation, interrupts off (SBI specification, HSM "hart_start"; the Linux
 * kernel's boot protocol has the same requirements).
 */
#include "FreeRTOSConfig.h"
#include "portmacro.h"

    .section .text.start, "ax"
    .global _start
    .type _start, @function
_start:
    csrw sie, zero
    csrci sstatus, portSSTATUS_SIE
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop

    /* Exceptions are reported from the first line of C on. The scheduler enables interrupts. */
    la t0, vPortTrapEntry
    csrw stvec, t0

    /* main() runs on the interrupt stack, which is free until there are tasks. */
    la sp, xPortISRStack
    li t0, configISR_STACK_SIZE_WORDS * 8
    add sp, sp, t0

    /* Code before the scheduler may use floating point; for tasks the port enables it. */
    li t0, portSSTATUS_FS
    csrs sstatus, t0
    fscsr zero

    la t0, __bss_start
    la t1, __bss_end
1:  bgeu t0, t1, 2f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 1b
2:
    tail platform_main
    .size _start, . - _start

/*
 * bool clock_cycle_readable(void): whether the `cycle` CSR may be read. Firmware and hypervisor may forbid it
 * (mcounteren, hcounteren), so that the read raises an exception. To be called with interrupts off.
 */
    .section .text.clock_cycle_readable, "ax"
    .global clock_cycle_readable
    .type clock_cycle_readable, @function
clock_cycle_readable:
    la t0, 1f
    csrrw t1, stvec, t0
    li a0, 1
    csrr t2, cycle
    csrw stvec, t1
    ret
    .balign 4
1:  /* The read has raised an exception. Only stvec has to be restored. */
    li a0, 0
    csrw stvec, t1
    ret
    .size clock_cycle_readable, . - clock_cycle_readable
