//! Rate limit for migrations of best-effort vCPUs to harts that run user level only.
//!
//! On such a hart, a vCPU that enters its kernel is moved to another hart. A vCPU that enters often gains nothing: each
//! entry costs two moves, and its caches are cold after both. So its entries are counted in windows. When a window is
//! full, the vCPU is excluded from such harts: at first for one window, and with exponential back-off, up to a bound,
//! for each further full window. Windows with few entries undo the doublings one by one. So the cost is bounded for any
//! behaviour of the vCPU, and a vCPU that stops calling is admitted again within the longest exclusion.

/// Windows per second: 10 ms each.
pub const WINDOWS_PER_SECOND: u64 = 100;
/// Kernel entries that fill a window, on harts for user level only. An entry costs two moves of some 5 us each with
/// cold caches, so moves take at most 2 % of a vCPU's time.
pub const ENTRIES_PER_WINDOW: u32 = 20;
/// Most doublings of the exclusion: 64 windows.
const DOUBLINGS_MAX: u32 = 6;

/// The state of one vCPU.
#[derive(Clone, Copy, Debug)]
pub struct MigrationLimiter {
    /// Ticks of a window.
    window: u64,
    /// Start of the current window; in the future while the vCPU is excluded.
    window_start: u64,
    /// Entries in the current window.
    entries: u32,
    /// Doublings of the next exclusion.
    doublings: u32,
}

impl MigrationLimiter {
    /// The limiter of a vCPU whose migrations are `limited`. `ticks_per_second`: frequency of the clock.
    pub fn if_limited(limited: bool, ticks_per_second: u64) -> Option<Self> {
        limited.then(|| Self::new(ticks_per_second))
    }

    /// A limiter without history. `ticks_per_second`: frequency of the clock.
    pub const fn new(ticks_per_second: u64) -> Self {
        Self {
            window: ticks_per_second / WINDOWS_PER_SECOND,
            window_start: 0,
            entries: 0,
            doublings: 0,
        }
    }

    /// Whether the vCPU may migrate to a hart for user level only.
    pub const fn may_migrate(&self, now: u64) -> bool {
        now >= self.window_start
    }

    /// Counts a kernel entry on such a hart. `true`: the vCPU is excluded from now on.
    pub fn record_entry(&mut self, now: u64) -> bool {
        let passed = now.saturating_sub(self.window_start) / self.window.max(1);
        if passed > 0 {
            // Windows after the one that has been counted had no entries.
            let busy = u64::from(self.entries > ENTRIES_PER_WINDOW / 2);
            let quiet = (passed - busy).min(DOUBLINGS_MAX.into());
            self.doublings = self.doublings.saturating_sub(quiet as u32);
            self.window_start += passed * self.window;
            self.entries = 0;
        }
        self.entries += 1;
        if self.entries < ENTRIES_PER_WINDOW {
            return false;
        }
        self.window_start = now + (self.window << self.doublings);
        self.entries = 0;
        self.doublings = (self.doublings + 1).min(DOUBLINGS_MAX);
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

    /// Makes entries, each a gap after the last or at the end of the exclusion; returns their times.
    fn entries(limiter: &mut MigrationLimiter, gaps: &[u64]) -> Vec<u64> {
        let mut now = 0;
        let mut all = Vec::new();
        for gap in gaps {
            now = (now + gap).max(limiter.window_start);
            assert!(limiter.may_migrate(now));
            limiter.record_entry(now);
            all.push(now);
        }
        all
    }

    #[test]
    fn compute_bound_vcpu_is_never_excluded() {
        let mut limiter = MigrationLimiter::new(TICKS);
        // Linux's timer interrupts, for a minute.
        for tick in 1..250 * 60 {
            assert!(!limiter.record_entry(tick * TICKS / 250));
        }
    }

    #[test]
    fn vcpu_that_only_enters_its_kernel_is_mostly_excluded() {
        let mut limiter = MigrationLimiter::new(TICKS);
        let times = entries(&mut limiter, &[1; 10_000]);
        let in_ten_seconds = times.iter().filter(|&&time| time < 10 * TICKS).count();
        // Seven exclusions of a window and its doublings, 1.27 s; then one each 0.64 s.
        assert_eq!(in_ten_seconds, (7 + 14) * ENTRIES_PER_WINDOW as usize);
    }

    #[test]
    fn vcpu_that_becomes_compute_bound_recovers_within_the_longest_exclusion() {
        let mut limiter = MigrationLimiter::new(TICKS);
        let times = entries(&mut limiter, &[1; 200]);
        let last = times[times.len() - 1];
        assert!(
            !limiter.may_migrate(last + 1) && limiter.may_migrate(last + (WINDOW << DOUBLINGS_MAX))
        );
        let mut now = limiter.window_start;
        for _ in 0..=DOUBLINGS_MAX {
            now += WINDOW;
            assert!(!limiter.record_entry(now));
        }
        // The history is forgotten: the next exclusion is a single window.
        for _ in 1..ENTRIES_PER_WINDOW {
            limiter.record_entry(now);
        }
        assert!(limiter.may_migrate(now + WINDOW) && !limiter.may_migrate(now + WINDOW - 1));
    }

    proptest! {
        #[test]
        fn migration_rate_is_bounded(gaps in prop::collection::vec(0..3 * WINDOW / 2, 1..2000), scale in 1..2000u64) {
            let gaps: Vec<u64> = gaps.iter().map(|gap| gap / scale).collect();
            let times = entries(&mut MigrationLimiter::new(TICKS), &gaps);
            // Any span of a window's length touches two windows at most.
            for (first, &time) in times.iter().enumerate() {
                let within = times[first..].iter().take_while(|&&other| other < time + WINDOW).count();
                prop_assert!(within <= 2 * ENTRIES_PER_WINDOW as usize, "{} entries from {} on", within, time);
            }
        }

        #[test]
        fn exclusion_is_bounded(gaps in prop::collection::vec(0..2 * WINDOW, 1..500)) {
            let mut limiter = MigrationLimiter::new(TICKS);
            let mut now = 0;
            for gap in gaps {
                now = (now + gap).max(limiter.window_start);
                let excluded = limiter.record_entry(now);
                prop_assert_eq!(excluded, !limiter.may_migrate(now));
                prop_assert!(limiter.may_migrate(now + (WINDOW << DOUBLINGS_MAX)));
            }
        }
    }
}
