//! Places in the software of a run: named by a symbol, found in an ELF file, and watched without disturbing anything.

use std::fmt::Write as _;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use rustc_demangle::demangle;
use tactus_board::account::Doing;
use tactus_board::privileged::Privilege;

use super::Worker;
use crate::config::cure_of_unknown;
use crate::image::Image;
use crate::report::samples::Series;
use crate::report::unit::Unit;

/// Argument registers, a0 to a7.
pub const ARGUMENTS: usize = 8;
/// Hits kept in full; all are counted.
pub const HITS_MAX: usize = 1 << 20;
/// Symbols that a message names.
const NAMED_MAX: usize = 5;

/// Whose code a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Any worker.
    Anybody,
    /// The hypervisor's.
    Hypervisor,
    /// A VM's, by its index in the system.
    Vm(usize),
}

/// A place in the software.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What the user calls it.
    pub name: String,
    /// Its virtual address.
    pub address: u64,
    /// Whose it is: guests and the hypervisor are at the same addresses.
    pub owner: Owner,
}

/// A place that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Where.
    pub place: Place,
    /// How many argument registers are shown.
    pub arguments: usize,
}

/// Why a place cannot be found.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("`{text}` is no place in this system: {reason}")]
#[diagnostic(help("{help}"))]
pub struct NoPlace {
    text: String,
    reason: String,
    help: String,
}

impl Place {
    /// Whether a hart that does this is at the place when it is at its address.
    pub fn holds(&self, doing: Doing) -> bool {
        match (self.owner, doing) {
            (Owner::Anybody, _) => true,
            (
                Owner::Hypervisor,
                Doing::Running {
                    guest: None,
                    privilege,
                },
            ) => privilege != Privilege::Machine,
            (Owner::Vm(vm), doing) => Worker::of(doing, vm + 1) == Worker::Vm(vm),
            _ => false,
        }
    }

    /// Finds `[VM/]SYMBOL[+OFFSET]` or a plain address, `0x` and digits, of which the VM may be named as well.
    ///
    /// # Errors
    /// There is no such place; says why.
    pub fn find(text: &str, image: &Image) -> Result<Self, NoPlace> {
        let (vm, symbol) = split(text, image)?;
        if let Some(address) = number(symbol) {
            let owner = vm.map_or(Owner::Anybody, Owner::Vm);
            return Ok(Self {
                name: text.to_owned(),
                address,
                owner,
            });
        }
        let (symbol, offset) = match symbol
            .rsplit_once('+')
            .map(|(symbol, offset)| (symbol, number(offset)))
        {
            Some((symbol, Some(offset))) => (symbol, offset),
            _ => (symbol, 0),
        };
        let (owner, program) = program(text, vm, image)?;
        let function = find_symbol(&program, symbol).map_err(|reason| no_symbol(text, reason))?;
        Ok(Self {
            name: text.to_owned(),
            address: function.address.wrapping_add(offset),
            owner,
        })
    }

    /// Where the function `[VM/]SYMBOL` begins, and its return instructions, those of functions that it jumps to at its
    /// end included.
    ///
    /// # Errors
    /// There is no such function, or it has none; says why.
    pub fn of_function(text: &str, image: &Image) -> Result<(Self, Vec<Self>), NoPlace> {
        let (vm, symbol) = split(text, image)?;
        let (owner, program) = program(text, vm, image)?;
        let place = |address| Self {
            name: text.to_owned(),
            address,
            owner,
        };
        let function = find_symbol(&program, symbol).map_err(|reason| no_symbol(text, reason))?;
        let begin = place(function.address);
        let returns: Vec<Self> = returns(&program, function).into_iter().map(place).collect();
        if returns.is_empty() {
            let reason = format!("`{symbol}` is no function that returns");
            return Err(no_symbol(text, reason));
        }
        Ok((begin, returns))
    }
}

/// Takes `[VM/]SYMBOL` apart.
fn split<'t>(text: &'t str, image: &Image) -> Result<(Option<usize>, &'t str), NoPlace> {
    let Some((name, symbol)) = text.split_once('/') else {
        return Ok((None, text));
    };
    match image.vms.iter().position(|vm| vm == name) {
        Some(vm) => Ok((Some(vm), symbol)),
        None => {
            let known: Vec<&str> = image.vms.iter().map(String::as_str).collect();
            Err(NoPlace {
                text: text.to_owned(),
                reason: format!("there is no VM \"{name}\""),
                help: cure_of_unknown(name, &known),
            })
        }
    }
}

/// The program of a VM, or the hypervisor's, with whose it is.
fn program(text: &str, vm: Option<usize>, image: &Image) -> Result<(Owner, Vec<u8>), NoPlace> {
    let (owner, path) = match vm {
        None => (Owner::Hypervisor, Some(image.hypervisor.as_path())),
        Some(vm) => (
            Owner::Vm(vm),
            image.guests.get(vm).and_then(Option::as_deref),
        ),
    };
    let path = path.ok_or_else(|| no_symbol(text, "its image is not known".to_owned()))?;
    let bytes = std::fs::read(path)
        .map_err(|error| no_symbol(text, format!("{} cannot be read: {error}", path.display())))?;
    Ok((owner, bytes))
}

fn no_symbol(text: &str, reason: String) -> NoPlace {
    NoPlace {
        text: text.to_owned(),
        reason,
        help: "symbols without a VM are the hypervisor's; VM/SYMBOL is a guest's; an address is 0x and digits"
            .to_owned(),
    }
}

impl Probe {
    /// Finds `PLACE[:N]`, N being how many argument registers are shown.
    ///
    /// # Errors
    /// There is no such place, or N is not 0 to 8.
    pub fn find(text: &str, image: &Image) -> Result<Self, NoPlace> {
        // Paths in a program have double colons.
        let split = text
            .rsplit_once(':')
            .filter(|(place, _)| !place.ends_with(':'));
        let Some((place, count)) = split else {
            return Ok(Self {
                place: Place::find(text, image)?,
                arguments: 0,
            });
        };
        let arguments = count
            .parse()
            .ok()
            .filter(|count| *count <= ARGUMENTS)
            .ok_or_else(|| NoPlace {
                text: text.to_owned(),
                reason: format!("`{count}` is not a number of argument registers"),
                help: format!("say how many are to be shown, from a0 on: 0 to {ARGUMENTS}"),
            })?;
        Ok(Self {
            place: Place::find(place, image)?,
            arguments,
        })
    }
}

fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// A symbol of a program.
#[derive(Clone, Debug)]
struct Found {
    address: u64,
    /// What the file has from its address on, as far as the symbol goes.
    code: Vec<u8>,
}

/// Where a function may be left for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// A return instruction at this address.
    Return(u64),
    /// A jump to this address, of another function, which returns in its place.
    Tail(u64),
}

impl Found {
    /// Its instructions with their addresses, short ones in the lower half of the word; up to the first that is not
    /// whole.
    fn instructions(&self) -> impl Iterator<Item = (u64, u32)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let half = |at: usize| {
                let bytes = self.code.get(at..at + 2)?;
                Some(u32::from(u16::from_le_bytes([bytes[0], bytes[1]])))
            };
            let begin = at;
            let low = half(begin)?;
            // Instructions of two bytes are those whose lowest two bits are not both set.
            let (instruction, size) = if low & 3 == 3 {
                (half(begin + 2)? << 16 | low, 4)
            } else {
                (low, 2)
            };
            at += size;
            Some((self.address + begin as u64, instruction))
        })
    }

    /// Where it may be left, but for jumps by tables.
    fn exits(&self) -> Vec<Exit> {
        /// `jalr zero, 0(ra)` and its short form.
        const RETURN: u32 = 0x0000_8067;
        const SHORT_RETURN: u32 = 0x8082;
        let end = self.address + self.code.len() as u64;
        let mut exits = Vec::new();
        // Register and value of an `auipc` just before.
        let mut upper: Option<(u32, u64)> = None;
        for (address, instruction) in self.instructions() {
            let before = upper.take();
            let register = |from: u32| instruction >> from & 31;
            let relative = |offset: i32| address.wrapping_add_signed(offset.into());
            let target = match instruction {
                RETURN | SHORT_RETURN => {
                    exits.push(Exit::Return(address));
                    None
                }
                // `auipc`
                _ if instruction & 0x7f == 0x17 => {
                    let offset = (instruction & 0xffff_f000).cast_signed();
                    upper = Some((register(7), relative(offset)));
                    None
                }
                // `jalr zero`
                _ if instruction & 0x7fff == 0x67 => before
                    .filter(|(held, _)| *held == register(15))
                    .map(|(_, value)| {
                        let offset = instruction.cast_signed() >> 20;
                        value.wrapping_add_signed(offset.into())
                    }),
                // `jal zero`
                _ if instruction & 0xfff == 0x6f => Some(relative(jal_offset(instruction))),
                // `c.j`
                _ if instruction >> 16 == 0 && instruction & 0xe003 == 0xa001 => {
                    Some(relative(short_jump_offset(instruction)))
                }
                _ => None,
            };
            if let Some(target) = target.filter(|target| !(self.address..end).contains(target)) {
                exits.push(Exit::Tail(target));
            }
        }
        exits
    }
}

/// Immediate of a J-type instruction (RISC-V unprivileged specification, "Immediate Encoding Variants").
const fn jal_offset(instruction: u32) -> i32 {
    let sign = (instruction.cast_signed() >> 31) << 20;
    let middle = instruction & 0xf_f000 | (instruction >> 9 & 0x800) | (instruction >> 20 & 0x7fe);
    sign | middle.cast_signed()
}

/// Immediate of a CJ-type instruction (the same, "Compressed Instruction Formats"): bits 11, 4, 9:8, 10, 6, 7, 3:1, 5
/// of it.
fn short_jump_offset(instruction: u32) -> i32 {
    let bit = |from: u32, to: u32| (instruction >> from & 1) << to;
    let value = bit(11, 4)
        | bit(10, 9)
        | bit(9, 8)
        | bit(8, 10)
        | bit(7, 6)
        | bit(6, 7)
        | bit(5, 3)
        | bit(4, 2)
        | bit(3, 1)
        | bit(2, 5);
    value.cast_signed() - (bit(12, 11).cast_signed())
}

/// Functions that one may be left to, one after the other, at most.
const TAILS_MAX: usize = 32;

/// Addresses of the return instructions of a function, and of those that it leaves to.
fn returns(bytes: &[u8], function: Found) -> Vec<u64> {
    let mut functions = vec![function];
    let mut returns = Vec::new();
    let mut next = 0;
    while let Some(function) = functions.get(next).filter(|_| next < TAILS_MAX) {
        next += 1;
        for exit in function.exits() {
            match exit {
                Exit::Return(address) => returns.push(address),
                Exit::Tail(target) => {
                    let known = functions.iter().any(|known| known.address == target);
                    if let Some(function) = function_at(bytes, target).filter(|_| !known) {
                        functions.push(function);
                    }
                }
            }
        }
    }
    returns
}

/// The function that begins at this address.
fn function_at(bytes: &[u8], address: u64) -> Option<Found> {
    let file = object::File::parse(bytes).ok()?;
    let symbol = file.symbols().find(|symbol| {
        symbol.is_definition() && symbol.kind() == SymbolKind::Text && symbol.address() == address
    })?;
    Some(found(&file, &symbol))
}

fn found(file: &object::File<'_>, symbol: &object::Symbol<'_, '_>) -> Found {
    let code = symbol
        .section_index()
        .and_then(|index| file.section_by_index(index).ok())
        .and_then(|section| section.data_range(symbol.address(), symbol.size()).ok()?);
    Found {
        address: symbol.address(),
        code: code.unwrap_or_default().to_vec(),
    }
}

/// A symbol, by its name in the file, or by the end of its path in the program's source.
fn find_symbol(bytes: &[u8], wanted: &str) -> Result<Found, String> {
    let file = object::File::parse(bytes).map_err(|_| "the program has no symbols".to_owned())?;
    let mut named: Vec<(String, Found)> = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
        let Ok(name) = symbol.name() else { continue };
        if name == wanted {
            return Ok(found(&file, &symbol));
        }
        if symbol.kind() != SymbolKind::Text {
            continue;
        }
        let path = format!("{:#}", demangle(name));
        let is_it = path
            .strip_suffix(wanted)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with("::"));
        if is_it
            && !named
                .iter()
                .any(|(_, known)| known.address == symbol.address())
        {
            named.push((path, found(&file, &symbol)));
        }
    }
    match named.len() {
        0 => Err(format!("the program has no symbol `{wanted}`")),
        1 => Ok(named.remove(0).1),
        _ => {
            let names: Vec<&str> = named
                .iter()
                .take(NAMED_MAX)
                .map(|(name, _)| name.as_str())
                .collect();
            Err(format!(
                "several symbols are called so: {}",
                names.join(", ")
            ))
        }
    }
}

/// A hart came to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The probe's index.
    pub probe: usize,
    /// The hart's cycle.
    pub cycle: u64,
    /// The hart.
    pub hart: u16,
    /// a0 to a7.
    pub arguments: [u64; ARGUMENTS],
}

/// What probes saw.
#[derive(Clone, Debug)]
pub struct Hits {
    /// The probes.
    pub probes: Vec<Probe>,
    /// How often each was come to.
    pub counts: Vec<u64>,
    /// The first [`HITS_MAX`] hits, in their order.
    pub kept: Vec<Hit>,
    /// For each probe but the first: cycles since the same hart came to the probe before it.
    pub intervals: Vec<Option<Series>>,
    /// For each probe, when each hart came to it last, unless it has been counted.
    last: Vec<Vec<Option<u64>>>,
}

impl Hits {
    /// None yet.
    pub fn new(probes: &[Probe]) -> Self {
        Self {
            probes: probes.to_vec(),
            counts: vec![0; probes.len()],
            kept: Vec::new(),
            intervals: probes.iter().map(|_| Series::new(Unit::Cycles)).collect(),
            last: vec![Vec::new(); probes.len()],
        }
    }

    /// Has one more probe watched, behind all others.
    pub fn add(&mut self, probe: Probe) {
        self.probes.push(probe);
        self.counts.push(0);
        self.intervals.push(Series::new(Unit::Cycles));
        self.last.push(Vec::new());
    }

    /// Takes a hit, unless the worker at the address is not the probe's; tells whether it did.
    pub fn take(
        &mut self,
        probe: u32,
        cycle: u64,
        hart: u16,
        on: Doing,
        arguments: [u64; ARGUMENTS],
    ) -> bool {
        let index = probe as usize;
        if !self
            .probes
            .get(index)
            .is_some_and(|probe| probe.place.holds(on))
        {
            return false;
        }
        self.counts[index] += 1;
        if let Some(before) = index.checked_sub(1)
            && let Some(begin) = self.last[before]
                .get_mut(usize::from(hart))
                .and_then(Option::take)
            && let Some(series) = &mut self.intervals[index]
        {
            series.record(cycle.saturating_sub(begin));
        }
        let last = &mut self.last[index];
        if last.len() <= usize::from(hart) {
            last.resize(usize::from(hart) + 1, None);
        }
        last[usize::from(hart)] = Some(cycle);
        if self.kept.len() < HITS_MAX {
            self.kept.push(Hit {
                probe: index,
                cycle,
                hart,
                arguments,
            });
        }
        true
    }

    /// The hits as comma-separated values, with a head.
    pub fn csv(&self) -> String {
        let shown = self
            .probes
            .iter()
            .map(|probe| probe.arguments)
            .max()
            .unwrap_or(0);
        let mut text = "cycle,hart,probe".to_owned();
        for argument in 0..shown {
            let _ = write!(text, ",a{argument}");
        }
        text.push('\n');
        for hit in &self.kept {
            let probe = &self.probes[hit.probe];
            let _ = write!(text, "{},{},{}", hit.cycle, hit.hart, probe.place.name);
            for argument in 0..shown {
                text.push(',');
                if argument < probe.arguments {
                    let _ = write!(text, "{:#x}", hit.arguments[argument]);
                }
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYPERVISOR: Doing = Doing::Running {
        guest: None,
        privilege: Privilege::Supervisor,
    };

    fn probe(name: &str, owner: Owner, arguments: usize) -> Probe {
        Probe {
            place: Place {
                name: name.to_owned(),
                address: 0x8020_0000,
                owner,
            },
            arguments,
        }
    }

    #[test]
    fn the_same_address_is_told_apart_by_who_is_there() {
        let guest = |vmid| Doing::Running {
            guest: Some(vmid),
            privilege: Privilege::User,
        };
        let place = |owner| probe("p", owner, 0).place;
        assert!(place(Owner::Anybody).holds(guest(9)));
        assert!(place(Owner::Hypervisor).holds(HYPERVISOR));
        assert!(!place(Owner::Hypervisor).holds(guest(1)));
        assert!(!place(Owner::Hypervisor).holds(Doing::Running {
            guest: None,
            privilege: Privilege::Machine
        }));
        assert!(place(Owner::Vm(1)).holds(guest(2)));
        assert!(!place(Owner::Vm(1)).holds(guest(1)));
        assert!(!place(Owner::Vm(0)).holds(HYPERVISOR));
    }

    #[test]
    fn exits_are_found_at_instruction_boundaries() {
        let code: [u16; 14] = [
            0x0001, 0x8082, // c.nop, c.ret
            0x8067, 0x0000, // ret
            0x0513, 0x8082, // addi a0, zero, -2040: its upper half looks like a return
            0xa001, // c.j to itself
            0xbfcd, // c.j 14 back, to the start
            0xa317, 0xffff, // auipc t1, 0xffffa
            0x0067, 0x62a3, // jalr zero, 1578(t1)
            0xf06f, 0xfe5f, // j 28 back: before the function
        ];
        let found = Found {
            address: 0x8020_0000,
            code: code.iter().flat_map(|half| half.to_le_bytes()).collect(),
        };
        assert_eq!(
            found.exits(),
            [
                Exit::Return(0x8020_0002),
                Exit::Return(0x8020_0004),
                Exit::Tail(0x801f_a63a),
                Exit::Tail(0x801f_fffc),
            ]
        );
    }

    #[test]
    fn hits_are_counted_timed_and_written() {
        let mut hits = Hits::new(&[
            probe("enter", Owner::Hypervisor, 2),
            probe("leave", Owner::Vm(0), 0),
        ]);
        let guest = Doing::Running {
            guest: Some(1),
            privilege: Privilege::Supervisor,
        };
        let arguments = [7, 8, 0, 0, 0, 0, 0, 0];
        assert!(hits.take(0, 100, 1, HYPERVISOR, arguments));
        assert!(!hits.take(1, 110, 1, HYPERVISOR, arguments));
        // Another hart's is no answer to the first's.
        assert!(hits.take(1, 120, 0, guest, arguments));
        assert!(hits.take(1, 130, 1, guest, arguments));
        assert!(hits.take(1, 140, 1, guest, arguments));
        assert_eq!(hits.counts, [1, 3]);
        let interval = hits.intervals[1]
            .as_ref()
            .map(|series| (series.samples(), series.extremes()));
        assert_eq!(interval, Some((1, Some((30, 30)))));
        assert_eq!(
            hits.csv(),
            "cycle,hart,probe,a0,a1\n100,1,enter,0x7,0x8\n120,0,leave,,\n130,1,leave,,\n140,1,leave,,\n"
        );
    }
}
