# Address translation: Sv39, Sv48 and Sv39x4, page-table entries of all kinds, two stages, HLV and HSV, MPRV, SUM, MXR.
#
# Supervisor code runs in a gigapage that maps itself; user code in an alias of it, USER above. The pages under test are
# entries of the last table, at virtual address TEST; their guest-physical twins are the same with the G stage.

    .include "frame.inc"

    .equ USER, 0x100000000
    .equ TEST, 0x100000000 + 0x40000000 * 4
    .equ GOOD, PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    .equ GOOD_U, GOOD | PTE_U

# A plain Sv39 map for HS-mode: identity, its user alias, and the tables down to the test pages.
    .macro MAPS
    MAP root, 2, 0x80000000, GOOD
    MAP root, 6, 0x80000000, GOOD_U
    MAP root, 8, middle, PTE_V
    MAP middle, 0, last, PTE_V
    .set i, 0
    .rept 4
    MAP last, i, page, GOOD
    .set i, i + 1
    .endr
    MAP top, 0, root, PTE_V
    ROOT satp, 8, root
    sfence.vma
    .endm

# The same as a guest's map, and a G stage that maps all of it to itself.
    .macro GUEST_MAPS
    MAPS
    csrw satp, zero
    ROOT vsatp, 8, root
    MAP guest_root, 2, 0x80000000, GOOD_U
    MAP guest_root, 6, 0x80000000, GOOD_U
    MAP guest_root, 8, guest_middle, PTE_V
    MAP guest_middle, 0, guest_last, PTE_V
    .set i, 0
    .rept 4
    MAP guest_last, i, page, GOOD_U
    .set i, i + 1
    .endr
    ROOT hgatp, 8, guest_root
    hfence.gvma
    hfence.vvma
    .endm

    .macro FENCES
    sfence.vma
    hfence.gvma
    hfence.vvma
    .endm

# An access to \address by the code at \code in \mode traps with \cause and the address as the value.
    .macro FAULTS mode, code, address, cause, offset=0
    li a1, \address
    RUN \mode, \code, \offset
    TRAPPED \cause
    TRAP_VALUE \address
    .endm

# It does not trap: the code ends in an environment call.
    .macro WORKS mode, code, address, offset=0
    li a1, \address
    RUN \mode, \code, \offset
    .if \mode == S_MODE
    TRAPPED 9
    .elseif \mode == VS_MODE
    TRAPPED 10
    .else
    TRAPPED 8
    .endif
    .endm

    START

    CASE "II-4.4 Sv39 load, store and fetch through a page of 4 KiB"
    MAPS
    STORE page, 0x1122334455667788
    WORKS S_MODE, code_load, TEST
    EQ a0, 0x1122334455667788
    li a0, 0x99
    WORKS S_MODE, code_store, TEST + 8
    MEMORY_EQ page + 8, 0x99
    STORE page, 0x73
    fence.i
    li a1, TEST
    RUN S_MODE, code_jump
    TRAPPED 9
    la t5, frame_epc
    ld t5, 0(t5)
    EQ t5, TEST
    END

    CASE "II-4.4 Sv39 megapage and gigapage"
    MAPS
    MAP middle, 1, 0x80000000, GOOD
    MAP root, 9, 0x80000000, GOOD
    sfence.vma
    STORE page, 0x77
    la a1, page
    li a2, 0x7fffffff
    and a1, a1, a2
    li a2, TEST + 0x200000
    add a1, a1, a2
    RUN S_MODE, code_load
    TRAPPED 9
    EQ a0, 0x77
    la a1, page
    li a2, 0x7fffffff
    and a1, a1, a2
    li a2, TEST + 0x40000000
    add a1, a1, a2
    RUN S_MODE, code_load
    TRAPPED 9
    EQ a0, 0x77
    END

    CASE "II-4.5 Sv48 and its pages of 512 GiB"
    MAPS
    ROOT satp, 9, top
    MAP top, 1, 0, GOOD
    sfence.vma
    STORE page, 0x78
    WORKS S_MODE, code_load, TEST
    EQ a0, 0x78
    la a1, page
    li a2, 1 << 39
    add a1, a1, a2
    RUN S_MODE, code_load
    TRAPPED 9
    EQ a0, 0x78
    FAULTS S_MODE, code_load, 1 << 40, 13
    FAULTS S_MODE, code_load, 1 << 47, 13
    END

    CASE "II-4.4.1 Sv39 addresses that are not sign-extended"
    MAPS
    FAULTS S_MODE, code_load, 1 << 38, 13
    FAULTS S_MODE, code_load, 1 << 39, 13
    FAULTS S_MODE, code_store, 0x8000000000000000, 15
    FAULTS S_MODE, code_jump, 0x4000000000, 12
    # Sign-extended, but nothing is there.
    FAULTS S_MODE, code_load, -8, 13
    END

    CASE "II-4.3.1 V clear"
    MAPS
    MAP last, 0, page, GOOD & ~PTE_V
    sfence.vma
    FAULTS S_MODE, code_load, TEST, 13
    FAULTS S_MODE, code_store, TEST, 15
    FAULTS S_MODE, code_jump, TEST, 12
    END

    CASE "II-4.3.1 R, W and X"
    MAPS
    MAP last, 0, page, PTE_V | PTE_R | PTE_A | PTE_D
    MAP last, 1, page, PTE_V | PTE_X | PTE_A | PTE_D
    MAP last, 2, page, PTE_V | PTE_R | PTE_X | PTE_A | PTE_D
    sfence.vma
    WORKS S_MODE, code_load, TEST
    FAULTS S_MODE, code_store, TEST, 15
    FAULTS S_MODE, code_jump, TEST, 12
    FAULTS S_MODE, code_amo, TEST, 15
    FAULTS S_MODE, code_load, TEST + 0x1000, 13
    FAULTS S_MODE, code_lr, TEST + 0x1000, 13
    WORKS S_MODE, code_load, TEST + 0x2000
    FAULTS S_MODE, code_store, TEST + 0x2000, 15
    END

    CASE "II-4.3.1 W without R is reserved"
    MAPS
    MAP last, 0, page, PTE_V | PTE_W | PTE_A | PTE_D
    MAP last, 1, page, PTE_V | PTE_W | PTE_X | PTE_A | PTE_D
    sfence.vma
    FAULTS S_MODE, code_load, TEST, 13
    FAULTS S_MODE, code_store, TEST, 15
    FAULTS S_MODE, code_store, TEST + 0x1000, 15
    FAULTS S_MODE, code_jump, TEST + 0x1000, 12
    END

    CASE "II-4.4.1 reserved bits 63 to 54"
    MAPS
    .irp bit, 54, 58, 60, 61, 62, 63
    la t4, page
    srli t4, t4, 2
    li t5, GOOD | (1 << \bit)
    or t4, t4, t5
    la t5, last
    sd t4, 0(t5)
    sfence.vma
    FAULTS S_MODE, code_load, TEST, 13
    .endr
    END

    CASE "II-4.3.2 a pointer at the last level, D, A or U in a pointer"
    MAPS
    MAP last, 0, page, PTE_V
    sfence.vma
    FAULTS S_MODE, code_load, TEST, 13
    .irp flag, PTE_D, PTE_A, PTE_U
    MAP middle, 0, last, PTE_V | \flag
    sfence.vma
    FAULTS S_MODE, code_load, TEST + 0x1000, 13
    .endr
    END

    CASE "II-4.3.2 misaligned superpages"
    MAPS
    MAP middle, 1, 0x80001000, GOOD
    MAP root, 9, 0x80200000, GOOD
    sfence.vma
    FAULTS S_MODE, code_load, TEST + 0x200000, 13
    FAULTS S_MODE, code_load, TEST + 0x40000000, 13
    END

    CASE "II-4.3.2 a table where no memory is"
    MAPS
    MAP middle, 1, NOTHING, PTE_V
    sfence.vma
    FAULTS S_MODE, code_load, TEST + 0x200000, 5
    FAULTS S_MODE, code_store, TEST + 0x200000, 7
    FAULTS S_MODE, code_jump, TEST + 0x200000, 1
    END

    CASE "II-4.3.2 a page where no memory is"
    MAPS
    MAP last, 0, NOTHING, GOOD
    sfence.vma
    FAULTS S_MODE, code_load, TEST, 5
    FAULTS S_MODE, code_store, TEST, 7
    FAULTS S_MODE, code_jump, TEST, 1
    END

    CASE "II-4.3.1 U and SUM"
    MAPS
    MAP last, 0, page, GOOD_U
    sfence.vma
    WORKS U_MODE, code_load, TEST, USER
    FAULTS U_MODE, code_load, TEST + 0x1000, 13, USER
    FAULTS U_MODE, code_store, TEST + 0x1000, 15, USER
    FAULTS U_MODE, code_jump, TEST + 0x1000, 12, USER
    FAULTS S_MODE, code_load, TEST, 13
    FAULTS S_MODE, code_store, TEST, 15
    CSR_SET mstatus, MSTATUS_SUM
    WORKS S_MODE, code_load, TEST
    WORKS S_MODE, code_store, TEST
    # S-mode never executes from user pages.
    FAULTS S_MODE, code_jump, TEST, 12
    END

    CASE "II-3.1.6.3 MXR"
    MAPS
    MAP last, 0, page, PTE_V | PTE_X | PTE_A | PTE_D
    sfence.vma
    FAULTS S_MODE, code_load, TEST, 13
    CSR_SET mstatus, MSTATUS_MXR
    WORKS S_MODE, code_load, TEST
    FAULTS S_MODE, code_store, TEST, 15
    END

    CASE "II-3.1.6.3 MPRV: loads and stores with the privilege of MPP"
    MAPS
    MAP last, 1, page, GOOD_U
    sfence.vma
    STORE page, 0x5a5a
    CSR_SET mstatus, S_MODE | MSTATUS_MPRV
    li a1, TEST
    ld a0, 0(a1)
    CSR_CLEAR mstatus, MSTATUS_MPRV
    EQ a0, 0x5a5a
    # As user.
    CSR_CLEAR mstatus, MSTATUS_MPP
    RESUME 1f
    li a2, MSTATUS_MPRV
    csrs mstatus, a2
    ld a0, 0(a1)
1:  CSR_CLEAR mstatus, MSTATUS_MPRV
    TRAPPED 13
    TRAP_VALUE TEST
    TRAPPED_FROM M_MODE
    CSR_CLEAR mstatus, MSTATUS_MPP
    li a1, TEST + 0x1000
    csrs mstatus, a2
    ld a0, 0(a1)
    csrc mstatus, a2
    EQ a0, 0x5a5a
    # MPP is M: no translation.
    CSR_SET mstatus, MSTATUS_MPP
    la a1, page
    csrs mstatus, a2
    ld a0, 0(a1)
    csrc mstatus, a2
    EQ a0, 0x5a5a
    END

    CASE "II-8.5.1 MPRV with MPV: both stages"
    GUEST_MAPS
    STORE page, 0xa5a5
    MAP last, 0, TEST + 0x2000, GOOD
    FENCES
    CSR_CLEAR mstatus, MSTATUS_MPP
    CSR_SET mstatus, VS_MODE
    li a1, TEST
    li a2, MSTATUS_MPRV
    csrs mstatus, a2
    ld a0, 0(a1)
    csrc mstatus, a2
    EQ a0, 0xa5a5
    END

    CASE "Svadu A and D set by hardware where ADUE says so"
    MAPS
    CSR_SET menvcfg, 1 << 61
    MAP last, 0, page, PTE_V | PTE_R | PTE_W
    sfence.vma
    WORKS S_MODE, code_load, TEST
    la a3, last
    ld a4, 0(a3)
    andi a4, a4, PTE_A | PTE_D
    EQ a4, PTE_A
    WORKS S_MODE, code_store, TEST
    ld a4, 0(a3)
    andi a4, a4, PTE_A | PTE_D
    EQ a4, PTE_A | PTE_D
    END

    CASE "II-4.3.1 A and D clear are faults without ADUE"
    MAPS
    MAP last, 0, page, PTE_V | PTE_R | PTE_W | PTE_X
    MAP last, 1, page, PTE_V | PTE_R | PTE_W | PTE_X | PTE_A
    sfence.vma
    FAULTS S_MODE, code_load, TEST, 13
    FAULTS S_MODE, code_store, TEST, 15
    FAULTS S_MODE, code_jump, TEST, 12
    WORKS S_MODE, code_load, TEST + 0x1000
    FAULTS S_MODE, code_store, TEST + 0x1000, 15
    la a3, last
    ld a4, 0(a3)
    andi a4, a4, PTE_A | PTE_D
    EQ a4, 0
    END

    CASE "II-4.2.1 sfence.vma after a change"
    MAPS
    STORE page, 1
    STORE other_page, 2
    WORKS S_MODE, code_load, TEST
    EQ a0, 1
    MAP last, 0, other_page, GOOD
    li a2, TEST
    sfence.vma a2, zero
    WORKS S_MODE, code_load, TEST
    EQ a0, 2
    MAP last, 0, page, GOOD
    sfence.vma
    WORKS S_MODE, code_load, TEST
    EQ a0, 1
    MAP last, 0, page, 0
    sfence.vma zero, zero
    FAULTS S_MODE, code_load, TEST, 13
    END

    CASE "II-4.3.1 G pages outlive an ASID"
    MAPS
    STORE page, 1
    MAP last, 0, page, GOOD | PTE_G
    ROOT satp, 8, root, 1
    WORKS S_MODE, code_load, TEST
    EQ a0, 1
    ROOT satp, 8, root, 2
    WORKS S_MODE, code_load, TEST
    EQ a0, 1
    END

    CASE "II-4.1.11 satp keeps its value where the mode is reserved"
    ROOT satp, 8, root, 3
    csrr a0, satp
    li a1, 1 << 60
    csrw satp, a1
    csrr a2, satp
    SAME a0, a2
    csrw satp, zero
    END

    CASE "I-2.6 a misaligned access over two pages"
    MAPS
    MAP last, 1, other_page, GOOD
    sfence.vma
    STORE page + 0xff8, 0x1122334455667788
    STORE other_page, 0x99aabbccddeeff00
    WORKS S_MODE, code_load, TEST + 0xffd
    EQ a0, 0xccddeeff00112233
    # The second page is not there: the fault names the part that faulted.
    MAP last, 1, 0, 0
    sfence.vma
    li a1, TEST + 0xffd
    RUN S_MODE, code_load
    TRAPPED 13
    TRAP_VALUE TEST + 0x1000
    li a0, -1
    li a1, TEST + 0xffd
    RUN S_MODE, code_store
    TRAPPED 15
    TRAP_VALUE TEST + 0x1000
    # Nothing of the store is seen in the first page.
    MEMORY_EQ page + 0xff8, 0x1122334455667788
    END

    CASE "I-1.5 an instruction over two pages"
    MAPS
    STORE page + 0xff8, 0x0073000100010001
    MAP last, 1, 0, 0
    sfence.vma
    fence.i
    li a1, TEST + 0xffe
    RUN S_MODE, code_jump
    TRAPPED 12
    TRAP_VALUE TEST + 0x1000
    la t5, frame_epc
    ld t5, 0(t5)
    EQ t5, TEST + 0xffe
    END

    CASE "II-8.5 two stages: load, store and fetch"
    GUEST_MAPS
    # Virtual page 0 is guest-physical page 2, that is page.
    MAP last, 0, TEST + 0x2000, GOOD
    STORE page, 0x4321
    FENCES
    WORKS VS_MODE, code_load, TEST
    EQ a0, 0x4321
    li a0, 0x765
    WORKS VS_MODE, code_store, TEST + 16
    MEMORY_EQ page + 16, 0x765
    END

    CASE "II-8.5.1 G-stage faults report the guest-physical address"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, GOOD
    MAP guest_last, 2, page, 0
    FENCES
    FAULTS VS_MODE, code_load, TEST + 0x18, 21
    TRAP_VALUE2 (TEST + 0x2018) >> 2
    TRAP_GVA 1
    TRAPPED_FROM VS_MODE
    FAULTS VS_MODE, code_store, TEST + 0x18, 23
    TRAP_VALUE2 (TEST + 0x2018) >> 2
    li a1, TEST + 4
    RUN VS_MODE, code_jump
    TRAPPED 20
    TRAP_VALUE2 (TEST + 0x2004) >> 2
    FAULTS VS_MODE, code_amo, TEST, 23
    END

    CASE "II-8.6.3 mtinst has the transformed load or store"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, GOOD
    MAP guest_last, 2, page, 0
    FENCES
    # ld a0, 0(a1): without the base and the offset. Zero is allowed.
    li a1, TEST
    RUN VS_MODE, code_load
    la t5, frame_tinst
    ld t5, 0(t5)
    beqz t5, 1f
    EQ t5, 0x00003503
1:  li a1, TEST
    RUN VS_MODE, code_store
    la t5, frame_tinst
    ld t5, 0(t5)
    beqz t5, 1f
    EQ t5, 0x00a03023
1:  li a1, TEST
    RUN VS_MODE, code_jump
    TRAP_INSTRUCTION 0
    END

    CASE "II-8.6.3 mtinst of a fault in the walk of the VS stage"
    GUEST_MAPS
    MAP middle, 0, TEST + 0x3000, PTE_V
    MAP guest_last, 3, page, 0
    FENCES
    FAULTS VS_MODE, code_load, TEST + 0x1000, 21
    # The entry's guest-physical address.
    TRAP_VALUE2 (TEST + 0x3008) >> 2
    TRAP_INSTRUCTION 0x3000
    FAULTS VS_MODE, code_store, TEST + 0x1000, 23
    TRAP_INSTRUCTION 0x3000
    li a1, TEST + 0x1000
    RUN VS_MODE, code_jump
    TRAPPED 20
    TRAP_VALUE2 (TEST + 0x3008) >> 2
    TRAP_INSTRUCTION 0x3000
    END

    CASE "II-8.6.2 guest page faults delegated to HS set htval, htinst and GVA"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, GOOD
    MAP guest_last, 2, page, 0
    FENCES
    CSR_SET medeleg, 0xb00000
    li a1, TEST + 8
    RUN VS_MODE, code_load
    TRAPPED 9
    CSR_EQ scause, 21
    CSR_EQ stval, TEST + 8
    CSR_EQ htval, (TEST + 0x2008) >> 2
    CSR_BITS hstatus, HSTATUS_GVA | HSTATUS_SPV | HSTATUS_SPVP, HSTATUS_GVA | HSTATUS_SPV | HSTATUS_SPVP
    END

    CASE "II-8.5 VS-stage page faults go where pages faults go"
    GUEST_MAPS
    MAP last, 0, page, 0
    FENCES
    FAULTS VS_MODE, code_load, TEST, 13
    TRAP_VALUE2 0
    TRAP_GVA 1
    CSR_SET medeleg, 0xb000
    CSR_SET hedeleg, 0xb000
    li a1, TEST
    RUN VS_MODE, code_store
    TRAPPED 10
    CSR_EQ vscause, 15
    CSR_EQ vstval, TEST
    END

    CASE "II-8.5.1 the G stage wants U"
    GUEST_MAPS
    MAP last, 0, TEST, GOOD
    MAP guest_last, 0, page, GOOD
    FENCES
    FAULTS VS_MODE, code_load, TEST, 21
    END

    CASE "II-8.5.1 guest-physical addresses beyond 41 bits"
    GUEST_MAPS
    csrw vsatp, zero
    FENCES
    FAULTS VS_MODE, code_load, 1 << 41, 21
    TRAP_VALUE2 (1 << 41) >> 2
    FAULTS VS_MODE, code_load, 1 << 40, 21
    END

    CASE "II-8.5.1 superpages of the G stage, and misaligned ones"
    GUEST_MAPS
    csrw vsatp, zero
    MAP guest_middle, 1, 0x80000000, GOOD_U
    MAP guest_middle, 2, 0x80001000, GOOD_U
    MAP guest_root, 2047, 0x80000000, GOOD_U
    FENCES
    STORE page, 0x99
    la a1, page
    li a2, 0x1fffff
    and a1, a1, a2
    li a2, TEST + 0x200000
    add a1, a1, a2
    RUN VS_MODE, code_load
    TRAPPED 10
    EQ a0, 0x99
    FAULTS VS_MODE, code_load, TEST + 0x400000, 21
    # The root has 2048 entries.
    la a1, page
    li a2, 0x3fffffff
    and a1, a1, a2
    li a2, 0x40000000 * 2047
    add a1, a1, a2
    RUN VS_MODE, code_load
    TRAPPED 10
    EQ a0, 0x99
    END

    CASE "II-8.5.1 MXR of HS and of VS"
    GUEST_MAPS
    MAP last, 0, TEST, PTE_V | PTE_X | PTE_A | PTE_D
    MAP last, 1, TEST + 0x1000, GOOD
    MAP guest_last, 1, page, PTE_V | PTE_X | PTE_U | PTE_A | PTE_D
    FENCES
    FAULTS VS_MODE, code_load, TEST, 13
    FAULTS VS_MODE, code_load, TEST + 0x1000, 21
    # That of vsstatus is about the VS stage alone.
    CSR_SET vsstatus, MSTATUS_MXR
    WORKS VS_MODE, code_load, TEST
    FAULTS VS_MODE, code_load, TEST + 0x1000, 21
    CSR_CLEAR vsstatus, MSTATUS_MXR
    # That of sstatus is about both.
    CSR_SET sstatus, MSTATUS_MXR
    WORKS VS_MODE, code_load, TEST
    WORKS VS_MODE, code_load, TEST + 0x1000
    END

    CASE "II-8.2.12 vsstatus.SUM, not that of HS"
    GUEST_MAPS
    MAP last, 0, TEST, GOOD_U
    FENCES
    CSR_SET mstatus, MSTATUS_SUM
    FAULTS VS_MODE, code_load, TEST, 13
    CSR_SET vsstatus, MSTATUS_SUM
    WORKS VS_MODE, code_load, TEST
    FAULTS VU_MODE, code_load, TEST + 0x1000, 13, USER
    WORKS VU_MODE, code_load, TEST, USER
    END

    CASE "II-8.3.2 hfence.gvma and hfence.vvma after a change"
    GUEST_MAPS
    MAP last, 0, TEST, GOOD
    FENCES
    STORE page, 1
    STORE other_page, 2
    WORKS VS_MODE, code_load, TEST
    EQ a0, 1
    MAP guest_last, 0, other_page, GOOD_U
    li a2, TEST >> 2
    hfence.gvma a2, zero
    WORKS VS_MODE, code_load, TEST
    EQ a0, 2
    MAP last, 0, TEST + 0x1000, GOOD
    li a2, TEST
    hfence.vvma a2, zero
    WORKS VS_MODE, code_load, TEST
    EQ a0, 1
    END

    CASE "II-8.3.1 HLV and HSV of all widths"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, GOOD
    FENCES
    CSR_SET hstatus, HSTATUS_SPVP
    STORE page, 0x8899aabbccddeeff
    li a1, TEST
    .macro HLV instruction, expected
    \instruction a0, (a1)
    EQ a0, \expected
    .endm
    HLV hlv.b, 0xffffffffffffffff
    HLV hlv.bu, 0xff
    HLV hlv.h, 0xffffffffffffeeff
    HLV hlv.hu, 0xeeff
    HLV hlv.w, 0xffffffffccddeeff
    HLV hlv.wu, 0xccddeeff
    HLV hlv.d, 0x8899aabbccddeeff
    HLV hlvx.hu, 0xeeff
    HLV hlvx.wu, 0xccddeeff
    li a0, 0x1111222233334444
    hsv.b a0, (a1)
    MEMORY_EQ page, 0x8899aabbccddee44
    hsv.h a0, (a1)
    MEMORY_EQ page, 0x8899aabbccdd4444
    hsv.w a0, (a1)
    MEMORY_EQ page, 0x8899aabb33334444
    hsv.d a0, (a1)
    MEMORY_EQ page, 0x1111222233334444
    END

    CASE "II-8.3.1 HLV with the privilege of SPVP"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, GOOD
    MAP last, 1, TEST + 0x2000, GOOD_U
    FENCES
    STORE page, 0x42
    FAULTS S_MODE, code_hlv, TEST, 13
    TRAPPED_FROM S_MODE
    WORKS S_MODE, code_hlv, TEST + 0x1000
    EQ a0, 0x42
    CSR_SET hstatus, HSTATUS_SPVP
    WORKS S_MODE, code_hlv, TEST
    EQ a0, 0x42
    FAULTS S_MODE, code_hlv, TEST + 0x1000, 13
    # vsstatus.SUM counts.
    CSR_SET vsstatus, MSTATUS_SUM
    WORKS S_MODE, code_hlv, TEST + 0x1000
    END

    CASE "II-8.3.1 HLV from U where HU says so"
    GUEST_MAPS
    MAP last, 1, TEST + 0x2000, GOOD_U
    FENCES
    STORE page, 0x43
    CSR_SET hstatus, HSTATUS_HU
    WORKS U_MODE, code_hlv, TEST + 0x1000
    EQ a0, 0x43
    END

    CASE "II-8.3.1 HLV guest-page fault"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, GOOD
    MAP guest_last, 2, page, 0
    FENCES
    CSR_SET hstatus, HSTATUS_SPVP
    FAULTS S_MODE, code_hlv, TEST, 21
    TRAP_VALUE2 (TEST + 0x2000) >> 2
    FAULTS S_MODE, code_hsv, TEST, 23
    END

    CASE "II-8.4.1 GVA of the faults of HLV"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, GOOD
    MAP guest_last, 2, page, 0
    FENCES
    CSR_SET hstatus, HSTATUS_SPVP
    FAULTS S_MODE, code_hlv, TEST, 21
    TRAP_GVA 1
    END

    CASE "II-8.3.1 HLVX reads what is executable"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, PTE_V | PTE_X | PTE_A | PTE_D
    MAP last, 1, TEST + 0x3000, GOOD
    MAP guest_last, 3, page, PTE_V | PTE_X | PTE_U | PTE_A | PTE_D
    FENCES
    CSR_SET hstatus, HSTATUS_SPVP
    STORE page, 0x1357
    FAULTS S_MODE, code_hlv, TEST, 13
    WORKS S_MODE, code_hlvx, TEST
    EQ a0, 0x1357
    WORKS S_MODE, code_hlvx, TEST + 0x1000
    EQ a0, 0x1357
    END

    CASE "II-8.3.1 HLVX faults where nothing is executable, as a load"
    GUEST_MAPS
    MAP last, 0, TEST + 0x2000, PTE_V | PTE_R | PTE_A | PTE_D
    FENCES
    CSR_SET hstatus, HSTATUS_SPVP
    FAULTS S_MODE, code_hlvx, TEST, 13
    END

    CASE "II-8.2.10 hgatp: the lowest bits of the root's page are zero"
    li a0, 8 << 60 | 0x80403
    csrw hgatp, a0
    CSR_EQ hgatp, 8 << 60 | 0x80400
    csrw hgatp, zero
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
    CODE code_store, sd a0, 0(a1)
    CODE code_jump, jr a1
    CODE code_amo, amoadd.d a0, a0, (a1)
    CODE code_lr, lr.d a0, (a1)
    CODE code_hlv, hlv.d a0, (a1)
    CODE code_hlvx, hlvx.hu a0, (a1)
    CODE code_hsv, hsv.d a0, (a1)

    .section .data
    .balign 0x4000
guest_root: .space 0x4000
guest_middle: .space 0x1000
guest_last: .space 0x1000
top:        .space 0x1000
root:       .space 0x1000
middle:     .space 0x1000
last:       .space 0x1000
page:       .space 0x1000
other_page: .space 0x1000
