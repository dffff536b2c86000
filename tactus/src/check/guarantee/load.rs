//! A hart that goes by deadlines: the test of `policy`, and what people want to know beyond yes and no.

use tactus_abi::blob::{Overheads, limit};
use tactus_planning::analysis::{self, Ranked};
use tactus_policy::demand::{FULL_UTILISATION, Load, Member, Test, Verdict, held};
use tactus_policy::reservation::{Kind, Reservation, Task};

/// Places that [`Deadlines::window`] looks at, at most.
const LOOKS: u32 = 100_000;

/// How much of any time of that length may be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Ticks.
    pub length: u64,
    /// Ticks that are needed: of vCPUs and of the hypervisor.
    pub demand: u64,
}

/// Whether reservations fit a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Fits,
    /// More than the hypervisor keeps account of.
    Count,
    /// A budget with a job's overhead does not fit before its own deadline.
    Alone,
    /// More than what is left for real-time vCPUs, but not more than the hart has.
    Reserve,
    /// More than the hart has.
    Full,
    /// Not before every deadline.
    Late,
    /// So close to full that the proof takes too many steps.
    Unproven,
}

/// What a hart that goes by deadlines gives, before reservations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadlines {
    pub(super) overheads: Overheads,
    /// For real-time vCPUs, in parts of 2^-32.
    limit: u64,
}

impl Deadlines {
    /// A hart of which so many thousandths are left to best-effort vCPUs.
    pub(super) fn new(overheads: Overheads, reserve_thousandths: u32) -> Self {
        let left = 1000_u64.saturating_sub(reserve_thousandths.into());
        Self {
            overheads,
            limit: FULL_UTILISATION * left / 1000,
        }
    }

    fn load(&self, tasks: &[Task]) -> Option<Load> {
        let mut load = Load::new(&self.overheads);
        for &task in tasks {
            load.add(Member::new(
                task.reservation,
                task.kind,
                self.overheads.job,
            )?);
        }
        Some(load)
    }

    /// Whether they leave best-effort vCPUs what is kept for them.
    pub(super) fn leave_reserve(&self, tasks: impl Iterator<Item = Reservation>) -> bool {
        let cost = |task: &Reservation| task.budget + self.overheads.job;
        let parts = tasks.map(|task| (u128::from(cost(&task)) << 32) / u128::from(task.period));
        parts.sum::<u128>() <= u128::from(self.limit)
    }

    /// The same of vCPUs that go by priorities, in each mode.
    pub(super) fn modes_leave_reserve(&self, vcpus: &[Ranked]) -> bool {
        let usual = vcpus.iter().filter_map(|vcpu| vcpu.task);
        let high = vcpus
            .iter()
            .filter_map(|vcpu| vcpu.in_high_mode(&self.overheads));
        self.leave_reserve(usual.map(|task| task.reservation))
            && (!analysis::has_modes(vcpus)
                || self.leave_reserve(high.map(|task| task.reservation)))
    }

    /// Whether they all fit: as the hypervisor decides at run time.
    pub(super) fn fit(&self, tasks: &[Task]) -> Fit {
        if tasks.len() > limit::RESERVATIONS_PER_HART {
            return Fit::Count;
        }
        let Some(load) = self.load(tasks) else {
            return Fit::Alone;
        };
        if load.utilisation() > FULL_UTILISATION {
            return Fit::Full;
        }
        if !self.leave_reserve(tasks.iter().map(|task| task.reservation)) {
            return Fit::Reserve;
        }
        if tasks.is_empty() {
            return Fit::Fits;
        }
        match Test::run(&load) {
            Verdict::Fits => Fit::Fits,
            Verdict::Overloaded => Fit::Full,
            Verdict::DemandExceeded => Fit::Late,
            Verdict::Pending | Verdict::Undecided => Fit::Unproven,
        }
    }

    /// The first length after one at which what is needed jumps or bends.
    fn next(&self, tasks: &[Task], length: u64) -> u64 {
        let services = self.overheads.service_period;
        let service = length.checked_div(services).map(|n| (n + 1) * services);
        let later = tasks.iter().filter_map(|task| {
            let Reservation {
                period, deadline, ..
            } = task.reservation;
            match task.kind {
                _ if length < deadline => Some(deadline),
                Kind::Server => None,
                Kind::Periodic => Some(deadline + ((length - deadline) / period + 1) * period),
            }
        });
        later.chain(service).min().unwrap_or(u64::MAX)
    }

    /// The critical window: the length of which the greatest part may be needed, from the shortest deadline on; the
    /// shortest when there are several. `None` without reservations.
    pub(super) fn window(&self, tasks: &[Task]) -> Option<Window> {
        let load = self.load(tasks)?;
        let mut length = deadlines(tasks).min()?;
        let at = |length| Window {
            length,
            demand: load.demand(length),
        };
        let more = |one: Window, other: Window| {
            u128::from(one.demand) * u128::from(other.length)
                > u128::from(other.demand) * u128::from(one.length)
        };
        let (rate, fixed) = self.line(tasks);
        let mut worst = at(length);
        for _ in 0..LOOKS {
            length = self.next(tasks, length);
            let ratio = worst.demand as f64 / worst.length as f64;
            if length > 1 << 52 || rate + fixed / length as f64 <= ratio {
                break;
            }
            if more(at(length), worst) {
                worst = at(length);
            }
        }
        Some(worst)
    }

    /// A window of which more is needed than there is: the critical one, unless what is needed exceeds the length
    /// nowhere but between two bends, where a server's part is rounded up. `None`: there is none, or it is not found.
    pub(super) fn excess(&self, tasks: &[Task]) -> Option<Window> {
        let critical = self.window(tasks)?;
        if critical.demand > critical.length {
            return Some(critical);
        }
        // QPA (Zhang and Burns, IEEE Transactions on Computers 58(9), 2009), from the length on above which there is
        // none.
        let load = self.load(tasks)?;
        let (rate, fixed) = self.line(tasks);
        let (shortest, longest) = (deadlines(tasks).min()?, deadlines(tasks).max()?);
        let horizon = fixed / (1.0 - rate).max(f64::EPSILON);
        let mut length = longest.max(horizon.min((1_u64 << 52) as f64) as u64 + 1);
        for _ in 0..LOOKS {
            let demand = load.demand(length);
            if demand > length {
                return Some(Window { length, demand });
            }
            length = demand.min(length - 1);
            if length < shortest {
                break;
            }
        }
        None
    }

    /// What is needed of a length is at most `rate` of it and `fixed`.
    fn line(&self, tasks: &[Task]) -> (f64, f64) {
        let parts = tasks.iter().map(|task| {
            let Reservation {
                period,
                budget,
                deadline,
            } = task.reservation;
            let cost = (budget + self.overheads.job) as f64;
            let part = cost / period as f64;
            (part, cost - part * deadline as f64 + 1.0)
        });
        parts.fold(
            (
                ratio(self.service(), self.overheads.service_period),
                (held(&self.overheads, tasks.len()) + self.service()) as f64,
            ),
            |(rate, fixed), (part, more)| (rate + part, fixed + more),
        )
    }

    fn service(&self) -> u64 {
        if self.overheads.service_period == 0 {
            0
        } else {
            self.overheads.service
        }
    }

    /// The longest time from the release of a job of one reservation until it has had its budget, of a set that fits.
    /// At most its deadline.
    pub(super) fn answer(&self, tasks: &[Task], one: usize) -> u64 {
        let response = analysis::earliest_deadline_response(tasks, one, &self.overheads);
        response.map_or(tasks[one].reservation.deadline, |response| response.ticks)
    }

    /// The latest time from a release until that job first has the hart, of a set that fits.
    pub(super) fn start(&self, tasks: &[Task], one: usize) -> Option<u64> {
        let start = analysis::earliest_deadline_start(tasks, one, &self.overheads);
        start.map(|start| start.ticks)
    }
}

fn deadlines(tasks: &[Task]) -> impl Iterator<Item = u64> {
    tasks.iter().map(|task| task.reservation.deadline)
}

pub(super) fn ratio(of: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        of as f64 / whole as f64
    }
}

/// The greatest number from `low` to `high` for which `holds`, which holds up to some number and not above. `None`: not
/// even for `low`.
pub(in super::super) fn greatest(low: u64, high: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if low > high || !holds(low) {
        return None;
    }
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(low)
}

/// The least number from `low` to `high` for which `holds`, which holds from some number on. `None`: not even for
/// `high`.
pub(in super::super) fn least(low: u64, high: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if low > high || !holds(high) {
        return None;
    }
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}
