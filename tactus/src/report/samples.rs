//! Samples of one quantity and what is said of them.

use std::fmt::Write;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::unit::Unit;

/// Largest sample that is taken, in the sample's unit: room for every time of 64 bits but the absurd ones.
pub const SAMPLE_MAX: u64 = 1 << 62;

/// Digits that the histogram tells apart; least, mean and greatest are exact.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Steps of a percentile distribution from one half of what is left to the next.
const PERCENTILE_STEPS: u32 = 5;

/// All samples of one quantity in one phase. Its memory does not grow with the number of samples.
#[derive(Clone, Debug)]
pub struct Series {
    unit: Unit,
    histogram: Histogram<u64>,
    min: u64,
    max: u64,
    sum: u128,
}

/// What is said of a series, in some unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many samples.
    pub samples: u64,
    /// The least.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The median, to three digits.
    pub p50: f64,
    /// What 99 of 100 samples do not exceed, to three digits.
    pub p99: f64,
    /// What 999 of 1,000 samples do not exceed, to three digits.
    pub p999: f64,
    /// The greatest.
    pub max: f64,
}

impl Series {
    /// No samples yet; `None` only if the histogram cannot be made.
    pub fn new(unit: Unit) -> Option<Self> {
        let mut histogram = Histogram::new(SIGNIFICANT_DIGITS).ok()?;
        histogram.auto(true);
        Some(Self {
            unit,
            histogram,
            min: u64::MAX,
            max: 0,
            sum: 0,
        })
    }

    /// The samples' unit.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// How many there are.
    pub fn samples(&self) -> u64 {
        self.histogram.len()
    }

    /// The least and the greatest; `None` without samples.
    pub fn extremes(&self) -> Option<(u64, u64)> {
        (self.samples() > 0).then_some((self.min, self.max))
    }

    /// How many are greater than that: exact where none is, otherwise those of the same histogram cell count, too.
    pub fn above(&self, value: u64) -> u64 {
        match self.extremes() {
            Some((_, max)) if max > value => self.histogram.count_between(value + 1, max),
            _ => 0,
        }
    }

    /// Takes a sample; one beyond [`SAMPLE_MAX`] counts as that.
    pub fn record(&mut self, value: u64) {
        let value = value.min(SAMPLE_MAX);
        // Resizes itself; the saturating form, which does not, catches what even that cannot hold.
        if self.histogram.record(value).is_err() {
            self.histogram.saturating_record(value);
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += u128::from(value);
    }

    /// The summary, every figure multiplied by `factor`; `None` without samples.
    pub fn summary(&self, factor: f64) -> Option<Summary> {
        let (min, max) = self.extremes()?;
        let scaled = |value: u64| value as f64 * factor;
        // A quantile is the upper end of its histogram cell, which may lie past the greatest sample.
        let quantile = |q: f64| scaled(self.histogram.value_at_quantile(q).clamp(min, max));
        Some(Summary {
            samples: self.samples(),
            min: scaled(min),
            mean: self.sum as f64 / self.samples() as f64 * factor,
            p50: quantile(0.5),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: scaled(max),
        })
    }

    /// The distribution by percentiles, every value multiplied by `factor`, as HdrHistogram's tools read it (`.hgrm`).
    pub fn percentiles(&self, factor: f64) -> String {
        let mut text = format!(
            "{:>12} {:>14} {:>10} {:>14}\n\n",
            "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
        );
        let Some((min, max)) = self.extremes() else {
            return text;
        };
        let mut counted = 0;
        for cell in self.histogram.iter_quantiles(PERCENTILE_STEPS) {
            counted += cell.count_since_last_iteration();
            let value = cell.value_iterated_to().clamp(min, max) as f64 * factor;
            let quantile = cell.quantile_iterated_to();
            let _ = write!(text, "{value:>12.3} {quantile:>14.12} {counted:>10}");
            if quantile < 1.0 {
                let _ = write!(text, " {:>14.2}", 1.0 / (1.0 - quantile));
            }
            text.push('\n');
        }
        let mean = self.sum as f64 / self.samples() as f64 * factor;
        let _ = writeln!(
            text,
            "#[Mean    = {mean:>12.3}, StdDeviation   = {:>12.3}]",
            self.histogram.stdev() * factor
        );
        let _ = writeln!(
            text,
            "#[Max     = {:>12.3}, Total count    = {:>12}]",
            max as f64 * factor,
            self.samples()
        );
        let _ = writeln!(
            text,
            "#[Buckets = {:>12}, SubBuckets     = {:>12}]",
            self.histogram.buckets(),
            self.histogram.distinct_values() / usize::from(self.histogram.buckets().max(1))
        );
        text
    }

    /// The values that occurred and how often, in ascending order; values to three digits.
    pub fn occurrences(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.histogram.iter_recorded().map(|cell| {
            (
                cell.value_iterated_to().clamp(self.min, self.max),
                cell.count_at_value(),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn series(values: &[u64]) -> Series {
        let mut series = Series::new(Unit::Ticks).expect("a histogram of three digits can be made");
        for &value in values {
            series.record(value);
        }
        series
    }

    #[test]
    fn summary_is_exact_for_small_numbers() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!(
            series(&values).summary(0.5),
            Some(Summary {
                samples: 100,
                min: 0.5,
                mean: 25.25,
                p50: 25.0,
                p99: 49.5,
                p999: 50.0,
                max: 50.0,
            })
        );
        assert_eq!(series(&[]).summary(1.0), None);
    }

    #[test]
    fn percentiles_end_with_the_greatest() {
        let values: Vec<u64> = (1..=1000).collect();
        let text = series(&values).percentiles(0.1);
        let mut lines = text.lines().skip_while(|line| !line.is_empty()).skip(1);
        assert_eq!(
            lines
                .next()
                .map(str::split_whitespace)
                .map(Iterator::collect),
            Some(vec!["0.100", "0.000000000000", "1", "1.00"])
        );
        let last = text
            .lines()
            .rfind(|line| !line.starts_with('#'))
            .unwrap_or_default();
        assert_eq!(
            last.split_whitespace().collect::<Vec<_>>(),
            ["100.000", "1.000000000000", "1000"]
        );
        assert!(text.contains("Total count    =         1000]"), "{text}");
    }

    proptest! {
        #[test]
        fn summary_agrees_with_sorting(mut values in prop::collection::vec(prop_oneof![0u64..50, 0..=SAMPLE_MAX, Just(u64::MAX)], 1..300)) {
            let series = series(&values);
            for value in &mut values {
                *value = (*value).min(SAMPLE_MAX);
            }
            values.sort_unstable();
            let summary = series.summary(1.0).expect("there are samples");
            let last = values.len() - 1;
            prop_assert_eq!(summary.samples, values.len() as u64);
            prop_assert_eq!(summary.min, values[0] as f64);
            prop_assert_eq!(summary.max, values[last] as f64);
            let rank = |q: f64| values[((q * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1] as f64;
            for (quantile, exact) in [(summary.p50, rank(0.5)), (summary.p99, rank(0.99))] {
                prop_assert!((quantile - exact).abs() <= exact * 1e-3 + 1e-9, "{} for {}", quantile, exact);
            }
            prop_assert_eq!(series.occurrences().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
        }
    }
}
