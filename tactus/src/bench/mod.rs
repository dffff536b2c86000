//! `tactus bench`.

use std::process::ExitCode;

use crate::cli::BenchArguments;

/// Carries the command out; the exit code is as `--help` says.
pub fn command(_arguments: &BenchArguments) -> ExitCode {
    ExitCode::from(2)
}
