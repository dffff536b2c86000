/* Entry of a tile: machine level, a0 = its number, a1 = its boot arguments (null: none), interrupts off. */
    .section .text.start, "ax"
    .global _start
    .type _start, @function
_start:
    csrw mie, zero
    csrci mstatus, 8
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la t0, early_trap
    csrw mtvec, t0
    la sp, __freertos_irq_stack_top

    la t0, __bss_start
    la t1, __bss_end
1:  bgeu t0, t1, 2f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 1b
2:
    tail platform_main
    .size _start, . - _start

/* Handles an exception before the kernel's port does: the program does not continue, so the stack is free. */
    .section .text.early_trap, "ax"
    .balign 4
    .type early_trap, @function
early_trap:
    la sp, __freertos_irq_stack_top
    tail platform_exception
    .size early_trap, . - early_trap
