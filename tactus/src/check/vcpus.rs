//! vCPUs and the harts they run on.

use tactus_abi::blob::{RealTimePolicy, limit};
use tactus_planning::analysis::Criticality;
use tactus_policy::reservation::Kind;

use super::ahead;
use super::criticality;
use super::judge::Judge;
use super::platform::{Platform, in_range};
use super::reservation::{self, Times};
use crate::config::{At, Class, Nanoseconds, Vcpu};
use crate::plan;
use crate::problem::{Code, Problem, count};

/// Highest priority.
const PRIORITY_MAX: u32 = 255;

/// Least interrupt distance: some interrupts of a hart take longer.
const INTERRUPT_DISTANCE_MIN: Nanoseconds = Nanoseconds(10_000);

/// How many harts the system uses, and how many its platform can have.
#[derive(Clone, Copy)]
pub(super) struct Harts {
    pub(super) used: u32,
    most: u32,
}

impl Harts {
    pub(super) fn of(platform: &Platform) -> Self {
        Self {
            used: platform.harts,
            most: platform.profile.harts.max.min(limit::HARTS as u32),
        }
    }
}

/// All VMs' vCPUs, and what they make of the harts.
pub(super) struct Vcpus<'c> {
    /// Those that can run, in the order of the file.
    pub(super) seen: Vec<Seen<'c>>,
    /// How each hart orders its real-time vCPUs; empty when the harts are not known.
    pub(super) policies: Vec<RealTimePolicy>,
}

/// A vCPU that can run, and where in the description it is.
pub(super) struct Seen<'c> {
    /// What messages call it.
    pub(super) title: String,
    /// Its VM's index and name.
    pub(super) vm: usize,
    vm_name: &'c str,
    /// Its number within the VM.
    pub(super) number: usize,
    pub(super) written: &'c Vcpu,
    pub(super) checked: plan::Vcpu,
}

impl Seen<'_> {
    /// What tables call it: VM and number.
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.vm_name, self.number)
    }
}

impl<'c> Vcpus<'c> {
    /// A VM's.
    pub(super) fn of_vm(&self, vm: usize) -> Vec<plan::Vcpu> {
        let own = self.seen.iter().filter(|one| one.vm == vm);
        own.map(|one| one.checked.clone()).collect()
    }

    /// Whether a hart goes by deadlines.
    pub(super) fn is_by_deadline(&self, hart: u32) -> bool {
        self.policies.get(hart as usize) == Some(&RealTimePolicy::EarliestDeadline)
    }

    /// The harts of a vCPU that go by deadlines.
    pub(super) fn deadline_harts(&self, vcpu: &plan::Vcpu) -> impl Iterator<Item = u32> {
        let harts = vcpu.harts.iter().copied();
        harts.filter(|&hart| self.is_by_deadline(hart))
    }

    /// The real-time vCPUs of a hart that go by their priority, with their numbers among those seen.
    pub(super) fn by_priority_on(&self, hart: u32) -> impl Iterator<Item = (usize, &Seen<'c>)> {
        self.seen.iter().enumerate().filter(move |(_, one)| {
            one.checked.policy() == Some(RealTimePolicy::FixedPriority)
                && one.checked.harts.contains(&hart)
        })
    }
}

/// Judges all vCPUs of a system; what cannot run is left out.
pub(super) fn check<'c>(judge: &mut Judge<'c>, platform: Option<&Platform>) -> Vcpus<'c> {
    let config = judge.config;
    counts(judge);
    let mut seen = Vec::new();
    for (vm_index, vm) in config.vms.iter().enumerate() {
        for (number, vcpu) in vm.vcpus.iter().enumerate() {
            let title = format!("vCPU {number} of {}", vm.title());
            if let Some(checked) = check_one(judge, vcpu, &title, platform) {
                seen.push(Seen {
                    title,
                    vm: vm_index,
                    vm_name: vm.name.as_ref().map_or("", |name| &name.value),
                    number,
                    written: vcpu,
                    checked,
                });
            }
        }
    }
    shared_priorities(judge, &seen);
    let harts = platform.map_or(0, |platform| platform.harts);
    let policies: Vec<_> = (0..harts).map(|hart| policy(judge, &seen, hart)).collect();
    criticality::check_harts(judge, &seen);
    starved(judge, &seen);
    idle_harts(judge, &seen, &policies);
    Vcpus { seen, policies }
}

fn counts(judge: &mut Judge<'_>) {
    let config = judge.config;
    for vm in &config.vms {
        if vm.vcpus.is_empty() && !config.is_wrong(&vm.span, "vcpu") {
            judge.note(
                Code::NeverRuns,
                vm.place(),
                "no vCPU",
                format!("{} has no vCPU and would never run", vm.title()),
                "add a table `[[vm.vcpu]]` below it with `class = \"be\"`",
            );
        }
        if let Some(beyond) = vm.vcpus.get(limit::VCPUS_PER_VM) {
            judge.note(
                Code::TooMany,
                &beyond.span,
                format!("number {}", limit::VCPUS_PER_VM + 1),
                format!(
                    "{} has more than {}",
                    vm.title(),
                    count(limit::VCPUS_PER_VM, "vCPU")
                ),
                "remove some",
            );
        }
    }
    let mut all = config.vms.iter().flat_map(|vm| &vm.vcpus);
    if let Some(beyond) = all.nth(limit::VCPUS) {
        judge.note(
            Code::TooMany,
            &beyond.span,
            format!("number {}", limit::VCPUS + 1),
            format!("the system has more than {}", count(limit::VCPUS, "vCPU")),
            "remove some",
        );
        return;
    }
    let mut places: u64 = config.vms.iter().map(|vm| vm.vcpus.len() as u64).sum();
    for number in config.vms.iter().filter_map(|vm| vm.rt_vcpus.as_ref()) {
        places += u64::from(number.value);
        if places > limit::VCPUS as u64 {
            judge.note(
                Code::TooMany,
                &number.span,
                format!("{places} with these"),
                format!(
                    "the system has more than {}, those included that may be made at run time",
                    count(limit::VCPUS, "vCPU")
                ),
                "allow fewer",
            );
            return;
        }
    }
}

fn check_one(
    judge: &mut Judge<'_>,
    vcpu: &Vcpu,
    title: &str,
    platform: Option<&Platform>,
) -> Option<plan::Vcpu> {
    let class = vcpu.class.as_ref()?.value;
    let harts = platform.map(Harts::of);
    if let Some(span) = &vcpu.unlimited
        && (class == Class::Be || vcpu.priority.is_none() || vcpu.period.is_some())
    {
        judge.note(
            Code::BadReservation,
            span,
            "no budget",
            format!("{title} has an unlimited `budget`, which only a real-time vCPU with a `priority` and without a `period` has"),
            "remove it, or give it a time such as `budget = \"200us\"`",
        );
        return None;
    }
    if class == Class::Be {
        only_real_time(judge, vcpu, title);
        let priority = priority(judge, vcpu, title);
        let harts = be_harts(judge, vcpu, title, harts)?;
        return Some(plan::Vcpu {
            class,
            priority: Some(priority?.unwrap_or(0)),
            harts,
            reservation: None,
            kind: Kind::Server,
            criticality: Criticality::NONE,
            lead: 0,
            interrupt_distance: 0,
            warm: Vec::new(),
        });
    }
    let timeless = vcpu.period.is_none() && vcpu.budget.is_none() && vcpu.deadline.is_none();
    let is_wrong = |key| judge.config.is_wrong(&vcpu.span, key);
    if vcpu.priority.is_none() && timeless {
        if ["priority", "period", "budget", "deadline"]
            .into_iter()
            .any(is_wrong)
        {
            rt_harts(judge, vcpu, title, harts);
            return None;
        }
        judge.note(
            Code::MissingKey,
            &vcpu.span,
            "`period` and `budget` are missing here",
            format!("{title} is real time and has neither `period` and `budget` nor a `priority`"),
            format!("add `period = \"1ms\"` and `budget = \"200us\"`, say, or `priority = 200`: 0 to {PRIORITY_MAX}, higher first"),
        );
        rt_harts(judge, vcpu, title, harts);
        return None;
    }
    let times = platform.map_or(Times::None, |platform| {
        reservation::check(judge, &platform.profile, vcpu, title)
    });
    let kind = kind(judge, vcpu, title);
    let priority = priority(judge, vcpu, title);
    let harts = rt_harts(judge, vcpu, title, harts)?;
    let reservation = match times {
        Times::None => None,
        Times::Some(reservation) => Some(reservation),
        Times::Wrong => return None,
    };
    let criticality = criticality::check(judge, platform, vcpu, title, reservation, kind)?;
    let lead = ahead::check(judge, platform, vcpu, title, reservation)?;
    let interrupt_distance = platform.map_or(Some(0), |platform| {
        interrupt_distance(judge, platform, vcpu, title)
    })?;
    Some(plan::Vcpu {
        class,
        priority: priority?,
        harts,
        reservation,
        kind,
        criticality,
        lead,
        interrupt_distance,
        warm: Vec::new(),
    })
}

/// Notes what only a real-time vCPU can have.
fn only_real_time(judge: &mut Judge<'_>, vcpu: &Vcpu, title: &str) {
    let times = [
        ("period", &vcpu.period),
        ("budget", &vcpu.budget),
        ("deadline", &vcpu.deadline),
        ("reload", &vcpu.reload),
        ("interrupt_distance", &vcpu.interrupt_distance),
    ];
    let times = times
        .into_iter()
        .filter_map(|(key, time)| Some((key, &time.as_ref()?.span)));
    let kind = vcpu.kind.as_ref().map(|kind| ("kind", &kind.span));
    let ahead = vcpu.dispatch_ahead.as_ref();
    let ahead = ahead.map(|given| ("dispatch_ahead", &given.span));
    let keys = times.chain(kind).chain(ahead);
    for (key, span) in keys.chain(criticality::keys(vcpu)) {
        judge.note(
            Code::BadReservation,
            span,
            "of a best-effort vCPU",
            format!("{title} is best effort and gets what is left, so it has no `{key}`"),
            "remove it, or make the vCPU `class = \"rt\"`",
        );
    }
}

/// What waiting does to its jobs. What only a vCPU with jobs has is noted of another.
fn kind(judge: &mut Judge<'_>, vcpu: &Vcpu, title: &str) -> Kind {
    if let Some(reload) = &vcpu.reload
        && vcpu.period.is_none()
        && !judge.config.is_wrong(&vcpu.span, "period")
    {
        judge.note(
            Code::BadReservation,
            &reload.span,
            "of a vCPU without a budget",
            format!("{title} has a `reload` and no reservation, so that there is no budget which it could be taken from"),
            "remove it, or give the vCPU a `period` and a `budget`",
        );
    }
    let Some(kind) = &vcpu.kind else {
        return Kind::Server;
    };
    if vcpu.period.is_none() && !judge.config.is_wrong(&vcpu.span, "period") {
        judge.note(
            Code::BadReservation,
            &kind.span,
            "of a vCPU without jobs",
            format!("{title} has a `kind` and no reservation, so that it has no jobs that could end when it waits"),
            "remove it, or give the vCPU a `period` and a `budget`",
        );
    }
    kind.value
}

/// The least time between two interrupts of its hart that signals for it cause, in ticks. `None`, noted: it is out of
/// range.
fn interrupt_distance(
    judge: &mut Judge<'_>,
    platform: &Platform,
    vcpu: &Vcpu,
    title: &str,
) -> Option<u64> {
    let profile = &platform.profile;
    let longest = profile.overheads.service_period;
    let Some(given) = &vcpu.interrupt_distance else {
        return Some(profile.ticks_within(longest));
    };
    // What comes too early is delivered with the deferred work.
    let what = format!("the interrupt distance of {title}");
    let default = format!("for the deferral period of {longest}");
    let range = INTERRUPT_DISTANCE_MIN..=longest;
    in_range(judge, given, &what, range, default).then(|| profile.ticks_within(given.value))
}

/// The priority, if it is given. `None`, noted: there is no such priority.
fn priority(judge: &mut Judge<'_>, vcpu: &Vcpu, title: &str) -> Option<Option<u8>> {
    let Some(priority) = &vcpu.priority else {
        return Some(None);
    };
    let value = u8::try_from(priority.value).ok();
    if value.is_none() {
        judge.note(
            Code::OutOfRange,
            &priority.span,
            format!("0 to {PRIORITY_MAX}"),
            format!(
                "{title} has priority {}; there are 0 to {PRIORITY_MAX}",
                priority.value
            ),
            "higher numbers run first",
        );
    }
    value.map(Some)
}

/// The harts of a real-time vCPU: the one it stays on, or those that admission may choose from.
fn rt_harts(
    judge: &mut Judge<'_>,
    vcpu: &Vcpu,
    title: &str,
    harts: Option<Harts>,
) -> Option<Vec<u32>> {
    match (&vcpu.hart, &vcpu.harts) {
        (Some(hart), None) => existing(judge, hart, title, harts).map(|hart| vec![hart]),
        (None, Some(several)) if vcpu.priority.is_none() => listed(judge, several, title, harts),
        (None, None) => {
            if ["hart", "harts"]
                .into_iter()
                .any(|key| judge.config.is_wrong(&vcpu.span, key))
            {
                return None;
            }
            judge.note(
                Code::MissingKey,
                &vcpu.span,
                "`hart` is missing here",
                format!("{title} is real time and has no `hart`"),
                "add `hart = 0`, say: the hart it stays on",
            );
            None
        }
        (hart, Some(several)) => {
            let mut wanted = several.value.iter().map(|hart| hart.value);
            let wanted = wanted.find(|&hart| harts.is_none_or(|harts| hart < harts.used));
            let wanted = wanted.unwrap_or(0);
            let (message, cure) = if hart.is_some() {
                (
                    format!("{title} has both `hart` and `harts`"),
                    "keep `hart` for the one it stays on, or `harts` for those it may be put on"
                        .to_owned(),
                )
            } else {
                (
                    format!("{title} is real time with a priority and so stays on one hart"),
                    format!(
                        "write `hart = {wanted}` in place of `harts`, or make it `class = \"be\"`"
                    ),
                )
            };
            judge.note(
                Code::VcpuHarts,
                &several.span,
                "a list of harts",
                message,
                cure,
            );
            None
        }
    }
}

fn be_harts(
    judge: &mut Judge<'_>,
    vcpu: &Vcpu,
    title: &str,
    harts: Option<Harts>,
) -> Option<Vec<u32>> {
    if let Some(one) = &vcpu.hart {
        judge.note(
            Code::VcpuHarts,
            &one.span,
            "a single hart",
            format!("{title} is best effort and has a list of harts it may run on"),
            if harts.is_none_or(|harts| one.value < harts.used) {
                format!(
                    "write `harts = [{}]`, or leave it out for all harts",
                    one.value
                )
            } else {
                "remove it: the vCPU may then run on all harts".to_owned()
            },
        );
        return None;
    }
    let Some(allowed) = &vcpu.harts else {
        return Some((0..harts.map_or(0, |harts| harts.used)).collect());
    };
    listed(judge, allowed, title, harts)
}

/// Harts from a list, ascending, each once.
pub(super) fn listed(
    judge: &mut Judge<'_>,
    allowed: &At<Vec<At<u32>>>,
    title: &str,
    harts: Option<Harts>,
) -> Option<Vec<u32>> {
    if allowed.value.is_empty() {
        judge.note(
            Code::NeverRuns,
            &allowed.span,
            "no hart",
            format!("{title} may run on no hart and would never run"),
            "name harts, or leave `harts` out for all of them",
        );
        return None;
    }
    let mut numbers = Vec::new();
    for hart in &allowed.value {
        if numbers.contains(&hart.value) {
            judge.note(
                Code::VcpuHarts,
                &hart.span,
                "again",
                format!("{title} names hart {} twice", hart.value),
                "name each hart once",
            );
        }
        if let Some(number) = existing(judge, hart, title, harts) {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    (numbers.len() == allowed.value.len()).then_some(numbers)
}

fn existing(
    judge: &mut Judge<'_>,
    hart: &At<u32>,
    title: &str,
    harts: Option<Harts>,
) -> Option<u32> {
    let Some(harts) = harts.filter(|harts| hart.value >= harts.used) else {
        return Some(hart.value);
    };
    judge.note(
        Code::NoSuchHart,
        &hart.span,
        "no such hart",
        format!(
            "{title} is to run on hart {}, but the system has {}, counted from 0",
            hart.value,
            count(harts.used as usize, "hart")
        ),
        if hart.value < harts.most {
            format!(
                "name an existing hart, or use more: `harts = {}` in `[system]`",
                hart.value + 1
            )
        } else {
            match harts.used - 1 {
                0 => "name hart 0".to_owned(),
                last => format!("name an existing hart: 0 to {last}"),
            }
        },
    );
    None
}

/// Real-time vCPUs that wait for each other.
fn shared_priorities(judge: &mut Judge<'_>, seen: &[Seen<'_>]) {
    for (i, this) in seen.iter().enumerate() {
        let Some(priority) = this.checked.priority else {
            continue;
        };
        let same = |other: &&Seen<'_>| {
            let (one, other) = (&this.checked, &other.checked);
            one.policy().is_some()
                && one.policy() == other.policy()
                && (one.priority, &one.harts) == (other.priority, &other.harts)
        };
        let Some(first) = seen[..i].iter().find(same) else {
            continue;
        };
        let problem = Problem::new(
            Code::SharedPriority,
            format!(
                "{} and {} are both real time with priority {priority} on hart {}",
                this.title, first.title, this.checked.harts[0]
            ),
            "neither preempts the other: each runs until it waits, first come, first served; give them different priorities if one is more urgent",
        );
        let problem = problem
            .at(judge.source(), &this.written.span, "this one")
            .at(judge.source(), &first.written.span, "and this one");
        judge.add(problem);
    }
}

/// vCPUs that a message names one by one.
const NAMED: usize = 4;

/// Warns of real-time vCPUs without a budget: as long as one does not wait, nothing of lower priority runs on its hart.
/// Reservations below one are warned of where their time is judged. `budget = "unlimited"` says that it is meant.
fn starved(judge: &mut Judge<'_>, seen: &[Seen<'_>]) {
    let is_unbounded = |one: &Seen<'_>| {
        one.checked.policy() == Some(RealTimePolicy::FixedPriority)
            && one.checked.reservation.is_none()
    };
    let has_unbounded = |hart: &u32| {
        let mut unbounded = seen.iter().filter(|one| is_unbounded(one));
        unbounded.any(|one| one.checked.harts.contains(hart))
    };
    let is_unmeant = |one: &&Seen<'_>| is_unbounded(one) && one.written.unlimited.is_none();
    for one in seen.iter().filter(is_unmeant) {
        let (hart, priority) = (one.checked.harts[0], one.checked.priority.unwrap_or(0));
        let below: Vec<&Seen<'_>> = seen
            .iter()
            .filter(|other| {
                let other = &other.checked;
                other.harts.contains(&hart)
                    && match other.class {
                        // Elsewhere it would run.
                        Class::Be => other.harts.iter().all(has_unbounded),
                        Class::Rt => {
                            other.reservation.is_none()
                                && other.priority.is_some_and(|lower| lower < priority)
                        }
                    }
            })
            .collect();
        if below.is_empty() {
            continue;
        }
        let mut names: Vec<String> = below
            .iter()
            .take(NAMED)
            .map(|other| other.title.clone())
            .collect();
        if below.len() > NAMED {
            names.push(count(below.len() - NAMED, "other"));
        }
        let problem = Problem::new(
            Code::MayStarve,
            format!(
                "{}: real time with priority {priority} and without a budget; as long as it does not wait, it starves {} on hart {hart}",
                one.title,
                in_words(&names)
            ),
            "add a `period` and a `budget` to it, or let the others run on another hart; `budget = \"unlimited\"` says that it is meant",
        );
        let priority = one.written.priority.as_ref();
        let span = priority.map_or(&one.written.span, |priority| &priority.span);
        let mut problem = problem.at(judge.source(), span, "without a budget");
        for other in below.iter().take(NAMED) {
            problem = problem.at(judge.source(), &other.written.span, "may never run");
        }
        judge.add(problem);
    }
}

/// "a", "a and b", "a, b and c".
fn in_words(names: &[String]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        names => names.concat(),
    }
}

/// How a hart orders its real-time vCPUs: by priority when one of them has one.
fn policy(judge: &mut Judge<'_>, seen: &[Seen<'_>], hart: u32) -> RealTimePolicy {
    let with = |policy: RealTimePolicy| {
        let mut here = seen.iter().filter(|one| one.checked.harts.contains(&hart));
        here.find(|one| one.checked.policy() == Some(policy))
    };
    let Some(by_priority) = with(RealTimePolicy::FixedPriority) else {
        return RealTimePolicy::EarliestDeadline;
    };
    if let Some(by_deadline) = with(RealTimePolicy::EarliestDeadline) {
        let cure = if by_deadline.checked.harts.len() > 1 {
            format!(
                "take hart {hart} out of `harts` of {}, or let all on it go one way",
                by_deadline.title
            )
        } else {
            "give both a `priority`, or both a `period` and a `budget` and no `priority`, or put one on another hart".to_owned()
        };
        let problem = Problem::new(
            Code::MixedPolicies,
            format!(
                "on hart {hart}, {} goes by its priority and {} by its deadlines; which comes first is not defined",
                by_priority.title, by_deadline.title
            ),
            cure,
        );
        let priority = by_priority.written.priority.as_ref();
        let priority = priority.map_or(&by_priority.written.span, |priority| &priority.span);
        let problem = problem.at(judge.source(), priority, "by priority").at(
            judge.source(),
            &by_deadline.written.span,
            "by deadlines",
        );
        judge.add(problem);
    }
    RealTimePolicy::FixedPriority
}

/// Harts that are used but by no vCPU.
fn idle_harts(judge: &mut Judge<'_>, seen: &[Seen<'_>], policies: &[RealTimePolicy]) {
    let vms = &judge.config.vms;
    let all = vms.iter().map(|vm| vm.vcpus.len()).sum::<usize>();
    if seen.len() != all || seen.is_empty() {
        // Some could not be judged; where they would have run is unknown.
        return;
    }
    let mut run_time = vms.iter().filter_map(|vm| vm.rt_vcpus.as_ref());
    let run_time = run_time.any(|number| number.value > 0);
    let idle: Vec<String> = (0u32..)
        .zip(policies)
        .filter(|(_, policy)| !run_time || **policy == RealTimePolicy::FixedPriority)
        .map(|(hart, _)| hart)
        .filter(|hart| !seen.iter().any(|one| one.checked.harts.contains(hart)))
        .map(|hart| hart.to_string())
        .collect();
    if idle.is_empty() {
        return;
    }
    let system = &judge.config.system;
    let span = system
        .harts
        .as_ref()
        .map_or(&system.span, |harts| &harts.span)
        .clone();
    judge.note(
        Code::IdleHart,
        &span,
        format!("{} used", policies.len()),
        format!("no vCPU may run on hart {}", idle.join(", ")),
        "allow a vCPU to run there, or use fewer harts",
    );
}
