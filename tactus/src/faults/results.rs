//! What a campaign has found: all runs as columns, and how often which verdict is.

use std::collections::BTreeMap;
use std::path::Path;

use super::description::Campaign;
use super::judge::Verdict;
use super::proportion::{CONFIDENCE, upper};
use super::run::Row;
use super::space::SHARES;
use super::tally::{Counts, Tally};
use crate::columns::{Columns, Values};
use crate::report::page::quoted;
use crate::report::table::Table;

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
        .with(
            "carried_out",
            Values::Flags(rows.iter().map(|row| Some(row.is_carried_out)).collect()),
        )
        .with(
            "share",
            Values::Figures(rows.iter().map(|row| Some(part(row.share))).collect()),
        )
        .noted("tactus.version", env!("CARGO_PKG_VERSION"))
        .noted("tactus.faults", &campaign.text)
}

/// The kinds of a campaign's faults by name, each once, in the file's order.
pub fn kinds(campaign: &Campaign) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for fault in &campaign.faults {
        let name = fault.kind.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// How often each verdict is, by kind of fault; in the end of all faults, where there are several kinds.
pub fn counts(kinds: &[String], tally: &Tally) -> Vec<(String, Counts)> {
    let mut counts: Vec<_> = kinds
        .iter()
        .map(|name| (name.clone(), tally.kind(name)))
        .collect();
    if kinds.len() > 1 {
        counts.push(("all".to_owned(), tally.all()));
    }
    counts
}

/// What the runs say of all such faults; nothing where no fault has happened.
pub fn bound(counts: &Counts) -> Option<String> {
    let (bad, placed) = (counts.bad(), counts.placed());
    (placed > 0).then(|| {
        let most = 100.0 * upper(bad, placed, CONFIDENCE);
        // Of many runs the bound is small.
        let digits = if most < 0.01 { 5 } else { 3 };
        format!(
            "Escaped or hung: {bad} of {placed}; of all such faults less than {most:.digits$} %, with a confidence of {:.0} %.",
            100.0 * CONFIDENCE
        )
    })
}

/// The command that carries out a run of a campaign's file alone, but for the run's number.
pub fn look_closer(file: &Path, seed: u64) -> String {
    let file = quoted(&file.display().to_string());
    format!("tactus faults {file} --seed {seed} --run ")
}

/// A part of all places and times, as a figure.
fn part(share: u64) -> f64 {
    share as f64 / SHARES as f64
}

/// The kinds of which only what is live was drawn, and what part that is.
fn shares(rows: &[Row]) -> BTreeMap<&str, u64> {
    let live = rows.iter().filter(|row| row.share < SHARES);
    live.map(|row| (&*row.fault, row.share)).collect()
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
    let tally = Tally::of(rows);
    for (name, counts) in self::counts(&kinds(campaign), &tally) {
        let cells = Verdict::ALL.map(|verdict| counts.of(verdict).to_string());
        table.row(std::iter::once(name).chain(cells));
    }
    let mut text = table.text();
    let skipped = rows.iter().filter(|row| !row.is_carried_out).count();
    if skipped > 0 {
        text += &format!(
            "Not carried out, since nothing reads what they change: {skipped} of the masked.\n"
        );
    }
    for (name, share) in shares(rows) {
        text += &format!(
            "Of {name} {:.3} % of all bits and times is live; faults in the rest change nothing.\n",
            100.0 * part(share)
        );
    }
    if let Some(bound) = bound(&tally.all()) {
        text += &format!("{bound}\n");
    }
    let bad: Vec<&Row> = rows.iter().filter(|row| row.verdict.is_bad()).collect();
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
