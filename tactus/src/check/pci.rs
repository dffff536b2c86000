//! PCI functions passed through: whether the platform isolates them, and who has which.

use tactus_abi::blob::pci::SLOTS;
use tactus_abi::map;
use tactus_planning::placement::Extent;

use super::judge::Judge;
use super::parts;
use super::platform::Platform;
use crate::config::{At, HypervisorMemory, PciFunction, Span, Vm};
use crate::guest_image::extent_text;
use crate::pci::Model;
use crate::plan::{self, FUNCTION_WINDOW, Function, Plan};
use crate::problem::{Code, Problem};
use crate::profile::{Pci, Profile};

/// A function that has been given to a VM.
struct Given<'c> {
    slot: At<u32>,
    interrupt: u32,
    vm: &'c Vm,
}

/// Judges all PCI functions of all VMs, which have these devices.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: &Platform,
    devices: &[Vec<plan::Device>],
) -> Vec<Vec<Function>> {
    let config = judge.config;
    let mut given: Vec<Given<'_>> = Vec::new();
    let mut all = Vec::new();
    for (vm, devices) in config.vms.iter().zip(devices) {
        let Some(first) = vm.pci.first() else {
            all.push(Vec::new());
            continue;
        };
        let host = host(judge, &platform.profile, &first.span);
        has_no_accelerators(judge, vm, &first.span);
        let mut own = Vec::new();
        for function in &vm.pci {
            if let Some(host) = host
                && let Some(slot) = slot_of(judge, vm, function)
                && let Some(found) = of_slot(judge, vm, host, &slot)
            {
                given_once(judge, vm, &slot, found.interrupt, &given);
                has_its_addresses(judge, vm, function, &found, devices);
                given.push(Given {
                    slot: slot.clone(),
                    interrupt: found.interrupt,
                    vm,
                });
                own.push(found);
            }
        }
        own.sort_by_key(|function| function.slot);
        all.push(own);
    }
    all
}

/// The platform's PCI host, if there is an IOMMU behind it, and a hypervisor that uses it.
fn host<'p>(judge: &mut Judge<'_>, profile: &'p Profile, span: &Span) -> Option<&'p Pci> {
    if parts::memory(judge.config) == HypervisorMemory::Onchip {
        judge.note(
            Code::NoPci,
            span,
            "not with this hypervisor",
            "the hypervisor for on-chip memory gives no PCI functions to VMs",
            "remove `hypervisor_memory`, or the PCI function",
        );
        return None;
    }
    let host = profile.pci.as_ref();
    let host = host.filter(|host| host.iommu.is_some());
    if host.is_none() {
        let having: Vec<_> = Profile::names()
            .filter(|name| {
                let profile = Profile::named(name);
                let host = profile.and_then(|profile| profile.pci);
                host.is_some_and(|host| host.iommu.is_some())
            })
            .map(|name| format!("`{name}`"))
            .collect();
        judge.note(
            Code::NoPci,
            span,
            "there is none",
            format!(
                "platform `{}` has no PCI host behind an IOMMU, without which a function could reach all memory",
                profile.name
            ),
            format!(
                "choose {} as `platform`, or remove the function",
                having.join(" or ")
            ),
        );
    }
    host
}

/// An accelerator's page is taken from its VM's processors, not from what the IOMMU has cached for its functions.
fn has_no_accelerators(judge: &mut Judge<'_>, vm: &Vm, span: &Span) {
    if let Some(accelerator) = vm.accelerators.first() {
        let problem = Problem::new(
            Code::NoPci,
            format!(
                "{} has accelerators, whose pages it may write at times: a PCI function could write them at others",
                vm.title()
            ),
            "give the function to another VM",
        );
        judge.add(problem.at(judge.source(), span, "the function").at(
            judge.source(),
            &accelerator.span,
            "an accelerator",
        ));
    }
}

/// The slot that is named, or that the function is in which says that it is the one named.
fn slot_of(judge: &mut Judge<'_>, vm: &Vm, function: &PciFunction) -> Option<At<u32>> {
    let (None, Some(id)) = (&function.slot, &function.id) else {
        // With both, the reader has noted it.
        return function.slot.clone().filter(|_| function.id.is_none());
    };
    let what = format!("the PCI function {} of {}", id.value, vm.title());
    let Some(machine) = &judge.config.machine else {
        judge.note(
            Code::NoFunction,
            &id.span,
            "in which slot?",
            format!("{what}: what the machine has on its PCI bus is not known"),
            "say it as for `tactus run`, by `--pci-disk` and `--pci-net`; or name the `slot` in place of `id`",
        );
        return None;
    };
    let slots: Vec<u32> = (1..)
        .zip(machine)
        .filter(|(_, model)| model.id() == id.value)
        .map(|(slot, _)| slot)
        .collect();
    match slots[..] {
        [slot] => {
            return Some(At {
                value: slot,
                span: id.span.clone(),
            });
        }
        [] => judge.note(
            Code::NoFunction,
            &id.span,
            "the machine has none",
            format!("{what} is not in the machine, which has {}", inventory(machine)),
            "name one that it has, or give the machine this one: `--pci-disk` for a disk, `--pci-net` for a network card",
        ),
        _ => {
            let slots: Vec<String> = slots.iter().map(u32::to_string).collect();
            judge.note(
                Code::NoFunction,
                &id.span,
                "which one?",
                format!("{what} is in the slots {} of the machine", slots.join(", ")),
                "name the `slot` that is meant in place of `id`",
            );
        }
    }
    None
}

/// A machine's functions in words.
fn inventory(machine: &[Model]) -> String {
    let all: Vec<String> = (1..)
        .zip(machine)
        .map(|(slot, model): (u32, _)| format!("{} ({}) in slot {slot}", model.id(), model.name()))
        .collect();
    if all.is_empty() {
        "no functions".into()
    } else {
        all.join(", ")
    }
}

/// The function in a slot.
fn of_slot(judge: &mut Judge<'_>, vm: &Vm, host: &Pci, slot: &At<u32>) -> Option<Function> {
    let last = SLOTS - 1;
    if !(1..=last).contains(&slot.value) {
        judge.note(
            Code::OutOfRange,
            &slot.span,
            format!("1 to {last}"),
            format!(
                "a PCI function of {} is in slot {}; bus 0 has 1 to {last}, and the host bridge in 0",
                vm.title(),
                slot.value
            ),
            "name the slot of a function: the first that `tactus run` is given is in slot 1",
        );
        return None;
    }
    let number = slot.value as usize;
    let machine = judge.config.machine.as_ref();
    let model = machine.and_then(|machine| machine.get(number - 1)).copied();
    if let Some(machine) = machine.filter(|_| model.is_none()) {
        judge.note(
            Code::NoFunction,
            &slot.span,
            "an empty slot",
            format!(
                "{} has the PCI function in slot {number}, and the machine has {}",
                vm.title(),
                inventory(machine)
            ),
            "give the machine a function for each slot from 1 on: `--pci-disk` for a disk, and behind these `--pci-net` for a network card",
        );
        return None;
    }
    let start = host.window.0 + number as u64 * FUNCTION_WINDOW;
    Some(Function {
        slot: slot.value,
        window: Extent::new(start, FUNCTION_WINDOW),
        interrupt: line(host, slot.value),
        model,
    })
}

/// The PLIC source of INTA of a device (PCI-to-PCI Bridge Architecture Specification 1.2, table 9-1).
const fn line(host: &Pci, slot: u32) -> u32 {
    host.interrupts[slot as usize % host.interrupts.len()]
}

/// Judges whether no other VM has the function, or one with the same line.
fn given_once(judge: &mut Judge<'_>, vm: &Vm, slot: &At<u32>, interrupt: u32, given: &[Given<'_>]) {
    let number = slot.value;
    let same_slot = given.iter().find(|given| given.slot.value == number);
    let same_line = given
        .iter()
        .find(|given| given.interrupt == interrupt && given.vm.title() != vm.title());
    let (problem, first) = match (same_slot, same_line) {
        (Some(first), _) => {
            let message = if first.vm.title() == vm.title() {
                format!(
                    "the PCI function in slot {number} is given to {} twice",
                    vm.title()
                )
            } else {
                format!(
                    "the PCI function in slot {number} is given to {} and to {}",
                    first.vm.title(),
                    vm.title()
                )
            };
            let cure = "name each slot once: a function belongs to one VM";
            (Problem::new(Code::DeviceTwice, message, cure), first)
        }
        (None, Some(first)) => {
            let message = format!(
                "the PCI functions in slots {} and {number} share interrupt {interrupt}: {} and {} would interrupt each other",
                first.slot.value,
                first.vm.title(),
                vm.title()
            );
            let cure = "choose slots whose numbers differ by other than 4, 8, 12 and so on";
            (Problem::new(Code::InterruptTwice, message, cure), first)
        }
        (None, None) => return,
    };
    judge.add(problem.at(judge.source(), &slot.span, "again here").at(
        judge.source(),
        &first.slot.span,
        "first here",
    ));
}

/// Judges whether the VM has no device where the function is.
fn has_its_addresses(
    judge: &mut Judge<'_>,
    vm: &Vm,
    function: &PciFunction,
    found: &Function,
    devices: &[plan::Device],
) {
    let spaces = Extent::new(map::PCI_ECAM_BASE, map::PCI_ECAM_SIZE);
    for device in devices {
        for (place, what) in [
            (found.window, "registers of a PCI function"),
            (spaces, "configuration spaces"),
        ] {
            if device.guest.overlaps(place) {
                judge.note(
                    Code::GuestOverlap,
                    &function.span,
                    format!("overlaps `{}`", device.name),
                    format!(
                        "device `{}` of {} lies at {}, where {what} are, {}",
                        device.name,
                        vm.title(),
                        extent_text(device.guest),
                        extent_text(place)
                    ),
                    "choose another `guest_address` for the device",
                );
            }
        }
    }
}

/// The other functions on a function's interrupt line, by their slots: those of VMs, with these, and those of the
/// machine that no VM has.
pub(super) fn sharers<'p>(
    plan: &'p Plan,
    machine: Option<&[Model]>,
    function: &Function,
) -> Vec<(u32, Option<&'p str>)> {
    let of_vms = plan.vms.iter().flat_map(|vm| {
        let functions = vm.functions.iter();
        functions.map(|other| (other.slot, other.interrupt, Some(vm.name.as_str())))
    });
    let given: Vec<_> = of_vms.collect();
    let slots = 1..=machine.map_or(0, <[Model]>::len) as u32;
    let spare = slots.filter(|slot| given.iter().all(|(other, ..)| other != slot));
    let host = plan.profile.pci.iter();
    let spare = host.flat_map(|host| spare.clone().map(|slot| (slot, line(host, slot), None)));
    given
        .iter()
        .copied()
        .chain(spare)
        .filter(|(slot, line, _)| *line == function.interrupt && *slot != function.slot)
        .map(|(slot, _, vm)| (slot, vm))
        .collect()
}
