//! Places within a description, as Python names them: a `str`, or a tuple of `str` and `int`.

use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use tactus::config::{Place, PlaceError};

/// A place.
#[derive(Clone, Debug)]
pub struct Path(pub Place);

impl<'py> FromPyObject<'_, 'py> for Path {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let wrong = || {
            PyTypeError::new_err(
                "a place is a str such as \"vm.first.memory\", or a tuple such as (\"vm\", 0, \"memory\")",
            )
        };
        let place = if let Ok(text) = value.cast::<PyString>() {
            text.to_str()?.parse()
        } else if let Ok(parts) = value.cast::<PyTuple>() {
            let part = |part: Bound<'_, PyAny>| {
                if let Ok(text) = part.cast::<PyString>() {
                    return Ok(text.to_str()?.to_owned());
                }
                let number: usize = part.extract().map_err(|_| wrong())?;
                Ok(number.to_string())
            };
            Place::of(parts.iter().map(part).collect::<PyResult<_>>()?)
        } else {
            return Err(wrong());
        };
        place.map(Self).map_err(|_| wrong())
    }
}

/// The exception for what cannot be done at a place.
pub fn error(error: &PlaceError) -> PyErr {
    match error {
        PlaceError::None(_) => PyKeyError::new_err(error.to_string()),
        PlaceError::NoList(_) => PyTypeError::new_err(error.to_string()),
        PlaceError::WrongKind => {
            PyTypeError::new_err("a list of tables has dicts, and a list of values has values")
        }
    }
}
