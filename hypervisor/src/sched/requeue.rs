//! A vCPU that leaves its hart goes where it belongs: it blocks, stops, or is ready.

#[cfg(doc)]
use super::signals;
use super::{block, fpu, jobs, modes, run_queue, switch};
use crate::arch::context;
use crate::hart::context::HartCtx;
use crate::migration;
use crate::vm::Vcpu;
use crate::vm::vcpu::State;
use core::hint::cold_path;
use tactus_abi::blob::Class;
use tactus_policy::schedule::{self, Descheduled, Requeue};

/// Takes the hart from the current vCPU and puts it where it belongs. A full fence is to follow, and then
/// [`signals::answer_fence_waiters`].
#[inline]
pub fn put_prev(cx: &mut HartCtx, vcpu: &'static Vcpu, now: u64) {
    let (local, body) = cx.with_body(vcpu);
    // While its image is loaded, the registers in the hart are another's.
    if local.is_loaded(vcpu, body) {
        if local.hart.has_role() && vcpu.class == Class::BestEffort {
            migration::leaves(local, vcpu, body);
        }
        body.context.save();
        fpu::mark_unsaved(local, vcpu, body);
        if body.livelock.is_watched() {
            cold_path();
            context::watch(false);
            // Entered again, it is watched again.
            local.loaded = None;
        }
    }
    switch::account(local, vcpu, body, now);
    local.timer.end(now);
    local.current = None;
    local.needs_resched = false;
    if vcpu.stops() {
        block::stop(cx, vcpu);
    } else {
        requeue(cx, vcpu);
    }
}

/// A vCPU that has left the hart blocks, or goes into its queue.
#[inline(never)]
pub fn requeue(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let (local, body) = cx.with_body(vcpu);
    let waits = vcpu.state.get() == State::Waiting;
    let is_over = !waits && body.reserved && modes::is_over(local, vcpu, body);
    let descheduled = Descheduled {
        class: vcpu.class,
        waits,
        slice_left: body.slice_left > 0,
        may_keep_affinity: local.next.is_some() & local.soft_affine.is_none(),
    };
    match schedule::requeue(descheduled, || jobs::ends_job(body), || is_over) {
        Requeue::Blocks => block::block(cx, vcpu),
        Requeue::EndsJob => {
            jobs::end_job(body);
            block::block(cx, vcpu);
        }
        Requeue::Throttled => {
            jobs::throttle(vcpu, body);
            block::block(cx, vcpu);
        }
        Requeue::KeepsAffinity => {
            vcpu.state.set(State::Ready);
            local.soft_affine = Some(vcpu);
        }
        // Other harts are offered it when this one has chosen its next vCPU.
        Requeue::Queued(end) => run_queue::enqueue(cx, vcpu, end),
    }
}
