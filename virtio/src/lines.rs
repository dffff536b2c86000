//! The lines of several consoles on one, each with its console's name in front; and what is typed there, for one of
//! them.
//!
//! A line is shown as a whole, so that nothing of one console is within a line of another. What could act on a terminal
//! is left out: control characters and escape sequences, and characters that change the direction of text. So a line
//! says whose it is, whatever a console writes.

use core::fmt::{self, Write};

/// Bytes of a line, at most. What is longer is several lines.
pub const LINE_MAX: usize = 200;
/// Characters of a console's name, at most.
pub const NAME_MAX: usize = 16;

/// The name of a console: letters, digits, `-` and `_`, and a letter or a digit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'n>(&'n str);

impl<'n> Name<'n> {
    /// `None`: it is none.
    pub fn new(name: &'n str) -> Option<Self> {
        let mut bytes = name.bytes();
        let first = bytes
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        let rest = bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        (first && rest && name.len() <= NAME_MAX).then_some(Self(name))
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Where in an escape sequence (ECMA-48, section 5.3) a console's text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sequence {
    /// In none.
    #[default]
    None,
    /// Behind ESC.
    Escape,
    /// Behind the control sequence introducer.
    Control,
    /// In a control string.
    String,
}

const BELL: u8 = 0x07;
const ESCAPE: u8 = 0x1b;

/// A line of a console in the making.
#[derive(Debug)]
pub struct Line {
    bytes: [u8; LINE_MAX],
    length: usize,
    sequence: Sequence,
    /// A part of the console's line was shown, and what is here belongs to the same one.
    is_rest: bool,
    /// The last byte was the end of a line.
    is_whole: bool,
}

impl Line {
    /// An empty one.
    #[expect(clippy::new_without_default, reason = "it is for an array")]
    pub const fn new() -> Self {
        Self {
            bytes: [0; LINE_MAX],
            length: 0,
            sequence: Sequence::None,
            is_rest: false,
            is_whole: false,
        }
    }

    /// Whether nothing of it would be shown.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Adds a byte. `true`: the line is at its end, and is to be shown before the next byte.
    pub fn push(&mut self, byte: u8) -> bool {
        self.is_whole = byte == b'\n';
        if self.is_whole {
            self.sequence = Sequence::None;
            // All of it was shown.
            return !(core::mem::take(&mut self.is_rest) && self.length == 0);
        }
        let (sequence, is_text) = match (self.sequence, byte) {
            (_, ESCAPE) => (Sequence::Escape, false),
            (Sequence::None, _) => (Sequence::None, byte == b'\t' || byte >= b' '),
            (Sequence::Escape, b'[') => (Sequence::Control, false),
            (Sequence::Escape, b']' | b'P' | b'X' | b'^' | b'_') => (Sequence::String, false),
            (Sequence::Escape, b' '..=b'/') => (Sequence::Escape, false),
            (Sequence::Control, b'@'..=b'~') | (Sequence::Escape, _) | (Sequence::String, BELL) => {
                (Sequence::None, false)
            }
            (sequence, _) => (sequence, false),
        };
        self.sequence = sequence;
        if let Some(to) = self.bytes.get_mut(self.length).filter(|_| is_text) {
            *to = byte;
            self.length += 1;
        }
        self.length == LINE_MAX
    }

    /// Shows what there is as a line of the console of that name, and begins the next one. A character that is not
    /// whole at the end of a full line is part of the next.
    ///
    /// # Errors
    ///
    /// That of `to`.
    pub fn show(&mut self, name: Name<'_>, to: &mut impl Write) -> fmt::Result {
        let kept = if self.length == LINE_MAX {
            unfinished(&self.bytes)
        } else {
            0
        };
        let end = self.length - kept;
        write!(to, "{name}: ")?;
        for chunk in self.bytes[..end].utf8_chunks() {
            for char in chunk.valid().chars() {
                match char {
                    '\t' => to.write_char(' ')?,
                    _ if acts(char) => {}
                    _ => to.write_char(char)?,
                }
            }
            if !chunk.invalid().is_empty() {
                to.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        to.write_char('\n')?;
        self.bytes.copy_within(end..self.length, 0);
        self.length = kept;
        self.is_rest = !self.is_whole;
        Ok(())
    }
}

/// Bytes at the end that begin a character and do not end it: at most 3.
fn unfinished(bytes: &[u8]) -> usize {
    let count = bytes.iter().rev().take(3);
    let behind = count.take_while(|byte| **byte & 0xc0 == 0x80).count();
    let first = bytes.len().checked_sub(behind + 1);
    let needed = match first.and_then(|at| bytes.get(at)).copied() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 0,
    };
    if needed > behind + 1 { behind + 1 } else { 0 }
}

/// Whether a character acts on a terminal, or on the order in which others are shown (Unicode Standard Annex 9,
/// section 2), or on where a line ends.
fn acts(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The character that begins a command in what is typed: Ctrl-A.
pub const COMMAND: u8 = 0x01;

/// Whom what is typed is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Typing {
    console: usize,
    /// The last character was [`COMMAND`].
    is_command: bool,
}

/// What a typed character comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// The console of that number gets it.
    Byte(usize, u8),
    /// The console of that number gets what follows.
    Selected(usize),
    /// Nothing, or not yet.
    Nothing,
}

impl Typing {
    /// A character was typed, and there are so many consoles. [`COMMAND`] and a digit choose one; [`COMMAND`] twice is
    /// that character; with any other character behind it, it means nothing.
    pub fn push(&mut self, byte: u8, consoles: usize) -> Typed {
        match (core::mem::take(&mut self.is_command), byte) {
            (false, COMMAND) => self.is_command = true,
            (false, _) | (true, COMMAND) => return Typed::Byte(self.console, byte),
            (true, b'0'..=b'9') => {
                let console = usize::from(byte - b'0');
                if console < consoles {
                    self.console = console;
                    return Typed::Selected(console);
                }
            }
            (true, _) => {}
        }
        Typed::Nothing
    }
}
