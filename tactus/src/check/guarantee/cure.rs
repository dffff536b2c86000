//! What would make a real-time vCPU fit.

use tactus_abi::blob::limit;
use tactus_planning::analysis::Ranked;
use tactus_policy::reservation::Reservation;

use super::super::vcpus::{Seen, Vcpus};
use super::load::{Deadlines, greatest, least, server};
use super::{System, priority, ranked};
use crate::config::Share;

/// Changes of which each alone makes a vCPU fit; those that would not are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cures {
    /// The largest budget that fits.
    pub budget: Option<u64>,
    /// The shortest period; the deadline follows where none is written.
    pub period: Option<u64>,
    /// The shortest deadline.
    pub deadline: Option<u64>,
    /// Another hart.
    pub hart: Option<u32>,
    /// The largest part of each hart for best effort.
    pub reserve: Option<Share>,
}

impl Cures {
    /// In words, with times as `time` writes ticks.
    pub(in super::super) fn text(&self, time: impl Fn(u64) -> String) -> String {
        let toml = |ticks: u64| time(ticks).replace(' ', "");
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
        if let Some(hart) = self.hart {
            ways.push(format!("hart {hart}"));
        }
        if let Some(reserve) = self.reserve {
            ways.push(format!("`be_reserve` of at most {reserve}"));
        }
        match (ways.pop(), self.budget) {
            (None, _) => "nothing changed on this vCPU alone makes it fit; give the others on its hart less, or put them on other harts".into(),
            (Some(only), Some(budget)) if ways.is_empty() => {
                format!("{only} makes it fit: `budget = \"{}\"`", toml(budget))
            }
            (Some(only), _) if ways.is_empty() => format!("{only} makes it fit"),
            (Some(last), _) => format!("any of these makes it fit: {}, or {last}", ways.join(", ")),
        }
    }
}

impl System {
    /// What would make the reservation fit of the vCPU that is number `index` among those seen and may run on these harts.
    pub(super) fn cures(
        &self,
        vcpus: &Vcpus<'_>,
        index: usize,
        harts: &[u32],
        one: Reservation,
    ) -> Cures {
        let fits = |changed: Option<Reservation>| {
            changed.is_some_and(|changed| harts.iter().any(|&h| self.fits(vcpus, h, changed)))
        };
        let is_implicit = vcpus.seen[index].written.deadline.is_none();
        let deadline = |period: u64| {
            if is_implicit { period } else { one.deadline }
        };
        let others = (0u32..).zip(&vcpus.policies).map(|(hart, _)| hart);
        let reserve = |thousandths: u64| {
            let deadlines = Deadlines::new(self.deadlines.overheads, thousandths as u32);
            self.is_placed_on(&deadlines, vcpus, index)
        };
        Cures {
            budget: greatest(1, one.budget - 1, |budget| {
                fits(Reservation::new(one.period, budget, one.deadline))
            }),
            period: least(one.period + 1, limit::PERIOD_TICKS, |period| {
                fits(Reservation::new(period, one.budget, deadline(period)))
            }),
            deadline: least(one.deadline + 1, one.period, |deadline| {
                fits(Reservation::new(one.period, one.budget, deadline))
            }),
            hart: others
                .filter(|hart| !harts.contains(hart) && vcpus.is_by_deadline(*hart))
                .find(|&hart| self.fits(vcpus, hart, one)),
            reserve: u64::from(self.reserve.0)
                .checked_sub(1)
                .and_then(|below| greatest(0, below, reserve))
                .map(|thousandths| Share(thousandths as u32)),
        }
    }
    /// What would make a vCPU fit that goes by its priority and is number `one` of those of its hart.
    pub(super) fn cures_late(
        &self,
        vcpus: &Vcpus<'_>,
        seen: &Seen<'_>,
        tasks: &[Ranked],
        one: usize,
        hart: u32,
    ) -> Cures {
        let Some(own) = seen.checked.reservation else {
            return Cures::default();
        };
        let within = |tasks: &[Ranked], one: usize| {
            let answer = priority::answer(&self.deadlines.overheads, tasks, one);
            matches!(answer, priority::Answer::Within(_))
        };
        let fits = |times: Option<Reservation>| {
            let mut changed = tasks.to_vec();
            changed[one].task = times.map(server);
            within(&changed, one)
        };
        let elsewhere = |other: u32| {
            let mut there: Vec<Ranked> = vcpus.by_priority_on(other).filter_map(ranked).collect();
            there.extend(ranked(seen));
            (0..there.len()).all(|one| within(&there, one))
        };
        let implicit = seen.written.deadline.is_none();
        Cures {
            budget: greatest(1, own.budget - 1, |budget| {
                fits(Reservation::new(own.period, budget, own.deadline))
            }),
            period: least(own.period + 1, limit::PERIOD_TICKS, |period| {
                implicit && fits(Reservation::new(period, own.budget, period))
            }),
            deadline: least(own.deadline + 1, own.period, |deadline| {
                fits(Reservation::new(own.period, own.budget, deadline))
            }),
            hart: (0..vcpus.policies.len() as u32)
                .filter(|&other| other != hart && !vcpus.is_by_deadline(other))
                .find(|&other| elsewhere(other)),
            reserve: None,
        }
    }
}
