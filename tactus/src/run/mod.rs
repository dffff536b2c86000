//! `tactus run`.

use std::process::ExitCode;

use crate::cli::RunArguments;

/// Carries the command out; the exit code is as `--help` says.
pub fn command(_arguments: &RunArguments) -> ExitCode {
    ExitCode::from(2)
}
