//! What each VM may have of real-time vCPUs at run time: how many, and which share of the system.

use tactus_abi::blob::{RealTimePolicy, limit};
use tactus_policy::reservation::Reservation;

use super::judge::Judge;
use super::platform::Platform;
use super::vcpus::Vcpus;
use crate::config::{Share, Vm};
use crate::plan;
use crate::problem::{Code, count};

/// What a VM may have.
pub(super) struct Allowance {
    pub(super) rt_vcpus: u32,
    pub(super) rt_share: Share,
}

/// Judges all VMs' `rt_vcpus` and `rt_share`.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: Option<&Platform>,
    vcpus: &Vcpus<'_>,
) -> Vec<Allowance> {
    let config = judge.config;
    let mut allowances = Vec::new();
    // What each VM uses, and what it may have.
    let shares: Vec<[Share; 2]> = (0..)
        .zip(&config.vms)
        .map(|(index, vm)| {
            let used = platform.map_or_else(Share::default, |platform| {
                used(&vcpus.of_vm(index), platform.harts)
            });
            let share = vm.rt_share.as_ref().map_or(used, |share| share.value);
            [used, share]
        })
        .collect();
    for (index, vm) in config.vms.iter().enumerate() {
        let rt_vcpus = rt_vcpus(judge, vm, vcpus);
        let rt_share = platform.map_or_else(Share::default, |platform| {
            let used = shares[index][0];
            let others = (0..).zip(&shares).filter(|(other, _)| *other != index);
            let others: u64 = others.map(|(_, [_, share])| u64::from(share.0)).sum();
            let free = u64::from(Share::WHOLE.0 - platform.reserve.0).saturating_sub(others);
            let share = rt_share(judge, vm, used, free, platform);
            nothing_left(judge, vm, used, share);
            share
        });
        allowances.push(Allowance { rt_vcpus, rt_share });
    }
    if let Some(platform) = platform {
        sum(judge, platform, &allowances, &shares);
    }
    allowances
}

fn rt_vcpus(judge: &mut Judge<'_>, vm: &Vm, vcpus: &Vcpus<'_>) -> u32 {
    let Some(number) = &vm.rt_vcpus else {
        return 0;
    };
    let most = limit::RT_VCPUS_PER_VM as u32;
    if number.value > most {
        judge.note(
            Code::TooMany,
            &number.span,
            format!("0 to {most}"),
            format!(
                "{} may make {} at run time; a VM can have {most}",
                vm.title(),
                count(number.value as usize, "real-time vCPU")
            ),
            "let one of them do more",
        );
    }
    let by_deadline = |policy: &RealTimePolicy| *policy == RealTimePolicy::EarliestDeadline;
    if number.value > 0 && !vcpus.policies.is_empty() && !vcpus.policies.iter().any(by_deadline) {
        judge.note(
            Code::NeverRuns,
            &number.span,
            "nowhere to put them",
            format!(
                "{} may make real-time vCPUs at run time, but every hart goes by priorities, and only one that goes by deadlines takes them",
                vm.title()
            ),
            "use one hart more, or give the real-time vCPUs of one a `period` and a `budget` in place of their `priority`",
        );
    }
    number.value.min(most)
}

/// The least share that the reservations of these vCPUs are within, of a system with that many harts: as the hypervisor
/// counts at run time.
pub(super) fn used(vcpus: &[plan::Vcpu], harts: u32) -> Share {
    used_by(vcpus.iter().filter_map(|vcpu| vcpu.reservation), harts)
}

/// The same of these reservations.
pub(super) fn used_by(times: impl Iterator<Item = Reservation>, harts: u32) -> Share {
    let sum: u128 = times
        .map(|times| (u128::from(times.budget) << 32) / u128::from(times.period))
        .sum();
    let whole = u128::from(harts) << 32;
    let thousandths = u128::from(Share::WHOLE.0);
    let below = sum * thousandths / whole;
    let is_within = sum <= (below * whole).div_ceil(thousandths);
    Share(u32::try_from(below + u128::from(!is_within)).unwrap_or(u32::MAX))
}

/// Notes that a VM has nothing left for what it may make at run time.
fn nothing_left(judge: &mut Judge<'_>, vm: &Vm, used: Share, share: Share) {
    let Some(number) = vm.rt_vcpus.as_ref().filter(|number| number.value > 0) else {
        return;
    };
    if used < share || judge.config.is_wrong(&vm.span, "rt_share") {
        return;
    }
    judge.note(
        Code::NoShare,
        &number.span,
        "none of them fits",
        format!(
            "{} may make {} at run time, but its share leaves no time for {}",
            vm.title(),
            count(number.value as usize, "real-time vCPU"),
            if number.value == 1 { "it" } else { "them" }
        ),
        if vm.rt_share.is_some() {
            "make `rt_share` larger, unless its configured vCPUs are to take less at run time"
        } else {
            "add `rt_share = \"10%\"`, say: a part of all harts together"
        },
    );
}

/// Judges `rt_share` of a VM whose configured vCPUs use so much; `free`: thousandths that the other VMs leave.
fn rt_share(judge: &mut Judge<'_>, vm: &Vm, used: Share, free: u64, platform: &Platform) -> Share {
    let Some(share) = &vm.rt_share else {
        return used.min(Share::WHOLE);
    };
    judge.is_part(share, &format!("`rt_share` of {}", vm.title()));
    if share.value < used {
        judge.note(
            Code::OverShare,
            &share.span,
            format!("{} used", used),
            format!(
                "the configured vCPUs of {} have {used} of the system's {}, more than its `rt_share` of {}",
                vm.title(),
                count(platform.harts as usize, "hart"),
                share.value
            ),
            if u64::from(used.0) <= free {
                format!(
                    "use at least `rt_share = \"{}\"`, or smaller budgets or longer periods",
                    used.to_string().replace(' ', "")
                )
            } else {
                "use smaller budgets or longer periods".to_owned()
            },
        );
    }
    share.value.min(Share::WHOLE)
}

/// The shares of all VMs and what is left for best effort, against the whole.
fn sum(
    judge: &mut Judge<'_>,
    platform: &Platform,
    allowances: &[Allowance],
    shares: &[[Share; 2]],
) {
    let given: u32 = allowances
        .iter()
        .map(|allowance| allowance.rt_share.0)
        .sum();
    let left = Share(Share::WHOLE.0 - platform.reserve.0);
    let config = judge.config;
    let largest = config
        .vms
        .iter()
        .filter_map(|vm| vm.rt_share.as_ref())
        .max_by_key(|share| share.value);
    // Without any that is written down, it is the vCPUs themselves that ask too much; their harts say so.
    let Some(largest) = largest.filter(|_| given > left.0) else {
        return;
    };
    let excess = Share(given - left.0);
    let unused: u32 = shares
        .iter()
        .map(|[used, share]| (*share).min(Share::WHOLE).0.saturating_sub(used.0))
        .sum();
    judge.note(
        Code::OverShare,
        &largest.span,
        "the largest",
        format!(
            "the VMs' real-time shares come to {}, and `be_reserve` leaves {left}",
            Share(given)
        ),
        match (excess.0 <= unused, excess <= platform.reserve) {
            (true, true) => format!("reduce the shares, or `be_reserve`, by {excess}"),
            (true, false) => format!("reduce the shares by {excess}"),
            (false, true) => format!("reduce `be_reserve` by {excess}"),
            (false, false) => {
                "reduce the shares, and the budgets of the vCPUs that need them".to_owned()
            }
        },
    );
}
