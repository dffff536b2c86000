//! `tactus bench board`: how fast the virtual board is, beside QEMU with one instruction in each block, and whether it
//! gives the same run twice.
//!
//! [`experiment`] is what to do, as data. A [`job`] is a task made ready, a [`sample`] is one run of it on a machine.
//! The machines are [`qemu`] and the board ([`machine`]), which runs [`apart`] from this process; a [`campaign`] of
//! faults is carried out within it. [`turns`] measures in turns; [`host`] watches who else uses the host, and keeps it
//! busy on purpose.

use std::collections::BTreeMap;
use std::path::Path;

use miette::{IntoDiagnostic, WrapErr, miette};
use tactus_board::board::Pace;
use tactus_board::profile::Profile;

use crate::run::machine::SEED;

use super::result::{Findings, Found};
use campaign::Prepared;
use experiment::{Experiment, Machine, Measured, Source};
use job::{Job, Ready};
use machine::Order;
use sample::Sample;
use turns::Measurements;

pub mod apart;
pub mod campaign;
pub mod experiment;
pub mod fork;
pub mod host;
pub mod job;
pub mod machine;
pub mod program;
pub mod qemu;
pub mod sample;
pub mod turns;

/// Name of the experiment, which is in `bench/board.toml`.
pub const NAME: &str = "board";

/// Carries the experiment of this text out and gives its figures; progress and remarks go to stderr. Without
/// `host_limits`, figures in host time are reported only.
///
/// # Errors
/// The text is no experiment, a task cannot be made ready, a run failed, or machines computed different results.
pub fn bench(text: &str, root: &Path, quick: bool, host_limits: bool) -> miette::Result<Findings> {
    let mut experiment = experiment::parse(text)?;
    if !host_limits {
        experiment = experiment.without_host_limits();
    }
    let spike = qemu::find_spike(&std::env::var_os("PATH").unwrap_or_default());
    let left_out = match spike {
        Some(_) => Vec::new(),
        None => experiment.leave_out(Machine::Spike),
    };
    let program = std::env::current_exe()
        .into_diagnostic()
        .wrap_err("this program's own file is not to be had")?;
    let mut findings = carry_out(NAME, &experiment, root, quick, |machine, job| {
        run_once(machine, job, spike.as_deref(), |pace| {
            let order = Order {
                job: job.clone(),
                profile: experiment.profile.clone(),
                pace,
                seed: SEED,
            };
            apart::run(&program, &order)
        })
    })?;
    let reason = "`spike` is not installed: no directory of PATH has it";
    let left_out = left_out.into_iter().map(|name| (name, reason.to_owned()));
    findings.left_out.extend(left_out);
    Ok(findings)
}

/// Carries the experiment out and gives its figures. `run` runs a job once on a machine; progress and remarks go to
/// stderr.
///
/// # Errors
/// A task cannot be made ready, a run failed, or machines computed different results.
pub fn carry_out(
    name: &str,
    experiment: &Experiment,
    root: &Path,
    quick: bool,
    mut run: impl FnMut(Machine, &Job) -> miette::Result<Sample>,
) -> miette::Result<Findings> {
    let profile = Profile::named(&experiment.profile)
        .ok_or_else(|| miette!("there is no profile `{}`", experiment.profile))?;
    let mut jobs = BTreeMap::new();
    let mut campaigns: BTreeMap<Measured, Prepared> = BTreeMap::new();
    let mut forks: BTreeMap<Measured, fork::Prepared> = BTreeMap::new();
    let mut measured = Vec::new();
    for turns in &experiment.turns {
        let times = if quick {
            turns.quick_repeat
        } else {
            turns.repeat
        };
        for measured in turns.of.iter().filter(|_| times > 0) {
            let Some(task) = experiment.task(&measured.task) else {
                continue;
            };
            if let Some(file) = &task.campaign {
                if !campaigns.contains_key(measured) {
                    let threads = task.threads.unwrap_or(1);
                    let prepared = Prepared::of(&root.join(file), measured.machine, threads)?;
                    campaigns.insert(measured.clone(), prepared);
                }
            } else if let Some(mib) = task.fork_mib {
                if !forks.contains_key(measured) {
                    let prepared = fork::Prepared::of(mib, &profile, measured.machine)?;
                    forks.insert(measured.clone(), prepared);
                }
            } else if !jobs.contains_key(&task.name) {
                jobs.insert(task.name.clone(), Ready::of(task, root, &profile, quick)?);
            }
        }
        let mut run = |measured: &Measured| {
            if let Some(campaign) = campaigns.get_mut(measured) {
                return campaign.carry_out();
            }
            if let Some(fork) = forks.get_mut(measured) {
                return fork.carry_out();
            }
            let ready = jobs
                .get(&measured.task)
                .ok_or_else(|| miette!("`{measured}` is of no task"))?;
            run(measured.machine, &ready.job)
        };
        measured.push(if turns.loaded {
            turns::measure_loaded(&turns.of, times, &mut run)?
        } else {
            turns::measure(&turns.of, times, &mut run)?
        });
    }
    turns::agree(&measured)?;
    let found = experiment.metrics.iter().filter_map(|metric| {
        let measurements = &measured[experiment.turns_of(&metric.source)?];
        (!measurements.is_empty())
            .then(|| Found::of(metric.plain(), value(&metric.source, measurements)))
    });
    Ok(Findings {
        name: name.to_owned(),
        title: experiment.title.clone(),
        profile: experiment.profile.clone(),
        seed: SEED,
        found: found.collect(),
        left_out: Vec::new(),
    })
}

/// Runs a job once on a machine: `on_board` does it where the machine is the board. `spike`: where Spike is.
fn run_once(
    machine: Machine,
    job: &Job,
    spike: Option<&Path>,
    on_board: impl FnOnce(Pace) -> miette::Result<Sample>,
) -> miette::Result<Sample> {
    match machine {
        Machine::Qemu => qemu::run(qemu::Mode::StepByStep, job),
        Machine::Plain => qemu::run(qemu::Mode::Plain, job),
        Machine::Spike => {
            let program = spike.ok_or_else(|| miette!("`spike` is not installed"))?;
            qemu::run(qemu::Mode::Spike(program), job)
        }
        Machine::Counting => qemu::run(qemu::Mode::Counting, job),
        Machine::Fast => on_board(Pace::Fast),
        Machine::Timed => on_board(Pace::Timed),
    }
}

/// A figure, from the turns that it is of; `None` when a machine did not give what it needs.
fn value(source: &Source, of: &Measurements) -> Option<f64> {
    let wall = |sample: &Sample| Some(sample.time.wall.as_secs_f64());
    let seconds = |sample: &Sample| Some(sample.time.cpu.as_secs_f64());
    let instructions = |sample: &Sample| sample.instructions.map(|count| count as f64);
    let each = |sample: &Sample| Some(seconds(sample)? / instructions(sample)?);
    match source {
        Source::WallSeconds(a) => of.median([a], |[a]| wall(a)),
        Source::Speedup(a, b) => of.median([a, b], |[a, b]| Some(seconds(a)? / seconds(b)?)),
        Source::Slowdown(a, b) => of.median([a, b], |[a, b]| Some(each(a)? / each(b)?)),
        Source::HostNsPerInstruction(a, b) => {
            of.median([a, b], |[a, b]| Some(seconds(a)? * 1e9 / instructions(b)?))
        }
        Source::RunsPerSecond(a) => of.median([a], |[a]| Some(f64::from(a.runs?) / seconds(a)?)),
        Source::MsPerCopy(a) => of.median([a], |[a]| Some(seconds(a)? * 1e3 / f64::from(a.runs?))),
        Source::SimulationPercent(a) => of.median([a], |[a]| Some(100.0 * a.simulated?)),
        Source::InstructionsPerRun(a) => {
            of.median([a], |[a]| Some(instructions(a)? / f64::from(a.runs?)))
        }
        Source::Instructions(a) => of.median([a], |[a]| instructions(a)),
        Source::CountDifference(a, b) => of.median([a, b], |[a, b]| {
            Some((instructions(a)? - instructions(b)?).abs())
        }),
        Source::Identical(a) => of.equal_hashes(a).map(f64::from),
    }
}

#[cfg(test)]
mod tests;
