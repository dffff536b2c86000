//! Does a set of reservations fit on one EDF hart: the processor-demand test, in steps that are short.
//!
//! It fits when, for every length `L` from the shortest deadline on, what is released and due within any `L` ticks, with what the
//! hypervisor takes meanwhile, is at most `L`:
//!
//! ```text
//! H(L) = blocking + (L / service_period + 1) * service + sum of demand_i(L) <= L
//! ```
//!
//! where `demand_i` is [`crate::reservation::Reservation::demand`] with the overhead of a job added to the budget.
//!
//! `H` is bounded from above by lines, one for each reservation from its deadline on, with its utilisation as slope. Where these prove all, which
//! is most often, the test is over at once (Devi, ECRTS 2003). Where they exceed the length most, `H` is looked at first. Then it is
//! looked at from the length on from which the lines prove all, downwards: one look proves all lengths down to the demand found
//! (QPA: Zhang and Burns, IEEE Transactions on Computers 58(9), 2009), or further, with the line of each reservation in place of its demand where
//! that is better, see [`Test`].
//!
//! For periodic reservations the answer is exact. For servers `H` is rounded up by less than a tick for each.

use crate::reservation::{Kind, Reservation};
use core::num::{NonZeroU32, NonZeroU64};
use tactus_abi::blob::{Overheads, limit};

/// Reservations of one hart.
pub const MEMBERS: usize = limit::RESERVATIONS_PER_HART;
/// Steps that a [`Test`] takes before it gives up. What random sets need is shown by the example `evaluations`: far fewer, but for those
/// that leave next to nothing of the hart.
pub const EVALUATIONS: u32 = 128;
/// The whole of a hart's time, in the unit of [`Member::part`].
pub const WHOLE: u64 = 1 << 32;

/// Lengths that are looked at are less: sums of demands fit 64 bits.
const LENGTHS: u64 = 1 << 60;

/// A reservation as the test needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    period: NonZeroU32,
    /// Ticks from the deadline to the next release.
    gap: u32,
    /// Budget and overhead of a job.
    cost: u32,
    /// Cost by period, in parts of 2^-24, rounded up, by one part at most.
    rate: u32,
    /// Cost by period, in parts of 2^-32, rounded down.
    part: u32,
    /// Of a server: cost by deadline, likewise. Of a periodic one: 0.
    slope: u32,
    server: bool,
    /// Whether these parts were rounded.
    part_more: bool,
    slope_more: bool,
}

/// `a / b` in parts of 2^-32, rounded down, less than the whole; and whether it was rounded. `a <= b < 2^32`.
const fn parts(a: u64, b: u64) -> (u32, bool) {
    // A period is not 0; said here, the division needs no check.
    let b = if b == 0 { 1 } else { b };
    let floor = (a << 32) / b;
    if floor < WHOLE {
        (floor as u32, floor * b != a << 32)
    } else {
        (u32::MAX, true)
    }
}

impl Member {
    /// One that asks for nothing.
    pub const NONE: Self = Self {
        period: NonZeroU32::MIN,
        gap: 0,
        cost: 0,
        rate: 1,
        part: 0,
        slope: 0,
        server: false,
        part_more: false,
        slope_more: false,
    };

    /// A reservation whose jobs cost `job` ticks more than their budget. `None`: not even alone would it have its budget by
    /// its deadline.
    pub const fn new(reservation: Reservation, kind: Kind, job: u64) -> Option<Self> {
        let cost = reservation.budget.saturating_add(job);
        if cost > reservation.deadline {
            return None;
        }
        let server = matches!(kind, Kind::Server);
        let (part, part_more) = parts(cost, reservation.period);
        let (slope, slope_more) = if server {
            parts(cost, reservation.deadline)
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
            rate: (part >> 8) + 1,
            part,
            slope,
            server,
            part_more,
            slope_more,
        })
    }

    /// Cost by period, rounded up.
    const fn part_above(&self) -> u64 {
        self.part as u64 + self.part_more as u64
    }

    /// Of a server: cost by deadline, rounded up.
    const fn slope_above(&self) -> u64 {
        self.slope as u64 + self.slope_more as u64
    }

    /// Its part of the hart, in parts of 2^-32, rounded down.
    pub const fn part(&self) -> u64 {
        self.part as u64
    }

    /// Ticks from a release to the deadline.
    pub const fn deadline(&self) -> u64 {
        (self.period.get() - self.gap) as u64
    }

    /// Budget and overhead of a job, in ticks.
    pub const fn cost(&self) -> u64 {
        self.cost as u64
    }

    /// Of a periodic one: its demand within `length`, and how far back from there the line touches it that bounds it from above.
    #[inline(always)]
    fn stairs(&self, length: u64) -> (u64, u64) {
        let period = NonZeroU64::from(self.period);
        let time = length + u64::from(self.gap);
        let jobs = time / period;
        (jobs * self.cost(), time - jobs * period.get())
    }

    /// Of a server: its demand within `length`, and the slope of the line that bounds it, in parts of 2^-24, one too many at most.
    fn ramps(&self, length: u64) -> (u64, u32) {
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
            self.ramps(length).0
        } else {
            self.stairs(length).0
        }
    }
}

/// `fixed / slack`, rounded up, `slack` in parts of 2^-32 and `fixed < 2^39`; `None`: 2^60 or more.
fn over(fixed: u64, slack: u64) -> Option<u64> {
    // The low bits are rounded up where the whole does not fit.
    let (scaled, shift) = if fixed < WHOLE {
        (fixed << 32, 0)
    } else {
        (((fixed >> 7) + 1) << 32, 7)
    };
    let quotient = scaled.checked_div(slack)? + 1;
    (quotient < LENGTHS >> shift).then_some(quotient << shift)
}

/// What lines that bound `H` tell.
struct Survey {
    /// The deadline where the bound exceeds the length most; `None`: all fits.
    suspect: Option<u64>,
    /// The length from which on `H(L) <= L` for sure; `None`: too much of the hart is taken to say.
    horizon: Option<u64>,
}

/// The reservations of one hart, and what the hypervisor takes there.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// In order of deadline.
    members: [Member; MEMBERS],
    len: usize,
    blocking: u64,
    service: u64,
    service_period: u64,
}

impl Load {
    /// No reservations, and nothing that the hypervisor takes.
    pub const EMPTY: Self = Self {
        members: [Member::NONE; MEMBERS],
        len: 0,
        blocking: 0,
        service: 0,
        service_period: 1,
    };

    /// No reservations.
    pub fn new(overheads: &Overheads) -> Self {
        let mut load = Self::EMPTY;
        load.set_overheads(overheads);
        load
    }

    /// Forgets the reservations.
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// What the hypervisor takes.
    pub fn set_overheads(&mut self, overheads: &Overheads) {
        let clamp = |ticks: u64| ticks.min(limit::PERIOD_TICKS);
        self.blocking = clamp(overheads.blocking);
        self.service = if overheads.service_period == 0 {
            0
        } else {
            clamp(overheads.service)
        };
        self.service_period = clamp(overheads.service_period).max(1);
    }

    /// Adds one whose deadline is no shorter than those of the others, if there is a place.
    pub fn push(&mut self, member: Member) {
        if let Some(place) = self.members.get_mut(self.len) {
            *place = member;
            self.len += 1;
        }
    }

    /// Adds one; `false` when there is no place.
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

    /// The reservations, in order of deadline.
    pub fn members(&self) -> &[Member] {
        &self.members[..self.len.min(MEMBERS)]
    }

    /// The shortest deadline; 0 when there are no reservations.
    pub fn shortest(&self) -> u64 {
        self.members().first().map_or(0, Member::deadline)
    }

    /// What the hypervisor takes within `length`.
    fn hypervisor(&self, length: u64) -> u64 {
        self.blocking + (length / self.service_period + 1) * self.service
    }

    /// `H(length)`, see the module. `length < 2^60`.
    pub fn demand(&self, length: u64) -> u64 {
        self.members()
            .iter()
            .fold(self.hypervisor(length), |sum, member| {
                sum + member.demand(length)
            })
    }

    /// The service's part, rounded down.
    fn service_part(&self) -> u64 {
        (self.service << 32) / self.service_period
    }

    /// The service's part, rounded up.
    fn service_above(&self) -> u64 {
        (self.service << 32).div_ceil(self.service_period)
    }

    /// The part of the hart that is taken, in parts of 2^-32, each summand rounded down.
    pub fn part(&self) -> u64 {
        self.members()
            .iter()
            .fold(self.service_part(), |sum, member| sum + member.part())
    }

    /// Bounds `H` by lines, each from a member's deadline on.
    fn survey(&self) -> Survey {
        // Of servers whose deadline is yet to come.
        let mut ramps: u64 = self.members().iter().map(|m| m.slope_above()).sum();
        let mut rate = self.service_above();
        let mut fixed = self.blocking + self.service;
        let mut survey = Survey {
            suspect: None,
            horizon: None,
        };
        let mut excess_most = 0;
        for member in self.members() {
            let deadline = member.deadline();
            rate += member.part_above();
            // What the line through (deadline, cost) has at 0.
            fixed += member.cost() - ((member.part() * deadline) >> 32);
            ramps -= member.slope_above();
            let slope = rate + ramps;
            let above = if slope > WHOLE {
                2 * deadline
            } else {
                fixed + (slope * deadline).div_ceil(WHOLE)
            };
            if above > deadline {
                let excess = above - deadline;
                if excess > excess_most {
                    (survey.suspect, excess_most) = (Some(deadline), excess);
                }
            }
        }
        survey.horizon = over(fixed, WHOLE.saturating_sub(rate));
        survey
    }
}

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet: another step is needed.
    Open,
    /// Each has its budget by its deadline.
    Fits,
    /// More than the whole hart is asked for.
    Overloaded,
    /// Within some length more is due than it has ticks.
    Late,
    /// [`EVALUATIONS`] were not enough; or servers leave nothing of the hart to spare, and lines do not prove that they fit.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The quick tests.
    Begin,
    /// Look for the end of the longest busy time.
    Stretch,
    /// Evaluate `H`.
    Look,
}

/// A test under way.
///
/// A look at length `L` proves more than `L`. For `y <= L` each member's demand is at most what it is at `L`; and at most what the line tells
/// that bounds it and that it touches at `L - touch`: `demand - slope * (L - touch - y)`. With the lines of the members in a set `X` and the
/// demands of the others, `H(y) <= y` holds down to `y = L - reach`, where
///
/// ```text
/// reach = (L - H(L) - sum_X slope * touch) / (1 - sum_X slope)
/// ```
///
/// To take a member's line pays when it touches within that reach: `X` are those whose `touch` is within the last reach.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    stage: Stage,
    /// Nothing is wrong from here up.
    length: u64,
    /// How far down the last look reached.
    reach: u64,
    /// Steps taken that looked at every reservation.
    pub evaluations: u32,
}

impl Default for Test {
    fn default() -> Self {
        Self::new()
    }
}

impl Test {
    /// A test of a load that is not to change until it is over.
    pub const fn new() -> Self {
        Self {
            stage: Stage::Begin,
            length: 0,
            reach: 0,
            evaluations: 0,
        }
    }

    /// One step: looks at each reservation once or twice.
    pub fn step(&mut self, load: &Load) -> Verdict {
        self.evaluations += 1;
        if self.evaluations > EVALUATIONS {
            return Verdict::Unknown;
        }
        match self.stage {
            Stage::Begin => self.begin(load),
            Stage::Stretch => self.stretch(load),
            Stage::Look => self.look(load),
        }
    }

    /// All steps at once.
    pub fn run(load: &Load) -> Verdict {
        let mut test = Self::new();
        loop {
            match test.step(load) {
                Verdict::Open => {}
                verdict => return verdict,
            }
        }
    }

    fn begin(&mut self, load: &Load) -> Verdict {
        if load.part() > WHOLE {
            return Verdict::Overloaded;
        }
        let survey = load.survey();
        let Some(suspect) = survey.suspect else {
            return Verdict::Fits;
        };
        if load.demand(suspect) > suspect {
            return Verdict::Late;
        }
        (self.stage, self.length) = match survey.horizon {
            Some(horizon) => (Stage::Look, horizon),
            None => (Stage::Stretch, 1),
        };
        Verdict::Open
    }

    /// The hart is as good as full, perhaps overfull: all is well if the longest time for which it may be busy ends, and
    /// if no deadline is missed until then.
    fn stretch(&mut self, load: &Load) -> Verdict {
        if load.members().iter().any(|m| m.server) {
            return Verdict::Unknown;
        }
        let hypervisor = load.blocking + (self.length / load.service_period + 1) * load.service;
        let busy = load.members().iter().fold(hypervisor, |sum, m| {
            sum + self.length.div_ceil(m.period.get().into()) * u64::from(m.cost)
        });
        if busy <= self.length {
            self.stage = Stage::Look;
        } else if busy >= LENGTHS {
            return Verdict::Unknown;
        } else {
            self.length = busy;
        }
        Verdict::Open
    }

    /// Looks at `H` once, and steps down as far as that proves.
    fn look(&mut self, load: &Load) -> Verdict {
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
                let (due, rate) = member.ramps(length);
                demand += due;
                slopes += u64::from(rate);
                continue;
            }
            let (due, touch) = member.stairs(length);
            demand += due;
            if touch <= reach {
                fixed += u64::from(member.rate) * touch;
                slopes += u64::from(member.rate);
            }
        }
        let Some(slack) = self.length.checked_sub(demand) else {
            return Verdict::Late;
        };
        let fixed = fixed.div_ceil(1 << 24);
        let slopes = slopes.saturating_sub(load.len as u64) << 8;
        let reach = slack.max(match slack.checked_sub(fixed) {
            None => 0,
            Some(_) if slopes >= WHOLE => u64::MAX,
            Some(rest) if rest < WHOLE => (rest << 32) / (WHOLE - slopes),
            Some(rest) => rest,
        });
        if reach >= most {
            return Verdict::Fits;
        }
        self.length -= reach + 1;
        self.reach = reach;
        Verdict::Open
    }
}
