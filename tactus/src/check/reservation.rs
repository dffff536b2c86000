//! The times of a real-time vCPU: period, budget and deadline, in ticks.

use tactus_abi::blob::{LEAST_BUDGET, limit};
use tactus_policy::reservation::Reservation;

use super::judge::Judge;
use super::time::time_text;
use crate::config::{At, Nanoseconds, Span, Vcpu};
use crate::problem::Code;
use crate::profile::Profile;

/// What the times of a vCPU come to.
pub(super) enum Times {
    /// It has none.
    None,
    /// In ticks. A period and a deadline that are no whole ticks count as shorter, a budget as longer.
    Some(Reservation),
    /// They do not suit each other or the platform; noted.
    Wrong,
}

/// Judges the times of a real-time vCPU.
pub(super) fn check(judge: &mut Judge<'_>, profile: &Profile, vcpu: &Vcpu, title: &str) -> Times {
    let (period, budget) = match (&vcpu.period, &vcpu.budget) {
        (None, None) => match &vcpu.deadline {
            None => return Times::None,
            Some(deadline) => {
                missing(judge, title, vcpu, &deadline.span, ["deadline", "period"]);
                return Times::Wrong;
            }
        },
        (Some(period), None) => {
            missing(judge, title, vcpu, &period.span, ["period", "budget"]);
            return Times::Wrong;
        }
        (None, Some(budget)) => {
            missing(judge, title, vcpu, &budget.span, ["budget", "period"]);
            return Times::Wrong;
        }
        (Some(period), Some(budget)) => (period, budget),
    };
    let deadline = vcpu.deadline.as_ref();
    let ordered = is_tick(judge, profile, period, "period", title)
        & is_tick(judge, profile, budget, "budget", title)
        & deadline.is_none_or(|time| is_tick(judge, profile, time, "deadline", title))
        && in_order(judge, profile, title, budget, deadline, period);
    if !ordered {
        return Times::Wrong;
    }
    let period_ticks = profile.ticks_within(period.value);
    let budget_ticks = profile.ticks_for(budget.value);
    let deadline_ticks = deadline.map_or(period_ticks, |time| profile.ticks_within(time.value));
    match Reservation::new(period_ticks, budget_ticks, deadline_ticks) {
        Some(reservation) => worth_having(judge, profile, title, budget, reservation),
        None => {
            judge.note(
                Code::BadReservation,
                &budget.span,
                format!("{budget_ticks} ticks"),
                format!(
                    "of {title}, the budget of {}, rounded up to ticks, is longer than its deadline, rounded down",
                    budget.value
                ),
                format!("a tick of `{}` is {}; use whole ones", profile.name, tick(profile)),
            );
            Times::Wrong
        }
    }
}

/// The least budget that a platform takes, in ticks.
pub(super) fn least_budget(profile: &Profile) -> u64 {
    LEAST_BUDGET * profile.ticks_for(profile.overheads.interrupt)
}

/// Refuses a budget of which nothing may be left.
fn worth_having(
    judge: &mut Judge<'_>,
    profile: &Profile,
    title: &str,
    budget: &At<Nanoseconds>,
    reservation: Reservation,
) -> Times {
    let least = least_budget(profile);
    if reservation.budget < least {
        let interrupt = profile.overheads.interrupt;
        judge.note(
            Code::BadReservation,
            &budget.span,
            "too small",
            format!(
                "the budget of {title}, {}, is less than twice the time of an interrupt, {interrupt}, by which a job may have less",
                budget.value
            ),
            format!(
                "use at least {}, and a longer period for the same share of the hart",
                time_text(least, profile.timebase_hz)
            ),
        );
        return Times::Wrong;
    }
    Times::Some(reservation)
}

/// The length of a tick; whole nanoseconds on every platform there is.
fn tick(profile: &Profile) -> Nanoseconds {
    Nanoseconds(1_000_000_000 / u64::from(profile.timebase_hz))
}

fn missing(judge: &mut Judge<'_>, title: &str, vcpu: &Vcpu, span: &Span, [there, key]: [&str; 2]) {
    if judge.config.is_wrong(&vcpu.span, key) {
        return;
    }
    let example = if key == "budget" { "200us" } else { "1ms" };
    judge.note(
        Code::MissingKey,
        span,
        format!("without `{key}`"),
        format!("{title} has a `{there}` and no `{key}`"),
        format!("add a line such as `{key} = \"{example}\"`"),
    );
}

/// Whether a time is at least a tick and not too long. A budget is rounded up to one.
fn is_tick(
    judge: &mut Judge<'_>,
    profile: &Profile,
    time: &At<Nanoseconds>,
    key: &str,
    title: &str,
) -> bool {
    let ticks = if key == "budget" {
        profile.ticks_for(time.value)
    } else {
        profile.ticks_within(time.value)
    };
    if (1..=limit::PERIOD_TICKS).contains(&ticks) {
        return true;
    }
    let longest = limit::PERIOD_TICKS / u64::from(profile.timebase_hz);
    judge.note(
        Code::BadReservation,
        &time.span,
        if ticks == 0 {
            "less than a tick"
        } else {
            "too long"
        },
        format!("the {key} of {title} is {}", time.value),
        format!(
            "use at least a tick of `{}`, {}, and at most {longest} s",
            profile.name,
            tick(profile)
        ),
    );
    false
}

fn in_order(
    judge: &mut Judge<'_>,
    profile: &Profile,
    title: &str,
    budget: &At<Nanoseconds>,
    deadline: Option<&At<Nanoseconds>>,
    period: &At<Nanoseconds>,
) -> bool {
    if let Some(deadline) = deadline.filter(|deadline| deadline.value > period.value) {
        judge.note(
            Code::BadReservation,
            &deadline.span,
            format!("after {}", period.value),
            format!(
                "the deadline of {title}, {}, comes after its next release, {} later",
                deadline.value, period.value
            ),
            format!(
                "use at most {}, or leave it out for just that",
                period.value
            ),
        );
        return false;
    }
    let (limit, what) = match deadline {
        Some(deadline) => (deadline.value, "deadline"),
        None => (period.value, "period"),
    };
    if budget.value > limit {
        // A budget is rounded up to ticks, and what limits it down.
        let most = profile.ticks_within(limit);
        let cure = if most < least_budget(profile) {
            format!("use a longer {what}")
        } else {
            let most = Nanoseconds(most * tick(profile).0);
            format!("use at most {most}, or a longer {what}")
        };
        judge.note(
            Code::BadReservation,
            &budget.span,
            format!("of {limit}"),
            format!(
                "the budget of {title}, {}, does not fit before its {what}, {limit}",
                budget.value
            ),
            cure,
        );
        return false;
    }
    true
}
