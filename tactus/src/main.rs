//! The command line of Tactus; everything it does is in the library.
use std::process::ExitCode;

fn main() -> ExitCode {
    tactus::cli::main()
}
