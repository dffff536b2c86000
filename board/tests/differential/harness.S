# The machine-mode program of a differential image: runs the tests of an image one after the other, logs every trap
# that reaches machine mode, and prints a hash of each test's log, or all of it.
#
# The generator places everything else: pristine memory, the tests' records and their code. layout.inc, which it
# writes, has the addresses and the lists of CSRs as macros: set_csrs loads them from a record at a0, log_csrs stores
# them to a log entry at a0.
#
# A test's code is a row of segments. Whatever ends in machine mode ends a segment, and the next one begins in the
# mode, at the address and with the pointers that its descriptor says: so a test ends, whatever its code does.
# Interrupts that reach machine mode are logged and disabled, and the segment goes on.

    .include "layout.inc"

    .equ FS, 0x6000
    .equ MPP_MPV_MPRV_MPIE, 0x8000021880

    .section .text
    .globl _start
_start:
    # The platform may have more harts than the test needs.
    csrr t0, mhartid
1:  beqz t0, 1f
    wfi
    j 1b
1:  la sp, stack_end
    la t0, trap
    csrw mtvec, t0
    la t0, saved
    csrw mscratch, t0
    # No timer interrupt of machine mode, ever; and a time that no likely value of a comparison register is close to.
    li t0, 0x2004000
    li t1, -1
    sd t1, 0(t0)
    li t0, 0x200bff8
    li t1, 0x2b67f0de00000000
    sd t1, 0(t0)
    li s1, HEADER
    ld t0, HEADER_FIRST(s1)
    sd t0, current, t1

next_test:
    li s1, HEADER
    ld t0, current
    ld t1, HEADER_END(s1)
    bltu t0, t1, 1f
    la a0, text_end
    call puts
    li t0, 0x100000
    li t1, 0x5555
    sw t1, 0(t0)
2:  j 2b
1:  slli t0, t0, 3
    ld t1, HEADER_TESTS(s1)
    add t0, t0, t1
    ld s2, 0(t0)
    sd s2, record, t0

    # Memory as the pristine copy has it.
    li t0, LIVE
    li t1, PRISTINE
    li t2, LIVE_END
1:  ld t3, 0(t1)
    ld t4, 8(t1)
    sd t3, 0(t0)
    sd t4, 8(t0)
    addi t0, t0, 16
    addi t1, t1, 16
    bltu t0, t2, 1b
    # But for the test's patches: address and double word.
    ld t0, RECORD_PATCHES(s2)
    ld t1, RECORD_PATCH_COUNT(s2)
1:  beqz t1, 1f
    ld t2, 0(t0)
    ld t3, 8(t0)
    sd t3, 0(t2)
    addi t0, t0, 16
    addi t1, t1, -1
    j 1b
1:
    # State as the record has it.
    li t0, FS
    csrs mstatus, t0
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fld f\n, (RECORD_F + 8 * \n)(s2)
    .endr
    la s3, saved
    addi t0, s2, RECORD_X
    li t1, 32
1:  ld t2, 0(t0)
    sd t2, 0(s3)
    addi t0, t0, 8
    addi s3, s3, 8
    addi t1, t1, -1
    bnez t1, 1b
    addi a0, s2, RECORD_CSRS
    set_csrs
    sd zero, segment, t0
    sd zero, traps, t0
    li t0, HASH_START
    sd t0, hash, t1
    csrr s4, mstatus

# The next segment; s4: mstatus as the test has it.
resume:
    ld s2, record
    ld t0, segment
    ld t1, RECORD_SEGMENT_COUNT(s2)
    bgeu t0, t1, finish
    ld t1, RECORD_SEGMENTS(s2)
    li t2, SEGMENT_SIZE
    mul t0, t0, t2
    add s5, t0, t1
    ld t0, SEGMENT_PC(s5)
    csrw mepc, t0
    # QEMU 10.0 clears these at a trap to VS-mode, too: so that it makes no difference.
    csrw htval, zero
    li t1, 1 << 6
    csrc hstatus, t1
    li t1, MPP_MPV_MPRV_MPIE
    not t1, t1
    and s4, s4, t1
    ld t0, SEGMENT_STATUS(s5)
    or s4, s4, t0
    la s3, saved
    ld t0, SEGMENT_SP(s5)
    sd t0, 16(s3)
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    ld t0, (SEGMENT_X8 + 8 * (\n - 8))(s5)
    sd t0, (8 * \n)(s3)
    .endr
# Back to the test; s4: the mstatus to return with, mepc is set.
return:
    # No reservation and no translation outlives a segment.
    la t0, dummy
    sc.d zero, zero, (t0)
    sfence.vma
    hfence.vvma
    hfence.gvma
    fence.i
    csrw mstatus, s4
    la x31, saved
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    ld x\n, (8 * \n)(x31)
    .endr
    ld x31, 248(x31)
    mret

    .balign 4
trap:
    csrrw x31, mscratch, x31
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    sd x\n, (8 * \n)(x31)
    .endr
    csrr t0, mscratch
    sd t0, 248(x31)
    csrw mscratch, x31
    la sp, stack_end
    la a0, entry
    log_csrs
    csrr s4, mstatus
    li t0, FS
    csrs mstatus, t0
    la a0, entry
    # htinst cannot be written on QEMU 10.0, so what was there before shows: it counts where HS-mode was just entered.
    csrr t0, mcause
    addi t0, t0, -9
    csrr t1, mepc
    srli t1, t1, 12
    li t2, CODE >> 12
    xor t1, t1, t2
    or t0, t0, t1
    beqz t0, 1f
    sd zero, ENTRY_HTINST(a0)
1:  frcsr t0
    sd t0, ENTRY_FCSR(a0)
    addi a1, a0, ENTRY_X
    la a2, saved
    ld t0, segment
    sd t0, 0(a1)
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld t0, (8 * \n)(a2)
    sd t0, (8 * \n)(a1)
    .endr
    addi a1, a0, ENTRY_F
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fsd f\n, (8 * \n)(a1)
    .endr
    la a0, entry
    li a1, ENTRY_WORDS
    call absorb
    li s1, HEADER
    ld t0, HEADER_VERBOSE(s1)
    beqz t0, 1f
    la s6, entry
    li s7, ENTRY_WORDS
2:  ld a0, 0(s6)
    call put_hex
    li a0, ' '
    call putc
    addi s6, s6, 8
    addi s7, s7, -1
    bnez s7, 2b
    li a0, '\n'
    call putc
1:  ld t0, traps
    addi t0, t0, 1
    sd t0, traps, t1
    li t1, TRAP_LIMIT
    bgeu t0, t1, finish
    csrr t0, mcause
    bltz t0, 1f
    ld t0, segment
    addi t0, t0, 1
    sd t0, segment, t1
    j resume
1:  # An interrupt: once is enough.
    andi t0, t0, 63
    li t1, 1
    sll t0, t1, t0
    csrc mie, t0
    j return

finish:
    # An access that a PMP entry matches in part fails in machine mode, too.
    csrw pmpcfg0, zero
    # QEMU 10.0 takes no VSTIP from hvip while STCE is set, and keeps a timer's interrupt pending when STCE is cleared:
    # withdraw each at its time.
    li t0, 1 << 63
    csrc menvcfg, t0
    csrw hvip, zero
    csrw mip, zero
    csrs menvcfg, t0
    csrs henvcfg, t0
    csrw htimedelta, zero
    li t0, -1
    csrw stimecmp, t0
    csrw vstimecmp, t0
    li a0, LIVE
    li a1, (LIVE_END - LIVE) / 8
    call absorb
    ld a0, current
    call put_hex
    li a0, ' '
    call putc
    ld a0, hash
    call put_hex
    li a0, '\n'
    call putc
    # As a test found it: what the records do not set.
    ld t0, current
    addi t0, t0, 1
    sd t0, current, t1
    j next_test

# Mixes a1 double words from a0 on into the hash.
absorb:
    ld t0, hash
    li t1, HASH_FACTOR
1:  ld t2, 0(a0)
    xor t0, t0, t2
    mul t0, t0, t1
    srli t2, t0, 29
    xor t0, t0, t2
    addi a0, a0, 8
    addi a1, a1, -1
    bnez a1, 1b
    sd t0, hash, t1
    ret

putc:
    li t0, 0x10000000
1:  lbu t1, 5(t0)
    andi t1, t1, 0x20
    beqz t1, 1b
    sb a0, 0(t0)
    ret

puts:
    mv t2, a0
    mv t3, ra
1:  lbu a0, 0(t2)
    beqz a0, 1f
    call putc
    addi t2, t2, 1
    j 1b
1:  jr t3

# Prints a0 without leading zeros.
put_hex:
    mv t2, a0
    mv t3, ra
    li t4, 60
1:  beqz t4, 1f
    srl t0, t2, t4
    bnez t0, 1f
    addi t4, t4, -4
    j 1b
1:  srl a0, t2, t4
    andi a0, a0, 15
    addi a0, a0, '0'
    li t0, '9'
    ble a0, t0, 2f
    addi a0, a0, 'a' - '9' - 1
2:  call putc
    addi t4, t4, -4
    bgez t4, 1b
    jr t3

    .section .data
    # Apart from the code: a store to a page of code is slow on a machine that translates it.
    .balign 4096
    .space 4096
current:    .dword 0
record:     .dword 0
segment:    .dword 0
traps:      .dword 0
hash:       .dword 0
dummy:      .dword 0
text_end:   .asciz "end\n"
    .balign 16
saved:      .space 256
entry:      .space 2040
stack:      .space 256
stack_end:
