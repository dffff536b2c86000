//! A reservation that stands for two.

use crate::reservation::Reservation;

/// The reservation of a server whose demand is at least that of either of two, for every length: what admission counts for
/// a vCPU that has one of them and may return to the other. `None`: its budget would exceed its deadline.
///
/// A server's demand grows in straight lines, with corners at its deadline. So it suffices that the budget is large enough
/// at the shorter deadline, at the longer one, and for the slope behind that.
pub fn covering(one: Reservation, other: Reservation) -> Option<Reservation> {
    let period = one.period.min(other.period);
    let deadline = one.deadline.min(other.deadline);
    let budget = [one, other].into_iter().fold(1, |budget, one| {
        let at_first = (one.budget * deadline).div_ceil(one.deadline);
        let at_second = (one.budget * period).div_ceil(period + one.deadline - deadline);
        let slope = (one.budget * period).div_ceil(one.period);
        budget.max(at_first).max(at_second).max(slope)
    });
    Reservation::new(period, budget, deadline)
}
