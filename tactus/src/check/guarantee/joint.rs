//! What would make a whole system fit, where nothing changed on one vCPU alone does.

use tactus_abi::blob::limit;
use tactus_policy::reservation::Reservation;

use super::super::vcpus::Vcpus;
use super::System;
use super::load::{greatest, least};
use super::trial::{Change, Refusals};
use crate::config::Share;
use crate::problem::count;

/// Changes that a message names one by one.
const NAMED: usize = 4;
/// Where not even this part of a budget fits, a smaller budget is no cure.
const ENOUGH: u64 = 10;
/// How often a period is doubled.
const DOUBLINGS: u32 = 6;
/// What parts of budgets are counted in.
const THOUSAND: u64 = 1000;

/// Changes of several vCPUs after which nothing is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joint {
    /// Of budgets that are all made smaller alike, with no other change: what is left of each, in thousandths.
    pub permille: Option<u64>,
    /// What is changed.
    pub changes: Vec<JointChange>,
    /// Enough in place of that: the largest part of each hart for best effort.
    pub reserve: Option<Share>,
    /// Enough as well: that waiting ends the jobs of these vCPUs.
    pub periodic: Option<Vec<String>>,
}

/// A time that a vCPU must have, with those of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointChange {
    /// VM and number: "loop.0".
    pub vcpu: String,
    /// Which.
    pub key: Key,
    /// Its value.
    pub ticks: u64,
}

/// A time of a vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// `budget`.
    Budget,
    /// `period`, and the deadline where none is written.
    Period,
    /// `deadline`.
    Deadline,
}

impl Key {
    /// As the description has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Period => "period",
            Self::Deadline => "deadline",
        }
    }

    const fn of(self, times: Reservation) -> u64 {
        match self {
            Self::Budget => times.budget,
            Self::Period => times.period,
            Self::Deadline => times.deadline,
        }
    }
}

/// A vCPU, by number among those seen, with one of its times changed.
#[derive(Clone, Copy, Debug)]
struct Step {
    index: usize,
    key: Key,
    times: Reservation,
}

fn as_times(steps: &[Step]) -> Vec<(usize, Reservation)> {
    steps.iter().map(|step| (step.index, step.times)).collect()
}

impl Joint {
    /// That waiting ends jobs, in words.
    pub(super) fn periodic_text(&self) -> String {
        self.periodic.as_ref().map_or_else(String::new, |vcpus| {
            format!(
                "; or `periodic` as the `kind` of {}, if their jobs are over when they wait",
                vcpus.join(", ")
            )
        })
    }

    /// In words, with times as `time` writes ticks.
    pub(in super::super) fn text(&self, time: impl Fn(u64) -> String) -> String {
        let of = |change: &JointChange| {
            let (ticks, vcpu) = (time(change.ticks), &change.vcpu);
            match self.permille {
                Some(_) => format!("{ticks} for {vcpu}"),
                None => format!("a {} of {ticks} for {vcpu}", change.key.name()),
            }
        };
        let mut named: Vec<String> = self.changes.iter().take(NAMED).map(of).collect();
        if self.changes.len() > NAMED {
            named.push(count(self.changes.len() - NAMED, "other"));
        }
        let named = named.join(", ");
        let how = match self.permille {
            Some(permille) => format!(
                "when these budgets are {} of what they are: {named}",
                Share(permille as u32)
            ),
            None => format!("with all of these: {named}"),
        };
        let reserve = self.reserve.map_or_else(String::new, |reserve| {
            format!("; or with `be_reserve` of at most {reserve}")
        });
        format!(
            "the whole system fits {how}{reserve}{}",
            self.periodic_text()
        )
    }
}

impl System<'_> {
    /// What would make all fit together, if something does: changes of what is refused; else smaller budgets of all.
    pub(super) fn joint(&self, vcpus: &Vcpus<'_>, refused: &Refusals) -> Option<Joint> {
        if refused.is_empty() {
            return None;
        }
        let reserve = self.reserve.0.checked_sub(1).and_then(|below| {
            greatest(0, below.into(), |part| {
                self.accepts(Change::Reserve(part as u32))
            })
        });
        let all = || self.scaled(&[], &self.trial.reservations(None));
        let (permille, steps) = self.together(vcpus, refused).or_else(all)?;
        let change = |step: &Step| JointChange {
            vcpu: vcpus.seen[step.index].name(),
            key: step.key,
            ticks: step.key.of(step.times),
        };
        Some(Joint {
            permille,
            changes: steps.iter().map(change).collect(),
            reserve: reserve.map(|thousandths| Share(thousandths as u32)),
            periodic: self.periodic(refused).map(|indices| {
                let name = |index: &usize| vcpus.seen[*index].name();
                indices.iter().map(name).collect()
            }),
        })
    }

    /// vCPUs, by number, such that nothing is refused if waiting ends their jobs, and each of them is needed: of those
    /// that are refused, or else of all.
    fn periodic(&self, refused: &Refusals) -> Option<Vec<usize>> {
        let accepts = |indices: &[usize]| self.accepts(Change::Periodic(indices));
        let servers = self.trial.servers();
        let own = servers.iter().copied();
        let own: Vec<usize> = own.filter(|one| refused.vcpus.contains(one)).collect();
        let mut needed = [own, servers].into_iter().find(|all| accepts(all))?;
        let mut place = 0;
        while place < needed.len() {
            let without = needed.remove(place);
            if !accepts(&needed) {
                needed.insert(place, without);
                place += 1;
            }
        }
        Some(needed)
    }

    fn accepts(&self, change: Change<'_>) -> bool {
        self.trial.refusals(change).is_empty()
    }

    /// Budgets that are all made smaller alike, as little as possible, beside other changes; and what is left of each,
    /// in thousandths, if there are no other changes.
    fn scaled(
        &self,
        others: &[Step],
        reservations: &[(usize, Reservation)],
    ) -> Option<(Option<u64>, Vec<Step>)> {
        let scaled = |permille: u64| -> Vec<Step> {
            let smaller = reservations.iter().map(|&(index, times)| {
                let budget = (times.budget * permille / THOUSAND).max(self.trial.least_budget());
                Step {
                    index,
                    key: Key::Budget,
                    times: Reservation { budget, ..times },
                }
            });
            others.iter().copied().chain(smaller).collect()
        };
        let most = if reservations.is_empty() {
            1
        } else {
            THOUSAND - 1
        };
        let permille = greatest(1, most, |permille| {
            self.accepts(Change::Times(&as_times(&scaled(permille))))
        })?;
        Some((others.is_empty().then_some(permille), scaled(permille)))
    }

    /// A longer deadline or period for each vCPU that is refused and that a smaller budget helps not at all, or hardly;
    /// smaller budgets for the others that are.
    fn together(&self, vcpus: &Vcpus<'_>, refused: &Refusals) -> Option<(Option<u64>, Vec<Step>)> {
        let mut later: Vec<Step> = Vec::new();
        let mut smaller = self.trial.reservations(Some(refused));
        let mut left = refused.clone();
        for &index in &refused.vcpus {
            let is_implicit = vcpus.seen[index].written.deadline.is_none();
            let own = vcpus.seen[index].checked.reservation?;
            let after = |times: Reservation| -> Option<Refusals> {
                let mut all = as_times(&later);
                all.push((index, times));
                let after = self.trial.refusals(Change::Times(&all));
                after.spare(index, &left).then_some(after)
            };
            let enough = Reservation {
                budget: (own.budget / ENOUGH).max(self.trial.least_budget()),
                ..own
            };
            if after(enough).is_some() {
                continue;
            }
            let with_period = |period: u64| Reservation {
                period,
                deadline: if is_implicit { period } else { own.deadline },
                ..own
            };
            // As long as can be, so that room is left for the others.
            let deadline = Reservation {
                deadline: own.period,
                ..own
            };
            let (key, times, rest) = if let Some(rest) = after(deadline) {
                (Key::Deadline, deadline, rest)
            } else {
                let longer = (1..=DOUBLINGS).map(|times| own.period << times);
                let mut longer = longer.take_while(|period| *period <= limit::PERIOD_TICKS);
                let found = longer.find_map(|period| {
                    let times = with_period(period);
                    Some((times, after(times)?))
                });
                let Some((times, rest)) = found else {
                    continue;
                };
                (Key::Period, times, rest)
            };
            later.push(Step { index, key, times });
            smaller.retain(|(one, _)| *one != index);
            left = rest;
        }
        let (permille, mut steps) = self.scaled(&later, &smaller)?;
        for place in 0..later.len() {
            self.shorten(&mut steps, place, vcpus);
        }
        Some((permille, steps))
    }

    /// Makes a deadline or a period as short as it may be beside the other changes.
    fn shorten(&self, steps: &mut [Step], place: usize, vcpus: &Vcpus<'_>) {
        let Step { index, key, times } = steps[place];
        let seen = &vcpus.seen[index];
        let Some(own) = seen.checked.reservation else {
            return;
        };
        let with = |ticks: u64| match key {
            Key::Period if seen.written.deadline.is_none() => Reservation {
                period: ticks,
                deadline: ticks,
                ..times
            },
            Key::Period => Reservation {
                period: ticks,
                ..times
            },
            _ => Reservation {
                deadline: ticks,
                ..times
            },
        };
        let fits = |ticks: u64| {
            let mut all = as_times(steps);
            all[place].1 = with(ticks);
            self.accepts(Change::Times(&all))
        };
        if let Some(ticks) = least(key.of(own) + 1, key.of(times), fits) {
            steps[place].times = with(ticks);
        }
    }
}
