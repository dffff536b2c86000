//! Fills that prefetches have begun: of a hart's L1 caches, or of the L2 cache.

use serde::{Deserialize, Serialize};

use super::{is_time, parameters};

/// Which cache a line is on its way to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Filled {
    /// The instruction cache.
    Code,
    /// The data cache.
    Data,
}

/// The fills under way. The caches have their lines already; accesses wait here for the content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fills {
    outstanding: u8,
    /// The line, where it goes, and when it is there: at most `outstanding`.
    under_way: Vec<(u64, Filled, u64)>,
    /// When the last is there.
    end: u64,
}

impl Fills {
    /// None under way; without parameters, none ever.
    pub fn new(parameters: Option<&parameters::Prefetch>) -> Self {
        Self {
            outstanding: parameters.map_or(0, |prefetch| prefetch.outstanding),
            under_way: Vec::new(),
            end: 0,
        }
    }

    /// Whether `other` is a possible state of the same hart.
    pub fn fits(&self, other: &Self) -> bool {
        self.outstanding == other.outstanding
            && other.under_way.len() <= other.outstanding.into()
            && is_time(other.end)
            && other.under_way.iter().all(|(_, _, ready)| is_time(*ready))
    }

    /// Whether no access at `now` need ask [`wait`](Self::wait).
    #[inline]
    pub const fn are_done(&self, now: u64) -> bool {
        now >= self.end
    }

    /// How long until the content of a line is there.
    pub fn wait(&self, key: u64, filled: Filled, now: u64) -> u64 {
        if self.are_done(now) {
            return 0;
        }
        let same = |(line, to, _): &&(u64, Filled, u64)| (*line, *to) == (key, filled);
        let waits = self.under_way.iter().filter(same);
        waits
            .map(|(_, _, ready)| ready.saturating_sub(now))
            .max()
            .unwrap_or(0)
    }

    /// How long until another fill can begin.
    pub fn place_wait(&mut self, now: u64) -> u64 {
        if !self.is_full(now) {
            return 0;
        }
        let first = self.under_way.iter().map(|(_, _, ready)| *ready).min();
        let first = first.unwrap_or(now);
        self.under_way.retain(|(_, _, ready)| *ready > first);
        first - now
    }

    /// Whether no further fill can begin, and drops those that are done.
    pub fn is_full(&mut self, now: u64) -> bool {
        self.under_way.retain(|(_, _, ready)| *ready > now);
        self.under_way.len() >= self.outstanding.into()
    }

    /// A fill begins, for which there is room.
    pub fn insert(&mut self, key: u64, filled: Filled, ready: u64) {
        self.under_way.push((key, filled, ready));
        self.end = self.end.max(ready);
    }
}
