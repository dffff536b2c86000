//! Waiting vCPUs are woken when what they wait for has come.

use super::jobs;
use super::run_queue;
use crate::arch;
use crate::body::{Body, Wait};
use crate::hart::context::{HartCtx, Local};
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::{State, signal};
use core::hint::cold_path;
use core::sync::atomic::Ordering;
use tactus_abi::blob::Class;
use tactus_policy::schedule::{self, End, Wakeup};

/// Wakes a waiting vCPU that this hart owns if what it waits for has come. After a full fence. `false`: it goes on
/// waiting.
#[inline]
pub fn wake_if_due(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    let (local, body) = cx.with_body(vcpu);
    let due = is_due(vcpu, body);
    if due {
        cancel_wakeup(local, vcpu);
        if cfg!(feature = "dispatch-ahead") {
            body.lead.end();
        }
        // A real-time vCPU is not held up for it: that is deferred work.
        if wake(cx, vcpu, arch::now()) && !cx.local.runs_shared_rt() {
            run_queue::offer_queued(cx);
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
            let software = vcpu.signals() & signal::SOFTWARE != 0 && vcpu.page.is_heard();
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

/// A waiting vCPU that this hart owns is to run; its deadline is no longer kept. `true`: other harts are to be offered
/// it.
pub fn wake(cx: &mut HartCtx, vcpu: &'static Vcpu, now: u64) -> bool {
    let (local, body) = cx.with_body(vcpu);
    if body.reserved && !jobs::release(local, vcpu, body, now) {
        return false;
    }
    if body.wait == Wait::News {
        cold_path();
        body.context.registers[11] = system().accelerators.take_news();
    }
    let ahead = local.next.or(local.current);
    let precedes = match ahead {
        Some(other) if other.class == vcpu.class => run_queue::comes_before(cx, vcpu, other),
        _ => false,
    };
    match schedule::wake(
        vcpu.class,
        ahead.map(|other| other.class),
        || precedes,
        || cx.local.has_queued_real_time,
        || vcpu.may_run_on(cx.local.hart.index),
    ) {
        Wakeup::Preempts => {
            // After the fence of `block`.
            vcpu.state.set_after_fence(State::Ready);
            if let Some(other) = cx.local.next.replace(vcpu) {
                cold_path();
                run_queue::enqueue(cx, other, End::Head);
            }
            cx.local.needs_resched = true;
            false
        }
        queued => {
            run_queue::enqueue(cx, vcpu, End::Tail);
            cx.local.needs_resched |= queued == Wakeup::Reschedules;
            queued == Wakeup::Offered
        }
    }
}
