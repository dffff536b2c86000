//! A run of the board in a process of its own: each begins with fresh memory at other addresses, so that a run that
//! depended on where the host puts things would not repeat.
//!
//! The process is this program again, which [`NAME`] in place of an experiment's name tells to take one
//! [`Order`] from its standard input and to answer on its standard output, both in JSON.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use miette::{IntoDiagnostic, WrapErr, miette};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::machine::{self, Order};
use super::sample::Sample;

/// What `tactus bench` takes for an order's run; no experiment can have this name, since it is no file's.
pub const NAME: &str = "board/run";

/// The answer: what the run gave, or why it failed.
type Answer = Result<Sample, String>;

/// Has `program`, which is this one or another build of it, carry the order out in a process of its own.
///
/// # Errors
/// The process cannot be started or breaks off, or the run failed.
pub fn run(program: &Path, order: &Order) -> miette::Result<Sample> {
    let broken = || format!("a run of `{}` in a process of its own", order.job.name);
    let mut child = Command::new(program)
        .args(["bench", NAME])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .into_diagnostic()
        .wrap_err_with(broken)?;
    if let Some(input) = child.stdin.take() {
        // What it has to say about an order that it does not take is better than that it does not.
        let _ = serde_json::to_writer(input, order);
    }
    let output = child
        .wait_with_output()
        .into_diagnostic()
        .wrap_err_with(broken)?;
    let answer: Answer = serde_json::from_slice(&output.stdout)
        .into_diagnostic()
        .wrap_err_with(|| output.status.to_string())
        .wrap_err_with(broken)?;
    answer.map_err(|reason| miette!("{reason}"))
}

/// The process's side.
///
/// # Errors
/// The order is none, or the answer cannot be written. That a run failed is an answer.
pub fn serve() -> miette::Result<()> {
    // It ends with the one who waits for the answer.
    set_parent_process_death_signal(Some(Signal::KILL)).into_diagnostic()?;
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).into_diagnostic()?;
    let order: Order = serde_json::from_slice(&text)
        .into_diagnostic()
        .wrap_err("the order cannot be read")?;
    let answer: Answer = machine::run(&order).map_err(|report| sentence(&report));
    serde_json::to_writer(std::io::stdout(), &answer).into_diagnostic()
}

/// A report with its causes, as one line.
fn sentence(report: &miette::Report) -> String {
    let causes: Vec<String> = report.chain().map(ToString::to_string).collect();
    causes.join(": ")
}
