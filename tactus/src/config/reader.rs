//! Reads TOML tables key by key, notes every problem and goes on, so that one run names them all.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::source::{At, Source, Span};
use super::unit::{self, Address, ColourRange, Nanoseconds, Share, Size, Station};
use crate::pci::Id;
use crate::problem::{Code, Problem};

/// A value's description in TOML, as far as its own text can be judged.
pub(super) trait Value: Sized {
    /// What is expected, with its article: "a size".
    const EXPECTED: &'static str;

    /// The value, or `None` when it is none of these.
    fn read(value: &DeValue<'_>) -> Option<Self>;

    /// The right value that a wrong one was most likely meant to be.
    fn meant(_value: &DeValue<'_>) -> Option<Meant> {
        None
    }
}

/// What a wrong value was most likely meant to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meant {
    /// The right value as it is written in TOML.
    pub(super) value: String,
    /// What was wrong, in a word: the unit "MiB" in place of "MB".
    pub(super) word: Option<&'static str>,
}

impl Meant {
    /// A value whose form alone was wrong.
    pub(super) const fn value(value: String) -> Self {
        Self { value, word: None }
    }
}

/// The known word that a string is most likely a misspelling of, quoted as a TOML string.
pub(super) fn meant_word(value: &DeValue<'_>, known: &[&str]) -> Option<Meant> {
    let word = value.as_str()?.trim().to_lowercase();
    closest(&word, known).map(|known| Meant::value(format!("\"{known}\"")))
}

/// A number that was written as a string.
fn unquoted<T: Value>(value: &DeValue<'_>) -> Option<Meant> {
    let text = value.as_str()?.trim();
    let line = format!("number = {text}");
    let table = DeTable::parse(&line).ok()?;
    let number = table.get_ref().get("number")?.get_ref();
    let is_alone = number.as_integer().is_some() && !text.contains('\n');
    T::read(number).filter(|_| is_alone)?;
    Some(Meant::value(text.to_owned()))
}

/// A whole number that is not negative.
fn integer(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

impl Value for String {
    const EXPECTED: &'static str = "a string";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_str().map(Self::from)
    }
}

impl Value for bool {
    const EXPECTED: &'static str = "`true` or `false`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_bool()
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        let number = integer(value).map(|number| number != 0);
        let word = value.as_str().map(str::to_lowercase);
        let word = match word.as_deref() {
            Some("true" | "yes" | "on") => Some(true),
            Some("false" | "no" | "off") => Some(false),
            _ => None,
        };
        number.or(word).map(|meant| Meant::value(meant.to_string()))
    }
}

impl Value for u32 {
    const EXPECTED: &'static str = "a whole number, not negative";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        integer(value)?.try_into().ok()
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        unquoted::<Self>(value)
    }
}

impl Value for Size {
    const EXPECTED: &'static str =
        "a size: a number of bytes, or a string with the unit KiB, MiB or GiB";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str() {
            Some(text) => Self::from_text(text),
            None => integer(value).map(Self),
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        unit::meant_size(value.as_str()?)
            .map(with_word)
            .or_else(|| unquoted::<Self>(value))
    }
}

impl Value for Address {
    const EXPECTED: &'static str = "an address: a whole number, usually hexadecimal";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        integer(value).map(Self)
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        unquoted::<Self>(value)
    }
}

/// A quantity with its right unit.
fn with_word((value, word): (String, &'static str)) -> Meant {
    Meant {
        value: format!("\"{value}\""),
        word: Some(word),
    }
}

impl Value for Nanoseconds {
    const EXPECTED: &'static str =
        "a time: a string with the unit s, ms, us or ns, in whole nanoseconds";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        unit::meant_time(value.as_str()?).map(with_word)
    }
}

impl Value for Station {
    const EXPECTED: &'static str =
        "an Ethernet address of one station: six bytes in hexadecimal, the first one even";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }
}

impl Value for Id {
    const EXPECTED: &'static str = "vendor and device of a PCI function: a string of two numbers of four hexadecimal digits, such as \"1af4:1042\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }
}

impl Value for ColourRange {
    const EXPECTED: &'static str =
        "colours: a string with one or a range of them, such as \"3\" or \"0-7\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        integer(value).map(|colour| Meant::value(format!("\"{colour}\"")))
    }
}

impl Value for Share {
    const EXPECTED: &'static str =
        "a share: a string with a number of percent, at most one digit after the point";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        let percent = match value.as_str() {
            Some(text) => text.trim().trim_end_matches('%').trim().parse().ok()?,
            None => integer(value)?,
        };
        let text = format!("{percent}%");
        Self::from_text(&text)?;
        Some(Meant::value(format!("\"{text}\"")))
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
    /// Keys whose values are wrong, with the start of their table.
    wrong: Vec<(usize, String)>,
}

impl Reader {
    pub(super) const fn new(source: Source) -> Self {
        Self {
            source,
            problems: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// Notes a problem at a place.
    pub(super) fn note(&mut self, problem: Problem, span: &Span, label: impl Into<String>) {
        self.problems.push(problem.at(&self.source, span, label));
    }

    /// The problems, and the keys whose values are wrong, with the start of their table.
    pub(super) fn finish(self) -> (Vec<Problem>, Vec<(usize, String)>) {
        (self.problems, self.wrong)
    }

    /// The value of `key` in the table that messages call `what`; `None`, noted with an example, when it is of another
    /// kind.
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
        // The example of an array has several elements; what was meant is one of them.
        let is_element = example.starts_with('[');
        let cure = match T::meant(value.get_ref()) {
            Some(Meant { value, word }) => {
                let word = word.map_or_else(|| format!("`{value}`"), ToOwned::to_owned);
                if is_element {
                    format!("did you mean {word}? write it as `{value}`")
                } else {
                    format!("did you mean {word}? write `{key} = {value}`")
                }
            }
            None => format!("write it as in `{key} = {example}`"),
        };
        let problem = Problem::new(
            Code::WrongValue,
            format!("{what}: `{key}` must be {}", T::EXPECTED),
            cure,
        );
        self.note(problem, &value.span(), kind(value.get_ref()));
        None
    }
}

/// A key that a table can have, and an example of its value as it is written in TOML.
pub(super) type Key = (&'static str, &'static str);

/// A table of the file, and the keys that it can have.
pub(super) struct Table<'t> {
    what: String,
    span: Span,
    entries: &'t DeTable<'t>,
    keys: &'static [Key],
    /// Keys of the file that are none of the table's, each with the one that it is most likely a misspelling of.
    misspelt: Vec<(&'t str, &'static str)>,
}

impl<'t> Table<'t> {
    /// A table with these keys, which messages call `what` and which begins at `span`.
    pub(super) fn new(
        what: impl Into<String>,
        span: Span,
        entries: &'t DeTable<'t>,
        keys: &'static [Key],
    ) -> Self {
        Self {
            what: what.into(),
            span,
            entries,
            keys,
            misspelt: misspelt(entries, keys),
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

    /// The value of a key, or of its misspelling, which [`Table::finish`] notes: what follows is judged as it was
    /// meant.
    pub(super) fn raw(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        debug_assert!(self.keys.iter().any(|(known, _)| *known == key), "{key}");
        let misspelt = self.misspelt.iter().find(|(_, meant)| *meant == key);
        let written = misspelt.map_or(key, |(written, _)| *written);
        self.entries.get(written)
    }

    /// What is written for a key, as an example.
    fn example(&self, key: &str) -> &'static str {
        let example = self.keys.iter().find(|(known, _)| *known == key);
        example.map_or("...", |(_, example)| example)
    }

    /// The value of a key that may be missing.
    pub(super) fn optional<T: Value>(&self, reader: &mut Reader, key: &str) -> Option<At<T>> {
        let value = self.raw(key)?;
        let read = reader.value(&self.what, key, value, self.example(key));
        if read.is_none() {
            reader.wrong.push((self.span.start, key.to_owned()));
        }
        read
    }

    /// The value of a key that must be there.
    pub(super) fn required<T: Value>(&self, reader: &mut Reader, key: &str) -> Option<At<T>> {
        self.require(reader, key)?;
        self.optional(reader, key)
    }

    /// Notes when a key is missing, with an example of what to write.
    pub(super) fn require(&self, reader: &mut Reader, key: &str) -> Option<()> {
        if self.raw(key).is_some() {
            return Some(());
        }
        let problem = Problem::new(
            Code::MissingKey,
            format!("{}: missing key `{key}`", self.what),
            format!("add a line such as `{key} = {}`", self.example(key)),
        );
        reader.note(problem, &self.span, format!("`{key}` is missing here"));
        None
    }

    /// The values of an array of values; `None` when the key is missing or any of it is wrong.
    pub(super) fn array<T: Value>(&self, reader: &mut Reader, key: &str) -> Option<At<Vec<At<T>>>> {
        let value = self.raw(key)?;
        let example = self.example(key);
        let Some(elements) = value.get_ref().as_array() else {
            let problem = Problem::new(
                Code::WrongValue,
                format!("{}: `{key}` must be an array", self.what),
                format!("write it as in `{key} = {example}`"),
            );
            reader.note(problem, &value.span(), kind(value.get_ref()));
            reader.wrong.push((self.span.start, key.to_owned()));
            return None;
        };
        // Every element is read before the first wrong one ends it, so that all are noted.
        let read: Vec<Option<At<T>>> = elements
            .iter()
            .map(|element| reader.value(&self.what, key, element, example))
            .collect();
        let read: Option<Vec<At<T>>> = read.into_iter().collect();
        if read.is_none() {
            reader.wrong.push((self.span.start, key.to_owned()));
        }
        Some(At {
            value: read?,
            span: value.span(),
        })
    }

    /// The tables under `[[path]]`, whose last part is `key`, with these keys; each called "this `what`" at first.
    pub(super) fn tables(
        &self,
        reader: &mut Reader,
        (key, path): (&str, &str),
        what: &str,
        keys: &'static [Key],
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
            reader.wrong.push((self.span.start, key.to_owned()));
            return Vec::new();
        };
        let mut tables = Vec::new();
        for element in elements.iter() {
            match element.get_ref().as_table() {
                Some(entries) => {
                    let what = format!("this {what}");
                    tables.push(Table::new(what, element.span(), entries, keys));
                }
                None => {
                    let (problem, span, label) = wrong(element);
                    reader.note(problem, &span, label);
                }
            }
        }
        tables
    }

    /// Notes every key that the table cannot have.
    pub(super) fn finish(self, reader: &mut Reader) {
        let known = || self.keys.iter().map(|(key, _)| *key);
        let mut unknown: Vec<_> = self.entries.keys().collect();
        unknown.retain(|key| {
            let name: &str = key.get_ref();
            !known().any(|known| known == name)
        });
        unknown.sort_by_key(|key| key.span().start);
        for key in unknown {
            let name: &str = key.get_ref();
            let meant = self.misspelt.iter().find(|(written, _)| *written == name);
            let mut message = format!("{}: unknown key `{name}`", self.what);
            let cure = if let Some((_, meant)) = meant {
                message += &format!("; did you mean `{meant}`?");
                format!("rename it to `{meant}`")
            } else if let Some(there) = closest_key(name, &known().collect::<Vec<_>>()) {
                message += &format!("; `{there}` is there already");
                "remove it".into()
            } else {
                let free = known().filter(|key| self.entries.get(*key).is_none());
                let free: Vec<&str> = free.collect();
                match free.as_slice() {
                    [] => "remove it".into(),
                    free => format!("remove it, or use one of these keys: {}", list(free)),
                }
            };
            let problem = Problem::new(Code::UnknownKey, message, cure);
            reader.note(problem, &key.span(), "unknown");
        }
    }
}

/// The keys of a file's table that it cannot have, in the order of the file, each with the one that it is most likely a
/// misspelling of: one that is not there, and no two the same.
fn misspelt<'t>(entries: &'t DeTable<'t>, keys: &'static [Key]) -> Vec<(&'t str, &'static str)> {
    let known: Vec<&'static str> = keys.iter().map(|(key, _)| *key).collect();
    let mut unknown: Vec<_> = entries
        .keys()
        .filter(|key| !keys.iter().any(|(known, _)| *known == key.get_ref()))
        .collect();
    unknown.sort_by_key(|key| key.span().start);
    let mut misspelt: Vec<(&'t str, &'static str)> = Vec::new();
    for key in unknown {
        let name: &'t str = key.get_ref();
        let is_free = |meant: &&str| {
            let mut taken = misspelt.iter();
            entries.get(*meant).is_none() && !taken.any(|(_, other)| other == meant)
        };
        if let Some(meant) = closest_key(name, &known).filter(is_free) {
            misspelt.push((name, meant));
        }
    }
    misspelt
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

/// The key that `word` is most likely a misspelling or an abbreviation of. Closer than a word has to be, as what is
/// written is then judged as that key's.
fn closest_key(word: &str, known: &[&'static str]) -> Option<&'static str> {
    let likeness = |name: &str| {
        let is_begin = word.len() >= 3 && name.starts_with(word);
        let likeness = strsim::normalized_damerau_levenshtein(word, name);
        if is_begin { 0.9 } else { likeness }
    };
    known
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|name| likeness(name) >= 0.6)
}
