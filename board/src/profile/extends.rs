//! Profiles that extend another one: `extends = "soc"` takes over all that the file itself does not state.
//!
//! Tables of both are merged key by key. Any other value of the file, arrays and arrays of tables among them, takes the
//! place of the other profile's.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::{PROFILES, ProfileError, source};

/// The key that names the other profile.
const KEY: &str = "extends";

/// The texts that a profile is made of.
#[derive(Clone, Debug)]
pub(super) struct Texts<'a> {
    /// What messages call the profile's own file.
    file: &'a str,
    text: &'a str,
    /// The other profile: its file, and its text behind as many spaces as the profile itself has bytes, so that places
    /// in the two differ.
    base: Option<(String, String)>,
}

impl<'a> Texts<'a> {
    /// Finds what the profile extends.
    pub fn new(file: &'a str, text: &'a str) -> Result<Self, ProfileError> {
        let mut texts = Self {
            file,
            text,
            base: None,
        };
        let table = texts.parse(text)?;
        let Some(value) = table.get_ref().get(KEY) else {
            return Ok(texts);
        };
        let base = value.get_ref().as_str();
        let base = base.and_then(|name| PROFILES.iter().find(|(known, _)| *known == name));
        let Some((name, base)) = base.filter(|(_, text)| !extends(text)) else {
            let names: Vec<_> = PROFILES
                .iter()
                .filter(|(_, text)| !extends(text))
                .map(|(name, _)| *name)
                .collect();
            let reason = format!("`{KEY}` must be one of {}", names.join(", "));
            return Err(texts.error(value.span(), reason));
        };
        texts.base = Some((
            format!("profiles/{name}.toml"),
            " ".repeat(text.len() + 1) + base,
        ));
        Ok(texts)
    }

    /// Reads them as one.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ProfileError> {
        let own = self.parse(self.text)?;
        let whole = match &self.base {
            None => own,
            Some((_, base)) => {
                let mut whole = self.parse(base)?;
                merge(whole.get_mut(), own.into_inner());
                whole
            }
        };
        T::deserialize(Deserializer::from(whole)).map_err(|error| self.of_toml(&error))
    }

    /// The error at a place in them.
    pub fn error(&self, span: Range<usize>, reason: String) -> ProfileError {
        let (file, text) = match &self.base {
            Some((file, base)) if span.start > self.text.len() => (file.as_str(), base.as_str()),
            _ => (self.file, self.text),
        };
        let begin = text
            .get(..span.start)
            .map_or(0, |before| before.matches('\n').count());
        ProfileError {
            file: file.to_owned(),
            line: begin + 1,
            text: source(text, begin),
            reason,
        }
    }

    fn parse<'t>(&self, text: &'t str) -> Result<Spanned<DeTable<'t>>, ProfileError> {
        DeTable::parse(text).map_err(|error| self.of_toml(&error))
    }

    fn of_toml(&self, error: &toml::de::Error) -> ProfileError {
        self.error(error.span().unwrap_or(0..0), error.message().to_owned())
    }
}

/// Whether a profile that comes with the crate extends another one.
fn extends(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(KEY))
}

/// Puts what `own` states into a table.
fn merge<'i>(table: &mut DeTable<'i>, own: DeTable<'i>) {
    for (key, value) in own {
        if key.get_ref() == KEY {
            continue;
        }
        if let DeValue::Table(_) = value.get_ref()
            && let Some(there) = table.get_mut(&key)
            && let DeValue::Table(there) = there.get_mut()
        {
            if let DeValue::Table(inner) = value.into_inner() {
                merge(there, inner);
            }
        } else {
            table.insert(key, value);
        }
    }
}

/// All that a profile says, with what it takes over from the one that it extends. Messages call it `file`.
///
/// # Errors
///
/// When it is no TOML, or extends what is no profile: where and why.
pub fn table(file: &str, text: &str) -> Result<toml::Table, ProfileError> {
    Texts::new(file, text)?.read()
}
