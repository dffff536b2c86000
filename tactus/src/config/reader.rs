//! Reads TOML tables key by key, notes every problem and goes on, so that one run names them all.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::source::{At, Source, Span};
use super::unit::{Address, Nanoseconds, Share, Size, Station};
use crate::problem::{Code, Problem};

/// A value's description in TOML, as far as its own text can be judged.
pub(super) trait Value: Sized {
    /// What is expected, with its article: "a size".
    const EXPECTED: &'static str;
    /// A value that is right, as one writes it.
    const EXAMPLE: &'static str;

    /// The value, or `None` when it is none of these.
    fn read(value: &DeValue<'_>) -> Option<Self>;
}

/// A whole number that is not negative.
fn integer(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

impl Value for String {
    const EXPECTED: &'static str = "a string";
    const EXAMPLE: &'static str = "\"...\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_str().map(Self::from)
    }
}

impl Value for bool {
    const EXPECTED: &'static str = "`true` or `false`";
    const EXAMPLE: &'static str = "true";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_bool()
    }
}

impl Value for u32 {
    const EXPECTED: &'static str = "a whole number, not negative";
    const EXAMPLE: &'static str = "1";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        integer(value)?.try_into().ok()
    }
}

impl Value for Size {
    const EXPECTED: &'static str =
        "a size: a number of bytes, or a string with the unit KiB, MiB or GiB";
    const EXAMPLE: &'static str = "\"16MiB\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str() {
            Some(text) => Self::from_text(text),
            None => integer(value).map(Self),
        }
    }
}

impl Value for Address {
    const EXPECTED: &'static str = "an address: a whole number, usually hexadecimal";
    const EXAMPLE: &'static str = "0x9000_0000";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        integer(value).map(Self)
    }
}

impl Value for Nanoseconds {
    const EXPECTED: &'static str = "a time: a string with the unit s, ms, us or ns";
    const EXAMPLE: &'static str = "\"10ms\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }
}

impl Value for Station {
    const EXPECTED: &'static str =
        "an Ethernet address of one station: six bytes in hexadecimal, the first one even";
    const EXAMPLE: &'static str = "\"02:00:00:00:00:01\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }
}

impl Value for Share {
    const EXPECTED: &'static str =
        "a share: a string with a number of percent, at most one digit after the point";
    const EXAMPLE: &'static str = "\"10%\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }
}

/// What a value is, in words.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "this string is not",
        DeValue::Integer(_) => "this number is not",
        DeValue::Float(_) => "this is a number with a fraction",
        DeValue::Boolean(_) => "this is a boolean",
        DeValue::Datetime(_) => "this is a date",
        DeValue::Array(_) => "this is an array",
        DeValue::Table(_) => "this is a table",
    }
}

/// Notes the problems of one file.
pub(super) struct Reader {
    source: Source,
    problems: Vec<Problem>,
}

impl Reader {
    pub(super) const fn new(source: Source) -> Self {
        Self {
            source,
            problems: Vec::new(),
        }
    }

    /// Notes a problem at a place.
    pub(super) fn note(&mut self, problem: Problem, span: &Span, label: impl Into<String>) {
        self.problems.push(problem.at(&self.source, span, label));
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// A value of the key `key` of `what`, `None` with a note and an example when it is of another kind.
    fn value<T: Value>(
        &mut self,
        what: &str,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        example: &str,
    ) -> Option<At<T>> {
        if let Some(read) = T::read(value.get_ref()) {
            return Some(At {
                value: read,
                span: value.span(),
            });
        }
        let problem = Problem::new(
            Code::WrongValue,
            format!("`{key}` of {what} must be {}", T::EXPECTED),
            format!("write it as in `{key} = {example}`"),
        );
        self.note(problem, &value.span(), kind(value.get_ref()));
        None
    }
}

/// A table whose keys are being asked for.
pub(super) struct Table<'t> {
    what: String,
    span: Span,
    entries: &'t DeTable<'t>,
    known: Vec<&'static str>,
}

impl<'t> Table<'t> {
    /// A table that messages call `what` and that begins at `span`.
    pub(super) fn new(what: impl Into<String>, span: Span, entries: &'t DeTable<'t>) -> Self {
        Self {
            what: what.into(),
            span,
            entries,
            known: Vec::new(),
        }
    }

    /// Where it begins.
    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }

    /// What messages call it.
    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// Changes what messages call it.
    pub(super) fn call(&mut self, what: String) {
        self.what = what;
    }

    /// The raw value of a key, which then counts as known.
    pub(super) fn raw(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.known.push(key);
        self.entries.get(key)
    }

    /// The value of a key that may be missing.
    pub(super) fn optional<T: Value>(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
    ) -> Option<At<T>> {
        let value = self.raw(key)?;
        reader.value(&self.what, key, value, T::EXAMPLE)
    }

    /// The value of a key that must be there.
    pub(super) fn required<T: Value>(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
    ) -> Option<At<T>> {
        self.require(reader, key, T::EXAMPLE)?;
        self.optional(reader, key)
    }

    /// Notes when a key is missing, with an example of what to write.
    pub(super) fn require(&self, reader: &mut Reader, key: &str, example: &str) -> Option<()> {
        if self.entries.contains_key(key) {
            return Some(());
        }
        let problem = Problem::new(
            Code::MissingKey,
            format!("{} has no `{key}`", self.what),
            format!("add a line such as `{key} = {example}`"),
        );
        reader.note(problem, &self.span, format!("`{key}` is missing here"));
        None
    }

    /// The values of an array of values; `None` when the key is missing or any of it is wrong.
    pub(super) fn array<T: Value>(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
    ) -> Option<At<Vec<At<T>>>> {
        let value = self.raw(key)?;
        let Some(elements) = value.get_ref().as_array() else {
            let problem = Problem::new(
                Code::WrongValue,
                format!("`{key}` of {} must be an array", self.what),
                format!("write it as in `{key} = [{}]`", T::EXAMPLE),
            );
            reader.note(problem, &value.span(), kind(value.get_ref()));
            return None;
        };
        let example = format!("[{}]", T::EXAMPLE);
        // Every element is read before the first wrong one ends it, so that all are noted.
        let read: Vec<Option<At<T>>> = elements
            .iter()
            .map(|element| reader.value(&self.what, key, element, &example))
            .collect();
        Some(At {
            value: read.into_iter().collect::<Option<_>>()?,
            span: value.span(),
        })
    }

    /// The tables under `[[path]]`, whose last part is `key`; each called "this `what`" at first.
    pub(super) fn tables(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
        path: &str,
        what: &str,
    ) -> Vec<Table<'t>> {
        let Some(value) = self.raw(key) else {
            return Vec::new();
        };
        let wrong = |value: &Spanned<DeValue<'_>>| {
            let problem = Problem::new(
                Code::WrongValue,
                format!("`{path}` must be a list of tables, one for each {what}"),
                format!("begin each {what} with a line `[[{path}]]`"),
            );
            (problem, value.span(), kind(value.get_ref()))
        };
        let Some(elements) = value.get_ref().as_array() else {
            let (problem, span, label) = wrong(value);
            reader.note(problem, &span, label);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for element in elements.iter() {
            match element.get_ref().as_table() {
                Some(entries) => {
                    tables.push(Table::new(format!("this {what}"), element.span(), entries));
                }
                None => {
                    let (problem, span, label) = wrong(element);
                    reader.note(problem, &span, label);
                }
            }
        }
        tables
    }

    /// Notes every key that nobody asked for.
    pub(super) fn finish(self, reader: &mut Reader) {
        let mut unknown: Vec<_> = self
            .entries
            .keys()
            .filter(|key| !self.known.contains(&key.get_ref().as_ref()))
            .collect();
        unknown.sort_by_key(|key| key.span().start);
        for key in unknown {
            let name = key.get_ref().as_ref();
            let problem = Problem::new(
                Code::UnknownKey,
                format!("{} has no key `{name}`", self.what),
                match closest(name, &self.known) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("remove it; known here: {}", list(&self.known)),
                },
            );
            reader.note(problem, &key.span(), "unknown");
        }
    }
}

/// What to write instead of a word that is none of the known ones.
pub(crate) fn cure_of_unknown(word: &str, known: &[&str]) -> String {
    match closest(word, known) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "remove it; there is none to name".into(),
        None => format!("name one of these: {}", list(known)),
    }
}

/// Words in alphabetic order.
fn list(words: &[&str]) -> String {
    let mut words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.sort();
    words.dedup();
    words.join(", ")
}

/// The known word that `word` is most likely a misspelling of.
pub(crate) fn closest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(word, name);
    known
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|name| likeness(name) >= 0.5)
}
