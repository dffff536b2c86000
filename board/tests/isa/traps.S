# Exceptions and what they report, entering and leaving traps, delegation, mode-specific instructions.

    .include "frame.inc"

    .macro ILLEGAL bits
    RESUME .Lnext\@
.Lat\@:
    .if (\bits & 3) == 3
    .4byte \bits
    .else
    .2byte \bits
    .2byte 0x0001
    .endif
    jal t4, frame_untrapped
.Lnext\@:
    TRAPPED 2
    la t5, frame_epc
    ld t5, 0(t5)
    EQ_ADDRESS t5, .Lat\@
    # Zero, or the instruction (II 3.1.16).
    la t5, frame_tval
    ld t5, 0(t5)
    beqz t5, .Lfine\@
    EQ t5, \bits
.Lfine\@:
    .endm

    START

    CASE "I-1.5 all zero bits and all one bits are illegal"
    ILLEGAL 0x00000000
    ILLEGAL 0xffffffff
    END

    CASE "I-16.5 reserved encodings of compressed quadrant 0"
    ILLEGAL 0x0000
    # c.addi4spn with no immediate
    ILLEGAL 0x0004
    ILLEGAL 0x001c
    # funct3 100
    ILLEGAL 0x8000
    ILLEGAL 0x9ffc
    END

    CASE "I-16.5 reserved encodings of compressed quadrant 1"
    # c.addiw to x0
    ILLEGAL 0x2001
    ILLEGAL 0x207d
    # c.lui and c.addi16sp without an immediate
    ILLEGAL 0x6081
    ILLEGAL 0x6101
    # the arithmetic group's holes
    ILLEGAL 0x9c41
    ILLEGAL 0x9c61
    ILLEGAL 0x9ffd
    END

    CASE "I-16.5 reserved encodings of compressed quadrant 2"
    # c.lwsp and c.ldsp to x0, c.jr x0
    ILLEGAL 0x4002
    ILLEGAL 0x6002
    ILLEGAL 0x8002
    ILLEGAL 0x507e
    END

    CASE "I-2 reserved encodings of OP-IMM and OP"
    ILLEGAL 0x04009093
    ILLEGAL 0x8000d093
    ILLEGAL 0x800000b3
    ILLEGAL 0x020010bb
    ILLEGAL 0xfe0000b3
    ILLEGAL 0x2000109b
    ILLEGAL 0x0200109b
    ILLEGAL 0x400010b3
    END

    CASE "I-2 reserved encodings of LOAD, STORE, BRANCH, JALR"
    ILLEGAL 0x00007003
    ILLEGAL 0x00004023
    ILLEGAL 0x00007023
    ILLEGAL 0x00002063
    ILLEGAL 0x00003063
    ILLEGAL 0x00001067
    ILLEGAL 0x00007067
    END

    CASE "I-8 reserved encodings of AMO"
    # lr with a second source, widths other than W and D, holes of the function
    ILLEGAL 0x1010a02f
    ILLEGAL 0x0000802f
    ILLEGAL 0x0000902f
    ILLEGAL 0x0000c02f
    ILLEGAL 0x3000a02f
    ILLEGAL 0xf800a02f
    END

    CASE "I-11 reserved encodings of floating point"
    # formats H and Q, reserved rounding modes, holes
    ILLEGAL 0x04007053
    ILLEGAL 0x06007053
    ILLEGAL 0x00005053
    ILLEGAL 0x00006053
    ILLEGAL 0x58107053
    ILLEGAL 0x20003053
    ILLEGAL 0x28002053
    ILLEGAL 0xa0003053
    ILLEGAL 0xe0002053
    ILLEGAL 0xc0407053
    ILLEGAL 0x40007053
    ILLEGAL 0x42107053
    ILLEGAL 0x00006043
    ILLEGAL 0x04007043
    ILLEGAL 0x00001007
    ILLEGAL 0x00000007
    ILLEGAL 0x00005007
    END

    CASE "I-2.8 reserved encodings of SYSTEM and MISC-MEM"
    ILLEGAL 0x000000f3
    ILLEGAL 0x00008073
    ILLEGAL 0x00200073
    ILLEGAL 0x00300073
    ILLEGAL 0x00004073
    ILLEGAL 0x7b200073
    ILLEGAL 0x10400073
    ILLEGAL 0x30300073
    ILLEGAL 0x20200073
    ILLEGAL 0x0000300f
    ILLEGAL 0x0000700f
    ILLEGAL 0x60204073
    ILLEGAL 0x6c304073
    END

    CASE "I-24 custom and reserved major opcodes"
    ILLEGAL 0x0000000b
    ILLEGAL 0x0000002b
    ILLEGAL 0x0000005b
    ILLEGAL 0x0000007b
    ILLEGAL 0x00000057
    ILLEGAL 0x0000006b
    ILLEGAL 0x00000077
    ILLEGAL 0x0000001f
    END

    CASE "II-2.1 CSRs that do not exist"
    .irp number, 0x004, 0x0ff, 0x107, 0x145, 0x1ff, 0x206, 0x2ff, 0x30b, 0x345, 0x6ff, 0x800, 0x9ff, 0xaff, 0xdff, 0xeff, 0xf16, 0xfff, 0xc83
    TRAPS 2, csrr a0, \number
    .endr
    END

    CASE "II-2.1 a write to a read-only CSR"
    TRAPS 2, csrw mhartid, a0
    TRAPS 2, csrrs a0, mvendorid, a1
    TRAPS 2, csrrc a0, marchid, a1
    TRAPS 2, csrrwi a0, mimpid, 0
    TRAPS 2, csrrsi a0, cycle, 1
    TRAPS 2, csrrci a0, instret, 1
    # The operand x0 writes nothing, a register of value 0 does.
    csrrs a0, mhartid, x0
    csrrci a0, mhartid, 0
    li a1, 0
    TRAPS 2, csrrs a0, mhartid, a1
    END

    CASE "I-9.1 CSR instructions read the old value and write the new"
    li a1, 0x1234
    csrw mscratch, a1
    li a2, 0xff0
    csrrs a0, mscratch, a2
    EQ a0, 0x1234
    CSR_EQ mscratch, 0x1ff4
    csrrc a0, mscratch, a2
    EQ a0, 0x1ff4
    CSR_EQ mscratch, 0x1004
    csrrw a0, mscratch, a2
    EQ a0, 0x1004
    csrrwi a0, mscratch, 31
    EQ a0, 0xff0
    csrrsi a0, mscratch, 0
    EQ a0, 31
    csrrci a0, mscratch, 21
    EQ a0, 31
    csrrsi a0, mscratch, 4
    EQ a0, 10
    CSR_EQ mscratch, 14
    csrrw a2, mscratch, a2
    EQ a2, 14
    CSR_EQ mscratch, 0xff0
    csrrw x0, mscratch, x0
    CSR_EQ mscratch, 0
    END

    CASE "II-3.3.1 ecall from M"
    TRAPS 11, ecall
    TRAPPED_FROM M_MODE
    TRAP_VALUE 0
    END

    CASE "II-3.3.1 ecall from S"
    RUN S_MODE, call_machine
    TRAPPED 9
    TRAPPED_FROM S_MODE
    TRAP_EPC call_machine
    TRAP_VALUE 0
    TRAP_GVA 0
    END

    CASE "II-3.3.1 ecall from U"
    RUN U_MODE, call_machine
    TRAPPED 8
    TRAPPED_FROM U_MODE
    TRAP_EPC call_machine
    END

    CASE "II-8.6.1 ecall from VS"
    RUN VS_MODE, call_machine
    TRAPPED 10
    TRAPPED_FROM VS_MODE
    TRAP_EPC call_machine
    TRAP_GVA 0
    END

    CASE "II-8.6.1 ecall from VU"
    RUN VU_MODE, call_machine
    TRAPPED 8
    TRAPPED_FROM VU_MODE
    END

    CASE "II-3.3.1 ebreak"
    RESUME 1f
2:  ebreak
1:  TRAPPED 3
    TRAP_EPC 2b
    RESUME 1f
2:  c.ebreak
1:  TRAPPED 3
    TRAP_EPC 2b
    # mtval: zero, or the address (II 3.1.16).
    la t5, frame_tval
    ld t5, 0(t5)
    beqz t5, 3f
    EQ_ADDRESS t5, 2b
3:
    END

    CASE "II-3.1.16 load access fault where nothing is"
    li a1, NOTHING
    .irp instruction, lb, lbu, lh, lhu, lw, lwu, ld
    TRAPS 5, \instruction a0, 0(a1)
    TRAP_VALUE NOTHING
    .endr
    TRAPS 5, flw fa0, 8(a1)
    TRAP_VALUE NOTHING + 8
    TRAPS 5, fld fa0, 8(a1)
    TRAPS 5, c.ld a0, 8(a1)
    END

    CASE "II-3.1.16 store access fault where nothing is"
    li a1, NOTHING
    .irp instruction, sb, sh, sw, sd
    TRAPS 7, \instruction a0, 0(a1)
    TRAP_VALUE NOTHING
    .endr
    TRAPS 7, fsw fa0, 8(a1)
    TRAPS 7, fsd fa0, 8(a1)
    TRAP_VALUE NOTHING + 8
    END

    CASE "II-3.7 load reserved and AMO access faults"
    li a1, NOTHING
    TRAPS 5, lr.w a0, (a1)
    TRAPS 7, amoadd.w a0, a0, (a1)
    TRAPS 7, amoswap.d a0, a0, (a1)
    END

    CASE "II-3.1.15 instruction access fault"
    li a1, NOTHING
    RESUME 1f
    jr a1
1:  TRAPPED 1
    TRAP_VALUE NOTHING
    la t5, frame_epc
    ld t5, 0(t5)
    EQ t5, NOTHING
    END

    CASE "II-3.1.15 physical addresses beyond the platform's"
    li a1, 1 << 56
    TRAPS 5, ld a0, 0(a1)
    TRAP_VALUE 1 << 56
    TRAPS 7, sd a0, 0(a1)
    li a1, -8
    TRAPS 5, ld a0, 0(a1)
    RESUME 1f
    jr a1
1:  TRAPPED 1
    TRAP_VALUE -8
    END

    CASE "I-2.5 jalr clears bit 0 of its target"
    la a1, 1f + 1
    jalr a0, 0(a1)
2:  jal t4, frame_untrapped
1:  EQ_ADDRESS a0, 2b
    la a1, 1f
    jr 1(a1)
    jal t4, frame_untrapped
1:
    END

    CASE "I-8.2 misaligned LR"
    la a1, scratch + 4
    TRAPS 4, lr.d a0, (a1)
    la a5, scratch + 4
    la t5, frame_tval
    ld t5, 0(t5)
    SAME t5, a5
    addi a1, a1, -2
    TRAPS 4, lr.w a0, (a1)
    END

    CASE "I-8.2 misaligned SC without a reservation"
    la a1, scratch + 2
    TRAPS 6, sc.w a0, a0, (a1)
    END

    CASE "I-8.4 misaligned AMO"
    la a1, scratch + 2
    TRAPS 6, amoadd.w a0, a0, (a1)
    TRAPS 6, amoor.d a0, a0, (a1)
    TRAPS 6, amomaxu.w a0, a0, (a1)
    END

    CASE "II-3.1.6.1 a trap to M stacks MIE and MPP, mret unstacks them"
    CSR_CLEAR mstatus, MSTATUS_MPIE
    CSR_SET mstatus, MSTATUS_MIE
    TRAPS 11, ecall
    CSR_BITS mstatus, MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP | MSTATUS_MPV, MSTATUS_MPIE | MSTATUS_MPP
    TRAPS 11, ecall
    CSR_BITS mstatus, MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP | MSTATUS_MPV, MSTATUS_MPP
    CSR_SET mstatus, MSTATUS_MPIE
    CSR_ADDRESS mepc, 1f
    mret
1:  CSR_BITS mstatus, MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP, MSTATUS_MIE | MSTATUS_MPIE
    END

    CASE "II-3.3.2 mret from M to each mode"
    .irp mode, U_MODE, S_MODE, VU_MODE, VS_MODE
    RUN \mode, call_machine
    TRAPPED_FROM \mode
    .endr
    # MPP is M: MPV does not count.
    CSR_SET mstatus, MSTATUS_MPP | MSTATUS_MPV
    CSR_ADDRESS mepc, 1f
    mret
1:  TRAPS 11, ecall
    TRAPPED_FROM M_MODE
    END

    CASE "II-8.6.4 mret clears MPV and leaves hstatus alone"
    CSR_SET hstatus, HSTATUS_SPV | HSTATUS_SPVP
    RUN VS_MODE, call_machine
    CSR_BITS hstatus, HSTATUS_SPV | HSTATUS_SPVP, HSTATUS_SPV | HSTATUS_SPVP
    CSR_BITS mstatus, MSTATUS_MPV, MSTATUS_MPV
    CSR_ADDRESS mepc, 1f
    CSR_SET mstatus, MSTATUS_MPP
    mret
1:  CSR_BITS mstatus, MSTATUS_MPV | MSTATUS_MPP, 0
    END

    CASE "II-3.3.2 mret below M is illegal"
    RUN S_MODE, code_mret
    TRAPPED 2
    TRAPPED_FROM S_MODE
    RUN U_MODE, code_mret
    TRAPPED 2
    RUN VS_MODE, code_mret
    TRAPPED 2
    TRAPPED_FROM VS_MODE
    RUN VU_MODE, code_mret
    TRAPPED 2
    END

    CASE "II-3.3.2 sret from M and S"
    CSR_ADDRESS sepc, call_machine
    CSR_SET mstatus, MSTATUS_SPP | MSTATUS_SPIE | MSTATUS_MPRV
    CSR_CLEAR mstatus, MSTATUS_SIE
    RESUME 1f
    sret
1:  TRAPPED 9
    CSR_BITS mstatus, MSTATUS_SPP | MSTATUS_SPIE | MSTATUS_SIE | MSTATUS_MPRV, MSTATUS_SPIE | MSTATUS_SIE
    # Now SPP is U, and SPIE is clear.
    CSR_CLEAR mstatus, MSTATUS_SPIE
    RUN S_MODE, code_sret
    TRAPPED 8
    CSR_BITS mstatus, MSTATUS_SPP | MSTATUS_SPIE | MSTATUS_SIE, MSTATUS_SPIE
    END

    CASE "II-3.1.6.3 mret to a mode below M clears MPRV"
    CSR_SET mstatus, MSTATUS_MPRV
    RUN S_MODE, call_machine
    CSR_BITS mstatus, MSTATUS_MPRV, 0
    END

    CASE "II-3.1.6.3 mret to M keeps MPRV"
    CSR_SET mstatus, MSTATUS_MPRV | MSTATUS_MPP
    CSR_ADDRESS mepc, 1f
    mret
1:  CSR_BITS mstatus, MSTATUS_MPRV, MSTATUS_MPRV
    END

    CASE "II-8.6.4 sret from HS enters VS by SPV"
    CSR_ADDRESS sepc, call_machine
    CSR_SET mstatus, MSTATUS_SPP
    CSR_SET hstatus, HSTATUS_SPV
    RUN S_MODE, code_sret
    TRAPPED 10
    TRAPPED_FROM VS_MODE
    CSR_BITS hstatus, HSTATUS_SPV, 0
    CSR_CLEAR mstatus, MSTATUS_SPP
    CSR_SET hstatus, HSTATUS_SPV
    RUN S_MODE, code_sret
    TRAPPED 8
    TRAPPED_FROM VU_MODE
    END

    CASE "II-8.6.4 sret from VS stays virtual and uses vsstatus and vsepc"
    CSR_ADDRESS vsepc, call_machine
    CSR_SET vsstatus, MSTATUS_SPP | MSTATUS_SPIE
    CSR_SET hstatus, HSTATUS_SPV
    RUN VS_MODE, code_sret
    TRAPPED 10
    CSR_BITS vsstatus, MSTATUS_SPP | MSTATUS_SPIE | MSTATUS_SIE, MSTATUS_SPIE | MSTATUS_SIE
    CSR_BITS hstatus, HSTATUS_SPV, HSTATUS_SPV
    RUN VS_MODE, code_sret
    TRAPPED 8
    TRAPPED_FROM VU_MODE
    END

    CASE "II-3.3.2 sret from U is illegal"
    RUN U_MODE, code_sret
    TRAPPED 2
    END

    CASE "II-8.6.1 sret from VU is a virtual instruction exception"
    RUN VU_MODE, code_sret
    TRAPPED 22
    TRAPPED_FROM VU_MODE
    END

    CASE "II-3.1.6.5 TSR"
    CSR_SET mstatus, MSTATUS_TSR
    RUN S_MODE, code_sret
    TRAPPED 2
    END

    CASE "II-8.4.1 TSR is not about VS-mode"
    CSR_SET mstatus, MSTATUS_TSR
    CSR_ADDRESS vsepc, call_machine
    CSR_SET vsstatus, MSTATUS_SPP
    RUN VS_MODE, code_sret
    TRAPPED 10
    END

    CASE "II-8.6.1 VTSR"
    CSR_SET hstatus, HSTATUS_VTSR
    RUN VS_MODE, code_sret
    TRAPPED 22
    TRAP_EPC code_sret
    # It is about VS-mode, not HS-mode.
    CSR_ADDRESS sepc, call_machine
    CSR_SET mstatus, MSTATUS_SPP
    RUN S_MODE, code_sret
    TRAPPED 9
    END

    CASE "II-3.1.6.5 TVM"
    RUN S_MODE, code_satp
    TRAPPED 9
    RUN S_MODE, code_sfence
    TRAPPED 9
    RUN S_MODE, code_hgatp
    TRAPPED 9
    RUN S_MODE, code_hfence_gvma
    TRAPPED 9
    CSR_SET mstatus, MSTATUS_TVM
    RUN S_MODE, code_satp
    TRAPPED 2
    RUN S_MODE, code_satp_write
    TRAPPED 2
    RUN S_MODE, code_sfence
    TRAPPED 2
    RUN S_MODE, code_hgatp
    TRAPPED 2
    RUN S_MODE, code_hfence_gvma
    TRAPPED 2
    # Not these two.
    RUN S_MODE, code_vsatp
    TRAPPED 9
    RUN S_MODE, code_hfence_vvma
    TRAPPED 9
    # Nor VS-mode.
    RUN VS_MODE, code_satp
    TRAPPED 10
    RUN VS_MODE, code_sfence
    TRAPPED 10
    END

    CASE "II-8.6.1 VTVM"
    CSR_SET hstatus, HSTATUS_VTVM
    RUN VS_MODE, code_satp
    TRAPPED 22
    RUN VS_MODE, code_satp_write
    TRAPPED 22
    RUN VS_MODE, code_sfence
    TRAPPED 22
    RUN S_MODE, code_satp
    TRAPPED 9
    RUN S_MODE, code_sfence
    TRAPPED 9
    END

    CASE "II-3.1.6.5 TW"
    # An interrupt that is pending and enabled but not taken ends the wait.
    CSR_SET mie, 2
    CSR_SET mip, 2
    CSR_SET mideleg, 2
    RUN S_MODE, code_wfi
    TRAPPED 9
    CSR_SET mstatus, MSTATUS_TW
    wfi
    CSR_SET mstatus, MSTATUS_TW
    CSR_CLEAR mie, 2
    RUN S_MODE, code_wfi
    TRAPPED 2
    RUN VS_MODE, code_wfi
    TRAPPED 2
    END

    CASE "II-8.6.1 TW and wfi from VU"
    CSR_SET mstatus, MSTATUS_TW
    RUN VU_MODE, code_wfi
    TRAPPED 2
    END

    CASE "II-8.6.1 VTW"
    CSR_SET hstatus, HSTATUS_VTW
    RUN VS_MODE, code_wfi
    TRAPPED 22
    END

    CASE "II-8.6.1 wfi from VU"
    RUN VU_MODE, code_wfi
    TRAPPED 22
    END

    CASE "II-3.3.3 wfi goes on where an interrupt is pending and enabled by mie alone"
    CSR_SET mie, 8
    li a0, CLINT
    li a1, 1
    sw a1, 0(a0)
    # MIE is clear: no trap.
    wfi
    CSR_BITS mip, 8, 8
    sw zero, 0(a0)
    END

    CASE "II-3.3.3 wfi wakes by the timer and the trap returns behind it"
    li a0, MTIME
    ld a1, 0(a0)
    addi a1, a1, 200
    li a0, MTIMECMP
    sd a1, 0(a0)
    CSR_SET mie, 0x80
    RESUME 1f
    CSR_SET mstatus, MSTATUS_MIE
    wfi
2:  nop
    nop
    jal t4, frame_untrapped
1:  TRAPPED 0x8000000000000007
    END

    CASE "II-3.1.8 delegation by medeleg to S"
    CSR_SET medeleg, 0x104
    RUN U_MODE, code_illegal
    # The handler of S called.
    TRAPPED 9
    CSR_EQ scause, 2
    csrr a0, sepc
    EQ_ADDRESS a0, code_illegal
    CSR_BITS mstatus, MSTATUS_SPP, 0
    RUN S_MODE, code_illegal
    TRAPPED 9
    CSR_BITS mstatus, MSTATUS_SPP, MSTATUS_SPP
    RUN U_MODE, call_machine
    TRAPPED 9
    CSR_EQ scause, 8
    CSR_EQ stval, 0
    # M's own are never delegated.
    TRAPS 2, .4byte 0
    END

    CASE "II-3.1.8 S stacks SIE and clears it"
    CSR_SET medeleg, 4
    CSR_SET mstatus, MSTATUS_SIE
    RUN S_MODE, code_illegal
    CSR_BITS mstatus, MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP, MSTATUS_SPIE | MSTATUS_SPP
    RUN S_MODE, code_illegal
    CSR_BITS mstatus, MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP, MSTATUS_SPP
    END

    CASE "II-8.2.2 hedeleg delegates further to VS"
    CSR_SET medeleg, 0x104
    CSR_SET hedeleg, 0x104
    RUN VU_MODE, code_illegal
    TRAPPED 10
    CSR_EQ vscause, 2
    csrr a0, vsepc
    EQ_ADDRESS a0, code_illegal
    CSR_BITS vsstatus, MSTATUS_SPP, 0
    RUN VS_MODE, code_illegal
    CSR_BITS vsstatus, MSTATUS_SPP, MSTATUS_SPP
    RUN VU_MODE, call_machine
    TRAPPED 10
    CSR_EQ vscause, 8
    # Not from modes that are not virtual.
    RUN U_MODE, code_illegal
    TRAPPED 9
    CSR_EQ scause, 2
    # Nor without medeleg.
    CSR_CLEAR medeleg, 4
    RUN VU_MODE, code_illegal
    TRAPPED 2
    TRAPPED_FROM VU_MODE
    END

    CASE "II-8.6.2 a trap from VS to HS sets SPV, SPVP, SPP and GVA"
    CSR_SET medeleg, 4
    RUN VS_MODE, code_illegal
    TRAPPED 9
    CSR_BITS hstatus, HSTATUS_SPV | HSTATUS_SPVP | HSTATUS_GVA, HSTATUS_SPV | HSTATUS_SPVP
    CSR_BITS mstatus, MSTATUS_SPP, MSTATUS_SPP
    RUN VU_MODE, code_illegal
    CSR_BITS hstatus, HSTATUS_SPV | HSTATUS_SPVP | HSTATUS_GVA, HSTATUS_SPV
    CSR_BITS mstatus, MSTATUS_SPP, 0
    # SPVP stays what it is when V was 0.
    CSR_SET hstatus, HSTATUS_SPVP
    RUN U_MODE, code_illegal
    CSR_BITS hstatus, HSTATUS_SPV | HSTATUS_SPVP, HSTATUS_SPVP
    END

    CASE "II-3.1.8 calls from M are not delegated"
    CSR_WRITE medeleg, -1
    CSR_BITS medeleg, 1 << 11, 0
    END

    CASE "II-3.1.8 bits of medeleg that can be set"
    CSR_WRITE medeleg, -1
    CSR_BITS medeleg, 0xf0b1ff & ~1, 0xf0b1ff & ~1
    END

    CASE "II-8.2.2 bits of hedeleg that are zero"
    CSR_WRITE hedeleg, -1
    CSR_BITS hedeleg, 0xf00e00, 0
    CSR_BITS hedeleg, 0xb1fe, 0xb1fe
    END

    CASE "II-8.6.1 H instructions from VS are virtual instruction exceptions"
    .irp code, code_hfence_vvma, code_hfence_gvma, code_hlv, code_hlvx, code_hsv
    RUN VS_MODE, \code
    TRAPPED 22
    TRAP_EPC \code
    .endr
    END

    CASE "II-8.6.1 H instructions from VU are virtual instruction exceptions"
    .irp code, code_hfence_vvma, code_hfence_gvma, code_hlv, code_hlvx, code_hsv, code_sfence
    RUN VU_MODE, \code
    TRAPPED 22
    TRAP_EPC \code
    .endr
    END

    CASE "II-8.3.1 H instructions from U are illegal"
    .irp code, code_hfence_vvma, code_hfence_gvma, code_hlv, code_hlvx, code_hsv, code_sfence
    RUN U_MODE, \code
    TRAPPED 2
    TRAP_EPC \code
    .endr
    END

    CASE "II-8.6.1 hypervisor and VS CSRs from VS and VU"
    .irp code, code_hgatp, code_vsatp, code_hstatus, code_hideleg, code_vsstatus, code_hgeip
    RUN VS_MODE, \code
    TRAPPED 22
    RUN VU_MODE, \code
    TRAPPED 22
    # With V=0 they are there for HS alone.
    RUN S_MODE, \code
    TRAPPED 9
    RUN U_MODE, \code
    TRAPPED 2
    .endr
    # A write to a read-only one is illegal in any mode.
    RUN VS_MODE, code_hgeip_write
    TRAPPED 2
    END

    CASE "II-8.6.1 satp from VU"
    RUN VU_MODE, code_satp
    TRAPPED 22
    END

    CASE "II-8.6.1 sstatus from VU"
    RUN VU_MODE, code_sstatus
    TRAPPED 22
    END

    CASE "II-8.6.1 sscratch from VU"
    RUN VU_MODE, code_sscratch
    TRAPPED 22
    END

    CASE "II-2.1 supervisor CSRs from U are illegal"
    .irp code, code_satp, code_sstatus, code_sscratch
    RUN U_MODE, \code
    TRAPPED 2
    .endr
    END

    CASE "II-8.6.1 machine CSRs below M are illegal"
    .irp mode, U_MODE, S_MODE, VU_MODE, VS_MODE
    RUN \mode, code_mstatus
    TRAPPED 2
    .endr
    END

    CASE "II-8.2 VS sees its own registers by the names of S"
    CSR_WRITE sscratch, 0x111
    CSR_WRITE vsscratch, 0x222
    RUN VS_MODE, code_sscratch
    TRAPPED 10
    EQ a0, 0x222
    RUN S_MODE, code_sscratch
    EQ a0, 0x111
    li a0, 0x333
    RUN VS_MODE, code_sscratch_write
    CSR_EQ vsscratch, 0x333
    CSR_EQ sscratch, 0x111
    END

    CASE "II-3.1.10 mcounteren and scounteren"
    .irp code, code_cycle, code_time, code_instret, code_hpmcounter3
    RUN S_MODE, \code
    TRAPPED 2
    RUN U_MODE, \code
    TRAPPED 2
    .endr
    CSR_WRITE mcounteren, 15
    .irp code, code_cycle, code_time, code_instret, code_hpmcounter3
    RUN S_MODE, \code
    TRAPPED 9
    RUN U_MODE, \code
    TRAPPED 2
    RUN VS_MODE, \code
    TRAPPED 22
    RUN VU_MODE, \code
    TRAPPED 22
    .endr
    CSR_WRITE scounteren, 15
    .irp code, code_cycle, code_time, code_instret, code_hpmcounter3
    RUN U_MODE, \code
    TRAPPED 8
    RUN VU_MODE, \code
    TRAPPED 22
    .endr
    CSR_WRITE hcounteren, 15
    .irp code, code_cycle, code_time, code_instret, code_hpmcounter3
    RUN VS_MODE, \code
    TRAPPED 10
    RUN VU_MODE, \code
    TRAPPED 8
    .endr
    CSR_WRITE scounteren, 0
    .irp code, code_cycle, code_time, code_instret, code_hpmcounter3
    RUN VS_MODE, \code
    TRAPPED 10
    RUN VU_MODE, \code
    TRAPPED 22
    .endr
    CSR_WRITE mcounteren, 0
    RUN VS_MODE, code_cycle
    TRAPPED 2
    END

    CASE "II-3.1.11 mcountinhibit stops cycle and instret"
    CSR_SET mcountinhibit, 5
    csrr a0, mcycle
    csrr a1, minstret
    nop
    nop
    csrr a2, mcycle
    csrr a3, minstret
    SAME a0, a2
    SAME a1, a3
    CSR_CLEAR mcountinhibit, 5
    nop
    csrr a2, mcycle
    csrr a3, minstret
    sltu a2, a0, a2
    EQ a2, 1
    sltu a3, a1, a3
    EQ a3, 1
    END

    CASE "II-3.1.11 mcycle and minstret take what is written"
    li a0, 0x1234567800000000
    csrw mcycle, a0
    csrr a1, mcycle
    srli a1, a1, 32
    EQ a1, 0x12345678
    csrw minstret, a0
    csrr a1, minstret
    srli a1, a1, 32
    EQ a1, 0x12345678
    csrr a1, cycle
    srli a1, a1, 32
    EQ a1, 0x12345678
    csrw mcycle, zero
    csrw minstret, zero
    END

    CASE "II-8.2.7 htimedelta"
    CSR_WRITE mcounteren, 2
    CSR_WRITE hcounteren, 2
    CSR_WRITE htimedelta, 0x4000000000000000
    RUN VS_MODE, code_time
    srli a1, a0, 60
    EQ a1, 4
    RUN S_MODE, code_time
    srli a1, a0, 60
    EQ a1, 0
    END

    CASE "II-3.1.6.6 FS is off: floating-point instructions and CSRs are illegal"
    CSR_CLEAR mstatus, MSTATUS_FS
    TRAPS 2, fadd.s fa0, fa0, fa0
    TRAPS 2, fld fa0, 0(a0)
    TRAPS 2, fsw fa0, 0(a0)
    TRAPS 2, fmv.x.w a0, fa0
    TRAPS 2, fcvt.d.l fa0, a0
    TRAPS 2, fmadd.d fa0, fa0, fa0, fa0
    TRAPS 2, c.fldsp fa0, 0(sp)
    TRAPS 2, csrr a0, fcsr
    TRAPS 2, csrr a0, frm
    TRAPS 2, csrw fflags, a0
    END

    CASE "II-3.1.6.6 FS becomes dirty, and SD with it"
    .irp setting, 0x2000, 0x4000
    CSR_CLEAR mstatus, MSTATUS_FS
    CSR_SET mstatus, \setting
    CSR_BITS mstatus, 0x8000000000006000, \setting
    fmv.x.w a0, fa0
    fsw fa0, 0(sp)
    CSR_BITS mstatus, 0x8000000000006000, \setting
    fmv.w.x fa0, zero
    CSR_BITS mstatus, 0x8000000000006000, 0x8000000000006000
    CSR_CLEAR mstatus, MSTATUS_FS
    CSR_SET mstatus, \setting
    csrw fcsr, zero
    CSR_BITS mstatus, 0x8000000000006000, 0x8000000000006000
    CSR_CLEAR mstatus, MSTATUS_FS
    CSR_SET mstatus, \setting
    fld fa0, 0(sp)
    CSR_BITS mstatus, 0x8000000000006000, 0x8000000000006000
    CSR_BITS sstatus, 0x8000000000006000, 0x8000000000006000
    .endr
    END

    CASE "II-8.2.12 vsstatus.FS counts when V=1, too"
    RUN VS_MODE, code_float
    TRAPPED 2
    CSR_SET vsstatus, 0x2000
    RUN VS_MODE, code_float
    TRAPPED 10
    CSR_BITS vsstatus, MSTATUS_FS, MSTATUS_FS
    CSR_BITS mstatus, MSTATUS_FS, MSTATUS_FS
    CSR_CLEAR mstatus, MSTATUS_FS
    RUN VU_MODE, code_float
    TRAPPED 2
    END

    CASE "II-8.2.12 vsstatus.SD"
    CSR_SET vsstatus, 0x6000
    CSR_BITS vsstatus, 0x8000000000006000, 0x8000000000006000
    CSR_CLEAR vsstatus, 0x2000
    CSR_BITS vsstatus, 0x8000000000006000, 0x4000
    END

    CASE "II-3.1.6 fields of mstatus"
    # UXL and SXL are 64 bits.
    CSR_BITS mstatus, 0xf00000000, 0xa00000000
    # MPP does not take the reserved value.
    CSR_CLEAR mstatus, MSTATUS_MPP
    CSR_SET mstatus, 2 << 11
    csrr a0, mstatus
    srli a0, a0, 11
    andi a0, a0, 3
    addi a0, a0, -2
    snez a0, a0
    EQ a0, 1
    CSR_BITS mstatus, 0x18000, 0
    END

    CASE "II-4.1.1 sstatus is a part of mstatus"
    CSR_CLEAR mstatus, MSTATUS_SUM | MSTATUS_MXR | MSTATUS_SPP
    csrr a0, mstatus
    CSR_SET sstatus, MSTATUS_SUM | MSTATUS_MXR | MSTATUS_SPP | MSTATUS_TVM | MSTATUS_MPP | MSTATUS_MIE
    csrr a1, mstatus
    xor a0, a0, a1
    EQ a0, MSTATUS_SUM | MSTATUS_MXR | MSTATUS_SPP
    CSR_BITS sstatus, MSTATUS_TVM | MSTATUS_MPP | MSTATUS_MIE | MSTATUS_MPRV | MSTATUS_TSR, 0
    CSR_BITS sstatus, 0x300000000, 0x200000000
    END

    CASE "II-3.1.1 misa"
    csrr a0, misa
    srli a1, a0, 62
    EQ a1, 2
    # A C D F H I M S U
    li a1, 0x1411ad
    and a0, a0, a1
    EQ a0, 0x1411ad
    END

    CASE "II-3.1.14 mepc and sepc clear bit 0"
    li a0, -1
    csrw mepc, a0
    CSR_EQ mepc, -2
    csrw sepc, a0
    CSR_EQ sepc, -2
    END

    CASE "II-8.2.15 vsepc clears bit 0"
    li a0, -1
    csrw vsepc, a0
    CSR_EQ vsepc, -2
    END

    CASE "II-3.1.7 vector modes"
    la a0, call_machine
    csrw stvec, a0
    addi a1, a0, 1
    csrw stvec, a1
    csrr a2, stvec
    SAME a2, a1
    csrw vstvec, a1
    csrr a2, vstvec
    SAME a2, a1
    # Exceptions go to the base.
    CSR_SET medeleg, 4
    RUN S_MODE, code_illegal
    TRAP_EPC call_machine
    END

    CASE "I-3.1 fence.i after code was changed"
    la a0, changed
    li a1, 0x00100513
    sw a1, 0(a0)
    fence.i
    jalr ra, 0(a0)
    EQ a0, 1
    la a0, changed
    li a1, 0x7ff00513
    sw a1, 0(a0)
    fence.i
    jalr ra, 0(a0)
    EQ a0, 0x7ff
    # Compressed, and straight on.
    la a0, 1f
    li a1, 0x4515
    sh a1, 0(a0)
    fence.i
1:  c.li a0, 1
    EQ a0, 5
    END

    CASE "I-2.7 fences of all kinds are executed"
    fence
    fence r, w
    fence iorw, iorw
    fence.tso
    .4byte 0x0000000f
    fence.i
    # rd and rs1 are ignored.
    .4byte 0x0ff1058f
    .4byte 0x0011150f
    END

    FINISH

    .balign 4
    .macro CODE name, instruction:vararg
\name:
    \instruction
    ecall
    .endm
    CODE code_mret, mret
    CODE code_sret, sret
    CODE code_wfi, wfi
    CODE code_satp, csrr a0, satp
    CODE code_satp_write, csrw satp, zero
    CODE code_hgatp, csrr a0, hgatp
    CODE code_vsatp, csrr a0, vsatp
    CODE code_hstatus, csrr a0, hstatus
    CODE code_hideleg, csrr a0, hideleg
    CODE code_vsstatus, csrr a0, vsstatus
    CODE code_hgeip, csrr a0, hgeip
    CODE code_hgeip_write, csrw hgeip, a0
    CODE code_sstatus, csrr a0, sstatus
    CODE code_sscratch, csrr a0, sscratch
    CODE code_sscratch_write, csrw sscratch, a0
    CODE code_mstatus, csrr a0, mstatus
    CODE code_sfence, sfence.vma
    CODE code_hfence_vvma, hfence.vvma
    CODE code_hfence_gvma, hfence.gvma
    CODE code_hlv, hlv.w a0, (a1)
    CODE code_hlvx, hlvx.hu a0, (a1)
    CODE code_hsv, hsv.d a0, (a1)
    CODE code_illegal, .4byte 0
    CODE code_cycle, csrr a0, cycle
    CODE code_time, csrr a0, time
    CODE code_instret, csrr a0, instret
    CODE code_hpmcounter3, csrr a0, hpmcounter3
    CODE code_float, fmv.w.x fa0, zero

    .section .data
    .balign 16
scratch:    .space 64
changed:    .4byte 0x00000013
    ret
