//! Factors: what a sweep varies, and the levels that each takes.

use serde::Deserialize;
use toml::{Spanned, Value};
use toml_edit::{InlineTable, Item};

use super::description::{Invalid, Reader};
use super::settings::NAMES;
use crate::config::{Place, cure_of_unknown};

/// Levels that a factor has at most.
const LEVELS_MAX: usize = 100_000;
/// What stands for the value in a `format`.
const HOLE: &str = "{}";

/// What a factor changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Values at these places of the system's description, all the same.
    System(Vec<Place>),
    /// The same of the board's profile.
    Profile(Vec<Place>),
    /// An option of the run, by its name.
    Option(&'static str),
}

/// A level of a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The value that results show.
    pub shown: Value,
    /// The value that is put there.
    pub put: Value,
}

/// A factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// What its column is called.
    pub name: String,
    /// What it changes.
    pub target: Target,
    /// Its levels, at least one.
    pub levels: Vec<Level>,
}

/// A factor as the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    name: Option<Spanned<String>>,
    place: Option<Spanned<Places>>,
    #[serde(rename = "in")]
    of: Option<Spanned<String>>,
    option: Option<Spanned<String>>,
    values: Option<Spanned<Vec<Value>>>,
    range: Option<Spanned<Range>>,
    format: Option<Spanned<String>>,
}

/// One place, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Places {
    One(String),
    Several(Vec<String>),
}

/// Figures at the same distance, or the same ratio; both ends are among them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: Value,
    to: Value,
    step: Option<Value>,
    times: Option<Value>,
}

impl Raw {
    /// The factor.
    ///
    /// # Errors
    /// Something is missing, there twice, or means nothing.
    pub fn read(self, reader: &Reader, span: &std::ops::Range<usize>) -> Result<Factor, Invalid> {
        let (named, target) = match (&self.place, &self.option) {
            (Some(places), None) => self.places(reader, places)?,
            (None, Some(option)) => {
                if let Some(of) = &self.of {
                    let help = "remove it, or name a `place` in place of the `option`";
                    return Err(reader.at(&of.span(), "`in` is for a `place`", help));
                }
                let name = option.get_ref();
                let known = NAMES.iter().find(|known| *known == name);
                let known = known.ok_or_else(|| {
                    let message = format!("a run has no option `{name}`");
                    reader.at(&option.span(), message, cure_of_unknown(name, &NAMES))
                })?;
                ((*known).to_owned(), Target::Option(known))
            }
            _ => {
                let help = "say `place = \"vm.first.memory\"`, or `option = \"seed\"`";
                let message = "a factor has either a `place` or an `option`";
                return Err(reader.at(span, message, help));
            }
        };
        let name = self
            .name
            .as_ref()
            .map_or(named, |name| name.get_ref().clone());
        if name.is_empty() {
            let help = "name the factor's column";
            return Err(reader.at(span, "`name` is empty", help));
        }
        Ok(Factor {
            name,
            target,
            levels: self.levels(reader, span)?,
        })
    }

    fn places(
        &self,
        reader: &Reader,
        places: &Spanned<Places>,
    ) -> Result<(String, Target), Invalid> {
        let texts = match places.get_ref() {
            Places::One(text) => std::slice::from_ref(text),
            Places::Several(texts) => texts,
        };
        let read: Result<Vec<Place>, _> = texts.iter().map(|text| text.parse()).collect();
        let read = read.ok().filter(|places| !places.is_empty());
        let read = read.ok_or_else(|| {
            let help =
                "write one such as `vm.first.memory` or `vm.0.vcpu.1.budget`, or a list of them";
            reader.at(&places.span(), "that is no place", help)
        })?;
        let name = texts.first().cloned().unwrap_or_default();
        match self
            .of
            .as_ref()
            .map(|of| (of.get_ref().as_str(), of.span()))
        {
            None | Some(("system", _)) => Ok((name, Target::System(read))),
            Some(("profile", _)) => Ok((name, Target::Profile(read))),
            Some((other, span)) => {
                let message = format!("places are in the system or the profile, not in `{other}`");
                Err(reader.at(
                    &span,
                    message,
                    "say `in = \"system\"` or `in = \"profile\"`",
                ))
            }
        }
    }

    fn levels(
        &self,
        reader: &Reader,
        span: &std::ops::Range<usize>,
    ) -> Result<Vec<Level>, Invalid> {
        let (values, span) = match (&self.values, &self.range) {
            (Some(values), None) => (values.get_ref().clone(), values.span()),
            (None, Some(range)) => {
                let values = range.get_ref().values();
                let values =
                    values.map_err(|(message, help)| reader.at(&range.span(), message, help))?;
                (values, range.span())
            }
            _ => {
                let help = "say `values = [1, 2]`, or `range = { from = 1, to = 9, step = 2 }`";
                let message = "a factor has either `values` or a `range`";
                return Err(reader.at(span, message, help));
            }
        };
        if values.is_empty() {
            return Err(reader.at(&span, "a factor has at least one level", "add one"));
        }
        if values.len() > LEVELS_MAX {
            let message = format!("a factor has {LEVELS_MAX} levels at most");
            return Err(reader.at(&span, message, "make it shorter"));
        }
        let twice = (1..values.len()).find(|index| values[..*index].contains(&values[*index]));
        if let Some(twice) = twice.filter(|_| values.len() < 1000) {
            let message = format!("the level {} is there twice", shown(&values[twice]));
            let help = "remove one; `replicates` repeats runs";
            return Err(reader.at(&span, message, help));
        }
        let Some(format) = &self.format else {
            let plain = |value: Value| Level {
                shown: value.clone(),
                put: value,
            };
            return Ok(values.into_iter().map(plain).collect());
        };
        let text = format.get_ref();
        if !text.contains(HOLE) {
            let message = "`format` has no `{}` for the value to go to";
            let help = "write it such as `format = \"{}ms\"`";
            return Err(reader.at(&format.span(), message, help));
        }
        let formatted = |value: Value| {
            let word = match &value {
                Value::String(word) => word.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                Value::Boolean(flag) => flag.to_string(),
                _ => {
                    let message = "`format` is for numbers, texts and flags";
                    return Err(reader.at(&span, message, "leave `format` out"));
                }
            };
            Ok(Level {
                put: Value::String(text.replace(HOLE, &word)),
                shown: value,
            })
        };
        values.into_iter().map(formatted).collect()
    }
}

/// What is wrong, and what to do about it.
type Wrong = (&'static str, &'static str);

impl Range {
    fn values(&self) -> Result<Vec<Value>, Wrong> {
        const KINDS: Wrong = (
            "a range is of numbers",
            "write units into `format`, such as `format = \"{}ms\"`",
        );
        const ENDLESS: Wrong = (
            "the range never comes from `from` to `to`",
            "make `step` positive or `times` more than 1, and `from` at most `to`",
        );
        let (by, multiplies) = match (&self.step, &self.times) {
            (Some(step), None) => (step, false),
            (None, Some(times)) => (times, true),
            (None, None) => (&Value::Integer(1), false),
            _ => return Err(("a range has either a `step` or `times`", "remove one")),
        };
        let whole = [&self.from, &self.to, by].map(Value::as_integer);
        let mut values = Vec::new();
        if let [Some(from), Some(to), Some(by)] = whole {
            let grows = if multiplies {
                by > 1 && from > 0
            } else {
                by > 0
            };
            if !grows || from > to {
                return Err(ENDLESS);
            }
            let mut next = Some(from);
            while let Some(value) = next.filter(|value| *value <= to)
                && values.len() <= LEVELS_MAX
            {
                values.push(Value::Integer(value));
                next = if multiplies {
                    value.checked_mul(by)
                } else {
                    value.checked_add(by)
                };
            }
            return Ok(values);
        }
        let figure = |value: &Value| match value {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        };
        let figures = [&self.from, &self.to, by].map(figure);
        let [Some(from), Some(to), Some(by)] = figures else {
            return Err(KINDS);
        };
        let grows = if multiplies {
            by > 1.0 && from > 0.0
        } else {
            by > 0.0
        };
        if !grows || !from.is_finite() || !to.is_finite() || !by.is_finite() || from > to {
            return Err(ENDLESS);
        }
        // Each is made of the first, so that errors do not add up; the last may be past the end by as little.
        let end = to + (to - from).abs().max(from.abs()) * 1e-9;
        let mut value = from;
        while value <= end && values.len() <= LEVELS_MAX {
            values.push(Value::Float(tidy(value)));
            let count = values.len() as f64;
            value = if multiplies {
                from * by.powf(count)
            } else {
                from + count * by
            };
        }
        Ok(values)
    }
}

/// A figure without the digits that only come of calculating.
fn tidy(value: f64) -> f64 {
    format!("{value:.12e}").parse().unwrap_or(value)
}

/// A value as a description has it.
pub fn item(value: &Value) -> Item {
    if let Value::Table(table) = value {
        return Item::Table(
            table
                .iter()
                .map(|(key, value)| (key, item(value)))
                .collect(),
        );
    }
    Item::Value(plain(value))
}

fn plain(value: &Value) -> toml_edit::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        Value::Datetime(time) => time.to_string().into(),
        Value::Array(values) => values
            .iter()
            .map(plain)
            .collect::<toml_edit::Array>()
            .into(),
        Value::Table(table) => table
            .iter()
            .map(|(key, value)| (key.as_str(), plain(value)))
            .collect::<InlineTable>()
            .into(),
    }
}

/// A value as a table of results shows it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => plain(other).to_string().trim().to_owned(),
    }
}
