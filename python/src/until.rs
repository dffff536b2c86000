//! What a run goes on to, and why it stopped.

use std::fmt;
use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};
use tactus::config::Nanoseconds;
use tactus::image::Image;
use tactus::run::board::Marker;
use tactus::run::board::live::{self, Live, Pattern};
use tactus::run::board::probe::Place;
use tactus::run::console::Source;
use tactus_board::time::Femtoseconds;

use crate::error::{Kind, bad, of_diagnostic, of_report};

/// Who writes the hypervisor's records, as reports call it.
pub const HYPERVISOR: &str = "(tactus)";
const FEMTOSECONDS_PER_NANOSECOND: u64 = 1_000_000;

/// A length of virtual time: a text such as `"10ms"`, or a `datetime.timedelta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Femtoseconds);

impl Time {
    pub fn of_text(text: &str) -> Option<Self> {
        let time = Nanoseconds::from_text(text.trim())?;
        let time = time.0.checked_mul(FEMTOSECONDS_PER_NANOSECOND)?;
        Some(Self(Femtoseconds(time)))
    }
}

impl<'py> FromPyObject<'_, 'py> for Time {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        const FORMS: &str = "say a number and s, ms, us or ns, such as \"5s\" or \"250ms\", or a datetime.timedelta";
        if let Ok(text) = value.cast::<PyString>() {
            let text = text.to_str()?;
            return Self::of_text(text)
                .ok_or_else(|| bad(py, &format!("`{text}` is not a time"), Some(FORMS)));
        }
        let duration: Duration = value.extract().map_err(|error: PyErr| {
            if error.is_instance_of::<PyValueError>(py) {
                bad(py, "a time is not negative", Some(FORMS))
            } else {
                PyTypeError::new_err(format!("that is not a time; {FORMS}"))
            }
        })?;
        let time = u64::try_from(duration.as_nanos()).ok();
        let time = time.and_then(|time| time.checked_mul(FEMTOSECONDS_PER_NANOSECOND));
        time.map(|time| Self(Femtoseconds(time))).ok_or_else(|| {
            bad(
                py,
                "a board runs for 5.1 hours of virtual time at most",
                None,
            )
        })
    }
}

/// What a run goes on to, before it is known on which board.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    End,
    Time(Time),
    Cycle(u64),
    Symbol(String),
    Text {
        vm: String,
        text: String,
    },
    Record {
        kind: String,
        source: Option<String>,
        fields: Vec<(String, String)>,
    },
}

/// What a run goes on to.
///
/// A text or a record counts that comes behind the one that was waited for last, also if it has come already.
#[pyclass(frozen, eq, module = "tactus")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Until(Wanted);

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Wanted::End => f.write_str("the end"),
            Wanted::Time(time) => write!(f, "time {}", time.0),
            Wanted::Cycle(cycle) => write!(f, "cycle {cycle}"),
            Wanted::Symbol(place) => write!(f, "symbol {place}"),
            Wanted::Text { vm, text } => write!(f, "text {text:?} of {vm}"),
            Wanted::Record {
                kind,
                source,
                fields,
            } => {
                write!(f, "record {kind}")?;
                for (key, value) in fields {
                    write!(f, " {key}={value}")?;
                }
                match source {
                    Some(source) => write!(f, " of {source}"),
                    None => Ok(()),
                }
            }
        }
    }
}

#[pymethods]
impl Until {
    /// Until the board ends.
    #[staticmethod]
    fn end() -> Self {
        Self(Wanted::End)
    }

    /// Until a virtual time since reset.
    #[staticmethod]
    fn time(time: Time) -> Self {
        Self(Wanted::Time(time))
    }

    /// Until a cycle of the harts' clock since reset.
    #[staticmethod]
    fn cycle(number: u64) -> Self {
        Self(Wanted::Cycle(number))
    }

    /// Until a hart is about to execute at ``SYMBOL`` of the hypervisor, ``VM/SYMBOL``, or an address.
    #[staticmethod]
    fn symbol(place: String) -> Self {
        Self(Wanted::Symbol(place))
    }

    /// Until a VM has written a text on its console.
    #[staticmethod]
    pub fn text(py: Python<'_>, vm: String, text: String) -> PyResult<Self> {
        if text.is_empty() {
            return Err(bad(py, "a text to wait for is not empty", None));
        }
        Ok(Self(Wanted::Text { vm, text }))
    }

    /// Until a VM, or any, says that a phase begins.
    #[staticmethod]
    #[pyo3(signature = (name, vm = None))]
    fn phase(name: String, vm: Option<String>) -> Self {
        Self(Wanted::Record {
            kind: "phase".to_owned(),
            source: vm,
            fields: vec![("name".to_owned(), name)],
        })
    }

    /// Until a record of that kind with these fields is written.
    ///
    /// ``source`` is the VM that writes it, or ``"(tactus)"`` for the hypervisor. Numbers are compared as numbers.
    #[staticmethod]
    #[pyo3(signature = (kind, /, *, source = None, **fields))]
    fn record(
        kind: String,
        source: Option<String>,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let field = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let key: String = key.extract()?;
            let is_number = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
            if !is_number && !value.is_instance_of::<PyString>() {
                return Err(PyTypeError::new_err(format!(
                    "`{key}` of a record is a str or an int"
                )));
            }
            Ok((key, value.str()?.to_string()))
        };
        let fields = fields.map(|fields| fields.iter().map(field).collect());
        Ok(Self(Wanted::Record {
            kind,
            source,
            fields: fields.transpose()?.unwrap_or_default(),
        }))
    }

    fn __str__(&self) -> String {
        self.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Until {self}>")
    }
}

/// What may be given for a condition: nothing, an [`Until`], a marker as the command line takes it, or a time.
pub fn of_argument(value: Option<&Bound<'_, PyAny>>) -> PyResult<Until> {
    let Some(value) = value else {
        return Ok(Until(Wanted::End));
    };
    let py = value.py();
    if let Ok(until) = value.cast::<Until>() {
        return Ok(until.get().clone());
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str()?;
        let wanted = match text.split_once(':') {
            Some(("phase", name)) if !name.is_empty() => {
                return Ok(Until::phase(name.to_owned(), None));
            }
            Some(("symbol", place)) if !place.is_empty() => Some(Wanted::Symbol(place.to_owned())),
            Some(("cycle", number)) => number.parse().ok().map(Wanted::Cycle),
            _ => Time::of_text(text).map(Wanted::Time),
        };
        return wanted.map(Until).ok_or_else(|| {
            bad(
                py,
                &format!("`{text}` is not something that happens in a run"),
                Some("say a time such as \"10ms\", phase:NAME, symbol:SYMBOL, symbol:VM/SYMBOL or cycle:NUMBER; text and records are Until.text() and Until.record()"),
            )
        });
    }
    match value.extract::<Time>() {
        Ok(time) => Ok(Until(Wanted::Time(time))),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => Err(PyTypeError::new_err(
            "`until` is a time, a marker such as \"phase:idle\", or an Until",
        )),
        Err(error) => Err(error),
    }
}

/// A VM's index.
pub fn vm_index(py: Python<'_>, vms: &[String], name: &str) -> PyResult<usize> {
    vms.iter().position(|vm| vm == name).ok_or_else(|| {
        let error = tactus::run::Error::NoSuchVm {
            name: name.to_owned(),
            known: vms.join(", "),
        };
        of_diagnostic(py, Kind::BadArgument, &error)
    })
}

/// Who writes records, by the name that tables have for it.
pub fn source(py: Python<'_>, vms: &[String], name: &str) -> PyResult<Source> {
    if name == HYPERVISOR {
        return Ok(Source::Log);
    }
    vm_index(py, vms, name).map(Source::Vm)
}

impl Until {
    /// The same for a board.
    pub fn on(&self, py: Python<'_>, live: &Live) -> PyResult<live::Until> {
        let image: &Image = live.image();
        Ok(match &self.0 {
            Wanted::End => live::Until::End,
            Wanted::Time(time) => live::Until::Time(time.0),
            Wanted::Cycle(cycle) => live::Until::Time(live.board().clock().time_of(*cycle)),
            Wanted::Symbol(place) => live::Until::Place(
                Place::find(place, image)
                    .map_err(|error| of_diagnostic(py, Kind::BadArgument, &error))?,
            ),
            Wanted::Text { vm, text } => live::Until::Text {
                vm: vm_index(py, &image.vms, vm)?,
                text: text.clone().into_bytes(),
            },
            Wanted::Record {
                kind,
                source: from,
                fields,
            } => live::Until::Record(Pattern {
                source: from
                    .as_deref()
                    .map(|name| source(py, &image.vms, name))
                    .transpose()?,
                kind: kind.clone(),
                fields: fields.clone(),
            }),
        })
    }

    /// What a [`Stop`] calls it.
    pub fn kind(&self) -> &'static str {
        match &self.0 {
            Wanted::End => "end",
            Wanted::Time(_) | Wanted::Cycle(_) => "time",
            Wanted::Symbol(_) => "symbol",
            Wanted::Text { .. } => "text",
            Wanted::Record { .. } => "record",
        }
    }
}

/// The event that a text names, as `--timed-from` does.
pub fn marker(py: Python<'_>, text: &str, image: &Image) -> PyResult<Marker> {
    tactus::run::marker(text, image).map_err(|report| of_report(py, Kind::BadArgument, &report))
}

/// Why a run stopped.
#[pyclass(frozen, module = "tactus")]
#[derive(Debug)]
pub struct Stop {
    /// ``"end"``, ``"time"``, ``"symbol"``, ``"text"`` or ``"record"``.
    #[pyo3(get)]
    pub reason: &'static str,
    /// The virtual time since reset, in seconds.
    #[pyo3(get)]
    pub time: f64,
    /// The hart that is at the symbol.
    #[pyo3(get)]
    pub hart: Option<usize>,
    /// The record as it was written.
    #[pyo3(get)]
    pub record: Option<String>,
    /// How the board has ended, or what has come.
    #[pyo3(get)]
    pub detail: String,
}

#[pymethods]
impl Stop {
    fn __repr__(&self) -> String {
        format!(
            "<Stop {} at {:.6} s: {}>",
            self.reason, self.time, self.detail
        )
    }
}
