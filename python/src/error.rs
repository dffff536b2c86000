//! The tool's errors as exceptions of `tactus._errors`.

use miette::Diagnostic;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The kinds of exceptions, by their names in `tactus._errors`.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `TactusError`.
    Tactus,
    /// `BadArgument`.
    BadArgument,
    /// `RunEnded`.
    RunEnded,
    /// `TimeUp`.
    TimeUp,
    /// `BoardAsleep`.
    BoardAsleep,
    /// `BoardBusy`.
    BoardBusy,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Tactus => "TactusError",
            Self::BadArgument => "BadArgument",
            Self::RunEnded => "RunEnded",
            Self::TimeUp => "TimeUp",
            Self::BoardAsleep => "BoardAsleep",
            Self::BoardBusy => "BoardBusy",
        }
    }
}

/// A class of `tactus._errors`.
pub fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("tactus._errors")?.getattr(name)
}

/// An exception of the class of that name, made of these arguments.
pub fn raised<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyErr {
    let made = || class(py, name)?.call1(arguments.into_pyobject(py)?);
    made().map_or_else(|error| error, PyErr::from_value)
}

/// An exception with what is wrong, and what to do about it.
pub fn error(py: Python<'_>, kind: Kind, message: &str, hint: Option<&str>) -> PyErr {
    raised(py, kind.name(), (message, hint))
}

/// An argument that means nothing.
pub fn bad(py: Python<'_>, message: &str, hint: Option<&str>) -> PyErr {
    error(py, Kind::BadArgument, message, hint)
}

/// The exception for an error of the tool.
pub fn of_diagnostic(py: Python<'_>, kind: Kind, diagnostic: &dyn Diagnostic) -> PyErr {
    let hint = diagnostic.help().map(|help| help.to_string());
    error(py, kind, &diagnostic.to_string(), hint.as_deref())
}

/// The exception for a report of the tool, with its causes.
pub fn of_report(py: Python<'_>, kind: Kind, report: &miette::Report) -> PyErr {
    let causes: Vec<String> = report.chain().map(|cause| cause.to_string()).collect();
    let hint = report.help().map(|help| help.to_string());
    error(py, kind, &causes.join(": "), hint.as_deref())
}
