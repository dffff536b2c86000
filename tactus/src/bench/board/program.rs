//! Sets the parameters of a program like `bench/board/mix` in its file, so that every machine runs the same bytes.

use object::{Object, ObjectSegment, ObjectSymbol};

/// The symbol at which the program keeps its parameters.
const SYMBOL: &str = "board_mix_parameters";

/// The program's file with these parameters.
///
/// # Errors
/// It is not such a program; says why.
pub fn with_parameters(file: &[u8], rounds: u64, harts: u32) -> Result<Vec<u8>, String> {
    let parsed = object::File::parse(file).map_err(|error| error.to_string())?;
    let symbol = parsed
        .symbols()
        .find(|symbol| symbol.name() == Ok(SYMBOL))
        .ok_or_else(|| format!("has no symbol `{SYMBOL}`"))?;
    let mut value = rounds.to_le_bytes().to_vec();
    value.extend(u64::from(harts).to_le_bytes());
    let place = parsed
        .segments()
        .find_map(|segment| {
            let offset = symbol.address().checked_sub(segment.address())?;
            let (start, size) = segment.file_range();
            let within = offset.checked_add(value.len() as u64)? <= size;
            within.then_some((start + offset) as usize)
        })
        .ok_or_else(|| format!("has no bytes for `{SYMBOL}`"))?;
    let mut bytes = file.to_vec();
    bytes
        .get_mut(place..place + value.len())
        .ok_or("is cut off")?
        .copy_from_slice(&value);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ElfFile, elf_file};

    fn file(symbol: &str, at: u64) -> Vec<u8> {
        const BASE: u64 = 0x8000_0000;
        elf_file(&ElfFile {
            segments: vec![(BASE, BASE, vec![0xaa; 32], 64)],
            symbols: vec![(symbol.into(), BASE + at)],
            ..ElfFile::default()
        })
    }

    #[test]
    fn only_the_parameters_change() {
        let before = file(SYMBOL, 8);
        let after = with_parameters(&before, 0x0102, 4).expect("it has parameters");
        let changed: Vec<u8> = before
            .iter()
            .zip(&after)
            .filter(|(before, after)| before != after)
            .map(|(_, after)| *after)
            .collect();
        assert_eq!(changed, [2, 1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn what_has_no_parameters_is_refused() {
        assert!(
            with_parameters(&file("other", 8), 1, 1)
                .expect_err("a refusal")
                .contains("no symbol")
        );
        assert!(
            with_parameters(&file(SYMBOL, 20), 1, 1)
                .expect_err("a refusal")
                .contains("no bytes")
        );
        assert!(with_parameters(b"text", 1, 1).is_err());
    }
}
