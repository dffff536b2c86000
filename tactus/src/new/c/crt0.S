/* From the first instruction to main, and the trap vector. */

/*
 * Entered at supervisor level, without address translation, interrupts off; number of the vCPU in a0, address of the
 * devicetree in a1. Further vCPUs wait until they are started by the SBI's hart_start, with an entry of their own.
 */
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax                     /* gp is not set yet */
    la      gp, __global_pointer$
    .option pop
    csrw    sie, zero
    csrci   sstatus, 2
    la      t0, __bss_start
    la      t1, __bss_end
1:  bgeu    t0, t1, 2f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       1b
2:  la      sp, __stack_end
    la      t0, trap_vector
    csrw    stvec, t0
    call    guest_start
    /* guest_start does not return. */
3:  wfi
    j       3b

/*
 * All traps. Saves what C functions may change: the handlers are C functions, which save the rest. Traps do not nest: a
 * handler runs with interrupts off, and an exception is the guest's end.
 */
    .text
    .balign 4
trap_vector:
    addi    sp, sp, -128
    sd      ra, 0(sp)
    sd      t0, 8(sp)
    sd      t1, 16(sp)
    sd      t2, 24(sp)
    sd      t3, 32(sp)
    sd      t4, 40(sp)
    sd      t5, 48(sp)
    sd      t6, 56(sp)
    sd      a0, 64(sp)
    sd      a1, 72(sp)
    sd      a2, 80(sp)
    sd      a3, 88(sp)
    sd      a4, 96(sp)
    sd      a5, 104(sp)
    sd      a6, 112(sp)
    sd      a7, 120(sp)
    csrr    a0, scause
    csrr    a1, sepc
    csrr    a2, stval
    call    guest_trap
    ld      ra, 0(sp)
    ld      t0, 8(sp)
    ld      t1, 16(sp)
    ld      t2, 24(sp)
    ld      t3, 32(sp)
    ld      t4, 40(sp)
    ld      t5, 48(sp)
    ld      t6, 56(sp)
    ld      a0, 64(sp)
    ld      a1, 72(sp)
    ld      a2, 80(sp)
    ld      a3, 88(sp)
    ld      a4, 96(sp)
    ld      a5, 104(sp)
    ld      a6, 112(sp)
    ld      a7, 120(sp)
    addi    sp, sp, 128
    sret
