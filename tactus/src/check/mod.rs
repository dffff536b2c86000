//! `tactus check`: judges a system before it boots.

use std::process::ExitCode;

use crate::cli::CheckArguments;

/// Carries the command out; the exit code is as `--help` says.
pub fn command(_arguments: &CheckArguments) -> ExitCode {
    ExitCode::from(2)
}
