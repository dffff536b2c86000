//! `tactus report`: makes the page of a report again, or one that compares two.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::{IntoDiagnostic, miette};

use super::Error;
use super::page::{self, Container};
use crate::cli::ReportArguments;

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &ReportArguments) -> ExitCode {
    match report(arguments) {
        Ok(path) => {
            println!("Report: {} - open it in a browser", path.display());
            ExitCode::SUCCESS
        }
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

/// Sees that a report can be written into a directory, before the run whose report it is.
///
/// # Errors
/// It cannot; says why.
pub fn prepare(directory: &Path) -> miette::Result<()> {
    super::prepare(directory).map_err(|error| match error {
        Error::File { path, error } => miette!(
            help = "name a writable directory or HTML file, such as build/report",
            "--report {path}: no report can be written there: {error}"
        ),
        other => miette!("{other}"),
    })
}

fn report(arguments: &ReportArguments) -> miette::Result<PathBuf> {
    let first = read(&arguments.directory)?;
    let second = arguments.other.as_deref().map(read).transpose()?;
    if let (Some(second), Some(other)) = (&second, &arguments.other) {
        let [a, b] = [kind(&first)?, kind(second)?];
        if a != b {
            return Err(miette!(
                help = "compare two runs, or two experiments",
                "the two reports are of different kinds: {} is of {a}, {} is of {b}",
                arguments.directory.display(),
                other.display(),
            ));
        }
    }
    let name = match second {
        Some(_) => page::COMPARISON,
        None => page::PAGE,
    };
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => arguments.directory.join(name),
    };
    // An error of the file itself comes before anything is written to it.
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|error| {
            miette!(
                help = "name another file with --output",
                "{} cannot be written: {error}",
                path.display()
            )
        })?;
    let reports: Vec<&Container> = std::iter::once(&first).chain(&second).collect();
    page::write(&reports, &path).into_diagnostic()?;
    Ok(path)
}

fn read(directory: &Path) -> miette::Result<Container> {
    Container::read(&directory.join(page::DATA)).map_err(|error| {
        miette!(
            help = "name a directory that `tactus run --report` or `tactus bench --report` of this version has written",
            "{error}"
        )
    })
}

/// What a report is of, in words.
fn kind(report: &Container) -> miette::Result<&'static str> {
    let json = report.json().map_err(|reason| miette!("{reason}"))?;
    match json["kind"].as_str() {
        Some("run") => Ok("a run"),
        Some("bench") => Ok("an experiment"),
        _ => Err(miette!(
            "one of the reports is neither of a run nor of an experiment"
        )),
    }
}
