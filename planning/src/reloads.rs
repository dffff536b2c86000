//! How often a vCPU goes on in its work after others had its hart, so that it reloads cache lines that they evicted.
//! All times in ticks.
//!
//! A vCPU that is preempted pays for that when it goes on: lines that it had in the caches are gone (cache-related
//! preemption delay: Lee et al., IEEE Transactions on Computers 47(6), 1998). The hypervisor's overheads do not count
//! that, as it is the vCPU itself that waits for its lines, out of its budget. If one preemption costs no more than
//! `reload`, a job of budget `B` has at least `B - n * reload` for its work, where `n` bounds how often it goes on. So
//! all that [`crate::supply`] says of a budget `B` holds of that. There are two reasons to go on:
//!
//! * *The start of the job.* The job before may have been cut off in the midst of some work, and others had the hart
//!   since.
//! * *A preemption*: another vCPU of the hart becomes ready while the job runs, and comes before it. What preempts that
//!   one in turn preempts this job no second time. So there are no more than the times at which more urgent vCPUs
//!   become ready: when a job of theirs is released, or, of a server, when it is woken in its midst.
//!
//! Best-effort vCPUs preempt no real-time one. What the hypervisor does for others in between evicts lines, too; that
//! is none of these.
//!
//! # By deadlines
//!
//! A job of the vCPU is released at `r` and due at `r + D`. A job that is released later and comes before it, is due
//! before `r + D`. Of another vCPU with the relative deadline `d` such a job is released before `r + D - d`, so that
//! there are `ceil((D - d) / p)` of them, in periods of `p`, and none if `d >= D`. A server may have been released
//! before `r` and be woken after it. Then its deadline is older, however long its relative deadline is.
//!
//! # By priorities
//!
//! Each job of a vCPU with a higher priority that is released while this one is executed counts: `ceil(window / p)`.
//!
//! # Servers
//!
//! A server may wait and be woken as often as it likes. Only its tasks, where all are known, say how often that is: no
//! more than they are activated. Its releases that are no wake-ups follow a release by `p` each. So of a server with
//! tasks that may come before the job count as many activations as lie within the window, and the releases as above.

use tactus_policy::reservation::{Kind, Task};

use crate::supply::GuestTask;

/// Another vCPU of the hart.
#[derive(Clone, Copy, Debug)]
pub struct Other<'t> {
    /// Its reservation.
    pub task: Task,
    /// All tasks that it runs; none: they are not known.
    pub tasks: &'t [GuestTask],
}

/// Whose jobs come before those of a vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those that are due before: all others of the hart are given.
    Deadlines,
    /// All that are given, which have higher priorities.
    Priorities,
}

/// How long after its release a job of a vCPU is executed at most, which has its budget `within` a time after the
/// release. A server may wait within its job, and goes on until the deadline.
pub const fn window(own: Task, within: u64) -> u64 {
    match own.kind {
        Kind::Periodic => within,
        Kind::Server => own.reservation.deadline,
    }
}

/// How often another vCPU preempts a job of a vCPU that is executed within `window` at most. `None`: it is a server
/// whose tasks are not known, and may be woken as often as it likes.
pub fn preemptions(own: Task, window: u64, order: Order, other: Other<'_>) -> Option<u64> {
    let period = other.task.reservation.period;
    let length = match order {
        Order::Priorities => window,
        Order::Deadlines => {
            let earlier = own.reservation.deadline;
            let earlier = earlier.saturating_sub(other.task.reservation.deadline);
            earlier.min(window)
        }
    };
    let releases = length.div_ceil(period);
    match other.task.kind {
        Kind::Periodic => Some(releases),
        Kind::Server if other.tasks.is_empty() => None,
        Kind::Server => {
            let woken = other.tasks.iter().map(|task| task.activations(window));
            Some(releases + woken.sum::<u64>())
        }
    }
}
