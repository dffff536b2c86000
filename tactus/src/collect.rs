//! `tactus artifacts`: everything that the other commands need, built and copied into one directory, so that they work
//! without a clone of the project.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use miette::{IntoDiagnostic, WrapErr, miette};

use crate::artifacts::{Artifacts, FIRMWARE_FILE, Inventory, VERSION_FILE};
use crate::cli::CollectArguments;
use crate::config::cure_of_unknown;
use crate::fabric;
use crate::run::board::find_firmware;

/// Folders of the project that go along: experiments, systems, profiles.
const FOLDERS: [&str; 3] = ["bench", "systems", "profiles"];
/// What `--model` says for no model at all.
const NONE: &str = "none";

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &CollectArguments) -> ExitCode {
    match collect(arguments) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

fn collect(arguments: &CollectArguments) -> miette::Result<String> {
    let directory = &arguments.directory;
    let inventory = Inventory::find()?;
    let designs = designs(&arguments.models)?;
    let known: Vec<&str> = inventory.names.iter().map(String::as_str).collect();
    if let Some(name) = arguments
        .without
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        return Err(miette!(
            help = cure_of_unknown(name, &known),
            "--without: this project builds no `@{name}`"
        ));
    }
    let names: Vec<&str> = known
        .into_iter()
        .filter(|name| !arguments.without.iter().any(|without| without == name))
        .collect();
    // All of it first: what can't be built is told before anything is written.
    let mut files = Vec::new();
    for (name, file) in Artifacts::Workspace.files(&names) {
        files.push((name, file?));
    }
    let programs = files.len();
    for design in &designs {
        let model = Artifacts::Workspace.model(design)?;
        files.push((format!("{design}.so"), model));
    }
    files.push((FIRMWARE_FILE.to_owned(), find_firmware()?));
    fs::create_dir_all(directory).map_err(|error| unwritten(directory, &error))?;
    for (name, file) in &files {
        let to = directory.join(name);
        copy(file, &to).map_err(|error| unwritten(&to, &error))?;
    }
    for folder in FOLDERS {
        let to = directory.join(folder);
        copy_folder(&inventory.root.join(folder), &to).map_err(|error| unwritten(&to, &error))?;
    }
    let version = directory.join(VERSION_FILE);
    fs::write(&version, concat!(env!("CARGO_PKG_VERSION"), "\n"))
        .map_err(|error| unwritten(&version, &error))?;
    let bytes = size(directory)
        .into_diagnostic()
        .wrap_err_with(|| directory.display().to_string())?;
    Ok(format!(
        "{}: {programs} programs and images, {} models, the firmware, {}; {} MiB",
        directory.display(),
        designs.len(),
        FOLDERS.join(", "),
        bytes.div_ceil(1 << 20)
    ))
}

/// The designs whose models are wanted.
fn designs(wanted: &[String]) -> miette::Result<Vec<String>> {
    let known = fabric::names();
    match wanted {
        [] => return Ok(known),
        [only] if only == NONE => return Ok(Vec::new()),
        _ => {}
    }
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    match wanted.iter().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(miette!(
            help = cure_of_unknown(name, &names),
            "--model: there is no design `{name}`"
        )),
        None => Ok(wanted.to_vec()),
    }
}

fn unwritten(path: &Path, error: &io::Error) -> miette::Report {
    miette!("{} cannot be written: {error}", path.display())
}

/// Copies a file in place of one that may be in use.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::copy(from, to).map(|_| ())
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            copy(&entry.path(), &to)?;
        }
    }
    Ok(())
}

/// Bytes of all files in a folder.
fn size(folder: &Path) -> io::Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let here = if entry.file_type()?.is_dir() {
            size(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
        Ok(sum + here)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_all_some_or_none() {
        assert_eq!(designs(&[]).expect("all"), fabric::names());
        assert_eq!(
            designs(&["none".into()]).expect("none"),
            Vec::<String>::new()
        );
        assert_eq!(designs(&["stamp".into()]).expect("one"), ["stamp"]);
        let report = designs(&["stam".into()]).expect_err("no such design");
        assert_eq!(report.to_string(), "--model: there is no design `stam`");
    }
}
