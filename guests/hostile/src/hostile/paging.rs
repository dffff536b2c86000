//! Attacks through the guest's own address translation: page tables that map, or are in, memory of others, and
//! garbage in `satp`.

use core::arch::asm;

use tactus_guest::{abi::map, csr};

use super::{
    arena::{self, Arena},
    probe::{End, Level},
    progress::Progress,
    random::Random,
};

/// The root table, below the image, in otherwise unused memory.
const ROOT: usize = map::RAM_BASE as usize;
/// Address of the hostile mappings: a gigabyte that the guest does not use.
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

/// Physical addresses that are not the guest's, one per bit: an entry can name 56 bits.
fn foreign(index: u64, memory: u64) -> Option<u64> {
    match index {
        // The boot ROM.
        0 => Some(0),
        1 => Some(map::RAM_BASE + memory),
        2 => Some(0x0200_0000),
        3 => Some(map::RAM_BASE - map::PAGE_SIZE),
        // A channel's memory and a device's are the guest's own, but unfit for page tables: not tried.
        4.. => {
            // From 2^32 on: below are the guest's memory and the addresses above.
            let bit = 1u64 << (32 + (index - 4) / 2);
            let address = match index % 2 {
                0 => bit,
                // An address of the guest with an extra bit that must not be ignored.
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
            // A leaf maps the gigabyte; the access uses the offset in it.
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
            // The instruction after the write is fetched through the foreign root.
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
            // An unsupported mode leaves `satp` unchanged. A supported one ends this life, by a fetch through a foreign
            // root or by a trap vector that cannot be fetched.
            with_satp(satp, || ());
            progress.through();
        }
    }
}

/// Maps the guest's own memory and devices to themselves, by gigabytes.
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
    // SAFETY: either the translation maps the program to itself, or the program cannot continue, as intended.
    // The fence makes the new tables valid for the next instruction (privileged specification, section 12.2.1).
    unsafe {
        asm!("sfence.vma", options(nostack));
        csr::write::<{ csr::SATP }>(satp as usize);
        asm!("sfence.vma", options(nostack));
    }
    let result = body();
    // SAFETY: disables the translation.
    unsafe {
        csr::write::<{ csr::SATP }>(0);
        asm!("sfence.vma", options(nostack));
    }
    result
}

fn verdict(progress: Progress, end: End, what: &str, address: u64) {
    // A page fault (12, 13, 15) comes from the guest's tables, an access fault (1, 5, 7) from the hypervisor.
    if matches!(end.cause, 1 | 5 | 7 | 12 | 13 | 15) {
        progress.trapped();
    } else {
        progress.breach(format_args!(
            "{what} {address:#x} was not refused: cause {:#x} pc {:#x} t0 {:#x}",
            end.cause, end.pc, end.t0
        ));
    }
}
