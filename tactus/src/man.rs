//! What packages of the tool ship beside it: completions of shells and man pages, both generated from the command
//! line's own definition.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

/// The tool's name.
const NAME: &str = "tactus";

/// `tactus completions`: prints what the shell reads.
pub(crate) fn completions(shell: Shell, mut command: Command) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, NAME, &mut text);
    // A closed stdout wants no more output.
    let _ = io::stdout().write_all(&text);
    ExitCode::SUCCESS
}

/// `tactus man`: writes the pages, and says where they are.
pub(crate) fn command(directory: &Path, command: Command) -> ExitCode {
    match write(directory, command) {
        Ok(pages) => {
            let _ = writeln!(
                io::stdout(),
                "{pages} man pages in {}; read one with: man {}",
                directory.display(),
                directory.join("tactus.1").display()
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!(
                "error: the man pages cannot be written into {}: {error}",
                directory.display()
            );
            ExitCode::from(2)
        }
    }
}

/// Writes the page of a command and those of its own commands; how many.
fn write(directory: &Path, command: Command) -> io::Result<usize> {
    fs::create_dir_all(directory)?;
    let pages = 1 + commands_of(&command);
    clap_mangen::generate_to(command, directory)?;
    Ok(pages)
}

/// How many commands a command has, and these.
fn commands_of(command: &Command) -> usize {
    let own = command.get_subcommands();
    own.map(|own| 1 + commands_of(own)).sum()
}
