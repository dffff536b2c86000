//! Places within a description: `system.harts`, `vm.first.memory`, `vm.0.vcpu.1.budget`. What is in a list is named by its
//! number, or by its `name`.

use std::fmt;

use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// A place: the parts of its path.
#[derive(Clone, Debug)]
pub struct Path(Vec<String>);

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

impl<'py> FromPyObject<'_, 'py> for Path {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let wrong = || {
            PyTypeError::new_err(
                "a place is a str such as \"vm.first.memory\", or a tuple such as (\"vm\", 0, \"memory\")",
            )
        };
        let parts: Vec<String> = if let Ok(text) = value.cast::<PyString>() {
            text.to_str()?.split('.').map(str::to_owned).collect()
        } else if let Ok(parts) = value.cast::<PyTuple>() {
            let part = |part: Bound<'_, PyAny>| {
                if let Ok(text) = part.cast::<PyString>() {
                    return Ok(text.to_str()?.to_owned());
                }
                let number: usize = part.extract().map_err(|_| wrong())?;
                Ok(number.to_string())
            };
            parts.iter().map(part).collect::<PyResult<_>>()?
        } else {
            return Err(wrong());
        };
        if parts.is_empty() || parts.iter().any(String::is_empty) {
            return Err(wrong());
        }
        Ok(Self(parts))
    }
}

/// Which of a list's tables a part of a path names.
fn index<'t>(part: &str, names: impl Iterator<Item = Option<&'t str>>) -> Option<usize> {
    let mut count = 0;
    let mut named = None;
    for (index, name) in names.enumerate() {
        count += 1;
        if name == Some(part) && named.is_none() {
            named = Some(index);
        }
    }
    named.or_else(|| part.parse().ok().filter(|index| *index < count))
}

fn name(table: &dyn TableLike) -> Option<&str> {
    table.get("name")?.as_str()
}

fn index_in(item: &Item, part: &str) -> Option<usize> {
    match item {
        Item::ArrayOfTables(tables) => index(part, tables.iter().map(|table| name(table))),
        Item::Value(Value::Array(array)) => index(
            part,
            array.iter().map(|value| name(value.as_inline_table()?)),
        ),
        _ => None,
    }
}

fn child(item: &Item, part: &str) -> Option<Item> {
    match item {
        Item::ArrayOfTables(tables) => tables
            .get(index_in(item, part)?)
            .map(|table| Item::Table(table.clone())),
        Item::Value(Value::Array(array)) => array
            .get(index_in(item, part)?)
            .map(|value| Item::Value(value.clone())),
        _ => item.as_table_like()?.get(part).cloned(),
    }
}

fn table_mut<'i>(item: &'i mut Item, part: &str) -> Option<&'i mut dyn TableLike> {
    let place = index_in(item, part);
    match item {
        Item::ArrayOfTables(tables) => tables.get_mut(place?).map(|table| table as _),
        Item::Value(Value::Array(array)) => array
            .get_mut(place?)
            .and_then(|value| value.as_inline_table_mut())
            .map(|table| table as _),
        _ => item.as_table_like_mut()?.get_mut(part)?.as_table_like_mut(),
    }
}

impl Path {
    fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    fn none(&self) -> PyErr {
        PyKeyError::new_err(format!("the description has no {self}"))
    }

    /// What is there.
    pub fn get(&self, document: &DocumentMut) -> Option<Item> {
        let root = document.as_item().clone();
        self.0
            .iter()
            .try_fold(root, |item, part| child(&item, part))
    }

    /// Puts something there. Tables on the way that are not there are made.
    pub fn set(&self, document: &mut DocumentMut, new: Item) -> PyResult<()> {
        let place = self.table(document, true)?;
        match place {
            Place::Key(table) => {
                put(table, self.last(), new);
                Ok(())
            }
            Place::Element(item, index) => set_element(item, index, new),
        }
    }

    /// Takes away what is there.
    pub fn remove(&self, document: &mut DocumentMut) -> PyResult<()> {
        match self.table(document, false)? {
            Place::Key(table) => match table.remove(self.last()) {
                Some(_) => Ok(()),
                None => Err(self.none()),
            },
            Place::Element(Item::ArrayOfTables(tables), index) => {
                tables.remove(index);
                Ok(())
            }
            Place::Element(Item::Value(Value::Array(array)), index) => {
                array.remove(index);
                Ok(())
            }
            Place::Element(..) => Err(self.none()),
        }
    }

    /// Adds a table to the list that is there, or begins one.
    pub fn append(&self, document: &mut DocumentMut, new: Item) -> PyResult<()> {
        let no_list = || PyTypeError::new_err(format!("{self} is no list"));
        let Place::Key(table) = self.table(document, true)? else {
            return Err(no_list());
        };
        let last = self.last();
        match (table.get_mut(last), new) {
            (Some(Item::ArrayOfTables(tables)), Item::Table(new)) => tables.push(new),
            (Some(Item::Value(Value::Array(array))), Item::Value(new)) => array.push(new),
            (None, Item::Table(new)) => {
                let mut tables = toml_edit::ArrayOfTables::new();
                tables.push(new);
                table.insert(last, Item::ArrayOfTables(tables));
            }
            (None, Item::Value(new)) => {
                let array: toml_edit::Array = std::iter::once(new).collect();
                table.insert(last, Item::Value(array.into()));
            }
            _ => return Err(no_list()),
        }
        Ok(())
    }

    /// What the last part is a key of.
    fn table<'d>(&self, document: &'d mut DocumentMut, makes: bool) -> PyResult<Place<'d>> {
        let (last, before) = self.0.split_last().ok_or_else(|| self.none())?;
        let mut item: &'d mut Item = document.as_item_mut();
        let mut parts = before.iter();
        while let Some(part) = parts.next() {
            if index_in(item, part).is_some() {
                // The table within a list is no item: it is gone on in by itself.
                let rest: Vec<&String> = parts.collect();
                let table = table_mut(item, part).ok_or_else(|| self.none())?;
                return self.within(table, &rest, last, makes);
            }
            let table = item.as_table_like_mut().ok_or_else(|| self.none())?;
            if table.get(part).is_none_or(Item::is_none) {
                if !makes {
                    return Err(self.none());
                }
                table.insert(part, Item::Table(Table::new()));
            }
            item = table.get_mut(part).ok_or_else(|| self.none())?;
        }
        self.place(item, last)
    }

    fn within<'d>(
        &self,
        table: &'d mut dyn TableLike,
        parts: &[&String],
        last: &str,
        makes: bool,
    ) -> PyResult<Place<'d>> {
        let Some((part, rest)) = parts.split_first() else {
            return Ok(Place::Key(table));
        };
        if table.get(part).is_none_or(Item::is_none) {
            if !makes {
                return Err(self.none());
            }
            table.insert(part, Item::Table(Table::new()));
        }
        let item = table.get_mut(part).ok_or_else(|| self.none())?;
        let Some((next, behind)) = rest.split_first() else {
            return self.place(item, last);
        };
        let table = table_mut(item, next).ok_or_else(|| self.none())?;
        self.within(table, behind, last, makes)
    }

    fn place<'d>(&self, item: &'d mut Item, last: &str) -> PyResult<Place<'d>> {
        if let Some(index) = index_in(item, last) {
            return Ok(Place::Element(item, index));
        }
        item.as_table_like_mut()
            .map(Place::Key)
            .ok_or_else(|| self.none())
    }
}

/// Where something is put.
enum Place<'d> {
    /// Under a key of this table.
    Key(&'d mut dyn TableLike),
    /// At this place of a list.
    Element(&'d mut Item, usize),
}

/// Puts a value under a key. What is written around the old one, comments included, stays.
fn put(table: &mut dyn TableLike, key: &str, mut new: Item) {
    match (table.get_mut(key), &mut new) {
        (Some(Item::Value(old)), Item::Value(value)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value.clone();
        }
        (Some(old @ Item::Table(_)), Item::Table(_)) | (Some(old @ Item::ArrayOfTables(_)), _) => {
            *old = new;
        }
        _ => {
            table.insert(key, new);
        }
    }
}

fn set_element(item: &mut Item, index: usize, new: Item) -> PyResult<()> {
    match (item, new) {
        (Item::ArrayOfTables(tables), Item::Table(new)) => {
            if let Some(old) = tables.get_mut(index) {
                *old = new;
            }
            Ok(())
        }
        (Item::Value(Value::Array(array)), Item::Value(new)) => {
            array.replace(index, new);
            Ok(())
        }
        _ => Err(PyTypeError::new_err(
            "a list of tables has dicts, and a list of values has values",
        )),
    }
}
