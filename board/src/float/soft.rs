//! Rounded arithmetic by Berkeley SoftFloat: every operand, every rounding mode, every flag.
//!
//! The build used is SoftFloat's own for RISC-V, so canonical NaNs, tininess after rounding and what conversions give
//! for values out of range are RISC-V's.

use softfloat_wrapper::{ExceptionFlags, Float as _, RoundingMode};

use super::format::{Double, Format, Integer, Single};
use super::{Flags, Rounding};

/// Runs one SoftFloat operation, its flags apart from those of all others: they are a variable of the thread.
fn run<T>(rounding: Rounding, operation: impl FnOnce(RoundingMode) -> T) -> (T, Flags) {
    let mode = match rounding {
        Rounding::NearestEven => RoundingMode::TiesToEven,
        Rounding::Zero => RoundingMode::TowardZero,
        Rounding::Down => RoundingMode::TowardNegative,
        Rounding::Up => RoundingMode::TowardPositive,
        Rounding::NearestMaxMagnitude => RoundingMode::TiesToAway,
    };
    let mut flags = ExceptionFlags::default();
    flags.set();
    let result = operation(mode);
    flags.get();
    // SoftFloat's flags have the order of fflags.
    (result, Flags::from_bits_truncate(flags.to_bits()))
}

/// The same with a value of format `F` as result.
fn rounded<F: Format>(
    rounding: Rounding,
    operation: impl FnOnce(RoundingMode) -> F::Soft,
) -> (u64, Flags) {
    let (result, flags) = run(rounding, operation);
    (F::value(result), flags)
}

/// a + b
#[cold]
pub(super) fn add<F: Format>(a: u64, b: u64, rounding: Rounding) -> (u64, Flags) {
    rounded::<F>(rounding, |mode| F::soft(a).add(F::soft(b), mode))
}

/// a * b
#[cold]
pub(super) fn multiply<F: Format>(a: u64, b: u64, rounding: Rounding) -> (u64, Flags) {
    rounded::<F>(rounding, |mode| F::soft(a).mul(F::soft(b), mode))
}

/// a / b
#[cold]
pub(super) fn divide<F: Format>(a: u64, b: u64, rounding: Rounding) -> (u64, Flags) {
    rounded::<F>(rounding, |mode| F::soft(a).div(F::soft(b), mode))
}

/// The square root.
#[cold]
pub(super) fn square_root<F: Format>(a: u64, rounding: Rounding) -> (u64, Flags) {
    rounded::<F>(rounding, |mode| F::soft(a).sqrt(mode))
}

/// a * b + c, rounded once.
#[cold]
pub(super) fn multiply_add<F: Format>(a: u64, b: u64, c: u64, rounding: Rounding) -> (u64, Flags) {
    rounded::<F>(rounding, |mode| {
        F::soft(a).fused_mul_add(F::soft(b), F::soft(c), mode)
    })
}

/// The value in the narrower format.
#[cold]
pub(super) fn narrow(a: u64, rounding: Rounding) -> (u64, Flags) {
    rounded::<Single>(rounding, |mode| Double::soft(a).to_f32(mode))
}

/// The nearest integer by the rounding mode, or the nearest that there is, as an integer register has it.
#[cold]
pub(super) fn to_integer<F: Format>(a: u64, integer: Integer, rounding: Rounding) -> (u64, Flags) {
    let a = F::soft(a);
    // "True": rounding raises the inexact flag.
    run(rounding, |mode| match integer {
        Integer::W => i64::from(a.to_i32(mode, true)) as u64,
        Integer::Wu => i64::from(a.to_u32(mode, true) as i32) as u64,
        Integer::L => a.to_i64(mode, true) as u64,
        Integer::Lu => a.to_u64(mode, true),
    })
}

/// The value of an integer register.
#[cold]
pub(super) fn from_integer<F: Format>(
    register: u64,
    integer: Integer,
    rounding: Rounding,
) -> (u64, Flags) {
    rounded::<F>(rounding, |mode| match integer {
        Integer::W => F::Soft::from_i32(register as i32, mode),
        Integer::Wu => F::Soft::from_u32(register as u32, mode),
        Integer::L => F::Soft::from_i64(register as i64, mode),
        Integer::Lu => F::Soft::from_u64(register, mode),
    })
}
