//! The runs of a campaign of faults as what is measured: from the copy of the board at the fault's time, over the
//! simulation, to the verdict.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use miette::{WrapErr, miette};
use sha2::{Digest, Sha256};
use tactus_board::board::Pace;

use super::experiment::Machine;
use super::host::{HostTime, Stopwatch, Whose};
use super::sample::Sample;
use crate::attack::run::Unfit;
use crate::check;
use crate::faults::description::Campaign;
use crate::faults::run::{Row, Subject, Walker};

/// A campaign whose system has come to the beginning of the window, and whose run without a fault is known.
#[derive(Debug)]
pub struct Prepared {
    /// One for each thread.
    walkers: Vec<Walker>,
    runs: u32,
}

/// What a thread has done.
struct Part {
    rows: Vec<Row>,
    time: HostTime,
    instructions: u64,
    simulated: Duration,
}

impl Prepared {
    /// The campaign of a file, at the machine's pace whatever the file says, for so many threads.
    ///
    /// # Errors
    /// It cannot be read, its system has errors or needs what is missing, or does not come to the window.
    pub fn of(file: &Path, machine: Machine, threads: u32) -> miette::Result<Self> {
        let whole = || format!("the campaign {}", file.display());
        let mut campaign = Campaign::read(file)?;
        campaign.pace = match machine {
            Machine::Timed => Pace::Timed,
            _ => Pace::Fast,
        };
        let runs = campaign.runs;
        let subject = Subject::of(campaign).map_err(|unfit| match unfit {
            Unfit::Refused(verdict) => {
                check::print_problems(&verdict.problems);
                miette!("its system has errors")
            }
            Unfit::Other(report) => report,
        });
        let subject = Arc::new(subject.wrap_err_with(whole)?);
        let walkers = (0..threads).map(|_| {
            subject
                .start(&AtomicBool::new(false))
                .wrap_err_with(whole)?
                .ok_or_else(|| miette!("it was interrupted"))
        });
        Ok(Self {
            walkers: walkers.collect::<miette::Result<_>>()?,
            runs,
        })
    }

    /// Carries out all its runs: of N threads, each takes every Nth.
    ///
    /// # Errors
    /// There is no memory for a copy of the board.
    pub fn carry_out(&mut self) -> miette::Result<Sample> {
        let begin = Instant::now();
        let threads = self.walkers.len();
        let parts: Vec<miette::Result<Part>> = thread::scope(|scope| {
            let started: Vec<_> = self
                .walkers
                .iter_mut()
                .enumerate()
                .map(|(thread, walker)| {
                    let runs: Vec<u32> = (thread as u32..self.runs).step_by(threads).collect();
                    scope.spawn(move || carry_out_part(walker, &runs))
                })
                .collect();
            started
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|_| Err(miette!("a thread has failed")))
                })
                .collect()
        });
        let wall = begin.elapsed();
        let parts = parts.into_iter().collect::<miette::Result<Vec<_>>>()?;
        let mut rows: Vec<&Row> = parts.iter().flat_map(|part| &part.rows).collect();
        rows.sort_by_key(|row| row.run);
        let mut digest = Sha256::new();
        for row in rows {
            digest.update(row.run.to_le_bytes());
            digest.update(row.verdict.words());
            digest.update(&row.trace_hash);
        }
        let digest: [u8; 32] = digest.finalize().into();
        let checksum = digest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let simulated: Duration = parts.iter().map(|part| part.simulated).sum();
        let taken: Duration = parts.iter().map(|part| part.time.wall).sum();
        Ok(Sample {
            time: HostTime {
                wall,
                cpu: parts.iter().map(|part| part.time.cpu).sum(),
            },
            instructions: Some(parts.iter().map(|part| part.instructions).sum()),
            checksum,
            trace_hash: self.walkers.first().map(Walker::trace_hash),
            runs: Some(self.runs),
            simulated: Some(simulated.as_secs_f64() / taken.as_secs_f64()),
        })
    }
}

/// Carries out these runs on the calling thread.
fn carry_out_part(walker: &mut Walker, runs: &[u32]) -> miette::Result<Part> {
    let (instructions, simulated) = (walker.instructions(), walker.simulated());
    let mut rows = Vec::with_capacity(runs.len());
    let watch = Stopwatch::start(Whose::Thread);
    walker
        .carry_out(runs, &AtomicBool::new(false), &mut |row| rows.push(row))?
        .map_err(|_| miette!("it was interrupted"))?;
    Ok(Part {
        rows,
        time: watch.read(watch.wall()),
        instructions: walker.instructions() - instructions,
        simulated: walker.simulated() - simulated,
    })
}
