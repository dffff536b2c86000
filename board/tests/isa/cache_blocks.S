# Cache blocks: Zicbom, Zicbop and Zicboz, with blocks of 32 bytes. "C" is the chapter "CMO" of Volume I, 20240411.

    .include "frame.inc"

    .equ TEST, 0x200000000
    .equ GOOD, PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    .equ GOOD_U, GOOD | PTE_U
    .equ CBIE_FLUSH, 1 << 4
    .equ CBIE, 3 << 4
    .equ CBCFE, 1 << 6
    .equ CBZE, 1 << 7
    .equ ALL, CBIE | CBCFE | CBZE

# The code executes in every mode in which the registers have `field`, and raises the exceptions of those that lack it.
    .macro ENABLED_BY field, code
    la a1, page
    RUN M_MODE, \code
    TRAPPED 11
    RUN S_MODE, \code
    TRAPPED 2
    RUN VS_MODE, \code
    TRAPPED 2
    CSR_SET menvcfg, \field
    RUN S_MODE, \code
    TRAPPED 9
    RUN U_MODE, \code
    TRAPPED 2
    RUN VS_MODE, \code
    TRAPPED 22
    RUN VU_MODE, \code
    TRAPPED 22
    CSR_SET senvcfg, \field
    RUN U_MODE, \code
    TRAPPED 8
    RUN VU_MODE, \code
    TRAPPED 22
    CSR_SET henvcfg, \field
    RUN VS_MODE, \code
    TRAPPED 10
    RUN VU_MODE, \code
    TRAPPED 8
    CSR_CLEAR senvcfg, \field
    RUN VU_MODE, \code
    TRAPPED 22
    CSR_CLEAR menvcfg, \field
    RUN VS_MODE, \code
    TRAPPED 2
    # The registers do not depend on each other.
    CSR_BITS henvcfg, ALL, \field
    END
    .endm

    .macro MAPS flags
    MAP root, 2, 0x80000000, GOOD
    MAP root, 8, middle, PTE_V
    MAP middle, 0, last, PTE_V
    MAP last, 0, page, \flags
    ROOT satp, 8, root
    sfence.vma
    CSR_SET menvcfg, ALL
    li a1, TEST + 5
    .endm

# A load through the page under test, so that a TLB has it.
    .macro TOUCH
    li a1, TEST
    RUN S_MODE, code_load
    TRAPPED 9
    .endm

    START

    CASE "C-5 CBIE, CBCFE and CBZE are there"
    CSR_WRITE menvcfg, ALL
    CSR_BITS menvcfg, ALL, ALL
    CSR_WRITE senvcfg, ALL
    CSR_BITS senvcfg, ALL, ALL
    CSR_WRITE henvcfg, ALL
    CSR_BITS henvcfg, ALL, ALL
    CSR_WRITE menvcfg, CBIE_FLUSH
    CSR_BITS menvcfg, ALL, CBIE_FLUSH
    END

    CASE "C-5 cbo.inval is enabled by CBIE"
    ENABLED_BY CBIE, code_inval

    CASE "C-5 cbo.inval is enabled by CBIE, to flush"
    ENABLED_BY CBIE_FLUSH, code_inval

    CASE "C-5 cbo.clean is enabled by CBCFE"
    ENABLED_BY CBCFE, code_clean

    CASE "C-5 cbo.flush is enabled by CBCFE"
    ENABLED_BY CBCFE, code_flush

    CASE "C-5 cbo.zero is enabled by CBZE"
    ENABLED_BY CBZE, code_zero

    CASE "C-4.2.1 the trap value of an instruction that is not enabled"
    la a1, page
    RUN S_MODE, code_zero
    TRAPPED 2
    TRAP_VALUE 0x0045a00f
    CSR_SET menvcfg, ALL
    RUN VS_MODE, code_flush
    TRAPPED 22
    TRAP_VALUE 0x0025a00f
    END

    CASE "C-4.2.1 reserved operations and destinations are illegal"
    TRAPS 2, .insn i 0x0f, 2, x0, a1, 3
    TRAPS 2, .insn i 0x0f, 2, x0, a1, 5
    TRAPS 2, .insn i 0x0f, 2, x0, a1, 8
    TRAPS 2, .insn i 0x0f, 2, x0, a1, -1
    TRAPS 2, .insn i 0x0f, 2, x1, a1, 4
    TRAPS 2, .insn i 0x0f, 2, x1, a1, 0
    END

    CASE "C-6.2 cbo.zero clears its block and nothing else"
    la a0, page
    li a1, -1
    .set i, 0
    .rept 12
    sd a1, i(a0)
    .set i, i + 8
    .endr
    addi a2, a0, 32 + 13
    cbo.zero (a2)
    .set i, 0
    .rept 4
    ld a3, i(a0)
    EQ a3, -1
    ld a3, i + 32(a0)
    EQ a3, 0
    ld a3, i + 64(a0)
    EQ a3, -1
    .set i, i + 8
    .endr
    END

    CASE "C-6.1 the other operations leave the content"
    STORE page, 0x123456789
    la a0, page + 3
    cbo.clean (a0)
    MEMORY_EQ page, 0x123456789
    cbo.flush (a0)
    MEMORY_EQ page, 0x123456789
    END

    CASE "C-4.2.2 management where a load is permitted"
    MAPS PTE_V | PTE_R | PTE_A
    RUN S_MODE, code_inval
    TRAPPED 9
    RUN S_MODE, code_clean
    TRAPPED 9
    RUN S_MODE, code_flush
    TRAPPED 9
    END

    CASE "C-4.2.2 cbo.zero needs a store's permission"
    MAPS PTE_V | PTE_R | PTE_A
    RUN S_MODE, code_zero
    TRAPPED 15
    END

    CASE "C-4.2.2 neither load nor store: a store page fault"
    MAPS 0
    RUN S_MODE, code_inval
    TRAPPED 15
    RUN S_MODE, code_clean
    TRAPPED 15
    RUN S_MODE, code_flush
    TRAPPED 15
    RUN S_MODE, code_zero
    TRAPPED 15
    END

    CASE "C-4.2.2 the trap value is rs1"
    MAPS 0
    RUN S_MODE, code_clean
    TRAP_VALUE TEST + 5
    RUN S_MODE, code_zero
    TRAP_VALUE TEST + 5
    END

    CASE "C-4.2.2 a store access fault where nothing is"
    li a0, NOTHING
    TRAPS 7, cbo.zero 0(a0)
    END

    CASE "C-4.2.2 guest-page faults"
    CSR_SET menvcfg, ALL
    CSR_SET henvcfg, ALL
    ROOT hgatp, 8, guest_root
    MAP guest_root, 2, 0x80000000, GOOD_U
    hfence.gvma
    li a1, TEST
    RUN VS_MODE, code_flush
    TRAPPED 23
    TRAP_VALUE2 TEST >> 2
    RUN VS_MODE, code_zero
    TRAPPED 23
    TRAP_VALUE2 TEST >> 2
    END

    CASE "C-4.2.5 the transformed instruction"
    MAPS 0
    RUN S_MODE, code_clean
    TRAP_INSTRUCTION 0x0010200f
    RUN S_MODE, code_zero
    TRAP_INSTRUCTION 0x0040200f
    END

    CASE "C-4.2.2 bits A and D"
    MAPS PTE_V | PTE_R | PTE_W
    CSR_SET menvcfg, 1 << 61
    RUN S_MODE, code_clean
    TRAPPED 9
    la a0, last
    ld a0, 0(a0)
    andi a0, a0, PTE_A | PTE_D
    EQ a0, PTE_A
    RUN S_MODE, code_zero
    TRAPPED 9
    la a0, last
    ld a0, 0(a0)
    andi a0, a0, PTE_A | PTE_D
    EQ a0, PTE_A | PTE_D
    END

    CASE "C-6.3 prefetches raise no exception and set no bit"
    MAPS PTE_V | PTE_R | PTE_W | PTE_X
    CSR_CLEAR menvcfg, ALL
    CSR_SET menvcfg, 1 << 61
    RUN S_MODE, code_prefetch
    TRAPPED 9
    la a0, last
    ld a0, 0(a0)
    andi a0, a0, PTE_A | PTE_D
    EQ a0, 0
    # A page that is not there, and addresses where nothing is.
    li a1, TEST + 0x1000
    RUN S_MODE, code_prefetch
    TRAPPED 9
    li a1, 1 << 50
    RUN S_MODE, code_prefetch
    TRAPPED 9
    li a1, NOTHING
    RUN M_MODE, code_prefetch
    TRAPPED 11
    li a1, UART
    RUN M_MODE, code_prefetch
    TRAPPED 11
    END

    CASE "C-6.3 prefetches that a TLB serves"
    MAPS GOOD
    STORE page, 0x55
    TOUCH
    li a1, TEST
    RUN S_MODE, code_prefetch
    TRAPPED 9
    TOUCH
    EQ a0, 0x55
    # Where the permission is gone, they do nothing.
    MAP last, 0, page, PTE_V | PTE_X | PTE_A
    sfence.vma
    li a1, TEST
    RUN S_MODE, code_prefetch
    TRAPPED 9
    END

    FINISH

    .balign 4
    .option norvc
    .macro CODE name, instruction:vararg
\name:
    \instruction
    ecall
    .endm
    CODE code_load, ld a0, 0(a1)
    CODE code_inval, cbo.inval 0(a1)
    CODE code_clean, cbo.clean 0(a1)
    CODE code_flush, cbo.flush 0(a1)
    CODE code_zero, cbo.zero 0(a1)
code_prefetch:
    prefetch.i 0(a1)
    prefetch.r 32(a1)
    prefetch.w -32(a1)
    prefetch.r 0(a1)
    prefetch.w 0(a1)
    ecall

    .section .data
    .balign 0x4000
guest_root: .space 0x4000
root:       .space 0x1000
middle:     .space 0x1000
last:       .space 0x1000
page:       .space 0x1000
