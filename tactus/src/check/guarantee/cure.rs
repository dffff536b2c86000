//! What would make a real-time vCPU fit.

use tactus_abi::blob::{RealTimePolicy, limit};
use tactus_policy::reservation::{Kind, Reservation};

use super::super::vcpus::Seen;
use super::System;
use super::joint::Joint;
use super::load::{greatest, least};
use super::trial::Change;
use crate::config::Share;

/// Changes of which each alone makes a vCPU fit, and no other vCPU refused that was not before; those that would not
/// are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cures {
    /// Whether nothing at all is refused after each of them: otherwise other vCPUs still are, which need a cure of
    /// their own.
    pub whole_system: bool,
    /// The largest budget that fits.
    pub budget: Option<u64>,
    /// The shortest period; the deadline follows where none is written.
    pub period: Option<u64>,
    /// The shortest deadline.
    pub deadline: Option<u64>,
    /// That waiting ends its jobs.
    pub periodic: bool,
    /// Another hart.
    pub hart: Option<u32>,
    /// The largest part of each hart for best effort.
    pub reserve: Option<Share>,
}

impl Cures {
    fn ways(&self, time: &impl Fn(u64) -> String) -> Vec<String> {
        let mut ways = Vec::new();
        if let Some(budget) = self.budget {
            ways.push(format!("a budget of at most {}", time(budget)));
        }
        if let Some(period) = self.period {
            ways.push(format!("a period of at least {}", time(period)));
        }
        if let Some(deadline) = self.deadline {
            ways.push(format!("a deadline of at least {}", time(deadline)));
        }
        if self.periodic {
            ways.push("`kind = \"periodic\"`, if its jobs are over when it waits".into());
        }
        if let Some(hart) = self.hart {
            ways.push(format!("hart {hart}"));
        }
        if let Some(reserve) = self.reserve {
            ways.push(format!("`be_reserve` of at most {reserve}"));
        }
        ways
    }

    /// In words, with times as `time` writes ticks. `joint`: what makes the whole system fit, where these do not.
    pub(in super::super) fn text(
        &self,
        time: impl Fn(u64) -> String,
        joint: Option<&Joint>,
    ) -> String {
        let mut ways = self.ways(&time);
        let others = if self.whole_system || ways.is_empty() {
            ""
        } else {
            ", though not the others that are refused"
        };
        let own = match (ways.pop(), self.budget) {
            (None, _) => "nothing changed on this vCPU alone makes it fit; give the others on its hart less, or put them on other harts".into(),
            (Some(only), Some(budget)) if ways.is_empty() => {
                let toml = time(budget).replace(' ', "");
                format!("{only} makes it fit{others}: `budget = \"{toml}\"`")
            }
            (Some(only), _) if ways.is_empty() => format!("{only} makes it fit{others}"),
            (Some(last), _) => {
                format!("any of these makes it fit{others}: {}, or {last}", ways.join(", "))
            }
        };
        match joint {
            Some(joint) if !self.whole_system => format!("{own}; {}", joint.text(time)),
            Some(joint) if !self.periodic => own + &joint.periodic_text(),
            _ => own,
        }
    }
}

impl System<'_> {
    /// What would make the vCPU fit that is number `index` among those seen.
    pub(super) fn cures(&self, seen: &Seen<'_>, index: usize) -> Cures {
        let Some(own) = seen.checked.reservation else {
            return Cures::default();
        };
        // If the others are refused even without this one, nothing done to it helps them.
        let whole_system = self.trial.refusals(Change::Without(index)).is_empty();
        let holds = |change: Change<'_>| {
            let after = self.trial.refusals(change);
            if whole_system {
                after.is_empty()
            } else {
                after.spare(index, &self.refused)
            }
        };
        let fits = |times: Option<Reservation>| {
            times.is_some_and(|times| holds(Change::Times(&[(index, times)])))
        };
        // That it fits itself is necessary, and soon known: mostly it is enough.
        let fits_itself =
            |times: Option<Reservation>| times.is_some_and(|times| self.trial.fits(index, times));
        let by_deadline = seen.checked.policy() == Some(RealTimePolicy::EarliestDeadline);
        let is_implicit = seen.written.deadline.is_none();
        // Of one that goes by its priority a longer period changes nothing by itself.
        let has_period = by_deadline || is_implicit;
        let with_budget = |budget| Reservation::new(own.period, budget, own.deadline);
        let with_deadline = |deadline| Reservation::new(own.period, own.budget, deadline);
        let with_period = |period| {
            let deadline = if is_implicit { period } else { own.deadline };
            Reservation::new(period, own.budget, deadline).filter(|_| has_period)
        };
        let largest = |fits: &dyn Fn(Option<Reservation>) -> bool| {
            greatest(self.trial.least_budget(), own.budget - 1, |budget| {
                fits(with_budget(budget))
            })
        };
        let shortest = |fits: &dyn Fn(Option<Reservation>) -> bool| {
            least(own.period + 1, limit::PERIOD_TICKS, |period| {
                fits(with_period(period))
            })
        };
        let soonest = |fits: &dyn Fn(Option<Reservation>) -> bool| {
            least(own.deadline + 1, own.period, |deadline| {
                fits(with_deadline(deadline))
            })
        };
        let reserve = self.reserve.0.checked_sub(1).filter(|_| by_deadline);
        Cures {
            whole_system,
            budget: largest(&fits_itself)
                .filter(|budget| fits(with_budget(*budget)))
                .or_else(|| largest(&fits)),
            period: shortest(&fits_itself)
                .filter(|period| fits(with_period(*period)))
                .or_else(|| shortest(&fits)),
            deadline: soonest(&fits_itself)
                .filter(|deadline| fits(with_deadline(*deadline)))
                .or_else(|| soonest(&fits)),
            periodic: seen.checked.kind == Kind::Server && holds(Change::Periodic(&[index])),
            hart: self
                .trial
                .other_harts(index)
                .find(|&hart| holds(Change::Hart(index, hart))),
            reserve: reserve
                .and_then(|below| {
                    greatest(0, below.into(), |part| holds(Change::Reserve(part as u32)))
                })
                .map(|thousandths| Share(thousandths as u32)),
        }
    }
}
