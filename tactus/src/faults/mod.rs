//! `tactus faults`: lets a fault happen in each of many runs of a system on the virtual board, and judges what each has
//! done to the VM that it has struck and to all others.
//!
//! [`description`] reads the file. [`space`] draws the fault of a run from the run's number alone, [`takeover`] has the
//! guest of those by which a VM turns hostile; [`run`] carries a run out, [`judge`] compares it with the one without a
//! fault, [`reboot`] a boot after a loss of power with the first. [`work`] carries out all on several threads, and goes
//! on where it was ended. [`explain`] finds where a run parts from the one without its fault, [`chain`] how that
//! spreads, [`minimise`] makes it smaller; [`tally`] counts verdicts, [`proportion`] says what they show of all faults;
//! [`results`] has columns and a table, [`page`] shows in a browser how far a campaign is.

pub mod chain;
pub mod description;
pub mod explain;
pub mod judge;
pub mod lives;
pub mod minimise;
pub mod page;
pub mod proportion;
pub mod reboot;
pub mod results;
pub mod run;
pub mod space;
pub mod takeover;
pub mod tally;
#[cfg(test)]
mod testing;
pub mod work;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use miette::{IntoDiagnostic, miette};

use crate::attack::run::Unfit;
use crate::cli::FaultsArguments;
use crate::columns::Outputs;
use crate::problem::count;
use crate::progress::Progress;
use crate::run::board::live::Until;
use crate::sweep::{self, workers};

use description::Campaign;
use explain::Names;
use page::{About, ENDED, Found, Page, State};
use run::Subject;
use work::Done;

/// What the exit codes of `tactus faults` mean; printed by its `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    no fault has escaped from the VMs that it may change
  1    one has, or nothing went on; or the system has errors
  2    wrong usage, or something needed is missing or cannot be read
  130  interrupted; what is done is kept, and the same command goes on";

/// The exit code of a campaign that was interrupted.
const INTERRUPTED: u8 = 130;

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &FaultsArguments) -> ExitCode {
    match faults(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(unfit) => unfit.tell(),
    }
}

fn faults(arguments: &FaultsArguments) -> Result<u8, Unfit> {
    let mut campaign = Campaign::read(&arguments.file)?;
    campaign.runs = arguments.runs.map_or(campaign.runs, std::num::NonZero::get);
    campaign.seed = arguments.seed.unwrap_or(campaign.seed);
    if let Some(run) = arguments.run {
        return match &arguments.minimise {
            Some(path) => smaller(campaign, run, path),
            None => explain(arguments, campaign, run),
        };
    }
    let stem = arguments.file.file_stem().unwrap_or_default();
    let default = Path::new(stem).with_extension("parquet");
    let parquet = arguments.output.as_deref().unwrap_or(&default);
    let csv = arguments.csv.as_deref().map(|path| (path, "--csv"));
    let outputs = Outputs::prepare(csv, Some((parquet, "--output")))?;
    let subject = Arc::new(Subject::of(campaign)?);
    let mut kept: PathBuf = parquet.to_owned();
    kept.set_extension("part");
    let mut done = Done::open(&kept, &subject)?;
    if !done.is_empty() {
        let are = if done.len() == 1 { "is" } else { "are" };
        let runs = count(done.len(), "run");
        eprintln!("{runs} {are} done already: {}", kept.display());
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .into_diagnostic()
        .map_err(Unfit::Other)?;
    let page = match &arguments.page {
        None => None,
        Some(path) => {
            let name = arguments.file.display().to_string();
            let command = results::look_closer(&arguments.file, subject.campaign().seed);
            let reproduce = (command, String::new());
            let about = About::of(&subject, &name, reproduce, &done, Some(parquet));
            eprintln!("The campaign's page: {}", path.display());
            Some(Page::begin(path, "--page", about, &done)?)
        }
    };
    let mut shown = Shown(page);
    let progress = Progress::start("faults");
    let jobs = arguments.jobs.unwrap_or_else(workers);
    let is_whole = work::carry_out(&subject, &mut done, jobs, shown.0.as_mut(), &mut |state| {
        progress.status(state.text());
        !interrupted.load(Ordering::Relaxed)
    });
    drop(progress);
    let found = Found::of(&done);
    let is_whole = is_whole.inspect_err(|error| {
        shown.end(&State::Ended(error.to_string()), &found);
    })?;
    if !is_whole {
        shown.end(&State::Ended(ENDED.to_owned()), &found);
        eprintln!(
            "interrupted: what {} did is kept in {}, and the same command goes on with the others",
            count(done.len(), "run"),
            kept.display()
        );
        return Ok(INTERRUPTED);
    }
    let campaign = subject.campaign();
    let written = done.into_rows().and_then(|rows| {
        let written = outputs.write(&results::columns(campaign, &rows))?;
        Ok((rows, written))
    });
    let (rows, written) = written.inspect_err(|error| {
        shown.end(&State::Ended(error.to_string()), &found);
    })?;
    shown.end(&State::Done, &found);
    let mut text = results::summary(campaign, &rows);
    for path in written {
        text += &format!("Results: {}\n", path.display());
    }
    if let Some(bad) = rows.iter().find(|row| row.verdict.is_bad()) {
        let command = results::look_closer(&arguments.file, campaign.seed);
        text += &format!("Look closer: {command}{}\n", bad.run);
    }
    sweep::say(&text)?;
    Ok(u8::from(rows.iter().any(|row| row.verdict.is_bad())))
}

/// The page of a campaign, if it has one.
struct Shown(Option<Page>);

impl Shown {
    /// Writes the last page. A page that cannot be written is told, and ends nothing.
    fn end(&mut self, state: &State, found: &Found) {
        if let Some(Err(error)) = self.0.take().map(|page| page.end(state, found)) {
            eprintln!("the campaign's page is not up to date: {error}");
        }
    }
}

/// Makes a run smaller, and writes it.
fn smaller(campaign: Campaign, run: u32, path: &Path) -> Result<u8, Unfit> {
    let before = campaign.clone();
    let progress = Progress::start("faults");
    let smaller = minimise::minimise(campaign, run, &progress)?;
    drop(progress);
    let system = minimise::write(&smaller.campaign, path)?;
    let row = &smaller.row;
    let mut text = format!(
        "Fault: {}: {}\nVerdict: {}\n",
        row.fault,
        row.what,
        row.verdict.words()
    );
    for reason in &row.reasons {
        text += &format!("  {reason}\n");
    }
    if !smaller.without.is_empty() {
        text += &format!("Without: {}\n", smaller.without.join(", "));
    }
    let ms = |time: crate::config::Nanoseconds| time.0 as f64 / 1e6;
    text += &format!(
        "From its fault to its end: {:.3} ms (of {:.3})\nWritten after {}: {}, {}\nLook closer: tactus faults {} --run 0\n",
        ms(smaller.campaign.after),
        ms(before.length) + ms(before.after),
        count(smaller.tried, "run"),
        path.display(),
        system.display(),
        path.display()
    );
    sweep::say(&text)?;
    Ok(1)
}

/// Carries out one run, and says what its fault has done first.
fn explain(arguments: &FaultsArguments, campaign: Campaign, run: u32) -> Result<u8, Unfit> {
    let subject = Arc::new(Subject::of(campaign)?);
    let never = AtomicBool::new(false);
    let progress = Progress::start("faults");
    progress.status("to the beginning of the window");
    let Some(mut walker) = subject.start(&never)? else {
        return Err(Unfit::Other(miette!("it was interrupted")));
    };
    progress.status(format!("run {run}"));
    let mut row = None;
    let carried_out = walker.carry_out(&[run], &never, &mut |one| row = Some(one))?;
    let (Ok(()), Some(row)) = (carried_out, row) else {
        return Err(Unfit::Other(miette!("it was interrupted")));
    };
    let mut text = format!(
        "Run {run} of {}, seed {}\nFault: {}",
        arguments.file.display(),
        subject.campaign().seed,
        row.fault
    );
    if !row.what.is_empty() {
        let ms = row.at as f64 / 1e12;
        text += &format!(", {ms:.6} ms after reset: {}", row.what);
    }
    text += &format!("\nVerdict: {}\n", row.verdict.words());
    for reason in &row.reasons {
        text += &format!("  {reason}\n");
    }
    if row.is_same && row.verdict != judge::Verdict::NotPlaced {
        text += "All that happened is as without the fault.\n";
    }
    if let Ok(mut struck) = walker.strike(run)? {
        progress.status("where it parts from the run without the fault");
        let end = walker.end();
        let mut names = Names::new(&subject, struck.kind);
        let registers = explain::of_registers(&mut struck, &mut names, end)?;
        let events = explain::of_events(&mut struck, &mut names, end)?;
        progress.status("how it spreads");
        let chain = chain::of(
            &subject,
            &mut struck,
            &row,
            registers.as_ref(),
            &mut names,
            end,
        )?;
        for (words, parting) in [
            ("First other register", registers),
            ("First other event", events),
        ] {
            text += &match parting {
                None => format!("{words}: none\n"),
                Some(parting) => format!("{words}: {parting}\n"),
            };
        }
        text += &format!("From the fault to what it has done:\n{chain}");
        let mut with = struck.with;
        with.run(&Until::Time(end), None, &mut || true);
        text += &format!("At the end, {:.3} ms after reset:\n", end.0 as f64 / 1e12);
        let outcome = with.outcome();
        for vm in &outcome.journal.vms {
            text += &format!("  {}: {}\n", vm.name, crate::report::end_of(vm));
        }
    }
    drop(progress);
    sweep::say(&text)?;
    Ok(u8::from(row.verdict.is_bad()))
}
