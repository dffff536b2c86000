# Whether machine mode can write mstatus.MPV: sets the bit, reads it back, and ends QEMU's machine `virt` by its test
# device with exit code 0, or with 23 where the write is ignored. A failure of QEMU itself has another code.
#
# qemu-mpv.bin is this program: set-up needs it before there is an assembler, and the tool has it inside. A test of
# tactus/tests/refusal.rs compares the two.
    .globl _start
_start:
    li   t0, 1
    slli t0, t0, 39
    csrs mstatus, t0
    csrr t1, mstatus
    and  t1, t1, t0
    lui  t2, 0x100          # the test device
    lui  t3, 0x5
    addi t3, t3, 0x555      # passed
    bnez t1, 1f
    lui  t3, 0x173
    addi t3, t3, 0x333      # failed with code 0x17
1:  sw   t3, 0(t2)
    j    .
