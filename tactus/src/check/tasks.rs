//! Tasks of the VMs' operating systems: whether each is done by its deadline, with the time that its vCPU has at least.

use tactus_abi::blob::{Overheads, RealTimePolicy, limit, part};
use tactus_planning::analysis::{self, Ranked};
use tactus_planning::supply::{Completion, GuestTask, Supply, completion};
use tactus_policy::demand::Verdict;
use tactus_policy::reservation::{Kind, Reservation, Task as Reserved};

use super::guarantee::{Answer, Guarantee, Hart, Vcpu, greatest, least};
use super::judge::Judge;
use super::names;
use super::parts;
use super::platform::Platform;
use super::reloads::{Candidate, Outcome, Preempted, Reload};
use super::time::time_text;
use crate::config::{self, At, Class, Nanoseconds, Stimulus, Vm};
use crate::problem::{Code, Problem, count};

/// The most tasks of a VM.
const TASKS_MAX: usize = 64;

/// What is known of the tasks of all VMs. All times are in ticks.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// Those of each vCPU that runs some and is guaranteed its time.
    pub vcpus: Vec<VcpuTasks>,
    /// What the caches of vCPUs may take of their budgets, where that is stated.
    pub reloads: Vec<Reload>,
}

/// The tasks of a vCPU.
#[derive(Clone, Debug)]
pub struct VcpuTasks {
    /// VM and number: "loop.0".
    pub name: String,
    /// Its reservation.
    pub reservation: Reservation,
    /// What of its budget is left for its tasks: all but what its caches may take.
    pub left: u64,
    /// The longest time in which it executes nothing though it has work.
    pub begin: u64,
    /// The tasks, in the order of the file.
    pub tasks: Vec<Task>,
}

/// A task.
#[derive(Clone, Debug)]
pub struct Task {
    /// The index of its VM.
    pub vm: usize,
    /// Its name within the VM.
    pub name: String,
    /// Its times.
    pub times: GuestTask,
    /// What activates it.
    pub stimulus: Stimulus,
    /// When it is done.
    pub completion: Completion,
}

impl Tasks {
    /// The task of that name of a VM.
    pub(super) fn task(&self, vm: usize, name: &str) -> Option<&Task> {
        let mut all = self.vcpus.iter().flat_map(|vcpu| &vcpu.tasks);
        all.find(|task| task.vm == vm && task.name == name)
    }
}

/// A task that makes sense, and where it is written.
struct Seen<'c> {
    written: &'c config::Task,
    title: String,
    name: String,
    times: GuestTask,
}

/// What messages call a task.
pub(super) fn title(vm: &Vm, name: &str) -> String {
    format!("task `{name}` of {}", vm.title())
}

/// Judges all `[[vm.task]]`.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: Option<&Platform>,
    guarantee: Option<&Guarantee>,
) -> Tasks {
    let config = judge.config;
    let mut tasks = Tasks::default();
    for (index, vm) in config.vms.iter().enumerate() {
        check_names(judge, vm);
        if let Some(beyond) = vm.tasks.get(TASKS_MAX) {
            judge.note(
                Code::TooMany,
                &beyond.span,
                format!("number {}", TASKS_MAX + 1),
                format!("{} has more than {}", vm.title(), count(TASKS_MAX, "task")),
                "remove some; one task may stand for several of one priority",
            );
            continue;
        }
        let mut known = vec![true; vm.vcpus.len()];
        let mut seen: Vec<(usize, Seen<'_>)> = Vec::new();
        for written in &vm.tasks {
            let vcpu = vcpu_of(judge, vm, written);
            let one = platform.and_then(|platform| check_one(judge, platform, vm, written));
            match (vcpu, one) {
                (Some(vcpu), Some(one)) => seen.push((vcpu, one)),
                // Without it nothing is known of the others either.
                (Some(vcpu), None) => known[vcpu] = false,
                (None, _) => {}
            }
        }
        let (Some(platform), Some(guarantee), Some(name)) = (platform, guarantee, &vm.name) else {
            continue;
        };
        for number in (0..vm.vcpus.len()).filter(|number| known[*number]) {
            let (own, rest) = seen.into_iter().partition(|(vcpu, _)| *vcpu == number);
            seen = rest;
            let own: Vec<Seen<'_>> = own.into_iter().map(|(_, one)| one).collect();
            let name = format!("{}.{number}", name.value);
            let mut one = Inside {
                platform,
                guarantee,
                title: format!("vCPU {number} of {}", vm.title()),
                written: &vm.vcpus[number],
                name,
                changes: parts::needed(config) & part::RESERVATION_CALLS != 0,
                preempted: None,
            };
            match one.reload().check(judge) {
                Outcome::Nothing => {}
                Outcome::Some(preempted, reload) => {
                    one.preempted = Some(preempted);
                    tasks.reloads.push(reload);
                }
                Outcome::Wrong => continue,
            }
            tasks.vcpus.extend(one.check(judge, index, &own));
        }
    }
    tasks
}

fn check_names(judge: &mut Judge<'_>, vm: &Vm) {
    let all: Vec<&At<String>> = vm
        .tasks
        .iter()
        .filter_map(|task| task.name.as_ref())
        .collect();
    for name in &all {
        names::well_formed(judge, "task", name, limit::NAME);
        let same = |one: &&config::Accelerator| {
            let task = one.task.as_ref();
            task.is_some_and(|task| task.value == name.value)
        };
        if let Some(accelerator) = vm.accelerators.iter().find(same) {
            let problem = Problem::new(
                Code::DuplicateName,
                format!(
                    "a task and an accelerator of {} are called `{}`",
                    vm.title(),
                    name.value
                ),
                "rename the task; a step of a chain names one of them",
            );
            let problem = problem.at(judge.source(), &name.span, "the task");
            judge.add(problem.at(judge.source(), &accelerator.span, "the accelerator"));
        }
    }
    names::unique(judge, "task", &all);
}

/// The vCPU that runs a task. `None`, noted: there is none, or it has no reservation.
fn vcpu_of(judge: &mut Judge<'_>, vm: &Vm, task: &config::Task) -> Option<usize> {
    let name = task.name.as_ref()?;
    let title = title(vm, &name.value);
    let number = task.vcpu.as_ref().map_or(0, |vcpu| vcpu.value) as usize;
    let span = task.vcpu.as_ref().map_or(&task.span, |vcpu| &vcpu.span);
    let Some(vcpu) = vm.vcpus.get(number) else {
        // A VM without any is noted.
        if !vm.vcpus.is_empty() {
            judge.note(
                Code::OutOfRange,
                span,
                "no such vCPU",
                format!(
                    "{title} runs on vCPU {number}, but the VM has {}, counted from 0",
                    count(vm.vcpus.len(), "vCPU")
                ),
                "name the vCPU that runs it",
            );
        }
        return None;
    };
    let class = vcpu.class.as_ref()?.value;
    let is_wrong = |key| judge.config.is_wrong(&vcpu.span, key);
    let is_reserved = vcpu.period.is_some() || vcpu.budget.is_some();
    if class == Class::Be || !(is_reserved || is_wrong("period") || is_wrong("budget")) {
        let problem = Problem::new(
            Code::BadTask,
            format!(
                "{title} runs on vCPU {number}, which has no reservation, so that no time is guaranteed to it"
            ),
            "give that vCPU `class = \"rt\"`, a `period` and a `budget`, or remove the task",
        );
        let problem = problem.at(judge.source(), span, "this task");
        judge.add(problem.at(judge.source(), &vcpu.span, "without a reservation"));
        return None;
    }
    Some(number)
}

/// Judges a task's times. `None`: they are missing or wrong.
fn check_one<'c>(
    judge: &mut Judge<'_>,
    platform: &Platform,
    vm: &Vm,
    written: &'c config::Task,
) -> Option<Seen<'c>> {
    let name = written.name.as_ref()?.value.clone();
    let title = title(vm, &name);
    let (period, wcet) = (written.period.as_ref()?, written.wcet.as_ref()?);
    let priority = written.priority.as_ref()?.value;
    let is_wrong = |key| judge.config.is_wrong(&written.span, key);
    if ["deadline", "stimulus", "jitter"].into_iter().any(is_wrong) {
        return None;
    }
    let profile = &platform.profile;
    let mut fine = true;
    let mut ticks = |judge: &mut Judge<'_>, time: &At<Nanoseconds>, key: &str, up: bool| {
        let ticks = if up {
            profile.ticks_for(time.value)
        } else {
            profile.ticks_within(time.value)
        };
        let shortest = u64::from(key != "jitter");
        if !(shortest..=limit::PERIOD_TICKS).contains(&ticks) {
            let hz = profile.timebase_hz;
            judge.note(
                Code::BadTask,
                &time.span,
                if ticks == 0 {
                    "less than a tick"
                } else {
                    "too long"
                },
                format!("the {key} of {title} is {}", time.value),
                format!(
                    "use at least a tick of `{}`, {}, and at most {} s",
                    profile.name,
                    time_text(1, hz),
                    limit::PERIOD_TICKS / u64::from(hz)
                ),
            );
            fine = false;
        }
        ticks
    };
    let period_ticks = ticks(judge, period, "period", false);
    let wcet_ticks = ticks(judge, wcet, "wcet", true);
    let deadline = written.deadline.as_ref();
    let deadline_ticks =
        deadline.map_or(period_ticks, |time| ticks(judge, time, "deadline", false));
    let jitter = written.jitter.as_ref();
    let jitter_ticks = jitter.map_or(0, |time| ticks(judge, time, "jitter", true));
    if !fine {
        return None;
    }
    let within_period = [
        (deadline, "deadline", deadline_ticks),
        (jitter, "jitter", jitter_ticks),
    ];
    for (time, key, ticks) in within_period {
        if let Some(time) = time.filter(|_| ticks > period_ticks) {
            judge.note(
                Code::BadTask,
                &time.span,
                format!("of {}", period.value),
                format!(
                    "the {key} of {title}, {}, is longer than its period, {}",
                    time.value, period.value
                ),
                format!(
                    "use at most {}",
                    time_text(period_ticks, profile.timebase_hz)
                ),
            );
            fine = false;
        }
    }
    if wcet_ticks > deadline_ticks.min(period_ticks) {
        let (limit, what) = match deadline {
            Some(deadline) => (deadline.value, "deadline"),
            None => (period.value, "period"),
        };
        judge.note(
            Code::BadTask,
            &wcet.span,
            format!("of {limit}"),
            format!(
                "the wcet of {title}, {}, does not fit before its {what}, {limit}",
                wcet.value
            ),
            format!(
                "use at most {}, or a longer {what}",
                time_text(deadline_ticks.min(period_ticks), profile.timebase_hz)
            ),
        );
        fine = false;
    }
    fine.then_some(Seen {
        written,
        title,
        name,
        times: GuestTask {
            period: period_ticks,
            wcet: wcet_ticks,
            deadline: deadline_ticks,
            jitter: jitter_ticks,
            priority,
        },
    })
}

/// A vCPU with its tasks.
struct Inside<'s> {
    platform: &'s Platform,
    guarantee: &'s Guarantee,
    title: String,
    written: &'s config::Vcpu,
    name: String,
    /// VMs may ask for reservations at run time. Then a vCPU may have its budget as late as at its deadline, and may be
    /// moved to another of its harts.
    changes: bool,
    /// What preempts it, where that costs it something.
    preempted: Option<Preempted>,
}

impl Inside<'_> {
    fn reload(&self) -> Candidate<'_> {
        Candidate {
            profile: &self.platform.profile,
            guarantee: self.guarantee,
            title: &self.title,
            written: self.written,
            name: &self.name,
            changes: self.changes,
        }
    }

    /// What the vCPU has at least for such tasks if it has this reservation, and that `within` a time. `None`: nothing
    /// is left of its budget.
    fn supply(&self, own: Reserved, within: u64, tasks: &[GuestTask]) -> Option<Supply> {
        let left = match &self.preempted {
            Some(preempted) => preempted.left(own, within)?,
            None => own,
        };
        let overheads = &self.guarantee.overheads;
        Some(Supply::new(
            left.reservation,
            left.kind,
            within,
            tasks,
            overheads,
            self.guarantee.held(),
        ))
    }

    fn time(&self, ticks: u64) -> String {
        time_text(ticks, self.platform.profile.timebase_hz)
    }

    /// Judges the tasks of the vCPU. `None`: it has none, or is not guaranteed its time, which is noted.
    fn check(&self, judge: &mut Judge<'_>, vm: usize, tasks: &[Seen<'_>]) -> Option<VcpuTasks> {
        let first = tasks.first()?;
        let mut harts = self.guarantee.harts.iter();
        let place = |hart: &Hart| hart.vcpus.iter().position(|vcpu| vcpu.name == self.name);
        let (hart, place) = harts.find_map(|hart| Some((hart, place(hart)?)))?;
        let vcpu = &hart.vcpus[place];
        let own = vcpu.task()?;
        let within = match &vcpu.answer {
            Answer::Within(_) if self.changes && is_movable(self.written) => {
                let problem = Problem::new(
                    Code::LateTask,
                    format!(
                        "{} has no bound: {}, which runs it, may be moved to another hart when VMs ask for reservations at run time",
                        first.title, self.title
                    ),
                    "give the vCPU one `hart`, or remove `rt_vcpus` and `rt_share` from all VMs",
                );
                let problem = problem.at(judge.source(), &first.written.span, "no bound");
                judge.add(problem.at(
                    judge.source(),
                    &self.written.span,
                    "on one of several harts",
                ));
                return None;
            }
            Answer::Within(_) if self.changes => own.reservation.deadline,
            Answer::Within(within) => *within,
            Answer::Unbounded(other) => {
                let problem = Problem::new(
                    Code::LateTask,
                    format!(
                        "{} has no bound: {}, which runs it, has none, as {other} comes before it and may run for as long as it likes",
                        first.title, self.title
                    ),
                    "give that one a `period` and a `budget`, or remove the task",
                );
                let problem = problem.at(judge.source(), &first.written.span, "no bound");
                judge.add(problem.at(judge.source(), &self.written.span, "as this one has none"));
                return None;
            }
            Answer::Late | Answer::None => return None,
        };
        let times: Vec<GuestTask> = tasks.iter().map(|task| task.times).collect();
        let supply = self.supply(own, within, &times)?;
        let completions: Vec<Completion> = (0..times.len())
            .map(|which| completion(&times, which, &supply))
            .collect();
        for which in 0..tasks.len() {
            if !completions[which].is_in_time() {
                let one = Late {
                    inside: self,
                    hart,
                    place,
                    tasks,
                    times: &times,
                    completions: &completions,
                    which,
                    own,
                    within,
                };
                one.note(judge, &supply);
            }
        }
        let all = tasks.iter().zip(completions);
        Some(VcpuTasks {
            name: self.name.clone(),
            reservation: own.reservation,
            left: supply.budget(),
            begin: supply.begin(),
            tasks: all
                .map(|(task, completion)| Task {
                    vm,
                    name: task.name.clone(),
                    times: task.times,
                    stimulus: task
                        .written
                        .stimulus
                        .as_ref()
                        .map(|at| at.value)
                        .unwrap_or_default(),
                    completion,
                })
                .collect(),
        })
    }
}

/// Whether it may run on several harts.
fn is_movable(vcpu: &config::Vcpu) -> bool {
    vcpu.harts
        .as_ref()
        .is_some_and(|harts| harts.value.len() > 1)
}

/// When the vCPU at a place of a hart has its budget, with another reservation. `None`: perhaps too late, or another
/// one is.
fn within(hart: &Hart, place: usize, changed: Reserved, overheads: &Overheads) -> Option<u64> {
    let task = |index: usize| {
        let changed = (index == place).then_some(changed);
        changed.or(hart.vcpus[index].task())
    };
    let all = 0..hart.vcpus.len();
    match hart.policy {
        RealTimePolicy::EarliestDeadline => {
            let tasks: Vec<Reserved> = all.filter_map(task).collect();
            let fits = analysis::verdict(tasks.iter().copied(), overheads) == Verdict::Fits;
            let response = analysis::earliest_deadline_response(&tasks, place, overheads)?;
            fits.then_some(response.ticks)
        }
        RealTimePolicy::FixedPriority => {
            let ranked = all.map(|index| hart.vcpus[index].ranked(task(index)));
            let ranked: Vec<Ranked> = ranked.collect();
            let response = |which| analysis::fixed_priority_response(&ranked, which, overheads);
            let kept = |(which, vcpu): (usize, &Vcpu)| {
                !matches!(vcpu.answer, Answer::Within(_)) || response(which).is_some()
            };
            let all = hart.vcpus.iter().enumerate().all(kept);
            response(place)
                .filter(|_| all)
                .map(|response| response.ticks)
        }
    }
}

/// A task that may miss its deadline.
struct Late<'s> {
    inside: &'s Inside<'s>,
    hart: &'s Hart,
    /// Its vCPU's place on that.
    place: usize,
    tasks: &'s [Seen<'s>],
    times: &'s [GuestTask],
    completions: &'s [Completion],
    which: usize,
    /// What its vCPU has.
    own: Reserved,
    within: u64,
}

impl Late<'_> {
    fn note(&self, judge: &mut Judge<'_>, supply: &Supply) {
        let (one, inside) = (&self.tasks[self.which], self.inside);
        let time = |ticks| inside.time(ticks);
        let own = one.times;
        let (late, length) = match self.completions[self.which] {
            Completion::Late(response) => (
                format!("may be done only {} after its activation", time(response)),
                response,
            ),
            _ => (
                "may not be done before its next activation".into(),
                own.period,
            ),
        };
        let others = || {
            let all = self.times.iter().enumerate();
            all.filter(|(other, task)| *other != self.which && task.priority >= own.priority)
        };
        let before: u64 = others()
            .map(|(_, task)| task.activations(length) * task.wcet)
            .sum();
        let names: Vec<String> = others()
            .map(|(other, _)| format!("`{}`", self.tasks[other].name))
            .collect();
        let before = match names.as_slice() {
            [] => String::new(),
            names => format!(" and {} before it up to {}", names.join(", "), time(before)),
        };
        let reloads = match self.own.reservation.budget - supply.budget() {
            0 => String::new(),
            ticks => format!(", as up to {} reload its caches", time(ticks)),
        };
        let message = format!(
            "{} {late}, and its deadline is {}: in {} it needs {}{before}, and {} may execute nothing for {}, then {} in each {}{reloads}",
            one.title,
            time(own.deadline),
            time(length),
            time(own.wcet),
            inside.title,
            time(supply.begin()),
            time(supply.budget()),
            time(self.own.reservation.period),
        );
        let key = one
            .written
            .deadline
            .as_ref()
            .or(one.written.period.as_ref());
        let span = key.map_or(&one.written.span, |time| &time.span);
        let problem = Problem::new(Code::LateTask, message, self.cures());
        let problem = problem.at(judge.source(), span, "may be missed");
        let written = inside.written;
        let vcpu = written
            .budget
            .as_ref()
            .map_or(&written.span, |budget| &budget.span);
        judge.add(problem.at(judge.source(), vcpu, format!("what {} has", inside.name)));
    }

    /// Whether the task is in time with that of its vCPU, and no other becomes late.
    fn is_in_time_with(&self, changed: Reserved) -> bool {
        let overheads = &self.inside.guarantee.overheads;
        let Some(within) = within(self.hart, self.place, changed, overheads) else {
            return false;
        };
        let within = if self.inside.changes {
            changed.reservation.deadline
        } else {
            within
        };
        let Some(supply) = self.inside.supply(changed, within, self.times) else {
            return false;
        };
        (0..self.times.len()).all(|one| {
            one != self.which && !self.completions[one].is_in_time()
                || completion(self.times, one, &supply).is_in_time()
        })
    }

    /// The smallest budget of its vCPU with which it is.
    fn budget(&self) -> Option<u64> {
        let Reserved {
            reservation: own,
            kind,
        } = self.own;
        let slack = self.hart.vcpus[self.place].slack?;
        least(own.budget + 1, own.budget + slack, |budget| {
            let reservation = Reservation { budget, ..own };
            self.is_in_time_with(Reserved { reservation, kind })
        })
    }

    /// Changes of which each alone brings the task in time, and makes no other late.
    fn cures(&self) -> String {
        let own = self.times[self.which];
        let in_time = |changed: GuestTask| {
            let mut times = self.times.to_vec();
            times[self.which] = changed;
            let supply = self.inside.supply(self.own, self.within, &times);
            supply.is_some_and(|supply| completion(&times, self.which, &supply).is_in_time())
        };
        let is_implicit = self.tasks[self.which].written.deadline.is_none();
        let with_period = |period: u64| GuestTask {
            period,
            deadline: if is_implicit { period } else { own.deadline },
            ..own
        };
        let time = |ticks| self.inside.time(ticks);
        let wcet = greatest(1, own.wcet - 1, |wcet| in_time(GuestTask { wcet, ..own }));
        let period = least(own.period + 1, limit::PERIOD_TICKS, |period| {
            in_time(with_period(period))
        });
        let deadline = least(own.deadline + 1, own.period, |deadline| {
            in_time(GuestTask { deadline, ..own })
        });
        let mut ways = Vec::new();
        ways.extend(wcet.map(|wcet| format!("a wcet of at most {}", time(wcet))));
        ways.extend(period.map(|period| format!("a period of at least {}", time(period))));
        ways.extend(deadline.map(|deadline| format!("a deadline of at least {}", time(deadline))));
        ways.extend(self.budget().map(|budget| {
            format!(
                "a budget of {} of at least {}",
                self.inside.name,
                time(budget)
            )
        }));
        let server = Reserved {
            kind: Kind::Server,
            ..self.own
        };
        if self.own.kind == Kind::Periodic && self.is_in_time_with(server) {
            ways.push(format!("`kind = \"server\"` of {}", self.inside.name));
        }
        match ways.pop() {
            None => "nothing changed on this task or on its vCPU's budget alone brings it in time; let the tasks before it need less, or give the vCPU a shorter `period`".into(),
            Some(only) if ways.is_empty() => format!("{only} brings it in time"),
            Some(last) => format!("any of these brings it in time: {}, or {last}", ways.join(", ")),
        }
    }
}
