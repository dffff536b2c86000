/*
 * Entry of a real-time vCPU: a0 = its number, a1 = the argument, sp = the address of its struct start (rt.c),
 * no translation, interrupts off.
 */
#include "FreeRTOSConfig.h"
#include "portmacro.h"
#include "tactus.h"

    .section .text.rt_start, "ax"
    .global rt_start
    .type rt_start, @function
rt_start:
    csrw sie, zero
    csrci sstatus, portSSTATUS_SIE
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la t0, rt_trap
    csrw stvec, t0
    li t0, portSSTATUS_FS
    csrs sstatus, t0
    fscsr zero
    ld t0, 0(sp)
    mv a0, a1
    jalr t0

    /* The function has returned. */
    li a0, -1
    li a6, TACTUS_RT_DELETE
    li a7, TACTUS_EXTENSION
    ecall
1:  j 1b
    .size rt_start, . - rt_start

/* Reports an exception of a real-time vCPU, and does not return. */
    .balign 4
    .type rt_trap, @function
rt_trap:
    andi sp, sp, -16
    csrr a0, scause
    tail rt_exception
    .size rt_trap, . - rt_trap
