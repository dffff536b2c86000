//! Rounding to nearest even by the host's floating-point unit, where that is known to be bit-exact with flags.
//!
//! Each function gives `None` where it cannot vouch for its result: NaNs and infinities, overflow, what is or may be
//! tiny, operands whose significand is not normalised. Otherwise the result is the host's, and the only flag that can
//! be raised is NX, which is found without asking the host's flags: by an error-free transform, or by an integer
//! multiplication of significands that the result must agree with.
//!
//! Below, "m" is a significand as an integer with its leading one and "e" an encoded exponent, so that a normal number
//! of double precision is m * 2^(e - 1075), with 2^52 <= m < 2^53.

use super::format::{Double, Format, Integer, Single};
use super::{Flags, Rounding};

/// The result of the host's engine.
type Answer = Option<(u64, Flags)>;

/// The bias of a double's exponent, to its significand as an integer.
const BIAS: i64 = 1023 + 52;

/// NX where it is `inexact`.
#[inline]
const fn inexact_if(inexact: bool) -> Flags {
    Flags::from_bits_truncate(inexact as u8 * Flags::NX.bits())
}

/// The encoded exponent of a double.
#[inline]
const fn exponent(bits: u64) -> i64 {
    (bits >> 52) as i64 & 0x7ff
}

/// The significand of a normal double, as an integer.
#[inline]
const fn significand(bits: u64) -> u64 {
    bits & ((1 << 52) - 1) | 1 << 52
}

/// Whether a double is normal.
#[inline]
const fn is_normal(bits: u64) -> bool {
    matches!(exponent(bits), 1..=0x7fe)
}

/// Whether a double result is normal and was not tiny before rounding either.
#[inline]
const fn is_safe(bits: u64) -> bool {
    matches!(exponent(bits), 2..=0x7fe)
}

/// The same for single precision.
#[inline]
const fn is_safe_single(bits: u32) -> bool {
    matches!(bits >> 23 & 0xff, 2..=0xfe)
}

/// A double rounded to single precision; `inexact` when the double itself was not what is to be rounded, which 0 is.
#[inline]
fn narrowed(wide: f64, inexact: bool) -> Answer {
    let result = wide as f32;
    (is_safe_single(result.to_bits()) || wide == 0.0).then(|| {
        let inexact = inexact | (f64::from(result) != wide);
        (u64::from(result.to_bits()), inexact_if(inexact))
    })
}

/// The sum as a double, and what it lost, exactly (Knuth's 2Sum). No operand is near the ends of the range.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The host's operations in a format.
pub(super) trait Host: Format {
    /// a + b
    fn add(a: u64, b: u64) -> Answer;
    /// a * b
    fn multiply(a: u64, b: u64) -> Answer;
    /// a / b
    fn divide(a: u64, b: u64) -> Answer;
    /// The square root.
    fn square_root(a: u64) -> Answer;
    /// a * b + c, rounded once.
    fn multiply_add(a: u64, b: u64, c: u64) -> Answer;
    /// The number itself, which a double holds exactly.
    fn to_double(a: u64) -> f64;
    /// The value of an integer, when `magnitude`, its absolute value, and `negative` are given.
    fn from_integer(magnitude: u64, negative: bool) -> (u64, Flags);
}

impl Host for Double {
    /// The sum is exact just when both differences give the other operand back. If it is exact they do, since the
    /// operands are representable. Conversely the difference of the sum and the greater operand is exact (Dekker's
    /// Fast2Sum; Muller et al., Handbook of Floating-Point Arithmetic, 2nd edition, 4.3.1), so if it is the other
    /// operand, nothing was lost. A sum is never both tiny and inexact.
    #[inline]
    fn add(a: u64, b: u64) -> Answer {
        let (a, b) = (f64::from_bits(a), f64::from_bits(b));
        let sum = a + b;
        let exact = (sum - a == b) & (sum - b == a);
        sum.is_finite().then(|| (sum.to_bits(), inexact_if(!exact)))
    }

    /// The product of two significands has 105 or 106 bits, of which the result keeps 53. It is exact when the others
    /// are zero; they are among the product's low 53.
    #[inline]
    fn multiply(a: u64, b: u64) -> Answer {
        let product = (f64::from_bits(a) * f64::from_bits(b)).to_bits();
        if is_normal(a) && is_normal(b) && is_safe(product) {
            // 52 or 53: how many bits are dropped. One more when rounding carries into the exponent, which no exact
            // product does.
            let dropped = exponent(product) - exponent(a) - exponent(b) + BIAS;
            let low = significand(a).wrapping_mul(significand(b));
            return Some((product, inexact_if(low << (64 - dropped) != 0)));
        }
        // Zero because a factor is zero, not because it is tiny.
        let is_zero = |bits: u64| bits << 1 == 0;
        (is_zero(product) && (is_zero(a) || is_zero(b))).then_some((product, Flags::empty()))
    }

    /// The quotient is exact just when quotient times divisor is the dividend: with q, b and a their significands, when
    /// q * b == a << k. Rounding is off by half a unit of q at most, so the two sides differ by less than 2^53, and the
    /// comparison of their low 64 bits decides.
    #[inline]
    fn divide(a: u64, b: u64) -> Answer {
        let quotient = (f64::from_bits(a) / f64::from_bits(b)).to_bits();
        if is_normal(a) && is_normal(b) && is_safe(quotient) {
            let shift = exponent(a) - exponent(quotient) - exponent(b) + BIAS;
            let low = significand(quotient).wrapping_mul(significand(b));
            return Some((quotient, inexact_if(low != significand(a) << shift)));
        }
        None
    }

    /// As with division: exact when the root times itself is the operand. A root is never out of range.
    #[inline]
    fn square_root(a: u64) -> Answer {
        if is_normal(a) && a & Self::SIGN == 0 {
            let root = f64::from_bits(a).sqrt().to_bits();
            let shift = exponent(a) - 2 * exponent(root) + BIAS;
            let low = significand(root).wrapping_mul(significand(root));
            return Some((root, inexact_if(low != significand(a) << shift)));
        }
        None
    }

    /// The error of a fused multiply-add in three steps (Boldo and Muller, Exact and Approximated Error of the FMA,
    /// IEEE Transactions on Computers 60(2), 2011): a * b + c == result + (gamma + low) exactly, where nothing
    /// overflows or is subnormal on the way, which the exponents see to.
    #[inline]
    fn multiply_add(a: u64, b: u64, c: u64) -> Answer {
        // Between 2^-447 and 2^497: even the last bit of a product is a normal number.
        let middle = |bits: u64| matches!(exponent(bits), 0x240..=0x5ef);
        if middle(a) && middle(b) && (middle(c) || c << 1 == 0) {
            let (a, b, c) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            let result = a.mul_add(b, c);
            let product = a * b;
            let rest = a.mul_add(b, -product);
            let (sum, low) = two_sum(c, rest);
            let (high, middle) = two_sum(product, sum);
            let gamma = (high - result) + middle;
            return Some((result.to_bits(), inexact_if(gamma + low != 0.0)));
        }
        None
    }

    #[inline]
    fn to_double(a: u64) -> f64 {
        f64::from_bits(a)
    }

    #[inline]
    fn from_integer(magnitude: u64, negative: bool) -> (u64, Flags) {
        let result = (magnitude as f64).to_bits();
        (result | u64::from(negative) << 63, lost(magnitude, 53))
    }
}

/// NX where an integer has more than `precision` bits from its first one to its last.
#[inline]
const fn lost(magnitude: u64, precision: u32) -> Flags {
    // Of 0 every shift is 0.
    let normalised = magnitude << (magnitude.leading_zeros() & 63);
    inexact_if(normalised << precision != 0)
}

impl Host for Single {
    /// See [`Double`].
    #[inline]
    fn add(a: u64, b: u64) -> Answer {
        let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let sum = a + b;
        let exact = (sum - a == b) & (sum - b == a);
        sum.is_finite()
            .then(|| (u64::from(sum.to_bits()), inexact_if(!exact)))
    }

    /// A double holds the product of two singles exactly: 48 bits, and an exponent far inside its range.
    #[inline]
    fn multiply(a: u64, b: u64) -> Answer {
        narrowed(Self::to_double(a) * Self::to_double(b), false)
    }

    /// Exact when quotient times divisor, which a double holds exactly, is the dividend.
    #[inline]
    fn divide(a: u64, b: u64) -> Answer {
        let quotient = f32::from_bits(a as u32) / f32::from_bits(b as u32);
        is_safe_single(quotient.to_bits()).then(|| {
            let inexact = f64::from(quotient) * Self::to_double(b) != Self::to_double(a);
            (u64::from(quotient.to_bits()), inexact_if(inexact))
        })
    }

    /// Exact when the root times itself is the operand.
    #[inline]
    fn square_root(a: u64) -> Answer {
        let root = f32::from_bits(a as u32).sqrt();
        is_safe_single(root.to_bits()).then(|| {
            let wide = f64::from(root);
            (
                u64::from(root.to_bits()),
                inexact_if(wide * wide != Self::to_double(a)),
            )
        })
    }

    /// The product is exact as a double. The sum is rounded to a double first, to odd: the last bit is set when
    /// anything was lost. A double has more than two bits beyond a single, so rounding that to a single is as good as
    /// rounding once (Boldo and Melquiond, Emulation of FMA and Correctly Rounded Sums, IEEE Transactions on Computers
    /// 57(4), 2008).
    #[inline]
    fn multiply_add(a: u64, b: u64, c: u64) -> Answer {
        let product = Self::to_double(a) * Self::to_double(b);
        let c = Self::to_double(c);
        let (sum, error) = two_sum(product, c);
        let mut odd = sum;
        if error != 0.0 && sum.to_bits() & 1 == 0 {
            // To the neighbour on the side of what was lost: away from zero where the error has the sum's sign.
            let outwards = (error > 0.0) == (sum > 0.0);
            let bits = sum.to_bits();
            odd = f64::from_bits(if outwards { bits + 1 } else { bits - 1 });
        }
        narrowed(odd, error != 0.0)
    }

    #[inline]
    fn to_double(a: u64) -> f64 {
        f64::from(f32::from_bits(a as u32))
    }

    #[inline]
    fn from_integer(magnitude: u64, negative: bool) -> (u64, Flags) {
        let result = u64::from((magnitude as f32).to_bits());
        (result | u64::from(negative) << 31, lost(magnitude, 24))
    }
}

/// The value in the narrower format.
#[inline]
pub(super) fn narrow(a: u64) -> Answer {
    narrowed(f64::from_bits(a), false)
}

/// The value as an integer, rounded, as an integer register has it; in every rounding mode. `None`: it does not fit.
#[inline]
pub(super) fn to_integer<F: Host>(a: u64, integer: Integer, rounding: Rounding) -> Answer {
    /// Below this magnitude the host's conversion to 64 bits is plain, and one more still fits.
    const LIMIT: f64 = (1_u64 << 62) as f64;
    let a = F::to_double(a);
    // Not with a NaN either.
    if a.abs() < LIMIT {
        let whole = a as i64;
        // Exact: what is left has no more bits than the number itself.
        let fraction = a - whole as f64;
        let outwards = match rounding {
            Rounding::NearestEven => {
                fraction.abs() > 0.5 || fraction.abs() == 0.5 && whole & 1 != 0
            }
            Rounding::Zero => false,
            Rounding::Down => fraction < 0.0,
            Rounding::Up => fraction > 0.0,
            Rounding::NearestMaxMagnitude => fraction.abs() >= 0.5,
        };
        let whole = match (outwards, fraction < 0.0) {
            (false, _) => whole,
            (true, false) => whole + 1,
            (true, true) => whole - 1,
        };
        let (fits, register) = match integer {
            Integer::W => (i64::from(whole as i32) == whole, whole),
            Integer::Wu => (i64::from(whole as u32) == whole, i64::from(whole as i32)),
            Integer::L => (true, whole),
            Integer::Lu => (whole >= 0, whole),
        };
        return fits.then_some((register as u64, inexact_if(fraction != 0.0)));
    }
    None
}
