//! What a VM has written to its console.

use core::fmt;

use crate::request::number;
use crate::{Encoded, base64};

/// Most bytes of a text.
pub const TEXT_MAX: usize = 64;

/// A line with a part of a console: `text POSITION BYTES`, the bytes in base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Which byte of all that the VM has written the first one is.
    pub position: u64,
    bytes: [u8; TEXT_MAX],
    length: usize,
}

impl Text {
    /// The first [`TEXT_MAX`] of these bytes.
    pub fn new(position: u64, bytes: &[u8]) -> Self {
        let length = bytes.len().min(TEXT_MAX);
        let mut own = [0; TEXT_MAX];
        own[..length].copy_from_slice(&bytes[..length]);
        Self {
            position,
            bytes: own,
            length,
        }
    }

    /// Reads a line, without its end and its tag. `None`: it is none.
    pub fn parse(line: &str) -> Option<Self> {
        let (position, text) = line.strip_prefix("text ")?.split_once(' ')?;
        let position = number(position)?;
        let mut bytes = [0; TEXT_MAX];
        let length = base64::decode(text, &mut bytes)?;
        Some(Self {
            position,
            bytes,
            length,
        })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "text {} {}", self.position, Encoded(self.bytes()))
    }
}
