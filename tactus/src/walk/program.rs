//! A program as the walk sees it: its instructions, its functions, and where its jumps by tables may go.

use std::collections::{BTreeMap, BTreeSet};

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use rustc_demangle::demangle;
use tactus_board::decode::{Instruction, Operation, decode, length};

/// The crate's name in other builds of the hypervisor.
const BUILDS: [&str; 6] = [
    "tactus_hypervisor_base::",
    "tactus_hypervisor_forwarding::",
    "tactus_hypervisor_forwarding_pci::",
    "tactus_hypervisor_management::",
    "tactus_hypervisor_onchip::",
    "tactus_hypervisor_pci::",
];

/// An executable program.
#[derive(Debug, Default)]
pub struct Program {
    /// The address of the first byte of code.
    base: u64,
    code: Vec<u8>,
    /// Sections that hold constants, and what is written from the beginning: address and bytes.
    data: Vec<(u64, Vec<u8>)>,
    /// First address of each function, with its name.
    functions: BTreeMap<u64, String>,
    /// Bytes of each.
    sizes: BTreeMap<u64, u64>,
    /// Further labels in the code: those of assembly.
    labels: BTreeMap<u64, String>,
    /// Addresses of both, by name.
    names: BTreeMap<String, u64>,
    /// First addresses of jump tables.
    tables: BTreeSet<u64>,
}

impl Program {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// It is none, or has no code; says why.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let file = object::File::parse(bytes).map_err(|error| error.to_string())?;
        let text = file
            .sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .max_by_key(|section| section.size())
            .ok_or("it has no code")?;
        let code = text.data().map_err(|error| error.to_string())?.to_vec();
        let base = text.address();
        let data = file
            .sections()
            // Those that are in memory.
            .filter(|section| section.kind() != SectionKind::Text && section.address() != 0)
            .filter_map(|section| Some((section.address(), section.data().ok()?.to_vec())))
            .collect();
        let mut program = Self {
            base,
            code,
            data,
            functions: BTreeMap::new(),
            sizes: BTreeMap::new(),
            labels: BTreeMap::new(),
            names: BTreeMap::new(),
            tables: BTreeSet::new(),
        };
        for symbol in file.symbols().filter(object::Symbol::is_definition) {
            let (address, name) = (symbol.address(), symbol.name().unwrap_or_default());
            let skip = name.is_empty() || name.starts_with(['$', '.']);
            if skip || !program.holds(address) || symbol.kind() == SymbolKind::Data {
                continue;
            }
            let mut name = format!("{:#}", demangle(name));
            for build in BUILDS {
                name = name.replace(build, "tactus_hypervisor::");
            }
            program.names.insert(name.clone(), address);
            // What the linker marks is no place.
            if name.starts_with("__") {
                continue;
            }
            if symbol.size() == 0 {
                program.labels.insert(address, name);
            } else {
                program.functions.insert(address, name);
                program.sizes.insert(address, symbol.size());
            }
        }
        program.find_tables();
        Ok(program)
    }

    /// Whether the address is one of code.
    pub fn holds(&self, address: u64) -> bool {
        (self.base..self.base + self.code.len() as u64).contains(&address)
    }

    /// The instruction at an address. `None`: there is none.
    pub fn instruction(&self, address: u64) -> Option<Instruction> {
        let at = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let half = |at: usize| {
            let bytes = self.code.get(at..at + 2)?;
            Some(u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let low = half(at)?;
        let high = if length(low) == 4 { half(at + 2)? } else { 0 };
        decode(u32::from(high) << 16 | u32::from(low))
    }

    /// The function that begins at an address.
    pub fn function(&self, address: u64) -> Option<&str> {
        self.functions.get(&address).map(String::as_str)
    }

    /// The first address of a function, and the one behind it.
    pub fn range(&self, name: &str) -> Option<(u64, u64)> {
        let begin = self.address(name)?;
        Some((begin, begin + self.sizes.get(&begin)?))
    }

    /// What an address lies in: the last function or label up to it.
    pub fn place(&self, address: u64) -> &str {
        let last = |names: &BTreeMap<u64, String>| {
            let (address, _) = names.range(..=address).next_back()?;
            Some(*address)
        };
        let found = last(&self.functions).max(last(&self.labels));
        found.map_or("", |found| {
            let label = self.labels.get(&found);
            self.functions
                .get(&found)
                .or(label)
                .map_or("", String::as_str)
        })
    }

    /// The address of a function or label of that name.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    /// What a jump table at an address leads to: up to the next table, or to what is no address of code.
    pub fn table(&self, begin: u64) -> Vec<u64> {
        let mut targets = Vec::new();
        for at in (begin..).step_by(8) {
            let is_other = at != begin && self.tables.contains(&at);
            match self
                .word(at)
                .filter(|target| self.holds(*target) && !is_other)
            {
                Some(target) => targets.push(target),
                None => break,
            }
        }
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// The word of constant data at an address.
    fn word(&self, address: u64) -> Option<u64> {
        self.data.iter().find_map(|(base, bytes)| {
            let at = usize::try_from(address.checked_sub(*base)?).ok()?;
            let bytes = bytes.get(at..at.checked_add(8)?)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        })
    }

    /// Finds the jump tables: constants whose address is made by instructions.
    fn find_tables(&mut self) {
        let mut made = BTreeSet::new();
        // The last upper part that each register was given: the lower one may be added some instructions later.
        let mut upper: [Option<u64>; 32] = [None; 32];
        let mut at = self.base;
        while at < self.base + self.code.len() as u64 {
            let Some(instruction) = self.instruction(at) else {
                at += 2;
                continue;
            };
            let offset = i64::from(instruction.immediate);
            if instruction.operation == Operation::Auipc {
                upper[usize::from(instruction.rd)] = Some(at.wrapping_add_signed(offset));
            } else if instruction.operation == Operation::Addi
                && let Some(upper) = upper[usize::from(instruction.rs1)]
            {
                made.insert(upper.wrapping_add_signed(offset));
            }
            at += u64::from(instruction.length);
        }
        // A table is of addresses within functions; one of functions themselves is none to jump by.
        let is_inside = |target: u64| self.holds(target) && !self.functions.contains_key(&target);
        let tables = made.iter().copied();
        self.tables = tables
            .filter(|address| self.word(*address).is_some_and(is_inside))
            .collect();
    }
}

#[cfg(test)]
impl Program {
    /// One without code, but with functions.
    pub fn named(functions: &[(u64, &str)]) -> Self {
        let functions = functions.iter();
        Self {
            functions: functions
                .map(|(at, name)| (*at, (*name).to_owned()))
                .collect(),
            ..Self::default()
        }
    }
}
