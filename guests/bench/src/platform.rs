//! The costs of virtualization for a single guest: the time until it starts, and instructions for a call, a device's
//! interrupt and its timer. Runs natively too; the figures are then those of the machine and its firmware.
//!
//! All counts are of the `cycle` CSR under QEMU's `-icount shift=0` (one instruction is one virtual nanosecond), over
//! everything that runs meanwhile: guest, hypervisor and firmware. Let `a` and `b` be the two readings.
//!
//! | metric | `a` read by | `b` read by | figure |
//! |---|---|---|---|
//! | `sbi_roundtrip_instructions` | the instruction before the call's first register move | the instruction behind the `ecall` | `b - a`: the moves, the call, and one of the readings |
//! | `irq_to_guest_instructions` | the instruction before the store that makes the UART interrupt | the first instruction of the trap vector | `b - a - 1`: the store and all up to the vector |
//! | `irq_complete_instructions` | the same | the instruction behind the store that completes the interrupt | `b - a - 1`: the same, the claim, the store that silences the UART, and the completion |
//! | `timer_wakeup_instructions_max` | deadline, in ticks, times the instructions of a tick | the first instruction of the trap vector | `b - a`, with the counters' offset taken off |
//!
//! Each is the maximum of 1,000 rounds, which start at varying phases of the clock; `_min` and `_mean` accompany it.
//!
//! It sleeps before it measures and prints only afterwards. The guest owns the UART, so all text, including the
//! hypervisor's log, goes through the firmware's console, whose hundreds of instructions per byte are not preemptible.
//! No figure includes them.
//!
//! The emulator rounds a deadline: it fires up to a tick (100 instructions) late, depending on the clock's phase
//! when the deadline was written. The figures include this: `timer_wakeup_instructions_max` fully.
//!
//! It needs exclusive use of the UART at 0x1000_0000 with PLIC source 10, `virt`'s own.
#![no_std]
#![no_main]

use core::arch::naked_asm;

use tactus_guest::{
    csr, devicetree,
    plic::Plic,
    power, println, record,
    sbi_spec::base,
    start,
    stopwatch::{self, Scale, Spread},
    time, trap, uart,
};

tactus_guest::entry!(main);

/// Rounds of each measurement.
const ROUNDS: u64 = 1000;
/// Milliseconds of sleep before the first measurement.
const QUIET_MS: u64 = 10;
/// PLIC source of `virt`'s UART.
const UART_SOURCE: u32 = 10;

fn main() {
    if !time::cycles_available() {
        refuse("this guest may not read the cycle counter");
    }
    if adjacent_readings() != 1 {
        refuse("the cycle counter does not count instructions: QEMU needs -icount shift=0");
    }
    // Nothing is printed between here and the last measurement.
    stopwatch::wait_until(time::now() + time::hz() / 1000 * QUIET_MS);

    let sbi_roundtrip = measure(sbi_roundtrip);

    Plic::of_hart(start::hart()).enable(UART_SOURCE, 1);
    let mut irq_complete = Spread::new();
    let irq_to_guest = measure(|_| {
        let [to_guest, to_complete] = uart_interrupt();
        irq_complete.add(to_complete);
        to_guest
    });
    Plic::of_hart(start::hart()).disable(UART_SOURCE);

    let scale = Scale::measure();
    let timer_wakeup = measure(|round| timer_wakeup(round, &scale));

    println!(
        "bench-platform, boot arguments \"{}\"",
        devicetree::arguments()
    );
    let nanoseconds = start::boot_ticks() * (1_000_000_000 / time::hz());
    record::metric(
        "boot_to_guest_seconds",
        format_args!(
            "{}.{:09}",
            nanoseconds / 1_000_000_000,
            nanoseconds % 1_000_000_000
        ),
        "s",
    );
    report("sbi_roundtrip_instructions", "", &sbi_roundtrip);
    report("irq_to_guest_instructions", "", &irq_to_guest);
    report("irq_complete_instructions", "", &irq_complete);
    report("timer_wakeup_instructions", "_max", &timer_wakeup);
    record::pass(start::program());
}

/// Ends a run whose configuration permits no measurement.
fn refuse(reason: &str) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}

/// Runs the rounds, each at another phase of the clock.
fn measure(mut round: impl FnMut(u64) -> u64) -> Spread {
    let mut spread = Spread::new();
    for number in 0..ROUNDS {
        // 37 and the 100 instructions of a tick have no common divisor: all phases occur.
        delay(number * 37 % 100);
        spread.add(round(number));
    }
    spread
}

/// Takes about `instructions` instructions.
fn delay(instructions: u64) {
    for _ in 0..instructions / 2 {
        core::hint::spin_loop();
    }
}

/// Reports the maximum, under `name` followed by `suffix`, the minimum and the mean.
fn report(name: &str, suffix: &str, spread: &Spread) {
    let [min, mean, max] = [spread.min, spread.mean(), spread.max];
    println!("{name}: min {min} mean {mean} max {max}");
    record::metric_with_suffix(name, suffix, max, "instructions");
    record::metric_with_suffix(name, "_min", min, "instructions");
    record::metric_with_suffix(name, "_mean", mean, "instructions");
}

/// Difference of two readings of `cycle` with nothing between them; 1 where the counter counts instructions.
fn adjacent_readings() -> u64 {
    let (first, second): (u64, u64);
    // SAFETY: reads a counter twice.
    unsafe {
        core::arch::asm!(
            "csrr   {first}, cycle",
            "csrr   {second}, cycle",
            first = out(reg) first,
            second = out(reg) second,
            options(nomem, nostack),
        );
    }
    second - first
}

/// Makes one SBI call (base extension, get specification version), including register moves.
fn sbi_roundtrip(_round: u64) -> u64 {
    let (before, after, error): (u64, u64, usize);
    // SAFETY: the call preserves all registers but a0 and a1 and writes no memory.
    unsafe {
        core::arch::asm!(
            "csrr   {before}, cycle",
            "li     a7, {extension}",
            "li     a6, {function}",
            "ecall",
            "csrr   {after}, cycle",
            before = out(reg) before,
            after = out(reg) after,
            extension = const base::EID_BASE,
            function = const base::GET_SBI_SPEC_VERSION,
            out("a0") error, out("a1") _, out("a6") _, out("a7") _,
            options(nostack),
        );
    }
    assert!(error == 0, "SBI call failed: {}", error as isize);
    after - before
}

/// Readings of [`interrupt`].
#[repr(C)]
struct Seen {
    /// `cycle` before the store that makes the UART interrupt.
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

/// Makes the UART interrupt. Returns the instructions until the vector, and until the completion.
fn uart_interrupt() -> [u64; 2] {
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
        uart::Uart::CONSOLE.interrupt_enable_address(),
        Plic::of_hart(start::hart()).claim_address(),
        &mut seen,
    );
    // SAFETY: these were enabled before.
    unsafe { csr::write::<{ csr::SIE }>(enabled) };
    assert!(
        seen.cause == trap::CAUSE_INTERRUPT | 9 && seen.source == UART_SOURCE as usize,
        "expected the UART's interrupt, got {} (cause {:#x}) with source {}",
        trap::cause_name(seen.cause),
        seen.cause,
        seen.source
    );
    [
        seen.arrived - seen.before - 1,
        seen.completed - seen.before - 1,
    ]
}

/// Enables the UART's "transmitter empty" interrupt, which is due at once, and takes it with interrupts on for just
/// that.
#[unsafe(naked)]
extern "C" fn interrupt(interrupt_enable: usize, claim: usize, seen: &mut Seen) {
    naked_asm!(
        "lla    t0, 2f",
        "csrrw  t0, stvec, t0",
        "li     t1, {transmitter_empty}",
        "csrsi  sstatus, 2",
        "csrr   a3, cycle",
        "sb     t1, 0(a0)",
        "1:",
        "j      1b",
        ".balign 4",
        "2:",
        "csrr   a4, cycle",
        "lw     t1, 0(a1)",          // claim
        "sb     zero, 0(a0)",        // silences the UART
        "sw     t1, 0(a1)",          // complete
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
        transmitter_empty = const uart::IER_TRANSMITTER_EMPTY,
    )
}

/// Sleeps until a deadline. Returns the instructions from the deadline to the vector.
fn timer_wakeup(round: u64, scale: &Scale) -> u64 {
    // 20 to 40 us ahead: enough to be asleep by then under any hypervisor of interest.
    let deadline = time::now() + 200 + round * 7 % 200;
    let wakeup = stopwatch::wait_until(deadline);
    assert!(
        wakeup.is_timer(),
        "expected the timer's interrupt, got {}",
        trap::cause_name(wakeup.cause)
    );
    scale.late_by(wakeup, deadline)
}
