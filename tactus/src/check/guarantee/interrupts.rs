//! How often signals for other vCPUs interrupt a real-time vCPU: the number that protocol I1 of the hypervisor allows
//! (`hypervisor/src/hart.rs`).

use tactus_abi::blob::RealTimePolicy;

use crate::config::{Config, Vm};

/// A real-time vCPU and the harts it may run on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'h> {
    /// Its VM, by index.
    pub(super) vm: usize,
    /// The harts.
    pub(super) harts: &'h [u32],
    /// The most interrupts in a deferral period that signals for it cause.
    pub(super) interrupts: u64,
}

/// The most interrupts in a deferral period that signals for a vCPU with this interrupt distance cause. In any time of
/// some such periods there are as many for each, at most: the distance may divide the period or not.
pub(super) const fn for_each(deferral_period: u64, distance: u64) -> u64 {
    if distance == 0 {
        return 1;
    }
    deferral_period.div_ceil(distance)
}

/// The most interrupts in a deferral period, of all harts, that signals for real-time vCPUs of the hart cause: those of
/// each vCPU of the configuration ([`for_each`]), one for all vCPUs that a VM creates at run time, and for each
/// interrupt source of their VMs as many as for the vCPU of the VM with the shortest distance, by which the source may
/// be completed. The managers of accelerators and of I/O count as such vCPUs of each hart.
///
/// A VM that only its own vCPUs can signal counts where another VM has real-time vCPUs on the hart. Alone on the hart,
/// it interrupts its own vCPUs at most.
pub(super) fn most(config: &Config, vcpus: &[Placed<'_>], policies: &[RealTimePolicy]) -> u64 {
    let vms = || config.vms.iter();
    let accelerators = vms().any(|vm| !vm.accelerators.is_empty());
    let io = vms().any(|vm| !vm.io_ports.is_empty() || vm.timed_io.is_some());
    let managers = u64::from(accelerators) + u64::from(io);
    let on = |hart: u32| {
        let by_deadline = policies.get(hart as usize) == Some(&RealTimePolicy::EarliestDeadline);
        let here = |index: usize| {
            let of_vm = || vcpus.iter().filter(|one| one.vm == index);
            let here = of_vm().filter(|one| one.harts.contains(&hart));
            let vcpus = here.map(|one| one.interrupts).sum();
            let completions = of_vm().map(|one| one.interrupts).max().unwrap_or(0);
            RealTime::of(config, &config.vms[index], vcpus, completions, by_deadline)
        };
        let all = (0..config.vms.len()).map(here);
        let all: Vec<RealTime> = all.filter(|one| one.vcpus + one.created > 0).collect();
        let shared = all.len() > 1;
        all.iter().map(|one| one.interrupts(shared)).sum::<u64>()
    };
    let harts = 0..policies.len() as u32;
    managers + harts.map(on).max().unwrap_or(0)
}

/// What a VM has of real time on a hart.
struct RealTime {
    /// Interrupts by signals for vCPUs of the configuration.
    vcpus: u64,
    /// 1: it may create some.
    created: u64,
    /// Interrupts of the VM's sources.
    sources: u64,
    /// Another VM can send it something.
    hears_others: bool,
    /// It can send itself something.
    hears_itself: bool,
}

impl RealTime {
    /// Of a VM for whose real-time vCPUs of the configuration on a hart there are so many interrupts, and each of whose
    /// sources may be completed so often.
    fn of(config: &Config, vm: &Vm, vcpus: u64, completions: u64, by_deadline: bool) -> Self {
        let creates = vm.rt_vcpus.as_ref().is_some_and(|number| number.value > 0);
        let sources = sources(vm) * completions.max(1);
        Self {
            vcpus,
            created: u64::from(creates && by_deadline),
            sources,
            hears_others: sources > 0 || has_channel(config, vm),
            hears_itself: creates || vm.vcpus.len() > 1,
        }
    }

    fn interrupts(&self, shared: bool) -> u64 {
        if !(self.hears_others || shared && self.hears_itself) {
            return 0;
        }
        let sources = if self.vcpus > 0 { self.sources } else { 0 };
        self.vcpus + self.created + sources
    }
}

/// Its interrupt sources.
fn sources(vm: &Vm) -> u64 {
    let devices = vm.devices.iter().map(|device| device.interrupts.len());
    let fabric = vm.accelerators.len() + vm.io_ports.len() + usize::from(vm.timed_io.is_some());
    (devices.sum::<usize>() + fabric) as u64
}

fn has_channel(config: &Config, vm: &Vm) -> bool {
    let Some(name) = &vm.name else { return false };
    let mut ends = config
        .channels
        .iter()
        .filter_map(|channel| channel.between.as_ref());
    ends.any(|ends| ends.iter().any(|end| end.value == name.value))
}
