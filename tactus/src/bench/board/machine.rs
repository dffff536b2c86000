//! The virtual board as the machine that is measured.

use std::path::Path;

use miette::{IntoDiagnostic, WrapErr, miette};
use serde::{Deserialize, Serialize};
use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::bus::Stop;
use tactus_board::devices::Console;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options, Software};
use tactus_board::time::Femtoseconds;

use super::host::{Stopwatch, Whose};
use super::job::Job;
use super::sample::{Hearing, Sample};
use crate::run::board::find_firmware;

/// Virtual time from one look at the console to the next, 1 ms: a job ends at the first look that finds its line, so
/// that where it ends does not depend on the host.
const SLICE: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 1000);

/// One run of a job on the board.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The job.
    pub job: Job,
    /// Name of the board's profile.
    pub profile: String,
    /// What time passes from reset on.
    pub pace: Pace,
    /// What everything random is made of.
    pub seed: u64,
}

/// Carries it out, on the calling thread.
///
/// # Errors
/// There is no such board, a file is missing, or the job did not come to a good end.
pub fn run(order: &Order) -> miette::Result<Sample> {
    let watch = Stopwatch::start(Whose::Thread);
    let job = &order.job;
    let (mut board, console) = start(order)?;
    let mut hearing = Hearing::of(job);
    let mut limit = Femtoseconds(0);
    let ended = loop {
        if limit.0 / Femtoseconds::SECOND.0 >= job.limit_seconds {
            break Err(format!(
                "it took longer than {} s of virtual time",
                job.limit_seconds
            ));
        }
        limit = Femtoseconds(limit.0.saturating_add(SLICE.0));
        let outcome = board.run(limit);
        if hearing.take(&console.take_output()) {
            break Ok(false);
        }
        match outcome {
            Outcome::Limit => {}
            Outcome::Stop(Stop::PowerOff) => break Ok(true),
            outcome => break Err(outcome.to_string()),
        }
    };
    let wall = watch.wall();
    let retired = (0..board.harts())
        .map(|hart| board.instructions(hart))
        .sum();
    let trace_hash = board.trace_hash();
    // As with QEMU, to give memory back is part of it.
    drop(board);
    let time = watch.read(wall);
    let journal = hearing
        .judge_end(ended)
        .map_err(|reason| miette!("{reason}"))
        .wrap_err_with(|| format!("`{}` failed on the board", job.name))?;
    Ok(Sample {
        instructions: if job.has_firmware {
            Some(retired)
        } else {
            Sample::counted_by_program(&journal)
        },
        trace_hash: Some(trace_hash),
        ..Sample::timed(time, &journal)
    })
}

/// The board with the job's software in it, at reset.
fn start(order: &Order) -> miette::Result<(Board, Console)> {
    let job = &order.job;
    let profile = Profile::named(&order.profile)
        .ok_or_else(|| miette!("the board has no profile `{}`", order.profile))?;
    let options = Options {
        harts: Some(job.harts as usize),
        memory: Some(job.memory_bytes),
        quantum: job.quantum,
        seed: order.seed,
        ..Options::default()
    };
    let file = read(&job.file)?;
    let firmware = job
        .has_firmware
        .then(|| read(&find_firmware()?))
        .transpose()?;
    let software = Software {
        firmware: firmware.as_deref().unwrap_or(&file),
        kernel: firmware.is_some().then_some(&file),
        ..Software::default()
    };
    let (mut board, console) = setup::board(&profile, &options, Vec::new()).into_diagnostic()?;
    setup::boot(&mut board, &profile, &software).into_diagnostic()?;
    board.set_pace(order.pace);
    Ok((board, console))
}

fn read(path: &Path) -> miette::Result<Vec<u8>> {
    std::fs::read(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} cannot be read", path.display()))
}
