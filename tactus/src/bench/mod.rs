//! `tactus bench`: repeats published experiments.
//!
//! An experiment is data ([`experiment`]): systems to run ([`prepared`]), and which of the guests' `metric` records, or
//! of what the board saw, are its figures ([`value`]); but how fast the virtual board is is measured on the host's
//! clock, in [`board`]. [`result`] sets them beside the published ones and the limits.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use miette::{IntoDiagnostic, WrapErr, miette};

use crate::cli::{self, BenchArguments};
use crate::columns::Outputs;
use crate::junit;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::report;
use crate::report::page::About;
use crate::report::unit::Unit;
use crate::run::machine::SEED;

use distribution::Distribution;
use experiment::{Experiment, Extent, Statistic};
use misses::Misses;
use prepared::{Done, Prepared};
use result::{Findings, Found};
use value::Apart;

pub mod area;
pub mod board;
pub mod coupling;
pub mod distribution;
mod ends;
pub mod experiment;
pub mod factors;
pub mod misses;
pub mod paths;
pub mod prepared;
pub mod result;
pub mod value;

/// What the exit codes of `tactus bench` mean; printed by its `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  every figure is within its limit, or a known miss that is not worse than recorded
  1  a figure is past its limit, or a run did not give it, or a known miss is worse than recorded or none any more
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
    if arguments.record_misses && std::env::var_os("CI").is_some() {
        return Err(miette!(
            help =
                "record them on a machine of your own, and say in the commit why they have changed",
            "continuous integration (the variable CI is set) does not renew the records of known misses"
        ));
    }
    let extent = extent(arguments);
    let found = experiment::find(&arguments.name)?;
    if arguments.record_misses && found.folder.is_some() {
        return Err(miette!(
            help = "name one of the project's own, or leave the option out",
            "--record-misses is for the project's experiments, and {} is none of them",
            found.path.display()
        ));
    }
    if let Some(directory) = &arguments.report {
        report::command::prepare(directory)?;
    }
    let csv = arguments.csv.as_deref().map(|path| (path, "--csv"));
    let parquet = arguments.parquet.as_deref().map(|path| (path, "--parquet"));
    let outputs = Outputs::prepare(csv, parquet)?;
    // Limits that are out of reach are recorded of the project's own.
    let misses = match found.folder {
        None => Misses::read(&found.root)?,
        Some(_) => Misses::default(),
    };
    let is_of_board = found.folder.is_none() && found.name == board::NAME;
    let metrics = metrics_of(is_of_board, &found.text)
        .wrap_err_with(|| format!("{} is not an experiment", found.path.display()))?;
    misses.check(&experiment::names(&found.root), &found.name, &metrics)?;
    let mut findings = if is_of_board {
        let mut findings = board::bench(
            &found.text,
            &found.root,
            arguments.quick,
            !arguments.no_host_limits,
        )
        .wrap_err_with(|| format!("{} was not carried out", found.path.display()))?;
        misses.apply(&mut findings, extent);
        write_report(&findings, None, &found, arguments)?;
        findings
    } else {
        findings(&found, &misses, arguments)?
    };
    // The file as it is then may lack a reason; the figures are shown first.
    let mut unreasoned = None;
    if arguments.record_misses {
        for line in misses.record(&findings, extent)? {
            eprintln!("{}: {line}", misses::FILE);
        }
        match Misses::read(&found.root) {
            Ok(misses) => misses.apply(&mut findings, extent),
            Err(report) => unreasoned = Some(report),
        }
    }
    for path in outputs.write(&findings.columns(extent))? {
        eprintln!("Figures: {}", path.display());
    }
    if let Some(path) = &arguments.junit {
        junit::write(path, "bench", &[findings.suite(extent)])?;
    }
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
    if let Some(report) = unreasoned {
        return Err(report);
    }
    for remark in findings.remarks(extent) {
        eprintln!(
            "tactus bench {}{}: {remark}",
            arguments.name,
            extent.option()
        );
    }
    Ok(findings.good())
}

/// How much of the experiment the arguments ask for.
fn extent(arguments: &BenchArguments) -> Extent {
    match (arguments.quick, arguments.full) {
        (true, _) => Extent::Quick,
        (false, true) => Extent::Full,
        (false, false) => Extent::Usual,
    }
}

/// The metrics of an experiment: that of the board's speed, which has a form of its own, or another one.
///
/// # Errors
/// The text is no such experiment.
pub fn metrics_of(is_of_board: bool, text: &str) -> miette::Result<Vec<experiment::Metric>> {
    if is_of_board {
        let experiment = board::experiment::parse(text)?;
        return Ok(experiment
            .metrics
            .iter()
            .map(|metric| metric.plain())
            .collect());
    }
    Ok(experiment::parse(text)?.metrics)
}

/// Carries out an experiment of runs, gives its figures beside the known misses and draws its pictures.
fn findings(
    source: &experiment::Found,
    misses: &Misses,
    arguments: &BenchArguments,
) -> miette::Result<Findings> {
    let root = &source.root;
    let mut experiment = source.experiment()?;
    if arguments.no_host_limits {
        experiment = experiment.without_host_limits();
    }
    // Boards of tiles have none of the hypervisor's.
    let profile = Profile::named(&experiment.profile);
    let profile = profile.as_ref();
    let extent = extent(arguments);
    let progress = Progress::start("preparing");
    let runs: miette::Result<Vec<Prepared>> = experiment
        .runs
        .iter()
        .filter(|run| run.wanted(extent))
        .map(|run| {
            progress.status(run.name.as_str());
            prepared::prepare(run, &experiment.metrics, root, profile, extent)
        })
        .collect();
    drop(progress);
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
    let mut findings = evaluate(&source.name, &experiment, profile, root, &done, extent)?;
    misses.apply(&mut findings, extent);
    let directory = match &arguments.pictures {
        Some(directory) => directory.clone(),
        None => {
            let root = source
                .folder
                .as_ref()
                .map_or(root.as_path(), |_| Path::new(""));
            root.join("build/bench").join(&source.name)
        }
    };
    let watched: Vec<&Done> = experiment
        .runs
        .iter()
        .filter(|run| run.paths && experiment.is_of_page(run))
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
    let mut page = findings.page(extent(arguments));
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
            .map(|(name, done)| (name.as_str(), &done.outcome))
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
    let mut left_out = Vec::new();
    for metric in &experiment.metrics {
        if metric.apart() {
            if metric.quick || extent != Extent::Quick {
                match value::apart(metric, root, extent) {
                    Apart::Figure(value, note) => found.push(Found {
                        note,
                        ..Found::of(metric.clone(), value)
                    }),
                    Apart::LeftOut(reason) => left_out.push((metric.name.clone(), reason)),
                }
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
        let note = value::worst(&metric, root, &all);
        found.push(Found {
            note,
            ..Found::of(metric, value)
        });
    }
    Ok(Findings {
        name: name.to_owned(),
        title: experiment.title.clone(),
        profile: experiment.profile.clone(),
        seed: SEED,
        found,
        left_out,
    })
}
