//! A hart that goes by priorities: response-time analysis (Joseph and Pandya, The Computer Journal 29(5), 1986; Audsley and others,
//! Software Engineering Journal 8(5), 1993), as far as the vCPUs on it have reservations.

use tactus_abi::blob::Overheads;
use tactus_policy::reservation::Reservation;

/// A real-time vCPU that goes by its priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) priority: u8,
    pub(super) reservation: Option<Reservation>,
}

/// When a vCPU has had its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// So many ticks after its release, at the latest.
    Within(u64),
    /// Later than its deadline: at least so many ticks.
    Late(u64),
    /// One that comes before it, by index, may run for as long as it likes.
    Unbounded(usize),
    /// It has no budget of its own.
    None,
}

/// When one of these vCPUs has had its budget: the least `R` with
///
/// ```text
/// R = blocking + cost + sum over those before it of ceil((R + jitter_j) / period_j) * cost_j + (R / service_period + 1) * service
/// ```
///
/// where a cost is a budget and a job's overhead. One before it may have waited with its budget, and so begin late: its jitter is what its period is
/// longer than its budget. Those of the same priority come before it too.
pub(super) fn answer(overheads: &Overheads, tasks: &[Task], one: usize) -> Answer {
    let Task {
        priority,
        reservation: Some(own),
    } = tasks[one]
    else {
        return Answer::None;
    };
    let before = || {
        let others = tasks
            .iter()
            .enumerate()
            .filter(move |(index, _)| *index != one);
        others.filter(|(_, task)| task.priority >= priority)
    };
    if let Some((index, _)) = before().find(|(_, task)| task.reservation.is_none()) {
        return Answer::Unbounded(index);
    }
    let mut time = 0;
    loop {
        let others: u64 = before()
            .filter_map(|(_, task)| task.reservation)
            .map(|other| {
                let jobs = (time + other.period - other.budget).div_ceil(other.period);
                jobs * (other.budget + overheads.job)
            })
            .sum();
        let services = match overheads.service_period {
            0 => 0,
            period => (time / period + 1) * overheads.service,
        };
        let needed = overheads.blocking + own.budget + overheads.job + others + services;
        if needed > own.deadline {
            return Answer::Late(needed);
        }
        // Ends: each round is longer than the one before it, and no longer than the deadline.
        if needed <= time {
            return Answer::Within(time);
        }
        time = needed;
    }
}
