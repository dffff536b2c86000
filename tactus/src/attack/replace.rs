//! A system with a hostile VM in the place of one of its own.

use crate::config::{At, Config, FileName, OnFault, Size, Vm};

use super::catalog::Attack;
use super::plan::Run;

/// The guest that attacks.
pub const IMAGE: &str = "attacker";
/// Bytes of memory that a hostile VM has at most, beside those kept for its real-time vCPUs. They are several times
/// those of a shared cache. The hypervisor clears them at a restart, and more would take longer than a run.
const MEMORY_MAX: u64 = 16 << 20;

/// The hostile guest's boot arguments: what it does, from which seed, and from when on, in ticks of the `time` CSR.
pub fn arguments(attack: &Attack, seed: u64, after: u64) -> String {
    format!("attack={} seed={seed} after={after}", attack.name)
}

/// Puts the hostile guest in the place of a VM's image.
pub fn take_image(vm: &mut Vm, arguments: String) {
    let span = vm.place().clone();
    vm.image = Some(At {
        value: FileName::Artifact(IMAGE.to_owned()),
        span: span.clone(),
    });
    vm.initrd = None;
    vm.bootargs = Some(At {
        value: arguments,
        span,
    });
}

/// Puts the hostile guest in the place of the run's VM, with that VM's rights. It attacks from `after` on, in ticks of
/// the `time` CSR.
///
/// A fault that would stop the VM for good restarts it, so that the attack goes on.
pub fn replace(config: &mut Config, run: &Run, seed: u64, after: u64) {
    let Some(vm) = config.vms.get_mut(run.attacker) else {
        return;
    };
    take_image(vm, arguments(run.attack, seed, after));
    if vm.on_fault == OnFault::Halt {
        vm.on_fault = OnFault::Restart;
    }
    let kept = vm.rt_memory.as_ref().map_or(0, |memory| memory.value.0);
    if let Some(memory) = &mut vm.memory {
        // A multiple of what memory comes in.
        let most = MEMORY_MAX + kept.next_multiple_of(2 << 20);
        memory.value = Size(memory.value.0.min(most));
    }
}
