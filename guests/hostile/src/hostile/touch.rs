//! Loads from, stores to, and jumps to every kind of address that is not this guest's. Each access ends a life: the
//! hypervisor stops the guest.

use tactus_guest::abi::map;
use tactus_guest_hostile::PAGE_SIZE;

use super::{
    arena::{self, Arena},
    probe::Level,
    progress::Progress,
};

/// Instructions that make one access through a0. The first [`COMMON`] are made at every address, all at notable ones.
const ACCESSES: [(&str, u32); 8] = [
    ("ld", 0x0005_3283),       // ld t0, 0(a0)
    ("sd", 0x0055_3023),       // sd t0, 0(a0)
    ("jump", 0x0005_0067),     // jr a0
    ("amoadd.w", 0x0055_22af), // amoadd.w t0, t0, (a0)
    ("lb", 0x0005_0283),       // lb t0, 0(a0)
    ("lr.d", 0x1005_32af),     // lr.d t0, (a0)
    ("fld", 0x0005_3007),      // fld ft0, 0(a0)
    ("fsd", 0x0005_3027),      // fsd ft0, 0(a0)
];

/// Number of [`ACCESSES`] made at every address.
const COMMON: usize = 3;

/// Index of register a0 in x1 to x31.
const A0: usize = 9;

/// Bytes of the machine's physical memory around the guest.
const HOST_MEMORY: u64 = 1 << 30;
/// Distance in bytes of the addresses tried in that memory.
const HOST_STRIDE: u64 = 32 << 20;

/// Devices of `virt` that no VM has, and edges of the guest's own areas.
const NOTABLE: [u64; 36] = [
    0,
    0x1000, // boot ROM
    map::FINISHER_BASE - 8,
    map::FINISHER_BASE + map::PAGE_SIZE, // real-time clock
    0x0200_0000,                         // CLINT: software interrupts
    0x0200_4000,                         // CLINT: timer deadlines
    0x0200_bff8,                         // CLINT: clock
    0x02f0_0000,                         // supervisor software interrupts
    0x0300_0000,                         // PCI ports
    0x0400_0000,                         // platform bus
    map::PLIC_BASE - 8,
    map::PLIC_BASE + map::PLIC_SIZE,
    0x0cff_fff8,
    0x0d00_0000, // APLIC, supervisor
    map::UART_BASE - 8,
    map::UART_BASE + map::UART_SIZE, // virtio
    0x1000_2000,
    0x1000_8000,
    0x1010_0000, // fw_cfg
    0x2000_0000, // flash
    0x2200_0000,
    0x2400_0000, // IMSIC, machine
    0x2800_0000, // IMSIC, supervisor
    map::DOORBELL_BASE - 8,
    map::CHANNEL_BASE + PAGE_SIZE as u64,
    map::CHANNEL_END - 8,
    map::CHANNEL_END, // PCI memory
    map::RAM_BASE - 8,
    map::RAM_BASE - map::PAGE_SIZE,
    0xffff_fff8,
    0x1_0000_0000,
    0x4_0000_0000, // PCI memory, high
    (1 << 39) - 8,
    (1 << 41) - 8, // the last address that Sv39x4 translates
    1 << 41,
    u64::MAX - 7,
];

/// Address number `index` after the notable ones: each power of two, the address just below, its negative, and the
/// guest's own code with that bit flipped; then the machine's memory outside the guest's.
fn address(index: u64, memory: u64) -> Option<u64> {
    const BITS: u64 = 61;
    if index < 4 * BITS {
        let bit = 1u64 << (3 + index / 4);
        return Some(match index % 4 {
            0 => bit,
            1 => bit - 8,
            2 => bit.wrapping_neg(),
            _ => map::RAW_IMAGE_BASE ^ bit,
        });
    }
    let address = map::RAM_BASE + memory + (index - 4 * BITS) * HOST_STRIDE;
    // A little beyond the machine's memory.
    (address < map::RAM_BASE + HOST_MEMORY + 2 * HOST_STRIDE).then_some(address)
}

/// The access of step number `step`: an index into [`ACCESSES`] and an address.
fn access(step: u64, memory: u64) -> Option<(usize, u64)> {
    let notable = (NOTABLE.len() * ACCESSES.len()) as u64;
    if step < notable {
        let kinds = ACCESSES.len() as u64;
        return Some(((step % kinds) as usize, NOTABLE[(step / kinds) as usize]));
    }
    let step = step - notable;
    let address = address(step / COMMON as u64, memory)?;
    Some(((step % COMMON as u64) as usize, address))
}

/// Whether the guest may access the address.
fn is_own(address: u64, memory: u64) -> bool {
    [
        (map::RAM_BASE, memory),
        (map::FINISHER_BASE, map::PAGE_SIZE),
        (map::PLIC_BASE, map::PLIC_SIZE),
        (map::UART_BASE, map::UART_SIZE),
        (map::DOORBELL_BASE, map::PAGE_SIZE),
        (map::CHANNEL_BASE, PAGE_SIZE as u64),
    ]
    .iter()
    .any(|&(base, size)| address.wrapping_sub(base) < size)
}

/// Tries each address, by every kind of access.
pub fn attack(progress: Progress, memory: u64) {
    let arena = Arena::new(arena::SMALL);
    while let Some((kind, address)) = progress.next_of(|step| access(step, memory)) {
        let (name, instruction) = ACCESSES[kind];
        if is_own(address, memory) {
            progress.through();
            continue;
        }
        let mut registers = arena.registers();
        registers[A0] = address as usize;
        let end = arena.run_to_its_end(instruction, 4, Level::Supervisor, &registers);
        // The hypervisor stops a guest for such an access. An access fault in the guest would be as good, should a
        // later version raise one.
        if !matches!(end.cause, 1 | 5 | 7) {
            progress.breach(format_args!(
                "{name} at {address:#x} was not refused: cause {:#x} pc {:#x} t0 {:#x}",
                end.cause, end.pc, end.t0
            ));
        }
        progress.trapped();
    }
}
