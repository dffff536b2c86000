//! Tables that others take over without a copy, by Arrow's C interface for Python (its "PyCapsule interface").

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    RecordBatchIterator, StringArray, StructArray, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use tactus::columns::{self, Values};

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// Columns of the same length, which pyarrow, pandas and polars take over without a copy.
///
/// ``pyarrow.table(table)``, ``pandas.DataFrame.from_arrow(table)`` and ``polars.DataFrame(table)`` do so, by Arrow's
/// PyCapsule interface. None of them is needed: ``table["name"]`` is a list.
#[pyclass(frozen, module = "tactus")]
#[derive(Debug)]
pub struct Table(RecordBatch);

fn failed(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A table in the making.
#[derive(Debug, Default)]
pub struct Columns(Vec<(String, ArrayRef)>);

impl Columns {
    fn add(mut self, name: &str, array: impl Array + 'static) -> Self {
        self.0.push((name.to_owned(), Arc::new(array)));
        self
    }

    /// A column of whole numbers.
    pub fn numbers(self, name: &str, values: Vec<u64>) -> Self {
        self.add(name, UInt64Array::from(values))
    }

    /// The same with gaps.
    pub fn some_numbers(self, name: &str, values: Vec<Option<u64>>) -> Self {
        self.add(name, UInt64Array::from(values))
    }

    /// A column of small whole numbers.
    pub fn small_numbers(self, name: &str, values: Vec<u32>) -> Self {
        self.add(name, UInt32Array::from(values))
    }

    /// A column of figures.
    pub fn figures(self, name: &str, values: Vec<f64>) -> Self {
        self.add(name, Float64Array::from(values))
    }

    /// The same with gaps.
    pub fn some_figures(self, name: &str, values: Vec<Option<f64>>) -> Self {
        self.add(name, Float64Array::from(values))
    }

    /// A column of texts.
    pub fn texts<T: AsRef<str>>(self, name: &str, values: &[Option<T>]) -> Self {
        self.add(name, StringArray::from_iter(values))
    }

    /// A column of texts that are often the same.
    pub fn names<'t>(self, name: &str, values: impl Iterator<Item = &'t str>) -> Self {
        self.add(name, DictionaryArray::<Int32Type>::from_iter(values))
    }

    /// The table.
    pub fn table(self) -> PyResult<Table> {
        RecordBatch::try_from_iter(self.0)
            .map(Table)
            .map_err(|error| failed(&error))
    }
}

/// A value of a column as Python has it.
fn value<'py>(py: Python<'py>, column: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match column.data_type() {
        DataType::UInt64 => column
            .as_primitive::<UInt64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::UInt32 => column
            .as_primitive::<UInt32Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::Int64 => column
            .as_primitive::<Int64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::Boolean => column.as_boolean().value(row).into_bound_py_any(py),
        DataType::Float64 => column
            .as_primitive::<Float64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::Utf8 => column.as_string::<i32>().value(row).into_bound_py_any(py),
        _ => {
            let column = column.as_dictionary::<Int32Type>();
            let key = column.key(row).unwrap_or_default();
            let names = column.values().as_string::<i32>();
            names.value(key).into_bound_py_any(py)
        }
    }
}

impl Table {
    /// The tool's columns, with their notes as the schema's metadata.
    pub fn of(columns: &columns::Columns) -> PyResult<Self> {
        let array = |values: &Values| -> ArrayRef {
            match values {
                Values::Numbers(values) => Arc::new(UInt64Array::from(values.clone())),
                Values::Integers(values) => Arc::new(Int64Array::from(values.clone())),
                Values::Figures(values) => Arc::new(Float64Array::from(values.clone())),
                Values::Flags(values) => Arc::new(BooleanArray::from(values.clone())),
                Values::Texts(values) => Arc::new(StringArray::from_iter(values)),
            }
        };
        // Whether there are gaps does not depend on the data.
        let all = columns
            .iter()
            .map(|(name, values)| (name, array(values), true));
        let batch = RecordBatch::try_from_iter_with_nullable(all);
        let batch = batch.map_err(|error| failed(&error))?;
        let notes = columns
            .notes()
            .map(|(key, text)| (key.to_owned(), text.to_owned()));
        let schema = batch
            .schema()
            .as_ref()
            .clone()
            .with_metadata(notes.collect::<BTreeMap<_, _>>());
        let batch = batch.with_schema(Arc::new(schema));
        batch.map(Self).map_err(|error| failed(&error))
    }

    fn list<'py>(&self, py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
        let values = (0..column.len())
            .map(|row| value(py, column, row))
            .collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, values)
    }

    fn schema(&self) -> PyResult<FFI_ArrowSchema> {
        FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(|error| failed(&error))
    }
}

#[pymethods]
impl Table {
    /// The columns' names.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.0.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        match self.0.column_by_name(column) {
            Some(values) => self.list(py, values),
            None => Err(PyKeyError::new_err(format!(
                "there is no column `{column}`; there are {}",
                self.columns().join(", ")
            ))),
        }
    }

    /// Give all columns as lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, column) in self.columns().iter().zip(self.0.columns()) {
            dict.set_item(name, self.list(py, column)?)?;
        }
        Ok(dict)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.schema()?, SCHEMA)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // As much as can be done for a schema that is wanted, as the interface allows: the table's own.
        let _ = requested_schema;
        let rows = StructArray::from(self.0.clone());
        let (array, _): (FFI_ArrowArray, _) =
            to_ffi(&rows.to_data()).map_err(|error| failed(&error))?;
        Ok((
            PyCapsule::new_with_value(py, self.schema()?, SCHEMA)?,
            PyCapsule::new_with_value(py, array, ARRAY)?,
        ))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let rows = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(rows));
        PyCapsule::new_with_value(py, stream, STREAM)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Table of {} rows: {}>",
            self.0.num_rows(),
            self.columns().join(", ")
        )
    }
}
