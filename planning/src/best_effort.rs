//! What the real-time vCPUs of a hart leave to its best-effort vCPUs, however the real-time ones are scheduled. All
//! times in ticks.

use tactus_abi::blob::Overheads;
use tactus_policy::reservation::Task;

use crate::analysis::{STEPS, busy_period, gross, hypervisor, parts, ticks};

/// The longest time for which real-time vCPUs keep a hart from best-effort ones: the longest busy period of their jobs,
/// with what the hypervisor takes (Spuri, INRIA report 2772, 1996). `None`: perhaps for ever, or not known.
pub fn longest_gap(tasks: &[Task], overheads: &Overheads) -> Option<u64> {
    if tasks.is_empty() {
        return Some(0);
    }
    let mut steps = STEPS;
    busy_period(tasks, overheads, true, &mut steps)
}

/// The least time that best-effort vCPUs have of a hart within any `length`.
///
/// What real-time vCPUs may do within a time `y` from the start of a busy period is at most
///
/// ```text
/// W(y) = blocking + (y / service_period + 1) * service + sum of cost + y * cost / period
/// ```
///
/// A `length` that begins within a busy period has what is left of that before it. So best effort has at least the
/// least `y - W(y)` of all `y` from `length` on: that at `length` itself, or where the next service begins, as the hart
/// is not overloaded.
pub fn least_supply(tasks: &[Task], overheads: &Overheads, length: u64) -> u64 {
    if tasks.is_empty() {
        return length;
    }
    let left = |length: u64| {
        let work = tasks.iter().map(|task| {
            let whole = gross(task, overheads);
            parts(whole.budget, 1) + parts(length * whole.budget, whole.period)
        });
        length.saturating_sub(hypervisor(overheads, length) + ticks(work.sum()))
    };
    let next = length.checked_div(overheads.service_period);
    let next = next.map_or(length, |services| (services + 1) * overheads.service_period);
    left(length).min(left(next))
}
