# Floating point: F and D. Each line is an instruction, its rounding mode, its result and flags, and its operands; the
# results are exact rationals rounded by IEEE 754 and sections 11 and 12 of Volume I.

    .include "frame.inc"

# Loads a single or double, boxed as it has to be.
    .macro IN_s register, bits
    li t0, \bits
    fmv.w.x \register, t0
    .endm
    .macro IN_d register, bits
    li t0, \bits
    fmv.d.x \register, t0
    .endm
# The result of a single is boxed.
    .macro OUT_s bits, flags
    frflags a1
    fmv.x.d a0, fa0
    EQ a0, 0xffffffff00000000 | \bits
    EQ a1, \flags
    .endm
    .macro OUT_d bits, flags
    frflags a1
    fmv.x.d a0, fa0
    EQ a0, \bits
    EQ a1, \flags
    .endm

    .macro F2_s instruction, mode, result, flags, a, b
    IN_s fa1, \a
    IN_s fa2, \b
    fsflags zero
    \instruction fa0, fa1, fa2, \mode
    OUT_s \result, \flags
    FRM_\mode
    fsflags zero
    \instruction fa0, fa1, fa2, dyn
    OUT_s \result, \flags
    .endm
    .macro F2N_s instruction, result, flags, a, b
    IN_s fa1, \a
    IN_s fa2, \b
    fsflags zero
    \instruction fa0, fa1, fa2
    OUT_s \result, \flags
    .endm
    .macro F1_s instruction, mode, result, flags, a
    IN_s fa1, \a
    fsflags zero
    \instruction fa0, fa1, \mode
    OUT_s \result, \flags
    .endm
    .macro F3_s instruction, mode, result, flags, a, b, c
    IN_s fa1, \a
    IN_s fa2, \b
    IN_s fa3, \c
    fsflags zero
    \instruction fa0, fa1, fa2, fa3, \mode
    OUT_s \result, \flags
    .endm
    .macro FX2_s instruction, result, flags, a, b
    IN_s fa1, \a
    IN_s fa2, \b
    fsflags zero
    \instruction a0, fa1, fa2
    frflags a1
    EQ a0, \result
    EQ a1, \flags
    .endm
    .macro FX1_s instruction, result, flags, a
    IN_s fa1, \a
    fsflags zero
    \instruction a0, fa1
    frflags a1
    EQ a0, \result
    EQ a1, \flags
    .endm
    .macro FXR_s instruction, mode, result, flags, a
    IN_s fa1, \a
    fsflags zero
    \instruction a0, fa1, \mode
    frflags a1
    EQ a0, \result
    EQ a1, \flags
    .endm
    .macro XFR_s instruction, mode, result, flags, a
    li a2, \a
    fsflags zero
    \instruction fa0, a2, \mode
    OUT_s \result, \flags
    .endm
    .macro XFN_s instruction, result, flags, a
    li a2, \a
    fsflags zero
    \instruction fa0, a2
    OUT_s \result, \flags
    .endm

    .macro F2_d instruction, mode, result, flags, a, b
    IN_d fa1, \a
    IN_d fa2, \b
    fsflags zero
    \instruction fa0, fa1, fa2, \mode
    OUT_d \result, \flags
    FRM_\mode
    fsflags zero
    \instruction fa0, fa1, fa2, dyn
    OUT_d \result, \flags
    .endm
    .macro F2N_d instruction, result, flags, a, b
    IN_d fa1, \a
    IN_d fa2, \b
    fsflags zero
    \instruction fa0, fa1, fa2
    OUT_d \result, \flags
    .endm
    .macro F1_d instruction, mode, result, flags, a
    IN_d fa1, \a
    fsflags zero
    \instruction fa0, fa1, \mode
    OUT_d \result, \flags
    .endm
    .macro F3_d instruction, mode, result, flags, a, b, c
    IN_d fa1, \a
    IN_d fa2, \b
    IN_d fa3, \c
    fsflags zero
    \instruction fa0, fa1, fa2, fa3, \mode
    OUT_d \result, \flags
    .endm
    .macro FX2_d instruction, result, flags, a, b
    IN_d fa1, \a
    IN_d fa2, \b
    fsflags zero
    \instruction a0, fa1, fa2
    frflags a1
    EQ a0, \result
    EQ a1, \flags
    .endm
    .macro FX1_d instruction, result, flags, a
    IN_d fa1, \a
    fsflags zero
    \instruction a0, fa1
    frflags a1
    EQ a0, \result
    EQ a1, \flags
    .endm
    .macro FXR_d instruction, mode, result, flags, a
    IN_d fa1, \a
    fsflags zero
    \instruction a0, fa1, \mode
    frflags a1
    EQ a0, \result
    EQ a1, \flags
    .endm
    .macro XFR_d instruction, mode, result, flags, a
    li a2, \a
    fsflags zero
    \instruction fa0, a2, \mode
    OUT_d \result, \flags
    .endm
    .macro XFN_d instruction, result, flags, a
    li a2, \a
    fsflags zero
    \instruction fa0, a2
    OUT_d \result, \flags
    .endm

    .macro FRM_rne
    fsrmi 0
    .endm
    .macro FRM_rtz
    fsrmi 1
    .endm
    .macro FRM_rdn
    fsrmi 2
    .endm
    .macro FRM_rup
    fsrmi 3
    .endm
    .macro FRM_rmm
    fsrmi 4
    .endm
    .macro CSD instruction, mode, result, flags, a
    IN_d fa1, \a
    fsflags zero
    \instruction fa0, fa1, \mode
    OUT_s \result, \flags
    .endm
    .macro CDS instruction, result, flags, a
    IN_s fa1, \a
    fsflags zero
    \instruction fa0, fa1
    OUT_d \result, \flags
    .endm

    START

    CASE "I-11.6 fadd.s"
    F2_s fadd.s, rne, 0x7fc00000, 0, 0x7fc00000, 0x800000
    F2_s fadd.s, rtz, 0x7f7fffff, 1, 0x7f7fffff, 0x3f800000
    F2_s fadd.s, rdn, 0x7f7fffff, 1, 0x7f7fffff, 0x800000
    F2_s fadd.s, rup, 0xff800000, 0, 0x3f800000, 0xff800000
    F2_s fadd.s, rmm, 0x3f800000, 0, 0x3f800000, 0x0
    F2_s fadd.s, rne, 0x3f800000, 0, 0x0, 0x3f800000
    F2_s fadd.s, rtz, 0x40200000, 0, 0x3f000000, 0x40000000
    F2_s fadd.s, rdn, 0xffffff, 0, 0x7fffff, 0x800000
    F2_s fadd.s, rup, 0x7fc00000, 16, 0x7f800001, 0xbf800000
    F2_s fadd.s, rmm, 0xbf000000, 0, 0x3f000000, 0xbf800000
    F2_s fadd.s, rne, 0xff800000, 0, 0xff800000, 0xbf800000
    F2_s fadd.s, rtz, 0x7f7fffff, 0, 0x80000000, 0x7f7fffff
    F2_s fadd.s, rdn, 0x3f000000, 1, 0x3f000000, 0x1
    F2_s fadd.s, rup, 0x7fffff, 0, 0x80000000, 0x7fffff
    F2_s fadd.s, rne, 0x455eb428, 1, 0xb7e72d95, 0x455eb428
    F2_s fadd.s, rtz, 0x455eb427, 1, 0xb7e72d95, 0x455eb428
    F2_s fadd.s, rdn, 0x455eb427, 1, 0xb7e72d95, 0x455eb428
    F2_s fadd.s, rup, 0x455eb428, 1, 0xb7e72d95, 0x455eb428
    F2_s fadd.s, rmm, 0x455eb428, 1, 0xb7e72d95, 0x455eb428
    F2_s fadd.s, rne, 0xcb2d8312, 1, 0xba1996e9, 0xcb2d8312
    F2_s fadd.s, rtz, 0xcb2d8312, 1, 0xba1996e9, 0xcb2d8312
    F2_s fadd.s, rdn, 0xcb2d8313, 1, 0xba1996e9, 0xcb2d8312
    F2_s fadd.s, rup, 0xcb2d8312, 1, 0xba1996e9, 0xcb2d8312
    F2_s fadd.s, rmm, 0xcb2d8312, 1, 0xba1996e9, 0xcb2d8312
    F2_s fadd.s, rne, 0x3d3c725c, 1, 0xad7eab54, 0x3d3c725c
    F2_s fadd.s, rtz, 0x3d3c725b, 1, 0xad7eab54, 0x3d3c725c
    F2_s fadd.s, rdn, 0x3d3c725b, 1, 0xad7eab54, 0x3d3c725c
    F2_s fadd.s, rup, 0x3d3c725c, 1, 0xad7eab54, 0x3d3c725c
    F2_s fadd.s, rmm, 0x3d3c725c, 1, 0xad7eab54, 0x3d3c725c
    F2_s fadd.s, rne, 0xc1b93eb3, 1, 0x37d8a48f, 0xc1b93ec1
    F2_s fadd.s, rtz, 0xc1b93eb3, 1, 0x37d8a48f, 0xc1b93ec1
    F2_s fadd.s, rdn, 0xc1b93eb4, 1, 0x37d8a48f, 0xc1b93ec1
    F2_s fadd.s, rup, 0xc1b93eb3, 1, 0x37d8a48f, 0xc1b93ec1
    F2_s fadd.s, rmm, 0xc1b93eb3, 1, 0x37d8a48f, 0xc1b93ec1
    F2_s fadd.s, rne, 0xc2c8de6f, 1, 0xc1fa3d75, 0xc28a4f12
    F2_s fadd.s, rtz, 0xc2c8de6f, 1, 0xc1fa3d75, 0xc28a4f12
    F2_s fadd.s, rdn, 0xc2c8de70, 1, 0xc1fa3d75, 0xc28a4f12
    F2_s fadd.s, rup, 0xc2c8de6f, 1, 0xc1fa3d75, 0xc28a4f12
    F2_s fadd.s, rmm, 0xc2c8de6f, 1, 0xc1fa3d75, 0xc28a4f12
    F2_s fadd.s, rne, 0x382b44cc, 1, 0x321d0948, 0x382b3afb
    F2_s fadd.s, rtz, 0x382b44cb, 1, 0x321d0948, 0x382b3afb
    F2_s fadd.s, rdn, 0x382b44cb, 1, 0x321d0948, 0x382b3afb
    F2_s fadd.s, rup, 0x382b44cc, 1, 0x321d0948, 0x382b3afb
    F2_s fadd.s, rmm, 0x382b44cc, 1, 0x321d0948, 0x382b3afb
    F2_s fadd.s, rne, 0x7f800000, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fadd.s, rtz, 0x7f7fffff, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fadd.s, rdn, 0x7f7fffff, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fadd.s, rup, 0x7f800000, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fadd.s, rmm, 0x7f800000, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fadd.s, rne, 0x2, 0, 0x1, 0x1
    F2_s fadd.s, rtz, 0x2, 0, 0x1, 0x1
    F2_s fadd.s, rdn, 0x2, 0, 0x1, 0x1
    F2_s fadd.s, rup, 0x2, 0, 0x1, 0x1
    F2_s fadd.s, rmm, 0x2, 0, 0x1, 0x1
    F2_s fadd.s, rne, 0x3f000000, 1, 0x800000, 0x3f000000
    F2_s fadd.s, rtz, 0x3f000000, 1, 0x800000, 0x3f000000
    F2_s fadd.s, rdn, 0x3f000000, 1, 0x800000, 0x3f000000
    F2_s fadd.s, rup, 0x3f000001, 1, 0x800000, 0x3f000000
    F2_s fadd.s, rmm, 0x3f000000, 1, 0x800000, 0x3f000000
    END

    CASE "I-11.6 fsub.s"
    F2_s fsub.s, rne, 0x3fc00000, 1, 0x3fc00000, 0x800000
    F2_s fsub.s, rtz, 0x7fc00000, 0, 0x7fc00000, 0x3f800000
    F2_s fsub.s, rdn, 0x3fbfffff, 1, 0x3fc00000, 0x7fffff
    F2_s fsub.s, rup, 0xbfc00000, 0, 0x0, 0x3fc00000
    F2_s fsub.s, rmm, 0x7fc00000, 0, 0x7fc00000, 0x0
    F2_s fsub.s, rne, 0xbfc00000, 1, 0x7fffff, 0x3fc00000
    F2_s fsub.s, rtz, 0x7fffff, 0, 0x7fffff, 0x80000000
    F2_s fsub.s, rdn, 0xc0000001, 1, 0xbf800000, 0x3f800001
    F2_s fsub.s, rup, 0x7f800000, 0, 0x7f800000, 0x1
    F2_s fsub.s, rmm, 0xc0000000, 1, 0x7fffff, 0x40000000
    F2_s fsub.s, rne, 0x40000000, 1, 0x40000000, 0x7fffff
    F2_s fsub.s, rtz, 0x3f7fffff, 1, 0x3f800000, 0x7fffff
    F2_s fsub.s, rdn, 0x7f800000, 0, 0x7f800000, 0xbf800000
    F2_s fsub.s, rup, 0x0, 0, 0x3fc00000, 0x3fc00000
    F2_s fsub.s, rne, 0xcd61373d, 1, 0xbf50784b, 0x4d61373d
    F2_s fsub.s, rtz, 0xcd61373d, 1, 0xbf50784b, 0x4d61373d
    F2_s fsub.s, rdn, 0xcd61373e, 1, 0xbf50784b, 0x4d61373d
    F2_s fsub.s, rup, 0xcd61373d, 1, 0xbf50784b, 0x4d61373d
    F2_s fsub.s, rmm, 0xcd61373d, 1, 0xbf50784b, 0x4d61373d
    F2_s fsub.s, rne, 0x3e390d89, 1, 0x3e390c44, 0xb6a2a07a
    F2_s fsub.s, rtz, 0x3e390d89, 1, 0x3e390c44, 0xb6a2a07a
    F2_s fsub.s, rdn, 0x3e390d89, 1, 0x3e390c44, 0xb6a2a07a
    F2_s fsub.s, rup, 0x3e390d8a, 1, 0x3e390c44, 0xb6a2a07a
    F2_s fsub.s, rmm, 0x3e390d89, 1, 0x3e390c44, 0xb6a2a07a
    F2_s fsub.s, rne, 0xad0447d9, 0, 0x2cff4bbe, 0x2d81f6dc
    F2_s fsub.s, rtz, 0xad0447d9, 0, 0x2cff4bbe, 0x2d81f6dc
    F2_s fsub.s, rdn, 0xad0447d9, 0, 0x2cff4bbe, 0x2d81f6dc
    F2_s fsub.s, rup, 0xad0447d9, 0, 0x2cff4bbe, 0x2d81f6dc
    F2_s fsub.s, rmm, 0xad0447d9, 0, 0x2cff4bbe, 0x2d81f6dc
    F2_s fsub.s, rne, 0x4bc688c7, 1, 0x4bc688c7, 0xb7c1d273
    F2_s fsub.s, rtz, 0x4bc688c7, 1, 0x4bc688c7, 0xb7c1d273
    F2_s fsub.s, rdn, 0x4bc688c7, 1, 0x4bc688c7, 0xb7c1d273
    F2_s fsub.s, rup, 0x4bc688c8, 1, 0x4bc688c7, 0xb7c1d273
    F2_s fsub.s, rmm, 0x4bc688c7, 1, 0x4bc688c7, 0xb7c1d273
    F2_s fsub.s, rne, 0x3b77a22b, 1, 0x3b77a260, 0x325443d7
    F2_s fsub.s, rtz, 0x3b77a22a, 1, 0x3b77a260, 0x325443d7
    F2_s fsub.s, rdn, 0x3b77a22a, 1, 0x3b77a260, 0x325443d7
    F2_s fsub.s, rup, 0x3b77a22b, 1, 0x3b77a260, 0x325443d7
    F2_s fsub.s, rmm, 0x3b77a22b, 1, 0x3b77a260, 0x325443d7
    F2_s fsub.s, rne, 0xce6ad7f1, 1, 0xc7540880, 0x4e6ad4a1
    F2_s fsub.s, rtz, 0xce6ad7f1, 1, 0xc7540880, 0x4e6ad4a1
    F2_s fsub.s, rdn, 0xce6ad7f2, 1, 0xc7540880, 0x4e6ad4a1
    F2_s fsub.s, rup, 0xce6ad7f1, 1, 0xc7540880, 0x4e6ad4a1
    F2_s fsub.s, rmm, 0xce6ad7f1, 1, 0xc7540880, 0x4e6ad4a1
    F2_s fsub.s, rne, 0x0, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fsub.s, rtz, 0x0, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fsub.s, rdn, 0x80000000, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fsub.s, rup, 0x0, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fsub.s, rmm, 0x0, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fsub.s, rne, 0x0, 0, 0x1, 0x1
    F2_s fsub.s, rtz, 0x0, 0, 0x1, 0x1
    F2_s fsub.s, rdn, 0x80000000, 0, 0x1, 0x1
    F2_s fsub.s, rup, 0x0, 0, 0x1, 0x1
    F2_s fsub.s, rmm, 0x0, 0, 0x1, 0x1
    F2_s fsub.s, rne, 0xbf000000, 1, 0x800000, 0x3f000000
    F2_s fsub.s, rtz, 0xbeffffff, 1, 0x800000, 0x3f000000
    F2_s fsub.s, rdn, 0xbf000000, 1, 0x800000, 0x3f000000
    F2_s fsub.s, rup, 0xbeffffff, 1, 0x800000, 0x3f000000
    F2_s fsub.s, rmm, 0xbf000000, 1, 0x800000, 0x3f000000
    END

    CASE "I-11.6 fmul.s"
    F2_s fmul.s, rne, 0x3f800001, 0, 0x3f800000, 0x3f800001
    F2_s fmul.s, rtz, 0x7fc00000, 0, 0x7f7fffff, 0x7fc00000
    F2_s fmul.s, rdn, 0x7fc00000, 16, 0x80000000, 0x7f800000
    F2_s fmul.s, rup, 0x0, 0, 0x40000000, 0x0
    F2_s fmul.s, rmm, 0xff800000, 0, 0x7f800000, 0xff800000
    F2_s fmul.s, rne, 0x7fc00000, 0, 0x800000, 0x7fc00000
    F2_s fmul.s, rtz, 0x7f7fffff, 5, 0x7f7fffff, 0x3f800001
    F2_s fmul.s, rdn, 0x7fc00000, 0, 0x40000000, 0x7fc00000
    F2_s fmul.s, rup, 0x7f800000, 0, 0x7fffff, 0x7f800000
    F2_s fmul.s, rmm, 0x7fc00000, 16, 0x3f800001, 0x7f800001
    F2_s fmul.s, rne, 0x7fc00000, 0, 0x7fc00000, 0x7f7fffff
    F2_s fmul.s, rtz, 0x3fc00000, 0, 0x3f800000, 0x3fc00000
    F2_s fmul.s, rdn, 0x7fc00000, 16, 0x7f800001, 0x800000
    F2_s fmul.s, rup, 0xff800000, 0, 0x3f800001, 0xff800000
    F2_s fmul.s, rne, 0x3265aca3, 1, 0xb51fe9df, 0xbcb7d6bc
    F2_s fmul.s, rtz, 0x3265aca2, 1, 0xb51fe9df, 0xbcb7d6bc
    F2_s fmul.s, rdn, 0x3265aca2, 1, 0xb51fe9df, 0xbcb7d6bc
    F2_s fmul.s, rup, 0x3265aca3, 1, 0xb51fe9df, 0xbcb7d6bc
    F2_s fmul.s, rmm, 0x3265aca3, 1, 0xb51fe9df, 0xbcb7d6bc
    F2_s fmul.s, rne, 0x4387f070, 1, 0xbf984cf9, 0xc3647f8e
    F2_s fmul.s, rtz, 0x4387f070, 1, 0xbf984cf9, 0xc3647f8e
    F2_s fmul.s, rdn, 0x4387f070, 1, 0xbf984cf9, 0xc3647f8e
    F2_s fmul.s, rup, 0x4387f071, 1, 0xbf984cf9, 0xc3647f8e
    F2_s fmul.s, rmm, 0x4387f070, 1, 0xbf984cf9, 0xc3647f8e
    F2_s fmul.s, rne, 0xdb28d5d6, 1, 0xc6f12fa5, 0x53b33490
    F2_s fmul.s, rtz, 0xdb28d5d5, 1, 0xc6f12fa5, 0x53b33490
    F2_s fmul.s, rdn, 0xdb28d5d6, 1, 0xc6f12fa5, 0x53b33490
    F2_s fmul.s, rup, 0xdb28d5d5, 1, 0xc6f12fa5, 0x53b33490
    F2_s fmul.s, rmm, 0xdb28d5d6, 1, 0xc6f12fa5, 0x53b33490
    F2_s fmul.s, rne, 0xbfd01cc3, 1, 0xcec64d1b, 0x3086553b
    F2_s fmul.s, rtz, 0xbfd01cc2, 1, 0xcec64d1b, 0x3086553b
    F2_s fmul.s, rdn, 0xbfd01cc3, 1, 0xcec64d1b, 0x3086553b
    F2_s fmul.s, rup, 0xbfd01cc2, 1, 0xcec64d1b, 0x3086553b
    F2_s fmul.s, rmm, 0xbfd01cc3, 1, 0xcec64d1b, 0x3086553b
    F2_s fmul.s, rne, 0x3a98b304, 1, 0xc5b9b5cb, 0xb4527eab
    F2_s fmul.s, rtz, 0x3a98b304, 1, 0xc5b9b5cb, 0xb4527eab
    F2_s fmul.s, rdn, 0x3a98b304, 1, 0xc5b9b5cb, 0xb4527eab
    F2_s fmul.s, rup, 0x3a98b305, 1, 0xc5b9b5cb, 0xb4527eab
    F2_s fmul.s, rmm, 0x3a98b304, 1, 0xc5b9b5cb, 0xb4527eab
    F2_s fmul.s, rne, 0xccd65cc0, 1, 0xbdbe2753, 0x4e904bbc
    F2_s fmul.s, rtz, 0xccd65cbf, 1, 0xbdbe2753, 0x4e904bbc
    F2_s fmul.s, rdn, 0xccd65cc0, 1, 0xbdbe2753, 0x4e904bbc
    F2_s fmul.s, rup, 0xccd65cbf, 1, 0xbdbe2753, 0x4e904bbc
    F2_s fmul.s, rmm, 0xccd65cc0, 1, 0xbdbe2753, 0x4e904bbc
    F2_s fmul.s, rne, 0x7f800000, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fmul.s, rtz, 0x7f7fffff, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fmul.s, rdn, 0x7f7fffff, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fmul.s, rup, 0x7f800000, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fmul.s, rmm, 0x7f800000, 5, 0x7f7fffff, 0x7f7fffff
    F2_s fmul.s, rne, 0x0, 3, 0x1, 0x1
    F2_s fmul.s, rtz, 0x0, 3, 0x1, 0x1
    F2_s fmul.s, rdn, 0x0, 3, 0x1, 0x1
    F2_s fmul.s, rup, 0x1, 3, 0x1, 0x1
    F2_s fmul.s, rmm, 0x0, 3, 0x1, 0x1
    F2_s fmul.s, rne, 0x400000, 0, 0x800000, 0x3f000000
    F2_s fmul.s, rtz, 0x400000, 0, 0x800000, 0x3f000000
    F2_s fmul.s, rdn, 0x400000, 0, 0x800000, 0x3f000000
    F2_s fmul.s, rup, 0x400000, 0, 0x800000, 0x3f000000
    F2_s fmul.s, rmm, 0x400000, 0, 0x800000, 0x3f000000
    END

    CASE "I-11.6 fdiv.s"
    F2_s fdiv.s, rne, 0x7fc00000, 0, 0x80000000, 0x7fc00000
    F2_s fdiv.s, rtz, 0xff800000, 0, 0xff800000, 0x3fc00000
    F2_s fdiv.s, rdn, 0x7fc00000, 0, 0x800000, 0x7fc00000
    F2_s fdiv.s, rup, 0x7fc00000, 16, 0x80000000, 0x0
    F2_s fdiv.s, rmm, 0x80800000, 0, 0x800000, 0xbf800000
    F2_s fdiv.s, rne, 0x3f800000, 0, 0x3f800000, 0x3f800000
    F2_s fdiv.s, rtz, 0x7fc00000, 16, 0x7f800001, 0x7f800000
    F2_s fdiv.s, rdn, 0x3f7ffffe, 0, 0x7fffff, 0x800000
    F2_s fdiv.s, rup, 0x100001, 3, 0x3f000000, 0x7f7fffff
    F2_s fdiv.s, rmm, 0x400000, 0, 0x800000, 0x40000000
    F2_s fdiv.s, rne, 0x0, 0, 0x0, 0x40000000
    F2_s fdiv.s, rtz, 0x0, 0, 0x3f800001, 0x7f800000
    F2_s fdiv.s, rdn, 0x7f800000, 8, 0x3f000000, 0x0
    F2_s fdiv.s, rup, 0xff800000, 8, 0xbf800000, 0x0
    F2_s fdiv.s, rne, 0x5312e827, 1, 0x4384761b, 0x2fe6d3c8
    F2_s fdiv.s, rtz, 0x5312e826, 1, 0x4384761b, 0x2fe6d3c8
    F2_s fdiv.s, rdn, 0x5312e826, 1, 0x4384761b, 0x2fe6d3c8
    F2_s fdiv.s, rup, 0x5312e827, 1, 0x4384761b, 0x2fe6d3c8
    F2_s fdiv.s, rmm, 0x5312e827, 1, 0x4384761b, 0x2fe6d3c8
    F2_s fdiv.s, rne, 0xbea97edd, 1, 0xaf20e5e6, 0x2ff303be
    F2_s fdiv.s, rtz, 0xbea97edc, 1, 0xaf20e5e6, 0x2ff303be
    F2_s fdiv.s, rdn, 0xbea97edd, 1, 0xaf20e5e6, 0x2ff303be
    F2_s fdiv.s, rup, 0xbea97edc, 1, 0xaf20e5e6, 0x2ff303be
    F2_s fdiv.s, rmm, 0xbea97edd, 1, 0xaf20e5e6, 0x2ff303be
    F2_s fdiv.s, rne, 0xbfb23b32, 1, 0xc12e75f1, 0x40fa9592
    F2_s fdiv.s, rtz, 0xbfb23b32, 1, 0xc12e75f1, 0x40fa9592
    F2_s fdiv.s, rdn, 0xbfb23b33, 1, 0xc12e75f1, 0x40fa9592
    F2_s fdiv.s, rup, 0xbfb23b32, 1, 0xc12e75f1, 0x40fa9592
    F2_s fdiv.s, rmm, 0xbfb23b32, 1, 0xc12e75f1, 0x40fa9592
    F2_s fdiv.s, rne, 0xd20ad6c9, 1, 0xd2859436, 0x3ff64d1b
    F2_s fdiv.s, rtz, 0xd20ad6c8, 1, 0xd2859436, 0x3ff64d1b
    F2_s fdiv.s, rdn, 0xd20ad6c9, 1, 0xd2859436, 0x3ff64d1b
    F2_s fdiv.s, rup, 0xd20ad6c8, 1, 0xd2859436, 0x3ff64d1b
    F2_s fdiv.s, rmm, 0xd20ad6c9, 1, 0xd2859436, 0x3ff64d1b
    F2_s fdiv.s, rne, 0xac06155d, 1, 0x3e807b96, 0xd1f54e8c
    F2_s fdiv.s, rtz, 0xac06155d, 1, 0x3e807b96, 0xd1f54e8c
    F2_s fdiv.s, rdn, 0xac06155e, 1, 0x3e807b96, 0xd1f54e8c
    F2_s fdiv.s, rup, 0xac06155d, 1, 0x3e807b96, 0xd1f54e8c
    F2_s fdiv.s, rmm, 0xac06155d, 1, 0x3e807b96, 0xd1f54e8c
    F2_s fdiv.s, rne, 0x34eccf29, 1, 0xaf831ad7, 0xba0dbabd
    F2_s fdiv.s, rtz, 0x34eccf29, 1, 0xaf831ad7, 0xba0dbabd
    F2_s fdiv.s, rdn, 0x34eccf29, 1, 0xaf831ad7, 0xba0dbabd
    F2_s fdiv.s, rup, 0x34eccf2a, 1, 0xaf831ad7, 0xba0dbabd
    F2_s fdiv.s, rmm, 0x34eccf29, 1, 0xaf831ad7, 0xba0dbabd
    F2_s fdiv.s, rne, 0x3f800000, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fdiv.s, rtz, 0x3f800000, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fdiv.s, rdn, 0x3f800000, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fdiv.s, rup, 0x3f800000, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fdiv.s, rmm, 0x3f800000, 0, 0x7f7fffff, 0x7f7fffff
    F2_s fdiv.s, rne, 0x3f800000, 0, 0x1, 0x1
    F2_s fdiv.s, rtz, 0x3f800000, 0, 0x1, 0x1
    F2_s fdiv.s, rdn, 0x3f800000, 0, 0x1, 0x1
    F2_s fdiv.s, rup, 0x3f800000, 0, 0x1, 0x1
    F2_s fdiv.s, rmm, 0x3f800000, 0, 0x1, 0x1
    F2_s fdiv.s, rne, 0x1000000, 0, 0x800000, 0x3f000000
    F2_s fdiv.s, rtz, 0x1000000, 0, 0x800000, 0x3f000000
    F2_s fdiv.s, rdn, 0x1000000, 0, 0x800000, 0x3f000000
    F2_s fdiv.s, rup, 0x1000000, 0, 0x800000, 0x3f000000
    F2_s fdiv.s, rmm, 0x1000000, 0, 0x800000, 0x3f000000
    END

    CASE "I-11.6 fsqrt.s"
    F1_s fsqrt.s, rne, 0x0, 0, 0x0
    F1_s fsqrt.s, rtz, 0x80000000, 0, 0x80000000
    F1_s fsqrt.s, rdn, 0x3f800000, 0, 0x3f800000
    F1_s fsqrt.s, rup, 0x7fc00000, 16, 0xbf800000
    F1_s fsqrt.s, rmm, 0x7f800000, 0, 0x7f800000
    F1_s fsqrt.s, rne, 0x7fc00000, 16, 0xff800000
    F1_s fsqrt.s, rtz, 0x7fc00000, 0, 0x7fc00000
    F1_s fsqrt.s, rdn, 0x7fc00000, 16, 0x7f800001
    F1_s fsqrt.s, rup, 0x1a3504f4, 1, 0x1
    F1_s fsqrt.s, rmm, 0x1fffffff, 1, 0x7fffff
    F1_s fsqrt.s, rne, 0x20000000, 0, 0x800000
    F1_s fsqrt.s, rtz, 0x5f7fffff, 1, 0x7f7fffff
    F1_s fsqrt.s, rne, 0x3f800000, 1, 0x3f800001
    F1_s fsqrt.s, rtz, 0x3f800000, 1, 0x3f800001
    F1_s fsqrt.s, rdn, 0x3f800000, 1, 0x3f800001
    F1_s fsqrt.s, rup, 0x3f800001, 1, 0x3f800001
    F1_s fsqrt.s, rmm, 0x3f800000, 1, 0x3f800001
    F1_s fsqrt.s, rne, 0x3f9cc471, 1, 0x3fc00000
    F1_s fsqrt.s, rtz, 0x3f9cc470, 1, 0x3fc00000
    F1_s fsqrt.s, rdn, 0x3f9cc470, 1, 0x3fc00000
    F1_s fsqrt.s, rup, 0x3f9cc471, 1, 0x3fc00000
    F1_s fsqrt.s, rmm, 0x3f9cc471, 1, 0x3fc00000
    F1_s fsqrt.s, rne, 0x3fb504f3, 1, 0x40000000
    F1_s fsqrt.s, rtz, 0x3fb504f3, 1, 0x40000000
    F1_s fsqrt.s, rdn, 0x3fb504f3, 1, 0x40000000
    F1_s fsqrt.s, rup, 0x3fb504f4, 1, 0x40000000
    F1_s fsqrt.s, rmm, 0x3fb504f3, 1, 0x40000000
    F1_s fsqrt.s, rne, 0x3f3504f3, 1, 0x3f000000
    F1_s fsqrt.s, rtz, 0x3f3504f3, 1, 0x3f000000
    F1_s fsqrt.s, rdn, 0x3f3504f3, 1, 0x3f000000
    F1_s fsqrt.s, rup, 0x3f3504f4, 1, 0x3f000000
    F1_s fsqrt.s, rmm, 0x3f3504f3, 1, 0x3f000000
    F1_s fsqrt.s, rne, 0x447d0878, 1, 0x497a19bd
    F1_s fsqrt.s, rtz, 0x447d0877, 1, 0x497a19bd
    F1_s fsqrt.s, rdn, 0x447d0877, 1, 0x497a19bd
    F1_s fsqrt.s, rup, 0x447d0878, 1, 0x497a19bd
    F1_s fsqrt.s, rmm, 0x447d0878, 1, 0x497a19bd
    F1_s fsqrt.s, rne, 0x41f22c7b, 1, 0x44651821
    F1_s fsqrt.s, rtz, 0x41f22c7b, 1, 0x44651821
    F1_s fsqrt.s, rdn, 0x41f22c7b, 1, 0x44651821
    F1_s fsqrt.s, rup, 0x41f22c7c, 1, 0x44651821
    F1_s fsqrt.s, rmm, 0x41f22c7b, 1, 0x44651821
    F1_s fsqrt.s, rne, 0x4373dbfd, 1, 0x47684b5f
    F1_s fsqrt.s, rtz, 0x4373dbfc, 1, 0x47684b5f
    F1_s fsqrt.s, rdn, 0x4373dbfc, 1, 0x47684b5f
    F1_s fsqrt.s, rup, 0x4373dbfd, 1, 0x47684b5f
    F1_s fsqrt.s, rmm, 0x4373dbfd, 1, 0x47684b5f
    F1_s fsqrt.s, rne, 0x39b1bc57, 1, 0x33f6cbf6
    F1_s fsqrt.s, rtz, 0x39b1bc57, 1, 0x33f6cbf6
    F1_s fsqrt.s, rdn, 0x39b1bc57, 1, 0x33f6cbf6
    F1_s fsqrt.s, rup, 0x39b1bc58, 1, 0x33f6cbf6
    F1_s fsqrt.s, rmm, 0x39b1bc57, 1, 0x33f6cbf6
    F1_s fsqrt.s, rne, 0x3b35ce37, 1, 0x37011d40
    F1_s fsqrt.s, rtz, 0x3b35ce37, 1, 0x37011d40
    F1_s fsqrt.s, rdn, 0x3b35ce37, 1, 0x37011d40
    F1_s fsqrt.s, rup, 0x3b35ce38, 1, 0x37011d40
    F1_s fsqrt.s, rmm, 0x3b35ce37, 1, 0x37011d40
    END

    CASE "I-11.6 fmadd.s"
    F3_s fmadd.s, rne, 0x7fc00000, 16, 0x7fffff, 0x7f800000, 0x7f800001
    F3_s fmadd.s, rtz, 0x40000000, 1, 0x800000, 0x800000, 0x40000000
    F3_s fmadd.s, rdn, 0x7fc00000, 0, 0x7f7fffff, 0x3f800000, 0x7fc00000
    F3_s fmadd.s, rup, 0x7fc00000, 16, 0x3f800001, 0xff800000, 0x7f800001
    F3_s fmadd.s, rmm, 0x3fc00000, 0, 0x3fc00000, 0x3f800000, 0x80000000
    F3_s fmadd.s, rne, 0xff800000, 0, 0x3f000000, 0x800000, 0xff800000
    F3_s fmadd.s, rtz, 0xbf000000, 0, 0x3fc00000, 0xbf800000, 0x3f800000
    F3_s fmadd.s, rdn, 0x7fc00000, 0, 0x1, 0x3f800000, 0x7fc00000
    F3_s fmadd.s, rup, 0xbf800000, 0, 0xbf800000, 0x3fc00000, 0x3f000000
    F3_s fmadd.s, rmm, 0x7fc00000, 16, 0x40000000, 0xff800000, 0x7f800001
    F3_s fmadd.s, rne, 0x7f800000, 0, 0x7f800000, 0x3fc00000, 0x40000000
    F3_s fmadd.s, rtz, 0x7fc00000, 16, 0x7f800001, 0xbf800000, 0x7fffff
    F3_s fmadd.s, rdn, 0x33bc9e60, 0, 0x3d488fa9, 0x432084ec, 0xc0fb83d9
    F3_s fmadd.s, rup, 0x2818d600, 0, 0xbc197f0f, 0x3b17c636, 0x37b60195
    F3_s fmadd.s, rmm, 0xbf783d50, 0, 0x3a93a00f, 0x50981894, 0xcbaf6a6b
    F3_s fmadd.s, rne, 0x9f323660, 0, 0x2fb2b268, 0x3b40f002, 0xab86ad57
    F3_s fmadd.s, rtz, 0xa068fc20, 0, 0xba53276c, 0xb1d3a034, 0xacae8da2
    F3_s fmadd.s, rdn, 0x2bf2b194, 0, 0x2d8d193a, 0x49f10069, 0xb804d4f9
    F3_s fmadd.s, rup, 0xbe8c2e1e, 1, 0xba6b9759, 0x43052a93, 0xbe1dcf6d
    F3_s fmadd.s, rmm, 0xbfb5d456, 1, 0x2e9843ef, 0xd098da49, 0xb02fa575
    F3_s fmadd.s, rne, 0x33a49df4, 1, 0xb6b97c90, 0xbc633324, 0xab8d8a33
    F3_s fmadd.s, rtz, 0x54053c78, 1, 0xd1dad7a6, 0xc19bdbce, 0x432b85a9
    F3_s fmadd.s, rdn, 0xb8e84986, 1, 0x2e1a1be6, 0xbb84e4ea, 0xb8e84985
    F3_s fmadd.s, rup, 0xc3d60310, 1, 0x403459f1, 0xc317b2d5, 0xbf09f9c4
    END

    CASE "I-11.6 fmsub.s"
    F3_s fmsub.s, rne, 0x7fc00000, 0, 0x7fc00000, 0x80000000, 0x3f000000
    F3_s fmsub.s, rtz, 0xbf800000, 0, 0x3f000000, 0x3f800000, 0x3fc00000
    F3_s fmsub.s, rdn, 0xff800000, 0, 0xbf800000, 0x3f800001, 0x7f800000
    F3_s fmsub.s, rup, 0xff800000, 0, 0x3f800000, 0xff800000, 0x3f800001
    F3_s fmsub.s, rmm, 0x807ffffe, 3, 0x1, 0x3fc00000, 0x7fffff
    F3_s fmsub.s, rne, 0xbffffe, 1, 0x7fffff, 0x3fc00000, 0x80000000
    F3_s fmsub.s, rtz, 0x401ffffd, 1, 0x7fffff, 0x7f7fffff, 0x3fc00000
    F3_s fmsub.s, rdn, 0xff7fffff, 0, 0x3fc00000, 0x0, 0x7f7fffff
    F3_s fmsub.s, rup, 0x7fc00000, 0, 0x7fc00000, 0x3f800001, 0x3f800001
    F3_s fmsub.s, rmm, 0x7fc00000, 0, 0x7fc00000, 0x0, 0x3fc00000
    F3_s fmsub.s, rne, 0xff800000, 0, 0xff800000, 0x3fc00000, 0xbf800000
    F3_s fmsub.s, rtz, 0xff7ffffe, 1, 0x3f800000, 0x3f800001, 0x7f7fffff
    F3_s fmsub.s, rdn, 0x16b61680, 0, 0x3590a306, 0x2ec6991e, 0x24e06932
    F3_s fmsub.s, rup, 0xca98a1c0, 0, 0x448b655f, 0xd376af64, 0xd88652ea
    F3_s fmsub.s, rmm, 0x40c0a4b0, 0, 0x4b95f9cb, 0x41a44302, 0x4dc0768f
    F3_s fmsub.s, rne, 0x303788b0, 0, 0x4c95fd0f, 0xaf8decec, 0xbca64e62
    F3_s fmsub.s, rtz, 0x36d762c0, 0, 0x4ae07484, 0xb8269b54, 0xc39213be
    F3_s fmsub.s, rdn, 0x2a4d8040, 0, 0x2e7cdeb5, 0xca284263, 0xb92633ba
    F3_s fmsub.s, rup, 0xd705118c, 1, 0x52768caa, 0xc40b0bb2, 0xd358177a
    F3_s fmsub.s, rmm, 0xd2ec553d, 1, 0xb5d1f626, 0xb9cf7eaa, 0x52ec553d
    F3_s fmsub.s, rne, 0xcc940794, 1, 0x49976b6a, 0xb90556d6, 0x4c940780
    F3_s fmsub.s, rtz, 0x3e0da937, 1, 0x420fc052, 0x3b7c3fa5, 0xb78542bb
    F3_s fmsub.s, rdn, 0x40153738, 1, 0xcf6bd68c, 0xadd57da1, 0xc00f11cf
    F3_s fmsub.s, rup, 0xe625a8a9, 1, 0x51ba5579, 0xd3e39853, 0x4627737a
    END

    CASE "I-11.6 fnmsub.s"
    F3_s fnmsub.s, rne, 0x7fc00000, 16, 0x7f800001, 0x3fc00000, 0x3f800001
    F3_s fnmsub.s, rtz, 0xff7fffff, 5, 0x7f7fffff, 0x40000000, 0x40000000
    F3_s fnmsub.s, rdn, 0x7fc00000, 16, 0xff800000, 0x0, 0x0
    F3_s fnmsub.s, rup, 0x7fc00000, 16, 0x3f000000, 0x40000000, 0x7f800001
    F3_s fnmsub.s, rmm, 0xff800000, 0, 0x40000000, 0x40000000, 0xff800000
    F3_s fnmsub.s, rne, 0xbfc00000, 1, 0x3f000000, 0x3f800001, 0xbf800000
    F3_s fnmsub.s, rtz, 0xff800000, 0, 0x3f800000, 0x7f800000, 0x7f7fffff
    F3_s fnmsub.s, rdn, 0xff800000, 5, 0x3fc00000, 0x7f7fffff, 0x3f800000
    F3_s fnmsub.s, rup, 0x0, 0, 0x40000000, 0x80000000, 0x80000000
    F3_s fnmsub.s, rmm, 0xff800000, 0, 0x7f800000, 0x3f800000, 0x800000
    F3_s fnmsub.s, rne, 0x3f800001, 0, 0x3f800000, 0x80000000, 0x3f800001
    F3_s fnmsub.s, rtz, 0x7fc00000, 16, 0x7f800000, 0x0, 0x3f800000
    F3_s fnmsub.s, rdn, 0xb9a0cf40, 0, 0xd2ddb4f0, 0xb298cb66, 0x46045395
    F3_s fnmsub.s, rup, 0x3550ca18, 0, 0x4aa4d94d, 0xb657d33c, 0xc18afa85
    F3_s fnmsub.s, rmm, 0x2f48fc10, 0, 0xb98862d5, 0xc1ce230c, 0x3bdba467
    F3_s fnmsub.s, rne, 0x42196e84, 0, 0xbb94527d, 0x52a332f5, 0xcebd1c17
    F3_s fnmsub.s, rtz, 0x481da8d4, 0, 0xc8926093, 0x4bfb6f17, 0xd50fc435
    F3_s fnmsub.s, rdn, 0xb83f1e00, 0, 0xca1aaa56, 0xbc4ed4b4, 0x46f9eb26
    F3_s fnmsub.s, rup, 0x4514a32a, 1, 0xbaa8d788, 0x2d9976ef, 0x4514a329
    F3_s fnmsub.s, rmm, 0x417b2395, 1, 0xbd56ffc0, 0x43959956, 0xbc0ebae6
    F3_s fnmsub.s, rne, 0xd083f286, 1, 0xcd063797, 0xc2fbaaf6, 0xc8471024
    F3_s fnmsub.s, rtz, 0xcdd09c89, 1, 0xd0d82843, 0xb2204292, 0xcdd09c81
    F3_s fnmsub.s, rdn, 0xc88c9389, 1, 0xc4de7443, 0xc321e376, 0x4349e6f3
    F3_s fnmsub.s, rup, 0x36d29b50, 1, 0x42aa5899, 0xb0b89caf, 0x36cec490
    END

    CASE "I-11.6 fnmadd.s"
    F3_s fnmadd.s, rne, 0x80000001, 0, 0x80000000, 0x7fffff, 0x1
    F3_s fnmadd.s, rtz, 0x80000000, 3, 0x7fffff, 0x800000, 0x0
    F3_s fnmadd.s, rdn, 0x7fc00000, 16, 0x80000000, 0x7f800001, 0x7f800000
    F3_s fnmadd.s, rup, 0xbfc00000, 1, 0x7fffff, 0x3fc00000, 0x3fc00000
    F3_s fnmadd.s, rmm, 0xff800000, 0, 0x7f7fffff, 0x80000000, 0x7f800000
    F3_s fnmadd.s, rne, 0x7fc00000, 16, 0x3f000000, 0x7f800001, 0x80000000
    F3_s fnmadd.s, rtz, 0x0, 0, 0x0, 0x80000000, 0x0
    F3_s fnmadd.s, rdn, 0xc03ffffe, 1, 0x7f7fffff, 0x7fffff, 0xbf800000
    F3_s fnmadd.s, rup, 0x7fc00000, 16, 0x7f7fffff, 0x7f800001, 0x3fc00000
    F3_s fnmadd.s, rmm, 0x7fc00000, 0, 0x7fffff, 0x7f800000, 0x7fc00000
    F3_s fnmadd.s, rne, 0x7f800000, 0, 0x7f7fffff, 0x3f000000, 0xff800000
    F3_s fnmadd.s, rtz, 0x7fc00000, 16, 0x7f800000, 0x0, 0x7f800001
    F3_s fnmadd.s, rdn, 0x9753f740, 0, 0xb539b58d, 0x2fd1b0de, 0x25981d86
    F3_s fnmadd.s, rup, 0xad7b9732, 0, 0x3cb37331, 0xbc7bcb17, 0x39b0804e
    F3_s fnmadd.s, rmm, 0x31b77890, 0, 0x2f528da2, 0xcf724339, 0x3f47412d
    F3_s fnmadd.s, rne, 0x4d674214, 0, 0x51d2a327, 0xc7cd0a73, 0x5a28b53f
    F3_s fnmadd.s, rtz, 0x3b2eec40, 0, 0xccdde40f, 0x3b1521f8, 0x4881432e
    F3_s fnmadd.s, rdn, 0xaae7b200, 0, 0xab85a1db, 0x4d833a94, 0x398900ce
    F3_s fnmadd.s, rup, 0x320194ae, 1, 0x371e6bee, 0x2f74b3f5, 0xb20194b0
    F3_s fnmadd.s, rmm, 0xc7723dab, 1, 0xced41204, 0xb81235ca, 0x38425647
    F3_s fnmadd.s, rne, 0xd2bf36ce, 1, 0xcbd2e472, 0xc6681cdc, 0xb6c11904
    F3_s fnmadd.s, rtz, 0x4a5b922e, 1, 0x2fa66f1f, 0xaeff3d66, 0xca5b922e
    F3_s fnmadd.s, rdn, 0x490a4d1e, 1, 0xabb00533, 0xc75f624d, 0xc90a4d1f
    F3_s fnmadd.s, rup, 0x3abdc825, 1, 0xc816733c, 0x3221766e, 0x2d8fc732
    END

    CASE "I-11.6 fmin.s"
    F2N_s fmin.s, 0x3fc00000, 0, 0x3fc00000, 0x3fc00000
    F2N_s fmin.s, 0x80000000, 0, 0x80000000, 0x3f800000
    F2N_s fmin.s, 0xbf800000, 0, 0xbf800000, 0x7fffff
    F2N_s fmin.s, 0x1, 0, 0x1, 0x3f800001
    F2N_s fmin.s, 0x80000000, 0, 0x80000000, 0x1
    F2N_s fmin.s, 0x3fc00000, 16, 0x7f800001, 0x3fc00000
    F2N_s fmin.s, 0x3f800001, 0, 0x3f800001, 0x3f800001
    F2N_s fmin.s, 0x80000000, 0, 0x80000000, 0x3f000000
    F2N_s fmin.s, 0x7fffff, 0, 0x3f000000, 0x7fffff
    F2N_s fmin.s, 0x3f800000, 0, 0x3f800000, 0x40000000
    F2N_s fmin.s, 0xbf800000, 0, 0xbf800000, 0x1
    F2N_s fmin.s, 0x7fffff, 0, 0x7fffff, 0x7f800000
    F2N_s fmin.s, 0x7fc00000, 16, 0x7f800001, 0x7fc00000
    F2N_s fmin.s, 0xbf800000, 16, 0x7f800001, 0xbf800000
    F2N_s fmin.s, 0xff800000, 0, 0xff800000, 0x3f000000
    F2N_s fmin.s, 0x3f000000, 0, 0x7f800000, 0x3f000000
    F2N_s fmin.s, 0x7f800000, 0, 0x7f800000, 0x7fc00000
    F2N_s fmin.s, 0x80000000, 0, 0x3fc00000, 0x80000000
    F2N_s fmin.s, 0x3f800000, 16, 0x3f800000, 0x7f800001
    F2N_s fmin.s, 0x1, 0, 0x1, 0x7f800000
    F2N_s fmin.s, 0x80000000, 16, 0x7f800001, 0x80000000
    F2N_s fmin.s, 0x3f800001, 0, 0x3fc00000, 0x3f800001
    F2N_s fmin.s, 0x2d819d71, 0, 0x2d819d71, 0x4758c29e
    F2N_s fmin.s, 0xbe3b4cbc, 0, 0x4bfd8d84, 0xbe3b4cbc
    F2N_s fmin.s, 0xc500b4cd, 0, 0x34a0ec5f, 0xc500b4cd
    F2N_s fmin.s, 0xc759bfac, 0, 0xbb743978, 0xc759bfac
    F2N_s fmin.s, 0xd15fe282, 0, 0xd15fe282, 0xc66c4984
    F2N_s fmin.s, 0x37521df1, 0, 0x50ed1ce2, 0x37521df1
    F2N_s fmin.s, 0x7f7fffff, 0, 0x7f7fffff, 0x7f7fffff
    F2N_s fmin.s, 0x1, 0, 0x1, 0x1
    F2N_s fmin.s, 0x800000, 0, 0x800000, 0x3f000000
    F2N_s fmin.s, 0x80000000, 0, 0x0, 0x80000000
    F2N_s fmin.s, 0x80000000, 0, 0x80000000, 0x0
    END

    CASE "I-11.6 fmax.s"
    F2N_s fmax.s, 0x3f800001, 0, 0x80000000, 0x3f800001
    F2N_s fmax.s, 0x3f000000, 0, 0x3f000000, 0x80000000
    F2N_s fmax.s, 0x3f800000, 0, 0x3f800000, 0xbf800000
    F2N_s fmax.s, 0x3f800000, 0, 0xbf800000, 0x3f800000
    F2N_s fmax.s, 0x7f7fffff, 0, 0xbf800000, 0x7f7fffff
    F2N_s fmax.s, 0x3f800000, 0, 0x7fffff, 0x3f800000
    F2N_s fmax.s, 0x3f800001, 0, 0x3f800001, 0x800000
    F2N_s fmax.s, 0x40000000, 0, 0x40000000, 0x7fffff
    F2N_s fmax.s, 0x80000000, 0, 0x80000000, 0x7fc00000
    F2N_s fmax.s, 0x3f800001, 0, 0x3f800001, 0x3f800000
    F2N_s fmax.s, 0x7f7fffff, 0, 0x3f000000, 0x7f7fffff
    F2N_s fmax.s, 0x3fc00000, 0, 0x3fc00000, 0x3f800000
    F2N_s fmax.s, 0x1, 0, 0x0, 0x1
    F2N_s fmax.s, 0x7f800000, 0, 0x3f800001, 0x7f800000
    F2N_s fmax.s, 0x3fc00000, 0, 0x3fc00000, 0x7fc00000
    F2N_s fmax.s, 0x7f7fffff, 0, 0x3f800000, 0x7f7fffff
    F2N_s fmax.s, 0x3fc00000, 0, 0x3f800000, 0x3fc00000
    F2N_s fmax.s, 0x3f000000, 0, 0x7fc00000, 0x3f000000
    F2N_s fmax.s, 0x7f7fffff, 0, 0x7f7fffff, 0x3f000000
    F2N_s fmax.s, 0x3fc00000, 0, 0x3fc00000, 0x0
    F2N_s fmax.s, 0x0, 0, 0xbf800000, 0x0
    F2N_s fmax.s, 0x3fc00000, 0, 0x0, 0x3fc00000
    F2N_s fmax.s, 0x4bfdfd1b, 0, 0x4b33ad6a, 0x4bfdfd1b
    F2N_s fmax.s, 0x4bac22bd, 0, 0x4bac22bd, 0xb8d3c898
    F2N_s fmax.s, 0x3fdb4983, 0, 0x332a5acf, 0x3fdb4983
    F2N_s fmax.s, 0x33cb10d4, 0, 0x33cb10d4, 0xb164612c
    F2N_s fmax.s, 0xae330e72, 0, 0xae330e72, 0xcef15b62
    F2N_s fmax.s, 0x4e497a46, 0, 0x4e497a46, 0x452673b7
    F2N_s fmax.s, 0x7f7fffff, 0, 0x7f7fffff, 0x7f7fffff
    F2N_s fmax.s, 0x1, 0, 0x1, 0x1
    F2N_s fmax.s, 0x3f000000, 0, 0x800000, 0x3f000000
    F2N_s fmax.s, 0x0, 0, 0x0, 0x80000000
    F2N_s fmax.s, 0x0, 0, 0x80000000, 0x0
    END

    CASE "I-11.7 fsgnj.s"
    F2N_s fsgnj.s, 0x7f7fffff, 0, 0x7f7fffff, 0x7f800001
    F2N_s fsgnj.s, 0x7f800001, 0, 0x7f800001, 0x7f800001
    F2N_s fsgnj.s, 0x3f000000, 0, 0x3f000000, 0x7f800001
    F2N_s fsgnj.s, 0xffc00000, 0, 0x7fc00000, 0xff800000
    F2N_s fsgnj.s, 0x7f7fffff, 0, 0x7f7fffff, 0x3f800001
    F2N_s fsgnj.s, 0x0, 0, 0x80000000, 0x7f800001
    F2N_s fsgnj.s, 0x1, 0, 0x1, 0x800000
    F2N_s fsgnj.s, 0x3f000000, 0, 0x3f000000, 0x800000
    F2N_s fsgnj.s, 0x3f800000, 0, 0x3f800000, 0x1
    F2N_s fsgnj.s, 0x7f7fffff, 0, 0x7f7fffff, 0x7fc00000
    F2N_s fsgnj.s, 0xbfc00000, 0, 0x3fc00000, 0xbf800000
    F2N_s fsgnj.s, 0xff800000, 0, 0x7f800000, 0xff800000
    F2N_s fsgnj.s, 0x5202a20a, 0, 0xd202a20a, 0x2d9a31c4
    F2N_s fsgnj.s, 0xcfbe3f96, 0, 0xcfbe3f96, 0xcf9b56b0
    F2N_s fsgnj.s, 0x3d368587, 0, 0x3d368587, 0x48623536
    F2N_s fsgnj.s, 0x527b52ed, 0, 0xd27b52ed, 0x3bebffe4
    F2N_s fsgnj.s, 0xc119ba02, 0, 0x4119ba02, 0xb73068ec
    F2N_s fsgnj.s, 0x2d068716, 0, 0x2d068716, 0x4f2f5024
    F2N_s fsgnj.s, 0x7f7fffff, 0, 0x7f7fffff, 0x7f7fffff
    F2N_s fsgnj.s, 0x1, 0, 0x1, 0x1
    F2N_s fsgnj.s, 0x800000, 0, 0x800000, 0x3f000000
    END

    CASE "I-11.7 fsgnjn.s"
    F2N_s fsgnjn.s, 0xff800000, 0, 0xff800000, 0x7f7fffff
    F2N_s fsgnjn.s, 0xff800000, 0, 0x7f800000, 0x7fc00000
    F2N_s fsgnjn.s, 0xff800000, 0, 0x7f800000, 0x1
    F2N_s fsgnjn.s, 0xff800000, 0, 0x7f800000, 0x3fc00000
    F2N_s fsgnjn.s, 0xc0000000, 0, 0x40000000, 0x3f800000
    F2N_s fsgnjn.s, 0x80000000, 0, 0x0, 0x3fc00000
    F2N_s fsgnjn.s, 0xff800000, 0, 0xff800000, 0x1
    F2N_s fsgnjn.s, 0xff800001, 0, 0x7f800001, 0x7fffff
    F2N_s fsgnjn.s, 0xbf800001, 0, 0x3f800001, 0x7fc00000
    F2N_s fsgnjn.s, 0xc0000000, 0, 0x40000000, 0x7fffff
    F2N_s fsgnjn.s, 0x80800000, 0, 0x800000, 0x7fc00000
    F2N_s fsgnjn.s, 0x80800000, 0, 0x800000, 0x40000000
    F2N_s fsgnjn.s, 0x311ca22b, 0, 0xb11ca22b, 0xb7157d1b
    F2N_s fsgnjn.s, 0x3f200f02, 0, 0x3f200f02, 0xad027d60
    F2N_s fsgnjn.s, 0xb7a17630, 0, 0x37a17630, 0x51d183e1
    F2N_s fsgnjn.s, 0xc942eec1, 0, 0xc942eec1, 0x478d2aaa
    F2N_s fsgnjn.s, 0xb1dbc9df, 0, 0x31dbc9df, 0x2e22f217
    F2N_s fsgnjn.s, 0x493f2e05, 0, 0x493f2e05, 0xcbe17934
    F2N_s fsgnjn.s, 0xff7fffff, 0, 0x7f7fffff, 0x7f7fffff
    F2N_s fsgnjn.s, 0x80000001, 0, 0x1, 0x1
    F2N_s fsgnjn.s, 0x80800000, 0, 0x800000, 0x3f000000
    END

    CASE "I-11.7 fsgnjx.s"
    F2N_s fsgnjx.s, 0x7f7fffff, 0, 0x7f7fffff, 0x7f7fffff
    F2N_s fsgnjx.s, 0x7f7fffff, 0, 0x7f7fffff, 0x1
    F2N_s fsgnjx.s, 0x807fffff, 0, 0x7fffff, 0xff800000
    F2N_s fsgnjx.s, 0xbf800000, 0, 0xbf800000, 0x7f7fffff
    F2N_s fsgnjx.s, 0x7fc00000, 0, 0x7fc00000, 0x7fffff
    F2N_s fsgnjx.s, 0x80000000, 0, 0x80000000, 0x7f800001
    F2N_s fsgnjx.s, 0x7f800001, 0, 0x7f800001, 0x7f7fffff
    F2N_s fsgnjx.s, 0x0, 0, 0x0, 0x40000000
    F2N_s fsgnjx.s, 0x3f800000, 0, 0x3f800000, 0x1
    F2N_s fsgnjx.s, 0x7f800000, 0, 0x7f800000, 0x1
    F2N_s fsgnjx.s, 0x3f000000, 0, 0x3f000000, 0x7f800001
    F2N_s fsgnjx.s, 0x1, 0, 0x1, 0x3fc00000
    F2N_s fsgnjx.s, 0x2c5696ce, 0, 0x2c5696ce, 0x4d1d58c6
    F2N_s fsgnjx.s, 0xc5afecd9, 0, 0x45afecd9, 0xc553033d
    F2N_s fsgnjx.s, 0x5013bd7e, 0, 0xd013bd7e, 0xb7fb73c9
    F2N_s fsgnjx.s, 0x4ab368f7, 0, 0x4ab368f7, 0x53731773
    F2N_s fsgnjx.s, 0x512bf096, 0, 0xd12bf096, 0xcd5f8c3f
    F2N_s fsgnjx.s, 0xb115da3a, 0, 0xb115da3a, 0x3faeeea3
    F2N_s fsgnjx.s, 0x7f7fffff, 0, 0x7f7fffff, 0x7f7fffff
    F2N_s fsgnjx.s, 0x1, 0, 0x1, 0x1
    F2N_s fsgnjx.s, 0x800000, 0, 0x800000, 0x3f000000
    END

    CASE "I-11.8 feq.s"
    FX2_s feq.s, 0, 0, 0x1, 0x3f000000
    FX2_s feq.s, 0, 0, 0x1, 0x7f7fffff
    FX2_s feq.s, 0, 0, 0x1, 0x40000000
    FX2_s feq.s, 0, 16, 0x7fc00000, 0x7f800001
    FX2_s feq.s, 0, 0, 0x7f7fffff, 0x40000000
    FX2_s feq.s, 0, 0, 0xff800000, 0x1
    FX2_s feq.s, 0, 16, 0x7f800001, 0x3f800000
    FX2_s feq.s, 0, 0, 0xff800000, 0x3fc00000
    FX2_s feq.s, 0, 0, 0x80000000, 0x3fc00000
    FX2_s feq.s, 0, 0, 0x3f800001, 0xbf800000
    FX2_s feq.s, 0, 0, 0x3f800000, 0x7fffff
    FX2_s feq.s, 1, 0, 0xff800000, 0xff800000
    FX2_s feq.s, 0, 0, 0x80000000, 0x3f800000
    FX2_s feq.s, 0, 0, 0x3f800000, 0x80000000
    FX2_s feq.s, 0, 16, 0x3f000000, 0x7f800001
    FX2_s feq.s, 0, 0, 0x7f800000, 0x1
    FX2_s feq.s, 0, 0, 0x7f800000, 0x80000000
    FX2_s feq.s, 0, 0, 0x3f000000, 0x40000000
    FX2_s feq.s, 0, 0, 0xff800000, 0x7f800000
    FX2_s feq.s, 0, 0, 0x7f800000, 0x3f800000
    FX2_s feq.s, 0, 0, 0x1, 0x0
    FX2_s feq.s, 0, 0, 0x0, 0x7fc00000
    FX2_s feq.s, 0, 0, 0xc9633318, 0xd3ee3e70
    FX2_s feq.s, 0, 0, 0xb3f7e719, 0x3683c915
    FX2_s feq.s, 0, 0, 0x41f2cf0f, 0x2d545c31
    FX2_s feq.s, 0, 0, 0xc91fcc42, 0xc52d120e
    FX2_s feq.s, 0, 0, 0xd38c815d, 0x3e0ebfe9
    FX2_s feq.s, 0, 0, 0x525df576, 0x2e33cbfa
    FX2_s feq.s, 1, 0, 0x7f7fffff, 0x7f7fffff
    FX2_s feq.s, 1, 0, 0x1, 0x1
    FX2_s feq.s, 0, 0, 0x800000, 0x3f000000
    FX2_s feq.s, 1, 0, 0x0, 0x80000000
    FX2_s feq.s, 1, 0, 0x80000000, 0x0
    END

    CASE "I-11.8 flt.s"
    FX2_s flt.s, 0, 0, 0x7f800000, 0x7f7fffff
    FX2_s flt.s, 0, 0, 0x7f800000, 0x0
    FX2_s flt.s, 0, 0, 0x3f800001, 0x3f800000
    FX2_s flt.s, 0, 16, 0x7fc00000, 0x1
    FX2_s flt.s, 0, 0, 0x40000000, 0x3fc00000
    FX2_s flt.s, 0, 0, 0x800000, 0x1
    FX2_s flt.s, 0, 0, 0x1, 0x80000000
    FX2_s flt.s, 0, 16, 0x7f800001, 0x800000
    FX2_s flt.s, 0, 16, 0x7fffff, 0x7fc00000
    FX2_s flt.s, 0, 16, 0x7fc00000, 0x7f7fffff
    FX2_s flt.s, 0, 16, 0x3f800001, 0x7f800001
    FX2_s flt.s, 0, 0, 0x7fffff, 0x7fffff
    FX2_s flt.s, 1, 0, 0x800000, 0x3f800000
    FX2_s flt.s, 1, 0, 0xff800000, 0x3f800001
    FX2_s flt.s, 0, 0, 0x1, 0x1
    FX2_s flt.s, 0, 0, 0x3f800001, 0x3f000000
    FX2_s flt.s, 1, 0, 0x0, 0x7f800000
    FX2_s flt.s, 1, 0, 0xff800000, 0x40000000
    FX2_s flt.s, 1, 0, 0x7fffff, 0x800000
    FX2_s flt.s, 0, 16, 0x7f800000, 0x7fc00000
    FX2_s flt.s, 1, 0, 0xff800000, 0x800000
    FX2_s flt.s, 0, 0, 0x40000000, 0x3f800000
    FX2_s flt.s, 0, 0, 0x47e6eed3, 0xc1c8a456
    FX2_s flt.s, 0, 0, 0x498ae2a6, 0xc04225d8
    FX2_s flt.s, 0, 0, 0x46fc536b, 0xd3eec607
    FX2_s flt.s, 0, 0, 0x457b1cd9, 0xd30a6c95
    FX2_s flt.s, 0, 0, 0xaf5c83ac, 0xc0cdf895
    FX2_s flt.s, 0, 0, 0xbec852ae, 0xc679f5af
    FX2_s flt.s, 0, 0, 0x7f7fffff, 0x7f7fffff
    FX2_s flt.s, 0, 0, 0x1, 0x1
    FX2_s flt.s, 1, 0, 0x800000, 0x3f000000
    FX2_s flt.s, 0, 0, 0x0, 0x80000000
    FX2_s flt.s, 0, 0, 0x80000000, 0x0
    END

    CASE "I-11.8 fle.s"
    FX2_s fle.s, 0, 0, 0x7f800000, 0xff800000
    FX2_s fle.s, 0, 0, 0x7f7fffff, 0x40000000
    FX2_s fle.s, 0, 0, 0x7f800000, 0x3fc00000
    FX2_s fle.s, 1, 0, 0x40000000, 0x7f800000
    FX2_s fle.s, 0, 0, 0x1, 0xff800000
    FX2_s fle.s, 1, 0, 0x1, 0x3f800000
    FX2_s fle.s, 0, 16, 0x7fc00000, 0x0
    FX2_s fle.s, 0, 0, 0x800000, 0xbf800000
    FX2_s fle.s, 0, 0, 0x3fc00000, 0x1
    FX2_s fle.s, 0, 16, 0x7fffff, 0x7f800001
    FX2_s fle.s, 0, 16, 0x7f800000, 0x7f800001
    FX2_s fle.s, 0, 16, 0x7fc00000, 0x7fffff
    FX2_s fle.s, 1, 0, 0xff800000, 0x7fffff
    FX2_s fle.s, 0, 0, 0xbf800000, 0xff800000
    FX2_s fle.s, 0, 16, 0x7fc00000, 0x3f800000
    FX2_s fle.s, 0, 0, 0x40000000, 0x800000
    FX2_s fle.s, 0, 0, 0x800000, 0x80000000
    FX2_s fle.s, 1, 0, 0xbf800000, 0x7f800000
    FX2_s fle.s, 0, 16, 0x800000, 0x7f800001
    FX2_s fle.s, 0, 0, 0x3f800000, 0x3f000000
    FX2_s fle.s, 1, 0, 0x3f000000, 0x7f800000
    FX2_s fle.s, 0, 16, 0x3f800001, 0x7f800001
    FX2_s fle.s, 1, 0, 0xbb679472, 0x41934dbc
    FX2_s fle.s, 0, 0, 0x3880ecfe, 0xc8b3d66f
    FX2_s fle.s, 0, 0, 0x44c8cc0b, 0xbef6f932
    FX2_s fle.s, 0, 0, 0x51087d58, 0x3edc2427
    FX2_s fle.s, 0, 0, 0x3bdd0307, 0xced45583
    FX2_s fle.s, 1, 0, 0xc1096877, 0xb7caab06
    FX2_s fle.s, 1, 0, 0x7f7fffff, 0x7f7fffff
    FX2_s fle.s, 1, 0, 0x1, 0x1
    FX2_s fle.s, 1, 0, 0x800000, 0x3f000000
    FX2_s fle.s, 1, 0, 0x0, 0x80000000
    FX2_s fle.s, 1, 0, 0x80000000, 0x0
    END

    CASE "I-11.9 fclass.s"
    FX1_s fclass.s, 0x10, 0, 0x0
    FX1_s fclass.s, 0x8, 0, 0x80000000
    FX1_s fclass.s, 0x40, 0, 0x3f800000
    FX1_s fclass.s, 0x2, 0, 0xbf800000
    FX1_s fclass.s, 0x80, 0, 0x7f800000
    FX1_s fclass.s, 0x1, 0, 0xff800000
    FX1_s fclass.s, 0x200, 0, 0x7fc00000
    FX1_s fclass.s, 0x100, 0, 0x7f800001
    FX1_s fclass.s, 0x20, 0, 0x1
    FX1_s fclass.s, 0x20, 0, 0x7fffff
    FX1_s fclass.s, 0x40, 0, 0x800000
    FX1_s fclass.s, 0x40, 0, 0x7f7fffff
    FX1_s fclass.s, 0x40, 0, 0x3f800001
    FX1_s fclass.s, 0x40, 0, 0x3fc00000
    FX1_s fclass.s, 0x40, 0, 0x40000000
    FX1_s fclass.s, 0x40, 0, 0x3f000000
    FX1_s fclass.s, 0x8, 0, 0x80000000
    FX1_s fclass.s, 0x8, 0, 0x80000000
    FX1_s fclass.s, 0x2, 0, 0xbf800000
    FX1_s fclass.s, 0x2, 0, 0xbf800000
    FX1_s fclass.s, 0x1, 0, 0xff800000
    FX1_s fclass.s, 0x1, 0, 0xff800000
    FX1_s fclass.s, 0x200, 0, 0xffc00000
    FX1_s fclass.s, 0x100, 0, 0xff800001
    FX1_s fclass.s, 0x4, 0, 0x80000001
    FX1_s fclass.s, 0x4, 0, 0x807fffff
    FX1_s fclass.s, 0x2, 0, 0x80800000
    FX1_s fclass.s, 0x2, 0, 0xff7fffff
    FX1_s fclass.s, 0x2, 0, 0xbf800001
    FX1_s fclass.s, 0x2, 0, 0xbfc00000
    FX1_s fclass.s, 0x2, 0, 0xc0000000
    FX1_s fclass.s, 0x2, 0, 0xbf000000
    END

    CASE "I-11.7 fcvt.w.s"
    FXR_s fcvt.w.s, rne, 0x0, 1, 0x3f000000
    FXR_s fcvt.w.s, rtz, 0x0, 1, 0x3f000000
    FXR_s fcvt.w.s, rdn, 0x0, 1, 0x3f000000
    FXR_s fcvt.w.s, rup, 0x1, 1, 0x3f000000
    FXR_s fcvt.w.s, rmm, 0x1, 1, 0x3f000000
    FXR_s fcvt.w.s, rne, 0x0, 1, 0xbf000000
    FXR_s fcvt.w.s, rtz, 0x0, 1, 0xbf000000
    FXR_s fcvt.w.s, rdn, 0xffffffffffffffff, 1, 0xbf000000
    FXR_s fcvt.w.s, rup, 0x0, 1, 0xbf000000
    FXR_s fcvt.w.s, rmm, 0xffffffffffffffff, 1, 0xbf000000
    FXR_s fcvt.w.s, rne, 0x2, 1, 0x3fc00000
    FXR_s fcvt.w.s, rtz, 0x1, 1, 0x3fc00000
    FXR_s fcvt.w.s, rdn, 0x1, 1, 0x3fc00000
    FXR_s fcvt.w.s, rup, 0x2, 1, 0x3fc00000
    FXR_s fcvt.w.s, rmm, 0x2, 1, 0x3fc00000
    FXR_s fcvt.w.s, rne, 0x2, 1, 0x40200000
    FXR_s fcvt.w.s, rtz, 0x2, 1, 0x40200000
    FXR_s fcvt.w.s, rdn, 0x2, 1, 0x40200000
    FXR_s fcvt.w.s, rup, 0x3, 1, 0x40200000
    FXR_s fcvt.w.s, rmm, 0x3, 1, 0x40200000
    FXR_s fcvt.w.s, rne, 0xfffffffffffffffe, 1, 0xbfc00000
    FXR_s fcvt.w.s, rtz, 0xffffffffffffffff, 1, 0xbfc00000
    FXR_s fcvt.w.s, rdn, 0xfffffffffffffffe, 1, 0xbfc00000
    FXR_s fcvt.w.s, rup, 0xffffffffffffffff, 1, 0xbfc00000
    FXR_s fcvt.w.s, rmm, 0xfffffffffffffffe, 1, 0xbfc00000
    FXR_s fcvt.w.s, rne, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.w.s, rtz, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.w.s, rdn, 0xffffffffffffffff, 1, 0xbdcccccd
    FXR_s fcvt.w.s, rup, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.w.s, rmm, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.w.s, rtz, 0x7fffffff, 16, 0x4f000000
    FXR_s fcvt.w.s, rdn, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.w.s, rup, 0x7fffffff, 16, 0x4f000000
    FXR_s fcvt.w.s, rmm, 0x7fffffff, 16, 0x4f800000
    FXR_s fcvt.w.s, rne, 0x7fffffff, 16, 0x4f800000
    FXR_s fcvt.w.s, rtz, 0x7fffffff, 16, 0x5f000000
    FXR_s fcvt.w.s, rdn, 0xffffffff80000000, 16, 0xdf000000
    FXR_s fcvt.w.s, rup, 0x7fffffff, 16, 0x5f800000
    FXR_s fcvt.w.s, rne, 0x7fffffff, 16, 0x4f000000
    FXR_s fcvt.w.s, rtz, 0x7fffffff, 16, 0x4f000000
    FXR_s fcvt.w.s, rdn, 0x7fffffff, 16, 0x4f000000
    FXR_s fcvt.w.s, rup, 0x7fffffff, 16, 0x4f000000
    FXR_s fcvt.w.s, rmm, 0x7fffffff, 16, 0x4f000000
    FXR_s fcvt.w.s, rne, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.w.s, rtz, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.w.s, rdn, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.w.s, rup, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.w.s, rmm, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.w.s, rtz, 0xbc614e, 0, 0x4b3c614e
    FXR_s fcvt.w.s, rdn, 0xffffffffffffffff, 0, 0xbf800000
    FXR_s fcvt.w.s, rup, 0x7fffffff, 16, 0x7149f2ca
    FXR_s fcvt.w.s, rmm, 0x7fffffff, 16, 0x7fc00000
    FXR_s fcvt.w.s, rne, 0x7fffffff, 16, 0x7f800000
    FXR_s fcvt.w.s, rtz, 0xffffffff80000000, 16, 0xff800000
    FXR_s fcvt.w.s, rdn, 0x7fffffff, 16, 0xffc00000
    FXR_s fcvt.w.s, rup, 0x0, 0, 0x80000000
    END

    CASE "I-11.7 fcvt.s.w"
    XFR_s fcvt.s.w, rne, 0x0, 0, 0x0
    XFR_s fcvt.s.w, rtz, 0x0, 0, 0x0
    XFR_s fcvt.s.w, rdn, 0x0, 0, 0x0
    XFR_s fcvt.s.w, rup, 0x0, 0, 0x0
    XFR_s fcvt.s.w, rmm, 0x0, 0, 0x0
    XFR_s fcvt.s.w, rne, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.w, rtz, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.w, rdn, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.w, rup, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.w, rmm, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.w, rne, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.w, rtz, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.w, rdn, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.w, rup, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.w, rmm, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.w, rne, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.w, rtz, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.w, rdn, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.w, rup, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.w, rmm, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.w, rne, 0xbf800000, 0, 0x7fffffffffffffff
    XFR_s fcvt.s.w, rtz, 0xbf800000, 0, 0x7fffffffffffffff
    XFR_s fcvt.s.w, rdn, 0xbf800000, 0, 0x7fffffffffffffff
    XFR_s fcvt.s.w, rup, 0xbf800000, 0, 0x7fffffffffffffff
    XFR_s fcvt.s.w, rmm, 0xbf800000, 0, 0x7fffffffffffffff
    XFR_s fcvt.s.w, rne, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.w, rtz, 0x4effffff, 1, 0x7fffffff
    XFR_s fcvt.s.w, rdn, 0x4effffff, 1, 0x7fffffff
    XFR_s fcvt.s.w, rup, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.w, rmm, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.w, rne, 0xcf000000, 0, 0x80000000
    XFR_s fcvt.s.w, rtz, 0xcf000000, 0, 0x80000000
    XFR_s fcvt.s.w, rdn, 0xcf000000, 0, 0x80000000
    XFR_s fcvt.s.w, rup, 0xcf000000, 0, 0x80000000
    XFR_s fcvt.s.w, rmm, 0xcf000000, 0, 0x80000000
    XFR_s fcvt.s.w, rne, 0xbf800000, 0, 0xffffffff
    XFR_s fcvt.s.w, rtz, 0xbf800000, 0, 0xffffffff
    XFR_s fcvt.s.w, rdn, 0xbf800000, 0, 0xffffffff
    XFR_s fcvt.s.w, rup, 0xbf800000, 0, 0xffffffff
    XFR_s fcvt.s.w, rmm, 0xbf800000, 0, 0xffffffff
    XFR_s fcvt.s.w, rne, 0xceca8642, 1, 0x123456789abcdef1
    XFR_s fcvt.s.w, rtz, 0xceca8642, 1, 0x123456789abcdef1
    XFR_s fcvt.s.w, rdn, 0xceca8643, 1, 0x123456789abcdef1
    XFR_s fcvt.s.w, rup, 0xceca8642, 1, 0x123456789abcdef1
    XFR_s fcvt.s.w, rmm, 0xceca8642, 1, 0x123456789abcdef1
    XFR_s fcvt.s.w, rne, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.w, rtz, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.w, rdn, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.w, rup, 0x4b800001, 1, 0x1000001
    XFR_s fcvt.s.w, rmm, 0x4b800001, 1, 0x1000001
    XFR_s fcvt.s.w, rne, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.w, rtz, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.w, rdn, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.w, rup, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.w, rmm, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.w, rne, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.w, rtz, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.w, rdn, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.w, rup, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.w, rmm, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.w, rne, 0xc4802000, 0, 0xfffffffffffffbff
    XFR_s fcvt.s.w, rtz, 0xc4802000, 0, 0xfffffffffffffbff
    XFR_s fcvt.s.w, rdn, 0xc4802000, 0, 0xfffffffffffffbff
    XFR_s fcvt.s.w, rup, 0xc4802000, 0, 0xfffffffffffffbff
    XFR_s fcvt.s.w, rmm, 0xc4802000, 0, 0xfffffffffffffbff
    END

    CASE "I-11.7 fcvt.wu.s"
    FXR_s fcvt.wu.s, rne, 0x0, 1, 0x3f000000
    FXR_s fcvt.wu.s, rtz, 0x0, 1, 0x3f000000
    FXR_s fcvt.wu.s, rdn, 0x0, 1, 0x3f000000
    FXR_s fcvt.wu.s, rup, 0x1, 1, 0x3f000000
    FXR_s fcvt.wu.s, rmm, 0x1, 1, 0x3f000000
    FXR_s fcvt.wu.s, rne, 0x0, 1, 0xbf000000
    FXR_s fcvt.wu.s, rtz, 0x0, 1, 0xbf000000
    FXR_s fcvt.wu.s, rdn, 0x0, 16, 0xbf000000
    FXR_s fcvt.wu.s, rup, 0x0, 1, 0xbf000000
    FXR_s fcvt.wu.s, rmm, 0x0, 16, 0xbf000000
    FXR_s fcvt.wu.s, rne, 0x2, 1, 0x3fc00000
    FXR_s fcvt.wu.s, rtz, 0x1, 1, 0x3fc00000
    FXR_s fcvt.wu.s, rdn, 0x1, 1, 0x3fc00000
    FXR_s fcvt.wu.s, rup, 0x2, 1, 0x3fc00000
    FXR_s fcvt.wu.s, rmm, 0x2, 1, 0x3fc00000
    FXR_s fcvt.wu.s, rne, 0x2, 1, 0x40200000
    FXR_s fcvt.wu.s, rtz, 0x2, 1, 0x40200000
    FXR_s fcvt.wu.s, rdn, 0x2, 1, 0x40200000
    FXR_s fcvt.wu.s, rup, 0x3, 1, 0x40200000
    FXR_s fcvt.wu.s, rmm, 0x3, 1, 0x40200000
    FXR_s fcvt.wu.s, rne, 0x0, 16, 0xbfc00000
    FXR_s fcvt.wu.s, rtz, 0x0, 16, 0xbfc00000
    FXR_s fcvt.wu.s, rdn, 0x0, 16, 0xbfc00000
    FXR_s fcvt.wu.s, rup, 0x0, 16, 0xbfc00000
    FXR_s fcvt.wu.s, rmm, 0x0, 16, 0xbfc00000
    FXR_s fcvt.wu.s, rne, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.wu.s, rtz, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.wu.s, rdn, 0x0, 16, 0xbdcccccd
    FXR_s fcvt.wu.s, rup, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.wu.s, rmm, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.wu.s, rtz, 0xffffffff80000000, 0, 0x4f000000
    FXR_s fcvt.wu.s, rdn, 0x0, 16, 0xcf000000
    FXR_s fcvt.wu.s, rup, 0xffffffff80000000, 0, 0x4f000000
    FXR_s fcvt.wu.s, rmm, 0xffffffffffffffff, 16, 0x4f800000
    FXR_s fcvt.wu.s, rne, 0xffffffffffffffff, 16, 0x4f800000
    FXR_s fcvt.wu.s, rtz, 0xffffffffffffffff, 16, 0x5f000000
    FXR_s fcvt.wu.s, rdn, 0x0, 16, 0xdf000000
    FXR_s fcvt.wu.s, rup, 0xffffffffffffffff, 16, 0x5f800000
    FXR_s fcvt.wu.s, rne, 0xffffffff80000000, 0, 0x4f000000
    FXR_s fcvt.wu.s, rtz, 0xffffffff80000000, 0, 0x4f000000
    FXR_s fcvt.wu.s, rdn, 0xffffffff80000000, 0, 0x4f000000
    FXR_s fcvt.wu.s, rup, 0xffffffff80000000, 0, 0x4f000000
    FXR_s fcvt.wu.s, rmm, 0xffffffff80000000, 0, 0x4f000000
    FXR_s fcvt.wu.s, rne, 0x0, 16, 0xcf000000
    FXR_s fcvt.wu.s, rtz, 0x0, 16, 0xcf000000
    FXR_s fcvt.wu.s, rdn, 0x0, 16, 0xcf000000
    FXR_s fcvt.wu.s, rup, 0x0, 16, 0xcf000000
    FXR_s fcvt.wu.s, rmm, 0x0, 16, 0xcf000000
    FXR_s fcvt.wu.s, rtz, 0xbc614e, 0, 0x4b3c614e
    FXR_s fcvt.wu.s, rdn, 0x0, 16, 0xbf800000
    FXR_s fcvt.wu.s, rup, 0xffffffffffffffff, 16, 0x7149f2ca
    FXR_s fcvt.wu.s, rmm, 0xffffffffffffffff, 16, 0x7fc00000
    FXR_s fcvt.wu.s, rne, 0xffffffffffffffff, 16, 0x7f800000
    FXR_s fcvt.wu.s, rtz, 0x0, 16, 0xff800000
    FXR_s fcvt.wu.s, rdn, 0xffffffffffffffff, 16, 0xffc00000
    FXR_s fcvt.wu.s, rup, 0x0, 0, 0x80000000
    END

    CASE "I-11.7 fcvt.s.wu"
    XFR_s fcvt.s.wu, rne, 0x0, 0, 0x0
    XFR_s fcvt.s.wu, rtz, 0x0, 0, 0x0
    XFR_s fcvt.s.wu, rdn, 0x0, 0, 0x0
    XFR_s fcvt.s.wu, rup, 0x0, 0, 0x0
    XFR_s fcvt.s.wu, rmm, 0x0, 0, 0x0
    XFR_s fcvt.s.wu, rne, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.wu, rtz, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.wu, rdn, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.wu, rup, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.wu, rmm, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.wu, rne, 0x4f800000, 1, 0xffffffffffffffff
    XFR_s fcvt.s.wu, rtz, 0x4f7fffff, 1, 0xffffffffffffffff
    XFR_s fcvt.s.wu, rdn, 0x4f7fffff, 1, 0xffffffffffffffff
    XFR_s fcvt.s.wu, rup, 0x4f800000, 1, 0xffffffffffffffff
    XFR_s fcvt.s.wu, rmm, 0x4f800000, 1, 0xffffffffffffffff
    XFR_s fcvt.s.wu, rne, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.wu, rtz, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.wu, rdn, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.wu, rup, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.wu, rmm, 0x0, 0, 0x8000000000000000
    XFR_s fcvt.s.wu, rne, 0x4f800000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.wu, rtz, 0x4f7fffff, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.wu, rdn, 0x4f7fffff, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.wu, rup, 0x4f800000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.wu, rmm, 0x4f800000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.wu, rne, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.wu, rtz, 0x4effffff, 1, 0x7fffffff
    XFR_s fcvt.s.wu, rdn, 0x4effffff, 1, 0x7fffffff
    XFR_s fcvt.s.wu, rup, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.wu, rmm, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.wu, rne, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.wu, rtz, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.wu, rdn, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.wu, rup, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.wu, rmm, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.wu, rne, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.wu, rtz, 0x4f7fffff, 1, 0xffffffff
    XFR_s fcvt.s.wu, rdn, 0x4f7fffff, 1, 0xffffffff
    XFR_s fcvt.s.wu, rup, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.wu, rmm, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.wu, rne, 0x4f1abcdf, 1, 0x123456789abcdef1
    XFR_s fcvt.s.wu, rtz, 0x4f1abcde, 1, 0x123456789abcdef1
    XFR_s fcvt.s.wu, rdn, 0x4f1abcde, 1, 0x123456789abcdef1
    XFR_s fcvt.s.wu, rup, 0x4f1abcdf, 1, 0x123456789abcdef1
    XFR_s fcvt.s.wu, rmm, 0x4f1abcdf, 1, 0x123456789abcdef1
    XFR_s fcvt.s.wu, rne, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.wu, rtz, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.wu, rdn, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.wu, rup, 0x4b800001, 1, 0x1000001
    XFR_s fcvt.s.wu, rmm, 0x4b800001, 1, 0x1000001
    XFR_s fcvt.s.wu, rne, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.wu, rtz, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.wu, rdn, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.wu, rup, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.wu, rmm, 0x0, 0, 0x8000008000000000
    XFR_s fcvt.s.wu, rne, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.wu, rtz, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.wu, rdn, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.wu, rup, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.wu, rmm, 0x3f800000, 0, 0x20000000000001
    XFR_s fcvt.s.wu, rne, 0x4f7ffffc, 1, 0xfffffffffffffbff
    XFR_s fcvt.s.wu, rtz, 0x4f7ffffb, 1, 0xfffffffffffffbff
    XFR_s fcvt.s.wu, rdn, 0x4f7ffffb, 1, 0xfffffffffffffbff
    XFR_s fcvt.s.wu, rup, 0x4f7ffffc, 1, 0xfffffffffffffbff
    XFR_s fcvt.s.wu, rmm, 0x4f7ffffc, 1, 0xfffffffffffffbff
    END

    CASE "I-11.7 fcvt.l.s"
    FXR_s fcvt.l.s, rne, 0x0, 1, 0x3f000000
    FXR_s fcvt.l.s, rtz, 0x0, 1, 0x3f000000
    FXR_s fcvt.l.s, rdn, 0x0, 1, 0x3f000000
    FXR_s fcvt.l.s, rup, 0x1, 1, 0x3f000000
    FXR_s fcvt.l.s, rmm, 0x1, 1, 0x3f000000
    FXR_s fcvt.l.s, rne, 0x0, 1, 0xbf000000
    FXR_s fcvt.l.s, rtz, 0x0, 1, 0xbf000000
    FXR_s fcvt.l.s, rdn, 0xffffffffffffffff, 1, 0xbf000000
    FXR_s fcvt.l.s, rup, 0x0, 1, 0xbf000000
    FXR_s fcvt.l.s, rmm, 0xffffffffffffffff, 1, 0xbf000000
    FXR_s fcvt.l.s, rne, 0x2, 1, 0x3fc00000
    FXR_s fcvt.l.s, rtz, 0x1, 1, 0x3fc00000
    FXR_s fcvt.l.s, rdn, 0x1, 1, 0x3fc00000
    FXR_s fcvt.l.s, rup, 0x2, 1, 0x3fc00000
    FXR_s fcvt.l.s, rmm, 0x2, 1, 0x3fc00000
    FXR_s fcvt.l.s, rne, 0x2, 1, 0x40200000
    FXR_s fcvt.l.s, rtz, 0x2, 1, 0x40200000
    FXR_s fcvt.l.s, rdn, 0x2, 1, 0x40200000
    FXR_s fcvt.l.s, rup, 0x3, 1, 0x40200000
    FXR_s fcvt.l.s, rmm, 0x3, 1, 0x40200000
    FXR_s fcvt.l.s, rne, 0xfffffffffffffffe, 1, 0xbfc00000
    FXR_s fcvt.l.s, rtz, 0xffffffffffffffff, 1, 0xbfc00000
    FXR_s fcvt.l.s, rdn, 0xfffffffffffffffe, 1, 0xbfc00000
    FXR_s fcvt.l.s, rup, 0xffffffffffffffff, 1, 0xbfc00000
    FXR_s fcvt.l.s, rmm, 0xfffffffffffffffe, 1, 0xbfc00000
    FXR_s fcvt.l.s, rne, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.l.s, rtz, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.l.s, rdn, 0xffffffffffffffff, 1, 0xbdcccccd
    FXR_s fcvt.l.s, rup, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.l.s, rmm, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.l.s, rtz, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.l.s, rdn, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.l.s, rup, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.l.s, rmm, 0x100000000, 0, 0x4f800000
    FXR_s fcvt.l.s, rne, 0x100000000, 0, 0x4f800000
    FXR_s fcvt.l.s, rtz, 0x7fffffffffffffff, 16, 0x5f000000
    FXR_s fcvt.l.s, rdn, 0x8000000000000000, 0, 0xdf000000
    FXR_s fcvt.l.s, rup, 0x7fffffffffffffff, 16, 0x5f800000
    FXR_s fcvt.l.s, rne, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.l.s, rtz, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.l.s, rdn, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.l.s, rup, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.l.s, rmm, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.l.s, rne, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.l.s, rtz, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.l.s, rdn, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.l.s, rup, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.l.s, rmm, 0xffffffff80000000, 0, 0xcf000000
    FXR_s fcvt.l.s, rtz, 0xbc614e, 0, 0x4b3c614e
    FXR_s fcvt.l.s, rdn, 0xffffffffffffffff, 0, 0xbf800000
    FXR_s fcvt.l.s, rup, 0x7fffffffffffffff, 16, 0x7149f2ca
    FXR_s fcvt.l.s, rmm, 0x7fffffffffffffff, 16, 0x7fc00000
    FXR_s fcvt.l.s, rne, 0x7fffffffffffffff, 16, 0x7f800000
    FXR_s fcvt.l.s, rtz, 0x8000000000000000, 16, 0xff800000
    FXR_s fcvt.l.s, rdn, 0x7fffffffffffffff, 16, 0xffc00000
    FXR_s fcvt.l.s, rup, 0x0, 0, 0x80000000
    END

    CASE "I-11.7 fcvt.s.l"
    XFR_s fcvt.s.l, rne, 0x0, 0, 0x0
    XFR_s fcvt.s.l, rtz, 0x0, 0, 0x0
    XFR_s fcvt.s.l, rdn, 0x0, 0, 0x0
    XFR_s fcvt.s.l, rup, 0x0, 0, 0x0
    XFR_s fcvt.s.l, rmm, 0x0, 0, 0x0
    XFR_s fcvt.s.l, rne, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.l, rtz, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.l, rdn, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.l, rup, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.l, rmm, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.l, rne, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.l, rtz, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.l, rdn, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.l, rup, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.l, rmm, 0xbf800000, 0, 0xffffffffffffffff
    XFR_s fcvt.s.l, rne, 0xdf000000, 0, 0x8000000000000000
    XFR_s fcvt.s.l, rtz, 0xdf000000, 0, 0x8000000000000000
    XFR_s fcvt.s.l, rdn, 0xdf000000, 0, 0x8000000000000000
    XFR_s fcvt.s.l, rup, 0xdf000000, 0, 0x8000000000000000
    XFR_s fcvt.s.l, rmm, 0xdf000000, 0, 0x8000000000000000
    XFR_s fcvt.s.l, rne, 0x5f000000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.l, rtz, 0x5effffff, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.l, rdn, 0x5effffff, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.l, rup, 0x5f000000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.l, rmm, 0x5f000000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.l, rne, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.l, rtz, 0x4effffff, 1, 0x7fffffff
    XFR_s fcvt.s.l, rdn, 0x4effffff, 1, 0x7fffffff
    XFR_s fcvt.s.l, rup, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.l, rmm, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.l, rne, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.l, rtz, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.l, rdn, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.l, rup, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.l, rmm, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.l, rne, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.l, rtz, 0x4f7fffff, 1, 0xffffffff
    XFR_s fcvt.s.l, rdn, 0x4f7fffff, 1, 0xffffffff
    XFR_s fcvt.s.l, rup, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.l, rmm, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.l, rne, 0x5d91a2b4, 1, 0x123456789abcdef1
    XFR_s fcvt.s.l, rtz, 0x5d91a2b3, 1, 0x123456789abcdef1
    XFR_s fcvt.s.l, rdn, 0x5d91a2b3, 1, 0x123456789abcdef1
    XFR_s fcvt.s.l, rup, 0x5d91a2b4, 1, 0x123456789abcdef1
    XFR_s fcvt.s.l, rmm, 0x5d91a2b4, 1, 0x123456789abcdef1
    XFR_s fcvt.s.l, rne, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.l, rtz, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.l, rdn, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.l, rup, 0x4b800001, 1, 0x1000001
    XFR_s fcvt.s.l, rmm, 0x4b800001, 1, 0x1000001
    XFR_s fcvt.s.l, rne, 0xdeffffff, 0, 0x8000008000000000
    XFR_s fcvt.s.l, rtz, 0xdeffffff, 0, 0x8000008000000000
    XFR_s fcvt.s.l, rdn, 0xdeffffff, 0, 0x8000008000000000
    XFR_s fcvt.s.l, rup, 0xdeffffff, 0, 0x8000008000000000
    XFR_s fcvt.s.l, rmm, 0xdeffffff, 0, 0x8000008000000000
    XFR_s fcvt.s.l, rne, 0x5a000000, 1, 0x20000000000001
    XFR_s fcvt.s.l, rtz, 0x5a000000, 1, 0x20000000000001
    XFR_s fcvt.s.l, rdn, 0x5a000000, 1, 0x20000000000001
    XFR_s fcvt.s.l, rup, 0x5a000001, 1, 0x20000000000001
    XFR_s fcvt.s.l, rmm, 0x5a000000, 1, 0x20000000000001
    XFR_s fcvt.s.l, rne, 0xc4802000, 0, 0xfffffffffffffbff
    XFR_s fcvt.s.l, rtz, 0xc4802000, 0, 0xfffffffffffffbff
    XFR_s fcvt.s.l, rdn, 0xc4802000, 0, 0xfffffffffffffbff
    XFR_s fcvt.s.l, rup, 0xc4802000, 0, 0xfffffffffffffbff
    XFR_s fcvt.s.l, rmm, 0xc4802000, 0, 0xfffffffffffffbff
    END

    CASE "I-11.7 fcvt.lu.s"
    FXR_s fcvt.lu.s, rne, 0x0, 1, 0x3f000000
    FXR_s fcvt.lu.s, rtz, 0x0, 1, 0x3f000000
    FXR_s fcvt.lu.s, rdn, 0x0, 1, 0x3f000000
    FXR_s fcvt.lu.s, rup, 0x1, 1, 0x3f000000
    FXR_s fcvt.lu.s, rmm, 0x1, 1, 0x3f000000
    FXR_s fcvt.lu.s, rne, 0x0, 1, 0xbf000000
    FXR_s fcvt.lu.s, rtz, 0x0, 1, 0xbf000000
    FXR_s fcvt.lu.s, rdn, 0x0, 16, 0xbf000000
    FXR_s fcvt.lu.s, rup, 0x0, 1, 0xbf000000
    FXR_s fcvt.lu.s, rmm, 0x0, 16, 0xbf000000
    FXR_s fcvt.lu.s, rne, 0x2, 1, 0x3fc00000
    FXR_s fcvt.lu.s, rtz, 0x1, 1, 0x3fc00000
    FXR_s fcvt.lu.s, rdn, 0x1, 1, 0x3fc00000
    FXR_s fcvt.lu.s, rup, 0x2, 1, 0x3fc00000
    FXR_s fcvt.lu.s, rmm, 0x2, 1, 0x3fc00000
    FXR_s fcvt.lu.s, rne, 0x2, 1, 0x40200000
    FXR_s fcvt.lu.s, rtz, 0x2, 1, 0x40200000
    FXR_s fcvt.lu.s, rdn, 0x2, 1, 0x40200000
    FXR_s fcvt.lu.s, rup, 0x3, 1, 0x40200000
    FXR_s fcvt.lu.s, rmm, 0x3, 1, 0x40200000
    FXR_s fcvt.lu.s, rne, 0x0, 16, 0xbfc00000
    FXR_s fcvt.lu.s, rtz, 0x0, 16, 0xbfc00000
    FXR_s fcvt.lu.s, rdn, 0x0, 16, 0xbfc00000
    FXR_s fcvt.lu.s, rup, 0x0, 16, 0xbfc00000
    FXR_s fcvt.lu.s, rmm, 0x0, 16, 0xbfc00000
    FXR_s fcvt.lu.s, rne, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.lu.s, rtz, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.lu.s, rdn, 0x0, 16, 0xbdcccccd
    FXR_s fcvt.lu.s, rup, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.lu.s, rmm, 0x0, 1, 0xbdcccccd
    FXR_s fcvt.lu.s, rtz, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.lu.s, rdn, 0x0, 16, 0xcf000000
    FXR_s fcvt.lu.s, rup, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.lu.s, rmm, 0x100000000, 0, 0x4f800000
    FXR_s fcvt.lu.s, rne, 0x100000000, 0, 0x4f800000
    FXR_s fcvt.lu.s, rtz, 0x8000000000000000, 0, 0x5f000000
    FXR_s fcvt.lu.s, rdn, 0x0, 16, 0xdf000000
    FXR_s fcvt.lu.s, rup, 0xffffffffffffffff, 16, 0x5f800000
    FXR_s fcvt.lu.s, rne, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.lu.s, rtz, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.lu.s, rdn, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.lu.s, rup, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.lu.s, rmm, 0x80000000, 0, 0x4f000000
    FXR_s fcvt.lu.s, rne, 0x0, 16, 0xcf000000
    FXR_s fcvt.lu.s, rtz, 0x0, 16, 0xcf000000
    FXR_s fcvt.lu.s, rdn, 0x0, 16, 0xcf000000
    FXR_s fcvt.lu.s, rup, 0x0, 16, 0xcf000000
    FXR_s fcvt.lu.s, rmm, 0x0, 16, 0xcf000000
    FXR_s fcvt.lu.s, rtz, 0xbc614e, 0, 0x4b3c614e
    FXR_s fcvt.lu.s, rdn, 0x0, 16, 0xbf800000
    FXR_s fcvt.lu.s, rup, 0xffffffffffffffff, 16, 0x7149f2ca
    FXR_s fcvt.lu.s, rmm, 0xffffffffffffffff, 16, 0x7fc00000
    FXR_s fcvt.lu.s, rne, 0xffffffffffffffff, 16, 0x7f800000
    FXR_s fcvt.lu.s, rtz, 0x0, 16, 0xff800000
    FXR_s fcvt.lu.s, rdn, 0xffffffffffffffff, 16, 0xffc00000
    FXR_s fcvt.lu.s, rup, 0x0, 0, 0x80000000
    END

    CASE "I-11.7 fcvt.s.lu"
    XFR_s fcvt.s.lu, rne, 0x0, 0, 0x0
    XFR_s fcvt.s.lu, rtz, 0x0, 0, 0x0
    XFR_s fcvt.s.lu, rdn, 0x0, 0, 0x0
    XFR_s fcvt.s.lu, rup, 0x0, 0, 0x0
    XFR_s fcvt.s.lu, rmm, 0x0, 0, 0x0
    XFR_s fcvt.s.lu, rne, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.lu, rtz, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.lu, rdn, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.lu, rup, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.lu, rmm, 0x3f800000, 0, 0x1
    XFR_s fcvt.s.lu, rne, 0x5f800000, 1, 0xffffffffffffffff
    XFR_s fcvt.s.lu, rtz, 0x5f7fffff, 1, 0xffffffffffffffff
    XFR_s fcvt.s.lu, rdn, 0x5f7fffff, 1, 0xffffffffffffffff
    XFR_s fcvt.s.lu, rup, 0x5f800000, 1, 0xffffffffffffffff
    XFR_s fcvt.s.lu, rmm, 0x5f800000, 1, 0xffffffffffffffff
    XFR_s fcvt.s.lu, rne, 0x5f000000, 0, 0x8000000000000000
    XFR_s fcvt.s.lu, rtz, 0x5f000000, 0, 0x8000000000000000
    XFR_s fcvt.s.lu, rdn, 0x5f000000, 0, 0x8000000000000000
    XFR_s fcvt.s.lu, rup, 0x5f000000, 0, 0x8000000000000000
    XFR_s fcvt.s.lu, rmm, 0x5f000000, 0, 0x8000000000000000
    XFR_s fcvt.s.lu, rne, 0x5f000000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.lu, rtz, 0x5effffff, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.lu, rdn, 0x5effffff, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.lu, rup, 0x5f000000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.lu, rmm, 0x5f000000, 1, 0x7fffffffffffffff
    XFR_s fcvt.s.lu, rne, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.lu, rtz, 0x4effffff, 1, 0x7fffffff
    XFR_s fcvt.s.lu, rdn, 0x4effffff, 1, 0x7fffffff
    XFR_s fcvt.s.lu, rup, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.lu, rmm, 0x4f000000, 1, 0x7fffffff
    XFR_s fcvt.s.lu, rne, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.lu, rtz, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.lu, rdn, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.lu, rup, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.lu, rmm, 0x4f000000, 0, 0x80000000
    XFR_s fcvt.s.lu, rne, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.lu, rtz, 0x4f7fffff, 1, 0xffffffff
    XFR_s fcvt.s.lu, rdn, 0x4f7fffff, 1, 0xffffffff
    XFR_s fcvt.s.lu, rup, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.lu, rmm, 0x4f800000, 1, 0xffffffff
    XFR_s fcvt.s.lu, rne, 0x5d91a2b4, 1, 0x123456789abcdef1
    XFR_s fcvt.s.lu, rtz, 0x5d91a2b3, 1, 0x123456789abcdef1
    XFR_s fcvt.s.lu, rdn, 0x5d91a2b3, 1, 0x123456789abcdef1
    XFR_s fcvt.s.lu, rup, 0x5d91a2b4, 1, 0x123456789abcdef1
    XFR_s fcvt.s.lu, rmm, 0x5d91a2b4, 1, 0x123456789abcdef1
    XFR_s fcvt.s.lu, rne, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.lu, rtz, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.lu, rdn, 0x4b800000, 1, 0x1000001
    XFR_s fcvt.s.lu, rup, 0x4b800001, 1, 0x1000001
    XFR_s fcvt.s.lu, rmm, 0x4b800001, 1, 0x1000001
    XFR_s fcvt.s.lu, rne, 0x5f000000, 1, 0x8000008000000000
    XFR_s fcvt.s.lu, rtz, 0x5f000000, 1, 0x8000008000000000
    XFR_s fcvt.s.lu, rdn, 0x5f000000, 1, 0x8000008000000000
    XFR_s fcvt.s.lu, rup, 0x5f000001, 1, 0x8000008000000000
    XFR_s fcvt.s.lu, rmm, 0x5f000001, 1, 0x8000008000000000
    XFR_s fcvt.s.lu, rne, 0x5a000000, 1, 0x20000000000001
    XFR_s fcvt.s.lu, rtz, 0x5a000000, 1, 0x20000000000001
    XFR_s fcvt.s.lu, rdn, 0x5a000000, 1, 0x20000000000001
    XFR_s fcvt.s.lu, rup, 0x5a000001, 1, 0x20000000000001
    XFR_s fcvt.s.lu, rmm, 0x5a000000, 1, 0x20000000000001
    XFR_s fcvt.s.lu, rne, 0x5f800000, 1, 0xfffffffffffffbff
    XFR_s fcvt.s.lu, rtz, 0x5f7fffff, 1, 0xfffffffffffffbff
    XFR_s fcvt.s.lu, rdn, 0x5f7fffff, 1, 0xfffffffffffffbff
    XFR_s fcvt.s.lu, rup, 0x5f800000, 1, 0xfffffffffffffbff
    XFR_s fcvt.s.lu, rmm, 0x5f800000, 1, 0xfffffffffffffbff
    END

    CASE "I-12.4 fadd.d"
    F2_d fadd.d, rne, 0x3ff0000000000000, 1, 0x10000000000000, 0x3ff0000000000000
    F2_d fadd.d, rtz, 0x20000000000000, 0, 0x10000000000000, 0x10000000000000
    F2_d fadd.d, rdn, 0x1, 0, 0x1, 0x8000000000000000
    F2_d fadd.d, rup, 0x3ff0000000000001, 1, 0xfffffffffffff, 0x3ff0000000000000
    F2_d fadd.d, rmm, 0x3fe0000000000000, 1, 0xfffffffffffff, 0x3fe0000000000000
    F2_d fadd.d, rne, 0x3ff8000000000000, 0, 0x3ff0000000000000, 0x3fe0000000000000
    F2_d fadd.d, rtz, 0x400c000000000000, 0, 0x4000000000000000, 0x3ff8000000000000
    F2_d fadd.d, rdn, 0x7ff8000000000000, 16, 0xfffffffffffff, 0x7ff0000000000001
    F2_d fadd.d, rup, 0x7ff0000000000000, 5, 0xfffffffffffff, 0x7fefffffffffffff
    F2_d fadd.d, rmm, 0x7fefffffffffffff, 1, 0x7fefffffffffffff, 0x3ff8000000000000
    F2_d fadd.d, rne, 0x7ff8000000000000, 16, 0x10000000000000, 0x7ff0000000000001
    F2_d fadd.d, rtz, 0xfffffffffffff, 0, 0xfffffffffffff, 0x8000000000000000
    F2_d fadd.d, rdn, 0x1fffffffffffff, 0, 0x10000000000000, 0xfffffffffffff
    F2_d fadd.d, rup, 0x7ff8000000000000, 0, 0x7ff8000000000000, 0x3fe0000000000000
    F2_d fadd.d, rne, 0x42703ee5b08054db, 1, 0x42703ee5b08054db, 0x3e8985db813953eb
    F2_d fadd.d, rtz, 0x42703ee5b08054db, 1, 0x42703ee5b08054db, 0x3e8985db813953eb
    F2_d fadd.d, rdn, 0x42703ee5b08054db, 1, 0x42703ee5b08054db, 0x3e8985db813953eb
    F2_d fadd.d, rup, 0x42703ee5b08054dc, 1, 0x42703ee5b08054db, 0x3e8985db813953eb
    F2_d fadd.d, rmm, 0x42703ee5b08054db, 1, 0x42703ee5b08054db, 0x3e8985db813953eb
    F2_d fadd.d, rne, 0x420b2cbe6e3500f0, 1, 0x420b2cbe6e3500f0, 0x3d9fda3b0c5e9c7a
    F2_d fadd.d, rtz, 0x420b2cbe6e3500f0, 1, 0x420b2cbe6e3500f0, 0x3d9fda3b0c5e9c7a
    F2_d fadd.d, rdn, 0x420b2cbe6e3500f0, 1, 0x420b2cbe6e3500f0, 0x3d9fda3b0c5e9c7a
    F2_d fadd.d, rup, 0x420b2cbe6e3500f1, 1, 0x420b2cbe6e3500f0, 0x3d9fda3b0c5e9c7a
    F2_d fadd.d, rmm, 0x420b2cbe6e3500f0, 1, 0x420b2cbe6e3500f0, 0x3d9fda3b0c5e9c7a
    F2_d fadd.d, rne, 0xbffe0ea104a0b019, 1, 0xbffe0ea11086ca94, 0x3e67cc34f508d2c7
    F2_d fadd.d, rtz, 0xbffe0ea104a0b019, 1, 0xbffe0ea11086ca94, 0x3e67cc34f508d2c7
    F2_d fadd.d, rdn, 0xbffe0ea104a0b01a, 1, 0xbffe0ea11086ca94, 0x3e67cc34f508d2c7
    F2_d fadd.d, rup, 0xbffe0ea104a0b019, 1, 0xbffe0ea11086ca94, 0x3e67cc34f508d2c7
    F2_d fadd.d, rmm, 0xbffe0ea104a0b019, 1, 0xbffe0ea11086ca94, 0x3e67cc34f508d2c7
    F2_d fadd.d, rne, 0x3eda4083f51e439a, 1, 0xbe86db088681a51c, 0x3edaf75c395250c3
    F2_d fadd.d, rtz, 0x3eda4083f51e439a, 1, 0xbe86db088681a51c, 0x3edaf75c395250c3
    F2_d fadd.d, rdn, 0x3eda4083f51e439a, 1, 0xbe86db088681a51c, 0x3edaf75c395250c3
    F2_d fadd.d, rup, 0x3eda4083f51e439b, 1, 0xbe86db088681a51c, 0x3edaf75c395250c3
    F2_d fadd.d, rmm, 0x3eda4083f51e439a, 1, 0xbe86db088681a51c, 0x3edaf75c395250c3
    F2_d fadd.d, rne, 0xc171cc3dfe4ec06f, 1, 0xbe9bcfb6a2197b63, 0xc171cc3dfe4ec000
    F2_d fadd.d, rtz, 0xc171cc3dfe4ec06f, 1, 0xbe9bcfb6a2197b63, 0xc171cc3dfe4ec000
    F2_d fadd.d, rdn, 0xc171cc3dfe4ec070, 1, 0xbe9bcfb6a2197b63, 0xc171cc3dfe4ec000
    F2_d fadd.d, rup, 0xc171cc3dfe4ec06f, 1, 0xbe9bcfb6a2197b63, 0xc171cc3dfe4ec000
    F2_d fadd.d, rmm, 0xc171cc3dfe4ec06f, 1, 0xbe9bcfb6a2197b63, 0xc171cc3dfe4ec000
    F2_d fadd.d, rne, 0xc047f0b5d6f0401a, 1, 0xc047f0b5d6ee47a8, 0xbe0f8721597500fe
    F2_d fadd.d, rtz, 0xc047f0b5d6f0401a, 1, 0xc047f0b5d6ee47a8, 0xbe0f8721597500fe
    F2_d fadd.d, rdn, 0xc047f0b5d6f0401b, 1, 0xc047f0b5d6ee47a8, 0xbe0f8721597500fe
    F2_d fadd.d, rup, 0xc047f0b5d6f0401a, 1, 0xc047f0b5d6ee47a8, 0xbe0f8721597500fe
    F2_d fadd.d, rmm, 0xc047f0b5d6f0401a, 1, 0xc047f0b5d6ee47a8, 0xbe0f8721597500fe
    F2_d fadd.d, rne, 0x7ff0000000000000, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fadd.d, rtz, 0x7fefffffffffffff, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fadd.d, rdn, 0x7fefffffffffffff, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fadd.d, rup, 0x7ff0000000000000, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fadd.d, rmm, 0x7ff0000000000000, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fadd.d, rne, 0x2, 0, 0x1, 0x1
    F2_d fadd.d, rtz, 0x2, 0, 0x1, 0x1
    F2_d fadd.d, rdn, 0x2, 0, 0x1, 0x1
    F2_d fadd.d, rup, 0x2, 0, 0x1, 0x1
    F2_d fadd.d, rmm, 0x2, 0, 0x1, 0x1
    F2_d fadd.d, rne, 0x3fe0000000000000, 1, 0x10000000000000, 0x3fe0000000000000
    F2_d fadd.d, rtz, 0x3fe0000000000000, 1, 0x10000000000000, 0x3fe0000000000000
    F2_d fadd.d, rdn, 0x3fe0000000000000, 1, 0x10000000000000, 0x3fe0000000000000
    F2_d fadd.d, rup, 0x3fe0000000000001, 1, 0x10000000000000, 0x3fe0000000000000
    F2_d fadd.d, rmm, 0x3fe0000000000000, 1, 0x10000000000000, 0x3fe0000000000000
    END

    CASE "I-12.4 fsub.d"
    F2_d fsub.d, rne, 0xffefffffffffffff, 1, 0xbff0000000000000, 0x7fefffffffffffff
    F2_d fsub.d, rtz, 0x3fe0000000000000, 0, 0x3fe0000000000000, 0x8000000000000000
    F2_d fsub.d, rdn, 0x8000000000000000, 0, 0x3ff0000000000000, 0x3ff0000000000000
    F2_d fsub.d, rup, 0x800fffffffffffff, 0, 0x0, 0xfffffffffffff
    F2_d fsub.d, rmm, 0x3ff8000000000000, 0, 0x3ff8000000000000, 0x8000000000000000
    F2_d fsub.d, rne, 0x7ff8000000000000, 16, 0x7ff0000000000001, 0x7ff0000000000001
    F2_d fsub.d, rtz, 0xfff0000000000000, 0, 0x8000000000000000, 0x7ff0000000000000
    F2_d fsub.d, rdn, 0xffefffffffffffff, 1, 0x4000000000000000, 0x7fefffffffffffff
    F2_d fsub.d, rup, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x3ff0000000000001
    F2_d fsub.d, rmm, 0xffefffffffffffff, 1, 0x3ff0000000000001, 0x7fefffffffffffff
    F2_d fsub.d, rne, 0x7ff8000000000000, 0, 0x3ff0000000000001, 0x7ff8000000000000
    F2_d fsub.d, rtz, 0xffeffffffffffffe, 1, 0x3ff8000000000000, 0x7fefffffffffffff
    F2_d fsub.d, rdn, 0x7ff8000000000000, 16, 0x7ff0000000000001, 0x4000000000000000
    F2_d fsub.d, rup, 0x4000000000000000, 0, 0x4000000000000000, 0x0
    F2_d fsub.d, rne, 0xc1cecffd0a640c45, 1, 0xbf433433bd8e02e3, 0x41cecffd0a63f911
    F2_d fsub.d, rtz, 0xc1cecffd0a640c45, 1, 0xbf433433bd8e02e3, 0x41cecffd0a63f911
    F2_d fsub.d, rdn, 0xc1cecffd0a640c46, 1, 0xbf433433bd8e02e3, 0x41cecffd0a63f911
    F2_d fsub.d, rup, 0xc1cecffd0a640c45, 1, 0xbf433433bd8e02e3, 0x41cecffd0a63f911
    F2_d fsub.d, rmm, 0xc1cecffd0a640c45, 1, 0xbf433433bd8e02e3, 0x41cecffd0a63f911
    F2_d fsub.d, rne, 0x40875a66403de152, 1, 0xbfc5484d8dc91c12, 0xc0875bbac516bde4
    F2_d fsub.d, rtz, 0x40875a66403de152, 1, 0xbfc5484d8dc91c12, 0xc0875bbac516bde4
    F2_d fsub.d, rdn, 0x40875a66403de152, 1, 0xbfc5484d8dc91c12, 0xc0875bbac516bde4
    F2_d fsub.d, rup, 0x40875a66403de153, 1, 0xbfc5484d8dc91c12, 0xc0875bbac516bde4
    F2_d fsub.d, rmm, 0x40875a66403de152, 1, 0xbfc5484d8dc91c12, 0xc0875bbac516bde4
    F2_d fsub.d, rne, 0xc2003f60d1465c1e, 1, 0x3e2d90f4388059ea, 0x42003f60d1465c1e
    F2_d fsub.d, rtz, 0xc2003f60d1465c1d, 1, 0x3e2d90f4388059ea, 0x42003f60d1465c1e
    F2_d fsub.d, rdn, 0xc2003f60d1465c1e, 1, 0x3e2d90f4388059ea, 0x42003f60d1465c1e
    F2_d fsub.d, rup, 0xc2003f60d1465c1d, 1, 0x3e2d90f4388059ea, 0x42003f60d1465c1e
    F2_d fsub.d, rmm, 0xc2003f60d1465c1e, 1, 0x3e2d90f4388059ea, 0x42003f60d1465c1e
    F2_d fsub.d, rne, 0x416d9209169905ae, 1, 0x416d920916979162, 0xbf2744b8907d6be9
    F2_d fsub.d, rtz, 0x416d9209169905ad, 1, 0x416d920916979162, 0xbf2744b8907d6be9
    F2_d fsub.d, rdn, 0x416d9209169905ad, 1, 0x416d920916979162, 0xbf2744b8907d6be9
    F2_d fsub.d, rup, 0x416d9209169905ae, 1, 0x416d920916979162, 0xbf2744b8907d6be9
    F2_d fsub.d, rmm, 0x416d9209169905ae, 1, 0x416d920916979162, 0xbf2744b8907d6be9
    F2_d fsub.d, rne, 0x3f055e8bf26e9f64, 1, 0x3f055e92b608029d, 0x3deb0e658ce58671
    F2_d fsub.d, rtz, 0x3f055e8bf26e9f63, 1, 0x3f055e92b608029d, 0x3deb0e658ce58671
    F2_d fsub.d, rdn, 0x3f055e8bf26e9f63, 1, 0x3f055e92b608029d, 0x3deb0e658ce58671
    F2_d fsub.d, rup, 0x3f055e8bf26e9f64, 1, 0x3f055e92b608029d, 0x3deb0e658ce58671
    F2_d fsub.d, rmm, 0x3f055e8bf26e9f64, 1, 0x3f055e92b608029d, 0x3deb0e658ce58671
    F2_d fsub.d, rne, 0xc0d0df372042e39c, 1, 0xc0c957d5d7f74164, 0x40b0cd30d11d0ba7
    F2_d fsub.d, rtz, 0xc0d0df372042e39b, 1, 0xc0c957d5d7f74164, 0x40b0cd30d11d0ba7
    F2_d fsub.d, rdn, 0xc0d0df372042e39c, 1, 0xc0c957d5d7f74164, 0x40b0cd30d11d0ba7
    F2_d fsub.d, rup, 0xc0d0df372042e39b, 1, 0xc0c957d5d7f74164, 0x40b0cd30d11d0ba7
    F2_d fsub.d, rmm, 0xc0d0df372042e39c, 1, 0xc0c957d5d7f74164, 0x40b0cd30d11d0ba7
    F2_d fsub.d, rne, 0x0, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fsub.d, rtz, 0x0, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fsub.d, rdn, 0x8000000000000000, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fsub.d, rup, 0x0, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fsub.d, rmm, 0x0, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fsub.d, rne, 0x0, 0, 0x1, 0x1
    F2_d fsub.d, rtz, 0x0, 0, 0x1, 0x1
    F2_d fsub.d, rdn, 0x8000000000000000, 0, 0x1, 0x1
    F2_d fsub.d, rup, 0x0, 0, 0x1, 0x1
    F2_d fsub.d, rmm, 0x0, 0, 0x1, 0x1
    F2_d fsub.d, rne, 0xbfe0000000000000, 1, 0x10000000000000, 0x3fe0000000000000
    F2_d fsub.d, rtz, 0xbfdfffffffffffff, 1, 0x10000000000000, 0x3fe0000000000000
    F2_d fsub.d, rdn, 0xbfe0000000000000, 1, 0x10000000000000, 0x3fe0000000000000
    F2_d fsub.d, rup, 0xbfdfffffffffffff, 1, 0x10000000000000, 0x3fe0000000000000
    F2_d fsub.d, rmm, 0xbfe0000000000000, 1, 0x10000000000000, 0x3fe0000000000000
    END

    CASE "I-12.4 fmul.d"
    F2_d fmul.d, rne, 0x8010000000000000, 0, 0xbff0000000000000, 0x10000000000000
    F2_d fmul.d, rtz, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0xfffffffffffff
    F2_d fmul.d, rdn, 0x8000000000000000, 0, 0x8000000000000000, 0x0
    F2_d fmul.d, rup, 0x7ff8000000000000, 0, 0x1, 0x7ff8000000000000
    F2_d fmul.d, rmm, 0x7ff8000000000000, 16, 0x8000000000000000, 0x7ff0000000000000
    F2_d fmul.d, rne, 0x7ff8000000000000, 0, 0x3ff0000000000001, 0x7ff8000000000000
    F2_d fmul.d, rtz, 0xfff0000000000000, 0, 0xfff0000000000000, 0x3ff0000000000001
    F2_d fmul.d, rdn, 0x7fefffffffffffff, 0, 0x3ff0000000000000, 0x7fefffffffffffff
    F2_d fmul.d, rup, 0x7ff8000000000000, 0, 0x7ff8000000000000, 0x7ff0000000000000
    F2_d fmul.d, rmm, 0x8000000000000000, 0, 0x1, 0x8000000000000000
    F2_d fmul.d, rne, 0x400fffffffffffff, 0, 0x10000000000000, 0x7fefffffffffffff
    F2_d fmul.d, rtz, 0x3ff8000000000001, 1, 0x3ff8000000000000, 0x3ff0000000000001
    F2_d fmul.d, rdn, 0x8000000000000, 0, 0x3fe0000000000000, 0x10000000000000
    F2_d fmul.d, rup, 0x0, 0, 0xbff0000000000000, 0x8000000000000000
    F2_d fmul.d, rne, 0x4040ca66d03ed382, 1, 0x3eb891469180f6c6, 0x4175ded1419818f2
    F2_d fmul.d, rtz, 0x4040ca66d03ed381, 1, 0x3eb891469180f6c6, 0x4175ded1419818f2
    F2_d fmul.d, rdn, 0x4040ca66d03ed381, 1, 0x3eb891469180f6c6, 0x4175ded1419818f2
    F2_d fmul.d, rup, 0x4040ca66d03ed382, 1, 0x3eb891469180f6c6, 0x4175ded1419818f2
    F2_d fmul.d, rmm, 0x4040ca66d03ed382, 1, 0x3eb891469180f6c6, 0x4175ded1419818f2
    F2_d fmul.d, rne, 0x3e29507d78742668, 1, 0xbf0675a1489264ac, 0xbf1208a8fcf017b6
    F2_d fmul.d, rtz, 0x3e29507d78742667, 1, 0xbf0675a1489264ac, 0xbf1208a8fcf017b6
    F2_d fmul.d, rdn, 0x3e29507d78742667, 1, 0xbf0675a1489264ac, 0xbf1208a8fcf017b6
    F2_d fmul.d, rup, 0x3e29507d78742668, 1, 0xbf0675a1489264ac, 0xbf1208a8fcf017b6
    F2_d fmul.d, rmm, 0x3e29507d78742668, 1, 0xbf0675a1489264ac, 0xbf1208a8fcf017b6
    F2_d fmul.d, rne, 0x40ec4e7e2ccc2b55, 1, 0xbf5df1c6ba0133c1, 0xc17e3fef3d5977a5
    F2_d fmul.d, rtz, 0x40ec4e7e2ccc2b54, 1, 0xbf5df1c6ba0133c1, 0xc17e3fef3d5977a5
    F2_d fmul.d, rdn, 0x40ec4e7e2ccc2b54, 1, 0xbf5df1c6ba0133c1, 0xc17e3fef3d5977a5
    F2_d fmul.d, rup, 0x40ec4e7e2ccc2b55, 1, 0xbf5df1c6ba0133c1, 0xc17e3fef3d5977a5
    F2_d fmul.d, rmm, 0x40ec4e7e2ccc2b55, 1, 0xbf5df1c6ba0133c1, 0xc17e3fef3d5977a5
    F2_d fmul.d, rne, 0x3efbd8331ff68c60, 1, 0x3d8f17ce1b12bd63, 0x415ca822caab9fca
    F2_d fmul.d, rtz, 0x3efbd8331ff68c5f, 1, 0x3d8f17ce1b12bd63, 0x415ca822caab9fca
    F2_d fmul.d, rdn, 0x3efbd8331ff68c5f, 1, 0x3d8f17ce1b12bd63, 0x415ca822caab9fca
    F2_d fmul.d, rup, 0x3efbd8331ff68c60, 1, 0x3d8f17ce1b12bd63, 0x415ca822caab9fca
    F2_d fmul.d, rmm, 0x3efbd8331ff68c60, 1, 0x3d8f17ce1b12bd63, 0x415ca822caab9fca
    F2_d fmul.d, rne, 0x4167a55f4a47bf0c, 1, 0xc20b05f935ffed04, 0xbf4c002c164847ce
    F2_d fmul.d, rtz, 0x4167a55f4a47bf0c, 1, 0xc20b05f935ffed04, 0xbf4c002c164847ce
    F2_d fmul.d, rdn, 0x4167a55f4a47bf0c, 1, 0xc20b05f935ffed04, 0xbf4c002c164847ce
    F2_d fmul.d, rup, 0x4167a55f4a47bf0d, 1, 0xc20b05f935ffed04, 0xbf4c002c164847ce
    F2_d fmul.d, rmm, 0x4167a55f4a47bf0c, 1, 0xc20b05f935ffed04, 0xbf4c002c164847ce
    F2_d fmul.d, rne, 0xbc5c2e6aefeda5b4, 1, 0x3ea43a0ed7509df3, 0xbda64ad26c8b72c8
    F2_d fmul.d, rtz, 0xbc5c2e6aefeda5b3, 1, 0x3ea43a0ed7509df3, 0xbda64ad26c8b72c8
    F2_d fmul.d, rdn, 0xbc5c2e6aefeda5b4, 1, 0x3ea43a0ed7509df3, 0xbda64ad26c8b72c8
    F2_d fmul.d, rup, 0xbc5c2e6aefeda5b3, 1, 0x3ea43a0ed7509df3, 0xbda64ad26c8b72c8
    F2_d fmul.d, rmm, 0xbc5c2e6aefeda5b4, 1, 0x3ea43a0ed7509df3, 0xbda64ad26c8b72c8
    F2_d fmul.d, rne, 0x7ff0000000000000, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fmul.d, rtz, 0x7fefffffffffffff, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fmul.d, rdn, 0x7fefffffffffffff, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fmul.d, rup, 0x7ff0000000000000, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fmul.d, rmm, 0x7ff0000000000000, 5, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fmul.d, rne, 0x0, 3, 0x1, 0x1
    F2_d fmul.d, rtz, 0x0, 3, 0x1, 0x1
    F2_d fmul.d, rdn, 0x0, 3, 0x1, 0x1
    F2_d fmul.d, rup, 0x1, 3, 0x1, 0x1
    F2_d fmul.d, rmm, 0x0, 3, 0x1, 0x1
    F2_d fmul.d, rne, 0x8000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2_d fmul.d, rtz, 0x8000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2_d fmul.d, rdn, 0x8000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2_d fmul.d, rup, 0x8000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2_d fmul.d, rmm, 0x8000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    END

    CASE "I-12.4 fdiv.d"
    F2_d fdiv.d, rne, 0x1, 3, 0x1, 0x3ff8000000000000
    F2_d fdiv.d, rtz, 0x7ff8000000000000, 0, 0x4000000000000000, 0x7ff8000000000000
    F2_d fdiv.d, rdn, 0x7ff0000000000000, 8, 0xfffffffffffff, 0x0
    F2_d fdiv.d, rup, 0x7ff8000000000000, 16, 0x7ff0000000000001, 0x0
    F2_d fdiv.d, rmm, 0xffffffffffffe, 3, 0xfffffffffffff, 0x3ff0000000000001
    F2_d fdiv.d, rne, 0xffd0000000000001, 1, 0xbff0000000000000, 0xfffffffffffff
    F2_d fdiv.d, rtz, 0x0, 0, 0x3ff0000000000000, 0x7ff0000000000000
    F2_d fdiv.d, rdn, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0xfffffffffffff
    F2_d fdiv.d, rup, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x1
    F2_d fdiv.d, rmm, 0x0, 0, 0x1, 0x7ff0000000000000
    F2_d fdiv.d, rne, 0x3cb0000000000001, 1, 0x1, 0xfffffffffffff
    F2_d fdiv.d, rtz, 0x7fefffffffffffff, 5, 0x4000000000000000, 0x1
    F2_d fdiv.d, rdn, 0xfff0000000000000, 8, 0x10000000000000, 0x8000000000000000
    F2_d fdiv.d, rup, 0x7ff8000000000000, 0, 0x7ff8000000000000, 0x4000000000000000
    F2_d fdiv.d, rne, 0x40409aeb788ee90e, 1, 0x405e720cb0db9de3, 0x400d56012970a1d7
    F2_d fdiv.d, rtz, 0x40409aeb788ee90e, 1, 0x405e720cb0db9de3, 0x400d56012970a1d7
    F2_d fdiv.d, rdn, 0x40409aeb788ee90e, 1, 0x405e720cb0db9de3, 0x400d56012970a1d7
    F2_d fdiv.d, rup, 0x40409aeb788ee90f, 1, 0x405e720cb0db9de3, 0x400d56012970a1d7
    F2_d fdiv.d, rmm, 0x40409aeb788ee90e, 1, 0x405e720cb0db9de3, 0x400d56012970a1d7
    F2_d fdiv.d, rne, 0x3f91b6eb03f78835, 1, 0xc160c5efd36c8d68, 0xc1be4caf58e50ff4
    F2_d fdiv.d, rtz, 0x3f91b6eb03f78834, 1, 0xc160c5efd36c8d68, 0xc1be4caf58e50ff4
    F2_d fdiv.d, rdn, 0x3f91b6eb03f78834, 1, 0xc160c5efd36c8d68, 0xc1be4caf58e50ff4
    F2_d fdiv.d, rup, 0x3f91b6eb03f78835, 1, 0xc160c5efd36c8d68, 0xc1be4caf58e50ff4
    F2_d fdiv.d, rmm, 0x3f91b6eb03f78835, 1, 0xc160c5efd36c8d68, 0xc1be4caf58e50ff4
    F2_d fdiv.d, rne, 0xc1161bfe5038c825, 1, 0x3f0ceb4684181e71, 0xbde4ed922982a220
    F2_d fdiv.d, rtz, 0xc1161bfe5038c825, 1, 0x3f0ceb4684181e71, 0xbde4ed922982a220
    F2_d fdiv.d, rdn, 0xc1161bfe5038c826, 1, 0x3f0ceb4684181e71, 0xbde4ed922982a220
    F2_d fdiv.d, rup, 0xc1161bfe5038c825, 1, 0x3f0ceb4684181e71, 0xbde4ed922982a220
    F2_d fdiv.d, rmm, 0xc1161bfe5038c825, 1, 0x3f0ceb4684181e71, 0xbde4ed922982a220
    F2_d fdiv.d, rne, 0xc3b4bb63ebad49ab, 1, 0xc19ae70b2bb183bb, 0x3dd4c31a96578bb7
    F2_d fdiv.d, rtz, 0xc3b4bb63ebad49aa, 1, 0xc19ae70b2bb183bb, 0x3dd4c31a96578bb7
    F2_d fdiv.d, rdn, 0xc3b4bb63ebad49ab, 1, 0xc19ae70b2bb183bb, 0x3dd4c31a96578bb7
    F2_d fdiv.d, rup, 0xc3b4bb63ebad49aa, 1, 0xc19ae70b2bb183bb, 0x3dd4c31a96578bb7
    F2_d fdiv.d, rmm, 0xc3b4bb63ebad49ab, 1, 0xc19ae70b2bb183bb, 0x3dd4c31a96578bb7
    F2_d fdiv.d, rne, 0xc19808d2f1766778, 1, 0xc08f7887c6ee9d4b, 0x3ee4f35145b8b27e
    F2_d fdiv.d, rtz, 0xc19808d2f1766777, 1, 0xc08f7887c6ee9d4b, 0x3ee4f35145b8b27e
    F2_d fdiv.d, rdn, 0xc19808d2f1766778, 1, 0xc08f7887c6ee9d4b, 0x3ee4f35145b8b27e
    F2_d fdiv.d, rup, 0xc19808d2f1766777, 1, 0xc08f7887c6ee9d4b, 0x3ee4f35145b8b27e
    F2_d fdiv.d, rmm, 0xc19808d2f1766778, 1, 0xc08f7887c6ee9d4b, 0x3ee4f35145b8b27e
    F2_d fdiv.d, rne, 0xc03765120998979f, 1, 0xc139ee7332859a94, 0x40f1bc1e67300d22
    F2_d fdiv.d, rtz, 0xc03765120998979e, 1, 0xc139ee7332859a94, 0x40f1bc1e67300d22
    F2_d fdiv.d, rdn, 0xc03765120998979f, 1, 0xc139ee7332859a94, 0x40f1bc1e67300d22
    F2_d fdiv.d, rup, 0xc03765120998979e, 1, 0xc139ee7332859a94, 0x40f1bc1e67300d22
    F2_d fdiv.d, rmm, 0xc03765120998979f, 1, 0xc139ee7332859a94, 0x40f1bc1e67300d22
    F2_d fdiv.d, rne, 0x3ff0000000000000, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fdiv.d, rtz, 0x3ff0000000000000, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fdiv.d, rdn, 0x3ff0000000000000, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fdiv.d, rup, 0x3ff0000000000000, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fdiv.d, rmm, 0x3ff0000000000000, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2_d fdiv.d, rne, 0x3ff0000000000000, 0, 0x1, 0x1
    F2_d fdiv.d, rtz, 0x3ff0000000000000, 0, 0x1, 0x1
    F2_d fdiv.d, rdn, 0x3ff0000000000000, 0, 0x1, 0x1
    F2_d fdiv.d, rup, 0x3ff0000000000000, 0, 0x1, 0x1
    F2_d fdiv.d, rmm, 0x3ff0000000000000, 0, 0x1, 0x1
    F2_d fdiv.d, rne, 0x20000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2_d fdiv.d, rtz, 0x20000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2_d fdiv.d, rdn, 0x20000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2_d fdiv.d, rup, 0x20000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2_d fdiv.d, rmm, 0x20000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    END

    CASE "I-12.4 fsqrt.d"
    F1_d fsqrt.d, rne, 0x0, 0, 0x0
    F1_d fsqrt.d, rtz, 0x8000000000000000, 0, 0x8000000000000000
    F1_d fsqrt.d, rdn, 0x3ff0000000000000, 0, 0x3ff0000000000000
    F1_d fsqrt.d, rup, 0x7ff8000000000000, 16, 0xbff0000000000000
    F1_d fsqrt.d, rmm, 0x7ff0000000000000, 0, 0x7ff0000000000000
    F1_d fsqrt.d, rne, 0x7ff8000000000000, 16, 0xfff0000000000000
    F1_d fsqrt.d, rtz, 0x7ff8000000000000, 0, 0x7ff8000000000000
    F1_d fsqrt.d, rdn, 0x7ff8000000000000, 16, 0x7ff0000000000001
    F1_d fsqrt.d, rup, 0x1e60000000000000, 0, 0x1
    F1_d fsqrt.d, rmm, 0x1fffffffffffffff, 1, 0xfffffffffffff
    F1_d fsqrt.d, rne, 0x2000000000000000, 0, 0x10000000000000
    F1_d fsqrt.d, rtz, 0x5fefffffffffffff, 1, 0x7fefffffffffffff
    F1_d fsqrt.d, rne, 0x3ff0000000000000, 1, 0x3ff0000000000001
    F1_d fsqrt.d, rtz, 0x3ff0000000000000, 1, 0x3ff0000000000001
    F1_d fsqrt.d, rdn, 0x3ff0000000000000, 1, 0x3ff0000000000001
    F1_d fsqrt.d, rup, 0x3ff0000000000001, 1, 0x3ff0000000000001
    F1_d fsqrt.d, rmm, 0x3ff0000000000000, 1, 0x3ff0000000000001
    F1_d fsqrt.d, rne, 0x3ff3988e1409212e, 1, 0x3ff8000000000000
    F1_d fsqrt.d, rtz, 0x3ff3988e1409212e, 1, 0x3ff8000000000000
    F1_d fsqrt.d, rdn, 0x3ff3988e1409212e, 1, 0x3ff8000000000000
    F1_d fsqrt.d, rup, 0x3ff3988e1409212f, 1, 0x3ff8000000000000
    F1_d fsqrt.d, rmm, 0x3ff3988e1409212e, 1, 0x3ff8000000000000
    F1_d fsqrt.d, rne, 0x3ff6a09e667f3bcd, 1, 0x4000000000000000
    F1_d fsqrt.d, rtz, 0x3ff6a09e667f3bcc, 1, 0x4000000000000000
    F1_d fsqrt.d, rdn, 0x3ff6a09e667f3bcc, 1, 0x4000000000000000
    F1_d fsqrt.d, rup, 0x3ff6a09e667f3bcd, 1, 0x4000000000000000
    F1_d fsqrt.d, rmm, 0x3ff6a09e667f3bcd, 1, 0x4000000000000000
    F1_d fsqrt.d, rne, 0x3fe6a09e667f3bcd, 1, 0x3fe0000000000000
    F1_d fsqrt.d, rtz, 0x3fe6a09e667f3bcc, 1, 0x3fe0000000000000
    F1_d fsqrt.d, rdn, 0x3fe6a09e667f3bcc, 1, 0x3fe0000000000000
    F1_d fsqrt.d, rup, 0x3fe6a09e667f3bcd, 1, 0x3fe0000000000000
    F1_d fsqrt.d, rmm, 0x3fe6a09e667f3bcd, 1, 0x3fe0000000000000
    F1_d fsqrt.d, rne, 0x3fbab72507f1a1da, 1, 0x3f864db45c9e5d0e
    F1_d fsqrt.d, rtz, 0x3fbab72507f1a1d9, 1, 0x3f864db45c9e5d0e
    F1_d fsqrt.d, rdn, 0x3fbab72507f1a1d9, 1, 0x3f864db45c9e5d0e
    F1_d fsqrt.d, rup, 0x3fbab72507f1a1da, 1, 0x3f864db45c9e5d0e
    F1_d fsqrt.d, rmm, 0x3fbab72507f1a1da, 1, 0x3f864db45c9e5d0e
    F1_d fsqrt.d, rne, 0x403fb51b415f84c9, 1, 0x408f6ae5cb13d0ab
    F1_d fsqrt.d, rtz, 0x403fb51b415f84c9, 1, 0x408f6ae5cb13d0ab
    F1_d fsqrt.d, rdn, 0x403fb51b415f84c9, 1, 0x408f6ae5cb13d0ab
    F1_d fsqrt.d, rup, 0x403fb51b415f84ca, 1, 0x408f6ae5cb13d0ab
    F1_d fsqrt.d, rmm, 0x403fb51b415f84c9, 1, 0x408f6ae5cb13d0ab
    F1_d fsqrt.d, rne, 0x3fc18e5dcfc25721, 1, 0x3f93437a1ccabc6e
    F1_d fsqrt.d, rtz, 0x3fc18e5dcfc25721, 1, 0x3f93437a1ccabc6e
    F1_d fsqrt.d, rdn, 0x3fc18e5dcfc25721, 1, 0x3f93437a1ccabc6e
    F1_d fsqrt.d, rup, 0x3fc18e5dcfc25722, 1, 0x3f93437a1ccabc6e
    F1_d fsqrt.d, rmm, 0x3fc18e5dcfc25721, 1, 0x3f93437a1ccabc6e
    F1_d fsqrt.d, rne, 0x412bb972cd30dd56, 1, 0x426805247342d5a1
    F1_d fsqrt.d, rtz, 0x412bb972cd30dd56, 1, 0x426805247342d5a1
    F1_d fsqrt.d, rdn, 0x412bb972cd30dd56, 1, 0x426805247342d5a1
    F1_d fsqrt.d, rup, 0x412bb972cd30dd57, 1, 0x426805247342d5a1
    F1_d fsqrt.d, rmm, 0x412bb972cd30dd56, 1, 0x426805247342d5a1
    F1_d fsqrt.d, rne, 0x40513b3cdb017ac4, 1, 0x40b28ebca319c60b
    F1_d fsqrt.d, rtz, 0x40513b3cdb017ac4, 1, 0x40b28ebca319c60b
    F1_d fsqrt.d, rdn, 0x40513b3cdb017ac4, 1, 0x40b28ebca319c60b
    F1_d fsqrt.d, rup, 0x40513b3cdb017ac5, 1, 0x40b28ebca319c60b
    F1_d fsqrt.d, rmm, 0x40513b3cdb017ac4, 1, 0x40b28ebca319c60b
    END

    CASE "I-12.4 fmadd.d"
    F3_d fmadd.d, rne, 0x7ff0000000000000, 0, 0x10000000000000, 0x8000000000000000, 0x7ff0000000000000
    F3_d fmadd.d, rtz, 0x3ff8000000000000, 1, 0x1, 0x3fe0000000000000, 0x3ff8000000000000
    F3_d fmadd.d, rdn, 0x3ff0000000000001, 1, 0x3ff0000000000000, 0x1, 0x3ff0000000000001
    F3_d fmadd.d, rup, 0x7ff0000000000000, 5, 0x7fefffffffffffff, 0x3ff0000000000001, 0xfffffffffffff
    F3_d fmadd.d, rmm, 0x4000000000000000, 1, 0xbff0000000000000, 0x1, 0x4000000000000000
    F3_d fmadd.d, rne, 0xfffffffffffff, 0, 0x0, 0x8000000000000000, 0xfffffffffffff
    F3_d fmadd.d, rtz, 0x7fefffffffffffff, 5, 0x7fefffffffffffff, 0x7fefffffffffffff, 0x1
    F3_d fmadd.d, rdn, 0x7ff8000000000000, 16, 0x7ff0000000000001, 0x3ff0000000000000, 0xbff0000000000000
    F3_d fmadd.d, rup, 0xbff7ffffffffffff, 1, 0x3ff8000000000000, 0xbff0000000000000, 0xfffffffffffff
    F3_d fmadd.d, rmm, 0x7ff0000000000000, 0, 0xfff0000000000000, 0xfff0000000000000, 0xbff0000000000000
    F3_d fmadd.d, rne, 0x3ff0000000000002, 1, 0x3ff0000000000001, 0x3ff0000000000001, 0x10000000000000
    F3_d fmadd.d, rtz, 0x3ff8000000000002, 1, 0x3ff0000000000001, 0x3ff0000000000001, 0x3fe0000000000000
    F3_d fmadd.d, rdn, 0x3b5388fc8db4a4b0, 0, 0xc02dd71c59875696, 0x3e9bc542882382ff, 0x3ed9e5723caf28ce
    F3_d fmadd.d, rup, 0x3d2a927ca61961e0, 0, 0xc0bed606ab5e7b10, 0xbfb368aa22314ebf, 0xc082b3ef7d636539
    F3_d fmadd.d, rmm, 0xbbf6331c5a84d600, 0, 0x3df69c7decaf3471, 0x417da18600cbaca0, 0xbf84eff427ecd2dd
    F3_d fmadd.d, rne, 0x3b35f393dfc0b862, 0, 0xbf56ebbd93ec384f, 0x3f2ba8fa92df7c81, 0x3e93cff11304a042
    F3_d fmadd.d, rtz, 0x3a75d0a1057ffe84, 0, 0x3e738e0d26b229f5, 0xbf51ffc280256883, 0x3dd5ff83a1b39ab1
    F3_d fmadd.d, rdn, 0xbcc3d46a1e812038, 0, 0xbfb08919e618c717, 0xc074998ae0f05f6f, 0xc0354a0eee3e7c1d
    F3_d fmadd.d, rup, 0xc189b90e45e52cdb, 1, 0x408e57189cc321d7, 0x3df9a755c582a0da, 0xc189b90e45e52d0c
    F3_d fmadd.d, rmm, 0x4140863bcfc0e97e, 1, 0x3f31805e4f2b2413, 0x41fe36a5f98e1bc5, 0xbe105f805c16575f
    F3_d fmadd.d, rne, 0x427238eed9ff2960, 1, 0xc191f30c127a6ab2, 0xc0000e0b37e88f6d, 0x4272385ec3949286
    F3_d fmadd.d, rtz, 0xc0ba5953d5de5a94, 1, 0x3fa0f21380dce46e, 0xc108e0eb971a5442, 0xbdb89b160a23934f
    F3_d fmadd.d, rdn, 0xc106fb7f2542155a, 1, 0xc127bd571c4cb9ae, 0x3fcefaf8a1239578, 0x4019186087db79c1
    F3_d fmadd.d, rup, 0xc20b68d8897d620b, 1, 0x3f2cb20b8e7d6ed9, 0xbf1d6e34481e0dce, 0xc20b68d8897d620b
    END

    CASE "I-12.4 fmsub.d"
    F3_d fmsub.d, rne, 0x7ff8000000000000, 16, 0x0, 0x7ff0000000000001, 0xfff0000000000000
    F3_d fmsub.d, rtz, 0xbff8000000000000, 0, 0x0, 0x1, 0x3ff8000000000000
    F3_d fmsub.d, rdn, 0x7feffffffffffffe, 1, 0x7fefffffffffffff, 0x3ff0000000000000, 0x1
    F3_d fmsub.d, rup, 0xc000000000000000, 1, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001
    F3_d fmsub.d, rmm, 0x7ff8000000000000, 16, 0x3ff0000000000001, 0x3ff8000000000000, 0x7ff0000000000001
    F3_d fmsub.d, rne, 0x8010000000000000, 0, 0x8000000000000000, 0x7fefffffffffffff, 0x10000000000000
    F3_d fmsub.d, rtz, 0xbfdfffffffffffff, 1, 0x1, 0x3ff0000000000000, 0x3fe0000000000000
    F3_d fmsub.d, rdn, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x3ff8000000000000, 0x4000000000000000
    F3_d fmsub.d, rup, 0x7ff8000000000000, 0, 0x4000000000000000, 0x7ff8000000000000, 0x10000000000000
    F3_d fmsub.d, rmm, 0x7ff8000000000000, 0, 0x7ff8000000000000, 0xbff0000000000000, 0x3ff0000000000001
    F3_d fmsub.d, rne, 0x7ff8000000000000, 0, 0xfff0000000000000, 0xfffffffffffff, 0x7ff8000000000000
    F3_d fmsub.d, rtz, 0xc000000000000000, 0, 0x3ff0000000000000, 0x0, 0x4000000000000000
    F3_d fmsub.d, rdn, 0x3ac38091c1a23ac4, 0, 0xbf0b4281ca4d0546, 0xbf043fedc5f8129b, 0x3e2140069b2c6f85
    F3_d fmsub.d, rup, 0x3e6096a818e5ff38, 0, 0x41eb383ac16b6d34, 0xbfcc940cbf6619fd, 0xc1c84f2250e110f8
    F3_d fmsub.d, rmm, 0x3c8db77b3f6f32b0, 0, 0xbd9bd456eb8188d2, 0xc250409eb831f873, 0x3ffc44bc586ab696
    F3_d fmsub.d, rne, 0x3f673721e3740e78, 0, 0x4046afc734a4e621, 0x4274387d89a913de, 0x42ccabd23b7b829d
    F3_d fmsub.d, rtz, 0xbf642ef71aa8ad3c, 0, 0xc0429e4ca0a8d0f3, 0xc27fdd0d50d04ccb, 0x42d289f73c2d2ac5
    F3_d fmsub.d, rdn, 0x3b69d8b385eb7e28, 0, 0x3fe0b5361af25591, 0xbed5af25b0fa6616, 0xbec6a4bc5f00b657
    F3_d fmsub.d, rup, 0x3eac70845d270b1d, 1, 0x3dab692ccdf2b4aa, 0x3e41b50a57cac47b, 0xbeac70845d270752
    F3_d fmsub.d, rmm, 0xc174ff3753b4dd83, 1, 0xc13fd9607c6bd401, 0x402518adcb74b998, 0x3e71bdead9978d70
    F3_d fmsub.d, rne, 0xc11e349e7da92f4e, 1, 0xc1f820824051234b, 0x3f1407f25a93b16f, 0xbd9e8abcf0010b8c
    F3_d fmsub.d, rtz, 0xc159c2b168599a3a, 1, 0x3fad0a1cf2000111, 0xc19c64006fcead76, 0xc08cfd6a29345945
    F3_d fmsub.d, rdn, 0x41b0711060ffcf7d, 1, 0xc0e2368c2242a92f, 0x3e5ba56836ca965d, 0xc1b0711061000e6e
    F3_d fmsub.d, rup, 0x3e052f4eb758e00e, 1, 0x3e2c7c6376b5d3b4, 0x3f192a54e396dfaf, 0xbe052c81dbc7d319
    END

    CASE "I-12.4 fnmsub.d"
    F3_d fnmsub.d, rne, 0x3fe0000000000000, 1, 0x10000000000000, 0x4000000000000000, 0x3fe0000000000000
    F3_d fnmsub.d, rtz, 0x7ff8000000000000, 16, 0x7ff8000000000000, 0x0, 0x7ff0000000000001
    F3_d fnmsub.d, rdn, 0x7ff8000000000000, 0, 0x7ff8000000000000, 0x7fefffffffffffff, 0x3ff0000000000001
    F3_d fnmsub.d, rup, 0x7ff0000000000000, 0, 0xbff0000000000000, 0xbff0000000000000, 0x7ff0000000000000
    F3_d fnmsub.d, rmm, 0x7ff8000000000000, 0, 0x7ff8000000000000, 0x4000000000000000, 0x4000000000000000
    F3_d fnmsub.d, rne, 0xc000000000000000, 0, 0x4000000000000000, 0x3ff0000000000000, 0x8000000000000000
    F3_d fnmsub.d, rtz, 0x7ff0000000000000, 0, 0x3fe0000000000000, 0xfff0000000000000, 0x3ff0000000000001
    F3_d fnmsub.d, rdn, 0x7ff8000000000000, 16, 0x7ff0000000000001, 0x3fe0000000000000, 0x3fe0000000000000
    F3_d fnmsub.d, rup, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000
    F3_d fnmsub.d, rmm, 0x7ff8000000000000, 16, 0x3ff0000000000001, 0x3ff0000000000000, 0x7ff0000000000001
    F3_d fnmsub.d, rne, 0x7ff8000000000000, 16, 0x7ff0000000000001, 0x0, 0x3ff0000000000001
    F3_d fnmsub.d, rtz, 0x7ff8000000000000, 16, 0x7ff0000000000001, 0x8000000000000000, 0x7ff0000000000001
    F3_d fnmsub.d, rdn, 0xbcb93fafd5756f20, 0, 0x3f0003dfcd7f1172, 0x41266e850c7658c1, 0x403673f389e13b08
    F3_d fnmsub.d, rup, 0x3dbc1fa73915c000, 0, 0x3f3ac005c67c93a0, 0x41e93fbba37ddf40, 0x41351b4b693d2ea1
    F3_d fnmsub.d, rmm, 0xbe6a7d062aa14300, 0, 0xc0b0a94243510578, 0x4127a95b04aa34a6, 0xc1e8a3a9d42fec47
    F3_d fnmsub.d, rne, 0x3927b290ebced27c, 0, 0xbe4f9208c26f655b, 0xbe324ac32fdb22f3, 0x3c920be732bc5a39
    F3_d fnmsub.d, rtz, 0x3e5ff4b348b479ec, 0, 0xc1a9daba29ae65cf, 0xc008282d1b156c6b, 0x41c38481796e8d2e
    F3_d fnmsub.d, rdn, 0x3abbffde202f6400, 0, 0xc07e1009ea95eeba, 0x3e0079b3d9f64aad, 0xbe8ef4b5228b366a
    F3_d fnmsub.d, rup, 0xc1bb4b7fe0326dc0, 1, 0xbe18fc6980a23629, 0xc25cab4a98351b08, 0xc1bb4b7d13df0164
    F3_d fnmsub.d, rmm, 0xc264d026c9c7d403, 1, 0x41c4a7cb9d76244e, 0x40901f42abb33ad1, 0xbf12ff7606299237
    F3_d fnmsub.d, rne, 0x40a91b4f086ba186, 1, 0xc17d658ccfc1cf7f, 0x3f1b54801f4575b3, 0xbf16dd61abf67497
    F3_d fnmsub.d, rtz, 0x403562bca67897a6, 1, 0xbe5f9f8f9cd89d82, 0x41c5a3f485091230, 0xbe3baeca167ccabc
    F3_d fnmsub.d, rdn, 0x3e998d5d0e94bdac, 1, 0x3e35e1a316fc0872, 0x3fdc32df4f28609a, 0x3e99b3ed7e7fb0ed
    F3_d fnmsub.d, rup, 0x4238526e36c0fa3e, 1, 0xc013128bc4cf6da0, 0x3e10b2611332e641, 0x4238526e36c0fa3d
    END

    CASE "I-12.4 fnmadd.d"
    F3_d fnmadd.d, rne, 0xc00c000000000001, 0, 0x3ff0000000000001, 0x4000000000000000, 0x3ff8000000000000
    F3_d fnmadd.d, rtz, 0x7ff8000000000000, 0, 0x7ff8000000000000, 0x3ff0000000000000, 0x0
    F3_d fnmadd.d, rdn, 0xfff0000000000000, 0, 0x8000000000000000, 0x0, 0x7ff0000000000000
    F3_d fnmadd.d, rup, 0x7ff0000000000000, 0, 0x3ff8000000000000, 0x8000000000000000, 0xfff0000000000000
    F3_d fnmadd.d, rmm, 0x801fffffffffffff, 0, 0xfffffffffffff, 0x4000000000000000, 0x1
    F3_d fnmadd.d, rne, 0xfff0000000000000, 0, 0x7ff0000000000000, 0x1, 0xfffffffffffff
    F3_d fnmadd.d, rtz, 0x8010000000000000, 0, 0x7fefffffffffffff, 0x0, 0x10000000000000
    F3_d fnmadd.d, rdn, 0x7ff0000000000000, 0, 0x3ff0000000000001, 0xbff0000000000000, 0xfff0000000000000
    F3_d fnmadd.d, rup, 0x7ff0000000000000, 0, 0x4000000000000000, 0xfff0000000000000, 0x3fe0000000000000
    F3_d fnmadd.d, rmm, 0x7ff8000000000000, 16, 0x10000000000000, 0x1, 0x7ff0000000000001
    F3_d fnmadd.d, rne, 0x8000000000000000, 0, 0x0, 0x3ff8000000000000, 0x0
    F3_d fnmadd.d, rtz, 0x7ff8000000000000, 16, 0x10000000000000, 0x7ff0000000000001, 0x7fefffffffffffff
    F3_d fnmadd.d, rdn, 0xbc2883d4e9b5cabe, 0, 0xc01c53a100716f2d, 0xbf557b62e3cb1e3b, 0xbf83041aa4e641b7
    F3_d fnmadd.d, rup, 0x38771089a7122080, 0, 0xbe1294b488323c42, 0x3dbd9f53d3502210, 0x3be1334728d98f66
    F3_d fnmadd.d, rmm, 0xbb698b61f2710780, 0, 0x40d56429a0819378, 0x3df1f320898b34c2, 0xbed7ff78f2f65ec3
    F3_d fnmadd.d, rne, 0xbbacb3fdf1b967a0, 0, 0xc1136256293ec302, 0xbdda9da6a6627de8, 0xbf001f656b2618b6
    F3_d fnmadd.d, rtz, 0x3daabd764e6fd128, 0, 0xbf6ead3bf01d222b, 0x419c6c02b09679de, 0x411b3f1fb080a9c0
    F3_d fnmadd.d, rdn, 0xbe5e25c39674b5ca, 0, 0xc27a5d5d16f2a681, 0x3f2c14c54992559b, 0x41b722ce59a54b7c
    F3_d fnmadd.d, rup, 0xc259d40c70203f2d, 1, 0xbd8429bcb6dc0dce, 0x3e6f29a2fd5d25df, 0x4259d40c70203f2e
    F3_d fnmadd.d, rmm, 0xc02f5e954ca9db09, 1, 0xbecf2b52b0cda2a5, 0xbfb64131c0cd4e3e, 0x402f5e9541d33661
    F3_d fnmadd.d, rne, 0x422a7f73245b82fc, 1, 0x3e2ddc20b0ef082b, 0x3f8f6dd39e47bfc1, 0xc22a7f73245b82fc
    F3_d fnmadd.d, rtz, 0xc21cda4738dc4674, 1, 0x423b1e601163fd17, 0x3fd105e713f3fec6, 0xbdf03b8b8922398d
    F3_d fnmadd.d, rdn, 0x418e0b70b0028a20, 1, 0x4052469513115908, 0xbe57e62ab8f22dff, 0xc18e0b70b0028946
    F3_d fnmadd.d, rup, 0xc09533136ce01998, 1, 0x410e65f92d8a4cdf, 0x3f7651064d9c350f, 0x3edfd43071e6cba5
    END

    CASE "I-12.4 fmin.d"
    F2N_d fmin.d, 0x3ff0000000000001, 0, 0x7ff0000000000000, 0x3ff0000000000001
    F2N_d fmin.d, 0x3ff0000000000000, 0, 0x3ff0000000000000, 0x7ff8000000000000
    F2N_d fmin.d, 0x7fefffffffffffff, 0, 0x7ff8000000000000, 0x7fefffffffffffff
    F2N_d fmin.d, 0xbff0000000000000, 0, 0xfffffffffffff, 0xbff0000000000000
    F2N_d fmin.d, 0x0, 0, 0x7fefffffffffffff, 0x0
    F2N_d fmin.d, 0x0, 0, 0x0, 0x7ff8000000000000
    F2N_d fmin.d, 0x4000000000000000, 16, 0x7ff0000000000001, 0x4000000000000000
    F2N_d fmin.d, 0x3fe0000000000000, 0, 0x7ff8000000000000, 0x3fe0000000000000
    F2N_d fmin.d, 0xfff0000000000000, 0, 0xfff0000000000000, 0x3fe0000000000000
    F2N_d fmin.d, 0x10000000000000, 0, 0x10000000000000, 0x3ff8000000000000
    F2N_d fmin.d, 0x10000000000000, 0, 0x7ff8000000000000, 0x10000000000000
    F2N_d fmin.d, 0x1, 0, 0x1, 0x3ff0000000000001
    F2N_d fmin.d, 0x1, 0, 0x3fe0000000000000, 0x1
    F2N_d fmin.d, 0x3fe0000000000000, 0, 0x3fe0000000000000, 0x7fefffffffffffff
    F2N_d fmin.d, 0x0, 0, 0x3ff0000000000001, 0x0
    F2N_d fmin.d, 0x4000000000000000, 0, 0x7ff0000000000000, 0x4000000000000000
    F2N_d fmin.d, 0x3ff0000000000000, 0, 0x3ff8000000000000, 0x3ff0000000000000
    F2N_d fmin.d, 0x3ff8000000000000, 0, 0x3ff8000000000000, 0x7fefffffffffffff
    F2N_d fmin.d, 0x1, 0, 0x1, 0x1
    F2N_d fmin.d, 0x3ff0000000000001, 0, 0x3ff0000000000001, 0x7ff0000000000000
    F2N_d fmin.d, 0x3ff0000000000000, 16, 0x3ff0000000000000, 0x7ff0000000000001
    F2N_d fmin.d, 0xfffffffffffff, 0, 0xfffffffffffff, 0x3ff0000000000000
    F2N_d fmin.d, 0xbe6f5d2f461db961, 0, 0xbe6f5d2f461db961, 0x3ea2317ce90de4f6
    F2N_d fmin.d, 0xc1994d7722a08af2, 0, 0xc1994d7722a08af2, 0x3de3bfbc2af18518
    F2N_d fmin.d, 0xc1068afaca3e7ea3, 0, 0x3ec95e921489a32f, 0xc1068afaca3e7ea3
    F2N_d fmin.d, 0xbeabe95ff4f985f3, 0, 0x41f39141a9657bca, 0xbeabe95ff4f985f3
    F2N_d fmin.d, 0x3e4047b6f7ac17e2, 0, 0x40b0d3501847a1f9, 0x3e4047b6f7ac17e2
    F2N_d fmin.d, 0xbfc49f9e120e8f44, 0, 0xbfc49f9e120e8f44, 0xbed236c5ded5e96a
    F2N_d fmin.d, 0x7fefffffffffffff, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2N_d fmin.d, 0x1, 0, 0x1, 0x1
    F2N_d fmin.d, 0x10000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2N_d fmin.d, 0x8000000000000000, 0, 0x0, 0x8000000000000000
    F2N_d fmin.d, 0x8000000000000000, 0, 0x8000000000000000, 0x0
    END

    CASE "I-12.4 fmax.d"
    F2N_d fmax.d, 0x7fefffffffffffff, 0, 0xfffffffffffff, 0x7fefffffffffffff
    F2N_d fmax.d, 0x10000000000000, 16, 0x7ff0000000000001, 0x10000000000000
    F2N_d fmax.d, 0x10000000000000, 0, 0x8000000000000000, 0x10000000000000
    F2N_d fmax.d, 0x7fefffffffffffff, 0, 0x7fefffffffffffff, 0x1
    F2N_d fmax.d, 0x3fe0000000000000, 0, 0x3fe0000000000000, 0x7ff8000000000000
    F2N_d fmax.d, 0x3ff0000000000000, 0, 0x7ff8000000000000, 0x3ff0000000000000
    F2N_d fmax.d, 0x8000000000000000, 0, 0xfff0000000000000, 0x8000000000000000
    F2N_d fmax.d, 0x1, 0, 0x1, 0x0
    F2N_d fmax.d, 0x4000000000000000, 0, 0x4000000000000000, 0x3ff8000000000000
    F2N_d fmax.d, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x4000000000000000
    F2N_d fmax.d, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x1
    F2N_d fmax.d, 0xfff0000000000000, 0, 0x7ff8000000000000, 0xfff0000000000000
    F2N_d fmax.d, 0x7fefffffffffffff, 0, 0x7fefffffffffffff, 0x7ff8000000000000
    F2N_d fmax.d, 0x3ff0000000000000, 0, 0x3ff0000000000000, 0xbff0000000000000
    F2N_d fmax.d, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x7ff8000000000000
    F2N_d fmax.d, 0x3ff0000000000000, 0, 0x3ff0000000000000, 0x3fe0000000000000
    F2N_d fmax.d, 0x3ff8000000000000, 0, 0x3ff8000000000000, 0x3ff8000000000000
    F2N_d fmax.d, 0xfffffffffffff, 0, 0x1, 0xfffffffffffff
    F2N_d fmax.d, 0x7fefffffffffffff, 0, 0x3ff0000000000001, 0x7fefffffffffffff
    F2N_d fmax.d, 0x7fefffffffffffff, 0, 0x1, 0x7fefffffffffffff
    F2N_d fmax.d, 0x4000000000000000, 16, 0x4000000000000000, 0x7ff0000000000001
    F2N_d fmax.d, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0xfffffffffffff
    F2N_d fmax.d, 0x3fc533530c9034a8, 0, 0x3fc533530c9034a8, 0xbf52cdf526b8778b
    F2N_d fmax.d, 0x3da52118329cfb12, 0, 0xc273ec39e09578b7, 0x3da52118329cfb12
    F2N_d fmax.d, 0x41785738b7e6aa5a, 0, 0x41785738b7e6aa5a, 0xc05b760eaf8e9f16
    F2N_d fmax.d, 0x41ac68274f8e94a7, 0, 0x41ac68274f8e94a7, 0x3e411ef0a8b14a37
    F2N_d fmax.d, 0x3f7ab24dcdb3f4b2, 0, 0xc087bc876ff2fca9, 0x3f7ab24dcdb3f4b2
    F2N_d fmax.d, 0xbf351783731ab8ab, 0, 0xbf351783731ab8ab, 0xc14b65baf024b29b
    F2N_d fmax.d, 0x7fefffffffffffff, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2N_d fmax.d, 0x1, 0, 0x1, 0x1
    F2N_d fmax.d, 0x3fe0000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    F2N_d fmax.d, 0x0, 0, 0x0, 0x8000000000000000
    F2N_d fmax.d, 0x0, 0, 0x8000000000000000, 0x0
    END

    CASE "I-12.5 fsgnj.d"
    F2N_d fsgnj.d, 0x1, 0, 0x1, 0x3fe0000000000000
    F2N_d fsgnj.d, 0x7ff0000000000001, 0, 0x7ff0000000000001, 0x0
    F2N_d fsgnj.d, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x10000000000000
    F2N_d fsgnj.d, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x4000000000000000
    F2N_d fsgnj.d, 0x7fefffffffffffff, 0, 0x7fefffffffffffff, 0x3fe0000000000000
    F2N_d fsgnj.d, 0x7ff0000000000000, 0, 0x7ff0000000000000, 0x3fe0000000000000
    F2N_d fsgnj.d, 0xfff0000000000000, 0, 0x7ff0000000000000, 0xbff0000000000000
    F2N_d fsgnj.d, 0xfffffffffffff, 0, 0xfffffffffffff, 0x7fefffffffffffff
    F2N_d fsgnj.d, 0x3fe0000000000000, 0, 0x3fe0000000000000, 0x7ff0000000000001
    F2N_d fsgnj.d, 0x4000000000000000, 0, 0x4000000000000000, 0x0
    F2N_d fsgnj.d, 0x8000000000000000, 0, 0x0, 0xfff0000000000000
    F2N_d fsgnj.d, 0xc000000000000000, 0, 0x4000000000000000, 0xfff0000000000000
    F2N_d fsgnj.d, 0x40c53c7533a42d68, 0, 0xc0c53c7533a42d68, 0x401bb71b83fa7d7f
    F2N_d fsgnj.d, 0xbee8bff87dc40e70, 0, 0xbee8bff87dc40e70, 0xc17ab1f102c63e3c
    F2N_d fsgnj.d, 0x3e9f4e7f9ad8533a, 0, 0xbe9f4e7f9ad8533a, 0x41ecb930e667c27e
    F2N_d fsgnj.d, 0xbeee9026047e017e, 0, 0x3eee9026047e017e, 0xc1dc2704e10343f3
    F2N_d fsgnj.d, 0xc1f0dacc5c992d63, 0, 0x41f0dacc5c992d63, 0xbde8141c3517c6b3
    F2N_d fsgnj.d, 0xc17e60eed9e5d1f0, 0, 0x417e60eed9e5d1f0, 0xbf27660082c3a711
    F2N_d fsgnj.d, 0x7fefffffffffffff, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2N_d fsgnj.d, 0x1, 0, 0x1, 0x1
    F2N_d fsgnj.d, 0x10000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    END

    CASE "I-12.5 fsgnjn.d"
    F2N_d fsgnjn.d, 0xbff0000000000001, 0, 0x3ff0000000000001, 0x3ff0000000000001
    F2N_d fsgnjn.d, 0x8000000000000000, 0, 0x8000000000000000, 0x3ff8000000000000
    F2N_d fsgnjn.d, 0xfffffffffffff, 0, 0xfffffffffffff, 0xbff0000000000000
    F2N_d fsgnjn.d, 0xbff0000000000000, 0, 0xbff0000000000000, 0xfffffffffffff
    F2N_d fsgnjn.d, 0xbfe0000000000000, 0, 0x3fe0000000000000, 0x3ff8000000000000
    F2N_d fsgnjn.d, 0x1, 0, 0x1, 0xfff0000000000000
    F2N_d fsgnjn.d, 0xbfe0000000000000, 0, 0x3fe0000000000000, 0x7fefffffffffffff
    F2N_d fsgnjn.d, 0xbff8000000000000, 0, 0x3ff8000000000000, 0x7ff0000000000000
    F2N_d fsgnjn.d, 0xbff8000000000000, 0, 0x3ff8000000000000, 0x4000000000000000
    F2N_d fsgnjn.d, 0xfff0000000000000, 0, 0xfff0000000000000, 0x3ff0000000000001
    F2N_d fsgnjn.d, 0x8000000000000000, 0, 0x0, 0x7fefffffffffffff
    F2N_d fsgnjn.d, 0xbff8000000000000, 0, 0x3ff8000000000000, 0x3fe0000000000000
    F2N_d fsgnjn.d, 0x3f01ef295c52fce4, 0, 0xbf01ef295c52fce4, 0xc0e6411f53466d11
    F2N_d fsgnjn.d, 0xbf73b8ea72374aaf, 0, 0x3f73b8ea72374aaf, 0x3daac5ccfeb15417
    F2N_d fsgnjn.d, 0x3ed2e0dd2a6242b2, 0, 0xbed2e0dd2a6242b2, 0xbea59dc2cb2fb763
    F2N_d fsgnjn.d, 0x3de87bc0720e4776, 0, 0xbde87bc0720e4776, 0xbdb70883c87eeaba
    F2N_d fsgnjn.d, 0xc20739b2038897ab, 0, 0xc20739b2038897ab, 0x3d9a221e99dbcf24
    F2N_d fsgnjn.d, 0xc09f17fc82e8282d, 0, 0x409f17fc82e8282d, 0x3ddc9563ea32a76e
    F2N_d fsgnjn.d, 0xffefffffffffffff, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2N_d fsgnjn.d, 0x8000000000000001, 0, 0x1, 0x1
    F2N_d fsgnjn.d, 0x8010000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    END

    CASE "I-12.5 fsgnjx.d"
    F2N_d fsgnjx.d, 0xfff0000000000000, 0, 0xfff0000000000000, 0x7ff0000000000000
    F2N_d fsgnjx.d, 0x4000000000000000, 0, 0x4000000000000000, 0x3ff0000000000000
    F2N_d fsgnjx.d, 0x0, 0, 0x0, 0x3ff0000000000000
    F2N_d fsgnjx.d, 0x3ff0000000000000, 0, 0x3ff0000000000000, 0x4000000000000000
    F2N_d fsgnjx.d, 0x3fe0000000000000, 0, 0x3fe0000000000000, 0x7fefffffffffffff
    F2N_d fsgnjx.d, 0x7fefffffffffffff, 0, 0x7fefffffffffffff, 0x3ff0000000000000
    F2N_d fsgnjx.d, 0x4000000000000000, 0, 0x4000000000000000, 0x4000000000000000
    F2N_d fsgnjx.d, 0x0, 0, 0x0, 0x0
    F2N_d fsgnjx.d, 0xffefffffffffffff, 0, 0x7fefffffffffffff, 0x8000000000000000
    F2N_d fsgnjx.d, 0xfff0000000000000, 0, 0x7ff0000000000000, 0xfff0000000000000
    F2N_d fsgnjx.d, 0x3ff0000000000001, 0, 0x3ff0000000000001, 0x4000000000000000
    F2N_d fsgnjx.d, 0x8000000000000000, 0, 0x0, 0xbff0000000000000
    F2N_d fsgnjx.d, 0x3f51c40aab47bf80, 0, 0xbf51c40aab47bf80, 0xbfb19c81ed3a520d
    F2N_d fsgnjx.d, 0x3ef94a37ad9f6414, 0, 0xbef94a37ad9f6414, 0xbd70c9b0443db24e
    F2N_d fsgnjx.d, 0xc0df814a1669bcf8, 0, 0xc0df814a1669bcf8, 0x3ff91878e52cbae2
    F2N_d fsgnjx.d, 0xbd86a6e083e27857, 0, 0xbd86a6e083e27857, 0x422d308188635293
    F2N_d fsgnjx.d, 0xbd833e6092b61542, 0, 0x3d833e6092b61542, 0xbedd510ee7fa22bd
    F2N_d fsgnjx.d, 0x3e4ee9c435e7f1be, 0, 0x3e4ee9c435e7f1be, 0x3f9e167695e1921c
    F2N_d fsgnjx.d, 0x7fefffffffffffff, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    F2N_d fsgnjx.d, 0x1, 0, 0x1, 0x1
    F2N_d fsgnjx.d, 0x10000000000000, 0, 0x10000000000000, 0x3fe0000000000000
    END

    CASE "I-12.6 feq.d"
    FX2_d feq.d, 0, 0, 0xfff0000000000000, 0x10000000000000
    FX2_d feq.d, 0, 0, 0xfffffffffffff, 0x3ff0000000000000
    FX2_d feq.d, 0, 16, 0x4000000000000000, 0x7ff0000000000001
    FX2_d feq.d, 0, 0, 0x7fefffffffffffff, 0xbff0000000000000
    FX2_d feq.d, 0, 0, 0x1, 0x10000000000000
    FX2_d feq.d, 0, 0, 0x3ff0000000000000, 0x3fe0000000000000
    FX2_d feq.d, 0, 0, 0x7ff8000000000000, 0x7ff8000000000000
    FX2_d feq.d, 0, 0, 0x4000000000000000, 0x8000000000000000
    FX2_d feq.d, 0, 16, 0x7ff0000000000001, 0x7ff0000000000001
    FX2_d feq.d, 0, 0, 0x3ff0000000000001, 0x1
    FX2_d feq.d, 0, 0, 0x3ff8000000000000, 0xfff0000000000000
    FX2_d feq.d, 0, 0, 0x7ff8000000000000, 0x7ff0000000000000
    FX2_d feq.d, 1, 0, 0x3ff8000000000000, 0x3ff8000000000000
    FX2_d feq.d, 0, 0, 0x7ff8000000000000, 0x7fefffffffffffff
    FX2_d feq.d, 0, 0, 0x4000000000000000, 0x7ff8000000000000
    FX2_d feq.d, 0, 0, 0xfffffffffffff, 0x7ff0000000000000
    FX2_d feq.d, 0, 0, 0x3ff0000000000001, 0x7ff0000000000000
    FX2_d feq.d, 0, 0, 0x4000000000000000, 0x10000000000000
    FX2_d feq.d, 0, 16, 0x7ff0000000000001, 0xfff0000000000000
    FX2_d feq.d, 1, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    FX2_d feq.d, 0, 0, 0x3ff0000000000001, 0x7ff8000000000000
    FX2_d feq.d, 0, 0, 0x10000000000000, 0x3fe0000000000000
    FX2_d feq.d, 0, 0, 0x40682afe5acfce73, 0xc2238f8afd632820
    FX2_d feq.d, 0, 0, 0xbfa80bd4a8d6b996, 0x4176b35305bac5a0
    FX2_d feq.d, 0, 0, 0x4230b29e2f78ca99, 0xbfc1e705469a28e4
    FX2_d feq.d, 0, 0, 0xc277224ab42460b8, 0xc0679f228473e514
    FX2_d feq.d, 0, 0, 0x418600b78ae393e8, 0xbfc66eb44b06d5d9
    FX2_d feq.d, 0, 0, 0xbdb41bd7d18d2789, 0x400ae80abb2a38e3
    FX2_d feq.d, 1, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    FX2_d feq.d, 1, 0, 0x1, 0x1
    FX2_d feq.d, 0, 0, 0x10000000000000, 0x3fe0000000000000
    FX2_d feq.d, 1, 0, 0x0, 0x8000000000000000
    FX2_d feq.d, 1, 0, 0x8000000000000000, 0x0
    END

    CASE "I-12.6 flt.d"
    FX2_d flt.d, 0, 0, 0x8000000000000000, 0x0
    FX2_d flt.d, 1, 0, 0xbff0000000000000, 0xfffffffffffff
    FX2_d flt.d, 0, 16, 0x7ff8000000000000, 0xfffffffffffff
    FX2_d flt.d, 0, 0, 0x1, 0x1
    FX2_d flt.d, 1, 0, 0xfffffffffffff, 0x10000000000000
    FX2_d flt.d, 0, 16, 0x7ff0000000000001, 0x8000000000000000
    FX2_d flt.d, 0, 0, 0x3ff8000000000000, 0x0
    FX2_d flt.d, 0, 0, 0x8000000000000000, 0xbff0000000000000
    FX2_d flt.d, 1, 0, 0xbff0000000000000, 0x3fe0000000000000
    FX2_d flt.d, 0, 0, 0x3fe0000000000000, 0x10000000000000
    FX2_d flt.d, 0, 16, 0x7fefffffffffffff, 0x7ff0000000000001
    FX2_d flt.d, 1, 0, 0x3fe0000000000000, 0x3ff0000000000001
    FX2_d flt.d, 0, 0, 0x4000000000000000, 0x3ff0000000000001
    FX2_d flt.d, 0, 16, 0x7ff8000000000000, 0x10000000000000
    FX2_d flt.d, 0, 0, 0x3ff8000000000000, 0x3ff8000000000000
    FX2_d flt.d, 1, 0, 0xfffffffffffff, 0x3ff0000000000001
    FX2_d flt.d, 0, 16, 0x7ff0000000000001, 0x7fefffffffffffff
    FX2_d flt.d, 0, 0, 0x7ff0000000000000, 0xbff0000000000000
    FX2_d flt.d, 1, 0, 0x1, 0x3fe0000000000000
    FX2_d flt.d, 0, 16, 0x7ff0000000000001, 0x3ff8000000000000
    FX2_d flt.d, 1, 0, 0x0, 0x3ff0000000000001
    FX2_d flt.d, 0, 0, 0x4000000000000000, 0x0
    FX2_d flt.d, 1, 0, 0xbdc8bb807f3cb282, 0x3f02c4928aa4a760
    FX2_d flt.d, 1, 0, 0x3ed2facfb19fc492, 0x417b3bf422db7cef
    FX2_d flt.d, 0, 0, 0xbec8270ca89dc705, 0xbff8cf764a58696a
    FX2_d flt.d, 0, 0, 0xbe87bbecb76eada8, 0xc25227f41c7c106c
    FX2_d flt.d, 1, 0, 0x3feadba84d0f2111, 0x41c9de03f93a0f26
    FX2_d flt.d, 1, 0, 0xc2038e15d55ef642, 0xc0fd484bbe342ce0
    FX2_d flt.d, 0, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    FX2_d flt.d, 0, 0, 0x1, 0x1
    FX2_d flt.d, 1, 0, 0x10000000000000, 0x3fe0000000000000
    FX2_d flt.d, 0, 0, 0x0, 0x8000000000000000
    FX2_d flt.d, 0, 0, 0x8000000000000000, 0x0
    END

    CASE "I-12.6 fle.d"
    FX2_d fle.d, 0, 0, 0x4000000000000000, 0x10000000000000
    FX2_d fle.d, 0, 16, 0x7ff0000000000001, 0x10000000000000
    FX2_d fle.d, 0, 0, 0x3fe0000000000000, 0xfffffffffffff
    FX2_d fle.d, 1, 0, 0xfffffffffffff, 0x3ff0000000000000
    FX2_d fle.d, 1, 0, 0x1, 0x7ff0000000000000
    FX2_d fle.d, 1, 0, 0xfffffffffffff, 0x7fefffffffffffff
    FX2_d fle.d, 0, 16, 0x7ff8000000000000, 0x10000000000000
    FX2_d fle.d, 1, 0, 0x8000000000000000, 0x3ff8000000000000
    FX2_d fle.d, 0, 16, 0x1, 0x7ff0000000000001
    FX2_d fle.d, 0, 16, 0x3fe0000000000000, 0x7ff8000000000000
    FX2_d fle.d, 0, 16, 0x7ff8000000000000, 0x1
    FX2_d fle.d, 0, 0, 0x0, 0xbff0000000000000
    FX2_d fle.d, 0, 0, 0x7ff0000000000000, 0x3ff0000000000000
    FX2_d fle.d, 1, 0, 0x3ff0000000000000, 0x7fefffffffffffff
    FX2_d fle.d, 0, 0, 0xfffffffffffff, 0x1
    FX2_d fle.d, 0, 0, 0x7ff0000000000000, 0x3fe0000000000000
    FX2_d fle.d, 0, 0, 0x3ff0000000000001, 0x1
    FX2_d fle.d, 0, 16, 0xfffffffffffff, 0x7ff8000000000000
    FX2_d fle.d, 0, 16, 0x4000000000000000, 0x7ff0000000000001
    FX2_d fle.d, 1, 0, 0x3fe0000000000000, 0x7fefffffffffffff
    FX2_d fle.d, 0, 0, 0x4000000000000000, 0x3ff0000000000001
    FX2_d fle.d, 0, 0, 0x4000000000000000, 0x3ff8000000000000
    FX2_d fle.d, 0, 0, 0x41505e80c7c3ce0f, 0xbf359c833581dae2
    FX2_d fle.d, 1, 0, 0x3ff63621c1c54e81, 0x41b3949464781eb6
    FX2_d fle.d, 0, 0, 0x40c9e649129b97b1, 0xc1870d16bf81318c
    FX2_d fle.d, 0, 0, 0xc0ec4c2895ba6c88, 0xc132d9c346464330
    FX2_d fle.d, 1, 0, 0xc0be42cee7d9ccb8, 0xc0ba931b360a6d44
    FX2_d fle.d, 0, 0, 0x41e761b23738a53d, 0xc203ebf9e7057570
    FX2_d fle.d, 1, 0, 0x7fefffffffffffff, 0x7fefffffffffffff
    FX2_d fle.d, 1, 0, 0x1, 0x1
    FX2_d fle.d, 1, 0, 0x10000000000000, 0x3fe0000000000000
    FX2_d fle.d, 1, 0, 0x0, 0x8000000000000000
    FX2_d fle.d, 1, 0, 0x8000000000000000, 0x0
    END

    CASE "I-12.7 fclass.d"
    FX1_d fclass.d, 0x10, 0, 0x0
    FX1_d fclass.d, 0x8, 0, 0x8000000000000000
    FX1_d fclass.d, 0x40, 0, 0x3ff0000000000000
    FX1_d fclass.d, 0x2, 0, 0xbff0000000000000
    FX1_d fclass.d, 0x80, 0, 0x7ff0000000000000
    FX1_d fclass.d, 0x1, 0, 0xfff0000000000000
    FX1_d fclass.d, 0x200, 0, 0x7ff8000000000000
    FX1_d fclass.d, 0x100, 0, 0x7ff0000000000001
    FX1_d fclass.d, 0x20, 0, 0x1
    FX1_d fclass.d, 0x20, 0, 0xfffffffffffff
    FX1_d fclass.d, 0x40, 0, 0x10000000000000
    FX1_d fclass.d, 0x40, 0, 0x7fefffffffffffff
    FX1_d fclass.d, 0x40, 0, 0x3ff0000000000001
    FX1_d fclass.d, 0x40, 0, 0x3ff8000000000000
    FX1_d fclass.d, 0x40, 0, 0x4000000000000000
    FX1_d fclass.d, 0x40, 0, 0x3fe0000000000000
    FX1_d fclass.d, 0x8, 0, 0x8000000000000000
    FX1_d fclass.d, 0x8, 0, 0x8000000000000000
    FX1_d fclass.d, 0x2, 0, 0xbff0000000000000
    FX1_d fclass.d, 0x2, 0, 0xbff0000000000000
    FX1_d fclass.d, 0x1, 0, 0xfff0000000000000
    FX1_d fclass.d, 0x1, 0, 0xfff0000000000000
    FX1_d fclass.d, 0x200, 0, 0xfff8000000000000
    FX1_d fclass.d, 0x100, 0, 0xfff0000000000001
    FX1_d fclass.d, 0x4, 0, 0x8000000000000001
    FX1_d fclass.d, 0x4, 0, 0x800fffffffffffff
    FX1_d fclass.d, 0x2, 0, 0x8010000000000000
    FX1_d fclass.d, 0x2, 0, 0xffefffffffffffff
    FX1_d fclass.d, 0x2, 0, 0xbff0000000000001
    FX1_d fclass.d, 0x2, 0, 0xbff8000000000000
    FX1_d fclass.d, 0x2, 0, 0xc000000000000000
    FX1_d fclass.d, 0x2, 0, 0xbfe0000000000000
    END

    CASE "I-12.5 fcvt.w.d"
    FXR_d fcvt.w.d, rne, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.w.d, rtz, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.w.d, rdn, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.w.d, rup, 0x1, 1, 0x3fe0000000000000
    FXR_d fcvt.w.d, rmm, 0x1, 1, 0x3fe0000000000000
    FXR_d fcvt.w.d, rne, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.w.d, rtz, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.w.d, rdn, 0xffffffffffffffff, 1, 0xbfe0000000000000
    FXR_d fcvt.w.d, rup, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.w.d, rmm, 0xffffffffffffffff, 1, 0xbfe0000000000000
    FXR_d fcvt.w.d, rne, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.w.d, rtz, 0x1, 1, 0x3ff8000000000000
    FXR_d fcvt.w.d, rdn, 0x1, 1, 0x3ff8000000000000
    FXR_d fcvt.w.d, rup, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.w.d, rmm, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.w.d, rne, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.w.d, rtz, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.w.d, rdn, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.w.d, rup, 0x3, 1, 0x4004000000000000
    FXR_d fcvt.w.d, rmm, 0x3, 1, 0x4004000000000000
    FXR_d fcvt.w.d, rne, 0xfffffffffffffffe, 1, 0xbff8000000000000
    FXR_d fcvt.w.d, rtz, 0xffffffffffffffff, 1, 0xbff8000000000000
    FXR_d fcvt.w.d, rdn, 0xfffffffffffffffe, 1, 0xbff8000000000000
    FXR_d fcvt.w.d, rup, 0xffffffffffffffff, 1, 0xbff8000000000000
    FXR_d fcvt.w.d, rmm, 0xfffffffffffffffe, 1, 0xbff8000000000000
    FXR_d fcvt.w.d, rne, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.w.d, rtz, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.w.d, rdn, 0xffffffffffffffff, 1, 0xbfb999999999999a
    FXR_d fcvt.w.d, rup, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.w.d, rmm, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.w.d, rtz, 0x7fffffff, 16, 0x41e0000000000000
    FXR_d fcvt.w.d, rdn, 0xffffffff80000000, 0, 0xc1e0000000000000
    FXR_d fcvt.w.d, rup, 0x7fffffff, 0, 0x41dfffffffc00000
    FXR_d fcvt.w.d, rmm, 0x7fffffff, 16, 0x41f0000000000000
    FXR_d fcvt.w.d, rne, 0x7fffffff, 16, 0x41efffffffe00000
    FXR_d fcvt.w.d, rtz, 0x7fffffff, 16, 0x43e0000000000000
    FXR_d fcvt.w.d, rdn, 0xffffffff80000000, 16, 0xc3e0000000000000
    FXR_d fcvt.w.d, rup, 0x7fffffff, 16, 0x43f0000000000000
    FXR_d fcvt.w.d, rne, 0x7fffffff, 16, 0x41dfffffffe00000
    FXR_d fcvt.w.d, rtz, 0x7fffffff, 1, 0x41dfffffffe00000
    FXR_d fcvt.w.d, rdn, 0x7fffffff, 1, 0x41dfffffffe00000
    FXR_d fcvt.w.d, rup, 0x7fffffff, 16, 0x41dfffffffe00000
    FXR_d fcvt.w.d, rmm, 0x7fffffff, 16, 0x41dfffffffe00000
    FXR_d fcvt.w.d, rne, 0xffffffff80000000, 1, 0xc1e0000000100000
    FXR_d fcvt.w.d, rtz, 0xffffffff80000000, 1, 0xc1e0000000100000
    FXR_d fcvt.w.d, rdn, 0xffffffff80000000, 16, 0xc1e0000000100000
    FXR_d fcvt.w.d, rup, 0xffffffff80000000, 1, 0xc1e0000000100000
    FXR_d fcvt.w.d, rmm, 0xffffffff80000000, 16, 0xc1e0000000100000
    FXR_d fcvt.w.d, rtz, 0xbc614e, 0, 0x41678c29c0000000
    FXR_d fcvt.w.d, rdn, 0xffffffffffffffff, 0, 0xbff0000000000000
    FXR_d fcvt.w.d, rup, 0x7fffffff, 16, 0x46293e5939a08cea
    FXR_d fcvt.w.d, rmm, 0x7fffffff, 16, 0x7ff8000000000000
    FXR_d fcvt.w.d, rne, 0x7fffffff, 16, 0x7ff0000000000000
    FXR_d fcvt.w.d, rtz, 0xffffffff80000000, 16, 0xfff0000000000000
    FXR_d fcvt.w.d, rdn, 0x7fffffff, 16, 0xfff8000000000000
    FXR_d fcvt.w.d, rup, 0x0, 0, 0x8000000000000000
    END

    CASE "I-12.5 fcvt.d.w"
    XFN_d fcvt.d.w, 0x0, 0, 0x0
    XFN_d fcvt.d.w, 0x3ff0000000000000, 0, 0x1
    XFN_d fcvt.d.w, 0xbff0000000000000, 0, 0xffffffffffffffff
    XFN_d fcvt.d.w, 0x0, 0, 0x8000000000000000
    XFN_d fcvt.d.w, 0xbff0000000000000, 0, 0x7fffffffffffffff
    XFN_d fcvt.d.w, 0x41dfffffffc00000, 0, 0x7fffffff
    XFN_d fcvt.d.w, 0xc1e0000000000000, 0, 0x80000000
    XFN_d fcvt.d.w, 0xbff0000000000000, 0, 0xffffffff
    XFN_d fcvt.d.w, 0xc1d950c843c00000, 0, 0x123456789abcdef1
    XFN_d fcvt.d.w, 0x4170000010000000, 0, 0x1000001
    XFN_d fcvt.d.w, 0x0, 0, 0x8000008000000000
    XFN_d fcvt.d.w, 0x3ff0000000000000, 0, 0x20000000000001
    XFN_d fcvt.d.w, 0xc090040000000000, 0, 0xfffffffffffffbff
    END

    CASE "I-12.5 fcvt.wu.d"
    FXR_d fcvt.wu.d, rne, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.wu.d, rtz, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.wu.d, rdn, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.wu.d, rup, 0x1, 1, 0x3fe0000000000000
    FXR_d fcvt.wu.d, rmm, 0x1, 1, 0x3fe0000000000000
    FXR_d fcvt.wu.d, rne, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.wu.d, rtz, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.wu.d, rdn, 0x0, 16, 0xbfe0000000000000
    FXR_d fcvt.wu.d, rup, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.wu.d, rmm, 0x0, 16, 0xbfe0000000000000
    FXR_d fcvt.wu.d, rne, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.wu.d, rtz, 0x1, 1, 0x3ff8000000000000
    FXR_d fcvt.wu.d, rdn, 0x1, 1, 0x3ff8000000000000
    FXR_d fcvt.wu.d, rup, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.wu.d, rmm, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.wu.d, rne, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.wu.d, rtz, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.wu.d, rdn, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.wu.d, rup, 0x3, 1, 0x4004000000000000
    FXR_d fcvt.wu.d, rmm, 0x3, 1, 0x4004000000000000
    FXR_d fcvt.wu.d, rne, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.wu.d, rtz, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.wu.d, rdn, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.wu.d, rup, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.wu.d, rmm, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.wu.d, rne, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.wu.d, rtz, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.wu.d, rdn, 0x0, 16, 0xbfb999999999999a
    FXR_d fcvt.wu.d, rup, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.wu.d, rmm, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.wu.d, rtz, 0xffffffff80000000, 0, 0x41e0000000000000
    FXR_d fcvt.wu.d, rdn, 0x0, 16, 0xc1e0000000000000
    FXR_d fcvt.wu.d, rup, 0x7fffffff, 0, 0x41dfffffffc00000
    FXR_d fcvt.wu.d, rmm, 0xffffffffffffffff, 16, 0x41f0000000000000
    FXR_d fcvt.wu.d, rne, 0xffffffffffffffff, 0, 0x41efffffffe00000
    FXR_d fcvt.wu.d, rtz, 0xffffffffffffffff, 16, 0x43e0000000000000
    FXR_d fcvt.wu.d, rdn, 0x0, 16, 0xc3e0000000000000
    FXR_d fcvt.wu.d, rup, 0xffffffffffffffff, 16, 0x43f0000000000000
    FXR_d fcvt.wu.d, rne, 0xffffffff80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.wu.d, rtz, 0x7fffffff, 1, 0x41dfffffffe00000
    FXR_d fcvt.wu.d, rdn, 0x7fffffff, 1, 0x41dfffffffe00000
    FXR_d fcvt.wu.d, rup, 0xffffffff80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.wu.d, rmm, 0xffffffff80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.wu.d, rne, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.wu.d, rtz, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.wu.d, rdn, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.wu.d, rup, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.wu.d, rmm, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.wu.d, rtz, 0xbc614e, 0, 0x41678c29c0000000
    FXR_d fcvt.wu.d, rdn, 0x0, 16, 0xbff0000000000000
    FXR_d fcvt.wu.d, rup, 0xffffffffffffffff, 16, 0x46293e5939a08cea
    FXR_d fcvt.wu.d, rmm, 0xffffffffffffffff, 16, 0x7ff8000000000000
    FXR_d fcvt.wu.d, rne, 0xffffffffffffffff, 16, 0x7ff0000000000000
    FXR_d fcvt.wu.d, rtz, 0x0, 16, 0xfff0000000000000
    FXR_d fcvt.wu.d, rdn, 0xffffffffffffffff, 16, 0xfff8000000000000
    FXR_d fcvt.wu.d, rup, 0x0, 0, 0x8000000000000000
    END

    CASE "I-12.5 fcvt.d.wu"
    XFN_d fcvt.d.wu, 0x0, 0, 0x0
    XFN_d fcvt.d.wu, 0x3ff0000000000000, 0, 0x1
    XFN_d fcvt.d.wu, 0x41efffffffe00000, 0, 0xffffffffffffffff
    XFN_d fcvt.d.wu, 0x0, 0, 0x8000000000000000
    XFN_d fcvt.d.wu, 0x41efffffffe00000, 0, 0x7fffffffffffffff
    XFN_d fcvt.d.wu, 0x41dfffffffc00000, 0, 0x7fffffff
    XFN_d fcvt.d.wu, 0x41e0000000000000, 0, 0x80000000
    XFN_d fcvt.d.wu, 0x41efffffffe00000, 0, 0xffffffff
    XFN_d fcvt.d.wu, 0x41e3579bde200000, 0, 0x123456789abcdef1
    XFN_d fcvt.d.wu, 0x4170000010000000, 0, 0x1000001
    XFN_d fcvt.d.wu, 0x0, 0, 0x8000008000000000
    XFN_d fcvt.d.wu, 0x3ff0000000000000, 0, 0x20000000000001
    XFN_d fcvt.d.wu, 0x41efffff7fe00000, 0, 0xfffffffffffffbff
    END

    CASE "I-12.5 fcvt.l.d"
    FXR_d fcvt.l.d, rne, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.l.d, rtz, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.l.d, rdn, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.l.d, rup, 0x1, 1, 0x3fe0000000000000
    FXR_d fcvt.l.d, rmm, 0x1, 1, 0x3fe0000000000000
    FXR_d fcvt.l.d, rne, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.l.d, rtz, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.l.d, rdn, 0xffffffffffffffff, 1, 0xbfe0000000000000
    FXR_d fcvt.l.d, rup, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.l.d, rmm, 0xffffffffffffffff, 1, 0xbfe0000000000000
    FXR_d fcvt.l.d, rne, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.l.d, rtz, 0x1, 1, 0x3ff8000000000000
    FXR_d fcvt.l.d, rdn, 0x1, 1, 0x3ff8000000000000
    FXR_d fcvt.l.d, rup, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.l.d, rmm, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.l.d, rne, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.l.d, rtz, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.l.d, rdn, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.l.d, rup, 0x3, 1, 0x4004000000000000
    FXR_d fcvt.l.d, rmm, 0x3, 1, 0x4004000000000000
    FXR_d fcvt.l.d, rne, 0xfffffffffffffffe, 1, 0xbff8000000000000
    FXR_d fcvt.l.d, rtz, 0xffffffffffffffff, 1, 0xbff8000000000000
    FXR_d fcvt.l.d, rdn, 0xfffffffffffffffe, 1, 0xbff8000000000000
    FXR_d fcvt.l.d, rup, 0xffffffffffffffff, 1, 0xbff8000000000000
    FXR_d fcvt.l.d, rmm, 0xfffffffffffffffe, 1, 0xbff8000000000000
    FXR_d fcvt.l.d, rne, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.l.d, rtz, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.l.d, rdn, 0xffffffffffffffff, 1, 0xbfb999999999999a
    FXR_d fcvt.l.d, rup, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.l.d, rmm, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.l.d, rtz, 0x80000000, 0, 0x41e0000000000000
    FXR_d fcvt.l.d, rdn, 0xffffffff80000000, 0, 0xc1e0000000000000
    FXR_d fcvt.l.d, rup, 0x7fffffff, 0, 0x41dfffffffc00000
    FXR_d fcvt.l.d, rmm, 0x100000000, 0, 0x41f0000000000000
    FXR_d fcvt.l.d, rne, 0xffffffff, 0, 0x41efffffffe00000
    FXR_d fcvt.l.d, rtz, 0x7fffffffffffffff, 16, 0x43e0000000000000
    FXR_d fcvt.l.d, rdn, 0x8000000000000000, 0, 0xc3e0000000000000
    FXR_d fcvt.l.d, rup, 0x7fffffffffffffff, 16, 0x43f0000000000000
    FXR_d fcvt.l.d, rne, 0x80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.l.d, rtz, 0x7fffffff, 1, 0x41dfffffffe00000
    FXR_d fcvt.l.d, rdn, 0x7fffffff, 1, 0x41dfffffffe00000
    FXR_d fcvt.l.d, rup, 0x80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.l.d, rmm, 0x80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.l.d, rne, 0xffffffff80000000, 1, 0xc1e0000000100000
    FXR_d fcvt.l.d, rtz, 0xffffffff80000000, 1, 0xc1e0000000100000
    FXR_d fcvt.l.d, rdn, 0xffffffff7fffffff, 1, 0xc1e0000000100000
    FXR_d fcvt.l.d, rup, 0xffffffff80000000, 1, 0xc1e0000000100000
    FXR_d fcvt.l.d, rmm, 0xffffffff7fffffff, 1, 0xc1e0000000100000
    FXR_d fcvt.l.d, rtz, 0xbc614e, 0, 0x41678c29c0000000
    FXR_d fcvt.l.d, rdn, 0xffffffffffffffff, 0, 0xbff0000000000000
    FXR_d fcvt.l.d, rup, 0x7fffffffffffffff, 16, 0x46293e5939a08cea
    FXR_d fcvt.l.d, rmm, 0x7fffffffffffffff, 16, 0x7ff8000000000000
    FXR_d fcvt.l.d, rne, 0x7fffffffffffffff, 16, 0x7ff0000000000000
    FXR_d fcvt.l.d, rtz, 0x8000000000000000, 16, 0xfff0000000000000
    FXR_d fcvt.l.d, rdn, 0x7fffffffffffffff, 16, 0xfff8000000000000
    FXR_d fcvt.l.d, rup, 0x0, 0, 0x8000000000000000
    END

    CASE "I-12.5 fcvt.d.l"
    XFR_d fcvt.d.l, rne, 0x0, 0, 0x0
    XFR_d fcvt.d.l, rtz, 0x0, 0, 0x0
    XFR_d fcvt.d.l, rdn, 0x0, 0, 0x0
    XFR_d fcvt.d.l, rup, 0x0, 0, 0x0
    XFR_d fcvt.d.l, rmm, 0x0, 0, 0x0
    XFR_d fcvt.d.l, rne, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.l, rtz, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.l, rdn, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.l, rup, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.l, rmm, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.l, rne, 0xbff0000000000000, 0, 0xffffffffffffffff
    XFR_d fcvt.d.l, rtz, 0xbff0000000000000, 0, 0xffffffffffffffff
    XFR_d fcvt.d.l, rdn, 0xbff0000000000000, 0, 0xffffffffffffffff
    XFR_d fcvt.d.l, rup, 0xbff0000000000000, 0, 0xffffffffffffffff
    XFR_d fcvt.d.l, rmm, 0xbff0000000000000, 0, 0xffffffffffffffff
    XFR_d fcvt.d.l, rne, 0xc3e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.l, rtz, 0xc3e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.l, rdn, 0xc3e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.l, rup, 0xc3e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.l, rmm, 0xc3e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.l, rne, 0x43e0000000000000, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.l, rtz, 0x43dfffffffffffff, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.l, rdn, 0x43dfffffffffffff, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.l, rup, 0x43e0000000000000, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.l, rmm, 0x43e0000000000000, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.l, rne, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.l, rtz, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.l, rdn, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.l, rup, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.l, rmm, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.l, rne, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.l, rtz, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.l, rdn, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.l, rup, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.l, rmm, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.l, rne, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.l, rtz, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.l, rdn, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.l, rup, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.l, rmm, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.l, rne, 0x43b23456789abcdf, 1, 0x123456789abcdef1
    XFR_d fcvt.d.l, rtz, 0x43b23456789abcde, 1, 0x123456789abcdef1
    XFR_d fcvt.d.l, rdn, 0x43b23456789abcde, 1, 0x123456789abcdef1
    XFR_d fcvt.d.l, rup, 0x43b23456789abcdf, 1, 0x123456789abcdef1
    XFR_d fcvt.d.l, rmm, 0x43b23456789abcdf, 1, 0x123456789abcdef1
    XFR_d fcvt.d.l, rne, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.l, rtz, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.l, rdn, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.l, rup, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.l, rmm, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.l, rne, 0xc3dfffffe0000000, 0, 0x8000008000000000
    XFR_d fcvt.d.l, rtz, 0xc3dfffffe0000000, 0, 0x8000008000000000
    XFR_d fcvt.d.l, rdn, 0xc3dfffffe0000000, 0, 0x8000008000000000
    XFR_d fcvt.d.l, rup, 0xc3dfffffe0000000, 0, 0x8000008000000000
    XFR_d fcvt.d.l, rmm, 0xc3dfffffe0000000, 0, 0x8000008000000000
    XFR_d fcvt.d.l, rne, 0x4340000000000000, 1, 0x20000000000001
    XFR_d fcvt.d.l, rtz, 0x4340000000000000, 1, 0x20000000000001
    XFR_d fcvt.d.l, rdn, 0x4340000000000000, 1, 0x20000000000001
    XFR_d fcvt.d.l, rup, 0x4340000000000001, 1, 0x20000000000001
    XFR_d fcvt.d.l, rmm, 0x4340000000000001, 1, 0x20000000000001
    XFR_d fcvt.d.l, rne, 0xc090040000000000, 0, 0xfffffffffffffbff
    XFR_d fcvt.d.l, rtz, 0xc090040000000000, 0, 0xfffffffffffffbff
    XFR_d fcvt.d.l, rdn, 0xc090040000000000, 0, 0xfffffffffffffbff
    XFR_d fcvt.d.l, rup, 0xc090040000000000, 0, 0xfffffffffffffbff
    XFR_d fcvt.d.l, rmm, 0xc090040000000000, 0, 0xfffffffffffffbff
    END

    CASE "I-12.5 fcvt.lu.d"
    FXR_d fcvt.lu.d, rne, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.lu.d, rtz, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.lu.d, rdn, 0x0, 1, 0x3fe0000000000000
    FXR_d fcvt.lu.d, rup, 0x1, 1, 0x3fe0000000000000
    FXR_d fcvt.lu.d, rmm, 0x1, 1, 0x3fe0000000000000
    FXR_d fcvt.lu.d, rne, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.lu.d, rtz, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.lu.d, rdn, 0x0, 16, 0xbfe0000000000000
    FXR_d fcvt.lu.d, rup, 0x0, 1, 0xbfe0000000000000
    FXR_d fcvt.lu.d, rmm, 0x0, 16, 0xbfe0000000000000
    FXR_d fcvt.lu.d, rne, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.lu.d, rtz, 0x1, 1, 0x3ff8000000000000
    FXR_d fcvt.lu.d, rdn, 0x1, 1, 0x3ff8000000000000
    FXR_d fcvt.lu.d, rup, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.lu.d, rmm, 0x2, 1, 0x3ff8000000000000
    FXR_d fcvt.lu.d, rne, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.lu.d, rtz, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.lu.d, rdn, 0x2, 1, 0x4004000000000000
    FXR_d fcvt.lu.d, rup, 0x3, 1, 0x4004000000000000
    FXR_d fcvt.lu.d, rmm, 0x3, 1, 0x4004000000000000
    FXR_d fcvt.lu.d, rne, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.lu.d, rtz, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.lu.d, rdn, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.lu.d, rup, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.lu.d, rmm, 0x0, 16, 0xbff8000000000000
    FXR_d fcvt.lu.d, rne, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.lu.d, rtz, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.lu.d, rdn, 0x0, 16, 0xbfb999999999999a
    FXR_d fcvt.lu.d, rup, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.lu.d, rmm, 0x0, 1, 0xbfb999999999999a
    FXR_d fcvt.lu.d, rtz, 0x80000000, 0, 0x41e0000000000000
    FXR_d fcvt.lu.d, rdn, 0x0, 16, 0xc1e0000000000000
    FXR_d fcvt.lu.d, rup, 0x7fffffff, 0, 0x41dfffffffc00000
    FXR_d fcvt.lu.d, rmm, 0x100000000, 0, 0x41f0000000000000
    FXR_d fcvt.lu.d, rne, 0xffffffff, 0, 0x41efffffffe00000
    FXR_d fcvt.lu.d, rtz, 0x8000000000000000, 0, 0x43e0000000000000
    FXR_d fcvt.lu.d, rdn, 0x0, 16, 0xc3e0000000000000
    FXR_d fcvt.lu.d, rup, 0xffffffffffffffff, 16, 0x43f0000000000000
    FXR_d fcvt.lu.d, rne, 0x80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.lu.d, rtz, 0x7fffffff, 1, 0x41dfffffffe00000
    FXR_d fcvt.lu.d, rdn, 0x7fffffff, 1, 0x41dfffffffe00000
    FXR_d fcvt.lu.d, rup, 0x80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.lu.d, rmm, 0x80000000, 1, 0x41dfffffffe00000
    FXR_d fcvt.lu.d, rne, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.lu.d, rtz, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.lu.d, rdn, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.lu.d, rup, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.lu.d, rmm, 0x0, 16, 0xc1e0000000100000
    FXR_d fcvt.lu.d, rtz, 0xbc614e, 0, 0x41678c29c0000000
    FXR_d fcvt.lu.d, rdn, 0x0, 16, 0xbff0000000000000
    FXR_d fcvt.lu.d, rup, 0xffffffffffffffff, 16, 0x46293e5939a08cea
    FXR_d fcvt.lu.d, rmm, 0xffffffffffffffff, 16, 0x7ff8000000000000
    FXR_d fcvt.lu.d, rne, 0xffffffffffffffff, 16, 0x7ff0000000000000
    FXR_d fcvt.lu.d, rtz, 0x0, 16, 0xfff0000000000000
    FXR_d fcvt.lu.d, rdn, 0xffffffffffffffff, 16, 0xfff8000000000000
    FXR_d fcvt.lu.d, rup, 0x0, 0, 0x8000000000000000
    END

    CASE "I-12.5 fcvt.d.lu"
    XFR_d fcvt.d.lu, rne, 0x0, 0, 0x0
    XFR_d fcvt.d.lu, rtz, 0x0, 0, 0x0
    XFR_d fcvt.d.lu, rdn, 0x0, 0, 0x0
    XFR_d fcvt.d.lu, rup, 0x0, 0, 0x0
    XFR_d fcvt.d.lu, rmm, 0x0, 0, 0x0
    XFR_d fcvt.d.lu, rne, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.lu, rtz, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.lu, rdn, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.lu, rup, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.lu, rmm, 0x3ff0000000000000, 0, 0x1
    XFR_d fcvt.d.lu, rne, 0x43f0000000000000, 1, 0xffffffffffffffff
    XFR_d fcvt.d.lu, rtz, 0x43efffffffffffff, 1, 0xffffffffffffffff
    XFR_d fcvt.d.lu, rdn, 0x43efffffffffffff, 1, 0xffffffffffffffff
    XFR_d fcvt.d.lu, rup, 0x43f0000000000000, 1, 0xffffffffffffffff
    XFR_d fcvt.d.lu, rmm, 0x43f0000000000000, 1, 0xffffffffffffffff
    XFR_d fcvt.d.lu, rne, 0x43e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.lu, rtz, 0x43e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.lu, rdn, 0x43e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.lu, rup, 0x43e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.lu, rmm, 0x43e0000000000000, 0, 0x8000000000000000
    XFR_d fcvt.d.lu, rne, 0x43e0000000000000, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.lu, rtz, 0x43dfffffffffffff, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.lu, rdn, 0x43dfffffffffffff, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.lu, rup, 0x43e0000000000000, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.lu, rmm, 0x43e0000000000000, 1, 0x7fffffffffffffff
    XFR_d fcvt.d.lu, rne, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.lu, rtz, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.lu, rdn, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.lu, rup, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.lu, rmm, 0x41dfffffffc00000, 0, 0x7fffffff
    XFR_d fcvt.d.lu, rne, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.lu, rtz, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.lu, rdn, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.lu, rup, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.lu, rmm, 0x41e0000000000000, 0, 0x80000000
    XFR_d fcvt.d.lu, rne, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.lu, rtz, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.lu, rdn, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.lu, rup, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.lu, rmm, 0x41efffffffe00000, 0, 0xffffffff
    XFR_d fcvt.d.lu, rne, 0x43b23456789abcdf, 1, 0x123456789abcdef1
    XFR_d fcvt.d.lu, rtz, 0x43b23456789abcde, 1, 0x123456789abcdef1
    XFR_d fcvt.d.lu, rdn, 0x43b23456789abcde, 1, 0x123456789abcdef1
    XFR_d fcvt.d.lu, rup, 0x43b23456789abcdf, 1, 0x123456789abcdef1
    XFR_d fcvt.d.lu, rmm, 0x43b23456789abcdf, 1, 0x123456789abcdef1
    XFR_d fcvt.d.lu, rne, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.lu, rtz, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.lu, rdn, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.lu, rup, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.lu, rmm, 0x4170000010000000, 0, 0x1000001
    XFR_d fcvt.d.lu, rne, 0x43e0000010000000, 0, 0x8000008000000000
    XFR_d fcvt.d.lu, rtz, 0x43e0000010000000, 0, 0x8000008000000000
    XFR_d fcvt.d.lu, rdn, 0x43e0000010000000, 0, 0x8000008000000000
    XFR_d fcvt.d.lu, rup, 0x43e0000010000000, 0, 0x8000008000000000
    XFR_d fcvt.d.lu, rmm, 0x43e0000010000000, 0, 0x8000008000000000
    XFR_d fcvt.d.lu, rne, 0x4340000000000000, 1, 0x20000000000001
    XFR_d fcvt.d.lu, rtz, 0x4340000000000000, 1, 0x20000000000001
    XFR_d fcvt.d.lu, rdn, 0x4340000000000000, 1, 0x20000000000001
    XFR_d fcvt.d.lu, rup, 0x4340000000000001, 1, 0x20000000000001
    XFR_d fcvt.d.lu, rmm, 0x4340000000000001, 1, 0x20000000000001
    XFR_d fcvt.d.lu, rne, 0x43efffffffffffff, 1, 0xfffffffffffffbff
    XFR_d fcvt.d.lu, rtz, 0x43efffffffffffff, 1, 0xfffffffffffffbff
    XFR_d fcvt.d.lu, rdn, 0x43efffffffffffff, 1, 0xfffffffffffffbff
    XFR_d fcvt.d.lu, rup, 0x43f0000000000000, 1, 0xfffffffffffffbff
    XFR_d fcvt.d.lu, rmm, 0x43efffffffffffff, 1, 0xfffffffffffffbff
    END

    CASE "I-12.5 fcvt.s.d"
    CSD fcvt.s.d, rne, 0x0, 0, 0x0
    CSD fcvt.s.d, rtz, 0x80000000, 0, 0x8000000000000000
    CSD fcvt.s.d, rdn, 0x3f800000, 0, 0x3ff0000000000000
    CSD fcvt.s.d, rup, 0xbf800000, 0, 0xbff0000000000000
    CSD fcvt.s.d, rmm, 0x7f800000, 0, 0x7ff0000000000000
    CSD fcvt.s.d, rne, 0xff800000, 0, 0xfff0000000000000
    CSD fcvt.s.d, rtz, 0x7fc00000, 0, 0x7ff8000000000000
    CSD fcvt.s.d, rdn, 0x7fc00000, 16, 0x7ff0000000000001
    CSD fcvt.s.d, rup, 0x1, 3, 0x1
    CSD fcvt.s.d, rmm, 0x0, 3, 0xfffffffffffff
    CSD fcvt.s.d, rne, 0x0, 3, 0x10000000000000
    CSD fcvt.s.d, rtz, 0x7f7fffff, 5, 0x7fefffffffffffff
    CSD fcvt.s.d, rdn, 0x3f800000, 1, 0x3ff0000000000001
    CSD fcvt.s.d, rup, 0x3fc00000, 0, 0x3ff8000000000000
    CSD fcvt.s.d, rmm, 0x40000000, 0, 0x4000000000000000
    CSD fcvt.s.d, rne, 0x3f000000, 0, 0x3fe0000000000000
    CSD fcvt.s.d, rne, 0x800000, 1, 0x380fffffffffffff
    CSD fcvt.s.d, rtz, 0x7fffff, 3, 0x380fffffffffffff
    CSD fcvt.s.d, rdn, 0x7fffff, 3, 0x380fffffffffffff
    CSD fcvt.s.d, rup, 0x800000, 1, 0x380fffffffffffff
    CSD fcvt.s.d, rmm, 0x800000, 1, 0x380fffffffffffff
    CSD fcvt.s.d, rne, 0x800000, 0, 0x3810000000000000
    CSD fcvt.s.d, rtz, 0x800000, 0, 0x3810000000000000
    CSD fcvt.s.d, rdn, 0x800000, 0, 0x3810000000000000
    CSD fcvt.s.d, rup, 0x800000, 0, 0x3810000000000000
    CSD fcvt.s.d, rmm, 0x800000, 0, 0x3810000000000000
    CSD fcvt.s.d, rne, 0x800000, 3, 0x380fffffe0000000
    CSD fcvt.s.d, rtz, 0x7fffff, 3, 0x380fffffe0000000
    CSD fcvt.s.d, rdn, 0x7fffff, 3, 0x380fffffe0000000
    CSD fcvt.s.d, rup, 0x800000, 3, 0x380fffffe0000000
    CSD fcvt.s.d, rmm, 0x800000, 3, 0x380fffffe0000000
    CSD fcvt.s.d, rne, 0x800000, 1, 0x380ffffff0000000
    CSD fcvt.s.d, rtz, 0x7fffff, 3, 0x380ffffff0000000
    CSD fcvt.s.d, rdn, 0x7fffff, 3, 0x380ffffff0000000
    CSD fcvt.s.d, rup, 0x800000, 1, 0x380ffffff0000000
    CSD fcvt.s.d, rmm, 0x800000, 1, 0x380ffffff0000000
    CSD fcvt.s.d, rne, 0x1, 0, 0x36a0000000000000
    CSD fcvt.s.d, rtz, 0x1, 0, 0x36a0000000000000
    CSD fcvt.s.d, rdn, 0x1, 0, 0x36a0000000000000
    CSD fcvt.s.d, rup, 0x1, 0, 0x36a0000000000000
    CSD fcvt.s.d, rmm, 0x1, 0, 0x36a0000000000000
    CSD fcvt.s.d, rne, 0x1, 3, 0x3690000000000001
    CSD fcvt.s.d, rtz, 0x0, 3, 0x3690000000000001
    CSD fcvt.s.d, rdn, 0x0, 3, 0x3690000000000001
    CSD fcvt.s.d, rup, 0x1, 3, 0x3690000000000001
    CSD fcvt.s.d, rmm, 0x1, 3, 0x3690000000000001
    CSD fcvt.s.d, rne, 0x7f7fffff, 0, 0x47efffffe0000000
    CSD fcvt.s.d, rtz, 0x7f7fffff, 0, 0x47efffffe0000000
    CSD fcvt.s.d, rdn, 0x7f7fffff, 0, 0x47efffffe0000000
    CSD fcvt.s.d, rup, 0x7f7fffff, 0, 0x47efffffe0000000
    CSD fcvt.s.d, rmm, 0x7f7fffff, 0, 0x47efffffe0000000
    CSD fcvt.s.d, rne, 0x7f800000, 5, 0x47effffff0000000
    CSD fcvt.s.d, rtz, 0x7f7fffff, 1, 0x47effffff0000000
    CSD fcvt.s.d, rdn, 0x7f7fffff, 1, 0x47effffff0000000
    CSD fcvt.s.d, rup, 0x7f800000, 5, 0x47effffff0000000
    CSD fcvt.s.d, rmm, 0x7f800000, 5, 0x47effffff0000000
    CSD fcvt.s.d, rne, 0xff800000, 5, 0xc7f0000000000000
    CSD fcvt.s.d, rtz, 0xff7fffff, 5, 0xc7f0000000000000
    CSD fcvt.s.d, rdn, 0xff800000, 5, 0xc7f0000000000000
    CSD fcvt.s.d, rup, 0xff7fffff, 5, 0xc7f0000000000000
    CSD fcvt.s.d, rmm, 0xff800000, 5, 0xc7f0000000000000
    CSD fcvt.s.d, rne, 0x3f800000, 1, 0x3ff0000010000000
    CSD fcvt.s.d, rtz, 0x3f800000, 1, 0x3ff0000010000000
    CSD fcvt.s.d, rdn, 0x3f800000, 1, 0x3ff0000010000000
    CSD fcvt.s.d, rup, 0x3f800001, 1, 0x3ff0000010000000
    CSD fcvt.s.d, rmm, 0x3f800001, 1, 0x3ff0000010000000
    CSD fcvt.s.d, rne, 0x3f800002, 1, 0x3ff0000030000000
    CSD fcvt.s.d, rtz, 0x3f800001, 1, 0x3ff0000030000000
    CSD fcvt.s.d, rdn, 0x3f800001, 1, 0x3ff0000030000000
    CSD fcvt.s.d, rup, 0x3f800002, 1, 0x3ff0000030000000
    CSD fcvt.s.d, rmm, 0x3f800002, 1, 0x3ff0000030000000
    CSD fcvt.s.d, rne, 0xcf6eafbc, 1, 0xc1edd5f782346d48
    CSD fcvt.s.d, rtz, 0xcf6eafbc, 1, 0xc1edd5f782346d48
    CSD fcvt.s.d, rdn, 0xcf6eafbd, 1, 0xc1edd5f782346d48
    CSD fcvt.s.d, rup, 0xcf6eafbc, 1, 0xc1edd5f782346d48
    CSD fcvt.s.d, rmm, 0xcf6eafbc, 1, 0xc1edd5f782346d48
    CSD fcvt.s.d, rne, 0x30af3995, 1, 0x3e15e732af5bc343
    CSD fcvt.s.d, rtz, 0x30af3995, 1, 0x3e15e732af5bc343
    CSD fcvt.s.d, rdn, 0x30af3995, 1, 0x3e15e732af5bc343
    CSD fcvt.s.d, rup, 0x30af3996, 1, 0x3e15e732af5bc343
    CSD fcvt.s.d, rmm, 0x30af3995, 1, 0x3e15e732af5bc343
    CSD fcvt.s.d, rne, 0xc7012388, 1, 0xc0e02470fa6e7e88
    CSD fcvt.s.d, rtz, 0xc7012387, 1, 0xc0e02470fa6e7e88
    CSD fcvt.s.d, rdn, 0xc7012388, 1, 0xc0e02470fa6e7e88
    CSD fcvt.s.d, rup, 0xc7012387, 1, 0xc0e02470fa6e7e88
    CSD fcvt.s.d, rmm, 0xc7012388, 1, 0xc0e02470fa6e7e88
    CSD fcvt.s.d, rne, 0x3c3e7ed5, 1, 0x3f87cfdaa085a4d2
    CSD fcvt.s.d, rtz, 0x3c3e7ed5, 1, 0x3f87cfdaa085a4d2
    CSD fcvt.s.d, rdn, 0x3c3e7ed5, 1, 0x3f87cfdaa085a4d2
    CSD fcvt.s.d, rup, 0x3c3e7ed6, 1, 0x3f87cfdaa085a4d2
    CSD fcvt.s.d, rmm, 0x3c3e7ed5, 1, 0x3f87cfdaa085a4d2
    CSD fcvt.s.d, rne, 0xb598a82f, 1, 0xbeb31505d7d45f32
    CSD fcvt.s.d, rtz, 0xb598a82e, 1, 0xbeb31505d7d45f32
    CSD fcvt.s.d, rdn, 0xb598a82f, 1, 0xbeb31505d7d45f32
    CSD fcvt.s.d, rup, 0xb598a82e, 1, 0xbeb31505d7d45f32
    CSD fcvt.s.d, rmm, 0xb598a82f, 1, 0xbeb31505d7d45f32
    END

    CASE "I-12.5 fcvt.d.s"
    CDS fcvt.d.s, 0x0, 0, 0x0
    CDS fcvt.d.s, 0x8000000000000000, 0, 0x80000000
    CDS fcvt.d.s, 0x3ff0000000000000, 0, 0x3f800000
    CDS fcvt.d.s, 0xbff0000000000000, 0, 0xbf800000
    CDS fcvt.d.s, 0x7ff0000000000000, 0, 0x7f800000
    CDS fcvt.d.s, 0xfff0000000000000, 0, 0xff800000
    CDS fcvt.d.s, 0x7ff8000000000000, 0, 0x7fc00000
    CDS fcvt.d.s, 0x7ff8000000000000, 16, 0x7f800001
    CDS fcvt.d.s, 0x36a0000000000000, 0, 0x1
    CDS fcvt.d.s, 0x380fffffc0000000, 0, 0x7fffff
    CDS fcvt.d.s, 0x3810000000000000, 0, 0x800000
    CDS fcvt.d.s, 0x47efffffe0000000, 0, 0x7f7fffff
    CDS fcvt.d.s, 0x3ff0000020000000, 0, 0x3f800001
    CDS fcvt.d.s, 0x3ff8000000000000, 0, 0x3fc00000
    CDS fcvt.d.s, 0x4000000000000000, 0, 0x40000000
    CDS fcvt.d.s, 0x3fe0000000000000, 0, 0x3f000000
    CDS fcvt.d.s, 0x3e7dfef480000000, 0, 0x33eff7a4
    CDS fcvt.d.s, 0x40eb673a60000000, 0, 0x475b39d3
    CDS fcvt.d.s, 0xbf124893e0000000, 0, 0xb892449f
    CDS fcvt.d.s, 0xc09a820b40000000, 0, 0xc4d4105a
    CDS fcvt.d.s, 0x3fc059b2e0000000, 0, 0x3e02cd97
    END

    CASE "I-12.2 a single that is not boxed counts as the canonical NaN"
    li a0, 0x3f800000
    fmv.d.x fa1, a0
    fmv.d.x fa2, a0
    fadd.s fa0, fa1, fa2
    OUT_s 0x7fc00000, 0
    fsgnj.s fa0, fa1, fa2
    OUT_s 0x7fc00000, 0
    fclass.s a0, fa1
    EQ a0, 0x200
    # Moves and stores take the bits as they are.
    fmv.x.w a0, fa1
    EQ a0, 0x3f800000
    fsw fa1, 0(sp)
    lw a0, 0(sp)
    EQ a0, 0x3f800000
    END

    CASE "I-12.2 results and loads of singles are boxed"
    li a0, 0x80000000
    sw a0, 0(sp)
    flw fa0, 0(sp)
    fmv.x.d a0, fa0
    EQ a0, 0xffffffff80000000
    li a0, 0x12345678
    fmv.w.x fa0, a0
    fmv.x.d a0, fa0
    EQ a0, 0xffffffff12345678
    fmv.x.w a0, fa0
    EQ a0, 0x12345678
    END

    CASE "I-11.2 fcsr, frm and fflags"
    li a0, -1
    csrw fcsr, a0
    CSR_EQ fcsr, 0xff
    CSR_EQ frm, 7
    CSR_EQ fflags, 31
    csrw frm, zero
    CSR_EQ fcsr, 0x1f
    csrwi fflags, 5
    csrwi frm, 3
    CSR_EQ fcsr, 0x65
    END

    CASE "I-11.2 reserved rounding modes in frm"
    .irp mode, 5, 6, 7
    fsrmi \mode
    TRAPS 2, fadd.s fa0, fa0, fa0, dyn
    TRAPS 2, fcvt.w.d a0, fa0, dyn
    TRAPS 2, fsqrt.d fa0, fa0, dyn
    # These round nothing, or have their own mode.
    fadd.s fa0, fa0, fa0, rne
    fsgnj.d fa0, fa0, fa0
    fmin.s fa0, fa0, fa0
    feq.d a0, fa0, fa0
    .endr
    END

    CASE "I-11.2 flags accrue"
    fsflags zero
    IN_s fa1, 0x3f800000
    IN_s fa2, 0
    fdiv.s fa0, fa1, fa2
    IN_s fa3, 0x40400000
    fdiv.s fa0, fa1, fa3
    frflags a0
    EQ a0, 9
    END

    FINISH
