//! When a best-effort vCPU may go to a hart that is for user level only.
//!
//! There, entering its kernel moves it to another hart. One that does so often gains nothing: it pays for two moves each
//! time, and its caches are cold after both. So its entries are counted in windows. When a window has had its
//! fill, the vCPU stays away from such harts, at first for a window, and each time that happens again for twice as long, up
//! to a bound. Windows of few entries take the doublings back one by one. What a vCPU costs is so bounded however it behaves, and
//! one that turns from calls to computing is back within the longest stay away.

/// Windows per second: 10 ms each.
pub const WINDOWS_PER_SECOND: u64 = 100;
/// Kernel entries on harts for user level only that fill a window. An entry costs two moves, some 5 µs each with what
/// the caches have to fetch again; so moves take 2 % of a vCPU's time at most.
pub const ENTRIES: u32 = 20;
/// Doublings of the time away: 64 windows at most.
const DOUBLINGS: u32 = 6;

/// What is known of one vCPU.
#[derive(Clone, Copy, Debug)]
pub struct Roaming {
    /// Ticks of a window.
    window: u64,
    /// When the present window began; not yet reached while it stays away.
    began: u64,
    /// Entries in the present window.
    entries: u32,
    /// Doublings of the next time away.
    doublings: u32,
}

impl Roaming {
    /// Of a vCPU that goes whenever that pays, or whose going is limited (`limited`), where the clock has so many ticks a second.
    pub fn of(limited: bool, ticks_per_second: u64) -> Option<Self> {
        limited.then(|| Self::new(ticks_per_second))
    }

    /// One that may go, of a machine whose clock has so many ticks a second.
    pub const fn new(ticks_per_second: u64) -> Self {
        Self {
            window: ticks_per_second / WINDOWS_PER_SECOND,
            began: 0,
            entries: 0,
            doublings: 0,
        }
    }

    /// Whether it may go to a hart for user level only.
    pub const fn may_go(&self, now: u64) -> bool {
        now >= self.began
    }

    /// It has entered its kernel on such a hart. `true`: it stays away from now on.
    pub fn entered(&mut self, now: u64) -> bool {
        let passed = now.saturating_sub(self.began) / self.window.max(1);
        if passed > 0 {
            // All of them but the one that has been counted had none.
            let busy = u64::from(self.entries > ENTRIES / 2);
            let quiet = (passed - busy).min(DOUBLINGS.into());
            self.doublings = self.doublings.saturating_sub(quiet as u32);
            self.began += passed * self.window;
            self.entries = 0;
        }
        self.entries += 1;
        if self.entries < ENTRIES {
            return false;
        }
        self.began = now + (self.window << self.doublings);
        self.entries = 0;
        self.doublings = (self.doublings + 1).min(DOUBLINGS);
        true
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const TICKS: u64 = 10_000_000;
    const WINDOW: u64 = TICKS / WINDOWS_PER_SECOND;

    /// Entries that come so long after the last one, or after it may go again; returns when each was.
    fn entries(roaming: &mut Roaming, gaps: &[u64]) -> Vec<u64> {
        let mut now = 0;
        let mut all = Vec::new();
        for gap in gaps {
            now = (now + gap).max(roaming.began);
            assert!(roaming.may_go(now));
            roaming.entered(now);
            all.push(now);
        }
        all
    }

    #[test]
    fn one_that_computes_always_may_go() {
        let mut roaming = Roaming::new(TICKS);
        // Linux's timer interrupts, for a minute.
        for tick in 1..250 * 60 {
            assert!(!roaming.entered(tick * TICKS / 250));
        }
    }

    #[test]
    fn one_that_does_nothing_but_enter_hardly_ever_may_go() {
        let mut roaming = Roaming::new(TICKS);
        let times = entries(&mut roaming, &[1; 10_000]);
        let in_ten_seconds = times.iter().filter(|&&time| time < 10 * TICKS).count();
        // Seven times away of a window and its doublings, 1.27 s; then one each 0.64 s.
        assert_eq!(in_ten_seconds, (7 + 14) * ENTRIES as usize);
    }

    #[test]
    fn one_that_turns_to_computing_is_soon_trusted_again() {
        let mut roaming = Roaming::new(TICKS);
        let times = entries(&mut roaming, &[1; 200]);
        let last = times[times.len() - 1];
        assert!(!roaming.may_go(last + 1) && roaming.may_go(last + (WINDOW << DOUBLINGS)));
        let mut now = roaming.began;
        for _ in 0..=DOUBLINGS {
            now += WINDOW;
            assert!(!roaming.entered(now));
        }
        // As if nothing had been: the next time away is a single window.
        for _ in 1..ENTRIES {
            roaming.entered(now);
        }
        assert!(roaming.may_go(now + WINDOW) && !roaming.may_go(now + WINDOW - 1));
    }

    proptest! {
        #[test]
        fn moves_are_bounded_whatever_it_does(gaps in prop::collection::vec(0..3 * WINDOW / 2, 1..2000), scale in 1..2000u64) {
            let gaps: Vec<u64> = gaps.iter().map(|gap| gap / scale).collect();
            let times = entries(&mut Roaming::new(TICKS), &gaps);
            // Any span of a window's length touches two windows at most.
            for (first, &time) in times.iter().enumerate() {
                let within = times[first..].iter().take_while(|&&other| other < time + WINDOW).count();
                prop_assert!(within <= 2 * ENTRIES as usize, "{} entries from {} on", within, time);
            }
        }

        #[test]
        fn no_time_away_is_longer_than_the_longest(gaps in prop::collection::vec(0..2 * WINDOW, 1..500)) {
            let mut roaming = Roaming::new(TICKS);
            let mut now = 0;
            for gap in gaps {
                now = (now + gap).max(roaming.began);
                let away = roaming.entered(now);
                prop_assert_eq!(away, !roaming.may_go(now));
                prop_assert!(roaming.may_go(now + (WINDOW << DOUBLINGS)));
            }
        }
    }
}
