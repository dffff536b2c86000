//! What the guests that attack reservations have in common: code of real-time vCPUs, and times from sensible to absurd.

use core::arch::naked_asm;

use tactus_guest::abi::{
    blob::limit,
    hypercall::{EXTENSION, RT_YIELD},
};

use crate::random::Random;

/// Never yields.
#[unsafe(naked)]
pub extern "C" fn spin() -> ! {
    naked_asm!("0: j 0b")
}

/// Yields, which ends its job, again and again.
#[unsafe(naked)]
pub extern "C" fn hasten() -> ! {
    naked_asm!(
        "0: li  a7, {extension}",
        "   li  a6, {yield}",
        "   ecall",
        "   j   0b",
        extension = const EXTENSION,
        yield = const RT_YIELD,
    )
}

/// Waits for an interrupt that never arrives.
#[unsafe(naked)]
pub extern "C" fn doze() -> ! {
    naked_asm!("0: wfi", "   j 0b")
}

/// A random time in ticks, of which there are `hz` in a second: mostly some hundred microseconds, sometimes any value.
fn ticks(random: &mut Random, hz: u64) -> usize {
    let hundred_us = hz / 10_000;
    match random.next() % 8 {
        0 => random.next() as usize,
        1 => 1 + (random.next() % 8) as usize,
        2 => limit::PERIOD_TICKS as usize,
        _ => (1 + random.next() % (20 * hundred_us)) as usize,
    }
}

/// Random period, budget and deadline in ticks, of which there are `hz` in a second: mostly in order.
pub fn times(random: &mut Random, hz: u64) -> [usize; 3] {
    let mut times = [ticks(random, hz), ticks(random, hz), ticks(random, hz)];
    if !random.next().is_multiple_of(8) {
        times.sort_unstable();
        times.reverse();
        times.swap(1, 2);
        // A small budget is admitted more often.
        times[1] = (times[1] >> (random.next() % 6)).max(1);
    }
    times
}
