//! What the page of an experiment shows.

use serde_json::{Value, json};

use super::container::{Container, Sequences};
use super::{About, bound};
use crate::report::samples::Series;

/// A figure of an experiment.
#[derive(Clone, Debug)]
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
    /// Whether it is there and within its limit.
    pub good: bool,
    /// Where it was found, and other known figures.
    pub notes: String,
}

/// A picture of figures.
#[derive(Clone, Debug)]
pub struct Lines {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: String,
    /// Its values.
    pub at: Vec<f64>,
    /// The vertical axis.
    pub y: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A line of a picture, with a value for each of the horizontal axis where there is one.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// Its own values.
    pub own: Vec<Option<f64>>,
    /// The published ones.
    pub paper: Vec<Option<f64>>,
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
    /// Profile of its platform.
    pub profile: String,
    /// Seed of its machines.
    pub seed: u64,
    /// Whether every figure is there and within its limit.
    pub good: bool,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Its pictures of figures.
    pub lines: Vec<Lines>,
    /// Its pictures of samples.
    pub distributions: Vec<Distribution<'a>>,
    /// Its runs: name, how it ended, virtual seconds, trace hash.
    pub runs: Vec<(String, String, f64, Option<u64>)>,
}

/// What the page of an experiment is made of.
pub(in crate::report) fn content(experiment: &Experiment<'_>, about: &About) -> Container {
    let mut sequences = Sequences::default();
    let figures: Vec<Value> = experiment
        .figures
        .iter()
        .map(|figure| {
            json!({
                "name": figure.name,
                "text": figure.text,
                "value": figure.value,
                "unit": figure.unit,
                "limit": figure.limit,
                "least": figure.least,
                "paper": figure.paper,
                "good": figure.good,
                "notes": figure.notes,
            })
        })
        .collect();
    let lines: Vec<Value> = experiment
        .lines
        .iter()
        .map(|picture| {
            let lines: Vec<Value> = picture
                .lines
                .iter()
                .map(|line| json!({ "name": line.name, "own": line.own, "paper": line.paper }))
                .collect();
            json!({ "title": picture.title, "x": picture.x, "at": picture.at, "y": picture.y, "lines": lines })
        })
        .collect();
    let distributions: Vec<Value> = experiment
        .distributions
        .iter()
        .map(|distribution| {
            let phases: Vec<Value> = distribution
                .series
                .iter()
                .map(|(name, series, factor)| {
                    super::run::series_json(name, series, *factor, None, &mut sequences)
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
        })
        .collect();
    let runs: Vec<Value> = experiment
        .runs
        .iter()
        .map(|(name, end, seconds, hash)| {
            json!({
                "name": name,
                "end": end,
                "seconds": seconds,
                "hash": hash.map(|hash| format!("{hash:016x}")),
            })
        })
        .collect();
    let past = experiment.figures.iter().filter(|figure| !figure.good);
    let reason = match past.count() {
        0 => "every figure is within its limit".to_owned(),
        1 => "1 figure is missing or past its limit".to_owned(),
        count => format!("{count} figures are missing or past their limits"),
    };
    let json = json!({
        "kind": "bench",
        "title": format!("bench {}", experiment.name),
        "subtitle": experiment.title,
        "verdict": {
            "good": experiment.good,
            "text": if experiment.good { "within limits" } else { "past a limit" },
            "reason": reason,
        },
        "commit": about.commit,
        "command": about.command,
        "tactus": env!("CARGO_PKG_VERSION"),
        "profile": experiment.profile,
        "seed": experiment.seed,
        "figures": figures,
        "lines_of_figures": lines,
        "distributions": distributions,
        "runs": runs,
        "configuration": about.configuration.as_deref().map(|text| super::cut(text, bound::CONFIGURATION)),
    });
    Container::new(&json, &sequences)
}
