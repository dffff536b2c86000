//! Campaigns of faults: a fault in each of many runs, as a table of what each has done.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use tactus::faults::page::{ENDED, Found, State};
use tactus::faults::work::{self, Done};
use tactus::sweep as tool;

use crate::campaign::{self, Parts, end_page};
use crate::error::{Kind, bad, error, of_report};
use crate::long::{self, Watch};
use crate::system::System;
use crate::table::Table;

#[pyfunction]
#[pyo3(signature = (
    description, *, system = None, directory = None, runs = None, seed = None, jobs = None, output = None,
    progress = None, page = None,
))]
/// Let a fault happen in each of many runs of a system; gives a table with a row for each run.
///
/// ``description`` is a campaign's file, or what such a file says as a dict; ``system`` takes the place of the system
/// that it names, and paths in it are relative to ``directory``. ``runs`` and ``seed`` take the place of its own. The
/// table is the one that ``tactus faults`` writes, and the same whatever ``jobs`` says, the number of runs at a time;
/// without, there are as many as cores.
///
/// ``output`` is a Parquet file to write, too. What is done is kept beside it then, and a call that was ended, also by
/// Ctrl-C, goes on where it was. ``progress`` is called with the number of runs done, and that of all runs. ``page`` is
/// an HTML file that shows in a browser how far the campaign is; it is written again while that goes on.
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
    page: Option<PathBuf>,
) -> PyResult<Table> {
    let workers = match jobs {
        None => tool::workers(),
        Some(jobs) => NonZero::new(jobs).ok_or_else(|| bad(py, "`jobs` is at least 1", None))?,
    };
    let parts = Parts::of(py, description, system, directory, runs, seed)?;
    let subject = parts.subject(py)?;
    let file = long::output(py, output.as_deref())?;
    let kept = |path: &Path| Done::open(&path.with_extension("part"), &subject);
    let mut done = match &output {
        None => Done::nothing(),
        Some(path) => kept(path).map_err(|report| of_report(py, Kind::BadArgument, &report))?,
    };
    let mut page = parts.page(py, page.as_deref(), &subject, &done, output.as_deref())?;
    let mut watch = Watch::new(progress);
    let whole = py.detach(|| {
        work::carry_out(&subject, &mut done, workers, page.as_mut(), &mut |state| {
            watch.look(state.done as u64, state.all as u64)
        })
    });
    let whole = whole
        .map_err(|report| of_report(py, Kind::Tactus, &report))
        .and_then(|whole| watch.end().map(|()| whole));
    let reason = match &whole {
        Ok(true) => {
            let (table, _) = campaign::table(py, &subject, done, file, page)?;
            return Ok(table);
        }
        Ok(false) => ENDED.to_owned(),
        Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => ENDED.to_owned(),
        Err(error) => error.to_string(),
    };
    end_page(py, page, &State::Ended(reason), &Found::of(&done))?;
    whole?;
    Err(error(py, Kind::Tactus, "the campaign was cancelled", None))
}
