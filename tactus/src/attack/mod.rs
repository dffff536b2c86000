//! `tactus attack`: puts a hostile guest in the place of one VM after the other, with that VM's rights, and watches
//! what it costs the real-time vCPUs of the others.
//!
//! [`plan`] decides which VM does what in which run, [`replace`] changes the system, [`run`] runs it on the timed
//! board, [`verdict`] compares with what `tactus check` states, [`mod@print`] says so. [`campaign`] does that with many
//! [`random`] systems, [`minimise`] makes one with a finding smaller, and [`limit`] runs random sets at the limit of
//! what is admitted, without an attack.

pub mod campaign;
pub mod catalog;
pub mod limit;
pub mod many;
pub mod minimise;
pub mod plan;
pub mod print;
pub mod random;
pub mod replace;
pub mod run;
pub mod verdict;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::cli::AttackArguments;
use crate::config::Nanoseconds;
use crate::problem::count;
use crate::progress::Progress;

use campaign::Campaign;
use plan::{Run, Wanted};
use print::{Done, Report};
use run::{Lab, Shown, Unfit};
use verdict::{Alone, findings};

/// What the exit codes of `tactus attack` mean; printed by its `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  nothing found: every job within its bound
  1  a finding, or errors in the system
  2  wrong usage, or something needed is missing or cannot be read";

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &AttackArguments) -> ExitCode {
    match attack(arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(unfit) => unfit.tell(),
    }
}

/// Gives the number of findings.
fn attack(arguments: &AttackArguments) -> Result<usize, Unfit> {
    let say = |text: &str| {
        // A closed stdout wants no more output; the verdict stands.
        let _ = io::stdout().write_all(text.as_bytes());
    };
    if let Some(count) = arguments.random.filter(|_| arguments.near_limit) {
        let report = limit::campaign(arguments, count)?;
        say(&if arguments.json {
            format!("{:#}\n", report.to_json())
        } else {
            report.text()
        });
        return Ok(report.findings());
    }
    if let Some(count) = arguments.random {
        let campaign = Campaign::run(arguments, count)?;
        say(&if arguments.json {
            format!("{:#}\n", campaign.to_json())
        } else {
            campaign.text()
        });
        if let Some(path) = &arguments.minimise {
            minimise_first(&campaign, path)?;
        }
        return Ok(campaign.findings());
    }
    let Some(file) = arguments.file.as_ref().filter(|_| !arguments.list) else {
        say(&if arguments.json {
            format!("{:#}\n", print::list_json())
        } else {
            print::list()
        });
        return Ok(0);
    };
    let lab = Lab::open(
        file,
        arguments.seed,
        Nanoseconds(arguments.ms() * 1_000_000),
    )?;
    let vms = lab.candidates();
    let wanted = Wanted {
        victims: &arguments.victims,
        attackers: &arguments.attackers,
        trusted: &arguments.trusted,
        attacks: &arguments.attacks,
    };
    let runs = plan::runs(&vms, &wanted).map_err(|nothing| Unfit::Other(nothing.into()))?;
    let victims: BTreeSet<usize> = runs.iter().flat_map(|run| &run.victims).copied().collect();
    let victims: Vec<usize> = victims.into_iter().collect();
    let mut report = Report {
        system: file.display().to_string(),
        inputs: lab.inputs()?,
        profile: lab.profile().name.clone(),
        clock_hz: lab.profile().clock_hz,
        seed: arguments.seed,
        ms: arguments.ms(),
        runs: Vec::new(),
    };
    let progress = Progress::start("running");
    let start = lab.start_of(&victims)?;
    progress.status("without an attack");
    let alone = lab.run(None, &victims, start)?;
    report
        .runs
        .push(done(&report, arguments, None, None, &alone));
    for (number, run) in runs.iter().enumerate() {
        let vm = &vms[run.attacker].name;
        let (name, number, all) = (run.attack.name, number + 1, runs.len());
        progress.status(format!("{number} of {all}: {name} by {vm}"));
        let shown = lab.run(Some(run), &run.victims, start)?;
        let of = Some((vm.as_str(), run));
        report
            .runs
            .push(done(&report, arguments, of, Some(&alone), &shown));
    }
    drop(progress);
    if arguments.json {
        say(&format!("{:#}\n", report.to_json()));
    } else {
        let separator = if report.findings() > 0 { "\n" } else { "" };
        say(&format!(
            "{}\n{}\n{}\n{}{separator}{}",
            report.title(),
            report.runs_table(),
            report.victims_table(),
            report.findings_text(),
            report.conclusion()
        ));
    }
    Ok(report.findings())
}

/// Makes the first system with a finding smaller, and writes it.
fn minimise_first(campaign: &Campaign, path: &Path) -> miette::Result<()> {
    let Some(failing) = campaign.first_failing()? else {
        eprintln!("there is no finding: nothing is written");
        return Ok(());
    };
    let progress = Progress::start("minimising");
    let smaller = failing.minimise(&progress)?;
    drop(progress);
    smaller.failing.write(path)?;
    let mut text = String::new();
    for finding in &smaller.findings {
        text += &format!("{}: {}\n", finding.whom, finding.text);
    }
    if !smaller.without.is_empty() {
        text += &format!("Without: {}\n", smaller.without.join(", "));
    }
    text += &format!(
        "Written after {}: {}\nAgain: {}\n",
        count(smaller.tried, "run"),
        path.display(),
        smaller.failing.again(path)
    );
    // As of all of the command: a closed stdout wants no more.
    let _ = io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// A run that is over, with its findings.
fn done(
    report: &Report,
    arguments: &AttackArguments,
    of: Option<(&str, &Run)>,
    alone: Option<&Shown>,
    shown: &Shown,
) -> Done {
    let outcome = &shown.outcome;
    let alone = alone.map(|alone| Alone {
        outcome: &alone.outcome,
        jobs: &alone.jobs,
    });
    let attacker = of.map(|(_, run)| run.attacker);
    Done {
        attack: of.map(|(vm, run)| (vm.to_owned(), run.attack.name)),
        jobs: shown.jobs.clone(),
        findings: findings(alone, outcome, attacker, &shown.jobs, |cycles| {
            report.time(cycles)
        }),
        again: again(report, arguments, of),
    }
}

/// The command that repeats a run alone.
fn again(report: &Report, arguments: &AttackArguments, of: Option<(&str, &Run)>) -> String {
    let mut words = vec![format!("tactus attack {}", report.system)];
    match of {
        Some((vm, run)) => words.push(format!("--attacker {vm} --attack {}", run.attack.name)),
        // What is watched without an attack is watched before each.
        None => {
            let each = |option: &'static str, names: &[String]| {
                let all = names.iter().map(move |name| format!("{option} {name}"));
                all.collect::<Vec<_>>()
            };
            words.extend(each("--attacker", &arguments.attackers));
            words.extend(each("--trust", &arguments.trusted));
            words.push("--attack spin".to_owned());
        }
    }
    words.extend(
        arguments
            .victims
            .iter()
            .map(|name| format!("--victim {name}")),
    );
    words.push(format!("--seed {} --ms {}", report.seed, report.ms));
    words.join(" ")
}
