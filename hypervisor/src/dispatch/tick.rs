//! The hart's timer: releases of real-time vCPUs, ends of budgets and slices. Protocol T1 (`hart/timer.rs`).

use super::deferred;
use crate::hart::context::HartCtx;
use crate::sched::wake;
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::State;
use core::hint::cold_path;
use tactus_policy::schedule;

/// Fast path of a release: the real-time vCPU without a reservation that preempts the hart now, since its time has
/// come, no other of its class runs, and no other's time has come. Otherwise all is left to [`serve_due_at`].
#[inline(always)]
pub fn pop_due_release(cx: &mut HartCtx, now: u64) -> Option<&'static Vcpu> {
    let HartCtx { bodies, local, .. } = cx;
    let (due, handle) = local.timer.earliest_release();
    if (due > now) | local.real_time_only | local.next.is_some() {
        return None;
    }
    let vcpu = system().vcpus.get(usize::from(handle))?;
    if bodies.of(vcpu).reserved {
        return None;
    }
    local.timer.pop_release();
    // After the fence of `block`.
    vcpu.state.set_after_fence(State::Ready);
    local.next = Some(vcpu);
    local.needs_resched = true;
    (local.timer.earliest_release().0 > now).then_some(vcpu)
}

/// Serves the hart's timer, whatever there is to serve.
#[inline(never)]
pub fn serve_due_at(cx: &mut HartCtx, now: u64) {
    // At most one step for each vCPU at home here.
    while let Some(handle) = cx.local.timer.pop_due_release(now) {
        wake::wake(cx, &system().vcpus[usize::from(handle)], now);
    }
    let local = &mut cx.local;
    if now >= local.timer.budget_end() {
        cold_path();
        local.needs_resched = true;
    }
    if schedule::does_deferred_work(
        local.next.is_some(),
        local.needs_resched,
        || local.runs_shared_rt(),
        || now >= local.timer.deferred_at(),
    ) {
        deferred::do_deferred_work(cx, now);
    }
    // Otherwise the timer is armed when the next vCPU begins.
    if !cx.local.needs_resched {
        // What was done was for others.
        cx.local.timer.credit_since(now);
        cx.local.rearm();
    }
}
