//! Where hypervisor, guests and models come from.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;

use pyo3::prelude::*;
use tactus::artifacts::{Artifacts, Missing, VARIABLE, VERSION_FILE};

use crate::error::{Kind, error};

/// Whether this process has decided.
static CHOSEN: Mutex<bool> = Mutex::new(false);

fn missing(py: Python<'_>, missing: &Missing) -> PyErr {
    error(py, Kind::Tactus, &missing.reason, Some(&missing.cure))
}

/// The directory within the package, in a wheel that has one.
fn of_package(py: Python<'_>) -> PyResult<Option<PathBuf>> {
    let file: PathBuf = py.import("tactus")?.getattr("__file__")?.extract()?;
    let directory = file.with_file_name("artifacts");
    Ok(directory.join(VERSION_FILE).is_file().then_some(directory))
}

fn choose(py: Python<'_>, given: Option<PathBuf>) -> PyResult<()> {
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    if *chosen {
        return match given {
            None => Ok(()),
            Some(directory) => Err(error(
                py,
                Kind::Tactus,
                &format!(
                    "{} cannot be taken: artifacts from elsewhere are in use",
                    directory.display()
                ),
                Some("call use_artifacts() before anything is checked or run"),
            )),
        };
    }
    let of_environment = std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty());
    let directory = match given {
        None if !of_environment => of_package(py)?,
        given => given,
    };
    Artifacts::choose(directory).map_err(|error| missing(py, &error))?;
    *chosen = true;
    Ok(())
}

/// What this process takes.
pub fn chosen(py: Python<'_>) -> PyResult<Artifacts> {
    choose(py, None)?;
    Ok(Artifacts::chosen())
}

/// Take hypervisor, guests and models from a directory that ``tactus artifacts DIR`` has made.
///
/// Without this call they come from the directory that ``TACTUS_ARTIFACTS`` names; else from the package, where it has
/// them; else from the clone around the current directory, or the one that the package was built in. The choice holds
/// for the process: call this before anything is checked or run.
#[pyfunction]
pub fn use_artifacts(py: Python<'_>, directory: PathBuf) -> PyResult<()> {
    if !directory.is_dir() {
        return Err(error(
            py,
            Kind::BadArgument,
            &format!("there is no directory {}", directory.display()),
            Some("`tactus artifacts DIR` makes one, in a clone of the project"),
        ));
    }
    choose(py, Some(directory))
}

/// Give the directory that hypervisor, guests and models come from; ``None``: a clone, where they are built.
#[pyfunction]
pub fn artifacts(py: Python<'_>) -> PyResult<Option<PathBuf>> {
    Ok(chosen(py)?.directory().map(PathBuf::from))
}
