/*
 * Tasks that keep a known value in every register and detect any change: the test of the port's context
 * switch. Their argument is a struct registers (selftest.c). They never return.
 *
 *   void selftest_registers_busy(void *registers): is preempted by the tick
 *   void selftest_registers_yield(void *registers): yields with all values in place
 */
#include "FreeRTOSConfig.h"
#include "portmacro.h"

/* struct registers */
#define SEED 0
#define ROUNDS 8
#define ERRORS 16

/* Instructions between setting the registers and checking them, in the busy variant. */
#define SPAN 256

/* From x5 on, each register in turn becomes its predecessor plus one. */
    .macro registers_set
    addi x6, x5, 1
    addi x7, x6, 1
    addi x8, x7, 1
    addi x9, x8, 1
    addi x10, x9, 1
    addi x11, x10, 1
    addi x12, x11, 1
    addi x13, x12, 1
    addi x14, x13, 1
    addi x15, x14, 1
    addi x16, x15, 1
    addi x17, x16, 1
    addi x18, x17, 1
    addi x19, x18, 1
    addi x20, x19, 1
    addi x21, x20, 1
    addi x22, x21, 1
    addi x23, x22, 1
    addi x24, x23, 1
    addi x25, x24, 1
    addi x26, x25, 1
    addi x27, x26, 1
    addi x28, x27, 1
    addi x29, x28, 1
    addi x30, x29, 1
    addi x31, x30, 1
    addi x1, x31, 1
    .endm

/* Compares each with its predecessor plus one. Changes all but the last. */
    .macro registers_check wrong
    addi x5, x5, 1
    bne x5, x6, \wrong
    addi x6, x6, 1
    bne x6, x7, \wrong
    addi x7, x7, 1
    bne x7, x8, \wrong
    addi x8, x8, 1
    bne x8, x9, \wrong
    addi x9, x9, 1
    bne x9, x10, \wrong
    addi x10, x10, 1
    bne x10, x11, \wrong
    addi x11, x11, 1
    bne x11, x12, \wrong
    addi x12, x12, 1
    bne x12, x13, \wrong
    addi x13, x13, 1
    bne x13, x14, \wrong
    addi x14, x14, 1
    bne x14, x15, \wrong
    addi x15, x15, 1
    bne x15, x16, \wrong
    addi x16, x16, 1
    bne x16, x17, \wrong
    addi x17, x17, 1
    bne x17, x18, \wrong
    addi x18, x18, 1
    bne x18, x19, \wrong
    addi x19, x19, 1
    bne x19, x20, \wrong
    addi x20, x20, 1
    bne x20, x21, \wrong
    addi x21, x21, 1
    bne x21, x22, \wrong
    addi x22, x22, 1
    bne x22, x23, \wrong
    addi x23, x23, 1
    bne x23, x24, \wrong
    addi x24, x24, 1
    bne x24, x25, \wrong
    addi x25, x25, 1
    bne x25, x26, \wrong
    addi x26, x26, 1
    bne x26, x27, \wrong
    addi x27, x27, 1
    bne x27, x28, \wrong
    addi x28, x28, 1
    bne x28, x29, \wrong
    addi x29, x29, 1
    bne x29, x30, \wrong
    addi x30, x30, 1
    bne x30, x31, \wrong
    addi x31, x31, 1
    bne x31, x1, \wrong
    .endm

    .macro registers_task name, yields
    .section .text.\name, "ax"
    .global \name
    .type \name, @function
\name:
    addi sp, sp, -16
    sd a0, 0(sp)

1:  /* x1 and x5 to x31 count up from the seed, x5 first and x1 last; f0 to f31 likewise, from the seed's bits. */
    ld t0, 0(sp)
    ld t0, SEED(t0)
    mv t1, t0
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fmv.d.x f\n, t1
    addi t1, t1, 1
    .endr
    andi t1, t0, 0x7f                   /* rounding mode and exception flags */
    fscsr t1
    registers_set

    .if \yields
    csrsi sip, portSIP_SSIP
    .else
    .rept SPAN
    nop
    .endr
    .endif

    /* Each is its predecessor plus one ... */
    registers_check 2f
    /* ... and the last one is the seed plus 27. */
    ld t0, 0(sp)
    ld t0, SEED(t0)
    addi t1, t0, 27
    bne t1, x1, 2f
    frcsr t2
    andi t1, t0, 0x7f
    bne t1, t2, 2f
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fmv.x.d t1, f\n
    bne t1, t0, 2f
    addi t0, t0, 1
    .endr

    ld t0, 0(sp)
    ld t1, ROUNDS(t0)
    addi t1, t1, 1
    sd t1, ROUNDS(t0)
    j 1b

2:  ld t0, 0(sp)
    ld t1, ERRORS(t0)
    addi t1, t1, 1
    sd t1, ERRORS(t0)
    j 1b
    .size \name, . - \name
    .endm

    registers_task selftest_registers_busy, 0
    registers_task selftest_registers_yield, 1
