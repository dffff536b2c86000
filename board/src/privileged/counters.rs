//! Counters (sections 3.1.10 and 3.1.11): the board counts for ever, a CSR shows that count with an offset.

use super::Privileged;
use serde::{Deserialize, Serialize};

/// The counts of a hart at the moment of an access, before the accessing instruction itself counts.
#[derive(Clone, Copy, Debug)]
pub struct Counters<'a> {
    /// Clock cycles since reset.
    pub cycle: u64,
    /// Instructions retired since reset.
    pub instructions: u64,
    /// The board's `mtime`, in its ticks.
    pub time: u64,
    /// How often each event happened since reset: [`Event`] e at index `e as usize - 1`.
    pub events: &'a [u64; Event::COUNT],
}

impl Counters<'_> {
    /// All zero: for accesses to CSRs of which [`Privileged::reads_counters`] says no.
    pub const ZERO: Self = Self {
        cycle: 0,
        instructions: 0,
        time: 0,
        events: &[0; Event::COUNT],
    };
}

/// Events that `mhpmevent3` to `mhpmevent31` can select. 0 selects none; other values read as 0.
///
/// All but [`Interrupt`](Self::Interrupt) and [`Exception`](Self::Exception) are counted in timed mode alone, by its
/// models ([`Counts`](crate::timing::Counts)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Event {
    /// A branch or a jump was predicted wrongly, in its direction or its target.
    BranchMispredicted = 1,
    /// A fetch missed the first-level instruction cache.
    InstructionCacheMiss = 2,
    /// A load, store or atomic missed the first-level data cache.
    DataCacheMiss = 3,
    /// A fetch, load, store, atomic or walk missed the second-level cache.
    SecondLevelCacheMiss = 4,
    /// A load from memory; LR counts too, and a misaligned one that crosses 8 bytes twice.
    Load = 5,
    /// A store to memory; an SC that stores and AMO count too, and a misaligned one that crosses 8 bytes twice.
    Store = 6,
    /// A fetch missed the first-level instruction TLB.
    InstructionTlbMiss = 7,
    /// A load, store or atomic missed the first-level data TLB.
    DataTlbMiss = 8,
    /// A page-table entry was read in a walk, or written to set its bits A and D.
    PageWalkAccess = 9,
    /// An interrupt was taken.
    Interrupt = 10,
    /// An exception was taken.
    Exception = 11,
}

impl Event {
    /// How many there are.
    pub const COUNT: usize = 11;
}

/// One counter: while it runs, what is added to the board's count; while it is inhibited, its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counter(u64);

impl Counter {
    pub const fn value(self, raw: u64, inhibited: bool) -> u64 {
        if inhibited {
            self.0
        } else {
            self.0.wrapping_add(raw)
        }
    }

    /// Makes `value` what it shows when the board's count is `raw`.
    pub const fn set(&mut self, value: u64, raw: u64, inhibited: bool) {
        self.0 = if inhibited {
            value
        } else {
            value.wrapping_sub(raw)
        };
    }

    /// Stops or restarts it.
    const fn inhibit(&mut self, raw: u64, before: bool, after: bool) {
        self.set(self.value(raw, before), raw, after);
    }
}

impl Privileged {
    const fn inhibited(&self, index: usize) -> bool {
        self.mcountinhibit >> index & 1 != 0
    }

    /// The board's count behind the counter of performance events `index`, 0 for `mhpmcounter3`.
    fn raw_event(&self, index: usize, counters: &Counters<'_>) -> u64 {
        // An event of 0 selects none.
        let event = usize::from(self.hpm_events[index]).wrapping_sub(1);
        counters.events.get(event).copied().unwrap_or(0)
    }

    /// The value of counter `index`: 0 is `mcycle`, 1 is `time`, 2 is `minstret`, 3 to 31 the events'.
    pub(super) fn counter(&self, index: usize, counters: &Counters<'_>) -> u64 {
        let inhibited = self.inhibited(index);
        match index {
            0 => self.cycle.value(counters.cycle, inhibited),
            1 if self.mode.v => counters.time.wrapping_add(self.htimedelta),
            1 => counters.time,
            2 => self.instret.value(counters.instructions, inhibited),
            _ => self.hpm[index - 3].value(self.raw_event(index - 3, counters), inhibited),
        }
    }

    /// Sets counter `index`, not 1. The next instruction reads this very value of `minstret`: the write comes in place
    /// of the writing instruction's own increment.
    pub(super) fn set_counter(&mut self, index: usize, value: u64, counters: &Counters<'_>) {
        let inhibited = self.inhibited(index);
        match index {
            0 => self.cycle.set(value, counters.cycle, inhibited),
            2 => self
                .instret
                .set(value, counters.instructions.wrapping_add(1), inhibited),
            _ => {
                let raw = self.raw_event(index - 3, counters);
                self.hpm[index - 3].set(value, raw, inhibited);
            }
        }
    }

    /// Writes `mcountinhibit`; the instruction that does it still counts, if it did before.
    pub(super) fn set_inhibited(&mut self, value: u32, counters: &Counters<'_>) {
        // There is no bit for `time`.
        let value = value & !2;
        let (before, changed) = (self.mcountinhibit, self.mcountinhibit ^ value);
        let bit = |of: u32, index: usize| of >> index & 1 != 0;
        for index in (0..32).filter(|&index| bit(changed, index)) {
            let (was, is) = (bit(before, index), bit(value, index));
            match index {
                0 => self.cycle.inhibit(counters.cycle, was, is),
                2 => self
                    .instret
                    .inhibit(counters.instructions.wrapping_add(1), was, is),
                _ => {
                    let raw = self.raw_event(index - 3, counters);
                    self.hpm[index - 3].inhibit(raw, was, is);
                }
            }
        }
        self.mcountinhibit = value;
    }

    /// Selects the event of the counter `index`, 0 for `mhpmcounter3`, whose value stays.
    pub(super) fn select_event(&mut self, index: usize, value: u64, counters: &Counters<'_>) {
        let inhibited = self.inhibited(index + 3);
        let shown = self.hpm[index].value(self.raw_event(index, counters), inhibited);
        self.hpm_events[index] = if value <= Event::COUNT as u64 {
            value as u8
        } else {
            0
        };
        let raw = self.raw_event(index, counters);
        self.hpm[index].set(shown, raw, inhibited);
    }
}
