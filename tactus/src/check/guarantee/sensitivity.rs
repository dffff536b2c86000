//! How far a system is from being refused: what may become worse, one thing at a time, all else being as it is.

use tactus_abi::blob::{Overheads, RealTimePolicy, limit};
use tactus_planning::analysis::Ranked;
use tactus_policy::reservation::{Reservation, Task};

use super::load::{self, Deadlines, Fit, greatest, least};
use super::{Answer, Guarantee, Hart, Vcpu, priority};
use crate::check::allowance;

/// What factors are counted in: parts of one.
const PARTS: u64 = 10_000;
/// The largest factor looked for.
const FACTOR_MAX: u64 = 1000 * PARTS;

/// How far until a system is refused. All times in ticks; vCPUs stay on the harts where they were put.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The greatest factor of all budgets, each rounded down to a tick. `None`: there are no reservations.
    pub budgets: Option<f64>,
    /// The same of each hart's budgets alone.
    pub harts: Vec<Option<f64>>,
    /// The greatest overheads, each with the others as they are; `service` without interrupts.
    pub overheads: Overheads,
    /// The longest interrupt. `None`: none is counted.
    pub interrupt: Option<u64>,
    /// What each vCPU with a reservation may have, in the order of the harts.
    pub vcpus: Vec<Margins>,
}

/// The worst times of a vCPU with which nothing is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Margins {
    /// VM and number.
    pub name: String,
    /// Its times.
    pub reservation: Reservation,
    /// The largest budget.
    pub budget: u64,
    /// The shortest period; the deadline follows where none is stated.
    pub period: u64,
    /// The shortest deadline.
    pub deadline: u64,
}

/// The vCPUs of a hart, one of them changed.
type Changed<'v> = Vec<(&'v Vcpu, Option<Task>)>;

impl Guarantee {
    /// How far until it is refused. `None`: it is.
    pub fn sensitivity(&self) -> Option<Sensitivity> {
        let as_it_is = |vcpu: &Vcpu| vcpu.reservation;
        let fits = self
            .harts
            .iter()
            .all(|hart| self.fits(hart, &self.overheads, as_it_is));
        if !self.refused.is_empty() || !fits {
            return None;
        }
        let with = |change: &dyn Fn(&mut Overheads)| {
            let mut overheads = self.overheads;
            change(&mut overheads);
            let mut harts = self.harts.iter();
            harts.all(|hart| self.fits(hart, &overheads, as_it_is))
        };
        let period = self.overheads.service_period;
        let longest = limit::PERIOD_TICKS;
        let most = |from: u64, to: u64, holds: &dyn Fn(u64) -> bool| {
            greatest(from, to, holds).unwrap_or(from)
        };
        let overheads = Overheads {
            job: most(self.overheads.job, longest, &|job| {
                with(&|overheads| overheads.job = job)
            }),
            blocking: most(self.overheads.blocking, longest, &|blocking| {
                with(&|overheads| overheads.blocking = blocking)
            }),
            service_period: period,
            service: most(self.service(), period, &|service| {
                let more = service - self.service();
                with(&|overheads| overheads.service += more)
            }),
            release: self.overheads.release,
        };
        let several = self.harts.iter().any(|hart| hart.vcpus.len() > 1);
        let interrupt = (self.interrupts > 0 || several).then(|| {
            most(self.interrupt, period, &|interrupt| {
                let more = (interrupt - self.interrupt) * self.interrupts;
                with(&|overheads| {
                    overheads.service += more;
                    overheads.release = interrupt;
                })
            })
        });
        let reserved = |hart: &Hart| hart.vcpus.iter().any(|vcpu| vcpu.reservation.is_some());
        let margins = self.harts.iter().flat_map(|hart| {
            hart.vcpus
                .iter()
                .filter_map(|vcpu| self.margins(hart, vcpu))
        });
        Some(Sensitivity {
            budgets: self
                .harts
                .iter()
                .any(reserved)
                .then(|| self.factor(&self.harts)),
            harts: self
                .harts
                .iter()
                .map(|hart| reserved(hart).then(|| self.factor(std::slice::from_ref(hart))))
                .collect(),
            overheads,
            interrupt,
            vcpus: margins.collect(),
        })
    }

    /// The greatest factor of the budgets of these harts.
    fn factor(&self, harts: &[Hart]) -> f64 {
        let holds = |factor: u64| {
            let scaled = |vcpu: &Vcpu| {
                let times = vcpu.reservation?;
                let budget = times.budget * factor / PARTS;
                // One that is longer than its deadline fits nowhere; the test says so.
                Some(Reservation { budget, ..times })
            };
            let here = |vcpu: &Vcpu| {
                let mut own = harts.iter().flat_map(|hart| &hart.vcpus);
                own.any(|one| std::ptr::eq(one, vcpu))
            };
            let change = |vcpu: &Vcpu| {
                if here(vcpu) {
                    scaled(vcpu)
                } else {
                    vcpu.reservation
                }
            };
            harts
                .iter()
                .all(|hart| self.fits(hart, &self.overheads, scaled))
                && self.leaves_shares(change)
        };
        greatest(PARTS, FACTOR_MAX, holds).unwrap_or(PARTS) as f64 / PARTS as f64
    }

    fn margins(&self, hart: &Hart, vcpu: &Vcpu) -> Option<Margins> {
        let own = vcpu.reservation?;
        let job = self.overheads.job;
        let holds = |times: Option<Reservation>| {
            let change = |one: &Vcpu| {
                if std::ptr::eq(one, vcpu) {
                    times
                } else {
                    one.reservation
                }
            };
            times.is_some()
                && self.fits(hart, &self.overheads, change)
                && self.leaves_shares(change)
        };
        let period = |period: u64| {
            let deadline = if vcpu.has_deadline {
                own.deadline
            } else {
                period
            };
            holds(Reservation::new(period, own.budget, deadline))
        };
        let shortest = if vcpu.has_deadline {
            own.deadline
        } else {
            own.budget + job
        };
        Some(Margins {
            name: vcpu.name.clone(),
            reservation: own,
            budget: greatest(own.budget, own.deadline, |budget| {
                holds(Reservation::new(own.period, budget, own.deadline))
            })
            .unwrap_or(own.budget),
            period: least(shortest.min(own.period), own.period, period).unwrap_or(own.period),
            deadline: least(
                (own.budget + job).min(own.deadline),
                own.deadline,
                |deadline| holds(Reservation::new(own.period, own.budget, deadline)),
            )
            .unwrap_or(own.deadline),
        })
    }

    /// Whether the vCPUs of a hart fit, each with the reservation that `change` gives it.
    fn fits(
        &self,
        hart: &Hart,
        overheads: &Overheads,
        change: impl Fn(&Vcpu) -> Option<Reservation>,
    ) -> bool {
        let deadlines = Deadlines::new(*overheads, self.reserve.0);
        let task = |vcpu: &Vcpu| {
            let kind = vcpu.kind;
            change(vcpu).map(|reservation| Task { reservation, kind })
        };
        let changed: Changed<'_> = hart.vcpus.iter().map(|vcpu| (vcpu, task(vcpu))).collect();
        let tasks: Vec<Task> = changed.iter().filter_map(|(_, task)| *task).collect();
        match hart.policy {
            RealTimePolicy::EarliestDeadline => deadlines.fit(&tasks) == Fit::Fits,
            RealTimePolicy::FixedPriority => {
                let ranked: Vec<Ranked> = changed
                    .iter()
                    .map(|(vcpu, task)| vcpu.ranked(*task))
                    .collect();
                let is_kept = self.reserve.0 == 0
                    || tasks.len() == ranked.len() && deadlines.modes_leave_reserve(&ranked);
                if !is_kept {
                    return false;
                }
                // Nothing becomes later by what is less urgent than it.
                let is_changed = |(vcpu, task): &(&Vcpu, Option<Task>)| {
                    vcpu.reservation != task.map(|task| task.reservation)
                };
                let highest = if *overheads == self.overheads {
                    let all = changed.iter().filter(|one| is_changed(one));
                    all.filter_map(|(vcpu, _)| vcpu.priority).max()
                } else {
                    Some(u8::MAX)
                };
                let in_time = |(place, vcpu): (usize, &Vcpu)| match vcpu.answer {
                    Answer::Within(time) if vcpu.priority <= highest => Some((place, time)),
                    _ => None,
                };
                // The nearest to its deadline first: it is the first to be late, mostly.
                let mut tested: Vec<(usize, u64)> =
                    hart.vcpus.iter().enumerate().filter_map(in_time).collect();
                let left = |&(place, time): &(usize, u64)| {
                    let deadline = hart.vcpus[place].reservation.map(|own| own.deadline);
                    ((1.0 - load::ratio(time, deadline.unwrap_or(0))) * PARTS as f64) as i64
                };
                tested.sort_by_key(left);
                let mut tested = tested.into_iter();
                !tested.any(|(one, _)| priority::is_late(overheads, &ranked, one))
            }
        }
    }

    /// Whether the vCPUs of each VM whose share is stated are within it.
    fn leaves_shares(&self, change: impl Fn(&Vcpu) -> Option<Reservation>) -> bool {
        let limited = self.vms.iter().enumerate().filter(|(_, vm)| vm.has_share);
        limited.into_iter().all(|(index, vm)| {
            let all = self.harts.iter().flat_map(|hart| &hart.vcpus);
            let own = all.filter(|vcpu| vcpu.vm == index).filter_map(&change);
            allowance::used_by(own, self.harts.len() as u32) <= vm.share
        })
    }
}
