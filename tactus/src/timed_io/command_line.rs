//! `tactus timed-io`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use miette::{NamedSource, Report};

use super::{assemble, disassemble, read_words};
use crate::cli::{TimedIoArguments, TimedIoCommand};

/// Carries it out.
pub fn command(arguments: &TimedIoArguments) -> ExitCode {
    let (file, output, convert): (_, _, fn(&str) -> _) = match &arguments.command {
        TimedIoCommand::Assemble(files) => (&files.file, &files.output, listing),
        TimedIoCommand::Disassemble(files) => (&files.file, &files.output, text),
    };
    let input = match std::fs::read_to_string(file) {
        Ok(input) => input,
        Err(error) => return failed(file, "cannot be read", &error),
    };
    let converted = match convert(&input) {
        Ok(converted) => converted,
        Err(error) => {
            let named = NamedSource::new(file.to_string_lossy(), input);
            anstream::eprintln!("{:?}", Report::new(error).with_source_code(named));
            return ExitCode::from(1);
        }
    };
    match output {
        None => {
            anstream::print!("{converted}");
            ExitCode::SUCCESS
        }
        Some(output) => match std::fs::write(output, converted) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(output, "cannot be written", &error),
        },
    }
}

fn failed(file: &Path, what: &str, error: &std::io::Error) -> ExitCode {
    anstream::eprintln!("tactus: {} {what}: {error}", file.display());
    ExitCode::from(2)
}

/// The words, one a line, with the labels as comments.
fn listing(source: &str) -> Result<String, super::ProgramError> {
    let program = assemble(source)?;
    let mut out = String::new();
    // A label can stand behind the last word.
    for index in 0..=program.words.len() {
        for (label, &at) in &program.labels {
            if at as usize == index {
                let _ = writeln!(out, "# {label}: RUN = {at}");
            }
        }
        if let Some(word) = program.words.get(index) {
            let _ = writeln!(out, "0x{word:05x}");
        }
    }
    Ok(out)
}

fn text(source: &str) -> Result<String, super::ProgramError> {
    let words = read_words(source)?;
    Ok(disassemble(&words).expect("read_words takes commands alone"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_is_in_the_listing() {
        let listed = listing("begin: read\nend\nbehind:\n").expect("a program");
        assert_eq!(
            listed,
            "# begin: RUN = 0\n0x02000\n0x00000\n# behind: RUN = 2\n"
        );
    }
}
