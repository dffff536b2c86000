//! Confidence intervals of means: when a point of a sweep has enough runs.

use std::f64::consts::{FRAC_PI_2, PI};

/// Degrees of freedom from which on the distribution is taken for that of so many, which is 0.2 % wider than the normal
/// one.
const FREEDOM_MAX: usize = 1000;

/// Half of the width of the interval around the mean of `values` that has the true mean with probability
/// `confidence`, by Student's distribution. `None`: fewer than two values.
pub fn half_width(values: &[f64], confidence: f64) -> Option<f64> {
    let count = values.len();
    if count < 2 {
        return None;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1) as f64).sqrt();
    Some(quantile(count - 1, confidence) * deviation / (count as f64).sqrt())
}

/// The mean; of no values it is not a number.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What the absolute value of a variable with Student's distribution does not exceed with that probability.
fn quantile(freedom: usize, probability: f64) -> f64 {
    let freedom = freedom.clamp(1, FREEDOM_MAX);
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    // Each step gives a bit.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(freedom, middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    (freedom as f64).sqrt() * low.tan()
}

/// The probability that the absolute value of a variable with Student's distribution is at most `sqrt(freedom) *
/// tan(angle)`: 26.7.3 and 26.7.4 of Abramowitz and Stegun's *Handbook of Mathematical Functions*.
fn within(freedom: usize, angle: f64) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    let mut below = if odd { 3 } else { 2 };
    while below < freedom {
        term *= cosine * cosine * (below - 1) as f64 / below as f64;
        sum += term;
        below += 2;
    }
    if odd {
        (angle + sine * sum) * 2.0 / PI
    } else {
        sine * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // From R 4: qt(0.5 + p / 2, n).
        for (freedom, probability, known) in [
            (1, 0.95, 12.706_204_736),
            (2, 0.95, 4.302_652_730),
            (3, 0.99, 5.840_909_310),
            (4, 0.90, 2.131_846_786),
            (9, 0.95, 2.262_157_163),
            (30, 0.95, 2.042_272_456),
            (1000, 0.95, 1.962_339_081),
        ] {
            let found = quantile(freedom, probability);
            assert!((found - known).abs() < 1e-6, "{freedom}: {found}");
        }
    }

    #[test]
    fn intervals_get_narrower() {
        assert_eq!(half_width(&[1.0], 0.95), None);
        assert_eq!(half_width(&[3.0, 3.0], 0.95), Some(0.0));
        let width = half_width(&[1.0, 2.0, 3.0], 0.95).expect("there are enough");
        assert!((width - 2.484).abs() < 1e-3, "{width}");
    }
}
