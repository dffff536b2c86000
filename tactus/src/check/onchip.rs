//! Whether the hypervisor, and parts of VMs' memory, can be in on-chip memory.

use tactus_abi::map::PAGE_SIZE;
use tactus_planning::placement::Extent;

use super::colours::reaches_a_piece;
use super::judge::Judge;
use super::parts;
use super::platform::Platform;
use crate::config::{Address, At, HypervisorMemory, Size, Vm};
use crate::guest_image::extent_text;
use crate::hypervisor::{Hypervisor, Onchip};
use crate::plan::{self, OnchipPart, Plan};
use crate::problem::{Code, count};
use crate::profile::Profile;

/// Judges whether the platform has such memory, and which VMs may have some.
pub(super) fn check(judge: &mut Judge<'_>, platform: &Platform) {
    check_there(judge, platform);
    for vm in &judge.config.vms {
        if let Some(part) = &vm.onchip_memory {
            check_vm(judge, vm, part);
        }
    }
}

/// Judges whether a VM may have a part of its memory there.
fn check_vm(judge: &mut Judge<'_>, vm: &Vm, part: &At<Size>) {
    let what = format!("{}: `onchip_memory`", vm.title());
    if parts::memory(judge.config) != HypervisorMemory::Onchip {
        judge.note(
            Code::BadOnchipMemory,
            &part.span,
            "of no use to it",
            format!("{what} needs the hypervisor in on-chip memory, too"),
            "say `hypervisor_memory = \"onchip\"` in `[system]`, on a platform with on-chip memory, or remove it",
        );
    }
    let show = |bytes| Size(bytes).to_string();
    let most = vm.memory.as_ref().map_or(u64::MAX, |memory| memory.value.0);
    let fits = |bytes| bytes < most;
    judge.is_multiple(part.value.0, PAGE_SIZE, &part.span, &what, show, fits);
    if let Some((span, key, why)) = reaches_a_piece(judge.config, vm) {
        judge.note(
            Code::BadOnchipMemory,
            span,
            "reaches one piece of memory",
            format!("{what} makes two pieces of its memory, and {why} reaches only one"),
            format!("remove `onchip_memory`, or {key}"),
        );
    }
}

fn check_there(judge: &mut Judge<'_>, platform: &Platform) {
    let Some(wanted) = &judge.config.system.hypervisor_memory else {
        return;
    };
    if wanted.value == HypervisorMemory::Main || platform.profile.onchip.is_some() {
        return;
    }
    let having: Vec<_> = Profile::names()
        .filter(|name| Profile::named(name).is_some_and(|profile| profile.onchip.is_some()))
        .map(|name| format!("`{name}`"))
        .collect();
    judge.note(
        Code::NoOnchipMemory,
        &wanted.span,
        "there is none",
        format!("platform `{}` has no on-chip memory", platform.profile.name),
        format!(
            "choose {} as `platform`, or leave this out",
            having.join(" or ")
        ),
    );
}

/// Judges whether what the hypervisor has to have there fits.
pub(super) fn check_fit(judge: &mut Judge<'_>, platform: &Platform, hypervisor: &Hypervisor) {
    let (Some(wanted), Some(there)) = (
        &judge.config.system.hypervisor_memory,
        platform.profile.onchip.as_ref().map(|place| place.extent()),
    ) else {
        return;
    };
    if parts::memory(judge.config) != HypervisorMemory::Onchip {
        return;
    }
    let Some(taken) = hypervisor.onchip else {
        judge.note(
            Code::BadHypervisor,
            &wanted.span,
            "not this one",
            "the hypervisor is not linked for on-chip memory",
            "build hypervisor and tool from the same source",
        );
        return;
    };
    let taken = taken.text;
    if there.contains(taken) {
        return;
    }
    let beyond = taken.end.saturating_sub(there.end);
    let reason = if taken.start == there.start && beyond > 0 {
        format!(
            "the hypervisor's text and constants take {} bytes, {beyond} more than the {} of on-chip memory",
            taken.size(),
            Size(there.size())
        )
    } else {
        format!(
            "the hypervisor is linked for {}, where the on-chip memory is {}",
            extent_text(taken),
            extent_text(there)
        )
    };
    judge.note(
        Code::OnchipTooSmall,
        &wanted.span,
        "does not fit",
        reason,
        "leave this out: the hypervisor is then in main memory",
    );
}

/// What of the on-chip memory is whose.
pub(super) struct Shares {
    /// Bytes of the hypervisor's text and constants, with what is left out behind them.
    pub(super) text: u64,
    /// Bytes of what the hypervisor keeps of harts, VMs and vCPUs, at most.
    pub(super) kept: u64,
    /// Bytes of VMs' memory.
    pub(super) vms: u64,
    /// All bytes.
    pub(super) all: u64,
}

impl Shares {
    /// Those of a system whose hypervisor is there.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let there = plan.profile.onchip.as_ref()?.extent();
        let hypervisor = plan.hypervisor.onchip.as_ref()?;
        let parts = plan.vms.iter().filter_map(|vm| vm.onchip);
        Some(Self {
            text: hypervisor.rest.saturating_sub(there.start),
            kept: kept(plan, hypervisor),
            vms: parts.map(|part| part.guest.size()).sum(),
            all: there.size(),
        })
    }

    /// Bytes that VMs' memory may have, in whole pages.
    fn for_vms(&self) -> u64 {
        let left = self.all.saturating_sub(self.text + self.kept);
        left / PAGE_SIZE * PAGE_SIZE
    }

    /// Bytes that are left for second-stage page tables.
    pub(super) fn left(&self) -> u64 {
        self.for_vms().saturating_sub(self.vms)
    }
}

fn kept(plan: &Plan, hypervisor: &Onchip) -> u64 {
    let devices = plan.accelerators.as_ref();
    hypervisor.kept([
        plan.harts as usize,
        plan.vms.len(),
        plan.vms.iter().map(plan::Vm::most_vcpus).sum(),
        plan.vms.iter().map(|vm| vm.channels.len()).sum(),
        devices.map_or(0, |shared| shared.devices.len()),
    ])
}

/// Places the parts of VMs' memory at the end of the on-chip memory. `None`, noted: they do not fit beside what the
/// hypervisor keeps of the system.
pub(super) fn place(judge: &mut Judge<'_>, platform: &Platform, plan: &mut Plan) -> Option<()> {
    let config = judge.config;
    if config.vms.iter().all(|vm| vm.onchip_memory.is_none()) {
        return Some(());
    }
    // Without such memory, or a hypervisor there, the judge has said so.
    let there = platform.profile.onchip.as_ref()?.extent();
    let shares = Shares::of(plan)?;
    let room = shares.for_vms();
    let mut taken = 0u64;
    for (vm, planned) in config.vms.iter().zip(&mut plan.vms) {
        let Some(part) = &vm.onchip_memory else {
            continue;
        };
        // Otherwise noted.
        let size = part.value.0;
        if size == 0 || !size.is_multiple_of(PAGE_SIZE) {
            return None;
        }
        let guest = Extent::new(image_begin(planned) / PAGE_SIZE * PAGE_SIZE, size);
        let most = planned.devicetree() - guest.start;
        if size > most {
            judge.note(
                Code::BadOnchipMemory,
                &part.span,
                part.value.to_string(),
                format!(
                    "{}: `onchip_memory` is of what the VM has from {}, where its image begins, up to its devicetree: {}",
                    vm.title(),
                    Address(guest.start),
                    Size(most),
                ),
                "make it smaller, or give the VM more `memory`",
            );
            return None;
        }
        let before = taken;
        taken = taken.saturating_add(size);
        if taken > room {
            too_small(judge, plan, (vm, part), before, &shares);
            return None;
        }
        let host = Extent::new(there.end - taken, size);
        planned.onchip = Some(OnchipPart { guest, host });
    }
    Some(())
}

/// The first guest-physical address of a VM's image; the initrd and the devicetree are elsewhere.
fn image_begin(vm: &plan::Vm) -> u64 {
    let initrd = vm.initrd.map(|initrd| initrd.start);
    let image = vm.segments.iter().map(|segment| segment.guest);
    let image = image.filter(|guest| Some(*guest) != initrd);
    image.min().unwrap_or(vm.entry)
}

fn too_small(
    judge: &mut Judge<'_>,
    plan: &Plan,
    (vm, part): (&Vm, &At<Size>),
    before: u64,
    shares: &Shares,
) {
    let vcpus = plan.vms.iter().map(plan::Vm::most_vcpus).sum();
    let room = shares.for_vms();
    let others = match before {
        0 => String::new(),
        _ => format!(", of which other VMs have {}", Size(before)),
    };
    judge.note(
        Code::OnchipTooSmall,
        &part.span,
        part.value.to_string(),
        format!(
            "{}: `onchip_memory` is more than is free: of the {} on the chip the hypervisor takes {} bytes for text and \
             constants, and {} for what it keeps of {}, {} and {}, which leaves {}{others}",
            vm.title(),
            Size(shares.all),
            shares.text,
            shares.kept,
            count(plan.harts as usize, "hart"),
            count(plan.vms.len(), "VM"),
            count(vcpus, "vCPU"),
            Size(room),
        ),
        match room - before {
            0 => "remove it, or make that of other VMs smaller".to_owned(),
            free => format!(
                "say at most `onchip_memory = \"{}\"`, or make that of other VMs smaller",
                Size(free).to_string().replace(' ', "")
            ),
        },
    );
}
