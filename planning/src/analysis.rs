//! What is known of a hart's real-time vCPUs before they run: how late each has its budget at the latest, what could be added, and
//! what would make a refused one fit. All times in ticks.
//!
//! A *response* here is the time from the release of a job that wants all of its budget, and does not wait in between, until it has had
//! it. Of a server these are the jobs that begin after it has been idle for a period or was cut off, or, where its deadline is its period, with each
//! new deadline; a job that it goes on with after waiting has, by the same deadline, what is left in proportion.

use tactus_abi::blob::{Overheads, limit};
use tactus_policy::admission::Task;
use tactus_policy::demand::{FULL_UTILISATION, Load, Member, Test, Verdict};
use tactus_policy::reservation::{Kind, Reservation};

/// Steps of a response's search before the deadline itself is given as the bound.
const STEPS: u32 = 1 << 20;
/// Times are added up in parts of 2^-32 of a tick.
const PART_BITS: u32 = 32;
/// Ranges that a response's search halves before it takes a bound from above for the rest.
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

/// What the hypervisor takes within `length`.
fn hypervisor(overheads: &Overheads, length: u64) -> u64 {
    let times = length.checked_div(overheads.service_period);
    overheads.blocking + times.map_or(0, |n| (n + 1) * overheads.service)
}

/// A task's reservation with the overhead of a job in its budget.
fn gross(task: &Task, overheads: &Overheads) -> Reservation {
    Reservation {
        budget: task.reservation.budget + overheads.job,
        ..task.reservation
    }
}

/// `a` by `b` in parts of a tick, see [`ticks`].
const fn parts(a: u64, b: u64) -> u128 {
    ((a as u128) << PART_BITS) / b as u128
}

/// Parts of a tick as ticks, rounded up. Each summand was rounded down: that is no tick in all, as there are far fewer of them than parts.
const fn ticks(parts: u128) -> u64 {
    parts.div_ceil(1 << PART_BITS) as u64
}

/// [`Reservation::demand`], not rounded up.
fn demand(r: &Reservation, kind: Kind, length: u64) -> u128 {
    match kind {
        Kind::Periodic if length < r.deadline => 0,
        Kind::Periodic => parts(r.demand(kind, length), 1),
        Kind::Server if length < r.deadline => parts(length * r.budget, r.deadline),
        Kind::Server => {
            let (jobs, rest) = (
                (length - r.deadline) / r.period,
                (length - r.deadline) % r.period,
            );
            parts((jobs + 1) * r.budget, 1) + parts(rest * r.budget, r.period)
        }
    }
}

/// The most that a task may ask for within `length` from when it has asked for nothing, whatever the deadlines; in parts of a tick.
fn arrivals(r: &Reservation, kind: Kind, length: u64) -> u128 {
    match kind {
        Kind::Periodic => parts(length.div_ceil(r.period) * r.budget, 1),
        Kind::Server => {
            let rest = parts(length % r.period * r.budget, r.period);
            parts((length / r.period + 1) * r.budget, 1) + rest
        }
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

/// The longest `done(n) - begin(n)` of all `n` up to `last`; both grow with `n`. `None`: some `done` is not known.
fn longest(
    last: u64,
    begin: impl Fn(u64) -> u64,
    mut done: impl FnMut(u64) -> Option<u64>,
) -> Option<u64> {
    // Ranges in which there may be a longer one; each but the first is half of one that was here before it.
    let mut ranges = [(0, last); u64::BITS as usize + 1];
    let (mut len, mut longest, mut halvings) = (1_usize, 0, HALVINGS);
    while let Some(below) = len.checked_sub(1) {
        let (first, last) = ranges[below];
        len = below;
        let bound = done(last)?.saturating_sub(begin(first));
        if bound <= longest {
            continue;
        }
        if first == last || halvings == 0 {
            longest = bound;
            continue;
        }
        halvings -= 1;
        longest = longest.max(done(first)?.saturating_sub(begin(first)));
        let middle = first + (last - first) / 2;
        // The earlier one comes next.
        ranges[len] = (middle + 1, last);
        ranges[len + 1] = (first, middle);
        len += 2;
    }
    Some(longest)
}

/// The longest response of a task on an EDF hart, where [`verdict`] says that all fit (Spuri, INRIA report 2772, 1996).
///
/// The hart has been busy for some time `a` with what is due no later than a job of the task, when that is released. For each `a` it is done,
/// counted from the begin of the busy time, after the least `t` with
///
/// ```text
/// t = hypervisor(t) + sum over all of min(demand(a + deadline), arrivals(t))
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
    let mut steps = STEPS;
    let ticks = search(tasks, which, overheads, &mut steps);
    Some(match ticks {
        Some(ticks) => Response {
            ticks: ticks.min(deadline),
            found: true,
        },
        None => Response {
            ticks: deadline,
            found: false,
        },
    })
}

fn search(tasks: &[Task], which: usize, overheads: &Overheads, steps: &mut u32) -> Option<u64> {
    let own = gross(tasks.get(which)?, overheads);
    let servers = tasks.iter().any(|t| t.kind == Kind::Server);
    let part_above = utilisation(tasks, overheads) + tasks.len() as u64 + 1;
    if servers && part_above >= FULL_UTILISATION {
        // The hart may be busy for ever.
        return None;
    }
    let end = u64::MAX >> 4;
    let busy = settle(1, end, steps, |length| {
        let all = tasks
            .iter()
            .map(|t| arrivals(&gross(t, overheads), t.kind, length));
        hypervisor(overheads, length) + ticks(all.sum())
    })?;
    let done = |release: u64| {
        let due = release + own.deadline;
        settle(1, end, steps, |length| {
            let sum = tasks.iter().enumerate().map(|(i, t)| {
                let r = gross(t, overheads);
                let by_deadline = demand(&r, t.kind, due);
                if i == which {
                    by_deadline
                } else {
                    by_deadline.min(arrivals(&r, t.kind, length))
                }
            });
            hypervisor(overheads, length) + ticks(sum.sum())
        })
    };
    longest(busy - 1, |release| release, done)
}

/// How long before its window opens a task may have been released whose budget is asked for in it: release jitter. A server may keep its
/// budget to the end of its deadline and have the next right after; where its deadline is its period its grid may begin anew at any time.
fn jitter(r: &Reservation, kind: Kind) -> u64 {
    match kind {
        Kind::Periodic => 0,
        Kind::Server if r.deadline == r.period => r.period,
        Kind::Server => r.deadline.saturating_sub(r.budget),
    }
}

/// The longest response of a vCPU on a fixed-priority hart (Joseph and Pandya, The Computer Journal 29(5), 1986, with the jitter of deferrable
/// servers: Bernat and Burns, RTSS 1999). Those of equal priority count as more urgent. `None`: it has no reservation, there is one before it without, or
/// it may be longer than its deadline.
pub fn fixed_priority_response(
    vcpus: &[Ranked],
    which: usize,
    overheads: &Overheads,
) -> Option<Response> {
    let vcpu = vcpus.get(which)?;
    let task = vcpu.task?;
    let own = gross(&task, overheads);
    let before = || {
        let others = vcpus.iter().enumerate();
        others
            .filter(|(i, v)| *i != which && v.priority >= vcpu.priority)
            .map(|(_, v)| v.task)
    };
    if before().any(|task| task.is_none()) {
        return None;
    }
    // A server that woke `woken` ticks before its deadline goes on in that job before it has the next one, which is released a
    // period less the deadline after that deadline.
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
    let mut steps = STEPS;
    let ticks = longest(last, begin, |woken| {
        let rest = (woken * own.budget).div_ceil(own.deadline);
        settle(1, begin(woken) + own.deadline, &mut steps, |length| {
            let sum = before().flatten().map(|t| {
                let r = gross(&t, overheads);
                (length + jitter(&r, t.kind)).div_ceil(r.period) * r.budget
            });
            hypervisor(overheads, length) + rest + own.budget + sum.sum::<u64>()
        })
    })?;
    Some(Response { ticks, found: true })
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

/// By how many ticks at least the length exceeds the demand on an EDF hart, over all lengths from the shortest deadline on: the longest further
/// blocking that would do no harm. `None`: they do not fit, or no task is there.
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

/// How much longer the budget of one of the tasks on an EDF hart could be. `None`: they do not fit, or there is no such task.
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

/// The largest budget with which a task would fit on an EDF hart beside others, its period and deadline being the same. `None`: none.
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

/// The shortest period with which a task would fit on an EDF hart beside others, its budget being the same; and its deadline, unless that
/// is its period. `None`: none up to [`limit::PERIOD_TICKS`].
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
