//! How long has been waited for a machine that does not keep time itself, by looks at its virtual clock.

use std::time::{Duration, Instant};

use crate::config::Nanoseconds;

/// The most virtual time that counts from one look to the next. While nothing but time passes, such a machine may be
/// far ahead of a busy host: what waits for something must not be told that it has waited for longer than it could
/// look.
const LOOK_MAX: Nanoseconds = Nanoseconds(100_000_000);
/// A virtual clock that has stood still for so long, or was not told, does so for good: of QEMU's, with `-icount`,
/// nothing may be left that it could go on to when all VMs that still run wait for each other. From then on the host's
/// time counts.
const STANDSTILL: Duration = Duration::from_secs(2);

/// Time that counts as waited.
#[derive(Debug)]
pub(super) struct Waited {
    counted: Nanoseconds,
    /// What the last look has seen, and when it was.
    clock: Nanoseconds,
    looked: Instant,
    /// For how long the clock has stood still.
    stood: Duration,
}

impl Waited {
    /// None, of a machine that starts now.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            counted: Nanoseconds::default(),
            clock: Nanoseconds::default(),
            looked: now,
            stood: Duration::ZERO,
        }
    }

    /// What the clock has shown last.
    pub(super) const fn clock(&self) -> Nanoseconds {
        self.clock
    }

    /// Looks at a clock that shows `clock`; gives the time that counts since the start.
    pub(super) fn look(&mut self, clock: Nanoseconds, now: Instant) -> Nanoseconds {
        let passed = clock.0.saturating_sub(self.clock.0).min(LOOK_MAX.0);
        let on_host = now.saturating_duration_since(self.looked);
        self.clock = clock;
        self.looked = now;
        if passed > 0 {
            self.stood = Duration::ZERO;
            self.counted.0 += passed;
        } else {
            self.stood += on_host;
            if self.stood >= STANDSTILL {
                self.counted.0 += u64::try_from(on_host.as_nanos()).unwrap_or(u64::MAX);
            }
        }
        self.counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_counts_and_one_that_stands_still_is_waited_for() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let ms = |milliseconds: u64| Nanoseconds(milliseconds * 1_000_000);
        let mut waited = Waited::new(start);
        assert_eq!(waited.look(ms(30), at(10)), ms(30));
        // It has run ahead between two looks.
        assert_eq!(waited.look(ms(900), at(20)), ms(130));
        // A host that is busy for a while ends nothing.
        assert_eq!(waited.look(ms(900), at(1500)), ms(130));
        assert_eq!(waited.look(ms(901), at(1510)), ms(131));
        assert_eq!(waited.look(ms(901), at(3000)), ms(131));
        assert_eq!(waited.look(ms(901), at(3500)), ms(131));
        assert_eq!(waited.look(ms(901), at(3550)), ms(181));
        assert_eq!(waited.look(ms(901), at(3600)), ms(231));
        assert_eq!(waited.look(ms(902), at(9000)), ms(232));
        assert_eq!(waited.look(ms(902), at(9100)), ms(232));
    }
}
