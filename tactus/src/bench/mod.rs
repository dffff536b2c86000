//! `tactus bench`: repeats published experiments.
//!
//! An experiment is data ([`experiment`]): systems to run ([`prepared`]), and which of the guests' `metric` records, or of what
//! the board saw, are its figures ([`value`]); but how fast the virtual board is is measured on the host's clock, in [`board`]. [`result`] sets them beside the published ones and the limits.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use miette::{IntoDiagnostic, WrapErr, miette};

use crate::cli::{self, BenchArguments};
use crate::profile::Profile;
use crate::report;
use crate::report::page::About;
use crate::report::unit::Unit;
use crate::run::machine::SEED;
use crate::run::show;

use distribution::Distribution;
use experiment::{Experiment, Extent, Statistic};
use prepared::{Done, Prepared};
use result::{Findings, Found};

pub mod area;
pub mod board;
pub mod coupling;
pub mod distribution;
mod ends;
pub mod experiment;
pub mod factors;
pub mod paths;
pub mod prepared;
pub mod result;
pub mod value;

/// What the exit codes of `tactus bench` mean; printed by its `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  every figure is within its limit
  1  a figure is past its limit, or a run did not give it
  2  wrong usage, or something needed is missing or cannot be read";

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &BenchArguments) -> ExitCode {
    match bench(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

fn bench(arguments: &BenchArguments) -> miette::Result<bool> {
    if arguments.name == board::apart::NAME {
        return board::apart::serve().map(|()| true);
    }
    let found = experiment::find(&arguments.name)?;
    if let Some(directory) = &arguments.report {
        report::command::prepare(directory)?;
    }
    let findings = if arguments.name == board::NAME {
        let findings = board::bench(&found.text, &found.root, arguments.quick)
            .wrap_err_with(|| format!("{} was not carried out", found.path.display()))?;
        write_report(&findings, None, &found, arguments)?;
        findings
    } else {
        findings(&found, arguments)?
    };
    let text = if arguments.json {
        let mut text = serde_json::to_string(&findings).into_diagnostic()?;
        text.push('\n');
        text
    } else {
        findings.table().text()
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .into_diagnostic()?;
    Ok(findings.good())
}

/// Carries out an experiment of runs, gives its figures and draws its pictures.
fn findings(source: &experiment::Found, arguments: &BenchArguments) -> miette::Result<Findings> {
    let experiment::Found { text, path, root } = source;
    let experiment = experiment::parse(text)
        .wrap_err_with(|| format!("{} is not an experiment", path.display()))?;
    // Boards of tiles have none of the hypervisor's.
    let profile = Profile::named(&experiment.profile);
    let profile = profile.as_ref();
    let extent = match (arguments.quick, arguments.full) {
        (true, _) => Extent::Quick,
        (false, true) => Extent::Full,
        (false, false) => Extent::Usual,
    };
    let progress = show::progress("building");
    let runs: miette::Result<Vec<Prepared>> = experiment
        .runs
        .iter()
        .filter(|run| run.wanted(extent))
        .map(|run| {
            progress.set_message(format!("{}: building", run.name));
            prepared::prepare(run, &experiment.metrics, root, profile, extent)
        })
        .collect();
    progress.finish_and_clear();
    let runs = runs?;
    let wanted = arguments.platform;
    if let Some(platform) = wanted
        && runs
            .iter()
            .any(|run| run.on_board() != (platform == cli::Platform::Board))
    {
        return Err(miette!(
            help = "leave --platform out",
            "the experiment `{}` runs on {}",
            arguments.name,
            match platform {
                cli::Platform::Qemu => "the virtual board",
                cli::Platform::Board => "QEMU",
            }
        ));
    }
    let done = prepared::carry_out(&runs)?;
    let findings = evaluate(&arguments.name, &experiment, profile, root, &done, extent)?;
    let directory = match &arguments.pictures {
        Some(directory) => directory.clone(),
        None => root.join("build/bench").join(&arguments.name),
    };
    let watched: Vec<&Done> = experiment
        .runs
        .iter()
        .filter(|run| run.paths)
        .filter_map(|run| done.get(&run.name))
        .collect();
    if !watched.is_empty() {
        let path = directory.join(paths::FILE);
        paths::write(&value::merged(watched.into_iter()), &path)?;
        eprintln!("Paths: {}", path.display());
    }
    let mut drawn = Vec::new();
    let subtitle = findings.subtitle();
    for picture in &experiment.pictures {
        drawn.extend(findings.draw(picture, &subtitle, &directory)?);
    }
    let mut distributions = Vec::new();
    for histogram in &experiment.histograms {
        if let Some(found) = Distribution::find(histogram, &done, &findings)? {
            drawn.extend(found.draw(&histogram.name, &subtitle, &directory)?);
            distributions.push(found);
        }
    }
    let shown = Shown {
        experiment: &experiment,
        done: &done,
        distributions,
    };
    write_report(&findings, Some(shown), source, arguments)?;
    for (run, done) in &done {
        if let Some(ends) = &done.ends {
            for path in ends::write(run, ends, &directory)? {
                eprintln!("Wires: {}", path.display());
            }
        }
    }
    for path in drawn {
        eprintln!("Picture: {}", path.display());
    }
    Ok(findings)
}

/// What the report of an experiment of runs shows beside its figures.
struct Shown<'a> {
    experiment: &'a Experiment,
    done: &'a BTreeMap<String, Done>,
    distributions: Vec<Distribution<'a>>,
}

/// Writes the report, where one is wanted.
fn write_report(
    findings: &Findings,
    shown: Option<Shown<'_>>,
    source: &experiment::Found,
    arguments: &BenchArguments,
) -> miette::Result<()> {
    let Some(directory) = &arguments.report else {
        return Ok(());
    };
    let about = About {
        configuration: Some(source.text.clone()),
        ..About::of(&source.path)
    };
    let mut page = findings.page();
    if let Some(shown) = shown {
        let lines = shown.experiment.pictures.iter();
        page.lines = lines
            .filter_map(|picture| findings.lines(picture))
            .collect();
        page.distributions = shown
            .distributions
            .into_iter()
            .map(Distribution::page)
            .collect();
        page.runs = shown
            .done
            .iter()
            .map(|(name, done)| {
                let (outcome, facts) = (&done.outcome, done.outcome.board.as_ref());
                let journal = &outcome.journal;
                let seconds = facts.map(|facts| facts.time.as_seconds());
                (
                    name.clone(),
                    outcome.reason(),
                    seconds.unwrap_or_else(|| journal.seconds(journal.last_time)),
                    facts.map(|facts| facts.trace_hash),
                )
            })
            .collect();
    }
    let path = report::write_experiment(&page, &about, directory).into_diagnostic()?;
    eprintln!("Report: {} - open it in a browser", path.display());
    Ok(())
}

/// Takes the experiment's figures out of its runs. Figures of runs that were left out are left out.
fn evaluate(
    name: &str,
    experiment: &Experiment,
    profile: Option<&Profile>,
    root: &Path,
    done: &BTreeMap<String, Done>,
    extent: Extent,
) -> miette::Result<Findings> {
    let mut found = Vec::new();
    for metric in &experiment.metrics {
        if metric.apart() {
            if metric.quick || extent != Extent::Quick {
                let (value, note) = value::apart(metric, root, extent);
                found.push(Found {
                    metric: metric.clone(),
                    value,
                    note,
                });
            }
            continue;
        }
        // Paths are those of the runs that there were.
        let of_any = metric.paths.is_some() || metric.cost.is_some();
        let wanted = metric
            .runs()
            .filter(|run| !of_any || done.contains_key(*run));
        let of: Option<Vec<&Done>> = wanted.map(|run| done.get(run)).collect();
        let Some(&[first, ref others @ ..]) = of.as_deref() else {
            continue;
        };
        let mut metric = metric.clone();
        if let (Some(overhead), Some(profile)) = (metric.limit_overhead, profile) {
            let clocks = first.outcome.journal.clocks();
            let stated = overhead.of(profile).0 as f64;
            metric.limit = Unit::Nanoseconds.convert(stated, metric.unit, clocks);
        }
        if let Some(cost) = &metric.cost
            && cost.take == Statistic::Max
        {
            let clocks = first.outcome.journal.clocks();
            let stated = value::stated(cost, first);
            metric.limit =
                stated.and_then(|time| Unit::Nanoseconds.convert(time, metric.unit, clocks));
        }
        let value = value::value(&metric, root, first, others)?;
        let all: Vec<&Done> = std::iter::once(first)
            .chain(others.iter().copied())
            .collect();
        let note = value::worst(&metric, &all);
        found.push(Found {
            metric,
            value,
            note,
        });
    }
    Ok(Findings {
        name: name.to_owned(),
        title: experiment.title.clone(),
        profile: experiment.profile.clone(),
        seed: SEED,
        found,
    })
}
