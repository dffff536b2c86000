//! The whole system, judged again with a change: so that what is proposed for one vCPU does not leave another one
//! refused.

use tactus_abi::blob::{Overheads, RealTimePolicy};
use tactus_planning::analysis::{Criticality, Ranked};
use tactus_policy::reservation::{Kind, Reservation, Task};

use super::super::platform::Platform;
use super::super::reservation::least_budget;
use super::super::vcpus::Vcpus;
use super::interrupts::{self, Placed};
use super::load::{Deadlines, Fit};
use super::priority;
use crate::config::Config;

/// A change of the description. vCPUs are numbers among those seen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'b> {
    /// None.
    Nothing,
    /// vCPUs have these times.
    Times(&'b [(usize, Reservation)]),
    /// Waiting ends the jobs of these vCPUs.
    Periodic(&'b [usize]),
    /// A vCPU is not there.
    Without(usize),
    /// A vCPU stays on this hart.
    Hart(usize, u32),
    /// So many thousandths of each hart are kept for best effort.
    Reserve(u32),
}

/// What is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Refusals {
    /// vCPUs, by number among those seen, ascending.
    pub(super) vcpus: Vec<usize>,
    /// Harts by priority whose reservations take more than `be_reserve` leaves them.
    pub(super) harts: Vec<u32>,
}

impl Refusals {
    pub(super) fn is_empty(&self) -> bool {
        self.vcpus.is_empty() && self.harts.is_empty()
    }

    /// Whether nothing is refused but what `others` has, and `index` is not.
    pub(super) fn spare(&self, index: usize, others: &Self) -> bool {
        let known = |vcpu: &usize| *vcpu != index && others.vcpus.contains(vcpu);
        self.vcpus.iter().all(known) && self.harts.iter().all(|hart| others.harts.contains(hart))
    }
}

/// A vCPU that can run.
#[derive(Clone, Debug)]
struct Entry {
    vm: usize,
    /// `None`: it is best effort.
    policy: Option<RealTimePolicy>,
    priority: Option<u8>,
    task: Option<Task>,
    criticality: Criticality,
    /// Those that the description lets it run on.
    harts: Vec<u32>,
    /// The most interrupts in a deferral period that signals for it cause.
    interrupts: u64,
}

/// A system as it is described.
#[derive(Clone)]
pub(super) struct Trial<'c> {
    config: &'c Config,
    platform: &'c Platform,
    policies: Vec<RealTimePolicy>,
    vcpus: Vec<Entry>,
    /// The most interrupts in a deferral period.
    interrupts: u64,
    /// How long vCPUs with reservations may have their harts ahead of each job.
    ahead: u64,
    /// What is refused without a change; `None`: not known yet, or a vCPU may be put on several harts, so that what is
    /// changed on one matters to all.
    apart: Option<Refusals>,
}

impl<'c> Trial<'c> {
    pub(super) fn new(config: &'c Config, platform: &'c Platform, vcpus: &Vcpus<'_>) -> Self {
        let profile = &platform.profile;
        let deferral_period = profile.ticks_within(profile.overheads.service_period);
        let entry = |seen: &super::Seen<'_>| Entry {
            vm: seen.vm,
            policy: seen.checked.policy(),
            priority: seen.checked.priority,
            task: seen.checked.task(),
            criticality: seen.checked.criticality,
            harts: seen.checked.harts.clone(),
            interrupts: interrupts::for_each(deferral_period, seen.checked.interrupt_distance),
        };
        let is_ahead =
            |seen: &super::Seen<'_>| seen.checked.lead != 0 && seen.checked.reservation.is_some();
        let mut trial = Self {
            ahead: if vcpus.seen.iter().any(is_ahead) {
                platform.profile.ahead_ticks()
            } else {
                0
            },
            config,
            platform,
            policies: vcpus.policies.clone(),
            vcpus: vcpus.seen.iter().map(entry).collect(),
            interrupts: 0,
            apart: None,
        };
        trial.interrupts = trial.interrupts_after(Change::Nothing);
        let stays = |one: &Entry| one.policy.is_none() || one.harts.len() == 1;
        if trial.vcpus.iter().all(stays) {
            trial.apart = Some(trial.refusals(Change::Nothing));
        }
        trial
    }

    /// The harts that a change concerns, with what is refused on the others; `None`: it may concern all.
    fn concerned(&self, change: Change<'_>) -> Option<(Vec<u32>, Refusals)> {
        let changed: Vec<usize> = match change {
            Change::Times(times) => times.iter().map(|(index, _)| *index).collect(),
            Change::Without(index) => vec![index],
            Change::Periodic(indices) => indices.to_vec(),
            _ => return None,
        };
        let mut others = self.apart.clone()?;
        let of = |index: usize| self.vcpus[index].harts.iter().copied();
        let harts: Vec<u32> = changed.into_iter().flat_map(of).collect();
        others
            .vcpus
            .retain(|&index| of(index).all(|hart| !harts.contains(&hart)));
        others.harts.retain(|hart| !harts.contains(hart));
        Some((harts, others))
    }

    /// The most interrupts in a deferral period.
    pub(super) const fn interrupts(&self) -> u64 {
        self.interrupts
    }

    fn interrupts_after(&self, change: Change<'_>) -> u64 {
        let real_time = self
            .vcpus
            .iter()
            .enumerate()
            .filter(|(_, one)| one.policy.is_some());
        let moved = match change {
            Change::Hart(_, hart) => [hart],
            _ => [0],
        };
        let placed: Vec<Placed<'_>> = real_time
            .map(|(index, one)| Placed {
                vm: one.vm,
                harts: match change {
                    Change::Hart(who, _) if who == index => &moved,
                    _ => &one.harts,
                },
                interrupts: one.interrupts,
            })
            .collect();
        interrupts::most(self.config, &placed, &self.policies)
    }

    /// How long vCPUs with reservations may have their harts ahead of each job.
    pub(super) const fn ahead(&self) -> u64 {
        self.ahead
    }

    fn overheads(&self, change: Change<'_>) -> Overheads {
        let interrupts = match change {
            Change::Hart(..) => self.interrupts_after(change),
            _ => self.interrupts,
        };
        self.platform.profile.overhead_ticks(interrupts, self.ahead)
    }

    fn is_by_deadline(&self, hart: u32) -> bool {
        self.policies.get(hart as usize) == Some(&RealTimePolicy::EarliestDeadline)
    }

    /// The harts of a vCPU that go by deadlines, or by priorities, as it does.
    fn harts(&self, index: usize, change: Change<'_>) -> Vec<u32> {
        match change {
            Change::Hart(who, hart) if who == index => vec![hart],
            _ => {
                let one = &self.vcpus[index];
                let by_deadline = one.policy == Some(RealTimePolicy::EarliestDeadline);
                let harts = one.harts.iter().copied();
                harts
                    .filter(|&hart| self.is_by_deadline(hart) == by_deadline)
                    .collect()
            }
        }
    }

    /// `None`: it has none, or is not there.
    fn task(&self, index: usize, change: Change<'_>) -> Option<Task> {
        let mut task = self.vcpus[index].task?;
        match change {
            Change::Without(who) if who == index => return None,
            Change::Periodic(indices) if indices.contains(&index) => task.kind = Kind::Periodic,
            Change::Times(times) => {
                if let Some((_, times)) = times.iter().find(|(who, _)| *who == index) {
                    task.reservation = *times;
                }
            }
            _ => {}
        }
        Some(task)
    }

    /// The numbers of the vCPUs that go by `policy`.
    fn of(&self, policy: RealTimePolicy) -> impl Iterator<Item = usize> {
        let all = self.vcpus.iter().enumerate();
        all.filter(move |(_, one)| one.policy == Some(policy))
            .map(|(index, _)| index)
    }

    /// What is refused after a change. Real-time vCPUs that go by deadlines are put on harts as in [`super::check`].
    pub(super) fn refusals(&self, change: Change<'_>) -> Refusals {
        let reserve = match change {
            Change::Reserve(thousandths) => thousandths,
            _ => self.platform.reserve.0,
        };
        let deadlines = Deadlines::new(self.overheads(change), reserve);
        let (only, mut refused) = self.concerned(change).unzip();
        let refused = refused.get_or_insert_default();
        let is_concerned = |hart: u32| {
            only.as_ref()
                .is_none_or(|only: &Vec<u32>| only.contains(&hart))
        };
        let (several, one): (Vec<_>, Vec<_>) = self
            .of(RealTimePolicy::EarliestDeadline)
            .map(|index| (index, self.harts(index, change)))
            .filter(|(_, harts)| harts.iter().any(|&hart| is_concerned(hart)))
            .partition(|(index, _)| {
                let moved = matches!(change, Change::Hart(who, _) if who == *index);
                !moved && self.vcpus[*index].harts.len() > 1
            });
        let mut placed = vec![Vec::new(); self.policies.len()];
        for (index, harts) in one.into_iter().chain(several) {
            let Some(task) = self.task(index, change) else {
                continue;
            };
            let is_placed = harts.iter().any(|&hart| {
                let tasks: &mut Vec<Task> = &mut placed[hart as usize];
                tasks.push(task);
                let fits = deadlines.fit(tasks) == Fit::Fits;
                if !fits {
                    tasks.pop();
                }
                fits
            });
            if !is_placed {
                refused.vcpus.push(index);
            }
        }
        let harts = 0..self.policies.len() as u32;
        for hart in harts.filter(|&hart| is_concerned(hart) && !self.is_by_deadline(hart)) {
            self.refuse_by_priority(change, &deadlines, reserve, hart, refused);
        }
        refused.vcpus.sort_unstable();
        std::mem::take(refused)
    }

    /// Whether a vCPU with other times has its budget in time, if it goes by its priority: whatever becomes of others.
    /// Of one that goes by deadlines that is not known without the others.
    pub(super) fn fits(&self, index: usize, times: Reservation) -> bool {
        let one = &self.vcpus[index];
        let (Some(RealTimePolicy::FixedPriority), Some(&hart)) = (one.policy, one.harts.first())
        else {
            return true;
        };
        let change = [(index, times)];
        let change = Change::Times(&change);
        let here = self.by_priority_on(hart, change);
        let tasks: Vec<Ranked> = here.iter().map(|(_, ranked)| *ranked).collect();
        let place = here.iter().position(|(other, _)| *other == index);
        let overheads = self.overheads(change);
        place.is_some_and(|place| !priority::is_late(&overheads, &tasks, place))
    }

    /// The vCPUs of a hart that go by their priorities.
    fn by_priority_on(&self, hart: u32, change: Change<'_>) -> Vec<(usize, Ranked)> {
        self.of(RealTimePolicy::FixedPriority)
            .filter(|&index| {
                !matches!(change, Change::Without(who) if who == index)
                    && self.harts(index, change).contains(&hart)
            })
            .filter_map(|index| {
                let ranked = Ranked {
                    priority: self.vcpus[index].priority?,
                    task: self.task(index, change),
                    criticality: self.vcpus[index].criticality,
                };
                Some((index, ranked))
            })
            .collect()
    }

    fn refuse_by_priority(
        &self,
        change: Change<'_>,
        deadlines: &Deadlines,
        reserve: u32,
        hart: u32,
        refused: &mut Refusals,
    ) {
        let here = self.by_priority_on(hart, change);
        let tasks: Vec<Ranked> = here.iter().map(|(_, ranked)| *ranked).collect();
        for (place, (index, _)) in here.iter().enumerate() {
            if priority::is_late(&deadlines.overheads, &tasks, place) {
                refused.vcpus.push(*index);
            }
        }
        let unbounded = tasks.iter().any(|ranked| ranked.task.is_none());
        if reserve > 0 && (unbounded || !deadlines.modes_leave_reserve(&tasks)) {
            refused.harts.push(hart);
        }
    }

    /// The least budget that the platform takes.
    pub(super) fn least_budget(&self) -> u64 {
        least_budget(&self.platform.profile)
    }

    /// Those whose jobs go on when they wait, by number.
    pub(super) fn servers(&self) -> Vec<usize> {
        let all = self.vcpus.iter().enumerate();
        all.filter(|(_, one)| one.task.is_some_and(|task| task.kind == Kind::Server))
            .map(|(index, _)| index)
            .collect()
    }

    /// The reservations, by number: of all, or of what is refused.
    pub(super) fn reservations(&self, of: Option<&Refusals>) -> Vec<(usize, Reservation)> {
        let by_priority = |one: &Entry| one.policy == Some(RealTimePolicy::FixedPriority);
        let is_on = |one: &Entry, hart: &u32| one.harts.contains(hart);
        let is_wanted = |index: usize, one: &Entry| {
            of.is_none_or(|refused| {
                let mut harts = refused.harts.iter();
                refused.vcpus.contains(&index)
                    || by_priority(one) && harts.any(|hart| is_on(one, hart))
            })
        };
        let all = self.vcpus.iter().enumerate();
        all.filter(|(index, one)| is_wanted(*index, one))
            .filter_map(|(index, one)| Some((index, one.task?.reservation)))
            .collect()
    }

    /// Other harts that go as this vCPU does.
    pub(super) fn other_harts(&self, index: usize) -> impl Iterator<Item = u32> {
        let own = &self.vcpus[index];
        let by_deadline = own.policy == Some(RealTimePolicy::EarliestDeadline);
        let all = 0..self.policies.len() as u32;
        all.filter(move |&hart| {
            !own.harts.contains(&hart) && self.is_by_deadline(hart) == by_deadline
        })
    }
}
