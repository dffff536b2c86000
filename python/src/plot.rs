//! Pictures of a run, as its report has them.

use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// A picture, which notebooks show.
#[pyclass(frozen, module = "tactus")]
#[derive(Debug)]
pub struct Plot {
    /// What it shows.
    #[pyo3(get)]
    pub title: String,
    /// The picture's text.
    #[pyo3(get)]
    pub svg: String,
}

#[pymethods]
impl Plot {
    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    /// Write it to a file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        std::fs::write(&path, &self.svg).map_err(|error| {
            PyOSError::new_err(format!("cannot write {}: {error}", path.display()))
        })
    }

    fn __repr__(&self) -> String {
        format!("<Plot {}>", self.title)
    }
}
