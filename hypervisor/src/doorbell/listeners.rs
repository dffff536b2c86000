//! Which vCPU listens for a doorbell.

use crate::hart::context::is_same;
use crate::system::system;
use crate::vm::{Doorbell, Vcpu, Vm};
use core::sync::atomic::Ordering;
use tactus_abi::blob::Class;
use tactus_abi::map;
use tactus_hypervisor::vplic::Vplic;

/// A vCPU of the VM in whose page the source is enabled.
pub fn find(vm: &Vm, source: u32) -> Option<&'static Vcpu> {
    let hears = |vcpu: &&Vcpu| vcpu.page.get().is_some_and(|page| page.is_enabled(source));
    vm.vcpus().iter().find(hears)
}

/// A vCPU has changed what its PLIC context has enabled, or has a page now, or none any more: finds out for which
/// doorbells it listens. Called with its VM's devices locked.
#[cold]
pub fn update(vcpu: &'static Vcpu, plic: &Vplic) {
    // At most one step for each channel of the VM.
    for (channel, doorbell) in heard_by(vcpu.vm).enumerate() {
        let before = doorbell.listener();
        let has_page = vcpu.page.get().is_some();
        if has_page || plic.is_enabled(vcpu.index, map::CHANNEL_SOURCE + channel as u32) {
            if before.is_none() || vcpu.class == Class::RealTime {
                doorbell.set_listener(Some(vcpu));
            }
        } else if is_same(before, vcpu) {
            doorbell.set_listener(None);
        }
    }
}

/// No vCPU of a VM listens for its doorbells.
pub fn clear(vm: &Vm) {
    for doorbell in heard_by(vm) {
        doorbell.set_listener(None);
    }
    vm.early_rings.store(0, Ordering::Relaxed);
}

/// The doorbells at a VM's ends of its channels: those that the others ring.
fn heard_by(vm: &Vm) -> impl Iterator<Item = &'static Doorbell> {
    let ends = system().blob.channel_ends_of(vm.config());
    ends.iter().map(|end| {
        let peer = &system().vms[end.peer_vm as usize];
        &peer.doorbells()[end.peer_channel as usize]
    })
}
