//! Work that waits while real-time vCPUs run: for best-effort vCPUs, for the console, for VMs that end.

use super::run_queue::{self, End};
use super::{block, signals, switch, tick};
use crate::arch::context;
use crate::console;
use crate::hart::Local;
use crate::hart::context::HartCtx;
use crate::log::Line;
use crate::system::system;
use crate::vcpu::Vcpu;
use crate::vm;
use core::sync::atomic::Ordering;
use tactus_abi::blob::Class;
use tactus_policy::livelock::Exception;
use tactus_policy::ready::{Handle, ReadyQueue};

/// Does what is due for best-effort vCPUs, and sends text. While a real-time vCPU runs, this is done once in a deferral period at most, and
/// admission counts it in.
#[inline(never)]
pub fn do_deferred_work(cx: &mut HartCtx, now: u64) {
    let real_time = tick::runs_shared_rt(&cx.local);
    let mut for_others = false;
    if real_time {
        cx.local
            .timer
            .set_deferred_at(now + system().deferral_ticks);
        if let Some(held) = cx.local.soft_affine.take() {
            run_queue::enqueue(cx, held, End::Head);
            for_others = true;
        }
        if cx.local.hart.has_posts() {
            signals::handle_posts(cx);
        }
    }
    // At most one step for each vCPU at home here.
    while let Some(handle) = cx.local.timer.pop_due_wakeup(now) {
        for_others |= block::wake(cx, system().vcpu(handle), now);
    }
    if for_others {
        run_queue::kick_idle_harts(cx);
    }
    if console::has_unsent() && !real_time {
        let room = console::pump();
        vm::notify_room(cx, room);
    }
    // A vCPU that is about to leave the hart may have given up the rest of its slice (`migration::give_way`): that is no slice without progress.
    if now >= cx.local.timer.slice_end() && !cx.local.needs_resched {
        end_slice(cx, now);
    }
}

/// The current vCPU has used up its slice.
#[cold]
fn end_slice(cx: &mut HartCtx, now: u64) {
    let Some(vcpu) = cx.local.current else {
        cx.local.timer.set_slice_end(u64::MAX);
        return;
    };
    let (local, body) = cx.with_body(vcpu);
    if switch::is_loaded(local, vcpu, body) {
        let (pc, cause, value) = context::guest_exception();
        if body.livelock.slice_ended(Exception { pc, cause, value }) {
            context::watch(true);
        }
    }
    let others = match vcpu.class {
        // Round robin is for best effort; a real-time vCPU keeps the hart as long as it wants it.
        Class::RealTime => None,
        Class::BestEffort => system().best_effort.lock().highest(),
    };
    if others.is_some_and(|priority| priority >= vcpu.priority) {
        local.timer.set_slice_end(now);
        local.needs_resched = true;
    } else {
        local
            .timer
            .set_slice_end(now + system().blob.header.slice_ticks);
    }
}

/// Does a piece of the work that the end of a VM leaves to this hart, if no real-time vCPU wants the hart; `false`: there is
/// none to do now.
#[unsafe(export_name = "tactus_finish_vm_ends")]
#[inline(never)]
pub extern "C" fn finish_vm_ends(cx: &mut HartCtx) -> bool {
    if run_queue::has_real_time(&cx.local) {
        return false;
    }
    if let Some(vcpu) = take_overrun(&mut cx.local) {
        report_overruns(vcpu);
        return true;
    }
    if cx.local.ending_vms == 0 {
        return false;
    }
    let index = cx.local.ending_vms.trailing_zeros() as usize;
    // Before its last piece, which may start the VM anew, and end it again.
    cx.local.ending_vms &= !(1 << index);
    if !system().vms[index].finish_end(cx) {
        cx.local.ending_vms |= 1 << index;
    }
    true
}

/// Takes a vCPU whose overruns are to be reported.
fn take_overrun(local: &mut Local) -> Option<&'static Vcpu> {
    // At most one step for each word.
    for (word, bits) in local.overruns.iter_mut().enumerate() {
        if *bits != 0 {
            let bit = bits.trailing_zeros() as usize;
            *bits &= *bits - 1;
            return Some(system().vcpu((word * 64 + bit) as Handle));
        }
    }
    None
}

#[cold]
fn report_overruns(vcpu: &Vcpu) {
    Line::new()
        .begin_of("overrun", vcpu.vm.name)
        .number("vcpu", vcpu.index as u64)
        .number("count", vcpu.record.overruns.load(Ordering::Relaxed))
        .time()
        .send();
}
