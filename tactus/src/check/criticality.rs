//! What a real-time vCPU has in the modes of its hart.

use tactus_planning::analysis::Criticality;
use tactus_policy::reservation::{Kind, Reservation};

use super::judge::Judge;
use super::platform::Platform;
use super::vcpus::Seen;
use crate::config::{Class, CriticalityLevel, Span, Vcpu};
use crate::problem::Code;

/// The keys about modes that a vCPU has, with their places.
pub(super) fn keys(vcpu: &Vcpu) -> impl Iterator<Item = (&'static str, &Span)> {
    let criticality = vcpu.criticality.as_ref();
    let criticality = criticality.map(|level| ("criticality", &level.span));
    let budget = vcpu.budget_high.as_ref();
    criticality
        .into_iter()
        .chain(budget.map(|time| ("budget_high", &time.span)))
}

/// Judges them. `None`, noted: they do not suit the vCPU.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: Option<&Platform>,
    vcpu: &Vcpu,
    title: &str,
    reservation: Option<Reservation>,
    kind: Kind,
) -> Option<Criticality> {
    let mut keys = keys(vcpu).peekable();
    let (Some(&(key, span)), Some(platform)) = (keys.peek(), platform) else {
        return Some(Criticality::NONE);
    };
    let mut wrong = |span: &Span, label: &str, message: String, cure: &str| {
        judge.note(Code::BadReservation, span, label.to_owned(), message, cure);
        None
    };
    let (Some(times), true) = (reservation, vcpu.priority.is_some()) else {
        return wrong(
            span,
            "without a priority and a budget",
            format!(
                "{title} has a `{key}`, which only a vCPU with a `priority` and a reservation has: modes are for harts that go by priorities"
            ),
            "remove it, or give the vCPU a `priority`, a `period` and a `budget`",
        );
    };
    let is_low = vcpu
        .criticality
        .as_ref()
        .is_some_and(|level| level.value == CriticalityLevel::Low);
    let Some(budget) = &vcpu.budget_high else {
        return Some(if is_low {
            Criticality::Low
        } else {
            Criticality::NONE
        });
    };
    if is_low {
        return wrong(
            &budget.span,
            "of low criticality",
            format!(
                "{title} is of low criticality, which has nothing in the high mode, and has a `budget_high` for it"
            ),
            "keep one of them",
        );
    }
    if kind != Kind::Periodic {
        return wrong(
            &budget.span,
            "of a server",
            format!(
                "{title} has a `budget_high` and goes on with a job after waiting, so that it is not known what a job needs"
            ),
            "add `kind = \"periodic\"`, if its jobs are over when it waits",
        );
    }
    let high = platform.profile.ticks_for(budget.value);
    if high <= times.budget || high > times.deadline {
        return wrong(
            &budget.span,
            if high > times.deadline {
                "after the deadline"
            } else {
                "no more than `budget`"
            },
            format!(
                "the `budget_high` of {title}, {}, is to be more than its `budget` and no more than its deadline",
                budget.value
            ),
            "state the longest that a job may need at all; `budget` is what it usually needs at most",
        );
    }
    Some(Criticality::High { budget: Some(high) })
}

/// Refuses a low criticality where no vCPU has more in the high mode: that mode would never begin.
pub(super) fn check_harts(judge: &mut Judge<'_>, seen: &[Seen<'_>]) {
    let has_mode = |hart: u32| {
        let mut here = seen.iter().filter(|one| one.checked.harts.contains(&hart));
        here.any(|one| one.checked.class == Class::Rt && one.written.budget_high.is_some())
    };
    for one in seen {
        let (Criticality::Low, Some(&hart)) = (one.checked.criticality, one.checked.harts.first())
        else {
            continue;
        };
        if let Some(level) = one.written.criticality.as_ref().filter(|_| !has_mode(hart)) {
            judge.note(
                Code::BadReservation,
                &level.span,
                "of no effect",
                format!(
                    "{} is of low criticality, and no vCPU on hart {hart} has a `budget_high` for the sake of which it would be dropped",
                    one.title
                ),
                "remove it, or state what a vCPU there may need beyond its `budget`",
            );
        }
    }
}
