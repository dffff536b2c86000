//! Whether every real-time vCPU gets its time: which hart each goes to, by the same tests as at run time, and what is
//! said of those that fit nowhere.

mod best_effort;
mod cure;
mod interrupts;
mod joint;
mod load;
mod priority;
mod refusal;
mod sensitivity;
mod trial;

#[cfg(test)]
mod tests;

use tactus_abi::blob::{Overheads, RealTimePolicy};
use tactus_planning::analysis::{self, Criticality, Ranked};
use tactus_policy::demand::held;
use tactus_policy::reservation::{Kind, Reservation, Task};

use super::allowance::{self, Allowance};
use super::judge::Judge;
use super::parts;
use super::platform::Platform;
use super::vcpus::{Seen, Vcpus};
use crate::config::Share;
use load::{Deadlines, Fit, ratio};
use trial::{Change, Refusals, Trial};

pub use best_effort::{BestEffort, WINDOWS_MS};
pub use cure::Cures;
pub use joint::Joint;
pub use load::Window;
pub(super) use load::{greatest, least};
pub use sensitivity::Sensitivity;

/// What a system guarantees. All times are in ticks of the `time` CSR.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// Ticks per second.
    pub timebase_hz: u32,
    /// What the hypervisor itself takes; `service` with the interrupts.
    pub overheads: Overheads,
    /// Of `overheads.job`, for having the hart ahead of the job, where a vCPU with a reservation has it so.
    pub ahead: u64,
    /// The most interrupts of a real-time vCPU, in a deferral period, by signals for others of its hart.
    pub interrupts: u64,
    /// How long such an interrupt takes.
    pub interrupt: u64,
    /// Part of each hart that reservations leave to best-effort vCPUs.
    pub reserve: Share,
    /// The harts.
    pub harts: Vec<Hart>,
    /// The VMs, in the order of the file.
    pub vms: Vec<Vm>,
    /// Real-time vCPUs that fit no hart they may run on.
    pub refused: Vec<Refused>,
    /// What would make the whole system fit, where something is refused.
    pub joint: Option<Joint>,
}

/// What a hart guarantees.
#[derive(Clone, Debug)]
pub struct Hart {
    /// How it orders its real-time vCPUs.
    pub policy: RealTimePolicy,
    /// Those that it has: in the order of the file, or by priority, the highest first.
    pub vcpus: Vec<Vcpu>,
    /// Of what time it may need the greatest part. `None`: it goes by priorities, or has no reservation.
    pub window: Option<Window>,
    /// What is left to best-effort vCPUs. `None`: a vCPU has no budget.
    pub best_effort: Option<BestEffort>,
}

/// A real-time vCPU on its hart.
#[derive(Clone, Debug)]
pub struct Vcpu {
    /// VM and number: "loop.0".
    pub name: String,
    /// Its priority, if it goes by one.
    pub priority: Option<u8>,
    /// Its reservation, if it has one.
    pub reservation: Option<Reservation>,
    /// What waiting does to a job of that.
    pub kind: Kind,
    /// When it has had its budget.
    pub answer: Answer,
    /// What it has in the modes of its hart.
    pub criticality: Criticality,
    /// When it has had its usual budget if no job of its hart overruns its own, counted from its release. `None`: the
    /// hart has no modes, or there is no bound.
    pub in_low_mode: Option<u64>,
    /// The latest that a job first has the hart, counted from its release.
    pub start: Option<u64>,
    /// By how much its budget could be larger, all else being as it is.
    pub slack: Option<u64>,
    /// Its VM, by index.
    pub vm: usize,
    /// Its number within the VM.
    pub number: usize,
    /// Whether its deadline is stated; otherwise it is the period, whatever that is.
    pub has_deadline: bool,
}

impl Vcpu {
    /// Its reservation, if it has one, with what waiting does to its jobs.
    pub fn task(&self) -> Option<Task> {
        let kind = self.kind;
        self.reservation
            .map(|reservation| Task { reservation, kind })
    }

    /// As the analysis of priorities needs it, if it had this reservation.
    pub fn ranked(&self, task: Option<Task>) -> Ranked {
        Ranked {
            priority: self.priority.unwrap_or(0),
            task,
            criticality: self.criticality,
        }
    }

    /// What it may have of each period in whichever mode gives it more.
    pub fn longest_job(&self) -> Option<u64> {
        let budget = self.reservation?.budget;
        Some(match self.criticality {
            Criticality::High { budget: Some(high) } => high,
            _ => budget,
        })
    }

    /// How much the ends of jobs that spend the whole budget may vary, as seen from their releases: none ends sooner
    /// than a budget after its release.
    pub fn finish_jitter(&self) -> Option<u64> {
        match self.answer {
            Answer::Within(ticks) => Some(ticks.saturating_sub(self.longest_job()?)),
            _ => None,
        }
    }
}

/// When a vCPU has had its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// So long after its release, at the latest.
    Within(u64),
    /// Perhaps after its deadline.
    Late,
    /// The vCPU of that name comes before it and may run for as long as it likes, or be late itself.
    Unbounded(String),
    /// It has no budget.
    None,
}

/// What a VM may have.
#[derive(Clone, Debug)]
pub struct Vm {
    /// Its name.
    pub name: String,
    /// Real-time vCPUs that it may make at run time.
    pub places: u32,
    /// Part of the system that its reservations may come to.
    pub share: Share,
    /// What those of its configured vCPUs come to, rounded up.
    pub used: Share,
    /// Whether the description states the share, which then limits the configured ones too.
    pub has_share: bool,
}

/// A real-time vCPU that does not fit.
#[derive(Clone, Debug)]
pub struct Refused {
    /// VM and number: "loop.0".
    pub name: String,
    /// What it asks for.
    pub reservation: Reservation,
    /// The harts it may run on, and why it fits none of them.
    pub reasons: Vec<(u32, String)>,
    /// What would make it fit.
    pub cures: Cures,
}

impl Guarantee {
    /// The real-time vCPU of that name, as [`Vcpu::name`] has it; `None`: no hart has it.
    pub fn vcpu(&self, name: &str) -> Option<&Vcpu> {
        let mut all = self.harts.iter().flat_map(|hart| &hart.vcpus);
        all.find(|vcpu| vcpu.name == name)
    }

    /// The longest that the hypervisor holds up a vCPU at a time, on the hart that has the most real-time ones.
    pub fn held(&self) -> u64 {
        let most = self.harts.iter().map(|hart| hart.vcpus.len()).max();
        held(&self.overheads, most.unwrap_or(0))
    }

    /// The longest time from an interrupt until it releases a job of a vCPU that waits for it: the hypervisor's longest
    /// path, releases of others, and all that it does for others in a period, the interrupt itself included.
    pub fn release_latency(&self) -> u64 {
        self.held() + self.overheads.service
    }

    /// What the deferred work of a period takes without the interrupts.
    pub fn service(&self) -> u64 {
        self.overheads.service - self.interrupts * self.interrupt
    }
}

impl Hart {
    fn sum(&self, more: u64) -> f64 {
        let times = self.vcpus.iter().filter_map(|vcpu| vcpu.reservation);
        // Not `sum`, which is -0 of nothing.
        times.fold(0.0, |sum, times| {
            sum + ratio(times.budget + more, times.period)
        })
    }

    /// Part of the hart that is reserved.
    pub fn reserved(&self) -> f64 {
        self.sum(0)
    }

    /// The same with what the hypervisor takes for each job.
    pub fn with_jobs(&self, overheads: &Overheads) -> f64 {
        self.sum(overheads.job)
    }

    /// The same in its high mode, if it has one.
    pub fn in_high_mode(&self, overheads: &Overheads) -> f64 {
        let all = self.vcpus.iter().filter_map(|vcpu| {
            let ranked = vcpu.ranked(vcpu.task());
            Some(ranked.in_high_mode(overheads)?.reservation)
        });
        all.fold(0.0, |sum, times| {
            sum + ratio(times.budget + overheads.job, times.period)
        })
    }

    /// Whether some job may overrun its budget.
    pub fn has_modes(&self) -> bool {
        let all = self.vcpus.iter().map(|vcpu| vcpu.ranked(None));
        analysis::has_modes(&all.collect::<Vec<_>>())
    }

    /// What is left to best-effort vCPUs, with the hypervisor's work for them.
    pub fn left(&self, overheads: &Overheads) -> f64 {
        (1.0 - self.with_jobs(overheads)).max(0.0)
    }

    /// [`Hart::with_jobs`] with that work of the hypervisor.
    pub fn taken(&self, overheads: &Overheads) -> f64 {
        let service = ratio(overheads.service, overheads.service_period);
        self.with_jobs(overheads) + if self.vcpus.is_empty() { 0.0 } else { service }
    }

    /// A vCPU that may take all of the hart, as it has a priority and no reservation.
    pub fn unbounded(&self) -> Option<&Vcpu> {
        self.vcpus.iter().find(|vcpu| vcpu.reservation.is_none())
    }
}

/// Puts every real-time vCPU on a hart and judges the harts. One that goes by deadlines and may run on several harts is
/// put on the lowest where it fits, after those that stay on one.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: &Platform,
    vcpus: &mut Vcpus<'_>,
    allowances: &[Allowance],
) -> Guarantee {
    let trial = Trial::new(judge.config, platform, vcpus);
    let interrupts = trial.interrupts();
    let ahead = trial.ahead();
    let overheads = platform.profile.overhead_ticks(interrupts, ahead);
    let harts = vcpus.policies.len();
    let mut system = System {
        hz: platform.profile.timebase_hz,
        deadlines: Deadlines::new(overheads, platform.reserve.0),
        reserve: platform.reserve,
        placed: vec![Vec::new(); harts],
        refused: trial.refusals(Change::Nothing),
        joint: None,
        trial,
        grows: parts::reserve_at_run_time(judge.config),
    };
    system.joint = system.joint(vcpus, &system.refused);
    let by_deadline: Vec<usize> = {
        let several = |index: &usize| vcpus.seen[*index].checked.harts.len() > 1;
        let all = (0..vcpus.seen.len()).filter(|&index| {
            vcpus.seen[index].checked.policy() == Some(RealTimePolicy::EarliestDeadline)
        });
        let (flexible, fixed): (Vec<_>, Vec<_>) = all.partition(several);
        fixed.into_iter().chain(flexible).collect()
    };
    let mut refused = Vec::new();
    for index in by_deadline {
        match system.place(vcpus, index) {
            Some(hart) => {
                system.placed[hart as usize].push(index);
                // The hypervisor begins on the lowest.
                vcpus.seen[index].checked.harts.retain(|&h| h >= hart);
            }
            None => refused.extend(system.refuse(judge, vcpus, index)),
        }
    }
    let mut guarantee = Guarantee {
        timebase_hz: system.hz,
        overheads,
        ahead,
        interrupts,
        interrupt: platform
            .profile
            .ticks_for(platform.profile.overheads.interrupt),
        reserve: system.reserve,
        harts: Vec::new(),
        vms: vms(vcpus, platform, allowances, judge),
        refused,
        joint: system.joint.clone(),
    };
    for hart in 0..harts {
        guarantee.harts.push(match vcpus.policies[hart] {
            RealTimePolicy::EarliestDeadline => system.by_deadline(vcpus, allowances, judge, hart),
            RealTimePolicy::FixedPriority => {
                let refused = &mut guarantee.refused;
                system.by_priority(vcpus, allowances, judge, hart as u32, refused)
            }
        });
    }
    best_effort::check(judge, platform, vcpus, &guarantee);
    guarantee
}

fn vms(
    vcpus: &Vcpus<'_>,
    platform: &Platform,
    allowances: &[Allowance],
    judge: &Judge<'_>,
) -> Vec<Vm> {
    let config = &judge.config.vms;
    let all = config.iter().zip(allowances).enumerate();
    all.map(|(index, (vm, allowance))| Vm {
        name: vm
            .name
            .as_ref()
            .map_or_else(String::new, |n| n.value.clone()),
        places: allowance.rt_vcpus,
        share: allowance.rt_share,
        used: allowance::used(&vcpus.of_vm(index), platform.harts),
        has_share: vm.rt_share.is_some(),
    })
    .collect()
}

/// What is being judged.
struct System<'c> {
    hz: u32,
    deadlines: Deadlines,
    reserve: Share,
    /// For each hart that goes by deadlines, the vCPUs it has, by index among those seen.
    placed: Vec<Vec<usize>>,
    /// The same system, judged with changes.
    trial: Trial<'c>,
    /// What is refused of it as it is.
    refused: Refusals,
    /// What would make all of it fit, where something is refused.
    joint: Option<Joint>,
    /// VMs may reserve at run time. Admission then keeps every deadline, and nothing that is sooner.
    grows: bool,
}

fn reservation(seen: &Seen<'_>) -> Option<Reservation> {
    seen.checked.reservation
}

impl System<'_> {
    /// The reservations of a hart.
    fn tasks(&self, vcpus: &Vcpus<'_>, hart: usize) -> Vec<Task> {
        let indices = self.placed[hart].iter();
        indices
            .filter_map(|&index| vcpus.seen[index].checked.task())
            .collect()
    }

    /// The same with one more.
    fn with(&self, vcpus: &Vcpus<'_>, hart: u32, one: Task) -> Vec<Task> {
        let mut tasks = self.tasks(vcpus, hart as usize);
        tasks.push(one);
        tasks
    }

    fn fits(&self, vcpus: &Vcpus<'_>, hart: u32, one: Task) -> bool {
        self.deadlines.fit(&self.with(vcpus, hart, one)) == Fit::Fits
    }

    /// The lowest hart where a vCPU fits.
    fn place(&self, vcpus: &Vcpus<'_>, index: usize) -> Option<u32> {
        let one = vcpus.seen[index].checked.task()?;
        vcpus
            .deadline_harts(&vcpus.seen[index].checked)
            .find(|&hart| self.fits(vcpus, hart, one))
    }

    fn by_deadline(
        &self,
        vcpus: &Vcpus<'_>,
        allowances: &[Allowance],
        judge: &Judge<'_>,
        hart: usize,
    ) -> Hart {
        let tasks = self.tasks(vcpus, hart);
        let of = |place: usize, &index: &usize| {
            let seen = &vcpus.seen[index];
            let Task {
                reservation: own,
                kind,
            } = tasks[place];
            let fits = |budget: u64| {
                let mut changed = tasks.clone();
                changed[place].reservation.budget = budget;
                self.deadlines.fit(&changed) == Fit::Fits
                    && within_share(vcpus, allowances, judge, seen, budget)
            };
            let (answer, start) = if self.grows {
                (own.deadline, Some(own.deadline - own.budget))
            } else {
                let deadlines = &self.deadlines;
                (
                    deadlines.answer(&tasks, place),
                    deadlines.start(&tasks, place),
                )
            };
            Vcpu {
                name: seen.name(),
                priority: None,
                reservation: Some(own),
                kind,
                answer: Answer::Within(answer),
                criticality: Criticality::NONE,
                in_low_mode: None,
                start,
                slack: greatest(own.budget, own.deadline, fits).map(|most| most - own.budget),
                vm: seen.vm,
                number: seen.number,
                has_deadline: seen.written.deadline.is_some(),
            }
        };
        Hart {
            policy: RealTimePolicy::EarliestDeadline,
            vcpus: self.placed[hart]
                .iter()
                .enumerate()
                .map(|(place, index)| of(place, index))
                .collect(),
            window: self.deadlines.window(&tasks),
            best_effort: Some(BestEffort::beside(
                &tasks,
                &self.deadlines.overheads,
                self.hz,
            )),
        }
    }

    fn by_priority(
        &self,
        vcpus: &Vcpus<'_>,
        allowances: &[Allowance],
        judge: &mut Judge<'_>,
        hart: u32,
        refused: &mut Vec<Refused>,
    ) -> Hart {
        let mut here: Vec<(usize, &Seen<'_>)> = vcpus.by_priority_on(hart).collect();
        // Stable: equals stay in the order of the file.
        here.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.checked.priority));
        let tasks: Vec<Ranked> = here.iter().filter_map(|(_, seen)| ranked(seen)).collect();
        let overheads = &self.deadlines.overheads;
        let late = |tasks: &[Ranked], one: usize| priority::is_late(overheads, tasks, one);
        let answers = priority::answers(overheads, &tasks);
        let late_now: Vec<bool> = answers
            .iter()
            .map(|answer| *answer == priority::Answer::Late)
            .collect();
        let has_modes = analysis::has_modes(&tasks);
        let mut all = Vec::new();
        for (place, &(_, seen)) in here.iter().enumerate() {
            let answer = match answers[place] {
                priority::Answer::Within(time) => Answer::Within(time),
                priority::Answer::Late => {
                    refused.extend(self.refuse_late(judge, &here, place, hart));
                    Answer::Late
                }
                priority::Answer::Unbounded(other) => {
                    let (_, other) = here[other];
                    if other.checked.reservation.is_none() {
                        self.warn_unbounded(judge, seen, other, hart);
                    }
                    Answer::Unbounded(other.name())
                }
                priority::Answer::None => Answer::None,
            };
            let has_bound = matches!(answer, Answer::Within(_));
            let bounded = seen.checked.reservation.filter(|_| has_bound);
            let slack = bounded.and_then(|own| {
                let with = |budget: u64| {
                    let mut changed = tasks.clone();
                    changed[place].task = Some(Task {
                        reservation: Reservation { budget, ..own },
                        kind: seen.checked.kind,
                    });
                    changed
                };
                // That it fits itself is necessary, and soon known.
                let fits_itself = |budget: u64| {
                    let changed = with(budget);
                    self.deadlines.modes_leave_reserve(&changed)
                        && within_share(vcpus, allowances, judge, seen, budget)
                        && !late(&changed, place)
                };
                let mut most = greatest(own.budget, own.deadline, fits_itself)?;
                // None that it comes before is later than before. The least urgent is the first to be, so that the
                // largest budget that spares it mostly spares the others, too.
                let others = (0..tasks.len()).rev().filter(|&one| {
                    one != place && tasks[one].priority <= tasks[place].priority && !late_now[one]
                });
                for one in others {
                    let spares = |budget: u64| !late(&with(budget), one);
                    if !spares(most) {
                        most = greatest(own.budget, most - 1, spares)?;
                    }
                }
                Some(most - own.budget)
            });
            all.push(Vcpu {
                name: seen.name(),
                priority: seen.checked.priority,
                reservation: seen.checked.reservation,
                kind: seen.checked.kind,
                criticality: seen.checked.criticality,
                in_low_mode: (has_modes && has_bound)
                    .then(|| analysis::low_mode_response(&tasks, place, overheads))
                    .flatten()
                    .map(|response| response.ticks),
                start: analysis::fixed_priority_start(&tasks, place, overheads)
                    .filter(|_| has_bound)
                    .map(|start| start.ticks),
                slack,
                vm: seen.vm,
                number: seen.number,
                has_deadline: seen.written.deadline.is_some(),
                answer,
            });
        }
        let most: Option<Vec<Task>> = tasks.iter().map(|one| one.most(overheads)).collect();
        let hart_of = Hart {
            policy: RealTimePolicy::FixedPriority,
            vcpus: all,
            window: None,
            best_effort: most.map(|tasks| BestEffort::beside(&tasks, overheads, self.hz)),
        };
        self.reserve_on(judge, &here, &hart_of, hart);
        hart_of
    }
}

/// A vCPU as the analysis of priorities needs it.
fn ranked(seen: &Seen<'_>) -> Option<Ranked> {
    Some(Ranked {
        priority: seen.checked.priority?,
        task: seen.checked.task(),
        criticality: seen.checked.criticality,
    })
}

/// Whether a vCPU of that budget leaves its VM within the share that the description gives it.
fn within_share(
    vcpus: &Vcpus<'_>,
    allowances: &[Allowance],
    judge: &Judge<'_>,
    seen: &Seen<'_>,
    budget: u64,
) -> bool {
    if judge.config.vms[seen.vm].rt_share.is_none() {
        return true;
    }
    let own = vcpus.seen.iter().filter(|one| one.vm == seen.vm);
    let own: Vec<_> = own
        .map(|one| {
            let mut vcpu = one.checked.clone();
            if std::ptr::eq(one, seen)
                && let Some(times) = &mut vcpu.reservation
            {
                times.budget = budget;
            }
            vcpu
        })
        .collect();
    allowance::used(&own, vcpus.policies.len() as u32) <= allowances[seen.vm].rt_share
}
