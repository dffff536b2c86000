//! What a part of some runs says of the part of all: the exact bounds of Clopper and Pearson, *The Use of Confidence or
//! Fiducial Limits Illustrated in the Case of the Binomial* (1934).

/// Probability that what is said of all faults, of which some were tried, is true.
pub const CONFIDENCE: f64 = 0.95;
/// Steps of a bisection; each gives a bit.
const STEPS: usize = 60;
/// Terms smaller than this part of their sum are left out.
const NEGLIGIBLE: f64 = 1e-17;

/// The one-sided upper bound of a proportion: the largest with which `count` or fewer of `tried` still have the
/// probability `1 - confidence`. `confidence` is at least a half.
pub fn upper(count: usize, tried: usize, confidence: f64) -> f64 {
    if count >= tried {
        return 1.0;
    }
    let ways = ln_factorial(tried) - ln_factorial(count) - ln_factorial(tried - count);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if at_most(count, tried, ways, middle) > 1.0 - confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The two-sided interval of a proportion: each side leaves out half of `1 - confidence`.
pub fn interval(count: usize, tried: usize, confidence: f64) -> (f64, f64) {
    let side = f64::midpoint(1.0, confidence);
    (
        1.0 - upper(tried - count, tried, side),
        upper(count, tried, side),
    )
}

/// The probability of `count` or fewer of `tried`, where each counts with the probability `part`; 1 where it is a half
/// or more. `ways` is the logarithm of the number of ways to choose so many.
///
/// The terms are added from the largest down, which takes about the square root of `tried` additions: the live page of
/// a campaign asks again and again.
fn at_most(count: usize, tried: usize, ways: f64, part: f64) -> f64 {
    // The median of a binomial distribution is its mean, rounded up or down.
    if count as f64 >= tried as f64 * part {
        return 1.0;
    }
    let others = tried - count;
    let mut term = (ways + count as f64 * part.ln() + others as f64 * (-part).ln_1p()).exp();
    let mut sum = term;
    for number in (1..=count).rev() {
        term *= number as f64 / (tried - number + 1) as f64 * (1.0 - part) / part;
        sum += term;
        if term < sum * NEGLIGIBLE {
            break;
        }
    }
    sum
}

/// The logarithm of `number!`, by Stirling's series: 6.1.41 of Abramowitz and Stegun's *Handbook of Mathematical
/// Functions*.
fn ln_factorial(number: usize) -> f64 {
    if number < 16 {
        return (2..=number)
            .map(|factor| factor as f64)
            .product::<f64>()
            .ln();
    }
    let n = number as f64;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * n * n)) / (n * n)) / n;
    (n + 0.5) * n.ln() - n + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_of_many_is_less_than_three_by_their_number() {
        for tried in [100, 10_000, 1_000_000] {
            let part = upper(0, tried, 0.95) * tried as f64;
            assert!((2.9..3.0).contains(&part), "{part}");
        }
        // Of a table: 1 of 20, one-sided 95 %.
        assert!((upper(1, 20, 0.95) - 0.2161).abs() < 0.0001);
        assert!((upper(20, 20, 0.95) - 1.0).abs() < f64::EPSILON);
        assert!((upper(0, 1, 0.95) - 0.95).abs() < 1e-9);
    }

    #[test]
    fn intervals_are_those_of_tables() {
        // 5 of 10, 95 %: 0.1871 to 0.8129; none of 10: to 0.3085.
        let (low, high) = interval(5, 10, 0.95);
        assert!((low - 0.1871).abs() < 1e-4 && (high - 0.8129).abs() < 1e-4);
        let (low, high) = interval(0, 10, 0.95);
        assert!(low.abs() < f64::EPSILON && (high - 0.3085).abs() < 1e-4);
        let (low, high) = interval(10, 10, 0.95);
        assert!((low - 0.6915).abs() < 1e-4 && (high - 1.0).abs() < f64::EPSILON);
        // Of many it is that of the normal distribution: 1.96 standard deviations to each side.
        let (low, high) = interval(500_000, 1_000_000, 0.95);
        assert!((low - 0.499_020).abs() < 2e-6 && (high - 0.500_980).abs() < 2e-6);
    }

    /// The bound is where the sum of all terms, each computed for itself, is what it is to be.
    #[test]
    fn bounds_solve_their_equation() {
        for (count, tried) in [(1, 20), (7, 19), (150, 400), (399, 400), (3, 5000)] {
            let part = upper(count, tried, 0.95);
            let mut term = tried as f64 * (1.0 - part).ln();
            let mut sum = term.exp();
            for number in 0..count {
                let next = (tried - number) as f64 / (number + 1) as f64 * part / (1.0 - part);
                term += next.ln();
                sum += term.exp();
            }
            assert!((sum - 0.05).abs() < 1e-9, "{count} of {tried}: {sum}");
        }
    }

    #[test]
    fn factorials_are_exact_where_the_series_begins() {
        let mut sum = 0.0;
        for number in 1..200 {
            sum += (number as f64).ln();
            assert!((ln_factorial(number) - sum).abs() < 1e-10, "{number}");
        }
    }
}
