//! What of its budget a vCPU may need to reload its caches after others had its hart: `reload` of a `[[vm.vcpu]]`. All
//! times in ticks.

use tactus_planning::reloads::{Order, Other, preemptions, window};
use tactus_planning::supply::GuestTask;
use tactus_policy::reservation::{Reservation, Task as Reserved};

use tactus_abi::blob::RealTimePolicy;

use super::guarantee::{Answer, Guarantee, Hart};
use super::judge::Judge;
use super::time::time_text;
use crate::config::{At, Config, Nanoseconds, Vcpu};
use crate::problem::{Code, Problem};
use crate::profile::Profile;

/// What of a vCPU's budget its caches may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reload {
    /// VM and number: "loop.0".
    pub name: String,
    /// Its reservation.
    pub reservation: Reservation,
    /// What one preemption costs it.
    pub cost: u64,
    /// How often the other vCPUs of its hart preempt a job at most; those that never do are left out.
    pub preemptions: Vec<(String, u64)>,
}

impl Reload {
    /// How often a job goes on at most: when it begins, and after each preemption.
    pub fn times(&self) -> u64 {
        1 + self.preemptions.iter().map(|(_, times)| times).sum::<u64>()
    }

    /// What is left of the budget.
    pub fn left(&self) -> u64 {
        let all = self.times().saturating_mul(self.cost);
        self.reservation.budget.saturating_sub(all)
    }
}

/// What may preempt a vCPU, and what that costs it.
#[derive(Clone, Debug)]
pub(super) struct Preempted {
    cost: u64,
    order: Order,
    others: Vec<Rival>,
}

/// A vCPU that may come before another one of its hart.
#[derive(Clone, Debug)]
struct Rival {
    name: String,
    task: Reserved,
    tasks: Vec<GuestTask>,
}

impl Preempted {
    fn new(config: &Config, profile: &Profile, hart: &Hart, place: usize, cost: u64) -> Self {
        let own = &hart.vcpus[place];
        let comes_before = |other: &super::guarantee::Vcpu| match hart.policy {
            RealTimePolicy::EarliestDeadline => true,
            RealTimePolicy::FixedPriority => other.priority > own.priority,
        };
        let others = hart.vcpus.iter().enumerate();
        let others = others.filter(|(other, vcpu)| *other != place && comes_before(vcpu));
        let rival = |(_, vcpu): (usize, &super::guarantee::Vcpu)| {
            Some(Rival {
                name: vcpu.name.clone(),
                task: vcpu.task()?,
                tasks: tasks_of(config, profile, vcpu.vm, vcpu.number),
            })
        };
        Self {
            cost,
            order: match hart.policy {
                RealTimePolicy::EarliestDeadline => Order::Deadlines,
                RealTimePolicy::FixedPriority => Order::Priorities,
            },
            others: others.filter_map(rival).collect(),
        }
    }

    /// How often each of the others preempts a job, which has its budget `within` a time after its release.
    ///
    /// # Errors
    /// One of them, by its name, may do so as often as it likes.
    fn preemptions(&self, own: Reserved, within: u64) -> Result<Vec<(String, u64)>, &str> {
        let window = window(own, within);
        let mut all = Vec::new();
        for rival in &self.others {
            let other = Other {
                task: rival.task,
                tasks: &rival.tasks,
            };
            match preemptions(own, window, self.order, other) {
                Some(0) => {}
                Some(times) => all.push((rival.name.clone(), times)),
                None => return Err(&rival.name),
            }
        }
        Ok(all)
    }

    fn reload(&self, name: &str, own: Reserved, within: u64) -> Result<Reload, &str> {
        Ok(Reload {
            name: name.to_owned(),
            reservation: own.reservation,
            cost: self.cost,
            preemptions: self.preemptions(own, within)?,
        })
    }

    /// The vCPU with the budget that is left for its work. `None`: nothing is.
    pub(super) fn left(&self, own: Reserved, within: u64) -> Option<Reserved> {
        let budget = self.reload("", own, within).ok()?.left();
        (budget > 0).then_some(Reserved {
            reservation: Reservation {
                budget,
                ..own.reservation
            },
            ..own
        })
    }
}

/// The tasks of a vCPU, of which only counts how often they are activated.
fn tasks_of(config: &Config, profile: &Profile, vm: usize, number: usize) -> Vec<GuestTask> {
    let tasks = config.vms[vm].tasks.iter();
    let own = tasks.filter(|task| {
        let vcpu = task.vcpu.as_ref().map_or(0, |vcpu| vcpu.value);
        vcpu as usize == number
    });
    own.filter_map(|task| {
        // One without a period is noted.
        let period = profile.ticks_within(task.period.as_ref()?.value).max(1);
        let jitter = task.jitter.as_ref();
        Some(GuestTask {
            period,
            wcet: 0,
            deadline: period,
            jitter: jitter.map_or(0, |jitter| profile.ticks_for(jitter.value)),
            priority: 0,
        })
    })
    .collect()
}

/// A vCPU whose `reload` is judged.
pub(super) struct Candidate<'s> {
    pub(super) profile: &'s Profile,
    pub(super) guarantee: &'s Guarantee,
    /// What messages call it.
    pub(super) title: &'s str,
    pub(super) written: &'s Vcpu,
    /// VM and number.
    pub(super) name: &'s str,
    /// VMs may ask for reservations at run time.
    pub(super) changes: bool,
}

/// What came out.
pub(super) enum Outcome {
    /// Its caches cost it nothing, or it is not guaranteed its time, which is noted.
    Nothing,
    /// Something is left of its budget.
    Some(Preempted, Reload),
    /// Nothing is left, or it is not known what is; noted.
    Wrong,
}

impl Candidate<'_> {
    /// Judges it.
    pub(super) fn check(&self, judge: &mut Judge<'_>) -> Outcome {
        let Some(written) = &self.written.reload else {
            return Outcome::Nothing;
        };
        let cost = self.profile.ticks_for(written.value);
        let mut harts = self.guarantee.harts.iter();
        let place = |hart: &Hart| hart.vcpus.iter().position(|vcpu| vcpu.name == self.name);
        let Some((hart, place)) = harts.find_map(|hart| Some((hart, place(hart)?))) else {
            return Outcome::Nothing;
        };
        let vcpu = &hart.vcpus[place];
        let (Some(own), Answer::Within(within)) = (vcpu.task(), &vcpu.answer) else {
            return Outcome::Nothing;
        };
        if cost == 0 {
            return Outcome::Nothing;
        }
        if self.changes {
            self.note_unbounded(
                judge,
                written,
                "VMs may ask for reservations at run time",
                "remove `rt_vcpus` and `rt_share` from all VMs, or this `reload`",
            );
            return Outcome::Wrong;
        }
        let preempted = Preempted::new(judge.config, self.profile, hart, place, cost);
        match preempted.reload(self.name, own, *within) {
            Ok(reload) if reload.left() == 0 => {
                self.note_nothing_left(judge, written, &reload);
                Outcome::Wrong
            }
            Ok(reload) => Outcome::Some(preempted, reload),
            Err(other) => {
                self.note_unbounded(
                    judge,
                    written,
                    &format!("{other} is a server, which may be woken as often as it likes"),
                    &format!(
                        "describe all that {other} runs by `[[vm.task]]`, or give it `kind = \"periodic\"`, if its jobs are over when it waits"
                    ),
                );
                Outcome::Wrong
            }
        }
    }

    fn note_unbounded(
        &self,
        judge: &mut Judge<'_>,
        written: &At<Nanoseconds>,
        reason: &str,
        help: &str,
    ) {
        judge.note(
            Code::BadReservation,
            &written.span,
            "for each preemption",
            format!(
                "how often {} is preempted in a job has no bound: {reason}",
                self.title
            ),
            help,
        );
    }

    fn note_nothing_left(&self, judge: &mut Judge<'_>, written: &At<Nanoseconds>, reload: &Reload) {
        let time = |ticks| time_text(ticks, self.profile.timebase_hz);
        let message = format!(
            "nothing is left of the budget of {}, {}, for its work: a job of it may have to reload its caches {} times, for {} each, {}",
            self.title,
            time(reload.reservation.budget),
            reload.times(),
            time(reload.cost),
            reasons(reload)
        );
        let help = "make the cost smaller, by cache colours, or the budget larger, or give its hart fewer vCPUs that come before it";
        let problem = Problem::new(Code::BadReservation, message, help);
        let problem = problem.at(judge.source(), &written.span, "for each preemption");
        let budget = self.written.budget.as_ref();
        judge.add(match budget {
            Some(budget) => problem.at(judge.source(), &budget.span, "for each job"),
            None => problem,
        });
    }
}

/// Why a job goes on so often: "once as it begins, 2 times after fast.0".
pub(super) fn reasons(reload: &Reload) -> String {
    let mut text = String::from("once as it begins");
    for (name, times) in &reload.preemptions {
        text += &match times {
            1 => format!(", once after {name}"),
            times => format!(", {times} times after {name}"),
        };
    }
    text
}
