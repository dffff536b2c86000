//! `tactus sweep`: runs a system on the virtual board with all combinations of what one varies, and writes a line for
//! each run.
//!
//! [`description`] reads the file: [`factor`]s, [`measure`]s and [`settings`]. [`run`] makes one line, as a pure
//! function of the sweep and the number of the run; [`work`] makes all of them on several threads, up to when
//! [`interval`]s are narrow enough. [`results`] hands them on as columns, and says them in a table.

pub mod description;
pub mod factor;
pub mod interval;
pub mod measure;
pub mod results;
pub mod run;
pub mod settings;
pub mod work;

#[cfg(test)]
mod tests;

use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use miette::{IntoDiagnostic, miette};

use crate::artifacts::Artifacts;
use crate::cli::SweepArguments;
use crate::columns::Outputs;
use crate::problem::count;
use crate::progress::Progress;

use description::Sweep;
use run::Prepared;
use work::End;

/// What the exit codes of `tactus sweep` mean; printed by its `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    the results are written, whatever they say
  1    with --strict: a run is refused, fails or cannot be carried out; without it: all are so
  2    wrong usage, or something needed is missing or cannot be read
  130  interrupted; nothing is written";

/// The exit code of a sweep that was interrupted.
const INTERRUPTED: u8 = 130;

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &SweepArguments) -> ExitCode {
    match sweep(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

/// As many threads as there are cores.
pub fn workers() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

fn sweep(arguments: &SweepArguments) -> miette::Result<u8> {
    let sweep = Sweep::read(&arguments.file)?;
    if arguments.list {
        return say(&list(&sweep)?).map(|()| 0);
    }
    if let Some(point) = arguments.system {
        return say(&system(&sweep, point)?).map(|()| 0);
    }
    let stem = arguments.file.file_stem().unwrap_or_default();
    let default = Path::new(stem).with_extension("parquet");
    let parquet = arguments.output.as_deref().unwrap_or(&default);
    let csv = arguments.csv.as_deref().map(|path| (path, "--csv"));
    let outputs = Outputs::prepare(csv, Some((parquet, "--output")))?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).into_diagnostic()?;
    let mut progress = None;
    let workers = arguments.jobs.unwrap_or_else(workers);
    let end = work::carry_out(&sweep, workers, arguments.strict, &mut |state| {
        // What the first run needs may be built before, which tells its own progress.
        if state.done > 0 {
            let progress = progress.get_or_insert_with(|| Progress::start("sweep"));
            progress.status(state.text());
        }
        !interrupted.load(Ordering::Relaxed)
    });
    drop(progress);
    let rows = match end? {
        End::Rows(rows) => rows,
        End::Strict(row) => {
            eprintln!("error: {}", results::bad(&sweep, &row));
            return Ok(1);
        }
        End::Cancelled => {
            eprintln!("interrupted: nothing is written");
            return Ok(INTERRUPTED);
        }
    };
    let written = outputs.write(&results::columns(&sweep, &rows))?;
    let mut text = results::summary(&sweep, &rows);
    for path in written {
        text += &format!("Results: {}\n", path.display());
    }
    say(&text)?;
    for remark in results::remarks(&sweep, &rows) {
        eprintln!("{remark}");
    }
    Ok(u8::from(rows.iter().all(run::Row::is_error)))
}

/// Prints a text on stdout.
///
/// # Errors
/// It cannot be written. A stdout that was closed wants no more.
pub(crate) fn say(text: &str) -> miette::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).into_diagnostic()
        }
        _ => Ok(()),
    }
}

/// All points, with what `tactus check` says of each.
fn list(sweep: &Sweep) -> miette::Result<String> {
    let artifacts = Artifacts::chosen();
    let mut table = crate::report::table::Table::new(
        format!(
            "{}: {}, {} of each at most",
            sweep.base.name,
            count(sweep.points(), "point"),
            count(sweep.replicates as usize, "run"),
        ),
        [],
    );
    table.head = vec!["point".to_owned()];
    table
        .head
        .extend(sweep.factors.iter().map(|factor| factor.name.clone()));
    table.head.push("verdict".to_owned());
    table.text_columns = (1..table.head.len()).collect();
    for point in 0..sweep.points() {
        let prepared = Prepared::of(sweep, point, &artifacts)?;
        let verdict = match prepared.refusal() {
            None => "fine".to_owned(),
            Some((verdict, message)) => format!("{verdict}: {message}"),
        };
        let levels = results::levels(sweep, point);
        table.row(
            std::iter::once(point.to_string())
                .chain(levels)
                .chain([verdict]),
        );
    }
    Ok(table.text())
}

/// The description of a point's system.
fn system(sweep: &Sweep, point: usize) -> miette::Result<String> {
    let points = sweep.points();
    if point >= points {
        return Err(miette!(
            help = "`--list` prints the points",
            "there is no point {point}: the sweep has points 0 to {}",
            points - 1
        ));
    }
    let varied = sweep.put(&sweep.levels(point));
    let varied = varied.map_err(|(reason, help)| miette!(help = help, "{reason}"))?;
    Ok(varied.system)
}
