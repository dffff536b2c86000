//! The time that a VM's vCPU has at least, and the response times of the tasks that run on it. All times in ticks.
//!
//! # Supply
//!
//! A vCPU with a reservation has its budget `B` once in each period `P`, within a time `W` after the period's begin,
//! while it has work: `W` is the bound of [`crate::analysis`], no later than the reservation's deadline. So it is an
//! explicit-deadline periodic resource (Shin and Lee, RTSS 2003; Easwaran, Anand and Lee, RTSS 2007) with `W` in place
//! of the deadline. The *supply bound* [`Supply::bound`] is the least that the vCPU executes within a time of some
//! length in which it always has work: nothing for [`Supply::begin`], then `B` in each `P`, with all of `B` at the
//! start of each.
//!
//! What is nothing at first depends on what the reservation does before that time `t0`. Let its job be released at `r`.
//!
//! * The job had its budget at once, for work that does not count here, and `t0 = r + B`. The next budget comes with
//!   the release at `r + P`, and at the latest from `r + P + W - B` on. Nothing is executed for `P + W - 2 B`.
//! * A [`Kind::Periodic`] vCPU may have waited at `r`, which ended its job, and `t0` follows at once: `P + W - B`.
//! * A [`Kind::Server`] that waits goes on in the same job, and `Account::wake` of `tactus_policy::reservation` charges
//!   the overhead `o` of a job for it. The `k`-th wake-up of a job, at `r + x`, leaves at least `B - x - k o` of its
//!   budget:
//!
//!   - The job has executed no more than `x`, and all `k` wake-ups were charged `o`, if what is left was in proportion.
//!   - Where what is left is not in proportion to the time left, a server whose deadline `D` is its period begins a new
//!     job: `r` is the wake-up itself, and nothing is charged. Another server keeps `(D - x) (B + o) / D`, less `o`.
//!     That is at least `B - x`, since `B + o <= D` where admission has accepted it. It is nothing where `x >= D`.
//!   - A server that has been idle until after `r + P` begins a new job, without a charge, as well.
//!
//!   The server has that rest before its next budget, and both by `r + P + W`. So the supply begins after
//!   `P + W - 2 B + E`, with `E = min(B, k o)`, whatever `x` is. For `x >= B - E` the rest does not matter: the next
//!   budget begins `P - x + W - B` later at the latest. For a smaller `x`, `2 B - x - E` are executed by then and
//!   `P + W - x`, the last of it without a pause. While the vCPU has work it does not wait, so that no wake-up within
//!   the time costs anything; the one that begins it is among the `k`.
//!
//!   The hypervisor may hear of the activation that begins the time later, by the longest that it holds up a vCPU
//!   ([`tactus_policy::demand::held`]). `W` counts that from a release on. The activation of an idle server is none, so
//!   that it is added to `E`, which remains at most `B`.
//!
//!   Each wake-up is an activation of a task. Those that matter lie within less than `B`, as otherwise `x >= B - E`. So
//!   `k` is the most activations of the vCPU's tasks within `B`.
//!
//! `W` is a bound for jobs that want all of their budget from their release on. So do those that are released after
//! `t0`.
//!
//! # Response times
//!
//! Tasks of an operating system with fixed priorities, which preempt each other and do not wait within a job. A task
//! responds within the least `t` in which what it and all of the same or a higher priority ask for is supplied: with
//! the supply bound for the time that a processor of their own would take (Shin and Lee), and release jitter as in
//! Audsley et al. (Software Engineering Journal 8(5), 1993). All jobs of the busy period are tried (Lehoczky, RTSS
//! 1990), as jitter may bring a job sooner than a period after the one before.

use tactus_abi::blob::Overheads;
use tactus_policy::reservation::{Kind, Reservation};

/// Steps of a response's search before it is given up.
const STEPS: u32 = 1 << 16;

/// A task of an operating system within a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestTask {
    /// Ticks between activations, at least, but for [`GuestTask::jitter`].
    pub period: u64,
    /// The most that a job executes.
    pub wcet: u64,
    /// From an activation until the job must have ended; at most the period.
    pub deadline: u64,
    /// How much later than on the grid of its period an activation may come.
    pub jitter: u64,
    /// Higher first.
    pub priority: u32,
}

impl GuestTask {
    /// The most activations within `length`.
    pub const fn activations(&self, length: u64) -> u64 {
        (length + self.jitter).div_ceil(self.period)
    }
}

/// The least that a vCPU executes while it has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    period: u64,
    budget: u64,
    begin: u64,
}

impl Supply {
    /// The supply of a vCPU that has its budget `within` a time after each release, and runs these tasks. `held`: the
    /// longest that the hypervisor holds it up at a time, [`tactus_policy::demand::held`].
    pub fn new(
        reservation: Reservation,
        kind: Kind,
        within: u64,
        tasks: &[GuestTask],
        overheads: &Overheads,
        held: u64,
    ) -> Self {
        let Reservation { period, budget, .. } = reservation;
        let idle = period + within.saturating_sub(budget);
        let begin = match kind {
            Kind::Periodic => idle,
            Kind::Server => {
                let wake_ups: u64 = tasks.iter().map(|task| task.activations(budget)).sum();
                let charged = wake_ups.saturating_mul(overheads.job);
                idle - budget.saturating_sub(charged.saturating_add(held))
            }
        };
        Self {
            period,
            budget,
            begin,
        }
    }

    /// What is executed in each period.
    pub const fn budget(&self) -> u64 {
        self.budget
    }

    /// The longest time in which nothing is executed.
    pub const fn begin(&self) -> u64 {
        self.begin
    }

    /// The supply bound: the least that is executed within `length`.
    pub fn bound(&self, length: u64) -> u64 {
        let Some(rest) = length.checked_sub(self.begin) else {
            return 0;
        };
        rest / self.period * self.budget + (rest % self.period).min(self.budget)
    }

    /// The length in which so much is executed: the least one of [`Supply::bound`]. `None`: beyond all times.
    pub fn length(&self, work: u64) -> Option<u64> {
        let Some(last) = work.checked_sub(1) else {
            return Some(0);
        };
        let (jobs, rest) = (last / self.budget, last % self.budget + 1);
        jobs.checked_mul(self.period)?
            .checked_add(self.begin)?
            .checked_add(rest)
    }
}

/// When a task's jobs have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// So long after their activation, at the latest, which is no later than the deadline.
    Within(u64),
    /// One may end so long after its activation, beyond the deadline.
    Late(u64),
    /// One may not have ended before the next activation.
    Never,
}

impl Completion {
    /// Whether the deadline is kept.
    pub const fn is_in_time(self) -> bool {
        matches!(self, Self::Within(_))
    }
}

/// When the jobs of one of the tasks of a vCPU have ended. Tasks of equal priority come before it.
///
/// # Panics
/// There is no such task.
pub fn completion(tasks: &[GuestTask], which: usize, supply: &Supply) -> Completion {
    let own = tasks[which];
    let before = || {
        let others = tasks.iter().enumerate();
        others
            .filter(|(other, task)| *other != which && task.priority >= own.priority)
            .map(|(_, task)| task)
    };
    let mut steps = STEPS;
    let mut longest = 0;
    for job in 0.. {
        let arrival = (job * own.period).saturating_sub(own.jitter);
        let end = arrival + own.period;
        let mut length = arrival.max(1);
        loop {
            let others = before().map(|task| task.activations(length) * task.wcet);
            let work = (job + 1) * own.wcet + others.sum::<u64>();
            let (Some(left), Some(next)) = (steps.checked_sub(1), supply.length(work)) else {
                return Completion::Never;
            };
            steps = left;
            if next > end {
                return Completion::Never;
            }
            if next <= length {
                break;
            }
            length = next;
        }
        let response = length - arrival;
        if response > own.deadline {
            return Completion::Late(response);
        }
        longest = longest.max(response);
        // The busy period ends before the next job.
        if length <= ((job + 1) * own.period).saturating_sub(own.jitter) {
            break;
        }
    }
    Completion::Within(longest)
}
