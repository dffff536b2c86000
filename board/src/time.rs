//! Time on the board: femtoseconds everywhere, and the clocks that count them.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A time since reset, or a duration, in femtoseconds. 64 bits hold 5.1 hours.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Femtoseconds(pub u64);

impl Femtoseconds {
    /// The end of time: what never comes.
    pub const NEVER: Self = Self(u64::MAX);
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000_000_000);

    /// The sum, or [`NEVER`](Self::NEVER) where that is later than can be said.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// In whole picoseconds.
    #[must_use]
    pub const fn as_picoseconds(self) -> u64 {
        self.0 / 1000
    }

    /// In seconds, rounded to what a double holds.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / Self::SECOND.0 as f64
    }
}

impl Add for Femtoseconds {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Femtoseconds {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Femtoseconds {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Femtoseconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.9} s", self.as_seconds())
    }
}

/// A clock domain: a period, and so a relation of cycles to time. Cycle n begins at n periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    period: u64,
}

impl Clock {
    /// A clock of `hertz`, its period rounded to a femtosecond.
    ///
    /// # Panics
    ///
    /// When `hertz` is 0 or above 10^15, which a profile's check has refused before.
    #[must_use]
    pub fn from_hertz(hertz: u64) -> Self {
        assert!(
            (1..=Femtoseconds::SECOND.0).contains(&hertz),
            "a clock of {hertz} Hz"
        );
        Self {
            period: (Femtoseconds::SECOND.0 + hertz / 2) / hertz,
        }
    }

    /// The period.
    #[must_use]
    pub const fn period(self) -> Femtoseconds {
        Femtoseconds(self.period)
    }

    /// When the given cycle begins. What lies beyond the end of time is [`Femtoseconds::NEVER`].
    #[must_use]
    pub const fn time_of(self, cycle: u64) -> Femtoseconds {
        Femtoseconds(cycle.saturating_mul(self.period))
    }

    /// The cycle that is under way at `time`.
    #[must_use]
    pub const fn cycle_at(self, time: Femtoseconds) -> u64 {
        time.0 / self.period
    }

    /// The first cycle that does not begin before `time`; what never comes has the last cycle that there can be.
    #[must_use]
    pub const fn cycle_from(self, time: Femtoseconds) -> u64 {
        if time.0 == u64::MAX {
            return u64::MAX;
        }
        time.0.div_ceil(self.period)
    }
}

/// A clock whose period has changed: another one holds from a cycle on, and, carried on backwards, before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct DriftingClock {
    period: u64,
    /// A cycle, and when it begins.
    from: (u64, Femtoseconds),
}

impl DriftingClock {
    /// As the clock is.
    pub(crate) const fn steady(clock: Clock) -> Self {
        Self {
            period: clock.period,
            from: (0, Femtoseconds(0)),
        }
    }

    /// Its period from `cycle` on is the clock's, longer by so many millionths. `None`: it would be none.
    pub(crate) fn drift(self, clock: Clock, cycle: u64, millionths: i32) -> Option<Self> {
        let period = i128::from(clock.period) * (1_000_000 + i128::from(millionths)) / 1_000_000;
        let period = u64::try_from(period).ok().filter(|period| *period > 0)?;
        Some(Self {
            period,
            from: (cycle, self.time_of(cycle)),
        })
    }

    /// Whether a saved one can be taken back: no period is 0, and no time overflows.
    pub(crate) const fn is_sound(self) -> bool {
        let (cycle, time) = self.from;
        self.period > 0 && self.period < 1 << 50 && cycle < 1 << 62 && time.0 < 1 << 63
    }

    /// As [`Clock::period`].
    pub(crate) const fn period(self) -> Femtoseconds {
        Femtoseconds(self.period)
    }

    /// As [`Clock::time_of`].
    pub(crate) const fn time_of(self, cycle: u64) -> Femtoseconds {
        let (from, time) = self.from;
        if cycle < from {
            let before = (from - cycle).saturating_mul(self.period);
            return Femtoseconds(time.0.saturating_sub(before));
        }
        time.saturating_add(Femtoseconds((cycle - from).saturating_mul(self.period)))
    }

    /// As [`Clock::cycle_at`].
    pub(crate) const fn cycle_at(self, time: Femtoseconds) -> u64 {
        let (cycle, from) = self.from;
        if time.0 < from.0 {
            return cycle.saturating_sub((from.0 - time.0).div_ceil(self.period));
        }
        cycle.saturating_add((time.0 - from.0) / self.period)
    }

    /// As [`Clock::cycle_from`].
    pub(crate) const fn cycle_from(self, time: Femtoseconds) -> u64 {
        let (cycle, from) = self.from;
        if time.0 == u64::MAX {
            return u64::MAX;
        }
        if time.0 < from.0 {
            return cycle.saturating_sub((from.0 - time.0) / self.period);
        }
        cycle.saturating_add((time.0 - from.0).div_ceil(self.period))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_drifts_from_a_cycle_on() {
        let clock = Clock::from_hertz(100_000_000);
        let steady = DriftingClock::steady(clock);
        for time in [0, 1, 9_999_999, 10_000_000, 10_000_001, u64::MAX].map(Femtoseconds) {
            assert_eq!(steady.cycle_at(time), clock.cycle_at(time), "{time}");
            assert_eq!(steady.cycle_from(time), clock.cycle_from(time), "{time}");
        }
        // A thousandth slower from cycle 1,000 on, and then, from 2,000 on, two thousandths faster.
        let slow = steady.drift(clock, 1_000, 1_000).expect("a period");
        assert_eq!(slow.time_of(1_000), clock.time_of(1_000));
        assert_eq!(
            slow.time_of(2_000),
            clock.time_of(2_001),
            "a cycle is lost in 1,000"
        );
        let fast = slow.drift(clock, 2_000, -2_000).expect("a period");
        assert_eq!(fast.time_of(2_000), slow.time_of(2_000));
        assert_eq!(
            fast.time_of(3_000).0 - fast.time_of(2_000).0,
            998 * 10_000_000
        );
        for cycle in [900, 999, 1_000, 1_001, 1_999, 2_000, 5_000] {
            for clock in [slow, fast] {
                let time = clock.time_of(cycle);
                assert_eq!(clock.cycle_at(time), cycle);
                assert_eq!(clock.cycle_from(time), cycle);
                assert_eq!(clock.cycle_from(Femtoseconds(time.0 + 1)), cycle + 1);
                assert_eq!(clock.cycle_at(Femtoseconds(time.0 - 1)), cycle - 1);
            }
        }
        assert_eq!(steady.drift(clock, 0, -1_000_000), None);
    }
}
