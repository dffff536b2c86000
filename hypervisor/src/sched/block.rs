//! vCPUs that wait, or stop.

use super::{fpu, jobs, orders, wake};
use crate::arch::context;
use crate::body::{Body, Wait};
use crate::hart::context::HartCtx;
use crate::vm::Vcpu;
use crate::vm::vcpu::State;
use core::hint::cold_path;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::Class;
use tactus_policy::reservation::Account;

/// The current vCPU waits for `why`; its trap handler then gives up the hart.
pub fn wait(cx: &mut HartCtx, vcpu: &'static Vcpu, why: Wait) {
    cx.bodies.of(vcpu).wait = why;
    vcpu.state.set(State::Waiting);
}

/// The current vCPU waits for an interrupt, if none is pending, or for its next job, if waiting ends the present one.
pub fn wait_for_interrupt(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    wait_for_interrupt_or(cx, vcpu, Wait::Interrupt);
}

/// The same, `why` being that or more.
#[inline]
pub fn wait_for_interrupt_or(cx: &mut HartCtx, vcpu: &'static Vcpu, why: Wait) {
    let body = cx.bodies.of(vcpu);
    if body.reserved && jobs::is_periodic(body) || !context::guest_interrupt_pending() {
        wait(cx, vcpu, why);
    }
}

/// A waiting vCPU that this hart owns, and whose registers are saved, is woken by the hart when what it waits for has
/// come.
pub fn block(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let (local, body) = cx.with_body(vcpu);
    if body.reserved {
        jobs::account_for_job(local, vcpu, body);
    }
    if vcpu.class == Class::RealTime && orders::carry_out_orders(cx, vcpu) {
        return;
    }
    let (local, body) = cx.with_body(vcpu);
    let wakes_at = match body.wait {
        Wait::Interrupt => {
            let deadline = body.context.timer_deadline();
            deadline.map(|at| ahead_of(body, at))
        }
        Wait::News => body.context.timer_deadline(),
        Wait::Release { at, .. } => Some(ahead_of(body, at)),
        Wait::Message { until } => (until != u64::MAX).then_some(until),
        Wait::Start | Wait::Fences(..) => None,
    };
    if let Some(at) = wakes_at {
        match vcpu.class {
            Class::RealTime => local.timer.set_release(vcpu.handle, at),
            Class::BestEffort => local.timer.set_wakeup(vcpu.handle, at),
        }
    }
    // A sender from now on sees it waiting and notifies this hart; what was sent before is seen here.
    fence(Ordering::SeqCst);
    wake::wake_if_due(cx, vcpu);
}

/// When the hart's timer wakes a vCPU that waits for that time: then, or ahead of it. A reservation allows one dispatch
/// ahead for each job.
#[inline]
fn ahead_of(body: &mut Body, until: u64) -> u64 {
    let begins_job = |account: &Account| account.next_release() <= until;
    if cfg!(feature = "dispatch-ahead")
        && body.lead.is_on()
        && body.account.as_ref().is_none_or(begins_job)
    {
        cold_path();
        body.lead.begin(until)
    } else {
        until
    }
}

/// A vCPU that this hart owns, and that does not run, stops; [`crate::dispatch::aftermath`] concludes that. Until then
/// it is as if it waited, and may be told to stop once more.
pub fn stop(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let HartCtx { bodies, local, .. } = cx;
    wake::cancel_wakeup(local, vcpu);
    fpu::save_if_unsaved(local, bodies, vcpu);
    vcpu.state.set(State::Waiting);
    let (word, bit) = (usize::from(vcpu.handle / 64), 1 << (vcpu.handle % 64));
    if vcpu.class == Class::RealTime {
        // What is admitted in its place is not to begin before its last job is forgotten.
        let hart = local.hart;
        hart.awaiting_idle_instant.store(true, Ordering::Relaxed);
    }
    local.stopping[word] |= bit;
    local.has_aftermath = true;
    // Soon, but not before a real-time vCPU.
    local.needs_resched |= local.runs(Class::BestEffort);
}
