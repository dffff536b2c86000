//! The functions and labels of a program, by address.

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use rustc_demangle::demangle;

/// Code further behind a symbol than this is not told by it.
const NEAR: u64 = 1 << 20;

/// The symbols of a program that code may be at, by address.
#[derive(Clone, Debug, Default)]
pub struct Symbols(Vec<(u64, String)>);

impl Symbols {
    /// Those of an ELF file; none of anything else.
    pub fn of(bytes: &[u8]) -> Self {
        let Ok(file) = object::File::parse(bytes) else {
            return Self::default();
        };
        let is_code = |symbol: &object::Symbol<'_, '_>| {
            let section = symbol.section_index();
            let section = section.and_then(|index| file.section_by_index(index).ok());
            symbol.kind() != SymbolKind::Data
                && section.is_some_and(|section| section.kind() == SectionKind::Text)
        };
        let mut symbols: Vec<(u64, String)> = file
            .symbols()
            .filter(|symbol| symbol.is_definition() && is_code(symbol))
            .filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_owned())))
            // Local labels and mapping symbols (`$x`) say less than what they are in.
            .filter(|(_, name)| !name.is_empty() && !name.starts_with(['$', '.']))
            .collect();
        // Stable: of several at one address the first is told.
        symbols.sort_by_key(|(address, _)| *address);
        symbols.dedup_by_key(|(address, _)| *address);
        Self(symbols)
    }

    /// The last symbol up to an address, with the distance from it; `None`: it is too far.
    pub fn nearest(&self, address: u64) -> Option<(u64, &str)> {
        let after = self.0.partition_point(|(symbol, _)| *symbol <= address);
        let (symbol, name) = self.0.get(after.checked_sub(1)?)?;
        let offset = address - symbol;
        (offset < NEAR).then_some((offset, name))
    }

    /// An address in words: "`loop`+0x4".
    pub fn place(&self, address: u64) -> Option<String> {
        let (offset, name) = self.nearest(address)?;
        let name = demangle(name);
        Some(match offset {
            0 => format!("`{name:#}`"),
            _ => format!("`{name:#}`+{offset:#x}"),
        })
    }
}
