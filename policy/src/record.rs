//! What is counted of a vCPU's jobs.

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_abi::hypercall::JobRecord;

/// A figure of a [`JobRecord`], by its place there; what it means is said there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
#[expect(missing_docs)]
pub enum Figure {
    Release,
    Jobs,
    Used,
    UsedMax,
    Overruns,
    Lost,
    Missed,
    InterferenceMax,
    Skipped,
    LateMax,
    /// The first of the classes by lateness.
    Late,
    Extended = Figure::Late as usize + JobRecord::CLASSES,
    Dropped,
}

/// A [`JobRecord`] that one writes, and that all may read. Each figure is for itself: those of a job may be read before
/// others of the same job are there.
#[derive(Debug, Default)]
pub struct Record([AtomicU64; JobRecord::WORDS]);

impl Record {
    /// A figure.
    pub fn get(&self, figure: Figure) -> u64 {
        self.0[figure as usize].load(Ordering::Relaxed)
    }

    /// A figure is that.
    pub fn set(&self, figure: Figure, value: u64) {
        self.0[figure as usize].store(value, Ordering::Relaxed);
    }

    /// A figure is that more.
    pub fn add(&self, figure: Figure, more: u64) {
        self.set(figure, self.get(figure) + more);
    }

    /// A figure is at least that.
    pub fn raise(&self, figure: Figure, value: u64) {
        self.set(figure, self.get(figure).max(value));
    }

    /// A job has been released so much later than on its grid.
    pub(crate) fn note_lateness(&self, late: u64) {
        let class = (late | 1).ilog2() as usize / 2;
        let of_class = &self.0[Figure::Late as usize + class.min(JobRecord::CLASSES - 1)];
        of_class.store(of_class.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.raise(Figure::LateMax, late);
    }

    /// All figures, in their order.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|figure| figure.load(Ordering::Relaxed))
    }

    /// Forgets what was counted.
    pub fn clear(&self) {
        self.0
            .iter()
            .for_each(|figure| figure.store(0, Ordering::Relaxed));
    }
}
