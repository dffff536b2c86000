//! What a system needs of the hypervisor beyond its base.

use tactus_abi::blob::management::MANAGEMENT;
use tactus_abi::blob::onchip::ONCHIP;
use tactus_abi::blob::{Migration, calls, part};
use tactus_planning::placement::Extent;

use crate::artifacts::{
    HYPERVISOR, HYPERVISOR_BASE, HYPERVISOR_FORWARDING, HYPERVISOR_FORWARDING_PCI,
    HYPERVISOR_MANAGEMENT, HYPERVISOR_ONCHIP, HYPERVISOR_PCI,
};
use crate::config::{At, Config, HypervisorMemory, Size, Vm};
use crate::guest_image::extent_text;

/// The optional parts, each with what the summary calls it.
const NAMES: [(u32, &str); 12] = [
    (part::ACCELERATORS, "accelerators"),
    (part::MESSAGES, "messages"),
    (part::MIGRATION, "migration"),
    (part::READY_QUEUE, "ready queue in hardware"),
    (part::RESERVATION_CALLS, "reservations by hypercall"),
    (part::BUDGET_MODES, "budget modes"),
    (part::DISPATCH_AHEAD, "dispatch ahead"),
    (part::CALLS, "calls"),
    (part::PCI, "PCI functions"),
    (calls::FORWARDING, "emulated devices"),
    (MANAGEMENT, "management"),
    (ONCHIP, "VMs in on-chip memory"),
];

/// The parts that a description needs: bits of [`part`].
pub(super) fn needed(config: &Config) -> u32 {
    let system = &config.system;
    let migrates = system
        .migration
        .as_ref()
        .is_some_and(|migration| migration.value != Migration::Off);
    let queue_in_hardware = system
        .ready_queue
        .as_ref()
        .is_some_and(|queue| queue.value.is_in_hardware());
    let has_messages = config
        .channels
        .iter()
        .any(|channel| channel.messages.is_some());
    let vcpus = || config.vms.iter().flat_map(|vm| &vm.vcpus);
    let is_ahead = |key: &Option<At<bool>>| key.as_ref().is_some_and(|given| given.value);
    let has_mode = |vcpu: &crate::config::Vcpu| vcpu.budget_high.is_some();
    [
        (part::ACCELERATORS, config.accelerators.is_some()),
        (part::MESSAGES, has_messages),
        (
            part::CALLS,
            config
                .channels
                .iter()
                .any(|channel| channel.calls.is_some()),
        ),
        (
            calls::FORWARDING,
            config
                .channels
                .iter()
                .any(|channel| channel.device.is_some()),
        ),
        (MANAGEMENT, config.vms.iter().any(manages)),
        (
            ONCHIP,
            config.vms.iter().any(|vm| vm.onchip_memory.is_some()),
        ),
        (part::MIGRATION, migrates),
        (part::READY_QUEUE, queue_in_hardware),
        (part::RESERVATION_CALLS, reserve_at_run_time(config)),
        (part::BUDGET_MODES, vcpus().any(has_mode)),
        (part::PCI, config.vms.iter().any(|vm| !vm.pci.is_empty())),
        (
            part::DISPATCH_AHEAD,
            is_ahead(&system.dispatch_ahead) || vcpus().any(|vcpu| is_ahead(&vcpu.dispatch_ahead)),
        ),
    ]
    .into_iter()
    .filter(|(_, needed)| *needed)
    .fold(0, |parts, (part, _)| parts | part)
}

/// Whether a VM manages others.
pub(super) fn manages(vm: &Vm) -> bool {
    let managed = vm.manages.as_ref();
    managed.is_some_and(|managed| !managed.value.is_empty())
}

/// Whether VMs may make and change reservations at run time.
pub(super) fn reserve_at_run_time(config: &Config) -> bool {
    let mut vms = config.vms.iter();
    vms.any(|vm| vm.rt_vcpus.is_some() || vm.rt_share.is_some())
}

/// The hypervisor that a system with these needs is started with: the base, or the one that has all parts but PCI,
/// forwarding and management, or that and PCI, or forwarding, or both, or forwarding and management, or, in on-chip
/// memory, another one that has all parts but these. There are no others, so that each hypervisor that runs without PCI
/// functions and emulated devices is one that the benches have measured.
pub(super) const fn hypervisor(parts: u32, memory: HypervisorMemory) -> &'static str {
    match memory {
        HypervisorMemory::Onchip => HYPERVISOR_ONCHIP,
        HypervisorMemory::Main if parts == 0 => HYPERVISOR_BASE,
        HypervisorMemory::Main if parts & part::PCI != 0 && parts & calls::FORWARDING != 0 => {
            HYPERVISOR_FORWARDING_PCI
        }
        HypervisorMemory::Main if parts & part::PCI != 0 => HYPERVISOR_PCI,
        HypervisorMemory::Main if parts & MANAGEMENT != 0 => HYPERVISOR_MANAGEMENT,
        HypervisorMemory::Main if parts & calls::FORWARDING != 0 => HYPERVISOR_FORWARDING,
        HypervisorMemory::Main => HYPERVISOR,
    }
}

/// What of a description needs one of the hypervisors that have no management, if anything does.
pub(super) fn fixed_hypervisor(config: &Config) -> Option<&'static str> {
    if memory(config) == HypervisorMemory::Onchip {
        Some("`hypervisor_memory`")
    } else if config.vms.iter().any(|vm| !vm.pci.is_empty()) {
        Some("the PCI functions")
    } else {
        None
    }
}

/// Where a description has the hypervisor.
pub(super) fn memory(config: &Config) -> HypervisorMemory {
    let memory = config.system.hypervisor_memory.as_ref();
    memory.map_or(HypervisorMemory::Main, |memory| memory.value)
}

/// For the summary: which hypervisor it is, and for the sake of which parts.
pub(super) fn title(parts: u32, onchip: Option<Extent>) -> String {
    if let Some(place) = onchip {
        return format!(
            "complete, with text and constants in on-chip memory, {} ({})",
            extent_text(place),
            Size(place.size())
        );
    }
    if parts == 0 {
        return "base".into();
    }
    let names = NAMES.iter().filter(|(part, _)| parts & part != 0);
    let names: Vec<&str> = names.map(|(_, name)| *name).collect();
    format!("complete, for {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_a_name() {
        let named = NAMES.iter().fold(0, |all, (part, _)| all | part);
        assert_eq!(named, part::ALL);
        assert_eq!(title(0, None), "base");
        let both = part::PCI | calls::FORWARDING;
        for (parts, name) in [
            (part::PCI, HYPERVISOR_PCI),
            (calls::FORWARDING, HYPERVISOR_FORWARDING),
            (both | part::CALLS, HYPERVISOR_FORWARDING_PCI),
        ] {
            assert_eq!(hypervisor(parts, HypervisorMemory::Main), name);
        }
        assert_eq!(
            title(part::MESSAGES | part::ACCELERATORS, None),
            "complete, for accelerators, messages"
        );
    }
}
