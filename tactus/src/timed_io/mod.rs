//! Command programs of the fabric's timed I/O processor: assembled from text, and read back.
//!
//! What the commands are stands in one table, `fabric/test/timed_io_commands.toml`, which the tests of the RTL use too.
//! The language is described in the reference, "Timed I/O".

mod assemble;
mod command_line;
mod disassemble;
mod table;

pub use assemble::{Program, assemble};
pub use command_line::command;
pub use disassemble::{disassemble, read_words};
pub use table::{Command, Field, Table};

use miette::{Diagnostic, SourceSpan};
use thiserror::Error;

/// What is wrong with a program: where, why, and what to do about it.
#[derive(Clone, Debug, Diagnostic, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ProgramError {
    /// What is wrong.
    pub message: String,
    /// Where in the text.
    #[label("here")]
    pub span: SourceSpan,
    /// What to do about it.
    #[help]
    pub help: String,
}

impl ProgramError {
    fn new(
        span: std::ops::Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            message: message.into(),
            span: span.into(),
            help: help.into(),
        }
    }
}

#[cfg(test)]
mod tests;
