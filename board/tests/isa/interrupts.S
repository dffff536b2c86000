# Interrupts: pending, enabling, delegation, priorities, vectors, timers; and physical memory protection.

    .include "frame.inc"

    .equ INTERRUPT, 1 << 63

# The code at `spin` in a mode is interrupted with this cause.
    .macro INTERRUPTED mode, cause
    RUN \mode, spin
    TRAPPED INTERRUPT | \cause
    TRAPPED_FROM \mode
    .endm

# PMP entry 0 over the naturally aligned 8 bytes `guarded`, entry 1 over all else.
    .macro GUARD rights
    la t4, guarded
    srli t4, t4, 2
    csrw pmpaddr0, t4
    li t4, -1
    csrw pmpaddr1, t4
    li t4, 0x1f18 | \rights
    csrw pmpcfg0, t4
    sfence.vma
    .endm

    START

    CASE "II-3.1.9 machine interrupts are taken below M whatever MIE says"
    CSR_SET mie, 8
    li a0, CLINT
    li a1, 1
    sw a1, 0(a0)
    .irp mode, U_MODE, S_MODE, VS_MODE, VU_MODE
    INTERRUPTED \mode, 3
    .endr
    TRAP_VALUE 0
    END

    CASE "II-3.1.9 machine interrupts are taken in M where MIE says so"
    CSR_SET mie, 8
    li a0, CLINT
    li a1, 1
    sw a1, 0(a0)
    nop
    RESUME 1f
    CSR_SET mstatus, MSTATUS_MIE
    nop
    jal t4, frame_untrapped
1:  TRAPPED INTERRUPT | 3
    END

    CASE "II-3.1.9 priority: MSI, MTI, SEI"
    li a0, MTIMECMP
    sd zero, 0(a0)
    li a0, CLINT
    li a1, 1
    sw a1, 0(a0)
    CSR_SET mip, 0x200
    CSR_SET mie, 0xaaa
    INTERRUPTED S_MODE, 3
    li a0, CLINT
    sw zero, 0(a0)
    INTERRUPTED S_MODE, 7
    li a0, MTIMECMP
    li a1, -1
    sd a1, 0(a0)
    INTERRUPTED S_MODE, 9
    END

    CASE "II-3.1.9 priority: SEI before SSI"
    CSR_SET mip, 0x222
    CSR_SET mie, 0x222
    INTERRUPTED S_MODE, 9
    END

    CASE "II-3.1.9 priority: SSI before STI"
    CSR_SET mip, 0x022
    CSR_SET mie, 0x222
    INTERRUPTED S_MODE, 1
    CSR_CLEAR mip, 2
    INTERRUPTED S_MODE, 5
    END

    CASE "II-8.4.3 priority: VSEI before VSSI"
    CSR_SET mie, 0x444
    CSR_WRITE hvip, 0x444
    RUN S_MODE, code_sie_spin
    TRAPPED 9
    CSR_EQ scause, INTERRUPT | 10
    END

    CASE "II-8.4.3 priority: VSSI before VSTI"
    CSR_SET mie, 0x444
    CSR_WRITE hvip, 0x044
    RUN S_MODE, code_sie_spin
    TRAPPED 9
    CSR_EQ scause, INTERRUPT | 2
    CSR_WRITE hvip, 0x040
    RUN S_MODE, code_sie_spin
    TRAPPED 9
    CSR_EQ scause, INTERRUPT | 6
    END

    CASE "II-3.1.9 delegated interrupts: SIE counts in S, not in U, and never in M"
    CSR_SET mideleg, 2
    CSR_SET mip, 2
    CSR_SET mie, 2
    # SIE is clear: S goes on.
    RUN S_MODE, call_machine
    TRAPPED 9
    CSR_BITS mip, 2, 2
    # U is interrupted.
    RUN U_MODE, spin
    TRAPPED 9
    CSR_EQ scause, INTERRUPT | 1
    csrr a0, sepc
    EQ_ADDRESS a0, spin
    CSR_BITS mstatus, MSTATUS_SPP, 0
    RUN S_MODE, code_sie_spin
    TRAPPED 9
    CSR_EQ scause, INTERRUPT | 1
    CSR_SET mstatus, MSTATUS_MIE
    nop
    CSR_CLEAR mstatus, MSTATUS_MIE
    END

    CASE "II-3.1.7 vectored interrupts"
    CSR_SET mideleg, 0x222
    CSR_SET mie, 0x222
    la a0, call_machine + 1
    csrw stvec, a0
    CSR_SET mip, 0x200
    RUN U_MODE, spin
    TRAPPED 9
    TRAP_EPC call_machine, 36
    CSR_CLEAR mip, 0x200
    CSR_SET mip, 2
    RUN U_MODE, spin
    TRAP_EPC call_machine, 4
    END

    CASE "II-8.2.3 VS interrupts, delegated by hideleg, under S numbers"
    CSR_SET hideleg, 0x444
    CSR_SET mie, 0x444
    CSR_WRITE hvip, 0x400
    la a0, call_machine + 1
    csrw vstvec, a0
    RUN VU_MODE, spin
    TRAPPED 10
    CSR_EQ vscause, INTERRUPT | 9
    TRAP_EPC call_machine, 36
    CSR_WRITE hvip, 0x40
    RUN VU_MODE, spin
    CSR_EQ vscause, INTERRUPT | 5
    CSR_WRITE hvip, 4
    RUN VU_MODE, spin
    CSR_EQ vscause, INTERRUPT | 1
    # Not in modes that are not virtual.
    RUN U_MODE, call_machine
    TRAPPED 8
    # In VS by vsstatus.SIE.
    RUN VS_MODE, call_machine
    TRAPPED 10
    CSR_EQ vscause, INTERRUPT | 1
    CSR_SET vsstatus, MSTATUS_SIE
    RUN VS_MODE, spin
    TRAPPED 10
    CSR_BITS vsstatus, MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP, MSTATUS_SPIE | MSTATUS_SPP
    END

    CASE "II-8.2.3 VS interrupts that hideleg keeps go to HS"
    CSR_SET mie, 0x444
    CSR_WRITE hvip, 4
    RUN VS_MODE, spin
    TRAPPED 9
    CSR_EQ scause, INTERRUPT | 2
    CSR_BITS hstatus, HSTATUS_SPV | HSTATUS_SPVP, HSTATUS_SPV | HSTATUS_SPVP
    END

    CASE "II-8.2.3 hvip, hip and vsip"
    CSR_WRITE hvip, -1
    CSR_BITS hvip, 0x444, 0x444
    CSR_BITS hip, 0x444, 0x444
    CSR_BITS mip, 0x444, 0x444
    CSR_EQ vsip, 0
    CSR_SET hideleg, 0x444
    CSR_EQ vsip, 0x222
    # Of vsip only SSIP can be written.
    csrw vsip, zero
    CSR_EQ vsip, 0x220
    CSR_BITS hvip, 0x444, 0x440
    csrw hvip, zero
    CSR_EQ vsip, 0
    END

    CASE "II-8.2.3 hie and vsie are parts of mie"
    CSR_WRITE mie, 0
    CSR_WRITE hie, 0x444
    CSR_BITS mie, 0xfff, 0x444
    CSR_EQ vsie, 0
    CSR_SET hideleg, 0x404
    CSR_EQ vsie, 0x202
    csrw vsie, zero
    CSR_BITS mie, 0xfff, 0x040
    END

    CASE "II-4.1.3 sie and sip show what is delegated"
    CSR_WRITE mie, 0x222
    CSR_SET mip, 0x222
    CSR_EQ sie, 0
    CSR_EQ sip, 0
    CSR_SET mideleg, 0x22
    CSR_BITS sie, 0x222, 0x22
    CSR_BITS sip, 0x222, 0x22
    csrw sip, zero
    # SSIP alone can be written.
    CSR_BITS sip, 0x222, 0x20
    csrw sie, zero
    CSR_BITS mie, 0x222, 0x200
    END

    CASE "II-8.2.3 mideleg: VS interrupts are always delegated to HS"
    CSR_WRITE mideleg, 0
    CSR_BITS mideleg, 0x444, 0x444
    END

    CASE "Sstc-2 stimecmp makes STIP pending"
    CSR_SET menvcfg, 1 << 63
    CSR_WRITE stimecmp, -1
    CSR_BITS mip, 0x20, 0
    csrw stimecmp, zero
    CSR_BITS mip, 0x20, 0x20
    # Of no use to software then.
    CSR_CLEAR mip, 0x20
    CSR_BITS mip, 0x20, 0x20
    CSR_SET mie, 0x20
    INTERRUPTED S_MODE, 5
    CSR_WRITE stimecmp, -1
    CSR_BITS mip, 0x20, 0
    END

    CASE "Sstc-2 access to stimecmp: STCE and TM"
    RUN S_MODE, code_stimecmp
    TRAPPED 2
    CSR_SET menvcfg, 1 << 63
    RUN S_MODE, code_stimecmp
    TRAPPED 2
    CSR_SET mcounteren, 2
    RUN S_MODE, code_stimecmp
    TRAPPED 9
    RUN S_MODE, code_vstimecmp
    TRAPPED 9
    RUN U_MODE, code_stimecmp
    TRAPPED 2
    RUN VS_MODE, code_stimecmp
    TRAPPED 22
    CSR_SET hcounteren, 2
    RUN VS_MODE, code_stimecmp
    TRAPPED 22
    CSR_SET henvcfg, 1 << 63
    RUN VS_MODE, code_stimecmp
    TRAPPED 10
    RUN VS_MODE, code_vstimecmp
    TRAPPED 22
    END

    CASE "Sstc-3 vstimecmp and htimedelta"
    CSR_SET menvcfg, 1 << 63
    CSR_SET henvcfg, 1 << 63
    CSR_WRITE vstimecmp, 1 << 62
    CSR_BITS mip, 0x40, 0
    # The guest's time is ahead.
    CSR_WRITE htimedelta, 1 << 62
    CSR_BITS mip, 0x40, 0x40
    CSR_SET hideleg, 0x40
    CSR_SET mie, 0x40
    RUN VU_MODE, spin
    TRAPPED 10
    CSR_EQ vscause, INTERRUPT | 5
    CSR_WRITE htimedelta, 0
    CSR_BITS mip, 0x40, 0
    # hvip's bit is there as well.
    CSR_WRITE vstimecmp, -1
    END

    CASE "Sstc-2 the timer interrupts when its time comes"
    CSR_SET menvcfg, 1 << 63
    CSR_SET mie, 0x20
    li a0, MTIME
    ld a0, 0(a0)
    addi a0, a0, 50
    csrw stimecmp, a0
    INTERRUPTED S_MODE, 5
    li a1, MTIME
    ld a1, 0(a1)
    sltu a1, a1, a0
    EQ a1, 0
    END

    CASE "II-3.7.1 PMP: no entry matches"
    # One is about the four bytes at address 0 alone.
    csrw pmpaddr0, zero
    li a0, 0x17
    csrw pmpcfg0, a0
    sfence.vma
    RUN S_MODE, call_machine
    TRAPPED 1
    TRAP_EPC call_machine
    # M is free to.
    ld a0, guarded
    END

    CASE "II-3.7.1 PMP: NAPOT, each right"
    GUARD 0
    la a1, guarded
    RUN S_MODE, code_load
    TRAPPED 5
    RUN S_MODE, code_store
    TRAPPED 7
    RUN S_MODE, code_jump
    TRAPPED 1
    RUN U_MODE, code_load
    TRAPPED 5
    GUARD 1
    la a1, guarded
    RUN S_MODE, code_load
    TRAPPED 9
    RUN S_MODE, code_store
    TRAPPED 7
    RUN S_MODE, code_amo
    TRAPPED 7
    RUN S_MODE, code_jump
    TRAPPED 1
    GUARD 3
    la a1, guarded
    RUN S_MODE, code_store
    TRAPPED 9
    GUARD 4
    la a1, guarded
    RUN S_MODE, code_load
    TRAPPED 5
    RUN S_MODE, code_jump
    TRAPPED 9
    # The bytes behind are of entry 1.
    addi a1, a1, 8
    RUN S_MODE, code_load
    TRAPPED 9
    # M is not held by what is not locked.
    ld a0, guarded
    END

    CASE "II-3.7.1 PMP: an access that matches in part fails"
    GUARD 7
    la a1, guarded + 4
    RUN S_MODE, code_load
    TRAPPED 5
    RUN S_MODE, code_store
    TRAPPED 7
    TRAPS 5, ld a0, 0(a1)
    END

    CASE "II-3.7.1 PMP: NA4 and TOR"
    GUARD 0
    la a0, guarded
    srli a0, a0, 2
    csrw pmpaddr0, a0
    # NA4, no rights
    li a2, 0x1f10
    csrw pmpcfg0, a2
    sfence.vma
    la a1, guarded
    RUN S_MODE, code_load_word
    TRAPPED 5
    la a1, guarded + 4
    RUN S_MODE, code_load_word
    TRAPPED 9
    # TOR from pmpaddr0 on
    la a0, guarded
    srli a0, a0, 2
    csrw pmpaddr0, a0
    addi a0, a0, 1
    csrw pmpaddr1, a0
    li a0, -1
    csrw pmpaddr2, a0
    li a2, 0x1f0800
    csrw pmpcfg0, a2
    sfence.vma
    la a1, guarded
    RUN S_MODE, code_load_word
    TRAPPED 5
    la a1, guarded + 4
    RUN S_MODE, code_load_word
    TRAPPED 9
    la a1, guarded - 4
    RUN S_MODE, code_load_word
    TRAPPED 9
    END

    CASE "II-3.7.1 PMP: the lowest entry counts"
    la a0, guarded
    srli a0, a0, 2
    csrw pmpaddr0, a0
    csrw pmpaddr1, a0
    li a0, -1
    csrw pmpaddr2, a0
    li a2, 0x1f1819
    csrw pmpcfg0, a2
    sfence.vma
    la a1, guarded
    RUN S_MODE, code_load
    TRAPPED 9
    li a2, 0x1f1f18
    csrw pmpcfg0, a2
    sfence.vma
    RUN S_MODE, code_load
    TRAPPED 5
    END

    CASE "II-3.7.1 PMP: MPRV"
    GUARD 0
    la a1, guarded
    CSR_CLEAR mstatus, MSTATUS_MPP
    li a2, MSTATUS_MPRV
    RESUME 1f
    csrs mstatus, a2
    ld a0, 0(a1)
1:  csrc mstatus, a2
    TRAPPED 5
    END

    CASE "II-3.7.1 PMP: implicit accesses of page-table walks"
    GUARD 0
    la a0, guarded
    srli a0, a0, 12
    li a1, 8 << 60
    or a0, a0, a1
    csrw satp, a0
    sfence.vma
    # Entry 0 of the root lies in what is guarded.
    li a1, 0
    CSR_CLEAR mstatus, MSTATUS_MPP
    CSR_SET mstatus, S_MODE
    li a2, MSTATUS_MPRV
    RESUME 1f
    csrs mstatus, a2
    ld a0, 0(a1)
1:  csrc mstatus, a2
    TRAPPED 5
    END

    # These keep an entry to the end of the image: last.
    CASE "II-3.7.1 PMP: locked entries hold M, and cannot be changed"
    la a0, locked
    srli a0, a0, 2
    csrw pmpaddr15, a0
    # NAPOT, locked, no rights; and nothing before it
    csrw pmpcfg0, zero
    li a2, 0x98 << 56
    csrw pmpcfg2, a2
    sfence.vma
    la a1, locked
    TRAPS 5, ld a0, 0(a1)
    TRAPS 7, sd a0, 0(a1)
    csrw pmpcfg2, zero
    CSR_EQ pmpcfg2, 0x98 << 56
    csrw pmpaddr15, zero
    csrr a3, pmpaddr15
    srli a1, a1, 2
    SAME a3, a1
    END

    FINISH

    .balign 4
    .option norvc
spin:
    nop
    j spin
    ecall
code_sie_spin:
    csrsi sstatus, 2
    nop
    j spin
    .macro CODE name, instruction:vararg
\name:
    \instruction
    ecall
    .endm
    CODE code_stimecmp, csrr a0, stimecmp
    CODE code_vstimecmp, csrr a0, vstimecmp
    CODE code_load, ld a0, 0(a1)
    CODE code_load_word, lw a0, 0(a1)
    CODE code_store, sd a0, 0(a1)
    CODE code_jump, jr a1
    CODE code_amo, amoor.w zero, zero, (a1)

    .section .data
    .balign 0x1000
guarded:
    ecall
    ecall
    .dword 0
    .balign 0x1000
locked:     .dword 0
