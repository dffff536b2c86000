//! What a campaign has found: all runs as columns, and how often which verdict is.

use super::description::Campaign;
use super::judge::Verdict;
use super::run::Row;
use crate::columns::{Columns, Values};
use crate::report::table::Table;

/// Probability that what is said of all faults, of which some were tried, is true.
const CONFIDENCE: f64 = 0.95;
/// Bad runs that are named.
const NAMED: usize = 10;

/// All runs.
pub fn columns(campaign: &Campaign, rows: &[Row]) -> Columns {
    let texts = |of: &dyn Fn(&Row) -> String| {
        Values::Texts(
            rows.iter()
                .map(|row| Some(of(row)).filter(|text| !text.is_empty()))
                .collect(),
        )
    };
    Columns::default()
        .with(
            "run",
            Values::Numbers(rows.iter().map(|row| Some(row.run.into())).collect()),
        )
        .with("fault", texts(&|row| row.fault.clone()))
        .with("what", texts(&|row| row.what.clone()))
        .with(
            "femtoseconds",
            Values::Numbers(rows.iter().map(|row| Some(row.at)).collect()),
        )
        .with("verdict", texts(&|row| row.verdict.words().to_owned()))
        .with("changed", texts(&|row| row.changed.join(", ")))
        .with("reason", texts(&|row| row.reasons.join("; ")))
        .with(
            "same_trace",
            Values::Flags(rows.iter().map(|row| Some(row.is_same)).collect()),
        )
        .with("trace_hash", texts(&|row| row.trace_hash.clone()))
        .noted("tactus.version", env!("CARGO_PKG_VERSION"))
        .noted("tactus.faults", &campaign.text)
}

/// How often which verdict is, by kind of fault, and what that says.
pub fn summary(campaign: &Campaign, rows: &[Row]) -> String {
    let runs = match rows.len() {
        1 => "1 run with a fault".to_owned(),
        many => format!("{many} runs with a fault each"),
    };
    let title = format!("{runs}, seed {}", campaign.seed);
    let mut table = Table::new(title, []);
    table.head = vec!["fault".to_owned()];
    table
        .head
        .extend(Verdict::ALL.map(|verdict| verdict.words().to_owned()));
    let mut line = |name: &str, of: &dyn Fn(&Row) -> bool| {
        let cells = Verdict::ALL.map(|verdict| {
            let those = rows.iter().filter(|row| of(row) && row.verdict == verdict);
            those.count().to_string()
        });
        table.row(std::iter::once(name.to_owned()).chain(cells));
    };
    let mut names: Vec<String> = campaign
        .faults
        .iter()
        .map(|fault| fault.kind.to_string())
        .collect();
    names.dedup();
    for name in &names {
        line(name, &|row| row.fault == *name);
    }
    if names.len() > 1 {
        line("all", &|_| true);
    }
    let placed = rows
        .iter()
        .filter(|row| row.verdict != Verdict::NotPlaced)
        .count();
    let bad: Vec<&Row> = rows.iter().filter(|row| row.verdict.is_bad()).collect();
    let mut text = table.text();
    if placed > 0 {
        text += &format!(
            "Escaped or hung: {} of {placed}; of all such faults less than {:.3} %, with a confidence of {:.0} %.\n",
            bad.len(),
            100.0 * most(bad.len(), placed, CONFIDENCE),
            100.0 * CONFIDENCE
        );
    }
    for row in bad.iter().take(NAMED) {
        text += &format!(
            "  run {}: {}: {}\n",
            row.run,
            row.what,
            row.reasons.join("; ")
        );
    }
    if bad.len() > NAMED {
        text += &format!("  and {} more\n", bad.len() - NAMED);
    }
    text
}

/// The largest part of bad ones among all with which `bad` or fewer of `tried` have the probability `1 - confidence`
/// still (Clopper and Pearson, one-sided).
fn most(bad: usize, tried: usize, confidence: f64) -> f64 {
    if bad >= tried {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    // Each step gives a bit.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if at_most(bad, tried, middle) > 1.0 - confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The probability of `bad` or fewer of `tried`, where each is bad with the probability `part`.
fn at_most(bad: usize, tried: usize, part: f64) -> f64 {
    let mut term = tried as f64 * (1.0 - part).ln();
    let mut sum = term.exp();
    for number in 0..bad {
        let next = (tried - number) as f64 / (number + 1) as f64 * part / (1.0 - part);
        term += next.ln();
        sum += term.exp();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_of_many_is_less_than_three_by_their_number() {
        for tried in [100, 10_000, 1_000_000] {
            let part = most(0, tried, 0.95) * tried as f64;
            assert!((2.9..3.0).contains(&part), "{part}");
        }
        // Of a table: 1 of 20, one-sided 95 %.
        assert!((most(1, 20, 0.95) - 0.2161).abs() < 0.0001);
        assert!((most(20, 20, 0.95) - 1.0).abs() < f64::EPSILON);
        assert!((most(0, 1, 0.95) - 0.95).abs() < 1e-9);
    }
}
