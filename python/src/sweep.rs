//! Sweeps: a system run with all combinations of what is varied, as a table.

use std::num::NonZero;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyMapping;
use tactus::sweep::description::{Base, Sweep};
use tactus::sweep::work::{self, End};
use tactus::sweep::{self as tool, results};
use toml_edit::{DocumentMut, Item};

use crate::error::{Kind, bad, error, of_diagnostic, of_report};
use crate::long::{self, Watch};
use crate::system::System;
use crate::table::Table;
use crate::{artifacts, value};

/// What the description is called where it is no file.
const NAME: &str = "sweep";

/// A description's name and text, and what its paths are relative to: of a file, or of what such a file says as a dict,
/// which is called `name`.
pub fn text_of(
    py: Python<'_>,
    description: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<(String, String, PathBuf)> {
    Ok(if let Ok(data) = description.cast::<PyMapping>() {
        let mut document = DocumentMut::new();
        if let Item::Table(table) = value::item(data.as_any())? {
            *document.as_table_mut() = table;
        }
        (name.to_owned(), document.to_string(), PathBuf::new())
    } else {
        let path: PathBuf = description.extract()?;
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let hint = "give the path of a file, or what it says as a dict";
            let message = format!("cannot read {}: {error}", path.display());
            bad(py, &message, Some(hint))
        })?;
        let own = path.parent().map(PathBuf::from).unwrap_or_default();
        (path.display().to_string(), text, own)
    })
}

fn described(
    py: Python<'_>,
    description: &Bound<'_, PyAny>,
    directory: Option<PathBuf>,
    base: Option<Base>,
) -> PyResult<Sweep> {
    let (name, text, own) = text_of(py, description, NAME)?;
    let directory = directory.unwrap_or(own);
    Sweep::parse(&name, text, &directory, base)
        .map_err(|error| of_diagnostic(py, Kind::BadArgument, &error))
}

#[pyfunction]
#[pyo3(signature = (
    description, *, system = None, directory = None, jobs = None, strict = false, output = None, progress = None,
))]
/// Run a system with all combinations of what a description varies; gives a table with a row for each run.
///
/// ``description`` is a sweep's file, or what such a file says as a dict; ``system`` takes the place of the system that
/// it names, and paths in it are relative to ``directory``. The table is the one that ``tactus sweep`` writes, and the
/// same whatever ``jobs`` says, the number of runs at a time; without, there are as many as cores.
///
/// ``strict`` raises `TactusError` at the first run that is refused, fails or cannot be carried out. ``output`` is a
/// Parquet file to write, too. ``progress`` is called with the number of runs done, and that of all runs at most.
/// Raises `BadArgument` if the description is not in order. Ctrl-C ends the sweep, and nothing is written.
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn sweep(
    py: Python<'_>,
    description: &Bound<'_, PyAny>,
    system: Option<&Bound<'_, System>>,
    directory: Option<PathBuf>,
    jobs: Option<usize>,
    strict: bool,
    output: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table> {
    artifacts::chosen(py)?;
    let base = system.map(|system| system.get().base());
    let sweep = described(py, description, directory, base)?;
    let workers = match jobs {
        None => tool::workers(),
        Some(jobs) => NonZero::new(jobs).ok_or_else(|| bad(py, "`jobs` is at least 1", None))?,
    };
    let file = long::output(py, output.as_deref())?;
    let mut watch = Watch::new(progress);
    let end = py.detach(|| {
        work::carry_out(&sweep, workers, strict, &mut |state| {
            watch.look(state.done, state.most)
        })
    });
    let end = end.map_err(|report| of_report(py, Kind::Tactus, &report))?;
    watch.end()?;
    let rows = match end {
        End::Rows(rows) => rows,
        End::Strict(row) => {
            let message = results::bad(&sweep, &row);
            return Err(error(py, Kind::Tactus, &message, None));
        }
        End::Cancelled => return Err(error(py, Kind::Tactus, "the sweep was cancelled", None)),
    };
    let columns = results::columns(&sweep, &rows);
    long::found(py, &columns, file)
}
