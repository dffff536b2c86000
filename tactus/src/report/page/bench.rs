//! What the page of an experiment shows.

use serde::Serialize;
use serde_json::{Value, json};

use super::container::{Container, Sequences};
use super::{About, bound, cut};
use crate::report::lines::Lines;
use crate::report::samples::Series;
use crate::report::{board, quantities};
use crate::run::console::Source;
use crate::run::journal::Journal;
use crate::run::session::{Outcome, Verdict};

/// A figure of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// What it is.
    pub text: String,
    /// Its value; `None`: it is missing.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// What it must not exceed.
    pub limit: Option<f64>,
    /// What it must reach.
    pub least: Option<f64>,
    /// The published figure.
    pub paper: Option<f64>,
    /// Whether it passes: it is there, and within its limit or a known miss.
    pub good: bool,
    /// How it stands to its limit, in words; empty without a limit.
    pub mark: String,
    /// Why its limit is missed, where that is recorded.
    pub reason: Option<String>,
    /// Where it was found, and other known figures.
    pub notes: String,
}

/// A picture of how samples are distributed.
#[derive(Debug)]
pub struct Distribution<'a> {
    /// What it shows.
    pub title: String,
    /// What was sampled.
    pub x: String,
    /// The unit in which it is shown.
    pub unit: &'static str,
    /// The series, each with what turns its samples into that unit.
    pub series: Vec<(&'a str, &'a Series, f64)>,
    /// Values that are marked.
    pub marks: Vec<(&'a str, f64)>,
}

/// What an experiment found.
#[derive(Debug, Default)]
pub struct Experiment<'a> {
    /// Its name.
    pub name: String,
    /// What it finds out.
    pub title: String,
    /// How much of it was run: quick, default or full.
    pub form: &'static str,
    /// Profile of its platform.
    pub profile: String,
    /// Seed of its machines.
    pub seed: u64,
    /// Whether every figure passes.
    pub good: bool,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Figures that this form does not give, and why.
    pub left_out: Vec<(String, String)>,
    /// Its pictures of figures.
    pub lines: Vec<Lines>,
    /// Its pictures of samples.
    pub distributions: Vec<Distribution<'a>>,
    /// Its runs, by name.
    pub runs: Vec<(&'a str, &'a Outcome)>,
}

/// What the page of an experiment is made of. Nothing in it depends on the host, figures in host time apart.
pub(in crate::report) fn content(experiment: &Experiment<'_>, about: &About) -> Container {
    let mut sequences = Sequences::default();
    let distributions: Vec<Value> = experiment
        .distributions
        .iter()
        .map(|distribution| distribution_json(distribution, &mut sequences))
        .collect();
    let runs: Vec<Value> = experiment
        .runs
        .iter()
        .map(|(name, outcome)| run_json(name, outcome, &mut sequences))
        .collect();
    let left_out: Vec<Value> = experiment
        .left_out
        .iter()
        .map(|(name, reason)| json!({ "name": name, "reason": reason }))
        .collect();
    let (verdict, reason) = verdict(experiment);
    let json = json!({
        "kind": "bench",
        "title": format!("bench {}", experiment.name),
        "subtitle": experiment.title,
        "form": experiment.form,
        "verdict": { "good": experiment.good, "text": verdict, "reason": reason },
        "commit": about.commit,
        "command": about.command,
        "tactus": env!("CARGO_PKG_VERSION"),
        "profile": experiment.profile,
        "seed": experiment.seed,
        "figures": experiment.figures,
        "left_out": left_out,
        "lines_of_figures": experiment.lines,
        "distributions": distributions,
        "runs": runs,
        "configuration": about.configuration.as_deref().map(|text| cut(text, bound::CONFIGURATION)),
    });
    Container::new(&json, &sequences)
}

/// The verdict on an experiment, and its reason.
fn verdict(experiment: &Experiment<'_>) -> (&'static str, String) {
    let count = |wanted: fn(&&Figure) -> bool| experiment.figures.iter().filter(wanted).count();
    let failed = count(|figure| !figure.good);
    let missed = count(|figure| figure.good && figure.reason.is_some());
    match (failed, missed) {
        (0, 0) => (
            "within limits",
            "every figure is within its limit".to_owned(),
        ),
        (0, 1) => ("within limits", "but for 1 known miss".to_owned()),
        (0, _) => ("within limits", format!("but for {missed} known misses")),
        (1, _) => (
            "failed",
            "1 figure is missing or fails its limit".to_owned(),
        ),
        _ => (
            "failed",
            format!("{failed} figures are missing or fail their limits"),
        ),
    }
}

fn distribution_json(distribution: &Distribution<'_>, sequences: &mut Sequences) -> Value {
    let phases: Vec<Value> = distribution
        .series
        .iter()
        .map(|(name, series, factor)| {
            super::run::series_json(name, series, *factor, None, sequences)
        })
        .collect();
    let marks: Vec<Value> = distribution
        .marks
        .iter()
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect();
    json!({
        "title": distribution.title,
        "name": distribution.x,
        "unit": distribution.unit,
        "phases": phases,
        "marks": marks,
    })
}

/// A run of an experiment: how it ended, its samples and its records.
fn run_json(name: &str, outcome: &Outcome, sequences: &mut Sequences) -> Value {
    let (journal, facts) = (&outcome.journal, outcome.board.as_ref());
    let quantities: Vec<Value> = quantities(journal)
        .iter()
        .map(|quantity| super::run::quantity_json(quantity, journal, sequences))
        .collect();
    let records = records(journal);
    let kept = records.len().min(bound::RECORDS);
    let seconds = facts.map_or_else(
        || journal.seconds(journal.last_time),
        |facts| facts.time.as_seconds(),
    );
    json!({
        "name": name,
        "good": outcome.verdict() == Verdict::Good,
        "end": outcome.reason(),
        "board": facts.map(|facts| facts.profile.as_str()),
        "pace": facts.map(board::pace),
        "seconds": seconds,
        "hash": facts.map(|facts| format!("{:016x}", facts.trace_hash)),
        "quantities": quantities,
        "records": sequences.texts(records[..kept].iter().map(String::as_str)),
        "records_left_out": records.len() - kept,
    })
}

/// A run's records with their VMs, but for samples, which are shown as distributions.
fn records(journal: &Journal) -> Vec<String> {
    let lines = journal.records.iter();
    lines
        .filter(|line| !line.text.starts_with("samples "))
        .map(|line| {
            let from = match line.source {
                Source::Vm(vm) => journal.vms.get(vm).map_or("?", |vm| vm.name.as_str()),
                Source::Log | Source::Firmware | Source::Unknown(_) => "(tactus)",
            };
            let text = cut(&line.text, bound::RECORD).replace('\n', " ");
            format!("{}\t{text}", from.replace(['\n', '\t'], " "))
        })
        .collect()
}
