//! How a real-time vCPU stands.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The result of [`RT_QUERY`](super::RT_QUERY). Times in ticks of the `time` CSR.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct RtStatus {
    /// Its period; 0: it has no reservation.
    pub period: u64,
    /// Its budget.
    pub budget: u64,
    /// Its deadline, after each release.
    pub deadline: u64,
    /// Index of its hart.
    pub hart: u64,
    /// How its jobs have gone.
    pub record: JobRecord,
}

/// How a real-time vCPU's jobs have gone since its creation: of one of the configuration, since the system booted, over
/// all lives of its VM. Times in ticks of the `time` CSR.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct JobRecord {
    /// Release of the current job, or of the last.
    pub release: u64,
    /// Jobs released.
    pub jobs: u64,
    /// Execution time in all.
    pub used: u64,
    /// The longest execution time of a job.
    pub used_max: u64,
    /// Jobs that were throttled because they had used up their budget, or were dropped.
    pub overruns: u64,
    /// Budget that a server has lost by waiting: what it was charged for wake-ups within a job, and what it could not
    /// have had by the deadline any more. The rest was its to use.
    pub lost: u64,
    /// Jobs that executed after their deadline. Throttling ends a job that asks for more than its budget, so these have
    /// had it too late: overruns by interference.
    pub missed: u64,
    /// The longest that a job was ready, from its release or from a wake-up on, and did not execute.
    pub interference_max: u64,
    /// Releases that did not come, since a whole period had passed without one: the grid of releases has shifted then.
    pub skipped: u64,
    /// The longest from when a job was due to be released until it was.
    pub late_max: u64,
    /// Jobs by that time: less than 4 ticks, 16, 64, 256, 1024, and longer.
    pub late: [u64; Self::CLASSES],
    /// Jobs that have used up their budget and were given that of the high mode: their hart was in it then.
    pub extended: u64,
    /// Jobs that were dropped: of low criticality, they got nothing more since their hart was in its high mode.
    pub dropped: u64,
}

impl JobRecord {
    /// Classes of jobs by how late they were released.
    pub const CLASSES: usize = 6;
    /// Figures that it has.
    pub const WORDS: usize = size_of::<Self>() / 8;

    /// The record with these figures.
    pub const fn of_words(words: [u64; Self::WORDS]) -> Self {
        zerocopy::transmute!(words)
    }
}
