//! A real-time guest that sleeps while another one runs: measures the time from its timer's deadline until it runs.
//!
//! `vm_switch_instructions` is the maximum of 1,000 rounds (`rounds=` in the boot arguments) of the time from the
//! deadline, in ticks times the instructions of a tick, to the first instruction of the timer interrupt's vector;
//! `_min` and `_mean` accompany it. It holds for any work of the hypervisor for the other guest at the deadline.
//! The figures include the emulator's rounding of deadlines (see `platform.rs`).
#![no_std]
#![no_main]

use tactus_guest::{
    devicetree, power, println, record, start,
    stopwatch::{self, Scale, Spread},
    time, trap,
};

tactus_guest::entry!(main);

fn main() {
    let rounds = devicetree::number("rounds", 1000);
    let scale = Scale::measure();
    let mut spread = Spread::new();
    let mut floating = 1.0f64;
    for round in 0..rounds {
        // From 100 to 202.3 us ahead, in steps that meet every phase of any loop of the other guest.
        let deadline = time::now() + 1000 + round * 617 % 1024;
        let wakeup = stopwatch::wait_until(deadline);
        assert!(
            wakeup.is_timer(),
            "expected the timer's interrupt, got {}",
            trap::cause_name(wakeup.cause)
        );
        spread.add(scale.late_by(wakeup, deadline));
        // In every other round the floating-point unit changes its owner.
        if round % 2 == 0 {
            floating = core::hint::black_box(floating * 1.000_001 + 0.5);
        }
    }
    // 0.5 added in every other round, each time scaled by a millionth more: any other value means that the other
    // guest's registers leaked.
    let additions = rounds.div_ceil(2);
    let least = 1.0 + 0.5 * additions as f64;
    if floating < least || floating > least * 1.01 {
        record::fail(
            start::program(),
            format_args!("floating-point state is lost: {floating}, expected {least}"),
        );
        power::off_failed();
    }
    println!(
        "vm_switch_instructions: min {} mean {} max {}",
        spread.min,
        spread.mean(),
        spread.max
    );
    record::metric("vm_switch_instructions", spread.max, "instructions");
    record::metric("vm_switch_instructions_min", spread.min, "instructions");
    record::metric("vm_switch_instructions_mean", spread.mean(), "instructions");
    record::pass(start::program());
}
