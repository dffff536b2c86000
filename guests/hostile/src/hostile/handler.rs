//! Trap handlers that fault themselves, and jumps to addresses without code.

use core::arch::{asm, naked_asm};

use tactus_guest::{abi::map, csr, start, time, trap};

use super::{
    arena::{self, Arena},
    probe::{self, Level},
    progress::Progress,
    random::Random,
};

/// Ways to fault in the guest's own handler; each ends a life.
const WAYS: u64 = 10;

/// Tries each way `lives` times, in as many lives.
pub fn attack(progress: Progress, memory: u64, lives: u64) {
    if let Some(step) = progress.next(WAYS * lives) {
        fault(step % WAYS, memory);
        progress.breach(format_args!(
            "way {} to fault in the handler went on",
            step % WAYS
        ));
    }
}

/// Faults for ever, in the given way. Returns only if the hypervisor fails to stop the guest.
pub fn fault(way: u64, memory: u64) {
    let unmapped = (map::RAM_BASE + memory) as usize;
    match way {
        // The vector is at an unmapped address.
        0 => trap_to(unmapped),
        // The vector is an illegal instruction.
        1 => trap_to(code(0)),
        // The handler pushes a frame and faults again, until the stack overflows, and beyond.
        2 => trap_to(push as *const () as usize),
        // The vector is a device, or a channel's memory.
        3 => trap_to(map::UART_BASE as usize),
        4 => trap_to(map::CHANNEL_BASE as usize),
        // The vector traps by a breakpoint, or by a load from an unmapped address.
        5 => trap_to(code(0x0010_0073)),
        6 => trap_to(load_unmapped as *const () as usize),
        // Translation that maps nothing: neither the vector nor the vector of its fault can be fetched.
        7 => {
            let root = (map::RAM_BASE as usize) >> 12;
            // SAFETY: the program does not continue.
            unsafe {
                core::ptr::write_bytes(map::RAM_BASE as *mut u8, 0, map::PAGE_SIZE as usize);
                csr::write::<{ csr::SATP }>(8 << 60 | root);
                asm!("sfence.vma", options(nostack));
            }
        }
        // The vector is an instruction that only a hypervisor may execute: `csrr zero, hstatus`.
        8 => trap_to(code(0x6000_2073)),
        // As the second way, by an interrupt, which no instruction causes.
        _ => {
            time::set_deadline(0);
            // SAFETY: the program does not continue.
            unsafe {
                csr::write::<{ csr::STVEC }>(code(0));
                csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER);
                asm!("csrsi sstatus, 2", options(nostack));
            }
        }
    }
}

/// Stores an instruction behind the program, and returns its address.
fn code(instruction: u32) -> usize {
    let address = start::image_end();
    // SAFETY: free memory behind the image.
    unsafe {
        (address as *mut u32).write_volatile(instruction);
        asm!("fence.i", options(nostack));
    }
    address
}

/// Sets the trap vector and traps.
fn trap_to(vector: usize) {
    // SAFETY: the program does not continue.
    unsafe {
        csr::write::<{ csr::STVEC }>(vector);
        asm!("unimp", options(nostack));
    }
}

/// A handler that recurses until its stack pointer leaves the memory, in steps of 64 KiB downwards.
#[unsafe(naked)]
extern "C" fn push() {
    naked_asm!(
        ".balign 4",
        "lui    t0, 0x10",
        "sub    sp, sp, t0",
        "sd     t0, 0(sp)",
        "unimp",
    )
}

/// A handler that loads from address 0.
#[unsafe(naked)]
extern "C" fn load_unmapped() {
    naked_asm!(".balign 4", "ld zero, 0(zero)", "unimp")
}

/// Jumps to data of every kind that the guest has. Executable data raise an exception in the guest; a jump to any other
/// data ends the guest's life.
pub fn jump(progress: Progress, memory: u64, randoms: u64) {
    const DEVICES: [u64; 6] = [
        map::FINISHER_BASE,
        map::PLIC_BASE,
        map::PLIC_BASE + 0x20_1004,
        map::UART_BASE,
        map::DOORBELL_BASE,
        map::CHANNEL_BASE,
    ];
    // The arena's breakpoints end code that falls through. Random words may corrupt this guest's memory. A livelock
    // or a fault then follows, and the restart repairs the memory.
    let arena = Arena::new(arena::SMALL);
    while let Some(step) = progress.next(DEVICES.len() as u64 + 3 + randoms) {
        let mut random = Random::new(step);
        let target = match step {
            0..6 => DEVICES[step as usize] as usize,
            // The devicetree, zeros, the last bytes of memory.
            6 => (map::RAM_BASE + memory - map::DEVICETREE_SIZE) as usize,
            7 => map::RAM_BASE as usize,
            8 => (map::RAM_BASE + memory - 4) as usize,
            _ => {
                let data = start::image_end();
                for word in 0..64 {
                    // SAFETY: free memory behind the image.
                    unsafe {
                        (data as *mut u64).add(word).write_volatile(random.next());
                    }
                }
                // SAFETY: makes the stores visible to instruction fetch.
                unsafe { asm!("fence.i", options(nostack)) };
                data + 2 * (random.next() % 64) as usize
            }
        };
        // SAFETY: see above: the program may break, which the next life repairs.
        let end = unsafe { probe::run(target, Level::User, &arena.registers()) };
        if step < DEVICES.len() as u64 && !matches!(end.cause, 1 | 12) {
            progress.breach(format_args!(
                "a device's registers at {target:#x} could be executed: {} at {:#x}",
                trap::cause_name(end.cause),
                end.pc
            ));
        }
        progress.trapped();
    }
}
