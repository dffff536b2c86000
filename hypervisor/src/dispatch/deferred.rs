//! Work that waits while real-time vCPUs run: for best-effort vCPUs and for the console.

use super::aftermath;
use crate::arch::context;
use crate::console;
use crate::hart::context::HartCtx;
use crate::sched::{run_queue, signals, wake};
use crate::system::system;
use crate::vm::devices;
use tactus_policy::livelock::Exception;
use tactus_policy::ready::ReadyQueue;
use tactus_policy::schedule::{self, SliceEnd};

/// Does what is due for best-effort vCPUs, and sends text. While a real-time vCPU runs, this is done once in a deferral
/// period at most, and admission counts it in.
#[inline(never)]
pub fn do_deferred_work(cx: &mut HartCtx, now: u64) {
    let real_time = cx.local.runs_shared_rt();
    if real_time {
        let deferral_period = system().blob.header.overheads.service_period;
        cx.local.timer.set_deferred_at(now + deferral_period);
        if let Some(held) = cx.local.soft_affine.take() {
            run_queue::end_affinity(cx, held);
        }
        signals::handle_posts(cx);
    }
    // One at a time, so that their number makes no difference to a real-time vCPU: beside a best-effort vCPU the timer
    // goes off again for the next one, and a release comes between.
    if let Some(handle) = cx.local.timer.pop_due_wakeup(now) {
        wake::wake(cx, system().vcpu(handle), now);
    }
    if real_time {
        aftermath::conclude(cx);
        run_queue::delegate_offers(cx);
    } else if !cx.local.needs_resched {
        // Otherwise after the hart has chosen its next vCPU.
        run_queue::offer_queued(cx);
    }
    if !real_time && console::has_unsent() {
        devices::notify_room(cx, console::pump());
    }
    // A vCPU that is about to leave the hart may have given up the rest of its slice (`migration::give_way`): that is
    // no slice without progress.
    if !cx.local.needs_resched && now >= cx.local.timer.slice_end() {
        end_slice(cx, now);
    }
}

/// The current vCPU has used up its slice.
#[unsafe(export_name = "tactus_end_slice")]
#[cold]
extern "C" fn end_slice(cx: &mut HartCtx, now: u64) {
    let Some(vcpu) = cx.local.current else {
        cx.local.timer.set_slice_end(u64::MAX);
        return;
    };
    #[cfg(feature = "pci")]
    crate::pci::report_faults(vcpu.vm);
    let (local, body) = cx.with_body(vcpu);
    if local.is_loaded(vcpu, body) {
        let (pc, cause, value) = context::guest_exception();
        if body.livelock.end_slice(Exception { pc, cause, value }) {
            context::watch(true);
        }
    }
    let highest = || ReadyQueue::highest(&mut *system().best_effort.lock());
    if schedule::end_slice(vcpu.class, vcpu.priority, highest) == SliceEnd::Yields {
        local.timer.set_slice_end(now);
        local.needs_resched = true;
    } else {
        local
            .timer
            .set_slice_end(now + system().blob.header.slice_ticks);
    }
}
