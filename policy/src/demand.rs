//! Schedulability of a set of reservations on one EDF hart: the processor-demand test, in short steps.
//!
//! The set is schedulable if, for every interval length `L` from the shortest deadline on, the demand that is released
//! and due within `L` ticks, plus the hypervisor's own time, is at most `L`:
//!
//! ```text
//! H(L) = held + (L / service_period + 1) * service + sum of demand_i(L) <= L
//! ```
//!
//! where `demand_i` is [`crate::reservation::Reservation::demand`] with the overhead of a job added to the budget, and
//! `service` is the deferred best-effort work that the hypervisor does once in `service_period`, and `held` is
//! [`held`]: what is due later may be released within `L`, each once.
//!
//! `H` is bounded from above by lines: one for each reservation, from its deadline on, with its utilisation as slope.
//! If these prove schedulability, as they mostly do, the test is over at once (Devi, ECRTS 2003). Otherwise `H` is
//! evaluated first where the lines exceed the length most, and then from the length on above which the lines prove all,
//! downwards: one evaluation proves all lengths down to the demand found (QPA: Zhang and Burns, IEEE Transactions on
//! Computers 58(9), 2009), or further if the line of a reservation is a better bound than its demand, see [`Test`].
//!
//! For periodic reservations the answer is exact. For servers `H` is rounded up by less than a tick for each.

use crate::reservation::{Kind, Reservation};
use core::num::{NonZeroU32, NonZeroU64};
use tactus_abi::blob::{Overheads, limit};

/// Most reservations of one hart.
pub const MEMBERS: usize = limit::RESERVATIONS_PER_HART;
/// Most steps of a [`Test`]. The example `evaluations` shows what random sets need: far fewer, except sets that leave
/// next to nothing of the hart.
pub const EVALUATIONS: u32 = 128;
/// The utilisation of a whole hart, in the unit of [`Member::utilisation`].
pub const FULL_UTILISATION: u64 = 1 << 32;

/// The longest that the hypervisor holds up a vCPU at a time, on a hart with so many real-time ones: its `blocking`,
/// and a `release` of each other one. A vCPU that is released is not released again before it has had the hart.
pub const fn held(overheads: &Overheads, vcpus: usize) -> u64 {
    overheads.blocking + (vcpus as u64).saturating_sub(1) * overheads.release
}

/// Bound of interval lengths: sums of demands fit 64 bits.
const LENGTH_LIMIT: u64 = 1 << 60;

/// A reservation with the derived values of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    period: NonZeroU32,
    /// Ticks from the deadline to the next release.
    gap: u32,
    /// Budget and overhead of a job.
    cost: u32,
    /// Cost by period, in parts of 2^-24, rounded up, by one part at most.
    rate: u32,
    /// Utilisation (cost by period), in parts of 2^-32, rounded down.
    utilisation: u32,
    /// Server: cost by deadline, likewise. Periodic: 0.
    slope: u32,
    server: bool,
    /// Whether these values were rounded.
    utilisation_rounded: bool,
    slope_rounded: bool,
}

/// `a / b` in parts of 2^-32, rounded down, less than the whole; and whether it was rounded. `a <= b < 2^32`.
const fn ratio(a: u64, b: u64) -> (u32, bool) {
    // A period is not 0; stated here, the division needs no check.
    let b = if b == 0 { 1 } else { b };
    let floor = (a << 32) / b;
    if floor < FULL_UTILISATION {
        (floor as u32, floor * b != a << 32)
    } else {
        (u32::MAX, true)
    }
}

impl Member {
    /// A reservation of no time.
    pub const NONE: Self = Self {
        period: NonZeroU32::MIN,
        gap: 0,
        cost: 0,
        rate: 1,
        utilisation: 0,
        slope: 0,
        server: false,
        utilisation_rounded: false,
        slope_rounded: false,
    };

    /// A reservation whose jobs cost `job` ticks more than their budget. `None`: it misses its deadline even alone.
    pub const fn new(reservation: Reservation, kind: Kind, job: u64) -> Option<Self> {
        let cost = reservation.budget.saturating_add(job);
        if cost > reservation.deadline {
            return None;
        }
        let server = matches!(kind, Kind::Server);
        let (utilisation, utilisation_rounded) = ratio(cost, reservation.period);
        let (slope, slope_rounded) = if server {
            ratio(cost, reservation.deadline)
        } else {
            (0, false)
        };
        let Some(period) = NonZeroU32::new(reservation.period as u32) else {
            return None;
        };
        Some(Self {
            period,
            gap: (reservation.period - reservation.deadline) as u32,
            cost: cost as u32,
            rate: (utilisation >> 8) + 1,
            utilisation,
            slope,
            server,
            utilisation_rounded,
            slope_rounded,
        })
    }

    /// Utilisation, rounded up.
    const fn utilisation_above(&self) -> u64 {
        self.utilisation as u64 + self.utilisation_rounded as u64
    }

    /// Server: cost by deadline, rounded up.
    const fn slope_above(&self) -> u64 {
        self.slope as u64 + self.slope_rounded as u64
    }

    /// Utilisation, in parts of 2^-32, rounded down.
    pub const fn utilisation(&self) -> u64 {
        self.utilisation as u64
    }

    /// Ticks from a release to the deadline.
    pub const fn deadline(&self) -> u64 {
        (self.period.get() - self.gap) as u64
    }

    /// Budget and overhead of a job, in ticks.
    pub const fn cost(&self) -> u64 {
        self.cost as u64
    }

    /// Periodic: the demand within `length`, and the distance from there back to where the bounding line touches it.
    #[inline(always)]
    fn periodic_demand(&self, length: u64) -> (u64, u64) {
        let period = NonZeroU64::from(self.period);
        let time = length + u64::from(self.gap);
        let jobs = time / period;
        (jobs * self.cost(), time - jobs * period.get())
    }

    /// Server: the demand within `length`, and the slope of the bounding line, in parts of 2^-24, at most one too many.
    fn server_demand(&self, length: u64) -> (u64, u32) {
        let (period, deadline) = (NonZeroU64::from(self.period), self.deadline());
        if length < deadline {
            let due = (length * self.cost()).div_ceil(deadline);
            return (due, (self.slope >> 8) + 1);
        }
        let jobs = (length - deadline) / period;
        let rest = length - deadline - jobs * period.get();
        let demand = (jobs + 1) * self.cost() + (rest * self.cost()).div_ceil(period.get());
        (demand, self.rate)
    }

    fn demand(&self, length: u64) -> u64 {
        if self.server {
            self.server_demand(length).0
        } else {
            self.periodic_demand(length).0
        }
    }
}

/// `fixed / slack`, rounded up, `slack` in parts of 2^-32 and `fixed < 2^39`; `None`: 2^60 or more.
fn divide_by_slack(fixed: u64, slack: u64) -> Option<u64> {
    // The low bits are rounded up where the whole does not fit.
    let (scaled, shift) = if fixed < FULL_UTILISATION {
        (fixed << 32, 0)
    } else {
        (((fixed >> 7) + 1) << 32, 7)
    };
    let quotient = scaled.checked_div(slack)? + 1;
    (quotient < LENGTH_LIMIT >> shift).then_some(quotient << shift)
}

/// What the lines that bound `H` prove.
struct LinearBound {
    /// The deadline where the bound exceeds the length most; `None`: the set is schedulable.
    suspect: Option<u64>,
    /// The length from which on `H(L) <= L` is proven; `None`: the utilisation is too high.
    horizon: Option<u64>,
}

/// The reservations of one hart, and the overheads of the hypervisor there.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Ordered by deadline.
    members: [Member; MEMBERS],
    len: usize,
    blocking: u64,
    release: u64,
    service: u64,
    service_period: u64,
}

impl Load {
    /// No reservations and no overheads.
    pub const EMPTY: Self = Self {
        members: [Member::NONE; MEMBERS],
        len: 0,
        blocking: 0,
        release: 0,
        service: 0,
        service_period: 1,
    };

    /// No reservations.
    pub fn new(overheads: &Overheads) -> Self {
        let mut load = Self::EMPTY;
        load.set_overheads(overheads);
        load
    }

    /// Removes all reservations.
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// Sets the overheads of the hypervisor.
    pub fn set_overheads(&mut self, overheads: &Overheads) {
        let clamp = |ticks: u64| ticks.min(limit::PERIOD_TICKS);
        self.blocking = clamp(overheads.blocking);
        self.release = clamp(overheads.release);
        self.service = if overheads.service_period == 0 {
            0
        } else {
            clamp(overheads.service)
        };
        self.service_period = clamp(overheads.service_period).max(1);
    }

    /// Appends a reservation whose deadline is not shorter than the others', if an entry is free.
    pub fn push(&mut self, member: Member) {
        if let Some(place) = self.members.get_mut(self.len) {
            *place = member;
            self.len += 1;
        }
    }

    /// Adds a reservation; `false`: no entry is free.
    pub fn add(&mut self, member: Member) -> bool {
        if self.len >= MEMBERS {
            return false;
        }
        let mut place = self.len;
        while place > 0 && self.members[place - 1].deadline() > member.deadline() {
            self.members[place] = self.members[place - 1];
            place -= 1;
        }
        self.members[place] = member;
        self.len += 1;
        true
    }

    /// The reservations, ordered by deadline.
    pub fn members(&self) -> &[Member] {
        &self.members[..self.len.min(MEMBERS)]
    }

    /// The shortest deadline; 0 when there are no reservations.
    pub fn shortest(&self) -> u64 {
        self.members().first().map_or(0, Member::deadline)
    }

    /// The longest that the hypervisor holds up a vCPU at a time: [`held`].
    const fn held(&self) -> u64 {
        self.blocking + (self.len as u64).saturating_sub(1) * self.release
    }

    /// Time of the hypervisor within `length`.
    fn hypervisor(&self, length: u64) -> u64 {
        self.held() + (length / self.service_period + 1) * self.service
    }

    /// `H(length)`, see the module. `length < 2^60`.
    pub fn demand(&self, length: u64) -> u64 {
        self.members()
            .iter()
            .fold(self.hypervisor(length), |sum, member| {
                sum + member.demand(length)
            })
    }

    /// Utilisation of deferred best-effort work, rounded down.
    fn service_utilisation(&self) -> u64 {
        (self.service << 32) / self.service_period
    }

    /// Utilisation of deferred best-effort work, rounded up.
    fn service_utilisation_above(&self) -> u64 {
        (self.service << 32).div_ceil(self.service_period)
    }

    /// Utilisation of the hart, in parts of 2^-32, each summand rounded down.
    pub fn utilisation(&self) -> u64 {
        self.members()
            .iter()
            .fold(self.service_utilisation(), |sum, member| {
                sum + member.utilisation()
            })
    }

    /// Bounds `H` by lines, each from a member's deadline on.
    fn bound(&self) -> LinearBound {
        // Slopes of servers whose deadline is beyond the length.
        let mut ramps: u64 = self.members().iter().map(|m| m.slope_above()).sum();
        let mut rate = self.service_utilisation_above();
        let mut fixed = self.held() + self.service;
        let mut bound = LinearBound {
            suspect: None,
            horizon: None,
        };
        let mut excess_most = 0;
        for member in self.members() {
            let deadline = member.deadline();
            rate += member.utilisation_above();
            // The intercept of the line through (deadline, cost).
            fixed += member.cost() - ((member.utilisation() * deadline) >> 32);
            ramps -= member.slope_above();
            let slope = rate + ramps;
            let above = if slope > FULL_UTILISATION {
                2 * deadline
            } else {
                fixed + (slope * deadline).div_ceil(FULL_UTILISATION)
            };
            if above > deadline {
                let excess = above - deadline;
                if excess > excess_most {
                    (bound.suspect, excess_most) = (Some(deadline), excess);
                }
            }
        }
        bound.horizon = divide_by_slack(fixed, FULL_UTILISATION.saturating_sub(rate));
        bound
    }
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Another step is needed.
    Pending,
    /// Schedulable: each job has its budget by its deadline.
    Fits,
    /// The utilisation exceeds the hart.
    Overloaded,
    /// Within some interval the demand exceeds the length.
    DemandExceeded,
    /// [`EVALUATIONS`] do not suffice; or servers leave nothing of the hart to spare, and lines prove nothing.
    Undecided,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The tests by lines and at the most critical deadline.
    QuickTests,
    /// Find the end of the longest busy period.
    BusyPeriod,
    /// Evaluate `H`, at decreasing lengths.
    Qpa,
}

/// The state of a test.
///
/// An evaluation at length `L` proves more than `L`. For `y <= L` each member's demand is at most its demand at `L`. It
/// is also at most its bounding line, which touches the demand at `L - touch`: `demand - slope * (L - touch - y)`. With
/// the lines of the members in a set `X` and the demands of the others, `H(y) <= y` holds down to `y = L - reach`,
/// where
///
/// ```text
/// reach = (L - H(L) - sum_X slope * touch) / (1 - sum_X slope)
/// ```
///
/// A line is the better bound if it touches within that reach: `X` are the members whose `touch` is within the last
/// reach.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    stage: Stage,
    /// All lengths above are proven.
    length: u64,
    /// Lengths that the last evaluation proved.
    reach: u64,
    /// Evaluations of all reservations so far.
    pub evaluations: u32,
}

impl Default for Test {
    fn default() -> Self {
        Self::new()
    }
}

impl Test {
    /// A test of a load that must not change before the test ends.
    pub const fn new() -> Self {
        Self {
            stage: Stage::QuickTests,
            length: 0,
            reach: 0,
            evaluations: 0,
        }
    }

    /// One step: evaluates each reservation once or twice.
    pub fn step(&mut self, load: &Load) -> Verdict {
        self.evaluations += 1;
        if self.evaluations > EVALUATIONS {
            return Verdict::Undecided;
        }
        match self.stage {
            Stage::QuickTests => self.quick_tests(load),
            Stage::BusyPeriod => self.extend_busy_period(load),
            Stage::Qpa => self.qpa_step(load),
        }
    }

    /// Runs a test to its end.
    pub fn run(load: &Load) -> Verdict {
        let mut test = Self::new();
        loop {
            match test.step(load) {
                Verdict::Pending => {}
                verdict => return verdict,
            }
        }
    }

    fn quick_tests(&mut self, load: &Load) -> Verdict {
        if load.utilisation() > FULL_UTILISATION {
            return Verdict::Overloaded;
        }
        let bound = load.bound();
        let Some(suspect) = bound.suspect else {
            return Verdict::Fits;
        };
        if load.demand(suspect) > suspect {
            return Verdict::DemandExceeded;
        }
        (self.stage, self.length) = match bound.horizon {
            Some(horizon) => (Stage::Qpa, horizon),
            None => (Stage::BusyPeriod, 1),
        };
        Verdict::Pending
    }

    /// Utilisation is at or near the whole hart: the set is schedulable if the longest busy period ends, and no
    /// deadline is missed in it.
    fn extend_busy_period(&mut self, load: &Load) -> Verdict {
        if load.members().iter().any(|m| m.server) {
            return Verdict::Undecided;
        }
        let busy = load
            .members()
            .iter()
            .fold(load.hypervisor(self.length), |sum, m| {
                sum + self.length.div_ceil(m.period.get().into()) * u64::from(m.cost)
            });
        if busy <= self.length {
            self.stage = Stage::Qpa;
        } else if busy >= LENGTH_LIMIT {
            return Verdict::Undecided;
        } else {
            self.length = busy;
        }
        Verdict::Pending
    }

    /// Evaluates `H` once, and steps down to the shortest length proven.
    fn qpa_step(&mut self, load: &Load) -> Verdict {
        let shortest = load.shortest();
        let Some(most) = self.length.checked_sub(shortest) else {
            return Verdict::Fits;
        };
        let (length, reach) = (self.length, self.reach);
        let mut demand = load.hypervisor(length);
        // In parts of 2^-24.
        let (mut fixed, mut slopes) = (0, 0);
        for member in load.members() {
            if member.server {
                let (due, rate) = member.server_demand(length);
                demand += due;
                slopes += u64::from(rate);
                continue;
            }
            let (due, touch) = member.periodic_demand(length);
            demand += due;
            if touch <= reach {
                fixed += u64::from(member.rate) * touch;
                slopes += u64::from(member.rate);
            }
        }
        let Some(slack) = self.length.checked_sub(demand) else {
            return Verdict::DemandExceeded;
        };
        let fixed = fixed.div_ceil(1 << 24);
        let slopes = slopes.saturating_sub(load.len as u64) << 8;
        let reach = slack.max(match slack.checked_sub(fixed) {
            None => 0,
            Some(_) if slopes >= FULL_UTILISATION => u64::MAX,
            Some(rest) if rest < FULL_UTILISATION => (rest << 32) / (FULL_UTILISATION - slopes),
            Some(rest) => rest,
        });
        if reach >= most {
            return Verdict::Fits;
        }
        self.length -= reach + 1;
        self.reach = reach;
        Verdict::Pending
    }
}
