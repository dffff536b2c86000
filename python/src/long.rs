//! What calls share that take long: how far they are is told, Ctrl-C ends them, and what they have found is written.

use std::path::Path;

use pyo3::prelude::*;
use tactus::columns::{Columns, Output};

use crate::error::{Kind, error, of_report};
use crate::table::Table;

/// Looks at Python now and then.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    told: u64,
    interrupt: Option<PyErr>,
}

impl Watch {
    /// `progress` is called with how much is done, and how much there is, when the first has changed.
    pub const fn new(progress: Option<Py<PyAny>>) -> Self {
        Self {
            progress,
            told: 0,
            interrupt: None,
        }
    }

    /// Whether to go on: no signal has come, and what was called has not failed.
    pub fn look(&mut self, done: u64, all: u64) -> bool {
        if self.interrupt.is_none() {
            let looked = Python::attach(|py| {
                py.check_signals()?;
                if let Some(progress) = self.progress.as_ref().filter(|_| done != self.told) {
                    self.told = done;
                    progress.call1(py, (done, all))?;
                }
                Ok(())
            });
            self.interrupt = looked.err();
        }
        self.interrupt.is_none()
    }

    /// Raises what has ended the call.
    pub fn end(self) -> PyResult<()> {
        self.interrupt.map_or(Ok(()), Err)
    }
}

/// The Parquet file to write, before anything is done for it.
pub fn output(py: Python<'_>, path: Option<&Path>) -> PyResult<Option<Output>> {
    let file = path.map(|path| Output::prepare(path, "output"));
    file.transpose()
        .map_err(|report| of_report(py, Kind::BadArgument, &report))
}

/// What was found, as a table, and in the file where there is one.
pub fn found(py: Python<'_>, columns: &Columns, file: Option<Output>) -> PyResult<Table> {
    if let Some(file) = file {
        let bytes = columns
            .parquet()
            .map_err(|reason| error(py, Kind::Tactus, &reason.to_string(), None))?;
        file.write(&bytes)
            .map_err(|report| of_report(py, Kind::Tactus, &report))?;
    }
    Table::of(columns)
}
