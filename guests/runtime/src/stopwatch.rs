//! How many instructions an event takes to reach this guest.
//!
//! Figures come from the `cycle` and `time` CSRs and are exact under QEMU's `-icount shift=0`, where an instruction is one
//! virtual nanosecond and `cycle` counts those. Each function uses a trap vector of its own whose first instruction
//! reads `cycle`: what is measured ends there, and nothing of the runtime is in it.

use core::arch::naked_asm;

use crate::{csr, time, trap};

/// What interrupted a [`wait_until`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Wakeup {
    /// [`time::cycles`] as the handler's first instruction read it.
    pub cycles: u64,
    /// `scause`: the timer interrupt, or something that the guest did not ask for.
    pub cause: usize,
}

impl Wakeup {
    /// Whether it was the timer.
    pub const fn is_timer(self) -> bool {
        self.cause == trap::CAUSE_INTERRUPT | 5
    }
}

/// Sets the timer, sleeps (`wfi`) until its interrupt, and says when the handler's first instruction ran. No other interrupt
/// is taken meanwhile. The timer is put to [`time::NEVER`] afterwards.
pub fn wait_until(deadline: u64) -> Wakeup {
    let before = trap::disable_interrupts();
    let enabled = csr::read::<{ csr::SIE }>();
    // SAFETY: interrupts are off in `sstatus`; the timer's is the one that `wait` takes.
    unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER) };
    let wakeup = wait(deadline);
    // SAFETY: these were enabled before.
    unsafe { csr::write::<{ csr::SIE }>(enabled) };
    if before {
        trap::enable_interrupts();
    }
    wakeup
}

/// [`wait_until`] without saving what is enabled. Only a0, a1, t0 and t1 change.
#[unsafe(naked)]
extern "C" fn wait(deadline: u64) -> Wakeup {
    naked_asm!(
        "lla    t0, 2f",
        "csrrw  t0, stvec, t0",
        "csrw   {stimecmp}, a0",
        "csrsi  sstatus, 2",
        "1:",
        "wfi",
        "j      1b",
        ".balign 4",
        "2:",
        "csrr   a0, cycle",
        "csrr   a1, scause",
        "li     t1, -1",
        "csrw   {stimecmp}, t1",
        "csrw   stvec, t0",
        // The trap has turned interrupts off; it ends without `sret`.
        "ret",
        stimecmp = const csr::STIMECMP,
    )
}

/// Instructions from the deadline (in ticks) to the wake-up's first instruction, with [`offset`]'s result for `offset`.
///
/// # Panics
///
/// When it woke before the deadline.
pub fn late_by(wakeup: Wakeup, deadline: u64, per_tick: u64, offset: i64) -> u64 {
    let due = (deadline * per_tick) as i64 + offset;
    let late = wakeup.cycles as i64 - due;
    assert!(
        late >= 0,
        "the timer interrupted {} instructions early",
        -late
    );
    late as u64
}

/// The relation between the two counters: `cycle - per_tick * time` at the begin of a tick, with `per_tick` instructions a
/// tick. Constant under `-icount`, so that a deadline in ticks can be compared with a reading of `cycle`.
pub fn offset(per_tick: u64) -> i64 {
    // The readings are one instruction apart. In the smallest difference of many the clock had just ticked; the varying delay
    // lets the loop meet every phase of the tick.
    let mut smallest = i64::MAX;
    for round in 0..16 * per_tick {
        for _ in 0..round % 7 {
            core::hint::spin_loop();
        }
        let (ticks, instructions) = both();
        let difference = instructions as i64 - 1 - (ticks * per_tick) as i64;
        smallest = smallest.min(difference);
    }
    smallest
}

/// `time`, and `cycle` one instruction later.
fn both() -> (u64, u64) {
    let (ticks, instructions);
    // SAFETY: reads two counters.
    unsafe {
        core::arch::asm!(
            "csrr {}, time",
            "csrr {}, cycle",
            out(reg) ticks,
            out(reg) instructions,
            options(nomem, nostack),
        );
    }
    (ticks, instructions)
}

/// Least, sum and greatest of a series of figures.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// Least.
    pub min: u64,
    /// Greatest.
    pub max: u64,
    /// Sum.
    pub sum: u64,
    /// How many.
    pub count: u64,
}

impl Spread {
    /// Of none.
    pub const fn new() -> Self {
        Self {
            min: u64::MAX,
            max: 0,
            sum: 0,
            count: 0,
        }
    }

    /// Adds a figure.
    pub fn add(&mut self, figure: u64) {
        self.min = self.min.min(figure);
        self.max = self.max.max(figure);
        self.sum += figure;
        self.count += 1;
    }

    /// The mean, rounded down; 0 of none.
    pub const fn mean(&self) -> u64 {
        match self.count {
            0 => 0,
            count => self.sum / count,
        }
    }
}

impl Default for Spread {
    fn default() -> Self {
        Self::new()
    }
}

/// Instructions that pass in one tick of the clock under `-icount shift=0`: virtual nanoseconds per tick.
pub fn instructions_per_tick() -> u64 {
    1_000_000_000 / time::hz()
}
