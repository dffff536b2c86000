//! The cost of virtualization for the interrupt of a PCI function that a guest has: an e1000e, which interrupts at a
//! store to one of its registers, as the UART of `bench-platform` does.
//!
//! Counts are those of `bench-platform`: of the `cycle` CSR under QEMU's `-icount shift=0`, over everything that runs
//! meanwhile. `irq_to_guest_instructions` is from the store that makes the function interrupt to the first instruction
//! of the trap vector, `irq_complete_instructions` until the handler has claimed it, silenced the function and
//! completed it. Each is the maximum of 1,000 rounds, which start at varying phases of the clock; `_min` and `_mean`
//! accompany it.
//!
//! Boot arguments: `slot=N` (1): where the function is; `source=N` (33): its PLIC source.
#![no_std]
#![no_main]

use core::arch::naked_asm;
use core::ptr::{read_volatile, write_volatile};

use tactus_guest::{
    abi::map, csr, devicetree, plic::Plic, power, println, record, start, stopwatch::Spread, time,
    trap,
};

tactus_guest::entry!(main);

/// Rounds of the measurement.
const ROUNDS: u64 = 1000;

/// Microseconds between interrupts: QEMU's e1000e keeps the next one back for 128, whatever its register `ITR` says.
const MODERATION_US: u64 = 200;

/// Registers of the configuration space, and in `Command` memory space.
const COMMAND: u64 = 0x04;
const FIRST_BAR: u64 = 0x10;
const MEMORY_SPACE: u16 = 2;
/// What the function says it is: vendor 8086, device 10d3.
const E1000E: u32 = 0x10d3_8086;

/// Its registers (82574 datasheet, section 10.2.4): interrupt cause set, mask set, mask clear; and a cause.
const CAUSE_SET: u64 = 0xc8;
const MASK_SET: u64 = 0xd0;
const MASK_CLEAR: u64 = 0xd8;
const CAUSE: u32 = 1 << 2;

/// Readings of [`interrupt`].
#[repr(C)]
struct Seen {
    /// `cycle` before the store that makes the function interrupt.
    before: u64,
    /// ... in the vector's first instruction.
    arrived: u64,
    /// ... when the interrupt was completed.
    completed: u64,
    /// `scause` in the vector.
    cause: usize,
    /// The PLIC's response to the claim.
    source: usize,
}

/// The function's registers, where they answer.
fn find() -> u64 {
    let space = map::PCI_ECAM_BASE + (devicetree::number("slot", 1) << 15);
    // SAFETY: the configuration space of a function that this guest has.
    unsafe {
        let identity = read_volatile(space as *const u32);
        assert!(identity == E1000E, "the slot has {identity:#x}");
        write_volatile((space + COMMAND) as *mut u16, MEMORY_SPACE);
        u64::from(read_volatile((space + FIRST_BAR) as *const u32) & !0xf)
    }
}

fn main() {
    if !time::cycles_available() {
        record::fail(
            start::program(),
            "this guest may not read the cycle counter",
        );
        power::off_failed();
    }
    let registers = find();
    let source = devicetree::number("source", 33) as u32;
    // SAFETY: registers of the function; a cause is there from now on, and masked.
    unsafe { write_volatile((registers + CAUSE_SET) as *mut u32, CAUSE) };
    Plic::of_hart(start::hart()).enable(source, 1);
    let (mut to_guest, mut to_complete) = (Spread::new(), Spread::new());
    for number in 0..ROUNDS {
        let next = time::now() + time::hz() / 1_000_000 * MODERATION_US;
        while time::now() < next {}
        // 37 and the 100 instructions of a tick have no common divisor: all phases occur.
        for _ in 0..number * 37 % 100 / 2 {
            core::hint::spin_loop();
        }
        let seen = take(registers, source);
        to_guest.add(seen.arrived - seen.before - 1);
        to_complete.add(seen.completed - seen.before - 1);
    }
    report("irq_to_guest_instructions", &to_guest);
    report("irq_complete_instructions", &to_complete);
    record::pass(start::program());
}

/// Reports the maximum, the minimum and the mean.
fn report(name: &str, spread: &Spread) {
    let [min, mean, max] = [spread.min, spread.mean(), spread.max];
    println!("{name}: min {min} mean {mean} max {max}");
    record::metric(name, max, "instructions");
    record::metric_with_suffix(name, "_min", min, "instructions");
    record::metric_with_suffix(name, "_mean", mean, "instructions");
}

/// Has the function interrupt, and takes that.
fn take(registers: u64, source: u32) -> Seen {
    let mut seen = Seen {
        before: 0,
        arrived: 0,
        completed: 0,
        cause: 0,
        source: 0,
    };
    let enabled = csr::read::<{ csr::SIE }>();
    // SAFETY: interrupts are off in `sstatus`; `interrupt` takes the external one.
    unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_EXTERNAL) };
    interrupt(
        (registers + MASK_SET) as usize,
        Plic::of_hart(start::hart()).claim_address(),
        &mut seen,
    );
    // SAFETY: these were enabled before.
    unsafe { csr::write::<{ csr::SIE }>(enabled) };
    assert!(
        seen.cause == trap::CAUSE_INTERRUPT | 9 && seen.source == source as usize,
        "expected the function's interrupt, got {} (cause {:#x}) with source {}",
        trap::cause_name(seen.cause),
        seen.cause,
        seen.source
    );
    seen
}

/// Unmasks the cause, which is there, and takes its interrupt with interrupts on for just that.
#[unsafe(naked)]
extern "C" fn interrupt(mask_set: usize, claim: usize, seen: &mut Seen) {
    naked_asm!(
        "lla    t0, 2f",
        "csrrw  t0, stvec, t0",
        "li     t3, {cause}",
        "csrsi  sstatus, 2",
        "csrr   a3, cycle",
        "sw     t3, 0(a0)",
        "1:",
        "j      1b",
        ".balign 4",
        "2:",
        "csrr   a4, cycle",
        "lw     t1, 0(a1)",             // claim
        "sw     t3, {mask_clear}(a0)",  // silences the function
        "sw     t1, 0(a1)",             // complete
        "csrr   a5, cycle",
        "csrr   t2, scause",
        "csrw   stvec, t0",
        "sd     a3, 0(a2)",
        "sd     a4, 8(a2)",
        "sd     a5, 16(a2)",
        "sd     t2, 24(a2)",
        "sd     t1, 32(a2)",
        // The trap has disabled interrupts; the handler ends without `sret`.
        "ret",
        cause = const CAUSE,
        mask_clear = const MASK_CLEAR - MASK_SET,
    )
}
