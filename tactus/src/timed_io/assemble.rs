//! From text to words.

use std::collections::BTreeMap;
use std::ops::Range;

use winnow::Parser;
use winnow::ascii::{digit1, hex_digit1};
use winnow::combinator::{alt, preceded};
use winnow::error::ContextError;
use winnow::token::{one_of, take_while};

use super::ProgramError;
use super::table::{Command, Table};

/// An assembled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Its words, from that at 0 on.
    pub words: Vec<u32>,
    /// Its labels, and the words that they stand before.
    pub labels: BTreeMap<String, u32>,
}

/// The largest line that pins can be told apart by; a VM has lines 0 to 7.
const LINE_MAX: u32 = 7;

/// A token of a line, and where it stands in the text.
#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Name(String),
    /// None where it is beyond 32 bits.
    Number(Option<u32>),
    Colon,
    Open,
    Close,
}

fn number(input: &mut &str) -> Result<Option<u32>, ContextError> {
    alt((
        preceded("0x", hex_digit1).map(|digits| u32::from_str_radix(digits, 16).ok()),
        preceded("0b", take_while(1.., ('0', '1')))
            .map(|digits| u32::from_str_radix(digits, 2).ok()),
        digit1.map(|digits: &str| digits.parse().ok()),
    ))
    .parse_next(input)
}

fn name(input: &mut &str) -> Result<String, ContextError> {
    (
        one_of(|c: char| c.is_ascii_alphabetic() || c == '_'),
        take_while(0.., |c: char| {
            c.is_ascii_alphanumeric() || c == '_' || c == '-'
        }),
    )
        .take()
        .map(String::from)
        .parse_next(input)
}

fn token(input: &mut &str) -> Result<Kind, ContextError> {
    alt((
        number.map(Kind::Number),
        name.map(Kind::Name),
        ':'.value(Kind::Colon),
        '{'.value(Kind::Open),
        '}'.value(Kind::Close),
    ))
    .parse_next(input)
}

/// The tokens of a line without its comment, which begins at byte `base` of the text.
fn tokens(line: &str, base: usize) -> Result<Vec<Token>, ProgramError> {
    let mut rest = line;
    let mut out: Vec<Token> = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let begin = line.len() - rest.len();
        let Ok(kind) = token(&mut rest) else { break };
        let end = line.len() - rest.len();
        // Two that nothing separates are one that is none.
        if let Some(before) = out.last()
            && before.span.end == base + begin
            && matches!(before.kind, Kind::Name(_) | Kind::Number(_))
            && matches!(kind, Kind::Name(_) | Kind::Number(_))
        {
            return Err(ProgramError::new(
                before.span.start..base + end,
                format!(
                    "`{}` is neither a name nor a number",
                    &line[before.span.start - base..end]
                ),
                "write numbers as 10, 0x0a or 0b1010, and names with a letter first",
            ));
        }
        out.push(Token {
            kind,
            span: base + begin..base + end,
        });
    }
    // A parser that fails may have taken some of it.
    let rest =
        line[out.last().map_or(0, |token| token.span.end - base)..].trim_start_matches([' ', '\t']);
    if let Some(strange) = rest.chars().next() {
        let at = base + line.len() - rest.len();
        return Err(ProgramError::new(
            at..at + strange.len_utf8(),
            format!("`{}` means nothing here", strange.escape_debug()),
            "a line has a label with a colon, a command with its numbers, or a comment behind `#`",
        ));
    }
    Ok(out)
}

/// A word of which a label decides.
struct Later {
    word: usize,
    label: String,
    span: Range<usize>,
}

/// A loop that is open: where its text begins, its level, its first word.
struct Open {
    span: Range<usize>,
    level: u32,
    first: u32,
}

/// Assembles the text of a program.
///
/// # Errors
/// What is wrong with the first line that cannot be assembled.
pub fn assemble(text: &str) -> Result<Program, ProgramError> {
    let mut assembler = Assembler::default();
    let mut base = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split(['#', '\n']).next().unwrap_or_default();
        let code = code.strip_suffix('\r').unwrap_or(code);
        assembler.line(&tokens(code, base)?, base..base + code.len())?;
        base += line.len();
    }
    assembler.finish()
}

#[derive(Default)]
struct Assembler {
    program: Program,
    later: Vec<Later>,
    open: Vec<Open>,
}

impl Assembler {
    fn line(&mut self, mut tokens: &[Token], line: Range<usize>) -> Result<(), ProgramError> {
        if let [
            Token {
                kind: Kind::Name(name),
                span,
            },
            Token {
                kind: Kind::Colon, ..
            },
            rest @ ..,
        ] = tokens
        {
            let here = self.here();
            if self.program.labels.insert(name.clone(), here).is_some() {
                return Err(ProgramError::new(
                    span.clone(),
                    format!("there is a label `{name}` already"),
                    "give each place a name of its own",
                ));
            }
            tokens = rest;
        }
        let Some((first, operands)) = tokens.split_first() else {
            return Ok(());
        };
        match &first.kind {
            Kind::Close => self.close(first, operands),
            Kind::Name(name) => self.command(name, first, operands, line),
            _ => Err(ProgramError::new(
                first.span.clone(),
                "a command begins with its name",
                commands(),
            )),
        }
    }

    fn here(&self) -> u32 {
        u32::try_from(self.program.words.len()).expect("no more than the memory has")
    }

    fn push(&mut self, word: u32, line: Range<usize>) -> Result<(), ProgramError> {
        let most = Table::get().program_words;
        if self.program.words.len() == most {
            return Err(ProgramError::new(
                line,
                format!("the program memory has {most} words, and this one is beyond"),
                "make the programs shorter, with loops, or store some of them later",
            ));
        }
        self.program.words.push(word);
        Ok(())
    }

    fn command(
        &mut self,
        name: &str,
        at: &Token,
        operands: &[Token],
        line: Range<usize>,
    ) -> Result<(), ProgramError> {
        let table = Table::get();
        if let (
            "loop",
            [
                count @ ..,
                Token {
                    kind: Kind::Open, ..
                },
            ],
        ) = (name, operands)
        {
            return self.open(at, count, line);
        }
        if name == "set" || name == "clear" {
            let mut mask = 0;
            if operands.is_empty() {
                return Err(wanted(at, name, "the lines that it is for", "set 0 3"));
            }
            for operand in operands {
                let wrong = || {
                    ProgramError::new(
                        operand.span.clone(),
                        "this is no line",
                        format!("a VM has lines 0 to {LINE_MAX}, written with blanks between"),
                    )
                };
                match operand.kind {
                    Kind::Number(Some(pin)) if pin <= LINE_MAX => mask |= 1 << pin,
                    _ => return Err(wrong()),
                }
            }
            let write = command_of(table, "write");
            let values = if name == "set" { mask } else { 0 };
            return self.push(write.encode(&[mask, values]), line);
        }
        let Some(command) = table.command(name) else {
            return Err(ProgramError::new(
                at.span.clone(),
                format!("there is no command `{name}`"),
                commands(),
            ));
        };
        let names: Vec<&str> = command
            .fields
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        if operands.len() != command.fields.len() {
            let what = if names.is_empty() {
                "nothing behind it".to_owned()
            } else {
                names.join(" and ")
            };
            let example = format!("{name} {}", names.join(" ").to_uppercase());
            return Err(wanted(at, name, &what, example.trim()));
        }
        let mut values = Vec::new();
        for (field, operand) in command.fields.iter().zip(operands) {
            match &operand.kind {
                Kind::Number(Some(value)) if field.has(*value) => values.push(*value),
                Kind::Name(label) if field.name == "word" => {
                    self.later.push(Later {
                        word: self.program.words.len(),
                        label: label.clone(),
                        span: operand.span.clone(),
                    });
                    values.push(field.least);
                }
                _ => {
                    return Err(ProgramError::new(
                        operand.span.clone(),
                        format!("this cannot be the {} of `{name}`", field.name),
                        format!("it is a number from {} to {}", field.least, field.most),
                    ));
                }
            }
        }
        self.push(command.encode(&values), line)
    }

    /// `loop COUNT {`.
    fn open(
        &mut self,
        at: &Token,
        count: &[Token],
        line: Range<usize>,
    ) -> Result<(), ProgramError> {
        let command = command_of(Table::get(), "loop");
        let (levels, counts) = (&command.fields[0], &command.fields[1]);
        let [
            Token {
                kind: Kind::Number(Some(rounds)),
                span,
            },
        ] = count
        else {
            return Err(wanted(at, "loop", "how many rounds", "loop 10 {"));
        };
        if !counts.has(*rounds) {
            return Err(ProgramError::new(
                span.clone(),
                "a loop cannot have so many rounds",
                format!("it has {} to {}", counts.least, counts.most),
            ));
        }
        // The inner loop has level 0, so that one within another is known when the outer is open.
        let level = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        if !levels.has(level) {
            return Err(ProgramError::new(
                at.span.clone(),
                "loops are too deep within each other",
                format!("there can be {} within each other", levels.most + 1),
            ));
        }
        self.push(command.encode(&[level, *rounds]), line)?;
        self.open.push(Open {
            span: at.span.clone(),
            level,
            first: self.here(),
        });
        Ok(())
    }

    /// `}`.
    fn close(&mut self, at: &Token, operands: &[Token]) -> Result<(), ProgramError> {
        if let Some(operand) = operands.first() {
            return Err(ProgramError::new(
                operand.span.clone(),
                "nothing comes behind `}`",
                "begin a new line",
            ));
        }
        let Some(open) = self.open.pop() else {
            return Err(ProgramError::new(
                at.span.clone(),
                "no loop is open here",
                "take the `}` away, or begin the loop with `loop COUNT {`",
            ));
        };
        if open.first as usize == Table::get().program_words {
            return self.push(0, at.span.clone());
        }
        let repeat = command_of(Table::get(), "repeat");
        self.push(repeat.encode(&[open.level, open.first]), at.span.clone())
    }

    fn finish(mut self) -> Result<Program, ProgramError> {
        if let Some(open) = self.open.last() {
            return Err(ProgramError::new(
                open.span.clone(),
                "this loop has no end",
                "end it with a line `}`",
            ));
        }
        let last = Table::get().program_words - 1;
        for later in self.later {
            let word = match self.program.labels.get(&later.label) {
                Some(&word) if word as usize <= last => word,
                Some(_) => {
                    return Err(ProgramError::new(
                        later.span,
                        format!("`{}` is behind the end of the program memory", later.label),
                        "there is no word to go to",
                    ));
                }
                None => {
                    return Err(ProgramError::new(
                        later.span,
                        format!("there is no label `{}`", later.label),
                        "write the label with a colon before the command that is meant",
                    ));
                }
            };
            let (command, mut values) = Table::get()
                .decode(self.program.words[later.word])
                .expect("encoded here");
            *values.last_mut().expect("the command has a word") = word;
            self.program.words[later.word] = command.encode(&values);
        }
        Ok(self.program)
    }
}

fn command_of(table: &'static Table, name: &str) -> &'static Command {
    table.command(name).expect("the language is built upon it")
}

fn wanted(at: &Token, name: &str, what: &str, example: &str) -> ProgramError {
    ProgramError::new(
        at.span.clone(),
        format!("`{name}` wants {what}"),
        format!("as in `{example}`"),
    )
}

fn commands() -> String {
    let names: Vec<&str> = Table::get()
        .commands
        .iter()
        .map(|command| command.name.as_str())
        .collect();
    format!("there are set, clear, {}", names.join(", "))
}
