//! Latency of events at this guest, in instructions or cycles.
//!
//! Figures come from the `cycle` and `time` CSRs. They are exact where an instruction takes a cycle: under QEMU's
//! `-icount shift=0`, whose cycles are virtual nanoseconds, and on the virtual board in fast mode. In its timed mode
//! they are cycles. Each function uses a trap vector of its own whose first instruction reads `cycle`: the measured
//! interval ends there, and excludes the runtime.

use core::arch::naked_asm;

use crate::{csr, time, trap};

/// The interrupt that ended a [`wait_until`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Wakeup {
    /// [`time::cycles`] as the handler's first instruction read it.
    pub cycles: u64,
    /// `scause`: the timer interrupt, or an unexpected one.
    pub cause: usize,
}

impl Wakeup {
    /// Whether it was the timer.
    pub const fn is_timer(self) -> bool {
        self.cause == trap::CAUSE_INTERRUPT | 5
    }
}

/// Sets the timer, waits (`wfi`) for its interrupt, and returns when the handler's first instruction ran. No other
/// interrupt is taken meanwhile. The timer is set to [`time::NEVER`] afterwards.
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

/// The relation of `cycle` and `time`, to compare a deadline in ticks with a reading of `cycle`. Both count the same
/// clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// This number of cycles is ...
    cycles: u64,
    /// ... this number of ticks.
    ticks: u64,
    /// `ticks * cycle - cycles * time` at the start of a tick.
    offset: i64,
}

/// Ticks over which a [`Scale`] is measured.
const SPAN: u64 = 20_000;
/// Most cycles of a reading after the start of its tick: those of a tick.
const EDGE: u64 = 128;
/// Most ticks that make a whole number of cycles.
const TICKS_MAX: u64 = 256;
/// Most measurements until two agree; the hypervisor may run between the readings of one.
const MEASUREMENTS_MAX: usize = 16;

impl Scale {
    /// Measures it, in some milliseconds.
    ///
    /// # Panics
    ///
    /// When the counters do not keep step.
    pub fn measure() -> Self {
        let mut before = None;
        for _ in 0..MEASUREMENTS_MAX {
            let ratio = ratio();
            if ratio.is_some() && ratio == before {
                break;
            }
            before = ratio;
        }
        let Some((cycles, ticks)) = before else {
            panic!("`cycle` and `time` do not keep step");
        };
        // The readings are one instruction apart. In the smallest difference of many the clock had just ticked; the
        // varying delay lets the loop meet every phase of the tick.
        let mut offset = i64::MAX;
        for round in 0..16 * cycles.div_ceil(ticks) {
            for _ in 0..round % 7 {
                core::hint::spin_loop();
            }
            let (time, cycle) = both();
            let difference = ((cycle - 1) * ticks) as i64 - (time * cycles) as i64;
            offset = offset.min(difference);
        }
        Self {
            cycles,
            ticks,
            offset,
        }
    }

    /// Cycles in `ticks`, rounded down.
    pub const fn cycles(&self, ticks: u64) -> u64 {
        ticks * self.cycles / self.ticks
    }

    /// Cycles from the deadline (in ticks) to the wake-up's first instruction, rounded down.
    ///
    /// # Panics
    ///
    /// When it woke before the deadline.
    pub fn late_by(&self, wakeup: Wakeup, deadline: u64) -> u64 {
        let due = (deadline * self.cycles) as i64 + self.offset;
        let late = (wakeup.cycles * self.ticks) as i64 - due;
        assert!(
            late >= 0,
            "the timer interrupted {} cycles early",
            -late / self.ticks as i64
        );
        late as u64 / self.ticks
    }
}

/// Cycles, and the ticks that they are: the simplest fraction that one measurement allows.
fn ratio() -> Option<(u64, u64)> {
    let (first, last) = (edge(0), edge(SPAN));
    let (span, cycles) = (last.0 - first.0, last.1 - first.1);
    (1..=TICKS_MAX).find_map(|ticks| {
        let whole = (cycles.saturating_sub(EDGE) * ticks).div_ceil(span);
        (whole > 0 && whole * span <= (cycles + EDGE) * ticks).then_some((whole, ticks))
    })
}

/// `time` at a tick, and `cycle` then, after at least `ticks`.
fn edge(ticks: u64) -> (u64, u64) {
    let begin = time::now() + ticks;
    loop {
        let (time, cycle) = both();
        if time > begin {
            return (time, cycle);
        }
    }
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
    /// Number of figures.
    pub count: u64,
}

impl Spread {
    /// An empty series.
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

    /// The mean, rounded down; 0 for an empty series.
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
