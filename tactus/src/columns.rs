//! Columns of figures and texts, as CSV and as Parquet: what sweeps and experiments hand on to other programs.
//!
//! The same columns give the same bytes. A file is written beside its place and then put there at once, so that one
//! that is there is replaced as a whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{IntoDiagnostic, WrapErr, miette};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use tempfile::NamedTempFile;

use crate::problem::io_reason;

/// Rows that are written at once.
const GROUP_ROWS: usize = 1 << 20;

/// The values of a column, one for each row; `None`: there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers that are not negative.
    Numbers(Vec<Option<u64>>),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Figures.
    Figures(Vec<Option<f64>>),
    /// Yes or no.
    Flags(Vec<Option<bool>>),
    /// Texts.
    Texts(Vec<Option<String>>),
}

impl Values {
    /// How many rows it is for.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Figures(values) => values.len(),
            Self::Flags(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether it is for none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A value as CSV has it; empty where there is none.
    fn cell(&self, row: usize) -> String {
        fn text<T: ToString>(values: &[Option<T>], row: usize) -> String {
            let value = values.get(row).and_then(Option::as_ref);
            value.map_or_else(String::new, T::to_string)
        }
        match self {
            Self::Numbers(values) => text(values, row),
            Self::Integers(values) => text(values, row),
            Self::Figures(values) => text(values, row),
            Self::Flags(values) => text(values, row),
            Self::Texts(values) => match values.get(row) {
                Some(Some(value)) => quoted(value),
                _ => String::new(),
            },
        }
    }

    fn schema(&self, name: &str) -> Result<TypePtr, ParquetError> {
        let (physical, logical) = match self {
            Self::Numbers(_) => {
                let unsigned = LogicalType::integer(64, false);
                (Physical::INT64, Some(unsigned))
            }
            Self::Integers(_) => (Physical::INT64, None),
            Self::Figures(_) => (Physical::DOUBLE, None),
            Self::Flags(_) => (Physical::BOOLEAN, None),
            Self::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    }

    /// Writes its values of some rows as the next column.
    fn write<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        rows: std::ops::Range<usize>,
    ) -> Result<(), ParquetError> {
        match self {
            Self::Numbers(values) => {
                // The unsigned type has the bits of the signed one.
                column::<Int64Type, _, _>(group, &values[rows], |value| *value as i64)
            }
            Self::Integers(values) => {
                column::<Int64Type, _, _>(group, &values[rows], |value| *value)
            }
            Self::Figures(values) => {
                column::<DoubleType, _, _>(group, &values[rows], |value| *value)
            }
            Self::Flags(values) => column::<BoolType, _, _>(group, &values[rows], |value| *value),
            Self::Texts(values) => column::<ByteArrayType, _, _>(group, &values[rows], |value| {
                ByteArray::from(value.as_str())
            }),
        }
    }
}

fn column<D: DataType, V, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[Option<V>],
    of: impl Fn(&V) -> D::T,
) -> Result<(), ParquetError> {
    let given: Vec<D::T> = values.iter().flatten().map(of).collect();
    let levels: Vec<i16> = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("there is no such column".to_owned()));
    };
    writer
        .typed::<D>()
        .write_batch(&given, Some(&levels), None)?;
    writer.close()
}

/// A text as a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.is_empty() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Columns of the same length, each with its name, and what there is to say of all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    columns: Vec<(String, Values)>,
    notes: Vec<(String, String)>,
}

impl Columns {
    /// The same with a further column, which is as long as the others.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, values: Values) -> Self {
        debug_assert!(self.columns.is_empty() || self.rows() == values.len());
        self.columns.push((name.into(), values));
        self
    }

    /// The same with a note under a key, which Parquet keeps beside the columns, and CSV does not.
    #[must_use]
    pub fn noted(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.notes.push((key.into(), text.into()));
        self
    }

    /// The notes, with their keys.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.notes
            .iter()
            .map(|(key, text)| (key.as_str(), text.as_str()))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// The columns, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Values)> {
        self.columns
            .iter()
            .map(|(name, values)| (name.as_str(), values))
    }

    /// The column of a name.
    pub fn get(&self, name: &str) -> Option<&Values> {
        self.iter()
            .find_map(|(known, values)| (known == name).then_some(values))
    }

    /// As CSV: a line with the names, then a line for each row. A value that is not there is empty, an empty text is
    /// `""`.
    pub fn csv(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = String>| {
            text.push_str(&cells.collect::<Vec<_>>().join(","));
            text.push('\n');
        };
        line(&mut self.iter().map(|(name, _)| quoted(name)));
        for row in 0..self.rows() {
            line(&mut self.iter().map(|(_, values)| values.cell(row)));
        }
        text
    }

    /// As a Parquet file, without compression.
    ///
    /// # Errors
    /// It cannot be made, as of two columns of one name.
    pub fn parquet(&self) -> Result<Vec<u8>, ParquetError> {
        let fields = self.iter().map(|(name, values)| values.schema(name));
        let schema = Type::group_type_builder("schema")
            .with_fields(fields.collect::<Result<_, _>>()?)
            .build()?;
        let notes = self
            .notes
            .iter()
            .map(|(key, text)| KeyValue::new(key.clone(), text.clone()))
            .collect();
        let properties = WriterProperties::builder()
            .set_created_by(concat!("tactus version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::UNCOMPRESSED)
            .set_key_value_metadata(Some(notes))
            .build();
        let mut bytes = Vec::new();
        let mut file =
            SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
        let mut begin = 0;
        while begin < self.rows() {
            let end = self.rows().min(begin + GROUP_ROWS);
            let mut group = file.next_row_group()?;
            for (_, values) in &self.columns {
                values.write(&mut group, begin..end)?;
            }
            group.close()?;
            begin = end;
        }
        file.close()?;
        Ok(bytes)
    }
}

/// A file that columns are to go to.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// What takes the file's place when it is written; `None`: it is no file, such as a pipe, and is written to.
    beside: Option<NamedTempFile>,
}

impl Output {
    /// Prepares to write `path`, before the work whose results go there. What is there stays until [`Output::write`].
    /// `option`: what named the path on the command line.
    ///
    /// # Errors
    /// No file can be written there.
    pub fn prepare(path: &Path, option: &str) -> miette::Result<Self> {
        let refuse = |reason: String| {
            miette!(
                help = "name a file in a directory that is there and can be written to",
                "{option} {}: no file can be written there: {reason}",
                path.display()
            )
        };
        // A link stays, and what it leads to is replaced.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if place.is_dir() {
            return Err(refuse("it is a directory".to_owned()));
        }
        if place.exists() && !place.is_file() {
            return Ok(Self {
                path: path.to_owned(),
                beside: None,
            });
        }
        let directory = match place.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let file = tempfile::Builder::new()
            .prefix(".tactus-")
            .permissions(permissions())
            .tempfile_in(directory)
            .map_err(|error| refuse(io_reason(&error)))?;
        Ok(Self {
            path: place,
            beside: Some(file),
        })
    }

    /// Writes the file, in place of one that is there.
    ///
    /// # Errors
    /// It cannot be written; what was there stays.
    pub fn write(self, bytes: &[u8]) -> miette::Result<()> {
        let written = match self.beside {
            None => fs::OpenOptions::new()
                .write(true)
                .open(&self.path)
                .and_then(|mut file| file.write_all(bytes)),
            Some(mut file) => file
                .write_all(bytes)
                .and_then(|()| file.flush())
                .and_then(|()| Ok(file.persist(&self.path).map(drop)?)),
        };
        written
            .into_diagnostic()
            .wrap_err_with(|| format!("{} cannot be written", self.path.display()))
    }
}

/// Those of a file that any program makes, which the process's mask makes less of.
fn permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}

/// The files that a command's results go to as columns, each with the path that the command line has for it.
#[derive(Debug, Default)]
pub struct Outputs {
    csv: Option<(PathBuf, Output)>,
    parquet: Option<(PathBuf, Output)>,
}

impl Outputs {
    /// Prepares to write these files; each with what named it on the command line.
    ///
    /// # Errors
    /// One of them cannot be written.
    pub fn prepare(
        csv: Option<(&Path, &str)>,
        parquet: Option<(&Path, &str)>,
    ) -> miette::Result<Self> {
        let output = |named: Option<(&Path, &str)>| {
            let output = |(path, option): (&Path, &str)| {
                Output::prepare(path, option).map(|output| (path.to_owned(), output))
            };
            named.map(output).transpose()
        };
        Ok(Self {
            csv: output(csv)?,
            parquet: output(parquet)?,
        })
    }

    /// Writes them all; gives their paths.
    ///
    /// # Errors
    /// One cannot be written.
    pub fn write(self, columns: &Columns) -> miette::Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        if let Some((path, output)) = self.parquet {
            let bytes = columns
                .parquet()
                .into_diagnostic()
                .wrap_err("the Parquet file could not be made")?;
            output.write(&bytes)?;
            written.push(path);
        }
        if let Some((path, output)) = self.csv {
            output.write(columns.csv().as_bytes())?;
            written.push(path);
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    fn columns() -> Columns {
        Columns::default()
            .with("n", Values::Numbers(vec![Some(u64::MAX), None]))
            .with("i", Values::Integers(vec![Some(-1), Some(2)]))
            .with("f", Values::Figures(vec![Some(0.1), None]))
            .with("b", Values::Flags(vec![None, Some(true)]))
            .with(
                "t,x",
                Values::Texts(vec![Some("a \"b\",\nc".to_owned()), Some(String::new())]),
            )
            .noted("tactus.note", "said")
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        assert_eq!(
            columns().csv(),
            "n,i,f,b,\"t,x\"\n18446744073709551615,-1,0.1,,\"a \"\"b\"\",\nc\"\n,2,,true,\"\"\n"
        );
        assert_eq!(Columns::default().csv(), "\n");
    }

    #[test]
    fn parquet_is_read_back_and_always_the_same() {
        let bytes = columns().parquet().expect("it can be made");
        assert_eq!(columns().parquet().expect("it can be made"), bytes);
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("it is Parquet");
        let rows: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .expect("it has rows")
            .map(|row| row.expect("it is a row"))
            .map(|row| {
                row.get_column_iter()
                    .map(|(_, field)| field.clone())
                    .collect()
            })
            .collect();
        let text = |text: &str| Field::Str(text.to_owned());
        assert_eq!(
            rows,
            [
                vec![
                    Field::ULong(u64::MAX),
                    Field::Long(-1),
                    Field::Double(0.1),
                    Field::Null,
                    text("a \"b\",\nc"),
                ],
                vec![
                    Field::Null,
                    Field::Long(2),
                    Field::Null,
                    Field::Bool(true),
                    text(""),
                ],
            ]
        );
        let metadata = reader.metadata().file_metadata();
        let notes = metadata.key_value_metadata().expect("it has notes");
        assert_eq!(notes[0].value.as_deref(), Some("said"));
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("a.csv");
        std::fs::write(&path, "old").expect("it can be written");
        let output = Output::prepare(&path, "--csv").expect("it can be written");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"old");
        output.write(b"new").expect("it is written");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"new");
        drop(Output::prepare(&path, "--csv").expect("it can be written"));
        assert_eq!(std::fs::read(&path).expect("it is there"), b"new");
        let entries = std::fs::read_dir(&directory).expect("it can be read");
        assert_eq!(entries.count(), 1);
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link can be made");
        let output = Output::prepare(&link, "--csv").expect("it can be written");
        output.write(b"newer").expect("it is written");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"newer");
        assert!(link.is_symlink());
        let null = Output::prepare(Path::new("/dev/null"), "--csv").expect("it can be written");
        null.write(b"nothing").expect("it is written");
        let none = directory.path().join("none/a.csv");
        let error = Output::prepare(&none, "--csv").expect_err("there is no such directory");
        assert!(error.to_string().contains("--csv "), "{error}");
        let error = Output::prepare(directory.path(), "--csv").expect_err("it is a directory");
        assert!(error.to_string().ends_with("it is a directory"), "{error}");
    }
}
