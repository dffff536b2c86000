//! Literal statements of The RISC-V Instruction Set Manual, Volume I, 20191213, by section.

use proptest::prelude::*;
use tactus_board::decode::{Operation, RoundingMode};
use tactus_board::float::{
    Compute, File, Flags, Rounding, box_single, lookup, operation as op, unbox_single,
};

use super::exact::register;
use super::model::{DOUBLE, Format, SINGLE};
use super::operands::{cases, value};

const NONE: Flags = Flags::empty();
const NEAREST: Rounding = Rounding::NearestEven;

/// Canonical NaNs, in the form that registers hold.
const SINGLE_NAN: u64 = 0xffff_ffff_7fc0_0000;
const DOUBLE_NAN: u64 = 0x7ff8_0000_0000_0000;

fn s(number: f32) -> u64 {
    box_single(number.to_bits())
}

fn d(number: f64) -> u64 {
    number.to_bits()
}

fn run(compute: Compute, a: u64, b: u64, c: u64) -> (u64, Flags) {
    compute(a, b, c, NEAREST)
}

/// Figure 11.2: NV is bit 4, DZ 3, OF 2, UF 1, NX 0.
#[test]
fn section_11_2_flags_stand_as_in_fflags() {
    let bits = [Flags::NV, Flags::DZ, Flags::OF, Flags::UF, Flags::NX].map(|flag| flag.bits());
    assert_eq!(bits, [16, 8, 4, 2, 1]);
}

/// Table 11.1, and the text below it: a dynamic mode uses frm, of which 5 to 7 are illegal.
#[test]
fn section_11_2_rounding_modes() {
    for (frm, mode) in (0..).zip(Rounding::ALL) {
        assert_eq!(Rounding::from_frm(frm), Some(mode));
        assert_eq!(Rounding::of(RoundingMode::Dynamic, frm), Some(mode));
    }
    for frm in 5..8 {
        assert_eq!(Rounding::from_frm(frm), None);
        assert_eq!(Rounding::of(RoundingMode::Dynamic, frm), None);
        // An instruction's own mode does not depend on frm.
        assert_eq!(Rounding::of(RoundingMode::Up, frm), Some(Rounding::Up));
        assert_eq!(
            Rounding::of(RoundingMode::NearestEven, frm),
            Some(Rounding::NearestEven)
        );
    }
}

#[test]
fn section_11_2_each_mode_rounds_ties_its_way() {
    // 1 + 2^-53 and 1 + 3 * 2^-53 lie half-way.
    let half = f64::EPSILON / 2.0;
    let (one, next, second) = (d(1.0), d(1.0) + 1, d(1.0) + 2);
    let sums = |mode| {
        [
            op::fadd_d(one, d(half), 0, mode).0,
            op::fadd_d(next, d(half), 0, mode).0,
        ]
    };
    assert_eq!(sums(Rounding::NearestEven), [one, second]);
    assert_eq!(sums(Rounding::Zero), [one, next]);
    assert_eq!(sums(Rounding::Down), [one, next]);
    assert_eq!(sums(Rounding::Up), [next, second]);
    assert_eq!(sums(Rounding::NearestMaxMagnitude), [next, second]);
}

/// "If the result of a floating-point operation is NaN, it is the canonical NaN."
#[test]
fn section_11_3_results_that_are_nans_are_canonical() {
    let payload = 0xffff_ffff_ffc1_2345;
    assert_eq!(run(op::fadd_s, payload, s(1.0), 0), (SINGLE_NAN, NONE));
    assert_eq!(
        run(op::fmadd_s, s(1.0), s(1.0), payload),
        (SINGLE_NAN, NONE)
    );
    assert_eq!(run(op::fsqrt_s, payload, 0, 0), (SINGLE_NAN, NONE));
    let payload = 0xfff8_0000_0001_2345;
    assert_eq!(run(op::fmul_d, payload, d(1.0), 0), (DOUBLE_NAN, NONE));
    assert_eq!(
        run(op::fnmsub_d, payload, d(1.0), d(1.0)),
        (DOUBLE_NAN, NONE)
    );
    // An invalid operation gives it, too.
    let infinity = d(f64::INFINITY);
    assert_eq!(
        run(op::fsub_d, infinity, infinity, 0),
        (DOUBLE_NAN, Flags::NV)
    );
    assert_eq!(run(op::fdiv_d, 0, 0, 0), (DOUBLE_NAN, Flags::NV));
    assert_eq!(run(op::fsqrt_s, s(-1.0), 0, 0), (SINGLE_NAN, Flags::NV));
    // A signalling NaN is invalid.
    assert_eq!(
        run(op::fadd_d, 0x7ff0_0000_0000_0001, d(1.0), 0),
        (DOUBLE_NAN, Flags::NV)
    );
    assert_eq!(
        run(op::fadd_s, box_single(0x7f80_0001), s(1.0), 0),
        (SINGLE_NAN, Flags::NV)
    );
}

/// "Tininess is detected after rounding."
#[test]
fn section_11_4_tininess_is_detected_after_rounding() {
    // (2^-1022) * (1 - 2^-53) lies half-way between the smallest normal number and the subnormal below it, and rounds
    // to the normal number in either precision: with 53 bits and no limit to the exponent, it is exact, and tiny.
    let smallest = d(f64::MIN_POSITIVE);
    let below_one = d(1.0) - 1;
    assert_eq!(
        run(op::fmul_d, smallest, below_one, 0),
        (smallest, Flags::UF | Flags::NX)
    );
    // Less by something far below its last bit, 2^-1022 rounds to itself in 53 bits, so it is not tiny.
    let less = d(-f64::MIN_POSITIVE);
    let (result, flags) = op::fmadd_d(less, d(2f64.powi(-60)), smallest, NEAREST);
    assert_eq!((result, flags), (smallest, Flags::NX));
    // Subnormal and exact: no underflow.
    assert_eq!(run(op::fmul_d, smallest, d(0.5), 0), (smallest >> 1, NONE));
}

#[test]
fn section_11_6_division_by_zero_and_overflow() {
    assert_eq!(
        run(op::fdiv_s, s(1.0), s(-0.0), 0),
        (s(f32::NEG_INFINITY), Flags::DZ)
    );
    assert_eq!(
        run(op::fdiv_s, s(f32::INFINITY), s(0.0), 0),
        (s(f32::INFINITY), NONE)
    );
    let overflow = Flags::OF | Flags::NX;
    assert_eq!(
        run(op::fmul_s, s(f32::MAX), s(2.0), 0),
        (s(f32::INFINITY), overflow)
    );
    assert_eq!(
        op::fmul_s(s(f32::MAX), s(2.0), 0, Rounding::Zero),
        (s(f32::MAX), overflow)
    );
    assert_eq!(
        op::fmul_d(d(f64::MAX), d(-2.0), 0, Rounding::Up),
        (d(-f64::MAX), overflow)
    );
    assert_eq!(
        op::fmul_d(d(f64::MAX), d(-2.0), 0, Rounding::Down),
        (d(f64::NEG_INFINITY), overflow)
    );
}

/// The signs of the four: rs1*rs2+rs3, rs1*rs2-rs3, -(rs1*rs2)+rs3, -(rs1*rs2)-rs3.
#[test]
fn section_11_6_fused_operations_and_their_signs() {
    for (compute, result) in [
        (op::fmadd_d as Compute, 7.0),
        (op::fmsub_d, 5.0),
        (op::fnmsub_d, -5.0),
        (op::fnmadd_d, -7.0),
    ] {
        assert_eq!(run(compute, d(2.0), d(3.0), d(1.0)), (d(result), NONE));
    }
    // An exactly zero result has the sign of a sum: +0, or -0 when rounding down, and -0 when both parts are -0.
    assert_eq!(run(op::fmsub_s, s(2.0), s(3.0), s(6.0)), (s(0.0), NONE));
    assert_eq!(run(op::fnmsub_s, s(2.0), s(3.0), s(6.0)), (s(0.0), NONE));
    assert_eq!(
        op::fmsub_s(s(2.0), s(3.0), s(6.0), Rounding::Down),
        (s(-0.0), NONE)
    );
    assert_eq!(run(op::fnmadd_s, s(0.0), s(3.0), s(0.0)), (s(-0.0), NONE));
    assert_eq!(run(op::fnmsub_s, s(0.0), s(3.0), s(0.0)), (s(0.0), NONE));
    // Rounded once: (1 + 2^-52)(1 - 2^-52) - 1.
    let (above, below) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
    assert_eq!(
        run(op::fmsub_d, d(above), d(below), d(1.0)),
        (d(-f64::EPSILON * f64::EPSILON), NONE)
    );
}

/// "Must set the invalid operation exception flag when the multiplicands are infinity and zero, even when the addend
/// is a quiet NaN."
#[test]
fn section_11_6_infinity_times_zero_is_invalid_for_any_addend() {
    for compute in [
        op::fmadd_d as Compute,
        op::fmsub_d,
        op::fnmsub_d,
        op::fnmadd_d,
    ] {
        assert_eq!(
            run(compute, d(f64::INFINITY), 0, DOUBLE_NAN),
            (DOUBLE_NAN, Flags::NV)
        );
        assert_eq!(
            run(compute, 0, d(f64::NEG_INFINITY), d(1.0)),
            (DOUBLE_NAN, Flags::NV)
        );
    }
    for compute in [
        op::fmadd_s as Compute,
        op::fmsub_s,
        op::fnmsub_s,
        op::fnmadd_s,
    ] {
        assert_eq!(
            run(compute, s(f32::INFINITY), s(0.0), SINGLE_NAN),
            (SINGLE_NAN, Flags::NV)
        );
    }
}

#[test]
fn section_11_6_minimum_and_maximum() {
    let cases = [
        (1.0, 2.0, 1.0, 2.0),
        (-1.0, -2.0, -2.0, -1.0),
        (-1.0, 1.0, -1.0, 1.0),
        // "The value -0.0 is considered to be less than the value +0.0."
        (-0.0, 0.0, -0.0, 0.0),
        (f64::INFINITY, 1.0, 1.0, f64::INFINITY),
        (f64::NEG_INFINITY, 1.0, f64::NEG_INFINITY, 1.0),
        // "If only one operand is a NaN, the result is the non-NaN operand."
        (f64::NAN, 1.0, 1.0, 1.0),
    ];
    for (a, b, minimum, maximum) in cases {
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!(run(op::fmin_d, d(a), d(b), 0), (d(minimum), NONE));
            assert_eq!(run(op::fmax_d, d(a), d(b), 0), (d(maximum), NONE));
            let [a, b, minimum, maximum] = [a, b, minimum, maximum].map(|number| s(number as f32));
            assert_eq!(run(op::fmin_s, a, b, 0), (minimum, NONE));
            assert_eq!(run(op::fmax_s, a, b, 0), (maximum, NONE));
        }
    }
    // "If both inputs are NaNs, the result is the canonical NaN." "Signaling NaN inputs set the invalid operation
    // exception flag, even when the result is not NaN."
    let (quiet, signalling) = (0xfff8_0000_0000_0001, 0x7ff0_0000_0000_0001);
    assert_eq!(run(op::fmin_d, quiet, quiet, 0), (DOUBLE_NAN, NONE));
    assert_eq!(
        run(op::fmax_d, quiet, signalling, 0),
        (DOUBLE_NAN, Flags::NV)
    );
    assert_eq!(run(op::fmin_d, signalling, d(1.0), 0), (d(1.0), Flags::NV));
    assert_eq!(run(op::fmax_d, d(1.0), signalling, 0), (d(1.0), Flags::NV));
    assert_eq!(
        run(op::fmax_s, s(1.0), box_single(0xff80_0001), 0),
        (s(1.0), Flags::NV)
    );
}

/// Table 11.4, row by row; and "for FCVT.W.S and FCVT.WU.S, the 32-bit result is sign-extended".
#[test]
fn section_11_7_conversions_out_of_range() {
    let columns: [(Compute, Compute, u64, u64); 4] = [
        (
            op::fcvt_w_s,
            op::fcvt_w_d,
            0xffff_ffff_8000_0000,
            0x7fff_ffff,
        ),
        (op::fcvt_wu_s, op::fcvt_wu_d, 0, u64::MAX),
        (op::fcvt_l_s, op::fcvt_l_d, 1 << 63, (1 << 63) - 1),
        (op::fcvt_lu_s, op::fcvt_lu_d, 0, u64::MAX),
    ];
    for (single, double, lowest, highest) in columns {
        for (number, result) in [
            (-1e30, lowest),
            (f64::NEG_INFINITY, lowest),
            (1e30, highest),
            (f64::INFINITY, highest),
            (f64::NAN, highest),
            (-f64::NAN, highest),
        ] {
            assert_eq!(
                run(single, s(number as f32), 0, 0),
                (result, Flags::NV),
                "{number}"
            );
            assert_eq!(
                run(double, d(number), 0, 0),
                (result, Flags::NV),
                "{number}"
            );
        }
    }
    // The first and the last valid input after rounding.
    let to_zero = |compute: Compute, number| compute(d(number), 0, 0, Rounding::Zero);
    assert_eq!(
        to_zero(op::fcvt_w_d, -2_147_483_648.9),
        (0xffff_ffff_8000_0000, Flags::NX)
    );
    assert_eq!(
        to_zero(op::fcvt_w_d, -2_147_483_649.0),
        (0xffff_ffff_8000_0000, Flags::NV)
    );
    assert_eq!(
        to_zero(op::fcvt_w_d, 2_147_483_647.9),
        (0x7fff_ffff, Flags::NX)
    );
    assert_eq!(
        to_zero(op::fcvt_w_d, 2_147_483_648.0),
        (0x7fff_ffff, Flags::NV)
    );
    assert_eq!(to_zero(op::fcvt_wu_d, -0.9), (0, Flags::NX));
    assert_eq!(to_zero(op::fcvt_wu_d, -1.0), (0, Flags::NV));
    assert_eq!(to_zero(op::fcvt_wu_d, 4_294_967_295.0), (u64::MAX, NONE));
    assert_eq!(
        to_zero(op::fcvt_wu_d, 2_147_483_648.0),
        (0xffff_ffff_8000_0000, NONE)
    );
    assert_eq!(op::fcvt_wu_d(d(-0.1), 0, 0, Rounding::Down), (0, Flags::NV));
    assert_eq!(
        to_zero(op::fcvt_lu_d, 9_223_372_036_854_775_808.0),
        (1 << 63, NONE)
    );
    assert_eq!(
        to_zero(op::fcvt_l_d, -9_223_372_036_854_775_808.0),
        (1 << 63, NONE)
    );
}

/// "A floating-point register can be initialized to floating-point positive zero using FCVT.S.W rd, x0". For W and WU,
/// only the low half of the register counts.
#[test]
fn section_11_7_conversions_from_integers() {
    assert_eq!(run(op::fcvt_s_w, 0, 0, 0), (s(0.0), NONE));
    assert_eq!(
        run(op::fcvt_s_w, 0x1234_5678_ffff_ffff, 0, 0),
        (s(-1.0), NONE)
    );
    assert_eq!(
        run(op::fcvt_s_wu, 0x1234_5678_ffff_ffff, 0, 0),
        (s(4_294_967_296.0), Flags::NX)
    );
    assert_eq!(
        run(op::fcvt_d_wu, u64::MAX, 0, 0),
        (d(4_294_967_295.0), NONE)
    );
    assert_eq!(run(op::fcvt_d_w, u64::MAX, 0, 0), (d(-1.0), NONE));
    assert_eq!(run(op::fcvt_d_l, u64::MAX, 0, 0), (d(-1.0), NONE));
    assert_eq!(
        run(op::fcvt_d_lu, u64::MAX, 0, 0),
        (d(18_446_744_073_709_551_616.0), Flags::NX)
    );
    assert_eq!(
        op::fcvt_d_lu(u64::MAX, 0, 0, Rounding::Zero),
        (d(18_446_744_073_709_549_568.0), Flags::NX)
    );
}

#[test]
fn section_11_7_sign_injection_takes_all_but_the_sign_from_rs1() {
    assert_eq!(run(op::fsgnj_s, s(1.5), s(-2.0), 0), (s(-1.5), NONE));
    assert_eq!(run(op::fsgnjn_s, s(1.5), s(-2.0), 0), (s(1.5), NONE));
    assert_eq!(run(op::fsgnjx_s, s(-1.5), s(-2.0), 0), (s(1.5), NONE));
    assert_eq!(run(op::fsgnj_d, d(-1.5), d(2.0), 0), (d(1.5), NONE));
    assert_eq!(run(op::fsgnjn_d, d(1.5), d(2.0), 0), (d(-1.5), NONE));
    assert_eq!(run(op::fsgnjx_d, d(1.5), d(-2.0), 0), (d(-1.5), NONE));
    // "Sign-injection instructions do not set floating-point exception flags, nor do they canonicalize NaNs."
    let signalling = 0x7ff0_0000_0000_0001;
    assert_eq!(
        run(op::fsgnjn_d, signalling, signalling, 0),
        (signalling | 1 << 63, NONE)
    );
    let signalling = box_single(0xff80_0001);
    assert_eq!(
        run(op::fsgnjx_s, signalling, signalling, 0),
        (box_single(0x7f80_0001), NONE)
    );
}

/// "FEQ.S performs a quiet comparison: it only sets the invalid operation exception flag if either input is a
/// signaling NaN." "For all three instructions, the result is 0 if either operand is NaN."
#[test]
fn section_11_8_comparisons() {
    let doubles = [op::feq_d as Compute, op::flt_d, op::fle_d];
    let singles = [op::feq_s as Compute, op::flt_s, op::fle_s];
    for (a, b, results) in [
        (1.0, 1.0, [1, 0, 1]),
        (1.0, 2.0, [0, 1, 1]),
        (2.0, 1.0, [0, 0, 0]),
        (-2.0, -1.0, [0, 1, 1]),
        (-1.0, -2.0, [0, 0, 0]),
        (-1.0, 1.0, [0, 1, 1]),
        (-0.0, 0.0, [1, 0, 1]),
        (0.0, -0.0, [1, 0, 1]),
        (f64::NEG_INFINITY, f64::INFINITY, [0, 1, 1]),
        (f64::INFINITY, f64::INFINITY, [1, 0, 1]),
    ] {
        for (index, result) in results.into_iter().enumerate() {
            assert_eq!(
                run(doubles[index], d(a), d(b), 0),
                (result, NONE),
                "{a} {b}"
            );
            assert_eq!(
                run(singles[index], s(a as f32), s(b as f32), 0),
                (result, NONE),
                "{a} {b}"
            );
        }
    }
    let (quiet, signalling) = (DOUBLE_NAN, 0xfff0_0000_0000_0001);
    for (a, b) in [(quiet, d(1.0)), (d(1.0), quiet), (quiet, quiet)] {
        assert_eq!(
            doubles.map(|compute| run(compute, a, b, 0)),
            [(0, NONE), (0, Flags::NV), (0, Flags::NV)]
        );
    }
    for (a, b) in [
        (signalling, d(1.0)),
        (d(1.0), signalling),
        (quiet, signalling),
    ] {
        assert_eq!(
            doubles.map(|compute| run(compute, a, b, 0)),
            [(0, Flags::NV); 3]
        );
    }
}

/// Table 11.5.
#[test]
fn section_11_9_classes() {
    let classes = [
        (f64::NEG_INFINITY, f32::NEG_INFINITY),
        (-1.0, -1.0),
        (-f64::MIN_POSITIVE / 2.0, -f32::MIN_POSITIVE / 2.0),
        (-0.0, -0.0),
        (0.0, 0.0),
        (f64::MIN_POSITIVE / 2.0, f32::MIN_POSITIVE / 2.0),
        (f64::MIN_POSITIVE, f32::MAX),
        (f64::INFINITY, f32::INFINITY),
    ];
    for (bit, (double, single)) in classes.into_iter().enumerate() {
        assert_eq!(
            run(op::fclass_d, d(double), 0, 0),
            (1 << bit, NONE),
            "{double}"
        );
        assert_eq!(
            run(op::fclass_s, s(single), 0, 0),
            (1 << bit, NONE),
            "{single}"
        );
    }
    for sign in [0, 1 << 63] {
        assert_eq!(
            run(op::fclass_d, 0x7ff0_0000_0000_0001 | sign, 0, 0),
            (1 << 8, NONE)
        );
        assert_eq!(
            run(op::fclass_d, 0x7ff8_0000_0000_0000 | sign, 0, 0),
            (1 << 9, NONE)
        );
    }
    assert_eq!(
        run(op::fclass_s, box_single(0x7fa0_0000), 0, 0),
        (1 << 8, NONE)
    );
    assert_eq!(
        run(op::fclass_s, box_single(0xffc0_0000), 0, 0),
        (1 << 9, NONE)
    );
}

/// "The n least-significant bits of the input are used as the input value if they are NaN-boxed; otherwise the input
/// value is treated as an n-bit canonical NaN." Transfers look at the low bits alone.
#[test]
fn section_12_2_values_without_nan_boxing_are_nans() {
    let unboxed = u64::from(1f32.to_bits());
    for register in [
        unboxed,
        unboxed | 0xffff_fffe_0000_0000,
        unboxed | 0x7fff_ffff_0000_0000,
    ] {
        assert_eq!(unbox_single(register), 0x7fc0_0000);
        assert_eq!(run(op::fadd_s, register, s(1.0), 0), (SINGLE_NAN, NONE));
        assert_eq!(
            run(op::fmadd_s, s(1.0), s(1.0), register),
            (SINGLE_NAN, NONE)
        );
        assert_eq!(
            run(op::fsgnj_s, register, s(-1.0), 0),
            (box_single(0xffc0_0000), NONE)
        );
        assert_eq!(run(op::fsgnj_s, s(-1.0), register, 0), (s(1.0), NONE));
        assert_eq!(run(op::fmin_s, register, s(2.0), 0), (s(2.0), NONE));
        assert_eq!(run(op::feq_s, register, register, 0), (0, NONE));
        assert_eq!(run(op::flt_s, register, s(2.0), 0), (0, Flags::NV));
        assert_eq!(run(op::fclass_s, register, 0, 0), (1 << 9, NONE));
        assert_eq!(run(op::fcvt_w_s, register, 0, 0), (0x7fff_ffff, Flags::NV));
        assert_eq!(run(op::fcvt_d_s, register, 0, 0), (DOUBLE_NAN, NONE));
        assert_eq!(run(op::fmv_x_w, register, 0, 0), (unboxed, NONE));
    }
    assert_eq!(unbox_single(s(1.0)), 1f32.to_bits());
    assert_eq!(
        run(op::fmv_x_w, s(-1.0), 0, 0),
        (0xffff_ffff_bf80_0000, NONE)
    );
    assert_eq!(
        run(op::fmv_w_x, 0x1234_5678_bf80_0000, 0, 0),
        (s(-1.0), NONE)
    );
    assert_eq!(
        run(op::fmv_d_x, 0x7ff0_0000_0000_0001, 0, 0),
        (0x7ff0_0000_0000_0001, NONE)
    );
    assert_eq!(
        run(op::fmv_x_d, 0x7ff0_0000_0000_0001, 0, 0),
        (0x7ff0_0000_0000_0001, NONE)
    );
}

#[test]
fn section_12_5_conversions_between_the_formats() {
    assert_eq!(run(op::fcvt_d_s, s(1.5), 0, 0), (d(1.5), NONE));
    assert_eq!(
        run(op::fcvt_d_s, s(f32::from_bits(1)), 0, 0),
        (d(2f64.powi(-149)), NONE)
    );
    assert_eq!(
        run(op::fcvt_d_s, box_single(0xff80_0001), 0, 0),
        (DOUBLE_NAN, Flags::NV)
    );
    assert_eq!(
        run(op::fcvt_s_d, 0xfff0_0000_0000_0001, 0, 0),
        (SINGLE_NAN, Flags::NV)
    );
    assert_eq!(run(op::fcvt_s_d, d(0.1), 0, 0), (s(0.1), Flags::NX));
    assert_eq!(
        run(op::fcvt_s_d, d(1e300), 0, 0),
        (s(f32::INFINITY), Flags::OF | Flags::NX)
    );
    assert_eq!(
        run(op::fcvt_s_d, d(-1e-300), 0, 0),
        (s(-0.0), Flags::UF | Flags::NX)
    );
}

/// Each instruction of chapters 11 and 12 but loads and stores has a function, with the registers of its mnemonic; no
/// other instruction has one.
#[test]
fn lookup_has_all_of_f_and_d() {
    let mut found = 0;
    for operation in Operation::ALL {
        let mnemonic = operation.mnemonic();
        let arithmetic = mnemonic.starts_with('f')
            && !mnemonic.starts_with("fence")
            && !["flw", "fsw", "fld", "fsd"].contains(&mnemonic);
        let kind = lookup(operation);
        assert_eq!(kind.is_some(), arithmetic, "{mnemonic}");
        let Some(kind) = kind else { continue };
        found += 1;
        let parts: Vec<&str> = mnemonic.split('.').collect();
        let of = |suffix: &str| {
            if matches!(suffix, "s" | "d") {
                File::Float
            } else {
                File::Integer
            }
        };
        let (destination, sources): (File, Vec<File>) = match parts[..] {
            ["fmv", "w", "x"] | ["fmv", "d", "x"] => (File::Float, vec![File::Integer]),
            ["fmv", "x", _] => (File::Integer, vec![File::Float]),
            ["fcvt", to, from] => (of(to), vec![of(from)]),
            ["feq" | "flt" | "fle", _] => (File::Integer, vec![File::Float; 2]),
            ["fclass", _] => (File::Integer, vec![File::Float]),
            ["fsqrt", _] => (File::Float, vec![File::Float]),
            ["fmadd" | "fmsub" | "fnmadd" | "fnmsub", _] => (File::Float, vec![File::Float; 3]),
            _ => (File::Float, vec![File::Float; 2]),
        };
        assert_eq!(
            (kind.destination, kind.sources),
            (destination, &sources[..]),
            "{mnemonic}"
        );
    }
    // 28 instructions of F and 30 of D for RV64.
    assert_eq!(found, 58);
}

/// Unused operands and unused rounding modes have no effect, and each result in single precision is NaN-boxed.
#[test]
fn unused_operands_have_no_effect() {
    let values = [s(1.5), d(2.5), DOUBLE_NAN, 0, u64::MAX];
    for operation in Operation::ALL {
        let Some(kind) = lookup(operation) else {
            continue;
        };
        for a in values {
            let of = |b, c, mode| (kind.compute)(a, b, c, mode);
            let sources = kind.sources.len();
            for other in values {
                if sources < 2 {
                    assert_eq!(
                        of(0, 0, NEAREST),
                        of(other, 0, NEAREST),
                        "{}",
                        operation.mnemonic()
                    );
                }
                if sources < 3 {
                    assert_eq!(
                        of(s(1.0), 0, NEAREST),
                        of(s(1.0), other, NEAREST),
                        "{}",
                        operation.mnemonic()
                    );
                }
            }
            let single_result = kind.destination == File::Float
                && (operation.mnemonic().ends_with(".s") && operation != Operation::FcvtDS
                    || operation.mnemonic().starts_with("fcvt.s"));
            if single_result {
                assert_eq!(
                    of(s(1.0), s(1.0), NEAREST).0 >> 32,
                    0xffff_ffff,
                    "{}",
                    operation.mnemonic()
                );
            }
        }
    }
}

fn minimum_of(format: Format) -> (Compute, Compute, Compute) {
    if format == SINGLE {
        (op::fmin_s, op::fmax_s, op::fle_s)
    } else {
        (op::fmin_d, op::fmax_d, op::fle_d)
    }
}

fn check_order(format: Format, a: u64, b: u64) -> Result<(), TestCaseError> {
    let (minimum, maximum, less_or_equal) = minimum_of(format);
    let [a, b] = [a, b].map(|value| register(format, value));
    let (low, high) = (run(minimum, a, b, 0).0, run(maximum, a, b, 0).0);
    prop_assert!([low, high] == [a, b] || [low, high] == [b, a]);
    prop_assert_eq!(run(less_or_equal, low, high, 0), (1, NONE));
    prop_assert_eq!(
        (run(minimum, b, a, 0).0, run(maximum, b, a, 0).0),
        (low, high)
    );
    Ok(())
}

proptest! {
    #![proptest_config(cases(4_000))]

    /// Comparisons of numbers equal the host's.
    #[test]
    fn comparisons_are_those_of_the_host(a in value(DOUBLE), b in value(DOUBLE)) {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        prop_assert_eq!(run(op::feq_d, a, b, 0).0, u64::from(x == y));
        prop_assert_eq!(run(op::flt_d, a, b, 0).0, u64::from(x < y));
        prop_assert_eq!(run(op::fle_d, a, b, 0).0, u64::from(x <= y));
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let [a, b] = [a, b].map(|bits| box_single(bits as u32));
        prop_assert_eq!(run(op::feq_s, a, b, 0).0, u64::from(x == y));
        prop_assert_eq!(run(op::flt_s, a, b, 0).0, u64::from(x < y));
        prop_assert_eq!(run(op::fle_s, a, b, 0).0, u64::from(x <= y));
    }

    #[test]
    fn minimum_and_maximum_are_both_operands_in_order(a in value(DOUBLE), b in value(DOUBLE), c in value(SINGLE), e in value(SINGLE)) {
        if !DOUBLE.is_nan(a) && !DOUBLE.is_nan(b) {
            check_order(DOUBLE, a, b)?;
        }
        if !SINGLE.is_nan(c) && !SINGLE.is_nan(e) {
            check_order(SINGLE, c, e)?;
        }
    }
}
