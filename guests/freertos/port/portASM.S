/*
 * FreeRTOS Kernel V11.2.0
 * Copyright (C) 2021 Amazon.com, Inc. or its affiliates. All Rights Reserved.
 *
 * SPDX-License-Identifier: MIT
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of
 * this software and associated documentation files (the "Software"), to deal in
 * the Software without restriction, including without limitation the rights to
 * use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of
 * the Software, and to permit persons to whom the Software is furnished to do so,
 * subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS
 * FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
 * IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
 * CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 *
 * https://www.FreeRTOS.org
 * https://github.com/FreeRTOS
 *
 * Derived from portable/GCC/RISC-V/portASM.S and portContext.h. Changed for Tactus: supervisor
 * level; each interrupt saves only the registers that C code may change,
 * a switch of tasks the others and the floating-point registers; floating-point
 * registers only if the task changed them; each trap ends a reservation of LR; the software interrupt may have another
 * handler than the yield.
 */

/*
 * Every interrupt is taken from a task, with interrupts enabled: handlers run with interrupts disabled, on their own
 * stack. So the task's stack pointer is saved once, in s0 while C code runs.
 *
 * Floating point. sstatus.FS is off in a new task, so its first floating-point instruction traps, and the task receives
 * zeroed registers. From then on the task's FS field shows whether it has changed any since they
 * were last saved. A switch saves the previous task's registers if it has changed them, and loads the next
 * task's unless the registers still hold its values. While handlers and the kernel run, FS is off: floating point
 * there would destroy a task's registers, and raises an exception instead.
 */

#include "FreeRTOSConfig.h"
#include "portmacro.h"

#define W    8 /* bytes in a word */

    .extern pxCurrentTCB
    .extern pxPortFpArea
    .extern pxPortFpOwner
    .extern vTaskSwitchContext
    .extern pxPortSoftwareInterrupt
    .extern xPortTimerInterrupt
    .extern xPortSoftwareRaised
    .extern vPortSoftwareInterrupt
    .extern xPortExternalInterrupt
    .extern vApplicationException

    .macro portEACH_FP_REGISTER instruction, base
    \instruction f0, 0 * W(\base)
    \instruction f1, 1 * W(\base)
    \instruction f2, 2 * W(\base)
    \instruction f3, 3 * W(\base)
    \instruction f4, 4 * W(\base)
    \instruction f5, 5 * W(\base)
    \instruction f6, 6 * W(\base)
    \instruction f7, 7 * W(\base)
    \instruction f8, 8 * W(\base)
    \instruction f9, 9 * W(\base)
    \instruction f10, 10 * W(\base)
    \instruction f11, 11 * W(\base)
    \instruction f12, 12 * W(\base)
    \instruction f13, 13 * W(\base)
    \instruction f14, 14 * W(\base)
    \instruction f15, 15 * W(\base)
    \instruction f16, 16 * W(\base)
    \instruction f17, 17 * W(\base)
    \instruction f18, 18 * W(\base)
    \instruction f19, 19 * W(\base)
    \instruction f20, 20 * W(\base)
    \instruction f21, 21 * W(\base)
    \instruction f22, 22 * W(\base)
    \instruction f23, 23 * W(\base)
    \instruction f24, 24 * W(\base)
    \instruction f25, 25 * W(\base)
    \instruction f26, 26 * W(\base)
    \instruction f27, 27 * W(\base)
    \instruction f28, 28 * W(\base)
    \instruction f29, 29 * W(\base)
    \instruction f30, 30 * W(\base)
    \instruction f31, 31 * W(\base)
    .endm
/*-----------------------------------------------------------*/

/* stvec in direct mode. Vectored mode would save a few instructions, but firmware that delegates an exception in
 * software (OpenSBI does, with illegal instructions) jumps to stvec's value with the mode bits still in it. */
    .section .text.vPortTrapEntry, "ax"
    .balign 4
    .global vPortTrapEntry
    .type vPortTrapEntry, @function
vPortTrapEntry:
    /* Save the registers that C code may change, sepc, sstatus, and s0, which points to the frame from here on. */
    addi sp, sp, -portFRAME_WORDS * W
    sd ra, portFRAME_RA * W(sp)
    sd t0, (portFRAME_T0 + 0) * W(sp)
    sd t1, (portFRAME_T0 + 1) * W(sp)
    sd t2, (portFRAME_T0 + 2) * W(sp)
    sd t3, (portFRAME_T0 + 3) * W(sp)
    sd t4, (portFRAME_T0 + 4) * W(sp)
    sd t5, (portFRAME_T0 + 5) * W(sp)
    sd t6, (portFRAME_T0 + 6) * W(sp)
    sd a0, (portFRAME_A0 + 0) * W(sp)
    sd a1, (portFRAME_A0 + 1) * W(sp)
    sd a2, (portFRAME_A0 + 2) * W(sp)
    sd a3, (portFRAME_A0 + 3) * W(sp)
    sd a4, (portFRAME_A0 + 4) * W(sp)
    sd a5, (portFRAME_A0 + 5) * W(sp)
    sd a6, (portFRAME_A0 + 6) * W(sp)
    sd a7, (portFRAME_A0 + 7) * W(sp)
    sd s0, portFRAME_S0 * W(sp)
    csrr t0, sepc
    csrr t1, sstatus
    sd t0, portFRAME_SEPC * W(sp)
    sd t1, portFRAME_SSTATUS * W(sp)
    mv s0, sp
    csrr t0, scause
    bgez t0, exception

    li t2, portSSTATUS_FS
    csrc sstatus, t2
    csrr sp, sscratch
    slli t0, t0, 1                      /* removes the interrupt bit */
    li t1, 2 * portCAUSE_TIMER
    beq t0, t1, timer_interrupt
    li t1, 2 * portCAUSE_SOFTWARE
    beq t0, t1, switch_task             /* a yield, or the application's software interrupt */

    /* Only these three interrupts are ever enabled. */
    call xPortExternalInterrupt
    bnez a0, switch_task
    j return_to_task

timer_interrupt:
    call xPortTimerInterrupt
    beqz a0, return_to_task

    /* The application's software interrupt shares its bit with yields: the next switch of tasks serves it. */
switch_task:
    csrci sip, portSIP_SSIP             /* this switch serves every pending yield */
    ld t0, xPortSoftwareRaised
    bnez t0, software_interrupt
2:
    /* C code has preserved these registers. */
    sd s1, (portFRAME_S0 + 1) * W(s0)
    sd s2, (portFRAME_S0 + 2) * W(s0)
    sd s3, (portFRAME_S0 + 3) * W(s0)
    sd s4, (portFRAME_S0 + 4) * W(s0)
    sd s5, (portFRAME_S0 + 5) * W(s0)
    sd s6, (portFRAME_S0 + 6) * W(s0)
    sd s7, (portFRAME_S0 + 7) * W(s0)
    sd s8, (portFRAME_S0 + 8) * W(s0)
    sd s9, (portFRAME_S0 + 9) * W(s0)
    sd s10, (portFRAME_S0 + 10) * W(s0)
    sd s11, (portFRAME_S0 + 11) * W(s0)

    ld t2, pxPortFpArea
    sd t2, portFRAME_FP * W(s0)
    ld t1, portFRAME_SSTATUS * W(s0)
    li t3, portSSTATUS_FS
    and t4, t1, t3
    bne t4, t3, 1f                      /* not dirty */
    csrs sstatus, t3
    portEACH_FP_REGISTER fsd, t2
    frcsr t4
    sd t4, portFP_FCSR * W(t2)
    csrc sstatus, t3
    li t4, portSSTATUS_FS - portSSTATUS_FS_CLEAN
    sub t1, t1, t4                      /* dirty becomes clean */
    sd t1, portFRAME_SSTATUS * W(s0)
1:
    ld t0, pxCurrentTCB
    sd s0, 0(t0)                        /* first member: the saved stack pointer */
    ld t1, pxPortSoftwareInterrupt
    beqz t1, 3f
    jalr t1                             /* serves all pending interrupts; later ones pend again */
3:
    call vTaskSwitchContext

restore_task:
    ld t0, pxCurrentTCB
    ld s0, 0(t0)
    ld t2, portFRAME_FP * W(s0)
    sd t2, pxPortFpArea, t3
    ld t1, portFRAME_SSTATUS * W(s0)
    li t3, portSSTATUS_FS
    and t4, t1, t3
    beqz t4, 1f                         /* has never used floating point */
    ld t4, pxPortFpOwner
    beq t4, t2, 1f                      /* the registers still hold its values */
    csrs sstatus, t3
    portEACH_FP_REGISTER fld, t2
    ld t4, portFP_FCSR * W(t2)
    fscsr t4
    sd t2, pxPortFpOwner, t3
1:
    ld s1, (portFRAME_S0 + 1) * W(s0)
    ld s2, (portFRAME_S0 + 2) * W(s0)
    ld s3, (portFRAME_S0 + 3) * W(s0)
    ld s4, (portFRAME_S0 + 4) * W(s0)
    ld s5, (portFRAME_S0 + 5) * W(s0)
    ld s6, (portFRAME_S0 + 6) * W(s0)
    ld s7, (portFRAME_S0 + 7) * W(s0)
    ld s8, (portFRAME_S0 + 8) * W(s0)
    ld s9, (portFRAME_S0 + 9) * W(s0)
    ld s10, (portFRAME_S0 + 10) * W(s0)
    ld s11, (portFRAME_S0 + 11) * W(s0)

return_to_task:
    mv sp, s0
    ld t0, portFRAME_SEPC * W(sp)
    ld t1, portFRAME_SSTATUS * W(sp)
    csrw sepc, t0
    csrw sstatus, t1                    /* also restores the task's FS */
    /* End a reservation of this task or of code that ran since: a later SC must not succeed on it. */
    sc.d zero, t0, (sp)
    ld ra, portFRAME_RA * W(sp)
    ld t0, (portFRAME_T0 + 0) * W(sp)
    ld t1, (portFRAME_T0 + 1) * W(sp)
    ld t2, (portFRAME_T0 + 2) * W(sp)
    ld t3, (portFRAME_T0 + 3) * W(sp)
    ld t4, (portFRAME_T0 + 4) * W(sp)
    ld t5, (portFRAME_T0 + 5) * W(sp)
    ld t6, (portFRAME_T0 + 6) * W(sp)
    ld a0, (portFRAME_A0 + 0) * W(sp)
    ld a1, (portFRAME_A0 + 1) * W(sp)
    ld a2, (portFRAME_A0 + 2) * W(sp)
    ld a3, (portFRAME_A0 + 3) * W(sp)
    ld a4, (portFRAME_A0 + 4) * W(sp)
    ld a5, (portFRAME_A0 + 5) * W(sp)
    ld a6, (portFRAME_A0 + 6) * W(sp)
    ld a7, (portFRAME_A0 + 7) * W(sp)
    ld s0, portFRAME_S0 * W(sp)
    addi sp, sp, portFRAME_WORDS * W
    sret

software_interrupt:
    call vPortSoftwareInterrupt
    j 2b

/* An exception, from a task or from a handler, still on its stack. */
exception:
    li t1, portCAUSE_ILLEGAL
    bne t0, t1, fatal
    ld t1, portFRAME_SSTATUS * W(sp)
    li t3, portSSTATUS_FS
    and t4, t1, t3
    bnez t4, fatal                      /* floating point is on: the instruction is illegal */
    la t2, xPortISRStack
    bltu sp, t2, 1f
    li t4, configISR_STACK_SIZE_WORDS * W
    add t2, t2, t4
    bltu sp, t2, fatal                  /* a handler, which must not use floating point */
1:
    /* Zero the registers, mark them dirty so that they will be saved, and retry the instruction. */
    or t1, t1, t3
    sd t1, portFRAME_SSTATUS * W(sp)
    csrs sstatus, t3
    ld t2, pxPortFpArea
    sd t2, pxPortFpOwner, t3
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fmv.d.x f\n, zero
    .endr
    fscsr zero
    j return_to_task

fatal:
    sd s1, (portFRAME_S0 + 1) * W(s0)
    sd s2, (portFRAME_S0 + 2) * W(s0)
    sd s3, (portFRAME_S0 + 3) * W(s0)
    sd s4, (portFRAME_S0 + 4) * W(s0)
    sd s5, (portFRAME_S0 + 5) * W(s0)
    sd s6, (portFRAME_S0 + 6) * W(s0)
    sd s7, (portFRAME_S0 + 7) * W(s0)
    sd s8, (portFRAME_S0 + 8) * W(s0)
    sd s9, (portFRAME_S0 + 9) * W(s0)
    sd s10, (portFRAME_S0 + 10) * W(s0)
    sd s11, (portFRAME_S0 + 11) * W(s0)
    csrr a0, scause
    csrr a1, stval
    mv a2, s0
    la sp, xPortExceptionStack
    li t0, portEXCEPTION_STACK_SIZE_WORDS * W
    add sp, sp, t0
    tail vApplicationException
    .size vPortTrapEntry, . - vPortTrapEntry
/*-----------------------------------------------------------*/

/* void vPortStartFirstTask( void ): leaves main()'s stack for good. */
    .section .text.vPortStartFirstTask, "ax"
    .global vPortStartFirstTask
    .type vPortStartFirstTask, @function
vPortStartFirstTask:
    j restore_task
    .size vPortStartFirstTask, . - vPortStartFirstTask
