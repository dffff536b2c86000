//! The guest's own address translation as a weapon: page tables that map, or lie in, memory that is not the guest's;
//! `satp` with garbage.

use core::arch::asm;

use tactus_guest::{abi::map, csr};

use super::{
    arena::{self, Arena},
    probe::{End, Level},
    progress::Progress,
    random::Random,
};

/// The root table, below the image, where nothing else is.
const ROOT: usize = map::RAM_BASE as usize;
/// Where the hostile mappings are: a gigabyte that the guest has nothing in.
const VICTIM: usize = 0x40 << 30;
/// Bits of a page-table entry that make it a leaf: valid, readable, writable, executable, accessed, dirty.
const LEAF: u64 = 0xcf;
/// Bit of a page-table entry that, alone, makes it point to a next table.
const TABLE: u64 = 1;
/// `satp.MODE` of Sv39.
const SV39: u64 = 8;

/// Accesses through a0.
const ACCESSES: [u32; 3] = [
    0x0005_3283, // ld t0, 0(a0)
    0x0055_3023, // sd t0, 0(a0)
    0x0005_0067, // jr a0
];
const A0: usize = 9;

/// Physical addresses that are not the guest's, by the bit: what an entry can name has 56 bits.
fn foreign(index: u64, memory: u64) -> Option<u64> {
    match index {
        // The boot ROM.
        0 => Some(0),
        1 => Some(map::RAM_BASE + memory),
        2 => Some(0x0200_0000),
        3 => Some(map::RAM_BASE - map::PAGE_SIZE),
        // A channel's memory and a device's are the guest's own, but no place for page tables: not tried.
        4.. => {
            // From 2^32 on: below there are the guest's memory and what was named above.
            let bit = 1u64 << (32 + (index - 4) / 2);
            let address = match index % 2 {
                0 => bit,
                // The guest's own, with a bit that must not be lost.
                _ => bit | map::RAM_BASE,
            };
            (bit < 1 << 56).then_some(address)
        }
    }
}

/// Tries mappings, then tables, then roots, then garbage.
pub fn attack(progress: Progress, memory: u64, garbage: u64) {
    let arena = Arena::new(arena::SMALL);
    let addresses = (0..)
        .take_while(|&index| foreign(index, memory).is_some())
        .count() as u64;
    let mappings = addresses * ACCESSES.len() as u64;
    while let Some(step) = progress.next(2 * mappings + addresses + garbage) {
        prepare();
        if step < 2 * mappings {
            let kind = if step < mappings { LEAF } else { TABLE };
            let index = step % mappings;
            let access = ACCESSES[(index % ACCESSES.len() as u64) as usize];
            let Some(address) = foreign(index / ACCESSES.len() as u64, memory) else {
                break;
            };
            // A leaf names its gigabyte; the access goes to the address in it.
            let (frame, offset) = match kind {
                LEAF => (address & !((1 << 30) - 1), address & ((1 << 30) - 1)),
                _ => (address, 0),
            };
            set_entry(VICTIM >> 30, frame >> 12 << 10 | kind);
            let mut registers = arena.registers();
            registers[A0] = VICTIM + offset as usize;
            let end = with_satp(SV39 << 60 | ROOT as u64 >> 12, || {
                arena.run_to_its_end(access, 4, Level::Supervisor, &registers)
            });
            verdict(progress, end, "an access through", frame);
        } else if step < 2 * mappings + addresses {
            let Some(address) = foreign(step - 2 * mappings, memory) else {
                break;
            };
            // The instruction behind the write is fetched through the foreign root.
            let end = with_satp(SV39 << 60 | address >> 12, || {
                arena.run(0x0000_0013, 4, Level::Supervisor, &arena.registers())
            });
            verdict(progress, end, "a root at", address);
        } else {
            let mut random = Random::new(step);
            let satp = random.next();
            if satp >> 60 == 0 {
                continue;
            }
            // A mode that does not exist leaves all as it is; one that does ends this life, by a fetch through a root
            // that is not the guest's or by a trap vector that can't be fetched.
            with_satp(satp, || ());
            progress.through();
        }
    }
}

/// The guest's own memory and devices, mapped to themselves by gigabytes.
fn prepare() {
    for index in 0..512 {
        set_entry(index, 0);
    }
    set_entry(2, (map::RAM_BASE >> 12 << 10) | LEAF);
    set_entry(0, LEAF);
}

fn set_entry(index: usize, entry: u64) {
    // SAFETY: the root table's page belongs to the guest's memory, below the image.
    unsafe { (ROOT as *mut u64).add(index).write_volatile(entry) };
}

/// Runs `body` under another `satp`.
fn with_satp<T>(satp: u64, body: impl FnOnce() -> T) -> T {
    // SAFETY: either the translation maps the program to itself, or there is no way back, which is the attack.
    // The fence before it: its own next instruction is translated by tables that were just written (privileged specification, section 12.2.1).
    unsafe {
        asm!("sfence.vma", options(nostack));
        csr::write::<{ csr::SATP }>(satp as usize);
        asm!("sfence.vma", options(nostack));
    }
    let result = body();
    // SAFETY: back to none.
    unsafe {
        csr::write::<{ csr::SATP }>(0);
        asm!("sfence.vma", options(nostack));
    }
    result
}

fn verdict(progress: Progress, end: End, what: &str, address: u64) {
    // A page fault (12, 13, 15) is the guest's own affair, an access fault (1, 5, 7) the hypervisor's word.
    if matches!(end.cause, 1 | 5 | 7 | 12 | 13 | 15) {
        progress.trapped();
    } else {
        progress.breach(format_args!(
            "{what} {address:#x} was not refused: cause {:#x} pc {:#x} t0 {:#x}",
            end.cause, end.pc, end.t0
        ));
    }
}
