//! Conversions against the exact model.

use proptest::prelude::*;
use tactus_board::float::{Compute, Rounding, operation as op};

use super::exact::register;
use super::model::{self, DOUBLE, Format, SINGLE};
use super::operands::{cases, rounding, value};

/// An integer type of an instruction's suffix.
#[derive(Clone, Copy, Debug)]
struct Integer {
    lowest: i128,
    highest: i128,
    /// The register that holds an integer: W and WU are both sign-extended from 32 bits.
    to_register: fn(i128) -> u64,
    /// The integer that an instruction takes from a register.
    of_register: fn(u64) -> i128,
}

const W: Integer = Integer {
    lowest: i32::MIN as i128,
    highest: i32::MAX as i128,
    to_register: |integer| integer as i32 as u64,
    of_register: |register| i128::from(register as i32),
};
const WU: Integer = Integer {
    lowest: 0,
    highest: u32::MAX as i128,
    to_register: |integer| integer as i32 as u64,
    of_register: |register| i128::from(register as u32),
};
const L: Integer = Integer {
    lowest: i64::MIN as i128,
    highest: i64::MAX as i128,
    to_register: |integer| integer as u64,
    of_register: |register| i128::from(register as i64),
};
const LU: Integer = Integer {
    lowest: 0,
    highest: u64::MAX as i128,
    to_register: |integer| integer as u64,
    of_register: i128::from,
};

/// The conversions to and from each integer type.
const SINGLES: [(Integer, Compute, Compute); 4] = [
    (W, op::fcvt_w_s, op::fcvt_s_w),
    (WU, op::fcvt_wu_s, op::fcvt_s_wu),
    (L, op::fcvt_l_s, op::fcvt_s_l),
    (LU, op::fcvt_lu_s, op::fcvt_s_lu),
];
const DOUBLES: [(Integer, Compute, Compute); 4] = [
    (W, op::fcvt_w_d, op::fcvt_d_w),
    (WU, op::fcvt_wu_d, op::fcvt_d_wu),
    (L, op::fcvt_l_d, op::fcvt_d_l),
    (LU, op::fcvt_lu_d, op::fcvt_d_lu),
];

fn check_to(
    format: Format,
    functions: &[(Integer, Compute, Compute)],
    a: u64,
    mode: Rounding,
) -> Result<(), TestCaseError> {
    for (integer, to, _) in functions {
        let (expected, flags) = model::to_integer(format, a, integer.lowest, integer.highest, mode);
        let outcome = to(register(format, a), 0, 0, mode);
        prop_assert_eq!(
            outcome,
            ((integer.to_register)(expected), flags),
            "{:#x} to {:?} {:?}",
            a,
            integer,
            mode
        );
    }
    Ok(())
}

fn check_from(
    format: Format,
    functions: &[(Integer, Compute, Compute)],
    a: u64,
    mode: Rounding,
) -> Result<(), TestCaseError> {
    for (integer, _, from) in functions {
        let (expected, flags) = model::from_integer(format, (integer.of_register)(a), mode);
        let outcome = from(a, 0, 0, mode);
        prop_assert_eq!(
            outcome,
            (register(format, expected), flags),
            "{:#x} of {:?} {:?}",
            a,
            integer,
            mode
        );
    }
    Ok(())
}

/// Numbers about the size of integers, whose fractions are often one half.
fn near_integers(format: Format) -> impl Strategy<Value = u64> {
    (any::<i64>(), 0_u32..64, 0_i32..4, -2_i64..=2).prop_map(
        move |(integer, shift, halves, step)| {
            let number = (integer >> shift) as f64 / f64::from(1 << halves);
            let bits = if format == SINGLE {
                u64::from((number as f32).to_bits())
            } else {
                number.to_bits()
            };
            // A step from zero to the other sign is not useful.
            if bits & !format.sign() > 2 {
                bits.wrapping_add_signed(step)
            } else {
                bits
            }
        },
    )
}

/// Integers whose significand has few bits, as many as fit, or just too many.
fn integers() -> impl Strategy<Value = u64> {
    let built =
        (any::<u64>(), 0_u32..64, 0_u32..64).prop_map(|(bits, left, right)| bits >> right << left);
    let near_limit = (
        prop::sample::select(vec![0, 1 << 24, 1 << 31, 1 << 32, 1 << 53, 1 << 63]),
        -3_i64..=3,
    )
        .prop_map(|(limit, step): (u64, i64)| limit.wrapping_add_signed(step));
    // One bit, and one just below the significand's last: half-way.
    let halfway = (24_u32..64, 23_u32..56, -1_i64..=1).prop_map(|(top, below, step)| {
        let low = 1_u64 << top.saturating_sub(below);
        (1_u64 << top | low << 1 | low).wrapping_add_signed(step)
    });
    prop_oneof![2 => any::<u64>(), 4 => built, 2 => near_limit, 2 => halfway]
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn singles_become_integers(a in prop_oneof![value(SINGLE), near_integers(SINGLE)], mode in rounding()) {
        check_to(SINGLE, &SINGLES, a, mode)?;
    }

    #[test]
    fn doubles_become_integers(a in prop_oneof![value(DOUBLE), near_integers(DOUBLE)], mode in rounding()) {
        check_to(DOUBLE, &DOUBLES, a, mode)?;
    }

    #[test]
    fn integers_become_singles(a in integers(), mode in rounding()) {
        check_from(SINGLE, &SINGLES, a, mode)?;
    }

    #[test]
    fn integers_become_doubles(a in integers(), mode in rounding()) {
        check_from(DOUBLE, &DOUBLES, a, mode)?;
    }

    /// Numbers with a single's exponents, and with bits below a single's last.
    #[test]
    fn doubles_become_singles(single in value(SINGLE), low in any::<u32>(), any in value(DOUBLE), mode in rounding()) {
        let wide = f64::from(f32::from_bits(single as u32)).to_bits();
        for a in [wide, wide | u64::from(low >> 3), wide | 1 << 28, wide | 1, wide ^ (1 << 28 | 1), any] {
            let (expected, flags) = model::convert(DOUBLE, SINGLE, a, mode);
            prop_assert_eq!(op::fcvt_s_d(a, 0, 0, mode), (register(SINGLE, expected), flags), "{:#x} {:?}", a, mode);
        }
    }

    #[test]
    fn singles_become_doubles(a in value(SINGLE), mode in rounding()) {
        prop_assert_eq!(op::fcvt_d_s(register(SINGLE, a), 0, 0, mode), model::convert(SINGLE, DOUBLE, a, mode));
    }
}
