//! Many cases against SoftFloat itself, rounding to nearest even, where the board may compute with the host's
//! arithmetic.
//!
//! SoftFloat is faster than the exact model, so that rare cases occur, too.

use proptest::prelude::*;
use softfloat_wrapper::{ExceptionFlags, F32, F64, Float, RoundingMode};
use tactus_board::float::{Flags, Rounding, operation as op};

use super::exact::register;
use super::model::{DOUBLE, SINGLE};
use super::operands::{cases, triple};

/// A SoftFloat operation's result and flags.
fn soft<F: Float>(operation: impl FnOnce(RoundingMode) -> F) -> (F::Payload, Flags) {
    let mut flags = ExceptionFlags::default();
    flags.set();
    let result = operation(RoundingMode::TiesToEven);
    flags.get();
    (result.to_bits(), Flags::from_bits_truncate(flags.to_bits()))
}

fn single((bits, flags): (u32, Flags)) -> (u64, Flags) {
    (register(SINGLE, u64::from(bits)), flags)
}

proptest! {
    #![proptest_config(cases(30_000))]

    #[test]
    fn doubles_are_those_of_softfloat((a, b, c) in triple(DOUBLE)) {
        let nearest = Rounding::NearestEven;
        let [x, y, z] = [a, b, c].map(F64::from_bits);
        prop_assert_eq!(op::fadd_d(a, b, 0, nearest), soft(|mode| x.add(y, mode)));
        prop_assert_eq!(op::fsub_d(a, b, 0, nearest), soft(|mode| x.sub(y, mode)));
        prop_assert_eq!(op::fmul_d(a, b, 0, nearest), soft(|mode| x.mul(y, mode)));
        prop_assert_eq!(op::fdiv_d(a, b, 0, nearest), soft(|mode| x.div(y, mode)));
        prop_assert_eq!(op::fsqrt_d(a, 0, 0, nearest), soft(|mode| x.sqrt(mode)));
        prop_assert_eq!(op::fmadd_d(a, b, c, nearest), soft(|mode| x.fused_mul_add(y, z, mode)));
        prop_assert_eq!(op::fcvt_s_d(a, 0, 0, nearest), single(soft(|mode| x.to_f32(mode))));
    }

    #[test]
    fn singles_are_those_of_softfloat((a, b, c) in triple(SINGLE)) {
        let nearest = Rounding::NearestEven;
        let [x, y, z] = [a, b, c].map(|bits| F32::from_bits(bits as u32));
        let [a, b, c] = [a, b, c].map(|bits| register(SINGLE, bits));
        prop_assert_eq!(op::fadd_s(a, b, 0, nearest), single(soft(|mode| x.add(y, mode))));
        prop_assert_eq!(op::fsub_s(a, b, 0, nearest), single(soft(|mode| x.sub(y, mode))));
        prop_assert_eq!(op::fmul_s(a, b, 0, nearest), single(soft(|mode| x.mul(y, mode))));
        prop_assert_eq!(op::fdiv_s(a, b, 0, nearest), single(soft(|mode| x.div(y, mode))));
        prop_assert_eq!(op::fsqrt_s(a, 0, 0, nearest), single(soft(|mode| x.sqrt(mode))));
        prop_assert_eq!(op::fmadd_s(a, b, c, nearest), single(soft(|mode| x.fused_mul_add(y, z, mode))));
    }
}
