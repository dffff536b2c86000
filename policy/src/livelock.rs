//! Livelock detection: finds guests that fault inside their own trap handler, and so trap to themselves for ever.
//!
//! Such a guest never leaves its own privilege level. It is preempted like any other, but no trap reports it. Unlike a
//! guest that makes progress, its handler never reaches its `sret`. So the guest's last exception is sampled at the end
//! of each time slice. If several samples are equal, the guest is *watched*: its exceptions and its `sret` trap to the
//! hypervisor. An `sret` ends the watch. Many exceptions in a row without one, equal in every register, are a livelock.

/// Consecutive slices that must end with the same last exception before the guest is watched.
const SUSPECT_SLICES: u8 = 2;
/// Consecutive exceptions, equal in every register, that start a watch and, during it, are a livelock.
const REPEATS_MAX: u16 = 256;

/// A guest's last exception: `vsepc`, `vscause`, `vstval`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exception {
    /// Address of the instruction.
    pub pc: u64,
    /// `scause` code; interrupts have the top bit set.
    pub cause: u64,
    /// `stval`.
    pub value: u64,
}

/// The action for an exception that traps to the hypervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Deliver it to the guest.
    Deliver,
    /// Deliver it to the guest, and watch the guest from now on.
    Watch,
    /// The guest makes no progress any more.
    Livelock,
}

/// The detector of one vCPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Livelock {
    last: Exception,
    slices: u8,
    watched: bool,
    digest: u64,
    repeats: u16,
}

impl Livelock {
    /// A detector without history.
    pub const fn new() -> Self {
        Self {
            last: Exception {
                pc: 0,
                cause: 0,
                value: 0,
            },
            slices: 0,
            watched: false,
            digest: 0,
            repeats: 0,
        }
    }

    /// Records the guest's last exception at the end of a full slice. Returns whether the guest is watched.
    pub fn end_slice(&mut self, last: Exception) -> bool {
        let is_interrupt = last.cause >> 63 != 0;
        if is_interrupt || last != self.last {
            self.last = last;
            self.slices = 0;
        } else {
            self.slices = self.slices.saturating_add(1);
        }
        if self.slices >= SUSPECT_SLICES && !self.watched {
            self.watched = true;
            self.repeats = 0;
        }
        self.watched
    }

    /// Records an exception that the hypervisor delivers to the guest's supervisor level. `digest` is that of all
    /// registers, program counter and cause.
    pub fn record_exception(&mut self, digest: u64) -> Verdict {
        if digest == self.digest {
            self.repeats += 1;
        } else {
            self.digest = digest;
            self.repeats = 0;
        }
        if self.repeats < REPEATS_MAX {
            return Verdict::Deliver;
        }
        self.repeats = 0;
        if self.watched {
            return Verdict::Livelock;
        }
        self.watched = true;
        Verdict::Watch
    }

    /// Records that a watched guest returns from a trap: it makes progress.
    pub fn record_trap_return(&mut self) {
        *self = Self::new();
    }

    /// Whether the guest is watched.
    pub const fn is_watched(&self) -> bool {
        self.watched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAULT: Exception = Exception {
        pc: 0x8020_0000,
        cause: 2,
        value: 0,
    };

    fn watched() -> Livelock {
        let mut livelock = Livelock::new();
        assert!(!livelock.end_slice(FAULT));
        assert!(!livelock.end_slice(FAULT));
        assert!(livelock.end_slice(FAULT));
        livelock
    }

    #[test]
    fn endless_equal_exceptions_are_a_livelock() {
        let mut livelock = watched();
        for _ in 0..REPEATS_MAX {
            assert_eq!(livelock.record_exception(7), Verdict::Deliver);
        }
        assert_eq!(livelock.record_exception(7), Verdict::Livelock);
    }

    #[test]
    fn a_return_from_a_trap_ends_the_watch() {
        let mut livelock = watched();
        for _ in 0..REPEATS_MAX {
            livelock.record_exception(7);
        }
        livelock.record_trap_return();
        assert!(!livelock.is_watched());
        assert_eq!(livelock.record_exception(7), Verdict::Deliver);
    }

    #[test]
    fn differing_exceptions_are_progress() {
        let mut livelock = watched();
        for i in 0..10 * u64::from(REPEATS_MAX) {
            assert_eq!(livelock.record_exception(i % 2), Verdict::Deliver);
        }
    }

    #[test]
    fn interrupts_and_other_exceptions_clear_the_suspicion() {
        let mut livelock = Livelock::new();
        let tick = Exception {
            cause: 1 << 63 | 5,
            ..FAULT
        };
        let call = Exception { cause: 8, ..FAULT };
        for other in [tick, call].into_iter().cycle().take(20) {
            assert!(!livelock.end_slice(FAULT));
            assert!(!livelock.end_slice(FAULT));
            assert!(!livelock.end_slice(other));
        }
        // Nothing but interrupts: a guest that computes.
        for _ in 0..100 {
            assert!(!livelock.end_slice(tick));
        }
    }

    #[test]
    fn equal_exceptions_through_the_hypervisor_start_a_watch_first() {
        let mut livelock = Livelock::new();
        for _ in 0..REPEATS_MAX {
            assert_eq!(livelock.record_exception(7), Verdict::Deliver);
        }
        assert_eq!(livelock.record_exception(7), Verdict::Watch);
        for _ in 1..REPEATS_MAX {
            assert_eq!(livelock.record_exception(7), Verdict::Deliver);
        }
        assert_eq!(livelock.record_exception(7), Verdict::Livelock);
    }
}
