//! `tactus run`: boots a system and watches it.
//!
//! [`machine`] is the QEMU process, [`console`] takes its serial line apart, [`record`] reads the records in
//! it, [`journal`] keeps what they say, [`session`] is all of that from start to end, which other commands
//! and tests use as well.

use std::process::ExitCode;

use crate::cli::RunArguments;

pub mod console;
pub mod journal;
pub mod machine;
pub mod record;
pub mod session;

use machine::QEMU;

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The emulator is not installed.
    #[error("{QEMU} is not installed (not found in PATH): run `make setup`, which installs it")]
    NoQemu,
    /// The emulator could not be started.
    #[error("{QEMU} could not be started: {0}")]
    Start(std::io::Error),
    /// The serial line broke.
    #[error("the machine's serial line failed: {0}")]
    Line(std::io::Error),
    /// A VM that the system does not have.
    #[error("the system has no VM \"{name}\"; its VMs are: {known}")]
    NoSuchVm {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

/// Carries the command out; the exit code is as `--help` says.
pub fn command(_arguments: &RunArguments) -> ExitCode {
    ExitCode::from(2)
}
