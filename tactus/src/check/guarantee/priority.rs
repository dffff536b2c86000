//! A hart that goes by priorities, as far as the vCPUs on it have reservations.

use tactus_abi::blob::Overheads;
use tactus_planning::analysis::{self, Ranked};

/// When a vCPU has had its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// So many ticks after its release, at the latest.
    Within(u64),
    /// Perhaps later than its deadline.
    Late,
    /// One that comes before it, by index, may run for as long as it likes, or be late itself.
    Unbounded(usize),
    /// It has no budget of its own.
    None,
}

/// When one of these vCPUs has had its budget.
pub(super) fn answer(overheads: &Overheads, tasks: &[Ranked], one: usize) -> Answer {
    if tasks[one].task.is_none() {
        return Answer::None;
    }
    if let Some(index) = endless(tasks, one) {
        return Answer::Unbounded(index);
    }
    match analysis::fixed_priority_response(tasks, one, overheads) {
        Some(response) => Answer::Within(response.ticks),
        None => Answer::Late,
    }
}

/// Whether the answer is [`Answer::Late`], without the time that it is otherwise.
pub(super) fn is_late(overheads: &Overheads, tasks: &[Ranked], one: usize) -> bool {
    tasks[one].task.is_some()
        && endless(tasks, one).is_none()
        && !analysis::fixed_priority_is_in_time(tasks, one, overheads)
}

/// One that comes before it and has no budget.
fn endless(tasks: &[Ranked], one: usize) -> Option<usize> {
    let mut all = 0..tasks.len();
    all.find(|&other| {
        other != one && tasks[other].priority >= tasks[one].priority && tasks[other].task.is_none()
    })
}

/// When each of these vCPUs has had its budget. The bound of one rests on those before it being in time.
pub(super) fn answers(overheads: &Overheads, tasks: &[Ranked]) -> Vec<Answer> {
    let alone: Vec<Answer> = (0..tasks.len())
        .map(|one| answer(overheads, tasks, one))
        .collect();
    let late_before = |one: usize| {
        let mut all = (0..tasks.len()).filter(|&other| other != one);
        all.find(|&other| {
            tasks[other].priority >= tasks[one].priority && alone[other] == Answer::Late
        })
    };
    let of = |one: usize| match (alone[one], late_before(one)) {
        (Answer::Within(_), Some(late)) => Answer::Unbounded(late),
        (answer, _) => answer,
    };
    (0..tasks.len()).map(of).collect()
}
