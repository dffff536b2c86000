//! The table of the commands.

use std::sync::LazyLock;

use serde::Deserialize;

/// What a program can be made of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Bits of a word.
    pub word_bits: u32,
    /// Words that a VM's program memory has.
    pub program_words: usize,
    /// The commands.
    #[serde(rename = "command")]
    pub commands: Vec<Command>,
}

/// One command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Its name in programs.
    pub name: String,
    /// Its word, with all fields 0.
    pub bits: u32,
    /// Its fields, in the order in which they are written.
    pub fields: Vec<Field>,
    /// What it does.
    pub what: String,
}

/// A field of a command's word.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its lowest bit.
    pub low: u32,
    /// How many bits it has.
    pub width: u32,
    /// The least value.
    pub least: u32,
    /// The largest value.
    pub most: u32,
    /// How much less than the value the word has.
    pub less: u32,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../fabric/test/timed_io_commands.toml"))
        .expect("the table is part of this program, and its test reads it")
});

impl Table {
    /// The table of this version.
    pub fn get() -> &'static Self {
        &TABLE
    }

    /// The command of that name.
    pub fn command(&self, name: &str) -> Option<&Command> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// The command that a word is, and the values of its fields; `None` for a word that the processor refuses.
    pub fn decode(&self, word: u32) -> Option<(&Command, Vec<u32>)> {
        self.commands.iter().find_map(|command| {
            let covered: u32 = command.fields.iter().map(Field::mask).sum();
            if word & !covered != command.bits {
                return None;
            }
            let values: Vec<u32> = command
                .fields
                .iter()
                .map(|field| ((word & field.mask()) >> field.low) + field.less)
                .collect();
            let fit = command
                .fields
                .iter()
                .zip(&values)
                .all(|(field, &value)| field.has(value));
            fit.then_some((command, values))
        })
    }
}

impl Command {
    /// The word with these values of the fields; each lies within its field's bounds.
    pub fn encode(&self, values: &[u32]) -> u32 {
        self.fields
            .iter()
            .zip(values)
            .fold(self.bits, |word, (field, value)| {
                word | (value - field.less) << field.low
            })
    }
}

impl Field {
    /// Its bits in the word.
    const fn mask(&self) -> u32 {
        ((1 << self.width) - 1) << self.low
    }

    /// Whether it can have this value.
    pub const fn has(&self, value: u32) -> bool {
        self.least <= value && value <= self.most
    }
}
