//! Small tasks, which the tests of bounds have in common.

#![allow(dead_code)] // Each test uses its part.

use crate::simulator::reservation;
use tactus_abi::blob::Overheads;
use tactus_policy::reservation::{Kind, Task};

/// A hypervisor that takes no time.
pub const NONE: Overheads = Overheads {
    job: 0,
    blocking: 0,
    service_period: 0,
    service: 0,
    release: 0,
};

pub fn task(times: (u64, u64, u64), kind: Kind) -> Task {
    Task {
        reservation: reservation(times),
        kind,
    }
}

/// All tasks of a kind with periods up to `period`.
pub fn all(period: u64, kind: Kind) -> Vec<Task> {
    let budgets = |t: u64| (1..=t).flat_map(move |c| (c..=t).map(move |d| (t, c, d)));
    let times = (1..=period).flat_map(budgets);
    times.map(|times| task(times, kind)).collect()
}
