//! `tactus new`: projects to start from.
//!
//! The files of Tactus that such a project contains are embedded in the tool, from the same sources that Tactus is
//! built from. The tool therefore needs no clone.

mod guest;
mod map;
mod runtime;

use std::process::ExitCode;

use miette::miette;

use crate::cli::{NewArguments, NewCommand, NewGuestArguments};
use guest::{Language, Starter};

/// Carries it out; the exit code is as `--help` says.
pub fn command(arguments: &NewArguments) -> ExitCode {
    let NewCommand::Guest(arguments) = &arguments.command;
    match new_guest(arguments) {
        Ok(text) => {
            anstream::print!("{text}");
            ExitCode::SUCCESS
        }
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

fn new_guest(arguments: &NewGuestArguments) -> miette::Result<String> {
    let language = if arguments.c {
        Language::C
    } else {
        let runtime = arguments.runtime.as_deref().map(runtime::find);
        Language::Rust(runtime.transpose()?)
    };
    let starter = Starter::new(&arguments.folder, language)?;
    let files = starter.files()?;
    write(&arguments.folder, &files)?;
    Ok(starter.next(files.len()))
}

/// Creates the folder and writes the files below it.
fn write(folder: &std::path::Path, files: &[(String, String)]) -> miette::Result<()> {
    let failed = |path: &std::path::Path, error: &std::io::Error| {
        let reason = crate::problem::io_reason(error);
        miette!(
            help = "name a folder in an existing directory that you can write to",
            "cannot create {}: {reason}",
            path.display()
        )
    };
    std::fs::create_dir(folder).map_err(|error| failed(folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name);
        let directory = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
        std::fs::write(&path, text).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}
