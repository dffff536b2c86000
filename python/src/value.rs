//! Python's values as TOML, and back.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMappingProxy, PyString, PyTuple};
use toml_edit::{Array, ArrayOfTables, InlineTable, Item, Table, Value};

/// A value of a description, which cannot be changed in place: a change of it would change nothing.
pub fn read_only<'py>(py: Python<'py>, item: &Item) -> PyResult<Bound<'py, PyAny>> {
    match item {
        Item::None => Ok(py.None().into_bound(py)),
        Item::Value(value) => value_read_only(py, value),
        Item::Table(table) => {
            let dict = PyDict::new(py);
            for (key, item) in table {
                dict.set_item(key, read_only(py, item)?)?;
            }
            Ok(PyMappingProxy::new(py, dict.as_mapping()).into_any())
        }
        Item::ArrayOfTables(tables) => {
            let items = tables
                .iter()
                .map(|table| read_only(py, &Item::Table(table.clone())))
                .collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
    }
}

fn value_read_only<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::String(text) => text.value().into_bound_py_any(py),
        Value::Integer(number) => number.value().into_bound_py_any(py),
        Value::Float(number) => number.value().into_bound_py_any(py),
        Value::Boolean(flag) => flag.value().into_bound_py_any(py),
        Value::Datetime(time) => time.value().to_string().into_bound_py_any(py),
        Value::Array(array) => {
            let items = array
                .iter()
                .map(|value| value_read_only(py, value))
                .collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
        Value::InlineTable(table) => {
            let dict = PyDict::new(py);
            for (key, value) in table {
                dict.set_item(key, value_read_only(py, value)?)?;
            }
            Ok(PyMappingProxy::new(py, dict.as_mapping()).into_any())
        }
    }
}

/// A mapping's keys and values.
type Entries<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// What a mapping has; `None`: it is none.
fn entries<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Entries<'py>>> {
    if !value.is_instance_of::<PyDict>() && !value.is_instance_of::<PyMappingProxy>() {
        return Ok(None);
    }
    let mut entries = Vec::new();
    for item in value.call_method0("items")?.try_iter()? {
        let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item?.extract()?;
        let key = key.extract().map_err(|_| {
            PyTypeError::new_err(format!("a key of a table is a str, not {}", kind(&key)))
        })?;
        entries.push((key, value));
    }
    Ok(Some(entries))
}

fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if !value.is_instance_of::<PyList>() && !value.is_instance_of::<PyTuple>() {
        return Ok(None);
    }
    value.try_iter()?.collect::<PyResult<_>>().map(Some)
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name();
    name.map_or_else(|_| "that".to_owned(), |name| name.to_string())
}

/// What a value of Python is in a description.
pub fn item(value: &Bound<'_, PyAny>) -> PyResult<Item> {
    if let Some(entries) = entries(value)? {
        return Ok(Item::Table(table(entries)?));
    }
    if let Some(items) = items(value)? {
        let tables = items
            .iter()
            .map(entries)
            .collect::<PyResult<Option<Vec<_>>>>()?;
        if let Some(tables) = tables.filter(|tables| !tables.is_empty()) {
            let mut array = ArrayOfTables::new();
            for entries in tables {
                array.push(table(entries)?);
            }
            return Ok(Item::ArrayOfTables(array));
        }
    }
    plain(value).map(Item::Value)
}

fn table(entries: Entries<'_>) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, value) in entries {
        table.insert(&key, item(&value)?);
    }
    Ok(table)
}

/// A value within a line.
fn plain(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.into());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.extract::<i64>()?.into());
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(value.extract::<f64>()?.into());
    }
    if value.is_instance_of::<PyString>() {
        return Ok(value.extract::<String>()?.into());
    }
    if let Some(items) = items(value)? {
        let mut array = Array::new();
        for item in items {
            array.push(plain(&item)?);
        }
        return Ok(array.into());
    }
    if let Some(entries) = entries(value)? {
        let mut table = InlineTable::new();
        for (key, value) in entries {
            table.insert(&key, plain(&value)?);
        }
        return Ok(table.into());
    }
    Err(PyTypeError::new_err(format!(
        "a description has str, int, float, bool, lists and dicts, not {}",
        kind(value)
    )))
}
