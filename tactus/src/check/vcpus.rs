//! vCPUs and the harts they run on.

use tactus_abi::blob::limit;

use super::judge::Judge;
use crate::config::{At, Class, Span, Vcpu};
use crate::plan;
use crate::problem::{Code, Problem, count};

/// Highest priority.
const PRIORITY_MAX: u32 = 255;

/// Judges all vCPUs of a system with that many harts, if that is known; what cannot run is left out.
pub(super) fn check(judge: &mut Judge<'_>, harts: Option<u32>) -> Vec<Vec<plan::Vcpu>> {
    let config = judge.config;
    counts(judge);
    let mut vcpus = Vec::new();
    let mut at = Vec::new();
    for vm in &config.vms {
        let mut own = Vec::new();
        for (index, vcpu) in vm.vcpus.iter().enumerate() {
            let title = format!("vCPU {index} of {}", vm.title());
            if let Some(checked) = check_one(judge, vcpu, &title, harts) {
                at.push((title, vcpu.span.clone(), checked.clone()));
                own.push(checked);
            }
        }
        vcpus.push(own);
    }
    shared_priorities(judge, &at);
    if let Some(harts) = harts {
        idle_harts(judge, &at, harts);
    }
    vcpus
}

fn counts(judge: &mut Judge<'_>) {
    let config = judge.config;
    for vm in &config.vms {
        if vm.vcpus.is_empty() {
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
    }
}

fn check_one(
    judge: &mut Judge<'_>,
    vcpu: &Vcpu,
    title: &str,
    harts: Option<u32>,
) -> Option<plan::Vcpu> {
    let class = vcpu.class.as_ref()?.value;
    let priority = priority(judge, vcpu, class, title);
    let harts = match class {
        Class::Rt => vec![rt_hart(judge, vcpu, title, harts)?],
        Class::Be => be_harts(judge, vcpu, title, harts)?,
    };
    Some(plan::Vcpu {
        class,
        priority: priority?,
        harts,
    })
}

fn priority(judge: &mut Judge<'_>, vcpu: &Vcpu, class: Class, title: &str) -> Option<u8> {
    match (&vcpu.priority, class) {
        (Some(priority), _) => {
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
            value
        }
        (None, Class::Be) => Some(0),
        (None, Class::Rt) => {
            judge.note(
                Code::MissingKey,
                &vcpu.span,
                "`priority` is missing here",
                format!("{title} is real time and has no `priority`"),
                format!("add `priority = 200`, say: 0 to {PRIORITY_MAX}, higher first"),
            );
            None
        }
    }
}

fn rt_hart(judge: &mut Judge<'_>, vcpu: &Vcpu, title: &str, harts: Option<u32>) -> Option<u32> {
    if let Some(several) = &vcpu.harts {
        let wanted = several.value.first().map_or(0, |hart| hart.value);
        judge.note(
            Code::VcpuHarts,
            &several.span,
            "a list of harts",
            format!("{title} is real time and so stays on one hart"),
            format!("write `hart = {wanted}` in place of `harts`, or make it `class = \"be\"`"),
        );
        return None;
    }
    let Some(hart) = &vcpu.hart else {
        judge.note(
            Code::MissingKey,
            &vcpu.span,
            "`hart` is missing here",
            format!("{title} is real time and has no `hart`"),
            "add `hart = 0`, say: the hart it stays on",
        );
        return None;
    };
    existing(judge, hart, title, harts)
}

fn be_harts(
    judge: &mut Judge<'_>,
    vcpu: &Vcpu,
    title: &str,
    harts: Option<u32>,
) -> Option<Vec<u32>> {
    if let Some(one) = &vcpu.hart {
        judge.note(
            Code::VcpuHarts,
            &one.span,
            "a single hart",
            format!("{title} is best effort and has a list of harts it may run on"),
            format!(
                "write `harts = [{}]`, or leave it out for all harts",
                one.value
            ),
        );
        return None;
    }
    let Some(allowed) = &vcpu.harts else {
        return Some((0..harts.unwrap_or(0)).collect());
    };
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

fn existing(judge: &mut Judge<'_>, hart: &At<u32>, title: &str, harts: Option<u32>) -> Option<u32> {
    let Some(harts) = harts.filter(|&harts| hart.value >= harts) else {
        return Some(hart.value);
    };
    judge.note(
        Code::NoSuchHart,
        &hart.span,
        "no such hart",
        format!(
            "{title} is to run on hart {}, but the system has {}, counted from 0",
            hart.value,
            count(harts as usize, "hart")
        ),
        format!(
            "name an existing hart, or use more: `harts = {}` in `[system]`",
            u64::from(hart.value) + 1
        ),
    );
    None
}

/// Real-time vCPUs that wait for each other.
fn shared_priorities(judge: &mut Judge<'_>, vcpus: &[(String, Span, plan::Vcpu)]) {
    for (i, (title, span, vcpu)) in vcpus.iter().enumerate() {
        let same = |other: &&(String, Span, plan::Vcpu)| {
            vcpu.class == Class::Rt && other.2.class == Class::Rt && {
                (other.2.priority, &other.2.harts) == (vcpu.priority, &vcpu.harts)
            }
        };
        let Some((first, first_span, _)) = vcpus[..i].iter().find(same) else {
            continue;
        };
        let problem = Problem::new(
            Code::SharedPriority,
            format!(
                "{title} and {first} are both real time with priority {} on hart {}",
                vcpu.priority, vcpu.harts[0]
            ),
            "neither preempts the other: each runs until it waits, first come, first served; give them different priorities if one is more urgent",
        );
        let problem = problem.at(judge.source(), span, "this one").at(
            judge.source(),
            first_span,
            "and this one",
        );
        judge.add(problem);
    }
}

/// Harts that are used but by no vCPU.
fn idle_harts(judge: &mut Judge<'_>, vcpus: &[(String, Span, plan::Vcpu)], harts: u32) {
    let all = judge
        .config
        .vms
        .iter()
        .map(|vm| vm.vcpus.len())
        .sum::<usize>();
    if vcpus.len() != all || vcpus.is_empty() {
        // Some could not be judged; where they would have run is unknown.
        return;
    }
    let idle: Vec<String> = (0..harts)
        .filter(|hart| !vcpus.iter().any(|(_, _, vcpu)| vcpu.harts.contains(hart)))
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
        format!("{harts} used"),
        format!("no vCPU may run on hart {}", idle.join(", ")),
        "allow a vCPU to run there, or use fewer harts",
    );
}
