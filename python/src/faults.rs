//! Campaigns of faults: a fault in each of many runs, as a table of what each has done.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use tactus::attack::run::Unfit;
use tactus::faults::description::Campaign;
use tactus::faults::results;
use tactus::faults::run::Subject;
use tactus::faults::work::{self, Done};
use tactus::sweep as tool;

use crate::artifacts;
use crate::error::{Kind, bad, error, of_diagnostic, of_report};
use crate::long::{self, Watch};
use crate::sweep::text_of;
use crate::system::{System, refused};
use crate::table::Table;

/// What the description is called where it is no file.
const NAME: &str = "faults";

#[pyfunction]
#[pyo3(signature = (
    description, *, system = None, directory = None, runs = None, seed = None, jobs = None, output = None,
    progress = None,
))]
/// Let a fault happen in each of many runs of a system; gives a table with a row for each run.
///
/// ``description`` is a campaign's file, or what such a file says as a dict; ``system`` takes the place of the system
/// that it names, and paths in it are relative to ``directory``. ``runs`` and ``seed`` take the place of its own. The
/// table is the one that ``tactus faults`` writes, and the same whatever ``jobs`` says, the number of runs at a time;
/// without, there are as many as cores.
///
/// ``output`` is a Parquet file to write, too. What is done is kept beside it then, and a call that was ended, also by
/// Ctrl-C, goes on where it was. ``progress`` is called with the number of runs done, and that of all runs.
/// Raises `BadArgument` if the description is not in order, and `CheckError` if the system is not.
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn faults(
    py: Python<'_>,
    description: &Bound<'_, PyAny>,
    system: Option<&Bound<'_, System>>,
    directory: Option<PathBuf>,
    runs: Option<u32>,
    seed: Option<u64>,
    jobs: Option<usize>,
    output: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table> {
    artifacts::chosen(py)?;
    let (name, text, own) = text_of(py, description, NAME)?;
    let directory = directory.unwrap_or(own);
    let base = system.map(|system| system.get().base());
    let campaign = Campaign::parse(&name, text, &directory, base);
    let mut campaign = campaign.map_err(|error| of_diagnostic(py, Kind::BadArgument, &error))?;
    if runs == Some(0) || jobs == Some(0) {
        return Err(bad(py, "`runs` and `jobs` are at least 1", None));
    }
    campaign.runs = runs.unwrap_or(campaign.runs);
    campaign.seed = seed.unwrap_or(campaign.seed);
    let workers = jobs.and_then(NonZero::new).unwrap_or_else(tool::workers);
    let file = long::output(py, output.as_deref())?;
    let subject = py
        .detach(|| Subject::of(campaign))
        .map_err(|unfit| match unfit {
            Unfit::Refused(verdict) => {
                let message = "the system is not in order";
                refused(py, message, &verdict.problems)
            }
            Unfit::Other(report) => of_report(py, Kind::Tactus, &report),
        })?;
    let kept = |path: &Path| Done::open(&path.with_extension("part"), &subject);
    let mut done = match &output {
        None => Done::nothing(),
        Some(path) => kept(path).map_err(|report| of_report(py, Kind::BadArgument, &report))?,
    };
    let mut watch = Watch::new(progress);
    let whole = py.detach(|| {
        work::carry_out(&subject, &mut done, workers, &mut |state| {
            watch.look(state.done as u64, state.all as u64)
        })
    });
    let whole = whole.map_err(|report| of_report(py, Kind::Tactus, &report))?;
    watch.end()?;
    if !whole {
        return Err(error(py, Kind::Tactus, "the campaign was cancelled", None));
    }
    let rows = done.into_rows();
    let rows = rows.map_err(|report| of_report(py, Kind::Tactus, &report))?;
    let columns = results::columns(subject.campaign(), &rows);
    long::found(py, &columns, file)
}
