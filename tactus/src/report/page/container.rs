//! The file that a page is made of: a JSON text and the sequences of numbers that it refers to, compressed.
//!
//! ```text
//! gzip( "tactus page 1\n"  length of the JSON (u32, little-endian)  JSON  sequences )
//! ```
//!
//! A sequence is `{"at", "length", "count"}`: where it begins behind the JSON, its bytes, and how many numbers it has.
//! Its numbers are unsigned, seven bits a byte, the lowest first (LEB128).

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};

use super::super::Error;

/// What the content begins with: name and version.
const MAGIC: &[u8] = b"tactus page 1\n";
/// Most bytes of a file's content: some times what the bounds of a run come to.
const CONTENT_MAX: u64 = 512 << 20;

/// Sequences of numbers and texts that a JSON text refers to.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences(Vec<u8>);

impl Sequences {
    /// Takes a sequence; gives how the JSON refers to it.
    pub(super) fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) -> Value {
        let at = self.0.len();
        let mut count = 0_u64;
        for mut number in numbers {
            count += 1;
            while number >= 0x80 {
                self.0.push(number as u8 | 0x80);
                number >>= 7;
            }
            self.0.push(number as u8);
        }
        json!({ "at": at, "length": self.0.len() - at, "count": count })
    }

    /// Takes a sequence of rising numbers, as the differences from one to the next. One that is less than the one
    /// before it counts as equal to that.
    pub(super) fn rising(&mut self, numbers: impl IntoIterator<Item = u64>) -> Value {
        let mut last = 0;
        self.numbers(numbers.into_iter().map(move |number| {
            let step = number.saturating_sub(last);
            last += step;
            step
        }))
    }

    /// Takes texts without line feeds; they are separated by one.
    pub(super) fn texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Value {
        let at = self.0.len();
        let mut count = 0_u64;
        for text in texts {
            if count > 0 {
                self.0.push(b'\n');
            }
            count += 1;
            self.0.extend_from_slice(text.as_bytes());
        }
        json!({ "at": at, "length": self.0.len() - at, "count": count })
    }
}

/// The file of a page, in memory.
#[derive(Clone, Debug)]
pub struct Container(Vec<u8>);

impl Container {
    /// Of a JSON text and its sequences.
    pub(super) fn new(json: &Value, sequences: &Sequences) -> Self {
        let json = json.to_string();
        let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
        // Memory takes all that is written.
        let _ = encoder.write_all(MAGIC);
        let _ = encoder.write_all(&(json.len() as u32).to_le_bytes());
        let _ = encoder.write_all(json.as_bytes());
        let _ = encoder.write_all(&sequences.0);
        Self(encoder.finish().unwrap_or_default())
    }

    /// Reads it.
    ///
    /// # Errors
    /// The file cannot be read, or is none of this version.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|error| Error::Read {
            path: path.display().to_string(),
            error,
        })?;
        let container = Self(bytes);
        container.json().map_err(|reason| Error::Damaged {
            path: path.display().to_string(),
            reason,
        })?;
        Ok(container)
    }

    /// Writes it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        super::super::write_file(path, &self.0)
    }

    /// Its bytes, compressed.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its JSON.
    ///
    /// # Errors
    /// It is damaged, or of another version; says which.
    pub fn json(&self) -> Result<Value, String> {
        let mut content = Vec::new();
        GzDecoder::new(&self.0[..])
            .take(CONTENT_MAX)
            .read_to_end(&mut content)
            .map_err(|error| format!("it is damaged: {error}"))?;
        let other = "it is no page's data, or of another version of tactus";
        let rest = content.strip_prefix(MAGIC).ok_or(other)?;
        let cut = "it is damaged: its end is missing";
        let (length, rest) = rest.split_first_chunk().ok_or(cut)?;
        let length = u32::from_le_bytes(*length) as usize;
        let json = rest.get(..length).ok_or(cut)?;
        serde_json::from_slice(json).map_err(|error| format!("it is damaged: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("page.data");
        let mut sequences = Sequences::default();
        let numbers = sequences.numbers([1, 300]);
        assert_eq!(numbers, json!({ "at": 0, "length": 3, "count": 2 }));
        let rising = sequences.rising([10, 12, 11, 15]);
        assert_eq!(rising, json!({ "at": 3, "length": 4, "count": 4 }));
        assert_eq!(sequences.0[3..], [10, 2, 0, 3]);
        let texts = sequences.texts(["a", "", "b"]);
        assert_eq!(texts["count"], 3);
        assert_eq!(sequences.0[7..], *b"a\n\nb");
        let json = json!({ "kind": "run" });
        let container = Container::new(&json, &sequences);
        container.write(&path).expect("it can be written");
        let read = Container::read(&path).expect("it can be read");
        assert_eq!(read.json(), Ok(json));
    }

    #[test]
    fn what_is_no_page_is_refused_with_a_reason() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("page.data");
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("it can be written");
            Container::read(&path).expect_err("it is none").to_string()
        };
        assert!(refused(b"<html>").contains("it is damaged"));
        let mut other = GzBuilder::new().write(Vec::new(), Compression::fast());
        other.write_all(b"tactus page 0\n").expect("memory");
        let other = other.finish().expect("memory");
        assert!(refused(&other).contains("another version of tactus"));
        let whole = Container::new(&json!({}), &Sequences::default());
        assert!(refused(&whole.bytes()[..whole.bytes().len() / 2]).contains("it is damaged"));
    }
}
