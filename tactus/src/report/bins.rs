//! Histogram bins that several series share, and a histogram in text.

use std::fmt::Write;

use super::samples::Series;
use super::unit::figure;

/// Ratio of greatest to least sample from which bins grow geometrically: equal ones would put all but a
/// few samples into the first.
const GEOMETRIC_FROM: u64 = 100;
/// Longest bar of a histogram in text, in characters.
const BAR: usize = 24;
/// Head of the column with the bins' first values.
const FROM: &str = "from";

/// Bins over the samples of several series: bin `i` holds values from `edges[i]` up to, not including,
/// `edges[i + 1]`, in the series' unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    /// Bounds of the bins; one more than there are bins.
    pub edges: Vec<u64>,
    /// How many samples of each series are in each bin.
    pub counts: Vec<Vec<u64>>,
    /// Whether bins grow geometrically; otherwise they are equal.
    pub geometric: bool,
}

impl Bins {
    /// At most `bins` bins (but at least one) that hold all samples; `None` without samples.
    pub fn of(series: &[&Series], bins: u64) -> Option<Self> {
        let extremes = || series.iter().filter_map(|series| series.extremes());
        let min = extremes().map(|(min, _)| min).min()?;
        let max = extremes().map(|(_, max)| max).max()?;
        let bins = bins.max(1);
        let geometric = max / min.max(1) >= GEOMETRIC_FROM && bins > 1;
        let edges = if geometric {
            geometric_edges(min, max, bins)
        } else {
            equal_edges(min, max, bins)
        };
        let counts = series
            .iter()
            .map(|series| {
                let mut counts = vec![0; edges.len() - 1];
                for (value, count) in series.occurrences() {
                    // The last edge is beyond every value and the first one not.
                    let bin = edges.partition_point(|edge| *edge <= value) - 1;
                    counts[bin] += count;
                }
                counts
            })
            .collect();
        Some(Self {
            edges,
            counts,
            geometric,
        })
    }

    /// The greatest count of any bin.
    pub fn highest(&self) -> u64 {
        self.counts.iter().flatten().copied().max().unwrap_or(0)
    }

    /// The histogram in text: a line for each bin that is not empty, a bar for each series. Bars grow with
    /// the logarithm of the count, so that one late sample in millions shows. `factor` multiplies the edges.
    pub fn text(&self, names: &[&str], factor: f64) -> String {
        let full = (1.0 + self.highest() as f64).ln();
        let labels: Vec<String> = self
            .edges
            .iter()
            .map(|edge| figure(*edge as f64 * factor))
            .collect();
        let widths = labels.iter().map(|label| label.len());
        let width = widths.chain([FROM.len()]).max().unwrap_or(0);
        let column = BAR + 12;
        let mut text = format!("  {FROM:>width$} ");
        for name in names {
            let _ = write!(text, "  {name:column$}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        for (bin, label) in labels.iter().enumerate().take(self.edges.len() - 1) {
            if self.counts.iter().all(|counts| counts[bin] == 0) {
                continue;
            }
            let mut line = format!("  {label:>width$} ");
            for counts in &self.counts {
                let count = counts[bin];
                let length = ((1.0 + count as f64).ln() / full * BAR as f64).round() as usize;
                let mut cell = "█".repeat(length);
                if count > 0 {
                    let _ = write!(cell, " {}", figure(count as f64));
                }
                let _ = write!(line, "  {cell:column$}");
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text += "  Bars are logarithmic: their lengths grow with the logarithm of the number of samples.\n";
        text
    }
}

fn equal_edges(min: u64, max: u64, bins: u64) -> Vec<u64> {
    // A whole width, so that every bin covers as many possible values as the next.
    let width = (max - min + 1).div_ceil(bins);
    let count = (max - min + 1).div_ceil(width);
    (0..=count).map(|bin| min + bin * width).collect()
}

fn geometric_edges(min: u64, max: u64, bins: u64) -> Vec<u64> {
    let first = min.max(1) as f64;
    let ratio = ((max as f64 + 1.0) / first).powf(1.0 / (bins - 1) as f64);
    let mut edges = vec![min];
    let mut edge = first;
    while edges.len() < bins as usize {
        edge *= ratio;
        // Small values are whole: several edges may fall onto the same.
        let whole = edge.ceil() as u64;
        if whole > max {
            break;
        }
        if edges.last().is_none_or(|last| whole > *last) {
            edges.push(whole);
        }
    }
    edges.push(max + 1);
    edges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::samples::SAMPLE_MAX;
    use crate::report::unit::Unit;

    fn series(values: &[u64]) -> Series {
        let mut series = Series::new(Unit::Ticks).expect("a histogram of three digits can be made");
        for &value in values {
            series.record(value);
        }
        series
    }

    #[test]
    fn narrow_samples_get_equal_bins() {
        let (a, b) = (series(&[10, 11, 11]), series(&[19]));
        let bins = Bins::of(&[&a, &b], 5).expect("there are samples");
        assert_eq!(bins.edges, [10, 12, 14, 16, 18, 20]);
        assert_eq!(bins.counts, [[3, 0, 0, 0, 0], [0, 0, 0, 0, 1]]);
        assert!(!bins.geometric);
    }

    #[test]
    fn text_has_a_bar_for_each_series() {
        let (a, b) = (series(&[3; 1000]), series(&[3, 4]));
        let bins = Bins::of(&[&a, &b], 5).expect("there are samples");
        assert_eq!(
            bins.text(&["idle", "loaded"], 0.1),
            "  from   idle                                  loaded\n\
             \x20  0.3   ████████████████████████ 1,000        ██ 1\n\
             \x20  0.4                                         ██ 1\n\
             \x20 Bars are logarithmic: their lengths grow with the logarithm of the number of samples.\n"
        );
    }

    proptest! {
        #[test]
        fn every_sample_is_in_a_bin(
            a in prop::collection::vec(prop_oneof![0u64..20, 0..=SAMPLE_MAX], 0..50),
            b in prop::collection::vec(prop_oneof![0u64..20, 100_000u64..200_000], 1..50),
            wanted in 0u64..100,
        ) {
            let (x, y) = (series(&a), series(&b));
            let bins = Bins::of(&[&x, &y], wanted).expect("there are samples");
            prop_assert!(bins.edges.len() - 1 <= wanted.max(1) as usize);
            prop_assert!(bins.edges.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(bins.counts[0].iter().sum::<u64>(), a.len() as u64);
            prop_assert_eq!(bins.counts[1].iter().sum::<u64>(), b.len() as u64);
            bins.text(&["a", "b"], 0.1);
        }
    }
}
