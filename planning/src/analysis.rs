//! What is known of a hart's real-time vCPUs before they run: how late each has its budget at the latest, what could be
//! added, and what would make a refused one fit. All times in ticks.
//!
//! A *response* here is the time from the release of a job that wants all of its budget, and does not wait in between,
//! until it has had it. Of a server these are the jobs that begin after it has been idle for a period or was cut off,
//! or, where its deadline is its period, with each new deadline; a job that it goes on with after waiting has, by the
//! same deadline, what is left in proportion.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use tactus_abi::blob::{Overheads, limit};
use tactus_policy::demand::{FULL_UTILISATION, Load, Member, Test, Verdict, held};
use tactus_policy::reservation::{Kind, Reservation, Task};

/// Steps of a response's search before the deadline itself is given as the bound.
pub(crate) const STEPS: u32 = 1 << 20;
/// Longest time that is searched.
const LENGTH_MAX: u64 = u64::MAX >> 4;
/// Times are added up in parts of 2^-32 of a tick.
const PART_BITS: u32 = 32;
/// Ranges that a response's search halves before it takes the greatest bound of those left.
const HALVINGS: u32 = 4096;

/// A bound on a response, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// No job takes longer.
    pub ticks: u64,
    /// The search for it ended; otherwise this is the deadline, by which admission has shown each to have its budget.
    pub found: bool,
}

/// A vCPU of a fixed-priority hart.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// Higher first.
    pub priority: u8,
    /// Its reservation, if it has one.
    pub task: Option<Task>,
    /// What it has in each mode of its hart.
    pub criticality: Criticality,
}

/// What a vCPU has while a job of its hart overruns its budget (Vestal, RTSS 2007).
///
/// A hart is in its *low mode* until a job has used up its budget and has more in the high mode. From then on it is in
/// its *high mode*, until it has no real-time work left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criticality {
    /// It keeps its budget in both modes.
    High {
        /// Or has this one in the high mode, if it is more. Only of periodic tasks.
        budget: Option<u64>,
    },
    /// It has no budget in the high mode.
    Low,
}

impl Criticality {
    /// A vCPU to which modes make no difference.
    pub const NONE: Self = Self::High { budget: None };
}

impl Ranked {
    /// A vCPU to which modes make no difference.
    pub const fn new(priority: u8, task: Option<Task>) -> Self {
        Self {
            priority,
            task,
            criticality: Criticality::NONE,
        }
    }

    /// What its jobs may cost in whichever mode costs more, with the overheads of a job. A job that overruns has the
    /// hart twice.
    fn gross(&self, overheads: &Overheads) -> Option<Task> {
        let mut task = self.most(overheads)?;
        task.reservation = gross(&task, overheads);
        Some(task)
    }

    /// The same, less the overhead of one job.
    pub fn most(&self, overheads: &Overheads) -> Option<Task> {
        let mut task = self.task?;
        if let Criticality::High {
            budget: Some(budget),
        } = self.criticality
        {
            task.reservation.budget = budget.max(task.reservation.budget) + overheads.job;
        }
        Some(task)
    }

    /// What it may have in the high mode, less the overhead of one job.
    pub fn in_high_mode(&self, overheads: &Overheads) -> Option<Task> {
        let mut task = self.most(overheads)?;
        if self.criticality == Criticality::Low {
            task.reservation.budget = 0;
        }
        Some(task)
    }
}

/// Whether a hart has a high mode: some job may overrun its budget.
pub fn has_modes(vcpus: &[Ranked]) -> bool {
    let mut all = vcpus.iter().map(|vcpu| vcpu.criticality);
    all.any(|one| matches!(one, Criticality::High { budget: Some(_) }))
}

/// Whether all tasks fit on one EDF hart: the decision of admission, without reserve and shares.
pub fn verdict(tasks: impl IntoIterator<Item = Task>, overheads: &Overheads) -> Verdict {
    let mut load = Load::new(overheads);
    for task in tasks {
        match Member::new(task.reservation, task.kind, overheads.job) {
            Some(member) if load.add(member) => {}
            Some(_) => return Verdict::Overloaded,
            None => return Verdict::DemandExceeded,
        }
    }
    Test::run(&load)
}

/// The part of a hart that the tasks and the hypervisor's service take, in parts of 2^-32, rounded down.
pub fn utilisation(tasks: &[Task], overheads: &Overheads) -> u64 {
    let part = |cost: u64, period: u64| (cost << 32).checked_div(period).unwrap_or(0);
    tasks
        .iter()
        .map(|t| part(t.reservation.budget + overheads.job, t.reservation.period))
        .fold(
            part(overheads.service, overheads.service_period),
            |sum, part| sum + part,
        )
}

/// What the hypervisor takes within `length` on a hart with so many real-time vCPUs, beside what it takes for jobs that
/// count in whole: what is less urgent may be released within it, each once.
fn taken(overheads: &Overheads, vcpus: usize, length: u64) -> u64 {
    hypervisor(overheads, length) - overheads.blocking + held(overheads, vcpus)
}

/// What the hypervisor takes within `length`, beside what it takes for jobs.
pub(crate) fn hypervisor(overheads: &Overheads, length: u64) -> u64 {
    let times = length.checked_div(overheads.service_period);
    overheads.blocking + times.map_or(0, |n| (n + 1) * overheads.service)
}

/// A task's reservation with the overhead of a job in its budget.
pub(crate) fn gross(task: &Task, overheads: &Overheads) -> Reservation {
    Reservation {
        budget: task.reservation.budget + overheads.job,
        ..task.reservation
    }
}

/// `a` by `b` in parts of a tick, see [`ticks`]. Periods and deadlines are [`limit::PERIOD_TICKS`] at most, so that
/// divisions of 64 bits are exact; those of 128 bits take many times as long.
pub(crate) const fn parts(a: u64, b: u64) -> u128 {
    let (whole, rest) = (a / b, a % b);
    let fraction = if b <= 1 << PART_BITS {
        ((rest << PART_BITS) / b) as u128
    } else {
        ((rest as u128) << PART_BITS) / b as u128
    };
    ((whole as u128) << PART_BITS) + fraction
}

/// Parts of a tick as ticks, rounded up. Each summand was rounded down: that is no tick in all, as there are far fewer
/// of them than parts.
pub(crate) const fn ticks(parts: u128) -> u64 {
    parts.div_ceil(1 << PART_BITS) as u64
}

/// The most that jobs which are released and due within `length` may ask for; in parts of a tick.
///
/// A server has less than [`Reservation::demand`], which is a line above it. Its releases are a period apart at least.
/// Before them comes the rest, in proportion, of a job that it goes on with. Where its deadline is its period, it may
/// begin a new job in place of that, which takes no more of the hart.
fn demand(r: &Reservation, kind: Kind, length: u64) -> u128 {
    match kind {
        Kind::Periodic if length < r.deadline => 0,
        Kind::Periodic => parts(r.demand(kind, length), 1),
        Kind::Server => {
            let (jobs, rest) = (length / r.period, length % r.period);
            parts(jobs * r.budget, 1) + parts(rest.min(r.deadline) * r.budget, r.deadline)
        }
    }
}

/// The most that a task may run within `length` from when it has asked for nothing, whatever the deadlines; in parts of
/// a tick.
///
/// A server runs most where its last job begins so early that it just ends: all that it runs is due within a deadline
/// of that begin.
fn executed(r: &Reservation, kind: Kind, length: u64) -> u128 {
    match kind {
        Kind::Periodic => parts(length.div_ceil(r.period) * r.budget, 1),
        Kind::Server => demand(r, kind, length.max(r.budget) - r.budget + r.deadline),
    }
}

/// The most that servers, the one with the shortest period first, run within `length` from when none has asked for
/// anything; in parts of a tick.
///
/// Since the last job of a server has begun, the hart runs that job and the last ones of the servers whose last job
/// begins later. All of these take the end of `length`, so that it has begun before. Before it the server has run what
/// its utilisation allows. The sum is the greatest where the last jobs begin the later, the shorter the period is.
fn executed_together<'a>(servers: impl Iterator<Item = &'a Reservation>, length: u64) -> u128 {
    let (mut sum, mut last_jobs) = (0, 0);
    for r in servers {
        last_jobs += r.budget;
        let begins = length.saturating_sub(last_jobs);
        sum += parts(r.budget, 1) + parts(begins * r.budget, r.period);
    }
    sum
}

/// The more urgent vCPUs of a fixed-priority hart, each with the overhead of a job in its budget.
struct MoreUrgent {
    periodic: Vec<Reservation>,
    /// Those with the shortest period first.
    servers: Vec<Reservation>,
    /// The deadline of some server is shorter than its period.
    has_constrained: bool,
}

impl MoreUrgent {
    /// Of tasks with the overhead of a job in their budgets.
    fn new(tasks: impl Iterator<Item = Task>) -> Self {
        let (mut periodic, mut servers) = (Vec::new(), Vec::new());
        for task in tasks {
            match task.kind {
                Kind::Periodic => periodic.push(task.reservation),
                Kind::Server => servers.push(task.reservation),
            }
        }
        servers.sort_unstable_by_key(|r: &Reservation| r.period);
        let has_constrained = servers.iter().any(|r| r.deadline < r.period);
        Self {
            periodic,
            servers,
            has_constrained,
        }
    }

    /// The most that they run within `length` from when none has asked for anything; in parts of a tick.
    fn executed(&self, length: u64) -> u128 {
        let is_implicit = |r: &&Reservation| r.deadline == r.period;
        let (mut constrained, mut implicit) = (0, 0);
        for r in &self.servers {
            let sum = if is_implicit(&r) {
                &mut implicit
            } else {
                &mut constrained
            };
            *sum += executed(r, Kind::Server, length);
        }
        let mut servers =
            (constrained + implicit).min(executed_together(self.servers.iter(), length));
        if self.has_constrained {
            let implicit = self.servers.iter().filter(is_implicit);
            servers = servers.min(constrained + executed_together(implicit, length));
        }
        let periodic = self.periodic.iter();
        let periodic: u128 = periodic.map(|r| executed(r, Kind::Periodic, length)).sum();
        periodic + servers
    }

    /// The line below what they run: its height at 0, and how much it rises in a tick; in parts of a tick.
    ///
    /// A server with a shorter deadline has demanded its utilisation of any length, and each summand of
    /// [`executed_together`] is a line but for its begin. What is rounded down of the parts is less than one for each
    /// server.
    fn line(&self) -> (i128, i128) {
        let height = |r: &Reservation, length: i128| {
            ((length * i128::from(r.budget)) << PART_BITS).div_euclid(r.period.into())
        };
        let (mut one_by_one, mut together, mut implicit_together) = (0, 0, 0);
        let (mut last_jobs, mut last_of_implicit) = (0, 0);
        for r in &self.servers {
            let [period, budget, deadline] = [r.period, r.budget, r.deadline].map(i128::from);
            let alone = height(r, deadline - budget);
            one_by_one += alone;
            last_jobs += budget;
            together += height(r, period - last_jobs);
            implicit_together += if deadline == period {
                last_of_implicit += budget;
                height(r, period - last_of_implicit)
            } else {
                alone
            };
        }
        let begin = one_by_one.min(together).min(implicit_together);
        let all = self.periodic.iter().chain(&self.servers);
        let rise = all.map(|r| height(r, 1)).sum();
        (begin - self.servers.len() as i128, rise)
    }

    /// The most jobs of theirs that get nothing within `length`: one that is there already, and one for each period.
    fn dropped(&self, length: u64) -> u64 {
        let all = self.periodic.iter().chain(&self.servers);
        all.map(|r| length.div_ceil(r.period) + 1).sum()
    }
}

/// The least `x` from `from` on that is `f(x)` or more; `None`: none up to `end`, or not within the steps left.
fn settle(from: u64, end: u64, steps: &mut u32, f: impl Fn(u64) -> u64) -> Option<u64> {
    let mut x = from;
    loop {
        *steps = steps.checked_sub(1)?;
        let next = f(x);
        if next <= x {
            return Some(x);
        }
        if next > end {
            return None;
        }
        x = next;
    }
}

/// A range of numbers in the search for the longest time, with what is done at its ends.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    /// No time is longer for a number of the range. First, so that ranges are ordered by it.
    bound: u64,
    first: u64,
    last: u64,
    first_done: u64,
    last_done: u64,
}

impl Range {
    fn new((first, first_done): (u64, u64), (last, last_done): (u64, u64), begin: u64) -> Self {
        Self {
            bound: last_done.saturating_sub(begin),
            first,
            last,
            first_done,
            last_done,
        }
    }
}

/// The longest `done(n) - begin(n)` of all `n` up to `last`; both grow with `n`. `None`: some `done` is not known.
///
/// `step(n)` is the greatest number up to `n` for which `done` is greater than for the number before it: only such are
/// looked at. `done` is given a bound from below, too. The search ends where no time is longer than `enough`, with some
/// time up to that.
///
/// The range whose bound is the greatest is halved next. After [`HALVINGS`] its bound is the answer.
fn longest(
    last: u64,
    enough: u64,
    begin: impl Fn(u64) -> u64,
    step: impl Fn(u64) -> u64,
    mut done: impl FnMut(u64, u64) -> Option<u64>,
) -> Option<u64> {
    let last = step(last);
    let first_done = done(0, 1)?;
    let last_done = done(last, first_done)?;
    let time = |n, done: u64| done.saturating_sub(begin(n));
    let mut longest = time(0, first_done).max(time(last, last_done));
    let all = Range::new((0, first_done), (last, last_done), begin(0));
    let mut ranges = BinaryHeap::from([all]);
    let mut halvings = HALVINGS;
    while let Some(range) = ranges.pop() {
        if range.bound <= longest.max(enough) {
            break;
        }
        if halvings == 0 {
            return Some(range.bound);
        }
        halvings -= 1;
        let (first, last) = (
            (range.first, range.first_done),
            (range.last, range.last_done),
        );
        // Both ends are known.
        let middle = step(first.0 + (last.0 - first.0) / 2);
        if middle > first.0 {
            let middle_done = done(middle, first.1)?;
            longest = longest.max(time(middle, middle_done));
            ranges.push(Range::new(first, (middle, middle_done), begin(first.0 + 1)));
            ranges.push(Range::new((middle, middle_done), last, begin(middle + 1)));
        } else if last.0 - first.0 > 1 {
            // No step up to the middle: the first one behind it is as good as the middle.
            let behind = first.0 + (last.0 - first.0) / 2;
            ranges.push(Range::new((behind, first.1), last, begin(behind + 1)));
        }
    }
    Some(longest)
}

/// The longest time for which tasks, and what the hypervisor takes, may keep a hart busy. `None`: perhaps for ever, or
/// the search takes too many steps. `goes_on`: what is released just when all before it has ended belongs to it.
pub(crate) fn busy_period(
    tasks: &[Task],
    overheads: &Overheads,
    goes_on: bool,
    steps: &mut u32,
) -> Option<u64> {
    let servers = tasks.iter().any(|t| t.kind == Kind::Server);
    let part_above = utilisation(tasks, overheads) + tasks.len() as u64 + 1;
    if servers && part_above >= FULL_UTILISATION {
        // The hart may be busy for ever.
        return None;
    }
    settle(1, LENGTH_MAX, steps, |length| {
        let executed_by = length + u64::from(goes_on);
        let all = tasks
            .iter()
            .map(|t| executed(&gross(t, overheads), t.kind, executed_by));
        hypervisor(overheads, length) + ticks(all.sum())
    })
}

/// The longest response of a task on an EDF hart, where [`verdict`] says that all fit (Spuri, INRIA report 2772, 1996).
///
/// The hart has been busy for some time `a` with what is due no later than a job of the task, when that is released.
/// For each `a` it is done, counted from the start of the busy time, after the least `t` with
///
/// ```text
/// t = taken(t) + sum over all of min(demand(a + deadline), executed(t))
/// ```
///
/// and the response is the longest `t - a`. For periodic tasks and no overheads it is reached.
pub fn earliest_deadline_response(
    tasks: &[Task],
    which: usize,
    overheads: &Overheads,
) -> Option<Response> {
    let task = tasks.get(which)?;
    let deadline = task.reservation.deadline;
    Some(within(search(tasks, which, overheads, 0), deadline))
}

/// The latest time from the release of a job of a task on an EDF hart until the job first has the hart, where
/// [`verdict`] says that all fit: when the first tick of its budget is over, less that tick. The equation of
/// [`earliest_deadline_response`] gives that time, with the rest of the job's budget left out of the task's own part.
pub fn earliest_deadline_start(
    tasks: &[Task],
    which: usize,
    overheads: &Overheads,
) -> Option<Response> {
    let Reservation {
        budget, deadline, ..
    } = tasks.get(which)?.reservation;
    let first = search(tasks, which, overheads, budget - 1);
    // A job that has its budget by its deadline has begun a budget before.
    Some(within(
        first.map(|ticks| ticks.saturating_sub(1)),
        deadline - budget,
    ))
}

/// A time that a search has found, which is at most `limit`; or that.
fn within(found: Option<u64>, limit: u64) -> Response {
    Response {
        ticks: found.map_or(limit, |ticks| ticks.min(limit)),
        found: found.is_some(),
    }
}

/// The longest time from a release of the task until all but the last `later` ticks of that job's budget are spent.
fn search(tasks: &[Task], which: usize, overheads: &Overheads, later: u64) -> Option<u64> {
    let mut remaining = STEPS;
    let steps = &mut remaining;
    let own = gross(tasks.get(which)?, overheads);
    let servers = tasks.iter().any(|t| t.kind == Kind::Server);
    let busy = busy_period(tasks, overheads, false, steps)?;
    // Of periodic tasks only a release that is due with a job of some task is a step.
    let step = |release: u64| {
        let with = |t: &Task| {
            let r = t.reservation;
            let since = (release + own.deadline).checked_sub(r.deadline)? % r.period;
            release.checked_sub(since)
        };
        if servers {
            release
        } else {
            tasks.iter().filter_map(with).max().unwrap_or(0)
        }
    };
    let done = |release: u64, from: u64| {
        let due = release + own.deadline;
        settle(from, LENGTH_MAX, steps, |length| {
            let sum = tasks.iter().enumerate().map(|(i, t)| {
                let r = gross(t, overheads);
                let by_deadline = demand(&r, t.kind, due);
                if i == which {
                    by_deadline - parts(later, 1)
                } else {
                    by_deadline.min(executed(&r, t.kind, length))
                }
            });
            taken(overheads, tasks.len(), length) + ticks(sum.sum())
        })
    };
    longest(busy - 1, 0, |release| release, step, done)
}

/// The longest response of a vCPU on a fixed-priority hart (Joseph and Pandya, The Computer Journal 29(5), 1986, with
/// deferrable servers: Bernat and Burns, RTSS 1999). Those of equal priority count as more urgent. `None`: it has no
/// reservation, there is one before it without, or it may be longer than its deadline.
///
/// Of a vCPU of low criticality it is that in the low mode. Of one of high criticality it is the longest in any mode,
/// of jobs with the budget of that mode.
pub fn fixed_priority_response(
    vcpus: &[Ranked],
    which: usize,
    overheads: &Overheads,
) -> Option<Response> {
    let ticks = ranked_search(vcpus, which, overheads, Until::AllIsSpent, 0)?;
    Some(Response { ticks, found: true })
}

/// Whether [`fixed_priority_response`] has a bound. It takes far fewer steps to know that than the bound.
pub fn fixed_priority_is_in_time(vcpus: &[Ranked], which: usize, overheads: &Overheads) -> bool {
    let task = vcpus.get(which).and_then(|vcpu| vcpu.task);
    task.is_some_and(|task| {
        let enough = task.reservation.deadline;
        ranked_search(vcpus, which, overheads, Until::AllIsSpent, enough).is_some()
    })
}

/// The latest time from the release of a job of a vCPU on a fixed-priority hart until the job first has the hart: when
/// the first tick of its budget is over, less that tick. `None`: as of [`fixed_priority_response`].
pub fn fixed_priority_start(
    vcpus: &[Ranked],
    which: usize,
    overheads: &Overheads,
) -> Option<Response> {
    let first = ranked_search(vcpus, which, overheads, Until::FirstTick, 0)?;
    Some(Response {
        ticks: first.saturating_sub(1),
        found: true,
    })
}

/// The longest response in the low mode, of jobs that have their usual budget: as [`fixed_priority_response`], if none
/// overruns.
pub fn low_mode_response(
    vcpus: &[Ranked],
    which: usize,
    overheads: &Overheads,
) -> Option<Response> {
    let usual: Vec<Ranked> = vcpus
        .iter()
        .map(|vcpu| Ranked::new(vcpu.priority, vcpu.task))
        .collect();
    fixed_priority_response(&usual, which, overheads)
}

/// Up to when a job is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    AllIsSpent,
    FirstTick,
}

impl Until {
    /// What a job of that cost has spent until then.
    fn spent(self, cost: u64, overheads: &Overheads) -> u64 {
        match self {
            Self::AllIsSpent => cost,
            Self::FirstTick => overheads.job + 1,
        }
    }
}

/// The longest time from a release of the vCPU until so much of that job is spent; or, where that is at most `enough`,
/// some time up to that.
///
/// In the high mode it is the response time of adaptive mixed criticality (AMC-rtb: Baruah, Burns and Davis, RTSS
/// 2011). The hart changes its mode before the job would be done in the low mode. So those of low criticality have
/// executed what they may by then, and each job of theirs after that costs its overhead:
///
/// ```text
/// t = taken(t) + own + executed by those of high criticality(t) + by those of low criticality(low) + dropped(t)
/// ```
///
/// where `low` is the time at which the job would be done in the low mode, counted from the start of the busy time.
fn ranked_search(
    vcpus: &[Ranked],
    which: usize,
    overheads: &Overheads,
    until: Until,
    enough: u64,
) -> Option<u64> {
    let vcpu = vcpus.get(which)?;
    let task = vcpu.task?;
    let own = gross(&task, overheads);
    let before: Vec<&Ranked> = vcpus
        .iter()
        .enumerate()
        .filter(|(i, v)| *i != which && v.priority >= vcpu.priority)
        .map(|(_, v)| v)
        .collect();
    if before.iter().any(|one| one.task.is_none()) {
        return None;
    }
    // A server that woke `woken` ticks before its deadline goes on in that job before it has the next one, which is
    // released a period less the deadline after that deadline.
    let last = match task.kind {
        Kind::Periodic => 0,
        Kind::Server => own.deadline,
    };
    let begin = |woken: u64| {
        if woken == 0 {
            0
        } else {
            woken + own.period - own.deadline
        }
    };
    let is_low = |one: &&&Ranked| one.criticality == Criticality::Low;
    let usual = |one: &Ranked| Ranked::new(one.priority, one.task).gross(overheads);
    let more_urgent = MoreUrgent::new(before.iter().filter_map(|one| usual(one)));
    let high = before.iter().filter(|one| !is_low(one));
    let high = MoreUrgent::new(high.filter_map(|one| one.gross(overheads)));
    let low = before.iter().filter(is_low);
    let low = MoreUrgent::new(low.filter_map(|one| usual(one)));
    let own_high = vcpu.gross(overheads)?.reservation;
    let changes_mode = has_modes(vcpus) && vcpu.criticality != Criticality::Low;
    let (line_begin, line_rise) = more_urgent.line();
    let service = match overheads.service_period {
        0 => 0,
        period => parts(overheads.service, period),
    };
    let idle = (1 << PART_BITS) - line_rise - service as i128;
    let mut steps = STEPS;
    let done = |woken: u64, from: u64| {
        let rest = parts(woken * own.budget, own.deadline);
        let end = begin(woken) + own.deadline;
        let spent = until.spent(own.budget, overheads);
        // It is not done before `fixed` and the line below what more urgent ones run have been executed.
        let fixed = parts(held(overheads, vcpus.len()) + spent, 1) + rest;
        let least = match line_begin + fixed as i128 {
            fixed if idle > 0 && fixed > 0 => (fixed + idle - 1) / idle,
            _ => 1,
        };
        if least > end.into() {
            return None;
        }
        let least = least as u64;
        // The bound from below is one of the high mode.
        let low_from = if changes_mode { least } else { from.max(least) };
        let in_low_mode = settle(low_from, end, &mut steps, |length| {
            let executed = more_urgent.executed(length);
            taken(overheads, vcpus.len(), length) + spent + ticks(rest + executed)
        })?;
        if !changes_mode {
            return Some(in_low_mode);
        }
        let before_the_change = low.executed(in_low_mode);
        settle(in_low_mode.max(from), end, &mut steps, |length| {
            let executed = high.executed(length) + before_the_change;
            taken(overheads, vcpus.len(), length)
                + until.spent(own_high.budget, overheads)
                + low.dropped(length) * overheads.job
                + ticks(rest + executed)
        })
    };
    longest(last, enough, begin, |woken| woken, done)
}

/// The greatest `x` of `0..=end` for which `fits`, which holds up to some `x`; `None`: not even for 0.
fn greatest(end: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    if !fits(0) {
        return None;
    }
    let (mut good, mut bad) = (0, end + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(good)
}

/// By how many ticks at least the length exceeds the demand on an EDF hart, over all lengths from the shortest deadline
/// on: the longest further blocking that would do no harm. `None`: they do not fit, or no task is there.
pub fn slack(tasks: &[Task], overheads: &Overheads) -> Option<u64> {
    let shortest = tasks.iter().map(|t| t.reservation.deadline).min()?;
    greatest(shortest, |more| {
        let overheads = Overheads {
            blocking: overheads.blocking + more,
            ..*overheads
        };
        verdict(tasks.iter().copied(), &overheads) == Verdict::Fits
    })
}

/// How much longer the budget of one of the tasks on an EDF hart could be. `None`: they do not fit, or there is no such
/// task.
pub fn spare_budget(tasks: &[Task], which: usize, overheads: &Overheads) -> Option<u64> {
    let r = tasks.get(which)?.reservation;
    greatest(r.deadline - r.budget, |more| {
        let tasks = tasks.iter().enumerate().map(|(i, task)| {
            let mut task = *task;
            task.reservation.budget += if i == which { more } else { 0 };
            task
        });
        verdict(tasks, overheads) == Verdict::Fits
    })
}

/// The largest budget with which a task would fit on an EDF hart beside others, its period and deadline being the same.
/// `None`: none.
pub fn largest_budget(tasks: &[Task], task: &Task, overheads: &Overheads) -> Option<u64> {
    let with = |budget: u64| {
        let mut task = *task;
        task.reservation.budget = budget;
        verdict(tasks.iter().copied().chain([task]), overheads) == Verdict::Fits
    };
    Some(
        greatest(task.reservation.deadline.checked_sub(1)?, |less| {
            with(1 + less)
        })? + 1,
    )
}

/// The shortest period with which a task would fit on an EDF hart beside others, its budget being the same; and its
/// deadline, unless that is its period. `None`: none up to [`limit::PERIOD_TICKS`].
pub fn shortest_period(tasks: &[Task], task: &Task, overheads: &Overheads) -> Option<u64> {
    let Reservation {
        period,
        budget,
        deadline,
    } = task.reservation;
    let implicit = deadline == period;
    let least = if implicit { budget } else { deadline };
    let with = |period: u64| {
        let mut task = *task;
        task.reservation.period = period;
        if implicit {
            task.reservation.deadline = period;
        }
        verdict(tasks.iter().copied().chain([task]), overheads) == Verdict::Fits
    };
    let less = greatest(limit::PERIOD_TICKS - least, |less| {
        with(limit::PERIOD_TICKS - less)
    })?;
    Some(limit::PERIOD_TICKS - less)
}
