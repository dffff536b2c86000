//! Places within a description: `system.harts`, `vm.first.memory`, `vm.0.vcpu.1.budget`. What is in a list is named
//! by its number, or by its `name`.

use std::fmt;
use std::str::FromStr;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Key, Table, TableLike, Value};

/// A place: the parts of its path, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(Vec<String>);

/// Why something cannot be done at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The description has no such place.
    #[error("the description has no {0}")]
    None(Place),
    /// A table is added to what is no list of tables, or a value to what is no list of values.
    #[error("{0} is no list")]
    NoList(Place),
    /// A table stands for a value in a list, or a value for a table.
    #[error("a list of tables has tables, and a list of values has values")]
    WrongKind,
}

/// A text that names no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("that is no place; one is written such as `vm.first.memory` or `vm.0.vcpu.1.budget`")]
pub struct NoPlace;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// Parts with a full stop between; one that has other characters than letters, digits, `_` and `-` in quotes, as TOML
/// has keys.
impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let keys = Key::parse(text).map_err(|_| NoPlace)?;
        Self::of(keys.iter().map(|key| key.get().to_owned()).collect())
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

impl Place {
    /// The place with these parts.
    ///
    /// # Errors
    /// There is none, or one is empty.
    pub fn of(parts: Vec<String>) -> Result<Self, NoPlace> {
        if parts.is_empty() || parts.iter().any(String::is_empty) {
            return Err(NoPlace);
        }
        Ok(Self(parts))
    }

    /// Its parts.
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    fn none(&self) -> PlaceError {
        PlaceError::None(self.clone())
    }

    /// What is there.
    pub fn get(&self, document: &DocumentMut) -> Option<Item> {
        let root = document.as_item().clone();
        self.0
            .iter()
            .try_fold(root, |item, part| child(&item, part))
    }

    /// Puts something there. Tables on the way that are not there are made.
    ///
    /// # Errors
    /// It cannot be there; the document may have tables on the way then.
    pub fn set(&self, document: &mut DocumentMut, new: Item) -> Result<(), PlaceError> {
        match self.table(document, true)? {
            Within::Key(table) => {
                put(table, self.last(), new);
                Ok(())
            }
            Within::Element(item, index) => set_element(item, index, new),
        }
    }

    /// Takes away what is there.
    ///
    /// # Errors
    /// There is nothing.
    pub fn remove(&self, document: &mut DocumentMut) -> Result<(), PlaceError> {
        match self.table(document, false)? {
            Within::Key(table) => match table.remove(self.last()) {
                Some(_) => Ok(()),
                None => Err(self.none()),
            },
            Within::Element(Item::ArrayOfTables(tables), index) => {
                tables.remove(index);
                Ok(())
            }
            Within::Element(Item::Value(Value::Array(array)), index) => {
                array.remove(index);
                Ok(())
            }
            Within::Element(..) => Err(self.none()),
        }
    }

    /// Adds to the list that is there, or begins one.
    ///
    /// # Errors
    /// What is there is no list of such things.
    pub fn append(&self, document: &mut DocumentMut, new: Item) -> Result<(), PlaceError> {
        let no_list = || PlaceError::NoList(self.clone());
        let Within::Key(table) = self.table(document, true)? else {
            return Err(no_list());
        };
        let last = self.last();
        match (table.get_mut(last), new) {
            (Some(Item::ArrayOfTables(tables)), Item::Table(new)) => tables.push(new),
            (Some(Item::Value(Value::Array(array))), Item::Value(new)) => array.push(new),
            (None, Item::Table(new)) => {
                let mut tables = ArrayOfTables::new();
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
    fn table<'d>(
        &self,
        document: &'d mut DocumentMut,
        makes: bool,
    ) -> Result<Within<'d>, PlaceError> {
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
    ) -> Result<Within<'d>, PlaceError> {
        let Some((part, rest)) = parts.split_first() else {
            return Ok(Within::Key(table));
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

    fn place<'d>(&self, item: &'d mut Item, last: &str) -> Result<Within<'d>, PlaceError> {
        if let Some(index) = index_in(item, last) {
            return Ok(Within::Element(item, index));
        }
        item.as_table_like_mut()
            .map(Within::Key)
            .ok_or_else(|| self.none())
    }
}

/// Where something is put.
enum Within<'d> {
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

fn set_element(item: &mut Item, index: usize, new: Item) -> Result<(), PlaceError> {
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
        _ => Err(PlaceError::WrongKind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
[system]
harts = 1  # one

[[vm]]
name = \"first\"

[[vm.vcpu]]
class = \"rt\"
";

    fn place(text: &str) -> Place {
        text.parse().expect("it is a place")
    }

    #[test]
    fn texts_of_places_are_toml_keys() {
        assert_eq!(place("vm.0.\"a.b\"").parts(), ["vm", "0", "a.b"]);
        for text in ["", ".", "a..b", "a.", "a b", "\"\""] {
            assert_eq!(text.parse::<Place>(), Err(NoPlace), "{text}");
        }
    }

    #[test]
    fn what_is_set_keeps_what_is_around_it() {
        let mut document: DocumentMut = TEXT.parse().expect("it is TOML");
        let set = |document: &mut DocumentMut, at: &str, value: Value| {
            place(at).set(document, Item::Value(value))
        };
        set(&mut document, "system.harts", 2.into()).expect("it is there");
        set(&mut document, "vm.first.vcpu.0.priority", 7.into()).expect("there is room");
        let text = document.to_string();
        assert_eq!(
            text,
            TEXT.replace("harts = 1", "harts = 2") + "priority = 7\n"
        );
        let none = set(&mut document, "vm.second.memory", 1.into());
        assert_eq!(none, Err(PlaceError::None(place("vm.second.memory"))));
        assert_eq!(document.to_string(), text);
        assert!(place("vm.0.name").get(&document).is_some());
        assert!(place("vm.1.name").get(&document).is_none());
    }
}
