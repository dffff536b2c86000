//! What the platform's devicetree says of the machine, compared with what the system needs.

use tactus_abi::blob::Blob;
use tactus_hypervisor::devicetree::{self, Token, Tokens};
use tactus_policy::table::Table;

/// What the machine lacks.
#[derive(Clone, Copy, Debug)]
pub enum Lack {
    /// No devicetree to read.
    Devicetree,
    /// A hart of this id.
    Hart(u64),
    /// An extension, on a hart.
    Extension(&'static str, u64),
    /// Memory in the range the system was built for.
    Memory,
    /// The `time` CSR runs at another rate (ticks per second).
    Timebase(u64),
}

/// What the hypervisor's code and its guests use.
const EXTENSIONS: &[&str] = &["h", "sstc", "zba", "zbb", "zbs"];

/// Checks the machine described by the devicetree at `address` against the system. Tells where harts' software
/// interrupts can be raised without the firmware, if they can: the first register of an ACLINT SSWI device.
pub fn check(address: u64, blob: &Blob) -> Result<Option<u64>, Lack> {
    let mut tree = tokens(address).ok_or(Lack::Devicetree)?;
    let mut place = Place::Elsewhere;
    let mut depth = 0;
    let mut cpu = None;
    let mut harts = 0u64;
    let mut memory = false;
    let mut sswi = None;
    let mut is_sswi = false;
    // One step for each token of the tree.
    loop {
        match tree.next().ok_or(Lack::Devicetree)? {
            Token::Begin(name) => {
                depth += 1;
                is_sswi = false;
                match (depth, place) {
                    (2, _) if is(name, b"cpus") => place = Place::Cpus,
                    (2, _) if begins(name, b"memory@") => place = Place::Memory,
                    (2, _) => place = Place::Elsewhere,
                    (3, Place::Cpus) if begins(name, b"cpu@") => cpu = Some(Cpu::default()),
                    _ => {}
                }
            }
            Token::Property(name, value) => match (depth, place, &mut cpu) {
                (2, Place::Cpus, _) if is(name, b"timebase-frequency") => {
                    let hz = number(value);
                    if hz != u64::from(blob.header.timebase_hz) {
                        return Err(Lack::Timebase(hz));
                    }
                }
                (2, Place::Memory, _) if is(name, b"reg") => memory |= covers(value, blob),
                // It comes before `reg`.
                (3, ..) if is(name, b"compatible") => {
                    is_sswi = begins(value, b"riscv,aclint-sswi");
                }
                (3, ..) if is_sswi && is(name, b"reg") => sswi = Some(number(value)),
                (3, _, Some(cpu)) if is(name, b"reg") => cpu.id = Some(number(value)),
                (3, _, Some(cpu)) if is(name, b"riscv,isa") => cpu.isa = value,
                _ => {}
            },
            Token::End => {
                if depth == 3
                    && let Some(cpu) = cpu.take()
                    && let Some(hart) = blob.harts.iter().position(|hart| cpu.id == Some(hart.id))
                {
                    cpu.check_extensions(Table::new(blob.harts)[hart].id)?;
                    harts |= 1 << hart;
                }
                depth -= 1;
            }
            Token::Finish => break,
        }
    }
    if let Some(hart) = blob.harts.get(harts.trailing_ones() as usize) {
        return Err(Lack::Hart(hart.id));
    }
    if memory { Ok(sswi) } else { Err(Lack::Memory) }
}

/// The devicetree at an address, if there is one.
fn tokens(address: u64) -> Option<Tokens<'static>> {
    let start = address as *const u8;
    // Safety: the firmware hands over the address of a devicetree; nothing writes there before the guests are loaded.
    let size = devicetree::size(unsafe { &*start.cast() })?;
    // Safety: as above, and it begins as one.
    Tokens::new(unsafe { core::slice::from_raw_parts(start, size) })
}

/// The node below the root that is being read.
#[derive(Clone, Copy)]
enum Place {
    Cpus,
    Memory,
    Elsewhere,
}

/// A hart, as its node describes it.
#[derive(Default)]
struct Cpu {
    id: Option<u64>,
    isa: &'static [u8],
}

impl Cpu {
    fn check_extensions(&self, id: u64) -> Result<(), Lack> {
        for extension in EXTENSIONS {
            if !self.has(extension.as_bytes()) {
                return Err(Lack::Extension(extension, id));
            }
        }
        Ok(())
    }

    /// Whether its ISA string, "rv64" and letters and then names each after a "_", has an extension.
    #[inline(never)]
    fn has(&self, extension: &[u8]) -> bool {
        let isa = self.isa.strip_suffix(&[0]).unwrap_or(self.isa);
        isa.split(|&byte| byte == b'_')
            .enumerate()
            .any(|(n, part)| match extension {
                [letter] => n == 0 && part.iter().skip(4).any(|other| other == letter),
                name => is(part, name),
            })
    }
}

/// Whether a memory node's `reg`, of two cells each, covers the system's memory.
fn covers(reg: &[u8], blob: &Blob) -> bool {
    let (need, size) = (blob.header.ram_base, blob.header.ram_size);
    reg.split_at_checked(8).is_some_and(|(base, length)| {
        let base = number(base);
        base <= need && need.saturating_add(size) <= base.saturating_add(number(length))
    })
}

// Compared with their lengths as variables: otherwise each comparison becomes code for just its own constant.
#[inline(never)]
fn is(name: &[u8], other: &[u8]) -> bool {
    name == other
}

#[inline(never)]
fn begins(name: &[u8], prefix: &[u8]) -> bool {
    name.get(..prefix.len())
        .is_some_and(|name| is(name, prefix))
}

/// A big-endian number of at most 8 bytes.
#[inline(never)]
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}
