//! A system with a hostile VM in the place of one of its own.

use crate::config::{At, Config, FileName, OnFault, Size};

use super::plan::Run;

/// The guest that attacks.
pub const IMAGE: &str = "attacker";
/// Bytes of memory that a hostile VM has at most, beside those kept for its real-time vCPUs. They are several times
/// those of a shared cache. The hypervisor clears them at a restart, and more would take longer than a run.
const MEMORY_MAX: u64 = 16 << 20;

/// Puts the hostile guest in the place of the run's VM, with that VM's rights. It attacks from `after` on, in ticks of
/// the `time` CSR.
///
/// A fault that would stop the VM for good restarts it, so that the attack goes on.
pub fn replace(config: &mut Config, run: &Run, seed: u64, after: u64) {
    let Some(vm) = config.vms.get_mut(run.attacker) else {
        return;
    };
    let span = vm.place().clone();
    let at = |value| At {
        value,
        span: span.clone(),
    };
    let name = run.attack.name;
    vm.image = Some(At {
        value: FileName::Artifact(IMAGE.to_owned()),
        span: span.clone(),
    });
    vm.initrd = None;
    vm.bootargs = Some(at(format!("attack={name} seed={seed} after={after}")));
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
