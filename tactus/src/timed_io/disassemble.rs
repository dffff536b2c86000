//! From words to text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ProgramError;
use super::table::Table;

/// The text of a program: assembled again, it gives the same words.
///
/// # Errors
/// The index of the first word that is no command, or lies beyond the program memory.
pub fn disassemble(words: &[u32]) -> Result<String, usize> {
    let table = Table::get();
    let decoded = words
        .iter()
        .enumerate()
        .map(|(index, &word)| {
            table
                .decode(word)
                .filter(|_| index < table.program_words)
                .ok_or(index)
        })
        .collect::<Result<Vec<_>, _>>()?;
    // What is gone back to, as far as it lies in the program.
    let targets: BTreeSet<u32> = decoded
        .iter()
        .filter(|(command, _)| command.name == "repeat")
        .filter_map(|(_, values)| values.last().copied())
        .filter(|&word| (word as usize) < words.len())
        .collect();
    let mut text = String::new();
    for (index, (command, values)) in decoded.into_iter().enumerate() {
        if u32::try_from(index).is_ok_and(|index| targets.contains(&index)) {
            let _ = writeln!(text, "word_{index}:");
        }
        let _ = write!(text, "    {}", command.name);
        for (field, value) in command.fields.iter().zip(values) {
            let _ = match field.name.as_str() {
                "mask" | "values" => write!(text, " 0b{value:08b}"),
                "word" if targets.contains(&value) => write!(text, " word_{value}"),
                _ => write!(text, " {value}"),
            };
        }
        text.push('\n');
    }
    Ok(text)
}

/// The words of a file as `assemble` writes it: one a line, in hexadecimal with `0x`; what is behind `#` is a comment.
///
/// # Errors
/// The first line that is no word.
pub fn read_words(text: &str) -> Result<Vec<u32>, ProgramError> {
    let mut words = Vec::new();
    let mut base = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        let word = code.trim();
        if !word.is_empty() {
            let begin = base + code.find(word).unwrap_or_default();
            let span = begin..begin + word.len();
            let value = word
                .strip_prefix("0x")
                .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                .ok_or_else(|| {
                    ProgramError::new(
                        span.clone(),
                        "this is no word",
                        "write one word a line, in hexadecimal, as 0x10101",
                    )
                })?;
            let table = Table::get();
            if table.decode(value).is_none() {
                return Err(ProgramError::new(
                    span,
                    "this word is no command, and the processor refuses it",
                    "the reference has all commands",
                ));
            }
            if words.len() == table.program_words {
                return Err(ProgramError::new(
                    span,
                    format!(
                        "the program memory has {} words, and this one is beyond",
                        table.program_words
                    ),
                    "take words away",
                ));
            }
            words.push(value);
        }
        base += line.len();
    }
    Ok(words)
}
