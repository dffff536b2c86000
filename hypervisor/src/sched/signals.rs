//! Notifications between harts, and what vCPUs are told by others.

use super::{block, run_queue, wake};
use crate::arch::{self, context};
use crate::hart::context::{HartCtx, Local, is_same};
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::{State, signal};
use core::hint::cold_path;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::Class;
use tactus_policy::ready::Handle;
use tactus_policy::table::bits;

/// Something has been sent to a vCPU: makes its home look, now.
pub fn notify(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    fence(Ordering::SeqCst);
    let home = vcpu.home();
    if home == cx.local.hart.index {
        handle_notification(cx, vcpu);
    } else {
        let sender = cx.local.current.map(|current| current.vm);
        system().harts[home].post(vcpu, sender);
    }
}

/// As [`notify`], but the home looks when it serves interrupts next, which may be at once: so that the consequences of
/// the notification are no part of the present work.
pub fn post(vcpu: &'static Vcpu) {
    system().harts[vcpu.home()].post(vcpu, None);
}

/// Looks at what has been sent to a vCPU at home here. After a full fence.
fn handle_notification(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    match vcpu.state.get() {
        State::Running => {
            if !is_same(cx.local.current, vcpu) {
                // It runs on another hart by now, which has seen it when the vCPU got there.
                return;
            }
            if vcpu.stops() {
                cx.local.needs_resched = true;
            }
            let (local, body) = cx.with_body(vcpu);
            if local.is_loaded(vcpu, body) {
                handle_news(cx, vcpu);
            }
        }
        State::Waiting => handle_notification_of_waiting(cx, vcpu),
        State::Ready => {
            // It takes notice of anything else when it is entered.
            let here = vcpu.class == Class::BestEffort || vcpu.owner.as_ptr() == cx.bodies.owner();
            if vcpu.stops() && here && run_queue::dequeue(cx, vcpu) {
                block::stop(cx, vcpu);
            }
        }
        // No notification is handled while a vCPU is leaving.
        State::Stopped | State::Leaving => {}
    }
}

fn handle_notification_of_waiting(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let here = cx.local.hart.index;
    let owned = vcpu
        .owner
        .claim_waiting(cx.bodies.owner(), || vcpu.home() == here);
    if !owned {
        // The home was read too early: the present one is to look.
        cold_path();
        if vcpu.home() != here {
            post(vcpu);
        }
        return;
    }
    // It may be about to leave the hart: it is stopped, or blocks, then.
    let leaving = is_same(cx.local.current, vcpu);
    if leaving {
        return;
    }
    if vcpu.stops() {
        cold_path();
        block::stop(cx, vcpu);
    } else if (vcpu.class == Class::RealTime) & vcpu.relocation.may_have_orders() {
        cold_path();
        block::block(cx, vcpu);
    } else if !wake::wake_if_due(cx, vcpu) & (vcpu.class == Class::RealTime) {
        // It may just have come here: its time is to be kept.
        block::block(cx, vcpu);
    }
}

/// Gives the current vCPU what has been sent to it. After a full fence. `true`: there were signals.
#[inline]
pub fn handle_news(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    context::set_external(vcpu.external.load(Ordering::Relaxed));
    let any = vcpu.signals() & signal::OF_RUNNING != 0;
    if any {
        handle_signals(cx, vcpu);
    }
    any
}

/// The current vCPU gets its software interrupt, and does the fences that others have asked of it; those that wait for
/// these are notified.
#[inline(never)]
pub fn handle_signals(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let signals = vcpu.take_signals(!signal::STOP);
    if signals & signal::SOFTWARE != 0 && vcpu.page.deliver() {
        context::raise_software();
    }
    if signals & signal::FENCES != 0 {
        // Counted before it was told.
        let asked = vcpu.fences_asked.load(Ordering::Relaxed);
        arch::fence_guest(signals & signal::FENCE_I != 0);
        vcpu.fences_done.store(asked, Ordering::Release);
        notify_fence_waiters(cx, vcpu, signals);
    }
    if signals & signal::EARLY != 0 {
        take_early(&mut cx.local, vcpu);
    }
    if signals & signal::CLOSED != 0 {
        cold_path();
        arch::fence_own_stage2();
        if signals & signal::RECHECK_CLOSED_PAGE != 0 {
            cx.local.closed_devices |= 1 << vcpu.vm.index;
            cx.local.has_aftermath = true;
        }
    }
}

/// The vCPU has left the hart, and a full fence has been done: those that wait for its fences need not wait any more.
#[inline]
pub fn answer_fence_waiters(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let signals = vcpu.signals();
    if signals >> signal::AWAITED != 0 {
        cold_path();
        // They stay: it may run again, with the fences still to be done, before those look.
        notify_fence_waiters(cx, vcpu, signals);
    }
}

/// Makes the vCPUs that wait for this one's fences, as its signals say, look whether they still have to.
#[cold]
fn notify_fence_waiters(cx: &mut HartCtx, vcpu: &'static Vcpu, signals: u32) {
    for index in bits((signals >> signal::AWAITED).into()) {
        notify(cx, &vcpu.vm.vcpus()[index]);
    }
}

/// Looks at the real-time vCPUs at home here that have news, and at one best-effort vCPU of 64. The next one's turn
/// comes after a look; while a real-time vCPU runs, with the hart's deferred work. `false`: none has any.
pub fn handle_posts(cx: &mut HartCtx) -> bool {
    if !cx.local.hart.has_posts() {
        return false;
    }
    (0..cx.local.received.len()).for_each(|word| handle_posts_of(cx, word));
    if cx.local.hart.has_posts() && !cx.local.runs_shared_rt() {
        arch::raise_software_interrupt();
    }
    true
}

/// As [`handle_posts`], of 64 vCPUs.
#[cold]
fn handle_posts_of(cx: &mut HartCtx, word: usize) {
    for bit in bits(cx.local.hart.receive(word, &mut cx.local.received[word])) {
        let vcpu = system().vcpu((word * 64 + bit) as Handle);
        if vcpu.take_signals_if_any(signal::EARLY) {
            take_early(&mut cx.local, vcpu);
        }
        notify(cx, vcpu);
    }
}

/// Marks the VM of a vCPU whose [`signal::EARLY`] has been taken: [`crate::dispatch::aftermath`] delivers the doorbells
/// and completes the interrupts that are kept for it. A ring that is kept after the signal was taken is either among
/// these, or its sender sends the signal again.
#[cold]
fn take_early(local: &mut Local, vcpu: &Vcpu) {
    vcpu.set_interrupts_from(arch::now() + vcpu.interrupt_distance);
    local.early |= 1 << vcpu.vm.index;
    local.has_aftermath = true;
}
