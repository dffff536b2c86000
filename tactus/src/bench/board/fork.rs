//! Copies of a board as what is measured: how long it takes until a second board stands where the first one does.

use miette::{IntoDiagnostic, miette};
use tactus_board::board::{Board, Pace};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};

use super::experiment::Machine;
use super::host::{Stopwatch, Whose};
use super::sample::Sample;
use crate::run::machine::SEED;

/// Copies that are made for a sample, each after the one before is gone.
const FORKS: u32 = 50;
/// Bytes that are written at a time, a page: none is zero.
const PAGE: [u8; 4096] = [0xa5; 4096];

/// A board with so much memory in use.
pub struct Prepared {
    profile: Profile,
    root: Board,
}

impl Prepared {
    /// A board of this profile that has written so many MiB of its memory, with the models of the machine's pace.
    ///
    /// # Errors
    /// The board has not so much memory, or the host has none for it.
    pub fn of(used_mib: u64, profile: &Profile, machine: Machine) -> miette::Result<Self> {
        let mut root = board(profile)?;
        root.set_pace(match machine {
            Machine::Timed => Pace::Timed,
            _ => Pace::Fast,
        });
        for address in (0..used_mib << 20).step_by(PAGE.len()) {
            root.write(profile.memory.base + address, &PAGE)
                .map_err(|_| miette!("the board has no {used_mib} MiB of memory"))?;
        }
        // What all copies share is written once.
        board(profile)?.copy_from(&mut root).into_diagnostic()?;
        Ok(Self {
            profile: profile.clone(),
            root,
        })
    }

    /// Makes copies on the calling thread: each is a new board that takes the state.
    ///
    /// # Errors
    /// The host has no memory for one.
    pub fn carry_out(&mut self) -> miette::Result<Sample> {
        let mut trace_hash = None;
        let watch = Stopwatch::start(Whose::Thread);
        for _ in 0..FORKS {
            let mut copy = board(&self.profile)?;
            copy.copy_from(&mut self.root).into_diagnostic()?;
            trace_hash = Some(copy.trace_hash());
        }
        Ok(Sample {
            time: watch.read(watch.wall()),
            instructions: None,
            checksum: None,
            trace_hash,
            runs: Some(FORKS),
            simulated: None,
        })
    }
}

fn board(profile: &Profile) -> miette::Result<Board> {
    let options = Options {
        seed: SEED,
        ..Options::default()
    };
    let (board, _) = setup::board(profile, &options, Vec::new()).into_diagnostic()?;
    Ok(board)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_what_the_board_is() {
        let profile = Profile::named("soc").expect("it is there");
        let mut prepared = Prepared::of(1, &profile, Machine::Timed).expect("there is memory");
        let sample = prepared.carry_out().expect("there is memory");
        assert_eq!(sample.runs, Some(FORKS));
        assert_eq!(sample.trace_hash, Some(prepared.root.trace_hash()));
        let Err(error) = Prepared::of(1 << 30, &profile, Machine::Fast) else {
            panic!("there is not so much memory");
        };
        assert!(error.to_string().contains("the board has no"), "{error}");
    }
}
