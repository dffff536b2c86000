//! Places in the software of a run: named by a symbol, found in an ELF file, and watched without disturbing anything.

use std::fmt::Write as _;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use rustc_demangle::demangle;
use tactus_board::account::Doing;
use tactus_board::privileged::Privilege;

use super::Worker;
use crate::build::Image;
use crate::config::cure_of_unknown;
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
    /// Whoever comes there.
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

    /// Where the function `[VM/]SYMBOL` begins, and its return instructions.
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
        let returns: Vec<Self> = function.returns().map(place).collect();
        if returns.is_empty() {
            let reason = format!("`{symbol}` is no function that returns");
            return Err(no_symbol(text, reason));
        }
        Ok((place(function.address), returns))
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

impl Found {
    /// Addresses of its return instructions, `jalr zero, 0(ra)` and its short form.
    fn returns(&self) -> impl Iterator<Item = u64> {
        const RETURN: u32 = 0x0000_8067;
        const SHORT: u32 = 0x8082;
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
            let address = self.address + begin as u64;
            Some((instruction == RETURN || instruction == SHORT).then_some(address))
        })
        .flatten()
    }
}

/// A symbol, by its name in the file, or by the end of its path in the program's source.
fn find_symbol(bytes: &[u8], wanted: &str) -> Result<Found, String> {
    let file = object::File::parse(bytes).map_err(|_| "the program has no symbols".to_owned())?;
    let found = |symbol: &object::Symbol<'_, '_>| Found {
        address: symbol.address(),
        code: symbol
            .section_index()
            .and_then(|index| file.section_by_index(index).ok())
            .and_then(|section| section.data_range(symbol.address(), symbol.size()).ok()?)
            .unwrap_or_default()
            .to_vec(),
    };
    let mut named: Vec<(String, Found)> = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
        let Ok(name) = symbol.name() else { continue };
        if name == wanted {
            return Ok(found(&symbol));
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
            named.push((path, found(&symbol)));
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

    /// Takes a hit, unless whoever came to the address is not whom the probe is for; tells whether it did.
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
    fn returns_are_found_at_instruction_boundaries() {
        let code = [
            0x0001_u16, 0x8082, // c.nop, c.ret
            0x8067, 0x0000, // ret
            0x0513, 0x8082, // addi a0, zero, -2040: its upper half looks like a return
            0x8082, 0x0513, // c.ret, and half an instruction
        ];
        let found = Found {
            address: 0x100,
            code: code.iter().flat_map(|half| half.to_le_bytes()).collect(),
        };
        assert_eq!(found.returns().collect::<Vec<_>>(), [0x102, 0x104, 0x10c]);
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
