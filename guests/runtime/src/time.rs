//! The clock and the timer.
//!
//! The clock is the `time` CSR. The timer is `stimecmp` (extension Sstc): its interrupt is pending while the clock is
//! at or past the deadline, so a new deadline (or [`NEVER`]) is also what ends it.

use core::time::Duration;

use crate::{csr, devicetree, trap};

/// The deadline that is never reached.
pub const NEVER: u64 = u64::MAX;
/// Ticks per second of QEMU's `virt`, taken where the devicetree names no frequency.
pub const VIRT_HZ: u64 = 10_000_000;

/// The clock now, in ticks.
#[inline(always)]
pub fn now() -> u64 {
    csr::read::<{ csr::TIME }>() as u64
}

/// Ticks per second, from the devicetree (`/cpus/timebase-frequency`).
pub fn hz() -> u64 {
    devicetree::cell("/cpus", "timebase-frequency").map_or(VIRT_HZ, u64::from)
}

/// A duration in ticks, rounded up; [`NEVER`] when it does not fit.
pub fn ticks(duration: Duration) -> u64 {
    let ticks = (duration.as_nanos() * u128::from(hz())).div_ceil(1_000_000_000);
    u64::try_from(ticks).unwrap_or(NEVER)
}

/// Sets the deadline of this hart's timer, in ticks. The interrupt is taken when it is enabled too, by
/// [`trap::on_timer`] and [`trap::enable_interrupts`].
#[inline(always)]
pub fn set_deadline(ticks: u64) {
    // SAFETY: a deadline changes nothing but when the timer interrupt is pending; `trap` has a handler for it.
    unsafe { csr::write::<{ csr::STIMECMP }>(ticks as usize) };
}

/// Spins for at least `ticks`.
pub fn busy_wait(ticks: u64) {
    let end = now().saturating_add(ticks);
    while now() < end {
        core::hint::spin_loop();
    }
}

/// Cycles that this hart has counted, from an arbitrary start.
///
/// Under QEMU's `-icount shift=0` they are virtual nanoseconds: one for each instruction that any hart executes, and
/// those that pass while all harts wait. (Its `instret` leaves out the latter, and so can't be compared with a
/// deadline.)
#[inline(always)]
pub fn cycles() -> u64 {
    csr::read::<{ csr::CYCLE }>() as u64
}

/// Whether the machine lets this guest read the cycle counter. Turns interrupts off while it tries.
pub fn cycles_available() -> bool {
    trap::try_read::<{ csr::CYCLE }>().is_some()
}
