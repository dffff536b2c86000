//! Finds guests that fault inside their own trap handler and so trap to themselves for ever.
//!
//! Such a guest never leaves its own privilege level: it is preempted like any other, but nothing would
//! ever report it. What tells it from a guest that makes progress is that its handler never gets to its
//! `sret`. So at the end of each time slice the guest's last exception is looked at; if it has been the very same for some slices, the
//! guest is *watched*: its exceptions and its `sret` come to the hypervisor. An `sret` ends the watch. Many exceptions in a row,
//! equal in every register, without one are a livelock.

/// Slices in a row that must end with the same last exception before the guest is watched.
const SUSPECT_SLICES: u8 = 2;
/// Exceptions in a row, equal in every register, that lead to a watch and, during it, make a livelock.
const SAME_EXCEPTIONS: u16 = 256;

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

/// What an exception that comes to the hypervisor leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The guest takes it.
    Deliver,
    /// The guest takes it, and is watched from now on.
    Watch,
    /// The guest will never do anything else.
    Livelock,
}

/// What is known of one vCPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Livelock {
    last: Exception,
    slices: u8,
    watched: bool,
    digest: u64,
    same: u16,
}

impl Livelock {
    /// Nothing known.
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
            same: 0,
        }
    }

    /// A whole slice has been used, and `last` is the exception that the guest took last. Returns
    /// whether it is to be watched from now on, or still.
    pub fn slice_ended(&mut self, last: Exception) -> bool {
        let is_interrupt = last.cause >> 63 != 0;
        if is_interrupt || last != self.last {
            self.last = last;
            self.slices = 0;
        } else {
            self.slices = self.slices.saturating_add(1);
        }
        if self.slices >= SUSPECT_SLICES && !self.watched {
            self.watched = true;
            self.same = 0;
        }
        self.watched
    }

    /// The guest takes an exception at its supervisor level through the hypervisor; all its registers,
    /// program counter and cause are summed up in `digest`.
    pub fn exception(&mut self, digest: u64) -> Verdict {
        if digest == self.digest {
            self.same += 1;
        } else {
            self.digest = digest;
            self.same = 0;
        }
        if self.same < SAME_EXCEPTIONS {
            return Verdict::Deliver;
        }
        self.same = 0;
        if self.watched {
            return Verdict::Livelock;
        }
        self.watched = true;
        Verdict::Watch
    }

    /// The guest, watched, returns from a trap: it is alive.
    pub fn returned(&mut self) {
        *self = Self::new();
    }

    /// Whether the guest is watched.
    pub const fn watched(&self) -> bool {
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
        assert!(!livelock.slice_ended(FAULT));
        assert!(!livelock.slice_ended(FAULT));
        assert!(livelock.slice_ended(FAULT));
        livelock
    }

    #[test]
    fn the_same_exception_for_ever_is_a_livelock() {
        let mut livelock = watched();
        for _ in 0..SAME_EXCEPTIONS {
            assert_eq!(livelock.exception(7), Verdict::Deliver);
        }
        assert_eq!(livelock.exception(7), Verdict::Livelock);
    }

    #[test]
    fn a_return_from_a_trap_ends_the_watch() {
        let mut livelock = watched();
        for _ in 0..SAME_EXCEPTIONS {
            livelock.exception(7);
        }
        livelock.returned();
        assert!(!livelock.watched());
        assert_eq!(livelock.exception(7), Verdict::Deliver);
    }

    #[test]
    fn exceptions_that_differ_are_progress() {
        let mut livelock = watched();
        for i in 0..10 * u64::from(SAME_EXCEPTIONS) {
            assert_eq!(livelock.exception(i % 2), Verdict::Deliver);
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
            assert!(!livelock.slice_ended(FAULT));
            assert!(!livelock.slice_ended(FAULT));
            assert!(!livelock.slice_ended(other));
        }
        // Nothing but interrupts: a guest that computes.
        for _ in 0..100 {
            assert!(!livelock.slice_ended(tick));
        }
    }

    #[test]
    fn exceptions_through_the_hypervisor_lead_to_a_watch_first() {
        let mut livelock = Livelock::new();
        for _ in 0..SAME_EXCEPTIONS {
            assert_eq!(livelock.exception(7), Verdict::Deliver);
        }
        assert_eq!(livelock.exception(7), Verdict::Watch);
        for _ in 1..SAME_EXCEPTIONS {
            assert_eq!(livelock.exception(7), Verdict::Deliver);
        }
        assert_eq!(livelock.exception(7), Verdict::Livelock);
    }
}
