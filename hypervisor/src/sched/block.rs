//! Waiting vCPUs: what they wait for, and when they run again.

use super::run_queue::{self, End};
use super::{fpu, jobs};
use crate::arch::{self, context};
use crate::hart::Local;
use crate::hart::context::HartCtx;
use crate::interrupt_page;
use crate::message;
use crate::realtime;
use crate::system::system;
use crate::vcpu::{Body, State, Vcpu, Wait, signal};
use core::hint::cold_path;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::Class;
use tactus_policy::reservation::Kind;

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
    let account = body.account.as_ref().filter(|_| body.reserved);
    let periodic = account.is_some_and(|account| account.kind() == Kind::Periodic);
    if periodic || !context::guest_interrupt_pending() {
        wait(cx, vcpu, why);
    }
}

/// A waiting vCPU that this hart owns, and whose registers are saved, is woken by the hart when what it waits for has come.
pub fn block(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    if vcpu.class == Class::RealTime && jobs::carry_out_orders(cx, vcpu) {
        return;
    }
    let (local, body) = cx.with_body(vcpu);
    let wakes_at = match body.wait {
        Wait::Interrupt | Wait::News => body.context.timer_deadline(),
        Wait::Release { at, .. } => Some(at),
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
    wake_if_due(cx, vcpu);
}

/// Wakes a waiting vCPU that this hart owns if what it waits for has come. After a full fence. `false`: it goes on waiting.
#[inline]
pub fn wake_if_due(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    let (local, body) = cx.with_body(vcpu);
    let due = is_due(vcpu, body);
    if due {
        cancel_wakeup(local, vcpu);
        if wake(cx, vcpu, arch::now()) {
            run_queue::push_to_hart(cx, vcpu);
        }
    }
    due
}

/// A waiting vCPU is no longer woken by this hart's timer.
pub fn cancel_wakeup(local: &mut Local, vcpu: &Vcpu) {
    match vcpu.class {
        Class::RealTime => {
            local.timer.clear_release(vcpu.handle);
            local.starting_reservations[usize::from(vcpu.handle / 64)] &=
                !(1 << (vcpu.handle % 64));
        }
        Class::BestEffort => local.timer.clear_wakeup(vcpu.handle),
    }
}

/// Whether what a vCPU waits for has come. After a full fence.
pub fn is_due(vcpu: &Vcpu, body: &Body) -> bool {
    match &body.wait {
        Wait::Start => true,
        Wait::Release { at, .. } => *at <= arch::now(),
        Wait::Message { until } => vcpu.message.load(Ordering::Relaxed) || *until <= arch::now(),
        Wait::Interrupt | Wait::News => {
            let software = vcpu.signals() & signal::SOFTWARE != 0 && interrupt_page::is_heard(vcpu);
            let external = vcpu.external.load(Ordering::Relaxed);
            body.context.wakes(software, external)
                || body.wait == Wait::News && system().accelerators.has_news()
                || body
                    .context
                    .timer_deadline()
                    .is_some_and(|deadline| deadline <= arch::now())
        }
        Wait::Fences(targets, numbers) => fences_are_done(vcpu, *targets, &numbers.0),
    }
}

/// Whether the targets of a remote fence, as bits, have done it (protocol F1), each by its number. After a full fence.
#[cold]
fn fences_are_done(vcpu: &Vcpu, targets: u16, numbers: &[u32]) -> bool {
    let targets_of_vm = vcpu.vm.vcpus().iter().zip(numbers).enumerate();
    targets_of_vm
        .filter(|(index, _)| targets >> index & 1 != 0)
        .all(|(_, (target, number))| {
            let missing = number.wrapping_sub(target.fences_done.load(Ordering::Acquire));
            // A target that does not run does its fences before it runs again.
            missing.cast_signed() <= 0 || target.state.has_left()
        })
}

/// A waiting vCPU that this hart owns is to run; its deadline is no longer kept. `true`: another hart might take it.
pub fn wake(cx: &mut HartCtx, vcpu: &'static Vcpu, now: u64) -> bool {
    let (local, body) = cx.with_body(vcpu);
    if body.reserved && !jobs::release(local, vcpu, body, now) {
        return false;
    }
    if body.wait == Wait::News {
        cold_path();
        body.context.registers[11] = system().accelerators.take_news();
    }
    let first = match local.next.or(local.current) {
        Some(other) if other.class == vcpu.class => run_queue::comes_before(cx, vcpu, other),
        Some(_) => vcpu.class == Class::RealTime,
        None => true,
    };
    if first && vcpu.class == Class::RealTime {
        // After the fence of `block`.
        vcpu.state.set_after_fence(State::Ready);
        if let Some(other) = cx.local.next.replace(vcpu) {
            cold_path();
            run_queue::enqueue(cx, other, End::Head);
        }
        cx.local.needs_resched = true;
        return false;
    }
    let here = first && vcpu.may_run_on(cx.local.hart);
    run_queue::enqueue(cx, vcpu, End::Tail);
    if here {
        cx.local.needs_resched = true;
    }
    !here && vcpu.class == Class::BestEffort
}

/// A vCPU that this hart owns, and that does not run, stops.
pub fn stop_vcpu(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    message::stopped(cx, vcpu);
    let HartCtx { bodies, local, .. } = cx;
    cancel_wakeup(local, vcpu);
    fpu::save_if_unsaved(local, bodies, vcpu);
    if vcpu.class == Class::RealTime {
        local.overruns[usize::from(vcpu.handle / 64)] &= !(1 << (vcpu.handle % 64));
        // What is admitted in its place is not to begin before its last job is forgotten.
        local
            .hart
            .awaiting_idle_instant
            .store(true, Ordering::Relaxed);
    }
    realtime::stopped(cx, vcpu);
    if vcpu.vm.vcpu_stopped(vcpu) {
        let local = &mut cx.local;
        local.ending_vms |= 1 << vcpu.vm.index;
        // Soon, but not before a real-time vCPU.
        if local
            .current
            .is_some_and(|current| current.class == Class::BestEffort)
        {
            local.needs_resched = true;
        }
    }
}
