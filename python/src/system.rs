//! A system's description: read, changed and checked.

use std::path::{Path as FilePath, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use tactus::artifacts::Artifacts;
use tactus::check::{self, Verdict};
use tactus::config::{Config, PlaceError, Source};
use tactus::problem::Weight;
use tactus::sweep::description::Base;
use toml_edit::DocumentMut;

use crate::path::{self, Path};
use crate::value;
use crate::{artifacts, error};

/// Something that was found wrong with a system.
#[pyclass(frozen, eq, module = "tactus")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of the problem, as the reference of ``system.toml`` lists it.
    #[pyo3(get)]
    code: &'static str,
    /// ``"error"``; ``"warning"``; or ``"environment"``, where something is missing that is needed to judge.
    #[pyo3(get)]
    weight: &'static str,
    /// What is wrong.
    #[pyo3(get)]
    message: String,
    /// What to do about it.
    #[pyo3(get)]
    hint: String,
    #[pyo3(get)]
    file: Option<String>,
    /// The line of its place, counted from 1.
    #[pyo3(get)]
    line: Option<usize>,
    #[pyo3(get)]
    column: Option<usize>,
    text: String,
}

impl Problem {
    fn of(problem: &tactus::problem::Problem) -> Self {
        let place = problem.place();
        Self {
            code: problem.kind().name(),
            weight: match problem.kind().weight() {
                Weight::Warning => "warning",
                Weight::Error => "error",
                Weight::Environment => "environment",
            },
            message: problem.message().to_owned(),
            hint: problem.cure().to_owned(),
            file: place.map(|(file, ..)| file.to_owned()),
            line: place.map(|(_, line, _)| line),
            column: place.map(|(.., column)| column),
            text: problem.in_a_line(),
        }
    }
}

#[pymethods]
impl Problem {
    /// Its place, as ``"my.toml:10:10"``.
    #[getter(r#where)]
    fn place(&self) -> Option<String> {
        let (file, line, column) = (self.file.as_ref()?, self.line?, self.column?);
        Some(format!("{file}:{line}:{column}"))
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<{} {}: {}>", self.weight, self.code, self.text)
    }
}

/// An exception with these problems.
pub fn refused(py: Python<'_>, message: &str, problems: &[tactus::problem::Problem]) -> PyErr {
    let problems: Vec<Problem> = problems.iter().map(Problem::of).collect();
    let made = || {
        let problems = problems
            .into_iter()
            .map(|problem| Bound::new(py, problem))
            .collect::<PyResult<Vec<_>>>()?;
        error::class(py, "CheckError")?.call1((message, problems))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// A description's text, and what its messages call it.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its file, or what stands for it.
    pub name: String,
    /// What paths in it are relative to.
    pub directory: PathBuf,
    /// What it says.
    pub text: String,
}

impl Description {
    /// What is found by the tool.
    pub fn judged(&self, artifacts: &Artifacts) -> Verdict {
        let source = Source::new(&self.name, self.text.clone());
        let read = Config::parse(source, &self.directory);
        check::verdict(self.name.clone(), read, artifacts)
    }
}

/// A system's description: a ``system.toml`` that is read, changed and checked.
///
/// What is read by a place is a copy that cannot be changed; ``system[place] = value`` changes the description.
/// Comments and the order of its text stay.
#[pyclass(frozen, module = "tactus")]
pub struct System {
    name: String,
    directory: PathBuf,
    document: Mutex<DocumentMut>,
}

impl System {
    fn lock(&self) -> MutexGuard<'_, DocumentMut> {
        // No method that holds it calls Python, and each leaves a whole document.
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The description as it is now.
    pub fn description(&self) -> Description {
        Description {
            name: self.name.clone(),
            directory: self.directory.clone(),
            text: self.lock().to_string(),
        }
    }

    /// The description as what a sweep varies.
    pub fn base(&self) -> Base {
        Base {
            name: self.name.clone(),
            directory: self.directory.clone(),
            document: self.lock().clone(),
        }
    }

    /// The other way round.
    pub fn of_base(base: Base) -> Self {
        let Base {
            name,
            directory,
            document,
        } = base;
        Self {
            name,
            directory,
            document: Mutex::new(document),
        }
    }

    fn of(py: Python<'_>, description: Description) -> PyResult<Self> {
        let Description {
            name,
            directory,
            text,
        } = description;
        match text.parse::<DocumentMut>() {
            Ok(document) => Ok(Self {
                name,
                directory,
                document: Mutex::new(document),
            }),
            Err(error) => {
                let source = Source::new(&name, text);
                let problems = match Config::parse(source, &directory) {
                    Err(problems) => problems,
                    Ok((_, problems)) => problems,
                };
                let message = match problems.is_empty() {
                    true => format!("{name} is not TOML: {error}"),
                    false => format!("{name} is not TOML"),
                };
                Err(refused(py, &message, &problems))
            }
        }
    }

    /// Changes a copy, and keeps it if the change could be made.
    fn change(
        &self,
        change: impl FnOnce(&mut DocumentMut) -> Result<(), PlaceError>,
    ) -> PyResult<()> {
        let mut document = self.lock();
        let mut changed = document.clone();
        change(&mut changed).map_err(|error| path::error(&error))?;
        *document = changed;
        Ok(())
    }
}

#[pymethods]
impl System {
    /// Read a description from its file, or from a text: a ``str`` with more than one line.
    ///
    /// ``name`` is what messages call it, and paths in it are relative to ``directory``. Raises `CheckError` if it is
    /// not TOML; what else may be wrong is told by `check`.
    #[staticmethod]
    #[pyo3(signature = (path_or_text, *, name = None, directory = None))]
    fn from_toml(
        py: Python<'_>,
        path_or_text: &Bound<'_, PyAny>,
        name: Option<String>,
        directory: Option<PathBuf>,
    ) -> PyResult<Self> {
        let text = path_or_text.cast::<PyString>().ok();
        let text = text.map(|text| text.to_str()).transpose()?;
        if let Some(text) = text.filter(|text| text.contains('\n')) {
            let description = Description {
                name: name.unwrap_or_else(|| "system.toml".to_owned()),
                directory: directory.unwrap_or_default(),
                text: text.to_owned(),
            };
            return Self::of(py, description);
        }
        let path: PathBuf = path_or_text.extract()?;
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let reason = format!("cannot read {}: {error}", path.display());
            match error.raw_os_error() {
                Some(number) => PyOSError::new_err((number, reason)),
                None => PyOSError::new_err(reason),
            }
        })?;
        let of_file = || path.parent().unwrap_or(FilePath::new("")).to_path_buf();
        let description = Description {
            name: name.unwrap_or_else(|| path.display().to_string()),
            directory: directory.unwrap_or_else(of_file),
            text,
        };
        Self::of(py, description)
    }

    /// Make a description of dicts and lists, as `to_dict` gives them.
    #[staticmethod]
    #[pyo3(signature = (data, *, name = None, directory = None))]
    fn from_dict(
        py: Python<'_>,
        data: &Bound<'_, PyMapping>,
        name: Option<String>,
        directory: Option<PathBuf>,
    ) -> PyResult<Self> {
        let mut document = DocumentMut::new();
        if let toml_edit::Item::Table(table) = value::item(data.as_any())? {
            *document.as_table_mut() = table;
        }
        // Lines are those of the text.
        let description = Description {
            name: name.unwrap_or_else(|| "system.toml".to_owned()),
            directory: directory.unwrap_or_default(),
            text: document.to_string(),
        };
        Self::of(py, description)
    }

    /// What messages call it.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The VMs' names, in their order.
    #[getter]
    fn vms(&self) -> Vec<String> {
        let document = self.lock();
        let vms = document.get("vm").and_then(|vms| vms.as_array_of_tables());
        let name = |vm: &toml_edit::Table| vm.get("name")?.as_str().map(str::to_owned);
        vms.map(|vms| vms.iter().filter_map(name).collect())
            .unwrap_or_default()
    }

    /// Give the description's text.
    fn to_toml(&self) -> String {
        self.lock().to_string()
    }

    /// Give the description as dicts and lists, which are a copy.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.to_toml();
        py.import("tomllib")?.call_method1("loads", (text,))
    }

    /// Make another one that says the same.
    fn copy(&self) -> Self {
        Self {
            name: self.name.clone(),
            directory: self.directory.clone(),
            document: Mutex::new(self.lock().clone()),
        }
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> Self {
        self.copy()
    }

    /// Give all that the tool finds wrong, warnings included, in the order of the file; nothing if it is fine.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<Problem>> {
        let artifacts = artifacts::chosen(py)?;
        let description = self.description();
        let verdict = py.detach(|| description.judged(&artifacts));
        Ok(verdict.problems.iter().map(Problem::of).collect())
    }

    /// Give what ``tactus check`` prints of a system; raises `CheckError` if it is not in order.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let artifacts = artifacts::chosen(py)?;
        let description = self.description();
        let verdict = py.detach(|| description.judged(&artifacts));
        match (&verdict.plan, &verdict.tiles) {
            (Some(plan), _) => Ok(check::summary(plan, &verdict)),
            (_, Some(tiles)) => Ok(check::of_tiles(tiles, &verdict)),
            (None, None) => {
                let message = format!("{} is not in order", self.name);
                Err(refused(py, &message, &verdict.problems))
            }
        }
    }

    fn __getitem__<'py>(&self, py: Python<'py>, path: Path) -> PyResult<Bound<'py, PyAny>> {
        let item = path.0.get(&self.lock());
        let item = item.ok_or_else(|| path::error(&PlaceError::None(path.0)))?;
        value::read_only(py, &item)
    }

    /// Give what is at a place, or ``default``.
    #[pyo3(signature = (path, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        path: Path,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let item = path.0.get(&self.lock());
        match item {
            Some(item) => value::read_only(py, &item),
            None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
        }
    }

    fn __contains__(&self, path: Path) -> bool {
        path.0.get(&self.lock()).is_some()
    }

    fn __setitem__(&self, path: Path, new: &Bound<'_, PyAny>) -> PyResult<()> {
        let item = value::item(new)?;
        self.change(|document| path.0.set(document, item))
    }

    fn __delitem__(&self, path: Path) -> PyResult<()> {
        self.change(|document| path.0.remove(document))
    }

    /// Add to the list at a place, such as a dict to ``"vm"``; begins the list where there is none.
    fn append(&self, path: Path, new: &Bound<'_, PyAny>) -> PyResult<()> {
        let item = value::item(new)?;
        self.change(|document| path.0.append(document, item))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get().to_toml();
            self.to_toml() == other
        })
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, String, PathBuf))> {
        let make = py.import("tactus._pickle")?.getattr("system")?;
        Ok((
            make,
            (self.to_toml(), self.name.clone(), self.directory.clone()),
        ))
    }

    fn __repr__(&self) -> String {
        format!("<System {}: {}>", self.name, self.vms().join(", "))
    }
}
