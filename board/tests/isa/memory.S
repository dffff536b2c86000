# Loads and stores, control transfer, atomics, and the compressed forms.

    .include "frame.inc"

    .macro LOAD instruction, expected, offset
    \instruction a0, \offset(a1)
    EQ a0, \expected
    .endm

# Stores all ones at an offset from cleared memory, and looks at both double words.
    .macro STORES instruction, low, high, offset
    STORE scratch, 0
    STORE scratch + 8, 0
    la a1, scratch
    li a0, -1
    \instruction a0, \offset(a1)
    MEMORY_EQ scratch, \low
    MEMORY_EQ scratch + 8, \high
    .endm

    .macro BRANCH instruction, taken, a, b
    li a1, \a
    li a2, \b
    li a0, 1
    \instruction a1, a2, .Ltaken\@
    li a0, 0
.Ltaken\@:
    EQ a0, \taken
    .endm

# An AMO on memory of value \a with \b: memory afterwards, and the old value.
    .macro AMO instruction, result, old, a, b
    STORE scratch, \a
    la a1, scratch
    li a2, \b
    \instruction a0, a2, (a1)
    EQ a0, \old
    MEMORY_EQ scratch, \result
    .endm

    START

    CASE "I-2.6 loads of all widths"
    STORE scratch, 0x8182838485868788
    la a1, scratch
    LOAD lb, 0xffffffffffffff88, 0
    LOAD lb, 0xffffffffffffff81, 7
    LOAD lbu, 0x88, 0
    LOAD lbu, 0x81, 7
    LOAD lh, 0xffffffffffff8788, 0
    LOAD lh, 0xffffffffffff8182, 6
    LOAD lhu, 0x8586, 2
    LOAD lw, 0xffffffff85868788, 0
    LOAD lw, 0xffffffff81828384, 4
    LOAD lwu, 0x81828384, 4
    LOAD ld, 0x8182838485868788, 0
    addi a1, a1, 2047
    LOAD lbu, 0x88, -2047
    lb x0, -2047(a1)
    EQ x0, 0
    END

    CASE "I-2.6 misaligned loads"
    STORE scratch, 0x8182838485868788
    STORE scratch + 8, 0x9192939495969798
    la a1, scratch
    LOAD lh, 0xffffffffffff8687, 1
    LOAD lhu, 0x9881, 7
    LOAD lw, 0xffffffff84858687, 1
    LOAD lwu, 0x96979881, 7
    LOAD lw, 0xffffffff98818283, 5
    LOAD ld, 0x9881828384858687, 1
    LOAD ld, 0x9697988182838485, 3
    LOAD ld, 0x9293949596979881, 7
    fld fa0, 5(a1)
    fmv.x.d a0, fa0
    EQ a0, 0x9495969798818283
    END

    CASE "I-2.6 stores of all widths, misaligned ones included"
    STORES sb, 0xff, 0, 0
    STORES sb, 0xff00000000000000, 0, 7
    STORES sh, 0xffff, 0, 0
    STORES sh, 0xffff00, 0, 1
    STORES sh, 0xff00000000000000, 0xff, 7
    STORES sw, 0xffffffff, 0, 0
    STORES sw, 0xffffff0000000000, 0xff, 5
    STORES sd, 0xffffffffffffffff, 0, 0
    STORES sd, 0xffffffffffffff00, 0xff, 1
    STORES sd, 0xff00000000000000, 0xffffffffffffff, 7
    END

    CASE "I-2.5 branches"
    BRANCH beq, 1, 5, 5
    BRANCH beq, 0, 5, -5
    BRANCH bne, 1, 0, 1 << 63
    BRANCH bne, 0, -1, -1
    BRANCH blt, 1, -1, 0
    BRANCH blt, 0, 0, -1
    BRANCH blt, 0, 7, 7
    BRANCH blt, 1, 1 << 63, 0x7fffffffffffffff
    BRANCH bge, 1, 7, 7
    BRANCH bge, 1, 0, -1
    BRANCH bge, 0, -1, 0
    BRANCH bltu, 1, 0, -1
    BRANCH bltu, 0, -1, 0
    BRANCH bltu, 0, 3, 3
    BRANCH bgeu, 1, -1, 0
    BRANCH bgeu, 1, 3, 3
    BRANCH bgeu, 0, 0, 1 << 63
    END

    CASE "I-2.5 branches and jumps backwards"
    li a0, 3
    li a1, 0
1:  addi a1, a1, 5
    addi a0, a0, -1
    bnez a0, 1b
    EQ a1, 15
    j 3f
2:  li a2, 9
    j 4f
3:  j 2b
4:  EQ a2, 9
    END

    CASE "I-2.5 jal and jalr link"
1:  jal a0, 2f
    nop
2:  la a1, 1b
    sub a0, a0, a1
    .option push
    .option norvc
    la a1, 3f
4:  jalr a1, 0(a1)
    nop
3:  EQ_ADDRESS a1, 4b + 4
    .option pop
    END

    CASE "I-8.4 AMOs on double words"
    AMO amoswap.d, 0xfedcba9876543210, 0x0123456789abcdef, 0x0123456789abcdef, 0xfedcba9876543210
    AMO amoadd.d, 0, -1, -1, 1
    AMO amoxor.d, 0xff00ff00ff00ff00, -1, -1, 0x00ff00ff00ff00ff
    AMO amoand.d, 0xf0, 0xff, 0xff, 0xf0
    AMO amoor.d, 0x8000000000000001, 1, 1, 1 << 63
    AMO amomin.d, 1 << 63, 1, 1, 1 << 63
    AMO amomin.d, -1, -1, -1, 1
    AMO amomax.d, 1, -1, -1, 1
    AMO amomax.d, 7, 7, 7, 1 << 63
    AMO amominu.d, 1, -1, -1, 1
    AMO amomaxu.d, -1, 1, 1, -1
    END

    CASE "I-8.4 AMOs on words: the rest of memory stays, the old value is sign-extended"
    AMO amoswap.w, 0x1111111176543210, 0xffffffff89abcdef, 0x1111111189abcdef, 0xfedcba9876543210
    AMO amoadd.w, 0x1111111100000000, -1, 0x11111111ffffffff, 1
    AMO amoadd.w, 0x1111111180000000, 0x7fffffff, 0x111111117fffffff, 1
    AMO amoxor.w, 0x11111111ff00ff00, -1, 0x11111111ffffffff, 0x00ff00ff
    AMO amoand.w, 0x11111111000000f0, 0xff, 0x11111111000000ff, 0xf0
    AMO amoor.w, 0x1111111180000001, 1, 0x1111111100000001, 0x80000000
    AMO amomin.w, 0x1111111180000000, 1, 0x1111111100000001, 0x80000000
    AMO amomin.w, 0x11111111ffffffff, -1, 0x11111111ffffffff, 1
    AMO amomax.w, 0x1111111100000001, -1, 0x11111111ffffffff, 1
    AMO amominu.w, 0x1111111100000001, -1, 0x11111111ffffffff, 1
    AMO amomaxu.w, 0x11111111ffffffff, 1, 0x1111111100000001, 0xffffffff
    # The high half of the operand does not count.
    AMO amomaxu.w, 0x1111111100000005, 5, 0x1111111100000005, 0xffffffff00000001
    END

    CASE "I-8.4 AMO with its source or address as the destination"
    STORE scratch, 40
    la a1, scratch
    li a0, 2
    amoadd.d a0, a0, (a1)
    EQ a0, 40
    MEMORY_EQ scratch, 42
    amoadd.d a1, a0, (a1)
    EQ a1, 42
    MEMORY_EQ scratch, 82
    la a1, scratch
    amoswap.d x0, x0, (a1)
    MEMORY_EQ scratch, 0
    END

    CASE "I-8.2 LR and SC"
    STORE scratch, 0x1111111189abcdef
    la a1, scratch
    lr.w a0, (a1)
    EQ a0, 0xffffffff89abcdef
    li a2, 5
    lr.w a0, (a1)
    sc.w a3, a2, (a1)
    EQ a3, 0
    MEMORY_EQ scratch, 0x1111111100000005
    la a1, scratch
    li a2, -7
    lr.d.aq a0, (a1)
    sc.d.rl a3, a2, (a1)
    EQ a3, 0
    MEMORY_EQ scratch, -7
    END

    CASE "I-8.2 SC fails without a reservation, and a second time"
    STORE scratch, 1
    STORE scratch + 64, 2
    la a1, scratch
    li a2, 9
    lr.d a0, (a1)
    sc.d a3, a2, (a1)
    sc.d a3, a2, (a1)
    snez a3, a3
    EQ a3, 1
    # Nor elsewhere, far away.
    STORE scratch, 1
    la a1, scratch
    la a4, distant
    lr.d a0, (a1)
    sc.d a3, a2, (a4)
    snez a3, a3
    EQ a3, 1
    # And any SC ends it.
    sc.d a3, a2, (a1)
    snez a3, a3
    EQ a3, 1
    MEMORY_EQ scratch, 1
    MEMORY_EQ distant, 0
    END

    CASE "I-16.3 compressed loads and stores"
    STORE scratch, 0x8182838485868788
    STORE scratch + 120, 0x0102030405060708
    la a1, scratch
    c.lw a0, 0(a1)
    EQ a0, 0xffffffff85868788
    c.ld a0, 120(a1)
    EQ a0, 0x0102030405060708
    c.lw a0, 124(a1)
    EQ a0, 0x01020304
    li a0, 0x77
    c.sw a0, 4(a1)
    MEMORY_EQ scratch, 0x0000007785868788
    c.sd a0, 8(a1)
    MEMORY_EQ scratch + 8, 0x77
    la a1, scratch
    c.fld fa0, 120(a1)
    c.fsd fa0, 16(a1)
    MEMORY_EQ scratch + 16, 0x0102030405060708
    mv a5, sp
    la sp, scratch
    c.ldsp a2, 120(sp)
    c.lwsp a3, 4(sp)
    c.sdsp a2, 24(sp)
    c.swsp a2, 32(sp)
    c.fldsp fa1, 120(sp)
    c.fsdsp fa1, 40(sp)
    mv sp, a5
    EQ a2, 0x0102030405060708
    EQ a3, 0x77
    MEMORY_EQ scratch + 24, 0x0102030405060708
    MEMORY_EQ scratch + 32, 0x05060708
    MEMORY_EQ scratch + 40, 0x0102030405060708
    END

    CASE "I-16.5 compressed computation"
    c.li a0, -32
    EQ a0, -32
    c.addi a0, 31
    EQ a0, -1
    c.addiw a0, 2
    EQ a0, 1
    li a0, 0x7fffffff
    c.addiw a0, 1
    EQ a0, 0xffffffff80000000
    c.lui a0, 0xfffe0
    EQ a0, 0xfffffffffffe0000
    c.lui a0, 31
    EQ a0, 0x1f000
    li a0, 0x8000000000000010
    c.srli a0, 4
    EQ a0, 0x0800000000000001
    c.slli a0, 63
    EQ a0, 1 << 63
    c.srai a0, 63
    EQ a0, -1
    c.andi a0, -16
    EQ a0, -16
    li a1, 0xff
    c.and a0, a1
    EQ a0, 0xf0
    c.or a0, a1
    EQ a0, 0xff
    c.xor a0, a1
    EQ a0, 0
    c.sub a0, a1
    EQ a0, -255
    c.mv a0, a1
    EQ a0, 255
    c.add a0, a1
    EQ a0, 510
    li a0, 0x7fffffff
    c.addw a0, a1
    EQ a0, 0xffffffff800000fe
    c.subw a0, a1
    EQ a0, 0x7fffffff
    mv a5, sp
    c.addi4spn a0, sp, 1020
    sub a0, a0, sp
    EQ a0, 1020
    c.addi16sp sp, -512
    sub a0, a5, sp
    mv sp, a5
    EQ a0, 512
    END

    CASE "I-16.4 compressed control transfer"
    li a0, 0
    c.beqz a0, 1f
    li a0, 9
1:  EQ a0, 0
    c.bnez a0, 2f
    li a0, 1
2:  EQ a0, 1
    c.j 3f
    li a0, 5
3:  EQ a0, 1
    la a1, 4f
    c.jr a1
    li a0, 5
4:  EQ a0, 1
    la a1, 5f
6:  c.jalr a1
    li a0, 5
5:  EQ a0, 1
    EQ_ADDRESS ra, 6b + 2
    END

    FINISH

    .section .data
    .balign 64
scratch:    .space 4096
distant:    .dword 0
