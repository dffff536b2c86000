//! A reservation that stands for two.

use crate::reservation::{Kind, Reservation, Task};

/// A task whose demand is at least that of `one`, and of one of the same kind with the reservation `other`, for every
/// length: what admission counts for a vCPU that has one of them and may return to the other. `None`: its budget would
/// exceed its deadline.
///
/// A server's demand grows in straight lines, with corners at its deadline. So it suffices that the budget is large
/// enough at the shorter deadline, at the longer one, and for the slope behind that.
pub fn covering(one: Task, other: Reservation) -> Option<Task> {
    let Task { reservation, kind } = one;
    let period = reservation.period.min(other.period);
    let deadline = reservation.deadline.min(other.deadline);
    let budget = [reservation, other].into_iter().fold(1, |budget, one| {
        if kind == Kind::Periodic {
            return budget.max(one.budget);
        }
        let at_first = (one.budget * deadline).div_ceil(one.deadline);
        let at_second = (one.budget * period).div_ceil(period + one.deadline - deadline);
        let slope = (one.budget * period).div_ceil(one.period);
        budget.max(at_first).max(at_second).max(slope)
    });
    Reservation::new(period, budget, deadline).map(|reservation| Task { reservation, kind })
}
