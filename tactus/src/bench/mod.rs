//! `tactus bench`: repeats published experiments.
//!
//! An experiment is data ([`experiment`]): systems to run, and which of the guests' `metric` records are its
//! figures; but how fast the virtual board is is measured on the host's clock, in [`board`]. [`result`] sets them beside the published ones and the limits.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use miette::{IntoDiagnostic, WrapErr, miette};
use object::{Object, ObjectSection, SectionKind};

use crate::artifacts::Artifacts;
use crate::cli::{self, BenchArguments};
use crate::profile::Profile;
use crate::report;
use crate::run::machine::{Launch, Platform, SEED};
use crate::run::session::{Outcome, Plan, Session, Unwatched, Verdict};
use crate::run::{Boot, show};

use experiment::{Experiment, Metric, Run};
use result::{Findings, Found};

pub mod board;
pub mod experiment;
pub mod result;

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
    let findings = if arguments.name == board::NAME {
        board::bench(&found.text, &found.root, arguments.quick)
            .wrap_err_with(|| format!("{} was not carried out", found.path.display()))?
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

/// Carries out an experiment of runs and gives its figures.
fn findings(
    experiment::Found { text, path, root }: &experiment::Found,
    arguments: &BenchArguments,
) -> miette::Result<Findings> {
    if arguments.platform != cli::Platform::Qemu {
        return Err(miette!(
            help = "say --platform qemu, or nothing",
            "the experiment `{}` runs on QEMU",
            arguments.name
        ));
    }
    let experiment = experiment::parse(text)
        .wrap_err_with(|| format!("{} is not an experiment", path.display()))?;
    let profile = Profile::named(&experiment.profile)
        .ok_or_else(|| miette!("there is no profile `{}`", experiment.profile))?;
    let mut done = BTreeMap::new();
    for run in &experiment.runs {
        if arguments.quick && !run.quick {
            continue;
        }
        done.insert(run.name.as_str(), carry_out(run, root, &profile)?);
    }
    evaluate(&arguments.name, &experiment, &done)
}

/// A run that has been carried out.
#[derive(Debug)]
struct Done {
    outcome: Outcome,
    /// The hypervisor's ELF file; `None` without one.
    hypervisor: Option<PathBuf>,
}

fn carry_out(run: &Run, root: &Path, profile: &Profile) -> miette::Result<Done> {
    let progress = show::progress(format!("{}: building", run.name));
    let timeout = Duration::from_secs(run.timeout_seconds);
    let session = |plan: Plan| {
        progress.set_message(format!("{}: running", run.name));
        Session::start(plan.timeout(timeout)).and_then(|session| session.finish(&mut Unwatched))
    };
    let done = match (&run.system, &run.guest) {
        (Some(system), _) => Boot::of(&root.join(system)).and_then(|boot| {
            let mut plan = boot.plan.clone();
            if let Some(until) = &run.until {
                plan = plan.until(until)?;
            }
            Ok(Done {
                outcome: session(plan)?,
                hypervisor: Some(boot.image.hypervisor.clone()),
            })
        }),
        (None, guest) => {
            let guest = guest.as_deref().unwrap_or_default();
            native_plan(run, guest, profile).and_then(|plan| {
                Ok(Done {
                    outcome: session(plan)?,
                    hypervisor: None,
                })
            })
        }
    };
    progress.finish_and_clear();
    let done = done.wrap_err_with(|| format!("run `{}` could not be carried out", run.name))?;
    complain(run, &done.outcome);
    Ok(done)
}

/// The run of a guest directly under the firmware.
fn native_plan(run: &Run, guest: &str, profile: &Profile) -> miette::Result<Plan> {
    let image = Artifacts::Workspace.file(guest).map_err(|missing| {
        miette!(
            help = missing.cure,
            "the guest `{guest}` is not to be had: {}",
            missing.reason
        )
    })?;
    let launch = Launch {
        image,
        harts: run.harts.unwrap_or(1),
        memory_bytes: profile.memory.default.0,
        platform: Platform::Qemu,
    };
    Ok(Plan::bare(launch, guest, profile.timebase_hz.into()))
}

/// Says on stderr what was wrong with a run.
fn complain(run: &Run, outcome: &Outcome) {
    if outcome.verdict() != Verdict::Good {
        eprintln!("run `{}` failed: {}", run.name, outcome.reason());
        for vm in &outcome.journal.vms {
            eprintln!("  VM {}: {}", vm.name, report::end_of(vm));
        }
    }
    for remark in report::remarks(&outcome.journal) {
        eprintln!("  run `{}`: {remark}", run.name);
    }
}

/// Takes the experiment's figures out of its runs. Figures of runs that were left out are left out.
fn evaluate(
    name: &str,
    experiment: &Experiment,
    done: &BTreeMap<&str, Done>,
) -> miette::Result<Findings> {
    let mut found = Vec::new();
    for metric in &experiment.metrics {
        let Some(done) = metric.run().and_then(|run| done.get(run)) else {
            continue;
        };
        found.push(Found {
            metric: metric.clone(),
            value: value(metric, done)?,
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

/// A metric's value, from its run; `None` when the run did not give it, which stderr is told.
fn value(metric: &Metric, done: &Done) -> miette::Result<Option<f64>> {
    if let (Some(_), Some(hypervisor)) = (&metric.hypervisor_text, &done.hypervisor) {
        return text_bytes(hypervisor).map(|bytes| Some(bytes as f64));
    }
    let Some(source) = &metric.record else {
        return Ok(None);
    };
    let name = source.name.as_deref().unwrap_or(&metric.name);
    let journal = &done.outcome.journal;
    let Some(record) = journal.vm(&source.vm).and_then(|vm| vm.metrics.get(name)) else {
        eprintln!(
            "run `{}` gave no `{name}` of VM `{}`",
            source.run, source.vm
        );
        return Ok(None);
    };
    // A failed run's figures may be of anything.
    if done.outcome.verdict() != Verdict::Good {
        return Ok(None);
    }
    let factor = record.unit.factor_to(metric.unit, journal.clocks());
    if factor.is_none() {
        eprintln!(
            "run `{}` gave `{name}` in {}, which cannot be had in {}",
            source.run,
            record.unit.name(),
            metric.unit.name()
        );
    }
    Ok(factor.map(|factor| record.value * factor))
}

/// Bytes of an ELF file's executable sections.
fn text_bytes(path: &Path) -> miette::Result<u64> {
    let data = std::fs::read(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} cannot be read", path.display()))?;
    let file = object::File::parse(&*data)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} is not an ELF file", path.display()))?;
    Ok(file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text)
        .map(|section| section.size())
        .sum())
}
