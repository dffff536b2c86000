//! The runs of a campaign of faults as what is measured: from the copy of the board at the fault's time, over the
//! simulation, to the verdict.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use miette::{WrapErr, miette};
use sha2::{Digest, Sha256};
use tactus_board::board::Pace;

use super::experiment::Machine;
use super::host::{Stopwatch, Whose};
use super::sample::Sample;
use crate::attack::run::Unfit;
use crate::check;
use crate::faults::description::Campaign;
use crate::faults::run::{Subject, Walker};

/// A campaign whose system has come to the beginning of the window, and whose run without a fault is known.
#[derive(Debug)]
pub struct Prepared {
    walker: Walker,
    runs: u32,
}

impl Prepared {
    /// The campaign of a file, at the machine's pace whatever the file says.
    ///
    /// # Errors
    /// It cannot be read, its system has errors or needs what is missing, or does not come to the window.
    pub fn of(file: &Path, machine: Machine) -> miette::Result<Self> {
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
        let walker = Arc::new(subject.wrap_err_with(whole)?)
            .start(&AtomicBool::new(false))
            .wrap_err_with(whole)?
            .ok_or_else(|| miette!("it was interrupted"))?;
        Ok(Self { walker, runs })
    }

    /// Carries out all its runs on the calling thread.
    ///
    /// # Errors
    /// There is no memory for a copy of the board.
    pub fn carry_out(&mut self) -> miette::Result<Sample> {
        let runs: Vec<u32> = (0..self.runs).collect();
        let before = self.walker.instructions();
        let mut digest = Sha256::new();
        let watch = Stopwatch::start(Whose::Thread);
        let take = &mut |row: crate::faults::run::Row| {
            digest.update(row.run.to_le_bytes());
            digest.update(row.verdict.words());
            digest.update(&row.trace_hash);
        };
        let ended = self
            .walker
            .carry_out(&runs, &AtomicBool::new(false), take)?;
        let time = watch.read(watch.wall());
        ended.map_err(|_| miette!("it was interrupted"))?;
        let digest: [u8; 32] = digest.finalize().into();
        let checksum = digest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        Ok(Sample {
            time,
            instructions: Some(self.walker.instructions() - before),
            checksum,
            trace_hash: Some(self.walker.trace_hash()),
            runs: Some(self.runs),
        })
    }
}
