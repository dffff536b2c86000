//! Writes garbage to every register of every virtual device, in every width, alignment and kind of access.

use tactus_guest::{abi::map, plic::Plic, println, start};

use super::{
    arena::{self, Arena},
    probe::Level,
    progress::Progress,
    random::Random,
};

/// Loads, stores, atomics and floating point through a0, with a1 as datum.
const ACCESSES: [(u32, bool); 22] = [
    (0x0005_0283, false), // lb   t0, 0(a0)
    (0x0005_1283, false), // lh
    (0x0005_2283, false), // lw
    (0x0005_3283, false), // ld
    (0x0005_4283, false), // lbu
    (0x0005_5283, false), // lhu
    (0x0005_6283, false), // lwu
    (0x00b5_0023, true),  // sb   a1, 0(a0)
    (0x00b5_1023, true),  // sh
    (0x00b5_2023, true),  // sw
    (0x00b5_3023, true),  // sd
    (0x00b5_22af, true),  // amoadd.w  t0, a1, (a0)
    (0x08b5_32af, true),  // amoswap.d t0, a1, (a0)
    (0x1005_22af, false), // lr.w t0, (a0)
    (0x18b5_22af, true),  // sc.w t0, a1, (a0)
    (0x0005_2007, false), // flw  ft0, 0(a0)
    (0x0005_3007, false), // fld  ft0, 0(a0)
    (0x0005_2027, true),  // fsw  ft0, 0(a0)
    (0x0005_3027, true),  // fsd  ft0, 0(a0)
    (0x0000_4100, false), // c.lw s0, 0(a0)
    (0x0000_c10c, true),  // c.sw a1, 0(a0)
    (0x0005_3003, false), // ld   zero, 0(a0)
];
const A0: usize = 9;
const A1: usize = 10;

/// Devices: base and size.
const DEVICES: [(u64, u64); 4] = [
    (map::UART_BASE, map::UART_SIZE),
    (map::DOORBELL_BASE, map::PAGE_SIZE),
    (map::PLIC_BASE, map::PLIC_SIZE),
    (map::FINISHER_BASE, map::PAGE_SIZE),
];

/// Values that are written.
const DATA: [usize; 5] = [0, usize::MAX, 0xa5a5_a5a5_a5a5_a5a5, 1, 0x8000_0000];

/// Offset of step `n` in a device of `size` bytes: the first registers with each alignment, then the first and last
/// entries of a PLIC's tables, the end of the device and beyond, then random offsets.
fn offset(n: u64, size: u64, random: &mut Random) -> u64 {
    const EDGES: [u64; 19] = [
        0x17c, 0x180, 0xffc, 0x1000, 0x1008, 0x100c, 0x1080, 0x1ffc, 0x2000, 0x2080, 0x2088,
        0x208c, 0x2100, 0x1f_fffc, 0x20_0000, 0x20_1000, 0x20_1004, 0x20_1008, 0x20_2004,
    ];
    match n {
        0..40 => n,
        40..78 => EDGES[(n - 40) as usize / 2].wrapping_add(n % 2) % size,
        // Accesses that cross the end of the device, or start just before it.
        78..86 => size - 1 - (n - 78),
        86..94 => (n - 85).wrapping_neg(),
        _ => random.next() % size,
    }
}

/// Whether the access is a valid request to power off or restart the guest.
fn finishes(address: u64, datum: usize) -> bool {
    (map::FINISHER_BASE..map::FINISHER_BASE + map::PAGE_SIZE).contains(&address)
        && matches!(datum as u16, 0x3333 | 0x5555 | 0x7777)
}

/// Makes all accesses, `offsets` (94 at least) to each device.
pub fn attack(progress: Progress, offsets: u64) {
    touch(progress, &DEVICES, offsets, 1, |_, _| true);
    still_works();
}

/// Makes all accesses, at `offsets` places of each of these devices, `rounds` times; `wanted` decides by a step and its
/// address whether the access is made.
pub fn touch(
    progress: Progress,
    devices: &[(u64, u64)],
    offsets: u64,
    rounds: u64,
    wanted: impl Fn(u64, u64) -> bool,
) {
    let arena = Arena::new(arena::SMALL);
    let accesses = ACCESSES.len() as u64;
    let all = devices.len() as u64 * offsets * accesses;
    while let Some(step) = progress.next(rounds * all) {
        let mut random = Random::new(step);
        let (instruction, stores) = ACCESSES[(step % accesses) as usize];
        let (base, size) = devices[(step % all / accesses / offsets) as usize];
        let address = base.wrapping_add(offset(step / accesses % offsets, size, &mut random));
        let datum = if stores { random.choose(&DATA) } else { 0 };
        if finishes(address, datum) || !wanted(step, address) {
            continue;
        }
        let mut registers = arena.registers();
        registers[A0] = address as usize;
        registers[A1] = datum;
        let length = if instruction & 3 == 3 { 4 } else { 2 };
        let end = arena.run(instruction, length, Level::Supervisor, &registers);
        // The registers may hold anything; the access either succeeds or raises an exception.
        if arena.went_through(end, length) {
            progress.through();
        } else if matches!(end.cause, 2 | 4..=7) {
            progress.trapped();
        } else if !end.interrupted() {
            progress.breach(format_args!(
                "{instruction:#x} at {address:#x} ended in cause {:#x} at {:#x}",
                end.cause, end.pc
            ));
        }
    }
}

/// The controller still works after the attack: a doorbell without a channel raises no interrupt, and claims are in
/// range.
fn still_works() {
    let plic = Plic::of_hart(start::hart());
    for _ in 0..map::PLIC_SOURCES {
        match plic.claim() {
            None => break,
            Some(source) => {
                assert!(source < map::PLIC_SOURCES, "claimed source {source}");
                plic.complete(source);
            }
        }
    }
    println!("the devices still answer");
}
