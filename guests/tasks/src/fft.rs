//! The transform of blocks of 512 or 1,024 symbols: separately of the even and the odd samples, each by pairs of
//! butterflies in place, whose results are in bit-reversed order.

use core::sync::atomic::AtomicU64;

use super::{Input, store};

include!(concat!(env!("OUT_DIR"), "/turns.rs"));

/// Real and imaginary part.
pub type Complex = [i32; 2];

/// The most points of half a transform.
pub const HALF_MAX: usize = 512;
const HALF_MAX_BITS: u32 = HALF_MAX.ilog2();

/// The reversed bits of each number below [`HALF_MAX`].
static REVERSED: [u16; HALF_MAX] = {
    let mut all = [0; HALF_MAX];
    let mut number = 0;
    while number < HALF_MAX {
        all[number] = (number as u16).reverse_bits() >> (u16::BITS - HALF_MAX_BITS);
        number += 1;
    }
    all
};

/// Half a sum, rounded up.
const fn half_sum(a: i64, b: i64) -> i64 {
    (a + b + 1) >> 1
}

/// Half a difference, rounded down.
const fn half_difference(a: i64, b: i64) -> i64 {
    (a - b) >> 1
}

/// Multiplies by a twiddle.
#[inline(always)]
fn turned([re, im]: [i64; 2], twiddle: Complex) -> [i64; 2] {
    let [cosine, sine] = twiddle.map(i64::from);
    [
        (re * cosine - im * sine + 32_768) >> 16,
        (re * sine + im * cosine + 32_768) >> 16,
    ]
}

#[inline(always)]
fn sums(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [half_sum(a[0], b[0]), half_sum(a[1], b[1])]
}

#[inline(always)]
fn differences(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [half_difference(a[0], b[0]), half_difference(a[1], b[1])]
}

#[inline(always)]
fn wide(value: Complex) -> [i64; 2] {
    value.map(i64::from)
}

/// No part has more than 19 bits.
#[inline(always)]
fn narrow(value: [i64; 2]) -> Complex {
    value.map(|part| part as i32)
}

/// A pair of butterflies of four points, before the twiddles: the values of the four quarters.
#[inline(always)]
fn pair([a, b, c, d]: [Complex; 4]) -> [[i64; 2]; 4] {
    let [a, b, c, d] = [a, b, c, d].map(wide);
    let (first, second) = (sums(a, c), sums(b, d));
    let (third, fourth) = (differences(a, c), differences(b, d));
    // The fourth is multiplied by -i.
    let (re, im) = ((third[0], fourth[1]), (third[1], fourth[0]));
    [
        sums(first, second),
        differences(first, second),
        [half_sum(re.0, re.1), half_difference(im.0, im.1)],
        [half_difference(re.0, re.1), half_sum(im.0, im.1)],
    ]
}

/// A pair of butterflies for all points of a block, in place.
#[inline(always)]
fn pairs(block: &mut [Complex], twiddles: &[[Complex; 3]]) {
    let quarter = twiddles.len();
    let (first, rest) = block.split_at_mut(quarter);
    let (second, rest) = rest.split_at_mut(quarter);
    let (third, fourth) = rest.split_at_mut(quarter);
    let points = first.iter_mut().zip(second).zip(third).zip(fourth);
    for ((((a, b), c), d), twiddles) in points.zip(twiddles) {
        let quarters = pair([*a, *b, *c, *d]);
        *a = narrow(quarters[0]);
        *b = narrow(turned(quarters[1], twiddles[0]));
        *c = narrow(turned(quarters[2], twiddles[1]));
        *d = narrow(turned(quarters[3], twiddles[2]));
    }
}

fn transform_256(points: &mut [Complex]) {
    pairs(points, &TURNS_256);
    for block in points.as_chunks_mut::<64>().0 {
        pairs(block, &TURNS_64);
    }
    for block in points.as_chunks_mut::<16>().0 {
        pairs(block, &TURNS_16);
    }
    for block in points.as_chunks_mut::<4>().0 {
        *block = pair(*block).map(narrow);
    }
}

fn transform_512(points: &mut [Complex]) {
    let (first, second) = points.split_at_mut(256);
    for ((a, b), twiddle) in first.iter_mut().zip(&mut *second).zip(&TURNS_512) {
        let (x, y) = (wide(*a), wide(*b));
        *a = narrow(sums(x, y));
        *b = narrow(turned(differences(x, y), *twiddle));
    }
    transform_256(first);
    transform_256(second);
}

/// A part without the samples' additional bits, as 16 bits.
#[inline(always)]
fn rounded(part: i64) -> u64 {
    let part = (part + 2) >> 2;
    let part = part.clamp(i16::MIN.into(), i16::MAX.into());
    u64::from(part as u16)
}

#[inline(always)]
fn symbol([re, im]: [i64; 2]) -> u64 {
    rounded(re) | rounded(im) << 16
}

/// Splits a block into even and odd samples, each with an additional low bit.
#[inline(always)]
fn split(input: &Input<'_>, first: usize, even: &mut [Complex], odd: &mut [Complex]) {
    let sample = |symbol: u64| {
        let part = |bits: u64| i32::from(bits as i16) << 1;
        [part(symbol), part(symbol >> 16)]
    };
    for ((index, even), odd) in (first..).zip(even).zip(odd) {
        let both = input.word(index);
        *even = sample(both);
        *odd = sample(both >> 32);
    }
}

/// Combines the block from its halves. `shift`: the difference of the bits in their indices and in [`REVERSED`].
#[inline(always)]
fn join<'t>(
    even: &[Complex],
    odd: &[Complex],
    shift: u32,
    twiddles: impl Iterator<Item = &'t [Complex; 2]>,
    output: &[AtomicU64],
) {
    let half = even.len() / 2;
    let ((even, even_high), (odd, odd_high)) = (even.split_at(half), odd.split_at(half));
    let (low, high) = output.split_at(output.len() / 2);
    let places = REVERSED.iter().step_by(2 << shift);
    // Consecutive numbers differ in the last bit: their positions by half the size.
    for (((place, [twiddle, next]), low), high) in places.zip(twiddles).zip(low).zip(high) {
        let place = usize::from(*place) & (half - 1);
        let ends = |even: Complex, odd: Complex, twiddle: Complex| {
            let (even, odd) = (wide(even), turned(wide(odd), twiddle));
            let sum = symbol([even[0] + odd[0], even[1] + odd[1]]);
            (sum, symbol([even[0] - odd[0], even[1] - odd[1]]))
        };
        let first = ends(even[place], odd[place], *twiddle);
        let second = ends(even_high[place], odd_high[place], *next);
        store(low, first.0 | second.0 << 32);
        store(high, first.1 | second.1 << 32);
    }
}

/// Blocks of 512 symbols.
pub fn fft512(
    input: &Input<'_>,
    output: &[AtomicU64],
    even: &mut [Complex; HALF_MAX],
    odd: &mut [Complex; HALF_MAX],
) {
    let (even, odd) = (&mut even[..256], &mut odd[..256]);
    for (number, output) in output.chunks_exact(256).enumerate() {
        split(input, 256 * number, even, odd);
        transform_256(even);
        transform_256(odd);
        join(even, odd, 1, TURNS_512.as_chunks().0.iter(), output);
    }
}

/// Blocks of 1,024 symbols.
pub fn fft1024(
    input: &Input<'_>,
    output: &[AtomicU64],
    even: &mut [Complex; HALF_MAX],
    odd: &mut [Complex; HALF_MAX],
) {
    for (number, output) in output.chunks_exact(512).enumerate() {
        split(input, 512 * number, even, odd);
        transform_512(even);
        transform_512(odd);
        join(even, odd, 0, TURNS_1024.as_chunks().0.iter(), output);
    }
}
