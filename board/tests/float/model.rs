//! An exact model of rounding: values as fractions and square roots of unlimited whole numbers.
//!
//! They are rounded by IEEE 754's definitions. The model is written to be evidently right, not to be fast.

use std::cmp::Ordering;

use num_bigint::BigUint;
use tactus_board::float::{Flags, Rounding};

/// A binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the significand, the leading one included.
    pub precision: u32,
    /// Exponent of the smallest normal number.
    pub lowest: i64,
}

pub const SINGLE: Format = Format {
    precision: 24,
    lowest: -126,
};
pub const DOUBLE: Format = Format {
    precision: 53,
    lowest: -1022,
};

impl Format {
    /// Exponent of the greatest numbers.
    pub fn highest(self) -> i64 {
        1 - self.lowest
    }

    pub fn infinity(self) -> u64 {
        (2 * self.highest() as u64 + 1) << (self.precision - 1)
    }

    pub fn nan(self) -> u64 {
        self.infinity() | self.quiet()
    }

    pub fn quiet(self) -> u64 {
        1 << (self.precision - 2)
    }

    pub fn sign(self) -> u64 {
        if self == SINGLE { 1 << 31 } else { 1 << 63 }
    }

    pub fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    pub fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet() == 0
    }

    pub fn is_infinite(self, bits: u64) -> bool {
        bits & !self.sign() == self.infinity()
    }

    pub fn is_zero(self, bits: u64) -> bool {
        bits & !self.sign() == 0
    }

    pub fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }

    pub fn signed(self, magnitude: u64, negative: bool) -> u64 {
        magnitude | if negative { self.sign() } else { 0 }
    }

    /// The exponent of the last bit of subnormal numbers.
    fn smallest(self) -> i64 {
        self.lowest - i64::from(self.precision) + 1
    }

    /// The magnitude of a finite number.
    pub fn magnitude(self, bits: u64) -> Magnitude {
        let bits = bits & !self.sign();
        let fraction = bits & ((1 << (self.precision - 1)) - 1);
        let (significand, exponent) = match (bits >> (self.precision - 1)) as i64 {
            0 => (fraction, 0),
            encoded => (fraction | 1 << (self.precision - 1), encoded - 1),
        };
        Magnitude::whole(significand).scaled(exponent + self.smallest())
    }
}

/// A number that is not negative: a fraction times a power of two, or the square root of that.
#[derive(Clone, Debug)]
pub struct Magnitude {
    pub numerator: BigUint,
    pub denominator: BigUint,
    pub exponent: i64,
    pub root: bool,
}

impl Magnitude {
    pub fn whole(number: impl Into<BigUint>) -> Self {
        Self {
            numerator: number.into(),
            denominator: 1_u8.into(),
            exponent: 0,
            root: false,
        }
    }

    /// The number times a power of two.
    pub fn scaled(mut self, exponent: i64) -> Self {
        self.exponent += exponent;
        self
    }

    pub fn is_zero(&self) -> bool {
        self.numerator == 0_u8.into()
    }

    pub fn times(&self, other: &Self) -> Self {
        Self {
            numerator: &self.numerator * &other.numerator,
            denominator: &self.denominator * &other.denominator,
            exponent: self.exponent + other.exponent,
            root: false,
        }
    }

    pub fn over(&self, other: &Self) -> Self {
        Self {
            numerator: &self.numerator * &other.denominator,
            denominator: &self.denominator * &other.numerator,
            exponent: self.exponent - other.exponent,
            root: false,
        }
    }

    pub fn square_root(mut self) -> Self {
        self.root = true;
        self
    }

    /// The sum of two whole numbers times powers of two, each with its sign (true: negative), as sign and magnitude.
    pub fn sum(a: (bool, &Self), b: (bool, &Self)) -> (bool, Self) {
        let exponent = a.1.exponent.min(b.1.exponent);
        let aligned = |x: &Self| &x.numerator << (x.exponent - exponent) as usize;
        let (first, second) = (aligned(a.1), aligned(b.1));
        let (negative, numerator) = if a.0 == b.0 {
            (a.0, first + second)
        } else if first >= second {
            (a.0, first - second)
        } else {
            (b.0, second - first)
        };
        (negative, Self::whole(numerator).scaled(exponent))
    }

    /// The quotient by 2^`unit`: its whole part, the rest compared with one half, and whether there is no rest.
    fn split(&self, unit: i64) -> (BigUint, Ordering, bool) {
        // Under a root, the unit counts twice.
        let shift = self.exponent - if self.root { 2 * unit } else { unit };
        let (mut numerator, mut denominator) = (self.numerator.clone(), self.denominator.clone());
        if shift >= 0 {
            numerator <<= shift as usize;
        } else {
            denominator <<= -shift as usize;
        }
        let whole = &numerator / &denominator;
        let whole = if self.root { whole.sqrt() } else { whole };
        let power = |x: BigUint| if self.root { &x * &x } else { x };
        // Doubled: 2 * this against 2 * whole and 2 * whole + 1.
        let doubled = numerator * power(2_u8.into());
        let even: BigUint = &whole * 2_u8;
        let exact = doubled == power(even.clone()) * &denominator;
        let half = doubled.cmp(&(power(even + 1_u8) * &denominator));
        (whole, half, exact)
    }

    /// The number rounded to a whole number of 2^`unit`, and whether that changed it.
    pub fn rounded(&self, unit: i64, negative: bool, rounding: Rounding) -> (BigUint, bool) {
        let (whole, half, exact) = self.split(unit);
        let up = match rounding {
            Rounding::NearestEven => {
                half == Ordering::Greater || half == Ordering::Equal && whole.bit(0)
            }
            Rounding::NearestMaxMagnitude => half != Ordering::Less,
            Rounding::Zero => false,
            Rounding::Down => negative && !exact,
            Rounding::Up => !negative && !exact,
        };
        (if up { whole + 1_u8 } else { whole }, !exact)
    }

    /// The exponent of the greatest power of two that is at most the number, which must not be zero.
    fn logarithm(&self) -> i64 {
        let guess = self.numerator.bits() as i64 - self.denominator.bits() as i64 + self.exponent;
        let guess = if self.root {
            guess.div_euclid(2)
        } else {
            guess
        };
        // The guess is off by one at most.
        (guess - 1..=guess + 1)
            .rev()
            .find(|&exponent| self.split(exponent).0 > 0_u8.into())
            .expect("a number that is not zero")
    }

    /// The number rounded to a format, with flags (IEEE 754-2008, 4.3 and 7.4 to 7.6, tininess after rounding).
    pub fn to_format(&self, format: Format, negative: bool, rounding: Rounding) -> (u64, Flags) {
        if self.is_zero() {
            return (format.signed(0, negative), Flags::empty());
        }
        let one: BigUint = 1_u8.into();
        let last = i64::from(format.precision) - 1;
        // Rounded with unlimited exponents.
        let unit = self.logarithm() - last;
        let (unlimited, _) = self.rounded(unit, negative, rounding);
        let reaches = |exponent: i64, whole: &BigUint| {
            exponent <= unit || *whole >= &one << (exponent - unit) as usize
        };
        let tiny = !reaches(format.lowest, &unlimited);
        if reaches(format.highest() + 1, &unlimited) {
            let to_infinity = match rounding {
                Rounding::NearestEven | Rounding::NearestMaxMagnitude => true,
                Rounding::Zero => false,
                Rounding::Down => negative,
                Rounding::Up => !negative,
            };
            let magnitude = format.infinity() - u64::from(!to_infinity);
            return (format.signed(magnitude, negative), Flags::OF | Flags::NX);
        }
        // Rounded with the format's exponents.
        let unit = unit.max(format.smallest());
        let (significand, inexact) = self.rounded(unit, negative, rounding);
        let significand = u64::try_from(significand).expect("at most 2^precision");
        // A significand that reaches the leading bit increments the exponent by itself.
        let magnitude = (((unit - format.smallest()) as u64) << last) + significand;
        let mut flags = Flags::empty();
        flags.set(Flags::NX, inexact);
        flags.set(Flags::UF, inexact && tiny);
        (format.signed(magnitude, negative), flags)
    }
}

/// The result of an operation: a value of its format, and flags.
pub type Outcome = (u64, Flags);

/// The outcome of an operation with a NaN among its operands (specification, section 11.3), if there is one.
fn nan_among(format: Format, operands: &[u64]) -> Option<Outcome> {
    let mut flags = Flags::empty();
    flags.set(
        Flags::NV,
        operands.iter().any(|&bits| format.is_signalling(bits)),
    );
    operands
        .iter()
        .any(|&bits| format.is_nan(bits))
        .then(|| (format.nan(), flags))
}

/// The exactly zero sum of two parts that are not zeros of the same sign (IEEE 754-2008, 6.3).
fn zero_sum(format: Format, rounding: Rounding) -> Outcome {
    (format.signed(0, rounding == Rounding::Down), Flags::empty())
}

pub fn add(format: Format, a: u64, b: u64, rounding: Rounding) -> Outcome {
    if let Some(outcome) = nan_among(format, &[a, b]) {
        return outcome;
    }
    let (negative_a, negative_b) = (format.is_negative(a), format.is_negative(b));
    match (format.is_infinite(a), format.is_infinite(b)) {
        (true, true) if negative_a != negative_b => return (format.nan(), Flags::NV),
        (true, _) => return (a, Flags::empty()),
        (_, true) => return (b, Flags::empty()),
        _ => {}
    }
    if format.is_zero(a) && a == b {
        return (a, Flags::empty());
    }
    let (magnitude_a, magnitude_b) = (format.magnitude(a), format.magnitude(b));
    let (negative, sum) = Magnitude::sum((negative_a, &magnitude_a), (negative_b, &magnitude_b));
    if sum.is_zero() {
        return zero_sum(format, rounding);
    }
    sum.to_format(format, negative, rounding)
}

pub fn multiply(format: Format, a: u64, b: u64, rounding: Rounding) -> Outcome {
    if let Some(outcome) = nan_among(format, &[a, b]) {
        return outcome;
    }
    let negative = format.is_negative(a) != format.is_negative(b);
    if format.is_infinite(a) || format.is_infinite(b) {
        if format.is_zero(a) || format.is_zero(b) {
            return (format.nan(), Flags::NV);
        }
        return (format.signed(format.infinity(), negative), Flags::empty());
    }
    let product = format.magnitude(a).times(&format.magnitude(b));
    product.to_format(format, negative, rounding)
}

pub fn divide(format: Format, a: u64, b: u64, rounding: Rounding) -> Outcome {
    if let Some(outcome) = nan_among(format, &[a, b]) {
        return outcome;
    }
    let negative = format.is_negative(a) != format.is_negative(b);
    let infinity = format.signed(format.infinity(), negative);
    match (format.is_infinite(a), format.is_infinite(b)) {
        (true, true) => return (format.nan(), Flags::NV),
        (true, false) => return (infinity, Flags::empty()),
        (false, true) => return (format.signed(0, negative), Flags::empty()),
        (false, false) => {}
    }
    match (format.is_zero(a), format.is_zero(b)) {
        (true, true) => (format.nan(), Flags::NV),
        (false, true) => (infinity, Flags::DZ),
        _ => format
            .magnitude(a)
            .over(&format.magnitude(b))
            .to_format(format, negative, rounding),
    }
}

pub fn square_root(format: Format, a: u64, rounding: Rounding) -> Outcome {
    if let Some(outcome) = nan_among(format, &[a]) {
        return outcome;
    }
    if format.is_zero(a) {
        return (a, Flags::empty());
    }
    if format.is_negative(a) {
        return (format.nan(), Flags::NV);
    }
    if format.is_infinite(a) {
        return (a, Flags::empty());
    }
    format
        .magnitude(a)
        .square_root()
        .to_format(format, false, rounding)
}

/// a * b + c. Infinity times zero is invalid even when c is a quiet NaN (specification, section 11.6).
pub fn multiply_add(format: Format, a: u64, b: u64, c: u64, rounding: Rounding) -> Outcome {
    let infinite = format.is_infinite(a) || format.is_infinite(b);
    if infinite && (format.is_zero(a) || format.is_zero(b)) {
        return (format.nan(), Flags::NV);
    }
    if let Some(outcome) = nan_among(format, &[a, b, c]) {
        return outcome;
    }
    let negative = format.is_negative(a) != format.is_negative(b);
    if infinite {
        return add(
            format,
            format.signed(format.infinity(), negative),
            c,
            rounding,
        );
    }
    if format.is_infinite(c) {
        return (c, Flags::empty());
    }
    let product = format.magnitude(a).times(&format.magnitude(b));
    if product.is_zero() && format.is_zero(c) {
        return add(format, format.signed(0, negative), c, rounding);
    }
    let (negative, sum) = Magnitude::sum(
        (negative, &product),
        (format.is_negative(c), &format.magnitude(c)),
    );
    if sum.is_zero() {
        return zero_sum(format, rounding);
    }
    sum.to_format(format, negative, rounding)
}

/// A conversion from one format to another.
pub fn convert(from: Format, to: Format, a: u64, rounding: Rounding) -> Outcome {
    if let Some((_, flags)) = nan_among(from, &[a]) {
        return (to.nan(), flags);
    }
    let negative = from.is_negative(a);
    if from.is_infinite(a) {
        return (to.signed(to.infinity(), negative), Flags::empty());
    }
    from.magnitude(a).to_format(to, negative, rounding)
}

/// A conversion to an integer of `lowest` to `highest`; table 11.4 of the specification has the results out of range.
pub fn to_integer(
    format: Format,
    a: u64,
    lowest: i128,
    highest: i128,
    rounding: Rounding,
) -> (i128, Flags) {
    let negative = format.is_negative(a);
    if format.is_nan(a) {
        return (highest, Flags::NV);
    }
    let invalid = (if negative { lowest } else { highest }, Flags::NV);
    if format.is_infinite(a) {
        return invalid;
    }
    let (magnitude, inexact) = format.magnitude(a).rounded(0, negative, rounding);
    let Ok(magnitude) = i128::try_from(magnitude) else {
        return invalid;
    };
    let integer = if negative { -magnitude } else { magnitude };
    if !(lowest..=highest).contains(&integer) {
        return invalid;
    }
    let mut flags = Flags::empty();
    flags.set(Flags::NX, inexact);
    (integer, flags)
}

pub fn from_integer(format: Format, integer: i128, rounding: Rounding) -> Outcome {
    Magnitude::whole(integer.unsigned_abs()).to_format(format, integer < 0, rounding)
}
