//! The two formats, how registers of 64 bits hold them, and what needs no rounding.
//!
//! Values of both formats are handled as `u64`; those of single precision have the upper half zero. Between here and
//! the registers stand [`Format::read`] and [`Format::write`].

use softfloat_wrapper::{F32, F64, Float as _};

use super::Flags;

/// The upper half of a register that holds a value of single precision (section 12.2).
const BOX: u64 = 0xffff_ffff_0000_0000;

/// The canonical NaN of single precision (section 11.3).
const SINGLE_NAN: u64 = 0x7fc0_0000;

/// The register value that holds `bits` in single precision: NaN-boxed (section 12.2).
#[inline]
#[must_use]
pub const fn box_single(bits: u32) -> u64 {
    BOX | bits as u64
}

/// The value in single precision that a register holds: the canonical NaN where it is not NaN-boxed (section 12.2).
///
/// Stores and moves to integer registers take the low half as it is instead.
#[inline]
#[must_use]
pub const fn unbox_single(register: u64) -> u32 {
    if register & BOX == BOX {
        register as u32
    } else {
        SINGLE_NAN as u32
    }
}

/// A binary interchange format of IEEE 754.
pub(super) trait Format {
    /// The same format for SoftFloat.
    type Soft: softfloat_wrapper::Float;

    /// How many bits of fraction.
    const FRACTION_BITS: u32;
    /// The largest exponent as encoded: that of infinities and NaNs.
    const EXPONENT_MAX: u64;
    /// The sign bit.
    const SIGN: u64 = (Self::EXPONENT_MAX + 1) << Self::FRACTION_BITS;
    /// The magnitude of infinity.
    const INFINITY: u64 = Self::EXPONENT_MAX << Self::FRACTION_BITS;
    /// The bit that quiet NaNs have and signalling ones have not.
    const QUIET: u64 = 1 << (Self::FRACTION_BITS - 1);
    /// The canonical NaN: positive, quiet, all else zero (section 11.3).
    const NAN: u64 = Self::INFINITY | Self::QUIET;

    /// The value in a register.
    fn read(register: u64) -> u64;
    /// The register for a value.
    fn write(value: u64) -> u64;
    /// For SoftFloat.
    fn soft(value: u64) -> Self::Soft;
    /// From SoftFloat.
    fn value(soft: Self::Soft) -> u64;
}

/// Single precision: the format of F.
pub(super) struct Single;

impl Format for Single {
    type Soft = F32;
    const FRACTION_BITS: u32 = 23;
    const EXPONENT_MAX: u64 = 0xff;

    #[inline]
    fn read(register: u64) -> u64 {
        u64::from(unbox_single(register))
    }

    #[inline]
    fn write(value: u64) -> u64 {
        BOX | value
    }

    #[inline]
    fn soft(value: u64) -> F32 {
        F32::from_bits(value as u32)
    }

    #[inline]
    fn value(soft: F32) -> u64 {
        u64::from(soft.to_bits())
    }
}

/// Double precision: the format of D.
pub(super) struct Double;

impl Format for Double {
    type Soft = F64;
    const FRACTION_BITS: u32 = 52;
    const EXPONENT_MAX: u64 = 0x7ff;

    #[inline]
    fn read(register: u64) -> u64 {
        register
    }

    #[inline]
    fn write(value: u64) -> u64 {
        value
    }

    #[inline]
    fn soft(value: u64) -> F64 {
        F64::from_bits(value)
    }

    #[inline]
    fn value(soft: F64) -> u64 {
        soft.to_bits()
    }
}

#[inline]
const fn magnitude<F: Format>(value: u64) -> u64 {
    value & (F::SIGN - 1)
}

#[inline]
pub(super) const fn is_nan<F: Format>(value: u64) -> bool {
    magnitude::<F>(value) > F::INFINITY
}

#[inline]
pub(super) const fn is_signalling<F: Format>(value: u64) -> bool {
    is_nan::<F>(value) && value & F::QUIET == 0
}

/// NV where it is `invalid`.
#[inline]
pub(super) const fn invalid_if(invalid: bool) -> Flags {
    if invalid { Flags::NV } else { Flags::empty() }
}

/// A number that orders as the value does (no NaN), with -0 equal to +0.
#[inline]
const fn ordered<F: Format>(value: u64) -> i64 {
    let magnitude = magnitude::<F>(value) as i64;
    if value & F::SIGN == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// The sign that a sign injection gives its result, from those of both operands (section 11.7).
#[derive(Clone, Copy)]
pub(super) enum Injected {
    /// The second's.
    Second,
    /// The opposite of the second's.
    Opposite,
    /// Negative where they differ.
    Product,
}

/// Sign injection (section 11.7). NaNs are kept as they are.
#[inline]
pub(super) const fn inject<F: Format>(a: u64, b: u64, sign: Injected) -> u64 {
    let sign = match sign {
        Injected::Second => b,
        Injected::Opposite => !b,
        Injected::Product => a ^ b,
    };
    magnitude::<F>(a) | sign & F::SIGN
}

/// The relation of a comparison (section 11.8).
#[derive(Clone, Copy)]
pub(super) enum Relation {
    /// `a == b`: quiet.
    Equal,
    /// `a < b`: signalling.
    Less,
    /// `a <= b`: signalling.
    LessOrEqual,
}

/// A comparison: 1 where it holds, and 0 where not or where an operand is a NaN. A signalling comparison is invalid
/// with any NaN, a quiet one with a signalling NaN.
#[inline]
pub(super) const fn compare<F: Format>(a: u64, b: u64, relation: Relation) -> (u64, Flags) {
    if is_nan::<F>(a) || is_nan::<F>(b) {
        let quiet = matches!(relation, Relation::Equal);
        let invalid = !quiet || is_signalling::<F>(a) || is_signalling::<F>(b);
        return (0, invalid_if(invalid));
    }
    let (a, b) = (ordered::<F>(a), ordered::<F>(b));
    let holds = match relation {
        Relation::Equal => a == b,
        Relation::Less => a < b,
        Relation::LessOrEqual => a <= b,
    };
    (holds as u64, Flags::empty())
}

/// The smaller or the greater of two.
#[derive(Clone, Copy)]
pub(super) enum Extremum {
    /// `fmin`.
    Minimum,
    /// `fmax`.
    Maximum,
}

/// Minimum or maximum (section 11.6): -0 is less than +0, a number is preferred to a NaN, and of two NaNs comes the
/// canonical one. A signalling NaN is invalid, though the result is the other operand.
#[inline]
pub(super) const fn extremum<F: Format>(a: u64, b: u64, which: Extremum) -> (u64, Flags) {
    let flags = invalid_if(is_signalling::<F>(a) || is_signalling::<F>(b));
    let result = match (is_nan::<F>(a), is_nan::<F>(b)) {
        (true, true) => F::NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            // Where they compare equal, the negative one is -0.
            let (order_a, order_b) = (ordered::<F>(a), ordered::<F>(b));
            let below = order_a < order_b || order_a == order_b && a & F::SIGN != 0;
            match which {
                Extremum::Minimum if below => a,
                Extremum::Maximum if !below => a,
                _ => b,
            }
        }
    };
    (result, flags)
}

/// The class of a value: one bit of ten (table 11.5).
#[inline]
pub(super) const fn class<F: Format>(value: u64) -> u64 {
    let magnitude = magnitude::<F>(value);
    let negative = value & F::SIGN != 0;
    let bit = if magnitude > F::INFINITY {
        if is_signalling::<F>(value) { 8 } else { 9 }
    } else {
        // Numbers lie symmetrically about zero: bits 0 to 3 and 7 to 4.
        let distance = if magnitude == F::INFINITY {
            0
        } else if magnitude >> F::FRACTION_BITS != 0 {
            1
        } else if magnitude != 0 {
            2
        } else {
            3
        };
        if negative { distance } else { 7 - distance }
    };
    1 << bit
}

/// The integers that values are converted from and to (sections 11.7 and 12.5).
#[derive(Clone, Copy)]
pub(super) enum Integer {
    /// Signed, 32 bits.
    W,
    /// Unsigned, 32 bits; the register holds it sign-extended all the same.
    Wu,
    /// Signed, 64 bits.
    L,
    /// Unsigned, 64 bits.
    Lu,
}
