//! What a hart does next: which vCPU leaves it, which one gets it, and what is done between two guests.
//!
//! A vCPU leaves a hart only through [`schedule`], or through [`preempt`] when the hart's timer releases a real-time
//! vCPU. Its registers are saved then. [`preempt`] and [`switch_fast`] go from one vCPU to another in one step.
//! [`deschedule`] and [`pick_next_or_idle`] do all that these two can't.
//!
//! | module | what it does |
//! |---|---|
//! | [`tick`] | the hart's timer: releases, ends of slices and budgets |
//! | [`deferred`] | work that waits while real-time vCPUs run |
//! | [`ahead`] | vCPUs that get their hart ahead of their time |
//! | [`aftermath`] | what the scheduler's core leaves to be done: ends of vCPUs and VMs, reports |
//! | [`look`] | a look for interrupts between two pieces of long work |
//! | [`idle`] | a hart without a vCPU |

pub mod aftermath;
#[cfg_attr(not(feature = "dispatch-ahead"), path = "base/ahead.rs")]
pub mod ahead;
pub mod deferred;
pub mod idle;
pub mod look;
pub mod tick;

use crate::arch::{self, context, csr};
use crate::body::Body;
use crate::exit::NextContext;
use crate::hart::Hart;
use crate::hart::context::{HartCtx, Local};
use crate::hart::timer::Serves;
use crate::interrupt;
use crate::message;
use crate::migration;
use crate::realtime::requests;
use crate::sched::{fpu, modes, requeue, run_queue, signals, successors, switch};
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::{State, signal};
use core::hint::cold_path;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::Class;
use tactus_policy::schedule::{self, Preemption};

/// A hart's first steps into running guests; entered from the entry code on the hart's own stack.
#[unsafe(export_name = "tactus_hart_main")]
pub extern "C" fn hart_main(hart: &'static Hart) -> NextContext {
    // Safety: the entry code calls this once for each hart, on that hart (protocol H1).
    let cx = unsafe { HartCtx::first(system().contexts, hart) };
    context::initialise_hart(hart.shared);
    arch::fence_stage2();
    interrupt::initialise_hart(hart);
    cx.local.timer.end(arch::now());
    // Notifications from before the hart could be interrupted.
    interrupt::handle_ipi(cx, arch::now());
    pick_next_or_idle(cx)
}

/// The entry code's way to the scheduler: the current vCPU, all of whose registers are saved, leaves the hart, or has
/// to wait for it. The hart goes to another vCPU, or to the same.
#[unsafe(export_name = "tactus_schedule")]
pub extern "C" fn schedule(vcpu: &'static Vcpu) -> NextContext {
    // Safety: the entry code's call for a vCPU that runs on this hart (protocol H1).
    let cx = unsafe { HartCtx::of_trapped(vcpu) };
    let (pending, mut now) = (arch::pending_interrupts(), arch::now());
    if pending != 0 && !is_served(&cx.local, pending, now) {
        cold_path();
        look::serve_and_may_continue(cx);
        now = arch::now();
    }
    ahead::comes_first_at(cx, now);
    schedule_at(cx, vcpu, now)
}

/// Whether all that is pending is the timer, for a release that has been served. The next vCPU's entry arms it again.
#[inline(always)]
fn is_served(local: &Local, pending: u64, now: u64) -> bool {
    (pending == csr::STI) & local.next.is_some() & (local.timer.earliest_release().0 > now)
}

/// As [`schedule`], for handlers after which all registers are saved.
#[inline(always)]
pub fn schedule_at(cx: &mut HartCtx, vcpu: &'static Vcpu, now: u64) -> NextContext {
    match cx.local.next {
        Some(next) => preempt(cx, vcpu, next, now),
        None => switch_fast(cx, vcpu, now),
    }
}

/// The vCPU, which has had the hart up to `now`, leaves it, and the hart looks for another one.
#[unsafe(export_name = "tactus_deschedule")]
#[inline(never)]
extern "C" fn deschedule(cx: &mut HartCtx, vcpu: &'static Vcpu, now: u64) -> NextContext {
    // What has led here may have taken its time.
    look::may_continue(cx);
    requeue::put_prev(cx, vcpu, now);
    fence(Ordering::SeqCst);
    signals::answer_fence_waiters(cx, vcpu);
    pick_next_or_idle(cx)
}

/// Fast path of preemption: a real-time vCPU, [`Local::next`], takes the hart. As [`deschedule`] and
/// [`pick_next_or_idle`] do it, without the cases that [`can_switch_fast`] excludes, which are left to them. Like what
/// leads here it ends with the next step, so that the way has the frame of [`switch`] alone.
#[inline(never)]
pub extern "C" fn preempt(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    next: &'static Vcpu,
    now: u64,
) -> NextContext {
    let [from, to] = cx.bodies.of_two(vcpu, next);
    if !can_switch_fast(&cx.local, vcpu, from) | to.unfinished {
        cold_path();
        return deschedule(cx, vcpu, now);
    }
    cx.local.next = None;
    // The vCPU may itself have taken the place of one with a soft affinity.
    let runs = vcpu.state.get() == State::Running;
    let is_free = cx.local.soft_affine.is_none();
    let requeues = schedule::preempt(vcpu.class, runs, is_free) == Preemption::Requeues;
    if !requeues {
        cx.local.soft_affine = Some(vcpu);
    }
    switch(cx, vcpu, next, now, requeues)
}

/// Fast path of a switch: the vCPU waits, or its slice or its budget is over, and another is ready. As [`preempt`].
#[inline(never)]
extern "C" fn switch_fast(cx: &mut HartCtx, vcpu: &'static Vcpu, now: u64) -> NextContext {
    let (local, body) = cx.with_body(vcpu);
    let waits = vcpu.state.get() == State::Waiting;
    let slice_over = local.timer.slice_end() <= now;
    let budget_over = local.timer.budget_end() <= now && !modes::goes_on(body);
    let may_switch = schedule::may_switch(vcpu.class, waits, slice_over, budget_over);
    let busy = local.has_aftermath | local.hart.awaiting_idle_instant.load(Ordering::Relaxed);
    if !may_switch | busy | !can_switch_fast(local, vcpu, body) {
        cold_path();
        return deschedule(cx, vcpu, now);
    }
    match run_queue::pick_next(cx) {
        Some(next) => switch(cx, vcpu, next, now, true),
        None => deschedule(cx, vcpu, now),
    }
}

/// The hart goes from one vCPU to another, and the first one to where it belongs: if it `requeues`, into a queue,
/// unless it waits.
#[inline(never)]
extern "C" fn switch(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    next: &'static Vcpu,
    now: u64,
    requeues: bool,
) -> NextContext {
    if vcpu.state.get() != State::Waiting {
        vcpu.state.begin_leaving();
    }
    let [from, to] = cx.bodies.of_two(vcpu, next);
    let wants_fpu = switch::context_switch(&mut cx.local, (vcpu, from), (next, to), now);
    // Read once more: what a branch leads to is not compiled twice so.
    let waits = vcpu.state.get() == State::Waiting;
    if !waits {
        vcpu.state.set_after_fence(State::Ready);
    }
    if wants_fpu {
        fpu::give(cx, next);
    }
    if requeues {
        requeue::requeue(cx, vcpu);
    }
    // Only now is the vCPU in its place: a waiter that is told may in turn wake it.
    signals::answer_fence_waiters(cx, vcpu);
    if requeues {
        if next.class == Class::BestEffort {
            run_queue::offer_queued(cx);
        }
        let (local, body) = cx.with_body(next);
        let inverted = schedule::is_inverted(vcpu.class, waits, vcpu.precedence, next.precedence);
        local.needs_resched |= body.unfinished | inverted;
    }
    handle_pending_signals(cx, next)
}

/// Enters a vCPU that has got the hart, after what others have told it. That may concern the vCPU that was here before,
/// which has to be in its place by now.
#[inline(always)]
fn handle_pending_signals(cx: &mut HartCtx, vcpu: &'static Vcpu) -> NextContext {
    if (vcpu.signals() != 0) | cx.local.needs_resched {
        cold_path();
        return handle_signals_and_enter(cx, vcpu);
    }
    if ahead::is_ahead(cx.bodies.of(vcpu)) {
        cold_path();
        return ahead::enter_when_due(cx, vcpu);
    }
    if cx.local.timer.has_budget() {
        cold_path();
        cx.local.timer.credit_since(cx.local.timer.since());
    }
    NextContext::arm_and_enter(&mut cx.local, vcpu)
}

/// As [`handle_pending_signals`], when there are some.
#[inline(never)]
fn handle_signals_and_enter(cx: &mut HartCtx, vcpu: &'static Vcpu) -> NextContext {
    signals::handle_signals(cx, vcpu);
    aftermath::conclude(cx);
    // A stop that was sent before the vCPU had its home here was posted to another hart.
    if vcpu.stops() | cx.local.needs_resched {
        // A look between two switches.
        look::may_continue(cx);
        return leave_uncharged(cx, vcpu);
    }
    if ahead::is_ahead(cx.bodies.of(vcpu)) {
        return ahead::enter_when_due(cx, vcpu);
    }
    cx.local.timer.credit_since(cx.local.timer.since());
    NextContext::enter(&mut cx.local, vcpu)
}

/// Whether nothing else is to be done when the current vCPU leaves the hart.
#[inline(always)]
fn can_switch_fast(local: &Local, vcpu: &Vcpu, body: &Body) -> bool {
    local.is_loaded(vcpu, body) & (vcpu.signals() & signal::STOP == 0) & !local.hart.has_role()
}

/// Picks the vCPU that runs now, waiting for work if there is none, and enters it.
#[inline(never)]
fn pick_next_or_idle(cx: &mut HartCtx) -> NextContext {
    let mut again = false;
    loop {
        let pending = cx.local.poll();
        if pending != 0 {
            interrupt::handle(cx, pending);
        }
        ahead::comes_first(cx);
        let mut chosen = cx.local.next.take();
        if chosen.is_none() {
            // Bounded to two polls, so that an interrupt storm cannot starve dispatch.
            again = !again & (pending != 0);
            if again {
                continue;
            }
            let finished = aftermath::finish_piece(cx);
            // Without separation, all pieces at once.
            while finished && !system().is_separated() && aftermath::finish_piece(cx) {}
            // What was concluded may have woken a real-time vCPU.
            if finished | cx.local.next.is_some() {
                continue;
            }
            if !run_queue::has_real_time(&cx.local) && successors::start_pending_reservations(cx) {
                continue;
            }
            chosen = run_queue::pick_next(cx);
        }
        let Some(vcpu) = chosen else {
            // A spurious reschedule.
            cx.local.needs_resched = false;
            // News may have waited for a real-time vCPU.
            if !signals::handle_posts(cx) {
                idle::idle(cx);
            }
            continue;
        };
        let (local, body) = cx.with_body(vcpu);
        switch::set_current(local, vcpu, body, arch::now());
        // Here, and not at the first poll, which is for what rarely changes.
        local.timer.arm(Serves::of(vcpu.class, local.hart.shared));
        let unfinished = body.unfinished;
        return prepare_entry(cx, vcpu, unfinished);
    }
}

/// A vCPU has got the hart: does what is to be done before it is entered, and enters it. `unfinished`: as
/// [`Body::unfinished`].
fn prepare_entry(cx: &mut HartCtx, vcpu: &'static Vcpu, unfinished: bool) -> NextContext {
    let best_effort = vcpu.class == Class::BestEffort;
    if best_effort {
        run_queue::offer_queued(cx);
    }
    if vcpu.stops() || unfinished && !finish_pending_work(cx, vcpu) {
        return NextContext::leave(vcpu);
    }
    // The timer has just been armed.
    if arch::pending_interrupts() != 0 && !look::serve_and_may_continue(cx) {
        return leave_uncharged(cx, vcpu);
    }
    switch::load_if_absent(cx, vcpu);
    if signals::handle_news(cx, vcpu) {
        cold_path();
        aftermath::conclude(cx);
        if cx.local.needs_resched {
            return leave_uncharged(cx, vcpu);
        }
    }
    if best_effort && cx.local.hart.has_role() {
        migration::migrate_if_waiters(cx);
        if cx.local.needs_resched {
            return NextContext::leave(vcpu);
        }
    }
    if ahead::is_ahead(cx.bodies.of(vcpu)) {
        return ahead::enter_when_due(cx, vcpu);
    }
    // What it has loaded in its time is charged to it.
    if cx.local.timer.has_budget() & !unfinished {
        cx.local.timer.credit_switch();
    }
    NextContext::enter(&mut cx.local, vcpu)
}

/// The vCPU leaves the hart again before it is entered. A budget is not charged for that.
#[cold]
fn leave_uncharged(cx: &mut HartCtx, vcpu: &'static Vcpu) -> NextContext {
    cx.local.timer.credit_since(cx.local.timer.since());
    NextContext::leave(vcpu)
}

/// Continues what the vCPU has to do before it is entered. `false`: it has to leave the hart.
#[cold]
fn finish_pending_work(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    load_image(cx, vcpu) && continue_calls(cx, vcpu)
}

/// Continues the vCPU's calls that take long. `false`: it has to leave the hart.
pub fn continue_calls(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    let finished = requests::continue_call(cx, vcpu) && message::continue_call(cx, vcpu);
    if finished {
        cx.bodies.of(vcpu).unfinished = false;
    }
    finished
}

/// Loads the VM's image, which is what its boot vCPU has to do first. `false`: it has to leave the hart.
fn load_image(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    let memory = vcpu.vm.memory;
    let segments = system().blob.segments_of(vcpu.vm.config());
    #[cfg(feature = "management")]
    let holds = (cx.bodies.of(vcpu).loader.as_ref()).is_some_and(|loader| loader.holds);
    #[cfg(feature = "management")]
    let segments = if holds {
        // The devicetree, which follows the image.
        &segments[segments.len().saturating_sub(1)..]
    } else {
        segments
    };
    while cx.bodies.of(vcpu).loader.is_some() {
        if !look::may_continue(cx) {
            return false;
        }
        let body = cx.bodies.of(vcpu);
        if let Some(loader) = &mut body.loader
            && loader.step(memory, segments)
        {
            body.loader = None;
            #[cfg(feature = "management")]
            if holds {
                vcpu.vm.hold(cx);
                return false;
            }
            vcpu.vm.loaded();
        }
    }
    true
}
