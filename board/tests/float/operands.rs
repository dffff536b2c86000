//! Hard operands: special values and their neighbours, extreme exponents, and significands of few bits.
//!
//! Related operands make results cancel, overflow, underflow or lie half-way.

use proptest::prelude::*;

use super::model::Format;

/// A configuration with the number of cases for each property.
pub fn cases(number: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(number)
    }
}

/// A value of the format.
pub fn value(format: Format) -> impl Strategy<Value = u64> {
    let fraction_bits = format.precision - 1;
    let ones = (1_u64 << fraction_bits) - 1;
    let bias = format.highest() as u64;
    let encoded_max = 2 * bias + 1;
    let sign = format.sign();
    let near = prop::sample::select(vec![
        0,
        1 << (fraction_bits - 1),
        1 << fraction_bits,
        2 << fraction_bits,
        bias << fraction_bits,
        (bias + fraction_bits as u64) << fraction_bits,
        (bias + 31) << fraction_bits,
        (bias + 32) << fraction_bits,
        (bias + 63) << fraction_bits,
        (bias + 64) << fraction_bits,
        format.infinity(),
        format.nan(),
    ]);
    // A special value or one of its neighbours.
    let special = (near, -2_i64..=2)
        .prop_map(move |(bits, step)| bits.saturating_add_signed(step) & (sign - 1));
    let exponent = prop_oneof![
        3 => 0..=encoded_max,
        2 => 0_u64..=3,
        2 => encoded_max - 3..=encoded_max,
        4 => bias - 3..=bias + 3,
        2 => bias.saturating_sub(u64::from(2 * format.precision))..=bias + u64::from(2 * format.precision),
    ];
    let fraction = prop_oneof![
        3 => any::<u64>(),
        // Few ones, or few zeros.
        2 => (0..fraction_bits, 0..fraction_bits).prop_map(|(a, b)| 1 << a | 1 << b),
        1 => (0..fraction_bits, 0..fraction_bits).prop_map(|(a, b)| !(1 << a | 1 << b)),
        // The low bits zero, or one: products and sums that are exact, or nearly.
        3 => (any::<u64>(), 0..=fraction_bits).prop_map(|(bits, low)| bits >> low << low),
        1 => (any::<u64>(), 0..=fraction_bits).prop_map(|(bits, low)| bits | ((1 << low) - 1)),
    ];
    let built = (exponent, fraction)
        .prop_map(move |(exponent, fraction)| exponent << fraction_bits | fraction & ones);
    (prop_oneof![1 => special, 4 => built], any::<bool>())
        .prop_map(move |(magnitude, negative)| format.signed(magnitude, negative))
}

/// Three operands, of which the second and the third may be derived from the first.
pub fn triple(format: Format) -> impl Strategy<Value = (u64, u64, u64)> {
    let fraction_bits = format.precision - 1;
    let encoded_max = 2 * format.highest() + 1;
    let bias = format.highest();
    let exponent_of = move |bits: u64| (bits >> fraction_bits) as i64 & encoded_max;
    let with_exponent = move |bits: u64, exponent: i64| {
        let exponent = exponent.clamp(0, encoded_max) as u64;
        bits & !format.infinity() | exponent << fraction_bits
    };
    let span = i64::from(format.precision) + 3;
    (
        (value(format), value(format), value(format)),
        0..10,
        -3_i64..=3,
        -span..=2 * span,
        any::<bool>(),
    )
        .prop_map(move |((a, b, c), kind, step, distance, flip)| {
            let flipped = |bits: u64| if flip { bits ^ format.sign() } else { bits };
            let stepped = |bits: u64| {
                bits & format.sign()
                    | (bits & !format.sign()).saturating_add_signed(step) & !format.sign()
            };
            match kind {
                // Nearly equal operands: cancellation, and quotients near 1.
                0 => (a, flipped(stepped(a)), c),
                // Exponents so close that the smaller operand is about half of the other's last bit.
                1 => (a, with_exponent(b, exponent_of(a) - distance), c),
                // A product at the bottom of the range; then at the top.
                2 => (
                    a,
                    with_exponent(
                        b,
                        bias + 1 - exponent_of(a) + step - distance.rem_euclid(span),
                    ),
                    c,
                ),
                3 => (a, with_exponent(b, 3 * bias - exponent_of(a) + step), c),
                // A quotient at the bottom of the range; then at the top.
                4 => (
                    a,
                    with_exponent(
                        b,
                        exponent_of(a) + bias - 1 + step + distance.rem_euclid(span),
                    ),
                    c,
                ),
                5 => (a, with_exponent(b, exponent_of(a) - bias + step), c),
                // c close to the product.
                6 => {
                    let exponent = exponent_of(a) + exponent_of(b) - bias;
                    let product = if format.precision == 24 {
                        u64::from((f32::from_bits(a as u32) * f32::from_bits(b as u32)).to_bits())
                    } else {
                        (f64::from_bits(a) * f64::from_bits(b)).to_bits()
                    };
                    let c = if step == 0 {
                        with_exponent(c, exponent - distance)
                    } else {
                        stepped(product)
                    };
                    (a, b, flipped(c))
                }
                _ => (a, b, c),
            }
        })
}

/// A rounding mode.
pub fn rounding() -> impl Strategy<Value = tactus_board::float::Rounding> {
    prop::sample::select(tactus_board::float::Rounding::ALL.to_vec())
}
