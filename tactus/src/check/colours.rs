//! Colours of the cache: which each VM's memory has, so that a neighbour evicts none of a real-time VM's lines.

use tactus_planning::colours::{Colours, colours_of, divide};

use super::judge::Judge;
use super::platform::Platform;
use crate::config::{At, Class, ColourRange, Config, Span, Vm};
use crate::problem::{Code, Problem, count};

/// Judges `cache_colours`, and gives each VM's. `None`: the cache is not divided, or, noted, cannot be.
pub(super) fn check(judge: &mut Judge<'_>, platform: &Platform) -> Option<Vec<Colours>> {
    let config = judge.config;
    let system = config.system.cache_colours.as_ref();
    let stated = config.vms.iter().find_map(|vm| vm.cache_colours.as_ref());
    let automatic = system.is_some_and(|system| system.value);
    let span = match (system, stated) {
        (Some(system), None) if !system.value => return None,
        (Some(system), Some(stated)) if !system.value => {
            let problem = Problem::new(
                Code::BadColours,
                "`cache_colours = false` of `[system]` contradicts the `cache_colours` of a VM",
                "remove one of them",
            );
            let problem = problem.at(judge.source(), &system.span, "not divided");
            judge.add(problem.at(judge.source(), &stated.span, "divided"));
            return None;
        }
        (Some(system), _) => &system.span,
        (None, Some(stated)) => &stated.span,
        (None, None) => return None,
    };
    let Some(of) = platform.profile.cache_way.and_then(|way| colours_of(way.0)) else {
        judge.note(
            Code::NoCache,
            span,
            "nothing to divide",
            format!(
                "the profile of platform `{}` states no cache that colours divide",
                platform.profile.name
            ),
            "remove `cache_colours`, choose a platform with a second-level cache, such as `soc`, or state the bytes of a way \
             as `cache_way` in the profile",
        );
        return None;
    };
    let mut fine = true;
    for vm in &config.vms {
        fine &= is_pageable(judge, vm);
    }
    let ranges: Vec<Option<Colours>> = config
        .vms
        .iter()
        .map(|vm| match &vm.cache_colours {
            Some(range) => {
                let run = run(judge, vm, range, of);
                fine &= run.is_some();
                run
            }
            None => {
                if !automatic {
                    fine = false;
                    missing(judge, vm);
                }
                None
            }
        })
        .collect();
    fine &= is_apart(judge, &ranges);
    if !fine {
        return None;
    }
    let divided = automatically(&config.vms, &ranges, of);
    if divided.is_none() {
        too_few(judge, &ranges, of);
    }
    divided
}

/// Whether a VM has real-time vCPUs, or may make some.
fn is_real_time(vm: &Vm) -> bool {
    let makes = vm.rt_vcpus.as_ref().is_some_and(|number| number.value > 0);
    let class = |class: &At<Class>| class.value == Class::Rt;
    makes
        || vm
            .vcpus
            .iter()
            .any(|vcpu| vcpu.class.as_ref().is_some_and(class))
}

/// What in the fabric reaches one piece of a VM's memory, by its physical address: where that stands, and what messages
/// call the key and the thing.
pub(super) fn reaches_a_piece<'c>(
    config: &'c Config,
    vm: &'c Vm,
) -> Option<(&'c Span, &'static str, &'static str)> {
    let manages = |name: Option<&At<String>>| {
        let own = vm.name.as_ref();
        own.zip(name)
            .is_some_and(|(own, name)| own.value == name.value)
    };
    let shared = config.accelerators.as_ref();
    let manager = shared.filter(|shared| manages(shared.manager.as_ref()));
    if let Some(accelerator) = vm.accelerators.first() {
        Some((
            &accelerator.span,
            "the VM's `[[vm.accelerator]]`",
            "its accelerator",
        ))
    } else if let Some(port) = vm.io_ports.first() {
        Some((&port.span, "the VM's `[[vm.io_port]]`", "its I/O port"))
    } else {
        manager.map(|shared| {
            (
                &shared.span,
                "`[accelerators]`",
                "the fabric, which fetches bitstreams from it,",
            )
        })
    }
}

/// Whether memory of the VM may be in pieces of colours; noted when the fabric reaches it by physical address, or its
/// place is given.
fn is_pageable(judge: &mut Judge<'_>, vm: &Vm) -> bool {
    let config = judge.config;
    let (span, key, why) = if let Some(reaches) = reaches_a_piece(config, vm) {
        reaches
    } else if let Some(part) = &vm.onchip_memory {
        judge.note(
            Code::BadColours,
            &part.span,
            "not in the cache",
            format!(
                "{}: with `cache_colours` all of its memory has its colours, and on-chip memory has none",
                vm.title()
            ),
            "remove `onchip_memory`, or `cache_colours` wherever it stands",
        );
        return false;
    } else if let Some(address) = &vm.host_address {
        judge.note(
            Code::BadColours,
            &address.span,
            "in one piece",
            format!(
                "{}: with `cache_colours` its memory is in pieces, which have no `host_address`",
                vm.title()
            ),
            "remove `host_address`, or `cache_colours` wherever it stands",
        );
        return false;
    } else {
        return true;
    };
    judge.note(
        Code::BadColours,
        span,
        "reaches one piece of memory",
        format!(
            "{}: with `cache_colours` its memory is in pieces, and {why} reaches only one",
            vm.title()
        ),
        format!("remove `cache_colours` wherever it stands, or {key}"),
    );
    false
}

/// The run that a VM states; `None`, noted: it is none.
fn run(judge: &mut Judge<'_>, vm: &Vm, range: &At<ColourRange>, of: u32) -> Option<Colours> {
    let ColourRange { first, last } = range.value;
    let run = Colours::run(first, last, of);
    if run.is_some() {
        return run;
    }
    let all = 1u32 << of;
    // The least that has all that is written.
    let meant = (0..of)
        .map(|bits| {
            (
                first >> bits << bits,
                first >> bits << bits | ((1 << bits) - 1),
            )
        })
        .find(|(_, end)| first <= last && last <= *end && last < all);
    let cure = match meant {
        Some((first, last)) => format!(
            "write `cache_colours = \"{}\"`",
            ColourRange { first, last }
        ),
        None => format!("choose from 0 to {}, at most half of them", all - 1),
    };
    judge.note(
        Code::BadColours,
        &range.span,
        "no such run",
        format!(
            "{}: `cache_colours` must be 1, 2, 4 ... of the cache's {}, the first one a multiple of how many they are, and \
             not all",
            vm.title(),
            count(all as usize, "colour")
        ),
        cure,
    );
    None
}

fn missing(judge: &mut Judge<'_>, vm: &Vm) {
    judge.note(
        Code::BadColours,
        vm.place(),
        "would have all colours",
        format!(
            "{} has no `cache_colours`, and another VM has: it could evict what that VM keeps in its colours",
            vm.title()
        ),
        "give each VM `cache_colours`, or let those without be given the rest: `cache_colours = true` in `[system]`",
    );
}

/// Whether real-time VMs have their colours for themselves; noted when they do not.
fn is_apart(judge: &mut Judge<'_>, ranges: &[Option<Colours>]) -> bool {
    let vms = &judge.config.vms;
    let mut fine = true;
    for (i, (a, one)) in vms.iter().zip(ranges).enumerate() {
        for (b, other) in vms.iter().zip(ranges).take(i) {
            let (Some(one), Some(other)) = (one, other) else {
                continue;
            };
            if !one.overlaps(*other) || !(is_real_time(a) || is_real_time(b)) {
                continue;
            }
            let real_time = if is_real_time(a) { a } else { b };
            let mut problem = Problem::new(
                Code::BadColours,
                format!(
                    "{} and {} share colours of the cache, and {} is real-time",
                    a.title(),
                    b.title(),
                    real_time.title()
                ),
                "give a real-time VM colours that no other VM has",
            );
            for range in [a, b]
                .into_iter()
                .filter_map(|vm| vm.cache_colours.as_ref())
            {
                problem = problem.at(
                    judge.source(),
                    &range.span,
                    format!("colours {}", range.value),
                );
            }
            judge.add(problem);
            fine = false;
        }
    }
    fine
}

/// Each VM's colours: those that it states; of the others, each real-time VM has as many as every other one, and
/// best-effort VMs share what is left. `None`: there are too few, or no VM is real-time.
fn automatically(vms: &[Vm], ranges: &[Option<Colours>], of: u32) -> Option<Vec<Colours>> {
    let taken: Vec<Colours> = ranges.iter().flatten().copied().collect();
    let open = |vm: &Vm, range: &Option<Colours>, real_time| {
        range.is_none() && is_real_time(vm) == real_time
    };
    let number = |real_time| {
        let pairs = vms.iter().zip(ranges);
        pairs
            .filter(|(vm, range)| open(vm, range, real_time))
            .count()
    };
    let nothing = Colours {
        first: 0,
        bits: 0,
        of,
    };
    let mut parts = vec![nothing; number(true)];
    let mut rest = nothing;
    let fits = divide(
        of,
        &taken,
        &mut parts,
        (number(false) > 0).then_some(&mut rest),
    );
    let mut parts = parts.into_iter();
    let protects = vms.iter().any(is_real_time) || taken.len() == vms.len();
    let all = vms.iter().zip(ranges).map(|(vm, range)| match range {
        Some(range) => Some(*range),
        None if is_real_time(vm) => parts.next(),
        None => Some(rest),
    });
    all.collect::<Option<Vec<_>>>().filter(|_| fits && protects)
}

fn too_few(judge: &mut Judge<'_>, ranges: &[Option<Colours>], of: u32) {
    let Some(system) = &judge.config.system.cache_colours else {
        return;
    };
    let vms = &judge.config.vms;
    if !vms.iter().any(is_real_time) {
        judge.note(
            Code::BadColours,
            &system.span,
            "nothing to protect",
            "`cache_colours = true` divides the cache for real-time VMs, and there are none",
            "remove it, or give each VM `cache_colours` of its own",
        );
        return;
    }
    let taken: u32 = ranges.iter().flatten().map(|run| run.count()).sum();
    let open = vms.iter().zip(ranges).filter(|(_, range)| range.is_none());
    let (real_time, best_effort): (Vec<_>, Vec<_>) = open.partition(|(vm, _)| is_real_time(vm));
    let needed = real_time.len() + usize::from(!best_effort.is_empty());
    judge.note(
        Code::BadColours,
        &system.span,
        "too few are left",
        format!(
            "the VMs without `cache_colours` need at least {}, and the other ones have {taken} of the cache's {}",
            count(needed, "colour"),
            1 << of
        ),
        "give the other ones fewer, or let real-time VMs become one",
    );
}

/// The colours of a channel between two VMs: those of a best-effort one, if one is; else of the second.
pub(super) fn of_channel(vms: &[Vm], colours: &[Colours], ends: [usize; 2]) -> Colours {
    let [first, second] = ends;
    let first_is_best_effort = !is_real_time(&vms[first]) && is_real_time(&vms[second]);
    colours[if first_is_best_effort { first } else { second }]
}
