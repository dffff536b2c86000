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
