//! Every rounded operation against the exact model, in every rounding mode, with hard operands.

use proptest::prelude::*;
use tactus_board::float::{Compute, Flags, Rounding, box_single, operation as op};

use super::model::{self, DOUBLE, Format, Outcome, SINGLE};
use super::operands::{cases, rounding, triple};

/// The register that holds a value.
pub fn register(format: Format, value: u64) -> u64 {
    if format == SINGLE {
        box_single(value as u32)
    } else {
        value
    }
}

/// Computes with values of the format in registers, and compares the outcome.
fn check(
    compute: Compute,
    format: Format,
    (a, b, c): (u64, u64, u64),
    rounding: Rounding,
    (value, flags): Outcome,
) -> Result<(), TestCaseError> {
    let of = |value| register(format, value);
    let (got, raised) = compute(of(a), of(b), of(c), rounding);
    prop_assert_eq!(
        (got, raised),
        (of(value), flags),
        "of {:#x}, {:#x}, {:#x} {:?}: got {:#x} {:?}, should be {:#x} {:?}",
        a,
        b,
        c,
        rounding,
        got,
        raised,
        of(value),
        flags
    );
    Ok(())
}

/// Checks the nine operations on the operands; their functions are in the order below.
fn check_all(
    format: Format,
    functions: [Compute; 9],
    operands: (u64, u64, u64),
    mode: Rounding,
) -> Result<(), TestCaseError> {
    let [
        add,
        subtract,
        multiply,
        divide,
        square_root,
        madd,
        msub,
        nmsub,
        nmadd,
    ] = functions;
    let (a, b, c) = operands;
    let negated = |bits: u64| bits ^ format.sign();
    let check = |compute, outcome| check(compute, format, operands, mode, outcome);
    check(add, model::add(format, a, b, mode))?;
    check(subtract, model::add(format, a, negated(b), mode))?;
    check(multiply, model::multiply(format, a, b, mode))?;
    check(divide, model::divide(format, a, b, mode))?;
    check(square_root, model::square_root(format, a, mode))?;
    // Section 11.6: product plus c, product minus c, c minus product, minus product minus c.
    check(madd, model::multiply_add(format, a, b, c, mode))?;
    check(msub, model::multiply_add(format, a, b, negated(c), mode))?;
    check(nmsub, model::multiply_add(format, negated(a), b, c, mode))?;
    check(
        nmadd,
        model::multiply_add(format, negated(a), b, negated(c), mode),
    )
}

const SINGLES: [Compute; 9] = [
    op::fadd_s,
    op::fsub_s,
    op::fmul_s,
    op::fdiv_s,
    op::fsqrt_s,
    op::fmadd_s,
    op::fmsub_s,
    op::fnmsub_s,
    op::fnmadd_s,
];

const DOUBLES: [Compute; 9] = [
    op::fadd_d,
    op::fsub_d,
    op::fmul_d,
    op::fdiv_d,
    op::fsqrt_d,
    op::fmadd_d,
    op::fmsub_d,
    op::fnmsub_d,
    op::fnmadd_d,
];

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn single_precision_is_rounded_exactly(operands in triple(SINGLE), mode in rounding()) {
        check_all(SINGLE, SINGLES, operands, mode)?;
    }

    #[test]
    fn double_precision_is_rounded_exactly(operands in triple(DOUBLE), mode in rounding()) {
        check_all(DOUBLE, DOUBLES, operands, mode)?;
    }

    /// The mode in which the board may use the host's arithmetic, once more.
    #[test]
    fn single_precision_is_rounded_exactly_to_nearest(operands in triple(SINGLE)) {
        check_all(SINGLE, SINGLES, operands, Rounding::NearestEven)?;
    }

    #[test]
    fn double_precision_is_rounded_exactly_to_nearest(operands in triple(DOUBLE)) {
        check_all(DOUBLE, DOUBLES, operands, Rounding::NearestEven)?;
    }

    /// Squares and products have exact roots and quotients, which random operands hardly ever have.
    #[test]
    fn exact_roots_and_quotients_raise_nothing(a in 1_u64..1 << 26, b in 1_u64..1 << 26) {
        let of = |number: u64| (number as f64).to_bits();
        let nearest = Rounding::NearestEven;
        prop_assert_eq!(op::fsqrt_d(of(a * a), 0, 0, nearest), (of(a), Flags::empty()));
        prop_assert_eq!(op::fdiv_d(of(a * b), of(b), 0, nearest), (of(a), Flags::empty()));
        let (a, b) = (a >> 14, b >> 14);
        let of = |number: u64| box_single((number as f32).to_bits());
        prop_assert_eq!(op::fsqrt_s(of(a * a), 0, 0, nearest), (of(a), Flags::empty()));
        if b != 0 {
            prop_assert_eq!(op::fdiv_s(of(a * b), of(b), 0, nearest), (of(a), Flags::empty()));
        }
    }
}
