//! What the scheduler's core leaves to be done when a vCPU stops, a VM ends, or a virtual device was closed. The core
//! sets bits in [`Local`]; here they are acted upon, between two guests.

use crate::accelerators;
use crate::admission;
use crate::doorbell::delivery;
use crate::hart::context::{HartCtx, Local};
use crate::message::waiters;
use crate::sched::run_queue;
use crate::system::system;
use crate::vm::Vcpu;
use core::hint::cold_path;
use tactus_policy::ready::Handle;
use tactus_policy::table::bits;

/// Concludes what does not wait for real-time vCPUs: stops of vCPUs, and checks of closed virtual devices.
#[inline(always)]
pub fn conclude(cx: &mut HartCtx) {
    if cx.local.has_aftermath {
        cold_path();
        conclude_all(cx);
    }
}

#[inline(never)]
fn conclude_all(cx: &mut HartCtx) {
    for index in bits(core::mem::take(&mut cx.local.closed_devices).into()) {
        accelerators::recheck_closed(cx, &system().vms[index]);
    }
    for index in bits(core::mem::take(&mut cx.local.early).into()) {
        let vm = &system().vms[index];
        vm.complete_early();
        delivery::deliver_early_rings(cx, vm);
    }
    // At most one step for each vCPU.
    while let Some(vcpu) = take(&mut cx.local.stopping.0) {
        conclude_stop(cx, vcpu);
    }
    update(&mut cx.local);
}

/// A vCPU that this hart owns, and that does not run, has stopped.
fn conclude_stop(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    waiters::abandon(cx, vcpu);
    admission::stopped(cx, vcpu);
    if vcpu.vm.vcpu_stopped(vcpu) {
        cx.local.ending_vms |= 1 << vcpu.vm.index;
    }
}

/// Does a piece of the work that waits for real-time vCPUs, if none wants the hart: reports of jobs, ends of VMs.
/// `false`: there is none to do now.
#[unsafe(export_name = "tactus_finish_vm_ends")]
#[inline(never)]
pub extern "C" fn finish_piece(cx: &mut HartCtx) -> bool {
    conclude(cx);
    if !cx.local.has_aftermath || run_queue::has_real_time(&cx.local) {
        return false;
    }
    if let Some(vcpu) = cx.local.irregular.take() {
        vcpu.report_jobs();
    } else if cx.local.ending_vms != 0 {
        let index = cx.local.ending_vms.trailing_zeros() as usize;
        // Before its last piece, which may restart the VM, and end it again.
        cx.local.ending_vms &= !(1 << index);
        if !system().vms[index].finish_end(cx) {
            cx.local.ending_vms |= 1 << index;
        }
    }
    update(&mut cx.local);
    true
}

/// Takes a vCPU from a set.
fn take(set: &mut [u64]) -> Option<&'static Vcpu> {
    // At most one step for each word.
    for (word, bits) in set.iter_mut().enumerate() {
        if *bits != 0 {
            let bit = bits.trailing_zeros() as usize;
            *bits &= *bits - 1;
            return Some(system().vcpu((word * 64 + bit) as Handle));
        }
    }
    None
}

/// Whether anything is left.
fn update(local: &mut Local) {
    let vcpus = local.stopping.iter().fold(0, |all, word| all | word);
    let vms = local.ending_vms | local.closed_devices | local.early;
    local.has_aftermath = local.irregular.is_some() || (vcpus | u64::from(vms)) != 0;
}
