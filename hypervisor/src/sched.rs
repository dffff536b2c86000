//! Which vCPU has a hart, and when another gets it.
//!
//! Real-time vCPUs have a home hart and wait in its own queue: highest priority first, or earliest deadline first. Those
//! with a reservation run until its budget is spent, and then wait for the release of their next job. Below them, ready
//! best-effort vCPUs of all harts share one queue, round robin within a priority, and go wherever a hart
//! is free. One that a real-time vCPU takes the hart from is held there for a while, as the hart is often free again soon;
//! then it goes back to the queue. The queues and reservations are `policy`'s; here is what their answers lead to.
//!
//! While a real-time vCPU runs, best-effort ones are seen to every now and then only: [`do_deferred_work`].
//!
//! A vCPU that has a hart to itself waits on it, in `wfi`, as on a machine of its own.
//!
//! A vCPU leaves a hart only through [`schedule`], or [`preempt`] where the hart's timer brings that about, when the entry code has
//! saved all its registers: [`preempt`] and [`switch_fast`] go from one vCPU to another in one step, [`deschedule`] and [`pick_next_or_idle`] do all that these
//! can't. When it is in its place, and not before, any hart may take it.

use crate::accelerators;
use crate::arch::{self, context, context::Context, firmware};
use crate::console;
use crate::exit::NextContext;
use crate::hart::timer::Serves;
use crate::hart::{Hart, HartRole, Local, running};
use crate::interrupt;
use crate::interrupt_page;
use crate::log::Line;
use crate::message;
use crate::migration;
use crate::realtime;
use crate::system::system;
use crate::vcpu::{Body, State, Vcpu, Wait, signal};
use core::cmp;
use core::hint::cold_path;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::Class;
use tactus_policy::livelock::Exception;
use tactus_policy::ready::{Handle, ReadyQueue};
use tactus_policy::reservation::{Kind, Wake};

/// Where a ready vCPU goes among those of its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It was preempted: it keeps its place, and the rest of its slice.
    First,
    /// It is new, or its slice is used up.
    Last,
}

/// A hart's first steps into running guests; entered from the entry code on the hart's own stack.
#[unsafe(export_name = "tactus_hart_main")]
pub extern "C" fn hart_main(hart: &'static Hart) -> NextContext {
    context::initialise_hart(hart.shared);
    arch::fence_stage2();
    interrupt::initialise_hart(hart);
    // Safety: on this hart, no other reference in use.
    unsafe { hart.local() }.since = arch::now();
    // What was posted before the hart could be interrupted.
    handle_ipi(hart);
    pick_next_or_idle(hart)
}

/// The vCPU, all of whose registers are saved, leaves the hart, or has to wait for it: the hart goes to another one, or to the same.
pub extern "C" fn schedule(vcpu: &'static Vcpu) -> NextContext {
    let hart = vcpu.hart();
    let now = arch::now();
    // Safety: on this hart, no other reference in use.
    match unsafe { hart.local() }.next {
        Some(next) => preempt(hart, vcpu, next, now),
        None => switch_fast(hart, vcpu, now),
    }
}

/// The vCPU leaves the hart, which looks for another one.
#[unsafe(export_name = "tactus_give_up")]
#[inline(never)]
extern "C" fn deschedule(hart: &'static Hart, vcpu: &'static Vcpu) -> NextContext {
    // What has led here may have taken its time.
    may_continue(hart);
    put_prev(hart, vcpu, arch::now());
    fence(Ordering::SeqCst);
    answer_fence_waiters(hart, vcpu);
    pick_next_or_idle(hart)
}

/// A real-time vCPU, [`Local::next`], takes the hart: what hurry is for. As [`deschedule`] and [`pick_next_or_idle`] do it, but without what
/// is not the matter here; where it is, it is left to these.
#[inline(never)]
pub fn preempt(
    hart: &'static Hart,
    vcpu: &'static Vcpu,
    next: &'static Vcpu,
    now: u64,
) -> NextContext {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    // Safety: it is about to have the hart, no other reference in use.
    let unfinished = unsafe { next.body() }.unfinished;
    if !can_switch_fast(hart, local, vcpu) | unfinished {
        cold_path();
        return deschedule(hart, vcpu);
    }
    local.next = None;
    // One that has just taken another's place, which is held, is not.
    let holds = (vcpu.class == Class::BestEffort)
        & (vcpu.state_here() == State::Running)
        & local.soft_affine.is_none();
    if !holds {
        cold_path();
        return switch_and_requeue(hart, vcpu, next, now);
    }
    local.soft_affine = Some(vcpu);
    vcpu.set_state_before_fence(State::Ready);
    context_switch(hart, vcpu, next, now);
    handle_pending_signals(hart, next)
}

/// The vCPU waits, or its slice or its budget is over, and the hart goes to another one. As [`preempt`].
#[inline(never)]
fn switch_fast(hart: &'static Hart, vcpu: &'static Vcpu, now: u64) -> NextContext {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let waits = vcpu.state_here() == State::Waiting;
    let slice_over = (vcpu.class == Class::BestEffort) & (local.timer.slice_end() <= now);
    let over = slice_over | (local.timer.budget_end() <= now);
    let busy = local.ending_vms != 0
        || local.overruns != [0; _]
        || hart.awaiting_idle_instant.load(Ordering::Relaxed);
    if !(waits | over) | busy | !can_switch_fast(hart, local, vcpu) {
        cold_path();
        return deschedule(hart, vcpu);
    }
    match pick_next(hart) {
        Some(next) => switch_and_requeue(hart, vcpu, next, now),
        None => deschedule(hart, vcpu),
    }
}

/// The hart goes from one vCPU to another, and the first one to where it belongs.
#[inline(never)]
fn switch_and_requeue(
    hart: &'static Hart,
    vcpu: &'static Vcpu,
    next: &'static Vcpu,
    now: u64,
) -> NextContext {
    let waits = vcpu.state_here() == State::Waiting;
    if !waits {
        vcpu.set_state_before_fence(State::Ready);
    }
    context_switch(hart, vcpu, next, now);
    requeue(hart, vcpu, now);
    if !waits & (vcpu.class == Class::BestEffort) {
        kick_idle_harts(hart);
    }
    // Safety: on this hart, no other reference in use; the vCPU has it.
    let (local, body) = unsafe { (hart.local(), next.body()) };
    // Another hart may have taken what the slice was ended for.
    let wrong = !waits & (vcpu.class == Class::BestEffort) & (next.precedence < vcpu.precedence);
    local.reschedule |= body.unfinished | wrong;
    handle_pending_signals(hart, next)
}

/// Enters a vCPU that has got the hart, when it has taken notice of what others have told it. That may be for the one that was here before, which so
/// has to be in its place.
#[inline(always)]
fn handle_pending_signals(hart: &'static Hart, vcpu: &'static Vcpu) -> NextContext {
    if (vcpu.signals() != 0) | needs_resched(hart) {
        cold_path();
        return handle_signals_and_enter(hart, vcpu);
    }
    // Safety: on this hart, which runs the vCPU; no other reference in use.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    NextContext::arm_and_enter(local, body)
}

/// Enters the guest of the current vCPU, whose registers are in the hart but for those that are loaded last.
#[inline(always)]
fn enter_guest(hart: &'static Hart, vcpu: &'static Vcpu) -> NextContext {
    // Safety: on this hart, which runs the vCPU; no other reference in use.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    NextContext::enter(local, body)
}

/// As [`handle_pending_signals`], when there is something.
#[inline(never)]
fn handle_signals_and_enter(hart: &'static Hart, vcpu: &'static Vcpu) -> NextContext {
    handle_signals(hart, vcpu);
    // Who has asked it to stop before it had its home here has told another hart.
    if vcpu.stops() | needs_resched(hart) {
        return NextContext::leave(vcpu);
    }
    enter_guest(hart, vcpu)
}

/// Whether nothing else is to be done when the current vCPU leaves the hart.
#[inline(always)]
fn can_switch_fast(hart: &Hart, local: &Local, vcpu: &Vcpu) -> bool {
    // Safety: it runs on this hart, no other reference in use.
    let body = unsafe { vcpu.body() };
    is_loaded(hart, local, vcpu, body)
        & (vcpu.signals() & signal::STOP == 0)
        & (hart.role == HartRole::Any)
}

/// The hart goes from one such vCPU to another: its registers take the place of those of the one that leaves, which are then in its context. The timer
/// is still to be set.
#[inline(never)]
fn context_switch(hart: &'static Hart, vcpu: &'static Vcpu, next: &'static Vcpu, now: u64) {
    // Safety: on this hart, no other reference in use; the one has it, the other is taken by it.
    let (local, from, to) = unsafe { (hart.local(), vcpu.body(), next.body()) };
    account(hart, local, vcpu, from, now);
    set_current(hart, next);
    answer_fence_waiters(hart, vcpu);
    if from.livelock.watched() {
        cold_path();
        context::watch(false);
    }
    load_registers(hart, local, &mut from.context, next, to);
    mark_fpu_unsaved(local, vcpu, from);
}

/// The current vCPU has had the hart up to now.
#[inline]
fn account(hart: &Hart, local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) {
    let ticks = now - local.since;
    local.since = now;
    // Only this hart writes it.
    if let Some(all) = vcpu.vm.ticks.get(hart.index) {
        all.store(all.load(Ordering::Relaxed) + ticks, Ordering::Relaxed);
    }
    if let Some(account) = &mut body.account {
        cold_path();
        account.charge(ticks);
    }
    body.slice_left = local.timer.slice_end().saturating_sub(now);
}

/// The vCPU's registers have just been taken over from the hart: its floating-point ones are still there.
#[inline]
fn mark_fpu_unsaved(local: &mut Local, vcpu: &'static Vcpu, body: &Body) {
    if body.context.fpu_is_dirty() {
        local.fpu_unsaved = Some(vcpu);
    }
}

/// The current vCPU waits for `why`; its trap handler then gives up the hart.
pub fn wait(vcpu: &'static Vcpu, why: Wait) {
    // Safety: it runs on this hart.
    unsafe { vcpu.body() }.wait = why;
    vcpu.set_state(State::Waiting);
}

/// The current vCPU waits for an interrupt, if none is there, or for its next job, if waiting ends the present one.
pub fn wait_for_interrupt(vcpu: &'static Vcpu) {
    wait_for_interrupt_or(vcpu, Wait::Interrupt);
}

/// The same, `why` being that or more.
#[inline]
pub fn wait_for_interrupt_or(vcpu: &'static Vcpu, why: Wait) {
    // Safety: it runs on this hart.
    let account = &unsafe { vcpu.body() }.account;
    let periodic = account
        .as_ref()
        .is_some_and(|account| account.kind() == Kind::Periodic);
    if periodic || !context::guest_interrupt_pending() {
        wait(vcpu, why);
    }
}

/// Whether the current vCPU has to leave the hart.
pub fn needs_resched(hart: &'static Hart) -> bool {
    // Safety: on this hart, no other reference in use.
    unsafe { hart.local() }.reschedule
}

/// Whether a real-time vCPU takes the hart from whoever has it, or had it.
pub fn has_next(hart: &'static Hart) -> bool {
    // Safety: on this hart, no other reference in use.
    unsafe { hart.local() }.next.is_some()
}

/// Between two pieces of long work in the current vCPU's time: serves what is pending. `false`: the vCPU has to leave the hart.
#[inline]
pub fn may_continue(hart: &'static Hart) -> bool {
    // Safety: on this hart, no other reference in use.
    let dirty = unsafe { hart.local() }.timer.is_dirty();
    let pending = arch::pending_interrupts();
    (pending | u64::from(dirty)) == 0 || serve_and_may_continue(hart)
}

/// As [`may_continue`], when interrupts are pending, or may be once the timer is armed. Without separation they wait, unless the work is a
/// real-time vCPU's.
#[inline(never)]
fn serve_and_may_continue(hart: &'static Hart) -> bool {
    let pending = poll(hart);
    if pending == 0 {
        return true;
    }
    if !system().is_separated() && hart.running.load(Ordering::Relaxed) < running::REAL_TIME {
        return true;
    }
    serve(hart, pending);
    !needs_resched(hart)
}

/// Serves what is pending, apart from the ways on which nothing is.
#[inline(never)]
fn serve(hart: &'static Hart, pending: u64) {
    interrupt::handle(hart, pending);
}

/// Takes the hart from the current vCPU and puts it where it belongs. A full fence is to follow, and then [`answer_fence_waiters`].
#[inline]
fn put_prev(hart: &'static Hart, vcpu: &'static Vcpu, now: u64) {
    // Safety: on this hart, no other reference in use; likewise the body of the vCPU that runs on it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    // While its image is loaded, the registers in the hart are another's.
    if is_loaded(hart, local, vcpu, body) {
        if hart.role != HartRole::Any && vcpu.class == Class::BestEffort {
            migration::leaves(hart, local, vcpu, body);
        }
        body.context.save();
        mark_fpu_unsaved(local, vcpu, body);
        if body.livelock.watched() {
            cold_path();
            context::watch(false);
            // Entered again, it is watched again.
            local.loaded = None;
        }
    }
    account(hart, local, vcpu, body, now);
    local.timer.end();
    local.current = None;
    local.reschedule = false;
    if vcpu.stops() {
        stop_vcpu(hart, vcpu);
    } else {
        requeue(hart, vcpu, now);
    }
}

/// Puts a vCPU that has left the hart to rest, or into its queue.
#[inline(never)]
fn requeue(hart: &'static Hart, vcpu: &'static Vcpu, now: u64) {
    // Safety: on this hart, no other reference in use; likewise the body of the vCPU that it has just left.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    if vcpu.state_here() == State::Waiting {
        if vcpu.class == Class::RealTime && ends_job(body) {
            end_job(vcpu, body, now);
        }
        block(hart, vcpu);
    } else if body
        .account
        .as_ref()
        .is_some_and(|account| account.left() == 0)
    {
        throttle(local, vcpu, body, now);
        block(hart, vcpu);
    } else if vcpu.class == Class::BestEffort && local.next.is_some() && local.soft_affine.is_none()
    {
        vcpu.set_state(State::Ready);
        local.soft_affine = Some(vcpu);
    } else {
        let last = vcpu.class == Class::BestEffort && body.slice_left == 0;
        let goes = vcpu.class == Class::BestEffort && !vcpu.may_run_on(hart);
        enqueue(hart, vcpu, if last { Place::Last } else { Place::First });
        if goes {
            push_to_hart(hart, vcpu);
        }
    }
}

/// The vCPU has been put back, and a full fence done: those that wait for a fence of a running vCPU need not wait for this one any more.
#[inline]
fn answer_fence_waiters(hart: &'static Hart, vcpu: &'static Vcpu) {
    let signals = vcpu.signals();
    if signals >> signal::AWAITED != 0 {
        cold_path();
        // They stay: it may run again, with the fences still to be done, before those look.
        notify_fence_waiters(hart, vcpu, signals);
    }
}

/// Whether what the vCPU waits for ends its job.
fn ends_job(body: &Body) -> bool {
    match (&body.wait, &body.account) {
        (Wait::Release { .. }, _) => true,
        (_, Some(account)) => account.kind() == Kind::Periodic,
        (_, None) => false,
    }
}

/// The vCPU has ended its job; it waits for its next one.
fn end_job(vcpu: &Vcpu, body: &mut Body, now: u64) {
    let Some(account) = &mut body.account else {
        return;
    };
    let at = account.done(now);
    vcpu.record.take(account);
    let answers = matches!(body.wait, Wait::Release { answers: true, .. });
    body.wait = Wait::Release { at, answers };
}

/// The vCPU has spent its budget; it waits for its next job.
#[cold]
fn throttle(local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) {
    let Some(account) = &mut body.account else {
        return;
    };
    // An image is loaded as fast as the budget allows: that is no overrun.
    let loads = body.loader.is_some();
    let at = if loads {
        account.done(now)
    } else {
        account.cut_off(now)
    };
    vcpu.record.take(account);
    body.wait = Wait::Release { at, answers: false };
    vcpu.set_state(State::Waiting);
    // Ever more seldom.
    if !loads && account.overruns.is_power_of_two() {
        local.overruns[usize::from(vcpu.handle / 64)] |= 1 << (vcpu.handle % 64);
    }
}

/// A waiting vCPU of this hart, whose registers are saved, goes to rest until what it waits for comes.
fn block(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use; it waits at home here.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    if vcpu.class == Class::RealTime && carry_out_orders(hart, local, vcpu, body) {
        return;
    }
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
    // Whoever has sent something since sees it waiting and tells this hart; what was sent before is seen here.
    fence(Ordering::SeqCst);
    if is_due(vcpu, body) {
        cancel_wakeup(local, vcpu);
        if wake(hart, vcpu, arch::now()) {
            push_to_hart(hart, vcpu);
        }
    }
}

/// A waiting vCPU is no longer woken by this hart.
fn cancel_wakeup(local: &mut Local, vcpu: &Vcpu) {
    match vcpu.class {
        Class::RealTime => {
            local.timer.clear_release(vcpu.handle);
            local.starting_reservations[usize::from(vcpu.handle / 64)] &=
                !(1 << (vcpu.handle % 64));
        }
        Class::BestEffort => local.timer.clear_wakeup(vcpu.handle),
    }
}

/// Carries out what admission has ordered about a waiting real-time vCPU (protocol R1); `true`: it is another hart's now.
fn carry_out_orders(
    hart: &'static Hart,
    local: &mut Local,
    vcpu: &'static Vcpu,
    body: &mut Body,
) -> bool {
    if !vcpu.relocation.may_have_orders() {
        return false;
    }
    let orders = vcpu.relocation.take();
    if orders.change.is_some() {
        body.next = orders.change;
        drain_reservation(hart, local);
    }
    let Some(to) = orders.to else { return false };
    drain_reservation(hart, local);
    save_fpu_if_unsaved(local, vcpu);
    cancel_wakeup(local, vcpu);
    vcpu.relocation.arrive(to);
    system().harts[to].post(vcpu);
    true
}

/// A reservation that admission no longer counts on this hart has had its last job here.
fn drain_reservation(hart: &Hart, local: &mut Local) {
    hart.awaiting_idle_instant.store(true, Ordering::Relaxed);
    hart.departing_reservations.end_one();
    // Perhaps nothing else is left, and others may begin.
    local.reschedule = true;
}

/// Makes the vCPUs that wait for this one's fences, as its signals say, look whether they still have to.
#[cold]
fn notify_fence_waiters(hart: &'static Hart, vcpu: &'static Vcpu, signals: u32) {
    let mut waiters = signals >> signal::AWAITED;
    // At most one step for each vCPU of the VM.
    while waiters != 0 {
        let index = waiters.trailing_zeros() as usize;
        waiters &= waiters - 1;
        notify(hart, &vcpu.vm.vcpus()[index]);
    }
}

/// The hart in [`Body::loaded_on`] and [`Body::fpu_on`].
fn here(hart: &Hart) -> u32 {
    hart.index as u32 + 1
}

/// Whether the hart's registers are the vCPU's.
pub fn is_loaded(hart: &Hart, local: &Local, vcpu: &Vcpu, body: &Body) -> bool {
    (body.loaded_on == here(hart)) & is_same(local.loaded, vcpu)
}

/// Whether a slot of a hart's state holds this vCPU.
fn is_same(slot: Option<&Vcpu>, vcpu: &Vcpu) -> bool {
    slot.is_some_and(|held| core::ptr::eq(held, vcpu))
}

/// How urgent a vCPU is on this hart, its home: the greater first.
fn urgency(hart: &Hart, vcpu: &Vcpu) -> u64 {
    if vcpu.class == Class::RealTime && hart.by_deadline {
        // Safety: it is at home here and does not wait; no other reference in use.
        let account = &unsafe { vcpu.body() }.account;
        return account
            .as_ref()
            .map_or(0, |account| u64::MAX - account.deadline());
    }
    vcpu.precedence.into()
}

/// Puts a vCPU into its queue; from then on it belongs to no hart, if it is a best-effort one.
fn enqueue(hart: &'static Hart, vcpu: &'static Vcpu, place: Place) {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let (handle, priority) = (vcpu.handle, vcpu.priority);
    let head = place == Place::First;
    match vcpu.class {
        // Nobody but this hart takes it from its queue.
        Class::RealTime if hart.by_deadline => {
            vcpu.set_state_before_fence(State::Ready);
            edf_insert(local, handle, u64::MAX - urgency(hart, vcpu));
        }
        Class::RealTime => {
            vcpu.set_state_before_fence(State::Ready);
            local.realtime.insert(handle, priority, head);
        }
        Class::BestEffort => {
            save_fpu_if_unsaved(local, vcpu);
            vcpu.set_state(State::Ready);
            let mut queue = system().best_effort.lock_inlined();
            queue.insert(handle, priority, head);
        }
    }
}

/// Puts a ready real-time vCPU in the order of deadlines.
#[inline(never)]
fn edf_insert(local: &mut Local, handle: Handle, deadline: u64) {
    local.edf.set(handle, deadline);
}

/// Takes the ready real-time vCPU of the earliest deadline.
#[inline(never)]
fn edf_pop(local: &mut Local) -> Option<Handle> {
    local.edf.pop()
}

/// Takes the ready real-time vCPU that comes first.
fn pop_real_time(hart: &Hart, local: &mut Local) -> Option<&'static Vcpu> {
    let handle = if hart.by_deadline {
        edf_pop(local)
    } else {
        local.realtime.pop()
    };
    handle.map(|handle| system().vcpu(handle))
}

/// Whether a real-time vCPU waits for the hart.
fn real_time_waits(hart: &Hart, local: &Local) -> bool {
    local.next.is_some()
        || if hart.by_deadline {
            !local.edf.is_empty()
        } else {
            local.realtime.highest().is_some()
        }
}

/// The vCPU leaves this hart: so do its floating-point registers, if they are still here unsaved.
fn save_fpu_if_unsaved(local: &mut Local, vcpu: &Vcpu) {
    if is_same(local.fpu_unsaved, vcpu) {
        local.fpu_unsaved = None;
        // Safety: the vCPU is still this hart's; no other reference in use.
        let body = unsafe { vcpu.body() };
        body.context.save_fpu(&mut body.fpu);
    }
}

/// The current vCPU uses floating-point registers for the first time since it got the hart, perhaps.
pub fn give_fpu(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use; the vCPU runs on it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    if let Some(owner) = local.fpu_unsaved {
        save_fpu_if_unsaved(local, owner);
    }
    body.fpu.give();
    body.fpu_on = here(hart);
    local.fpu_owner = Some(vcpu.handle);
    if body.livelock.watched() {
        context::watch(true);
    }
    confine(hart, vcpu);
}

/// Keeps a best-effort vCPU in the hart's registers at its user level, if the hart is for nothing else.
fn confine(hart: &Hart, vcpu: &Vcpu) {
    if hart.is_user_only() && vcpu.class == Class::BestEffort {
        cold_path();
        context::confine(true);
    }
}

/// A vCPU of this hart, which does not run, stops.
fn stop_vcpu(hart: &'static Hart, vcpu: &'static Vcpu) {
    message::stopped(vcpu);
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    cancel_wakeup(local, vcpu);
    save_fpu_if_unsaved(local, vcpu);
    if vcpu.class == Class::RealTime {
        local.overruns[usize::from(vcpu.handle / 64)] &= !(1 << (vcpu.handle % 64));
        // What is admitted in its place is not to begin before its last job is forgotten.
        hart.awaiting_idle_instant.store(true, Ordering::Relaxed);
    }
    realtime::stopped(hart, vcpu);
    if vcpu.vm.vcpu_stopped(vcpu) {
        local.ending_vms |= 1 << vcpu.vm.index;
        // Soon, but not before a real-time vCPU.
        if local
            .current
            .is_some_and(|current| current.class == Class::BestEffort)
        {
            local.reschedule = true;
        }
    }
}

/// Does a piece of the work that the end of a VM leaves to this hart, if no real-time vCPU wants the hart; `false`: there is
/// none to do now.
#[unsafe(export_name = "tactus_conclude")]
#[inline(never)]
extern "C" fn finish_vm_ends(hart: &'static Hart) -> bool {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if real_time_waits(hart, local) {
        return false;
    }
    // At most one step for each word.
    for word in 0..local.overruns.len() {
        if local.overruns[word] != 0 {
            let bit = local.overruns[word].trailing_zeros() as usize;
            local.overruns[word] &= local.overruns[word] - 1;
            report_overruns(system().vcpu((word * 64 + bit) as Handle));
            return true;
        }
    }
    if local.ending_vms == 0 {
        return false;
    }
    let index = local.ending_vms.trailing_zeros() as usize;
    // Before its last piece, which may start the VM anew, and end it again.
    local.ending_vms &= !(1 << index);
    if !system().vms[index].conclude(hart) {
        // Safety: as above.
        unsafe { hart.local() }.ending_vms |= 1 << index;
    }
    true
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

/// The hart has no real-time work: what admission has put in the place of what left it may begin. `true`: something does.
fn start_pending_reservations(hart: &'static Hart) -> bool {
    if !hart.awaiting_idle_instant.load(Ordering::Relaxed)
        || !hart.departing_reservations.are_over()
    {
        return false;
    }
    hart.awaiting_idle_instant.store(false, Ordering::Release);
    // Safety: on this hart, no other reference in use.
    let starting_reservations =
        core::mem::take(&mut unsafe { hart.local() }.starting_reservations.0);
    let mut any = false;
    for (word, mut bits) in starting_reservations.into_iter().enumerate() {
        // At most one step for each vCPU.
        while bits != 0 {
            let handle = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            wake(hart, system().vcpu(handle as Handle), arch::now());
            any = true;
        }
    }
    any
}

/// Whether what a vCPU waits for has come. After a full fence.
fn is_due(vcpu: &Vcpu, body: &Body) -> bool {
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
        Wait::Fences(targets, numbers) => {
            vcpu.vm.vcpus().iter().enumerate().all(|(index, target)| {
                let missing = numbers[index]
                    .wrapping_sub(target.fences_done.load(Ordering::Relaxed))
                    .cast_signed();
                // One that does not run does its fences before it runs again.
                targets >> index & 1 == 0 || missing <= 0 || target.state_here() != State::Running
            })
        }
    }
}

/// A waiting vCPU at home here is to run; its deadline is no longer kept. `true`: another hart might take it.
fn wake(hart: &'static Hart, vcpu: &'static Vcpu, now: u64) -> bool {
    // Safety: on this hart, no other reference in use; it waits at home here.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    if body.account.is_some() && !release(hart, local, vcpu, body, now) {
        return false;
    }
    if body.wait == Wait::News {
        cold_path();
        body.context.registers[11] = system().accelerators.take_news();
    }
    let before = local.next.or(local.current);
    let first = match before {
        Some(other) if other.class == vcpu.class => urgency(hart, vcpu) > urgency(hart, other),
        Some(_) => vcpu.class == Class::RealTime,
        None => true,
    };
    if first && vcpu.class == Class::RealTime {
        vcpu.set_state_before_fence(State::Ready);
        if let Some(other) = local.next.replace(vcpu) {
            cold_path();
            enqueue(hart, other, Place::First);
        }
        local.reschedule = true;
        return false;
    }
    let here = first && vcpu.may_run_on(hart);
    enqueue(hart, vcpu, Place::Last);
    if here {
        local.reschedule = true;
    }
    !here && vcpu.class == Class::BestEffort
}

/// A vCPU with a reservation is to run: asks the reservation whether it may, which may begin a job. `false`: it goes on waiting.
fn release(hart: &Hart, local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) -> bool {
    let Some(account) = &mut body.account else {
        return true;
    };
    let changes = body.next.is_some();
    if (body.wait == Wait::Start || changes) && !hart.is_settled() {
        // As soon as nothing is left of the work that was here before.
        local.starting_reservations[usize::from(vcpu.handle / 64)] |= 1 << (vcpu.handle % 64);
        let busy = local
            .current
            .is_some_and(|vcpu| vcpu.class == Class::RealTime);
        if !busy && !real_time_waits(hart, local) {
            // That may be now.
            local.reschedule = true;
        }
        return false;
    }
    match body.wait {
        Wait::Start => *account = account.again(now),
        Wait::Release { answers, .. } => {
            match if changes { body.next.take() } else { None } {
                Some(reservation) => account.renew_as(reservation, now),
                None => account.renew(now),
            }
            if answers {
                body.context.registers[11] = account.release();
            }
        }
        Wait::Interrupt | Wait::News | Wait::Message { .. } | Wait::Fences(..) => {
            if let Wake::At(at) = account.wake(now) {
                body.wait = Wait::Release { at, answers: false };
                local.timer.set_release(vcpu.handle, at);
                return false;
            }
        }
    }
    true
}

/// Finds another hart for a ready best-effort vCPU: an idle one, or one that runs something of lower priority.
#[cold]
fn push_to_hart(hart: &'static Hart, vcpu: &Vcpu) {
    let others = system()
        .harts
        .iter()
        .filter(|other| other.index != hart.index && vcpu.may_run_on(other));
    let mut best: Option<(&Hart, u32)> = None;
    for other in others {
        let runs = other.running.load(Ordering::Relaxed);
        if runs < best.map_or(vcpu.precedence, |(_, runs)| runs) {
            best = Some((other, runs));
        }
    }
    if let Some((other, _)) = best {
        other.offer();
    } else if hart.role != HartRole::Any {
        migration::request_migration(hart);
    }
}

/// Wakes the idle harts that may run what waits in the best-effort queue.
#[inline(never)]
fn kick_idle_harts(hart: &'static Hart) {
    let mut may_run = None;
    for other in system().harts {
        let idle = other.running.load(Ordering::Relaxed) == running::IDLE;
        if idle && other.index != hart.index {
            cold_path();
            if *may_run.get_or_insert_with(harts_with_queued_work) >> other.index & 1 != 0 {
                other.offer();
            }
        }
    }
    if hart.role != HartRole::Any {
        migration::request_migration(hart);
    }
}

/// Takes a ready vCPU at home here from where it waits; `false`: another hart has just taken it.
fn dequeue(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if is_same(local.soft_affine, vcpu) {
        local.soft_affine = None;
        return true;
    }
    if is_same(local.next, vcpu) {
        local.next = None;
        return true;
    }
    match vcpu.class {
        Class::RealTime if hart.by_deadline => {
            local.edf.clear(vcpu.handle);
            true
        }
        Class::RealTime => local.realtime.remove(vcpu.handle),
        Class::BestEffort => system().best_effort.lock().remove(vcpu.handle),
    }
}

/// Chooses what runs now on this hart, waiting for work if there is none.
#[inline(never)]
fn pick_next_or_idle(hart: &'static Hart) -> NextContext {
    let mut again = false;
    loop {
        let pending = poll(hart);
        if pending != 0 {
            serve(hart, pending);
        }
        // Safety: on this hart, no other reference in use.
        let local = unsafe { hart.local() };
        let mut chosen = local.next.take();
        if chosen.is_none() {
            // Work begins after a look that has found nothing; or after the second, since somebody may interrupt without pause.
            again = !again & (pending != 0);
            if again {
                continue;
            }
            if finish_vm_ends(hart) {
                // Without separation, all pieces at once.
                while !system().is_separated() && finish_vm_ends(hart) {}
                continue;
            }
            // Safety: on this hart, no other reference in use.
            if !real_time_waits(hart, unsafe { hart.local() }) {
                if hart.has_posts() {
                    handle_posts(hart);
                    continue;
                }
                if start_pending_reservations(hart) {
                    continue;
                }
            }
            chosen = pick_next(hart);
        }
        let Some(vcpu) = chosen else {
            // Whatever asked for the hart has gone elsewhere.
            // Safety: on this hart, no other reference in use.
            unsafe { hart.local() }.reschedule = false;
            idle(hart);
            continue;
        };
        set_current(hart, vcpu);
        // Here, and not at the first look: that is for what seldom changes.
        // Safety: on this hart, no other reference in use.
        arm_timer(unsafe { hart.local() });
        return prepare_entry(hart, vcpu);
    }
}

/// A vCPU has got the hart: does what is to be done before it is entered, and enters it.
fn prepare_entry(hart: &'static Hart, vcpu: &'static Vcpu) -> NextContext {
    if vcpu.class == Class::BestEffort {
        kick_idle_harts(hart);
    }
    // Safety: the vCPU runs on this hart, no other reference in use.
    let unfinished = unsafe { vcpu.body() }.unfinished;
    // See `handle_pending_signals`.
    // The timer has just been armed.
    let continues = || arch::pending_interrupts() == 0 || serve_and_may_continue(hart);
    if vcpu.stops() || unfinished && !finish_pending_work(hart, vcpu) || !continues() {
        return NextContext::leave(vcpu);
    }
    load_and_update(hart, vcpu);
    if hart.role != HartRole::Any {
        migration::migrate_if_waiters(hart);
        if needs_resched(hart) {
            return NextContext::leave(vcpu);
        }
    }
    enter_guest(hart, vcpu)
}

/// Takes the vCPU that is to run from where it waits.
#[inline(never)]
fn pick_next(hart: &'static Hart) -> Option<&'static Vcpu> {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if let Some(vcpu) = pop_real_time(hart, local) {
        return Some(vcpu);
    }
    if hart.is_user_only()
        && let Some(held) = local.soft_affine.take_if(|held| !held.may_run_on(hart))
    {
        enqueue(hart, held, Place::First);
        push_to_hart(hart, held);
    }
    let vcpus = system().vcpus;
    let mut queue = system().best_effort.lock_inlined();
    if let Some(held) = local.soft_affine.take() {
        // Safety: it is this hart's, no other reference in use.
        let slice_left = unsafe { held.body() }.slice_left > 0;
        let others = queue.highest().map(|highest| highest.cmp(&held.priority));
        match others {
            None | Some(cmp::Ordering::Less) => return Some(held),
            Some(cmp::Ordering::Equal) if slice_left => return Some(held),
            Some(_) => {}
        }
        save_fpu_if_unsaved(local, held);
        queue.insert(held.handle, held.priority, slice_left);
    }
    let mut here = |handle: Handle| vcpus[usize::from(handle)].may_run_on(hart);
    let (handle, _) = queue.pop_where(&mut here)?;
    Some(&vcpus[usize::from(handle)])
}

/// Nothing to do until an interrupt comes.
#[inline(never)]
fn idle(hart: &'static Hart) {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    local.timer.end();
    rearm_timer(local);
    local.since = arch::now();
    if local.admits != Class::BestEffort {
        local.admits = Class::BestEffort;
        interrupt::admit(hart, Class::BestEffort);
    }
    if console::has_unsent() {
        let room = console::pump();
        crate::vm::tell_room(hart, room);
    } else {
        wait_idle(hart);
    }
    // Safety: as above.
    let local = unsafe { hart.local() };
    let now = arch::now();
    hart.idle_ticks
        .fetch_add(now - local.since, Ordering::Relaxed);
    local.since = now;
}

/// Waits, known to be idle, for an interrupt.
fn wait_idle(hart: &'static Hart) {
    hart.running.store(running::IDLE, Ordering::SeqCst);
    if hart.is_user_only() {
        migration::request_migration(hart);
    }
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let (at, handle) = local.timer.earliest_release();
    if at != u64::MAX {
        // Whose job is released next will not have to wait for its registers.
        let vcpu = system().vcpu(handle);
        load_if_absent(hart, vcpu);
    }
    if context::guest_interrupt_pending() {
        // The last guest's, which runs elsewhere or nowhere; it would end every wait.
        context::mask_guest_interrupts();
        // Safety: on this hart, no other reference in use.
        unsafe { hart.local() }.loaded = None;
    }
    // What was queued before others could see this hart idle is seen here.
    let nothing_here = harts_with_queued_work() >> hart.index & 1 == 0 && !hart.has_posts();
    if arch::pending_interrupts() == 0 && nothing_here {
        arch::wait_for_interrupt();
    }
}

/// Harts, as bits, that may run a vCPU of the best-effort queue.
#[inline(never)]
fn harts_with_queued_work() -> u64 {
    let vcpus = system().vcpus;
    let mut harts = 0;
    // At most one step for each vCPU.
    system()
        .best_effort
        .lock()
        .visit(&mut |handle| harts |= vcpus[usize::from(handle)].affinity());
    harts
}

/// The hart is from now on the vCPU's. A full fence. The timer is still to be set.
#[inline(always)]
fn set_current(hart: &'static Hart, vcpu: &'static Vcpu) {
    let (class, now) = (vcpu.class, arch::now());
    // Safety: on this hart, no other reference in use; the vCPU has just been taken by it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    vcpu.settle(hart);
    hart.running.store(vcpu.precedence, Ordering::Relaxed);
    // From here on senders see who runs, and what they have sent before is seen here.
    fence(Ordering::SeqCst);
    if local.admits != class {
        local.admits = class;
        interrupt::admit(hart, class);
        match class {
            Class::RealTime => {
                // From here on nobody else interrupts it for best-effort vCPUs; what has been sent for them before waits, too.
                if arch::is_interrupted() {
                    cold_path();
                    arch::clear_software_interrupt();
                    if hart.has_urgent_news() {
                        arch::raise_software_interrupt();
                    }
                }
                let deferred_at = local.timer.deferred_at();
                local
                    .timer
                    .set_deferred_at(deferred_at.max(now + system().held_for_ticks));
            }
            // What was sent while best-effort vCPUs' news had to wait.
            Class::BestEffort if hart.has_news() => arch::raise_software_interrupt(),
            Class::BestEffort => {}
        }
    }
    local.current = Some(vcpu);
    local.reschedule = false;
    local.since = now;
    if body.slice_left == 0 {
        body.slice_left = system().blob.header.slice_ticks;
    }
    let budget_end = match &body.account {
        Some(account) => now + account.left(),
        None => u64::MAX,
    };
    local.timer.begin(now + body.slice_left, budget_end);
}

/// Goes on with what the vCPU has to do before it is entered. `false`: it has to leave the hart.
#[cold]
fn finish_pending_work(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    load_image(hart, vcpu) && continue_calls(hart, vcpu)
}

/// Goes on with the vCPU's calls that take long. `false`: it has to leave the hart.
pub fn continue_calls(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    let finished = realtime::go_on(hart, vcpu) && message::go_on(hart, vcpu);
    if finished {
        // Safety: the vCPU runs on this hart, no other reference in use.
        unsafe { vcpu.body() }.unfinished = false;
    }
    finished
}

/// Loads the VM's image, which is what its boot vCPU has to do first. `false`: it has to leave the hart.
fn load_image(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    // Safety: the vCPU runs on this hart, no other reference in use.
    while unsafe { vcpu.body() }.loader.is_some() {
        if !may_continue(hart) {
            return false;
        }
        // Safety: as above.
        let body = unsafe { vcpu.body() };
        if let Some(loader) = &mut body.loader
            && loader.step(vcpu.vm, &system().blob)
        {
            body.loader = None;
            vcpu.vm.loaded();
        }
    }
    true
}

/// Puts the current vCPU into the hart's registers, but for those that are loaded last. After a full fence.
fn load_and_update(hart: &'static Hart, vcpu: &'static Vcpu) {
    load_if_absent(hart, vcpu);
    update_pending(hart, vcpu);
}

/// Puts a vCPU of this hart into the hart's control and status registers, if it is not there.
#[inline(never)]
fn load_if_absent(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use; it waits at home here, or runs.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    if is_loaded(hart, local, vcpu, body) {
        return;
    }
    // Safety: on this hart, no other reference in use.
    let nobody = unsafe { hart.scratch_context.get() };
    load_registers(hart, local, nobody, vcpu, body);
    confine(hart, vcpu);
}

/// Puts a vCPU of this hart into the hart's control and status registers; what was in them goes to `from`.
#[inline(never)]
fn load_registers(
    hart: &Hart,
    local: &mut Local,
    from: &mut Context,
    vcpu: &'static Vcpu,
    body: &mut Body,
) {
    let here = here(hart);
    let came = body.loaded_on != here;
    body.loaded_on = here;
    local.loaded = Some(vcpu);
    let fpu_ready = (local.fpu_owner == Some(vcpu.handle)) & (body.fpu_on == here);
    let external = vcpu.external.load(Ordering::Relaxed);
    from.exchange(&mut body.context, hart.stack_top, fpu_ready, external);
    if body.livelock.watched() {
        cold_path();
        context::watch(true);
    }
    if came || !vcpu.alone && is_other_vcpu_of_vm(local, vcpu) {
        cold_path();
        // Cached translations and instructions are another vCPU's of the same VM, or this one's of a time before it
        // changed them elsewhere, or the VM's virtual devices were closed.
        arch::fence_own_stage2();
        arch::fence_guest_translations();
        arch::fence_instructions();
    }
}

/// Whether another vCPU of the same VM ran here last; it is this one now.
#[inline(never)]
fn is_other_vcpu_of_vm(local: &mut Local, vcpu: &Vcpu) -> bool {
    let number = vcpu.index as u8 + 1;
    core::mem::replace(&mut local.last_vcpu[vcpu.vm.index], number) != number
}

/// Gives the current vCPU what has been sent to it. After a full fence.
fn update_pending(hart: &'static Hart, vcpu: &'static Vcpu) {
    context::set_external(vcpu.external.load(Ordering::Relaxed));
    if vcpu.signals() & (signal::SOFTWARE | signal::FENCES | signal::CLOSED) != 0 {
        handle_signals(hart, vcpu);
    }
}

/// The current vCPU gets its software interrupt, and does the fences that others have asked of it; those that wait for these are told.
#[inline(never)]
fn handle_signals(hart: &'static Hart, vcpu: &'static Vcpu) {
    let signals = vcpu.take_signals(!signal::STOP);
    if signals & signal::SOFTWARE != 0 && interrupt_page::deliver(vcpu) {
        context::raise_software();
    }
    if signals & signal::FENCES != 0 {
        // Counted before it was told.
        let asked = vcpu.fences_asked.load(Ordering::Relaxed);
        arch::fence_guest_translations();
        arch::fence_instructions();
        vcpu.fences_done.store(asked, Ordering::Release);
        notify_fence_waiters(hart, vcpu, signals);
    }
    if signals & signal::CLOSED != 0 {
        cold_path();
        arch::fence_own_stage2();
        if signals & signal::RECHECK_CLOSED_PAGE != 0 {
            accelerators::closed(hart, vcpu.vm);
        }
    }
}

/// Something has been sent to a vCPU: makes its home look, now.
pub fn notify(hart: &'static Hart, vcpu: &'static Vcpu) {
    fence(Ordering::SeqCst);
    let home = vcpu.home();
    if home == hart.index {
        handle_notification(hart, vcpu);
    } else {
        system().harts[home].post(vcpu);
    }
}

/// As [`notify`], but its home looks when it serves interrupts next, which may be at once: what follows from the news is then nothing that an
/// interrupt has to wait for now.
pub fn post(vcpu: &'static Vcpu) {
    system().harts[vcpu.home()].post(vcpu);
}

/// Looks at what has been sent to a vCPU at home here. After a full fence.
fn handle_notification(hart: &'static Hart, vcpu: &'static Vcpu) {
    match vcpu.state_here() {
        State::Running => {
            // Safety: on this hart, no other reference in use.
            let local = unsafe { hart.local() };
            if !is_same(local.current, vcpu) {
                return;
            }
            if vcpu.stops() {
                local.reschedule = true;
            }
            // Safety: it runs on this hart, no other reference in use.
            if is_loaded(hart, local, vcpu, unsafe { vcpu.body() }) {
                update_pending(hart, vcpu);
            }
        }
        State::Waiting => {
            // Another hart may have been its home until now (protocol R1).
            vcpu.relocation.acquire();
            if vcpu.stops() {
                // Safety: on this hart, no other reference in use.
                let local = unsafe { hart.local() };
                if is_same(local.current, vcpu) {
                    // About to leave the hart; it is stopped then.
                    return;
                }
                stop_vcpu(hart, vcpu);
                return;
            }
            // Safety: it waits at home on this hart, no other reference in use.
            let (local, body) = unsafe { (hart.local(), vcpu.body()) };
            // Real-time vCPUs may just have come here, or may have to go.
            let leaving = is_same(local.current, vcpu);
            if !leaving && vcpu.class == Class::RealTime {
                block(hart, vcpu);
            } else if !leaving && is_due(vcpu, body) {
                cancel_wakeup(local, vcpu);
                if wake(hart, vcpu, arch::now()) {
                    push_to_hart(hart, vcpu);
                }
            }
        }
        State::Ready => {
            if vcpu.stops() && dequeue(hart, vcpu) {
                stop_vcpu(hart, vcpu);
            }
            // It takes notice of anything else when it is entered.
        }
        State::Stopped => {}
    }
}

/// Serves an interrupt from another hart.
#[inline(never)]
pub fn handle_ipi(hart: &'static Hart) {
    handle_ipi_inlined(hart);
}

/// As [`handle_ipi`], where the path is measured.
#[inline(always)]
pub fn handle_ipi_inlined(hart: &'static Hart) {
    arch::clear_software_interrupt();
    // What is passed or posted from now on interrupts anew.
    if let Some(doorbell) = hart.take_doorbell() {
        doorbell.sound(hart);
    }
    if hart.has_posts_or_offers() {
        cold_path();
        handle_posts_and_offers(hart);
    }
}

/// Serves what other harts have sent here, doorbells apart.
#[inline(never)]
fn handle_posts_and_offers(hart: &'static Hart) {
    handle_posts(hart);
    if hart.take_offer() {
        consider_offer(hart);
    }
}

/// Makes room for a best-effort vCPU that nobody has taken yet, if it comes before what runs here.
fn consider_offer(hart: &'static Hart) {
    let highest = system().best_effort.lock().highest();
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let runs = local.current.map_or(running::IDLE, |vcpu| vcpu.precedence);
    if highest.is_some_and(|priority| running::BEST_EFFORT + u32::from(priority) > runs) {
        local.reschedule = true;
    } else if hart.role != HartRole::Any {
        migration::migrate_if_waiters(hart);
    }
}

/// Looks at the vCPUs at home here that have news.
fn handle_posts(hart: &'static Hart) {
    for (word, mut posted) in hart.receive().into_iter().enumerate() {
        // At most one step for each vCPU.
        while posted != 0 {
            let handle = word * 64 + posted.trailing_zeros() as usize;
            posted &= posted - 1;
            notify(hart, system().vcpu(handle as Handle));
        }
    }
}

/// The real-time vCPU without a reservation that takes the hart now, as its time has come and none of its class runs, nor another's time
/// has come: the most frequent thing that the timer brings about where hurry is. Otherwise all is left to [`serve_due_at`].
#[inline(always)]
pub fn pop_due_release(hart: &'static Hart, now: u64) -> Option<&'static Vcpu> {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let (due, handle) = local.timer.earliest_release();
    if (due > now) | (local.admits == Class::RealTime) | local.next.is_some() {
        return None;
    }
    let vcpu = system().vcpus.get(usize::from(handle))?;
    // Safety: it waits at home here, no other reference in use.
    if unsafe { vcpu.body() }.account.is_some() {
        return None;
    }
    local.timer.pop_release();
    vcpu.set_state_before_fence(State::Ready);
    local.next = Some(vcpu);
    local.reschedule = true;
    (local.timer.earliest_release().0 > now).then_some(vcpu)
}

/// Serves the hart's timer, which has become due while the hypervisor was at work for the current vCPU.
#[inline(never)]
pub fn serve_due(hart: &'static Hart) {
    let now = arch::now();
    if pop_due_release(hart, now).is_none() {
        serve_due_at(hart, now);
    }
}

/// Serves the hart's timer, whatever there is to serve.
#[inline(never)]
pub fn serve_due_at(hart: &'static Hart, now: u64) {
    loop {
        // Safety: on this hart, no other reference in use.
        let local = unsafe { hart.local() };
        // At most one step for each vCPU at home here.
        let Some(handle) = local.timer.pop_due_release(now) else {
            break;
        };
        wake(hart, system().vcpu(handle), now);
    }
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if now >= local.timer.budget_end() {
        cold_path();
        local.reschedule = true;
    }
    // A real-time vCPU that is to run comes first.
    if local.next.is_none() && !(local.reschedule && runs_shared_rt(local)) {
        if !runs_shared_rt(local) || now >= local.timer.deferred_at() {
            do_deferred_work(hart, now);
        }
        // Safety: as above.
        let local = unsafe { hart.local() };
        // Otherwise the timer is set when the next vCPU begins.
        if !local.reschedule {
            arm_timer(local);
        }
    }
}

/// Whether the current vCPU is a real-time one that shares its hart: it is held up for nothing that can wait.
fn runs_shared_rt(local: &Local) -> bool {
    local
        .current
        .is_some_and(|vcpu| vcpu.class == Class::RealTime && local.shared)
}

/// Sees to best-effort vCPUs, and to text. While a real-time vCPU runs, this is done once in a service period at most, and
/// admission counts it in.
#[inline(never)]
fn do_deferred_work(hart: &'static Hart, now: u64) {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let real_time = runs_shared_rt(local);
    let mut for_others = false;
    if real_time {
        local.timer.set_deferred_at(now + system().deferral_ticks);
        if let Some(held) = local.soft_affine.take() {
            enqueue(hart, held, Place::First);
            for_others = true;
        }
        if hart.has_posts() {
            handle_posts(hart);
        }
    }
    loop {
        // Safety: as above.
        let local = unsafe { hart.local() };
        // At most one step for each vCPU at home here.
        let Some(handle) = local.timer.pop_due_wakeup(now) else {
            break;
        };
        for_others |= wake(hart, system().vcpu(handle), now);
    }
    if for_others {
        kick_idle_harts(hart);
    }
    if console::has_unsent() && !real_time {
        let room = console::pump();
        crate::vm::tell_room(hart, room);
    }
    // Safety: as above.
    let local = unsafe { hart.local() };
    // A vCPU that is about to leave the hart may have given up the rest of its slice (`migration::give_way`): that is no slice without progress.
    if now >= local.timer.slice_end() && !local.reschedule {
        end_slice(hart, local, now);
    }
}

/// The current vCPU has used up its slice.
#[cold]
fn end_slice(hart: &Hart, local: &mut Local, now: u64) {
    let Some(vcpu) = local.current else {
        local.timer.set_slice_end(u64::MAX);
        return;
    };
    // Safety: it runs on this hart, no other reference in use.
    let body = unsafe { vcpu.body() };
    if is_loaded(hart, local, vcpu, body) {
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
        local.reschedule = true;
    } else {
        local
            .timer
            .set_slice_end(now + system().blob.header.slice_ticks);
    }
}

/// Whose due times count while the current vCPU runs.
#[inline(always)]
pub fn serves(local: &Local) -> Serves {
    if runs_shared_rt(local) {
        Serves::RealTimeOnly
    } else {
        Serves::All
    }
}

/// Sets the hart's timer to what is due first (protocol T1).
#[inline(always)]
pub fn arm_timer(local: &mut Local) {
    let serves = serves(local);
    local.timer.arm(serves);
}

/// As [`arm_timer`], apart from the paths on which the timer is seldom dirty.
#[inline(never)]
pub fn rearm_timer(local: &mut Local) {
    arm_timer(local);
}

/// Whether anything is due, as of now (protocol T1).
#[inline(never)]
pub fn poll_timer(hart: &'static Hart) -> bool {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if local.timer.is_dirty() {
        rearm_timer(local);
    }
    arch::timer_is_due()
}

/// Looks for interrupts that are pending: the bits of [`arch::pending_interrupts`]. What has become due since the last look is among them
/// (protocol T1).
#[inline(always)]
pub fn poll(hart: &'static Hart) -> u64 {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if local.timer.is_dirty() {
        cold_path();
        rearm_timer(local);
    }
    arch::pending_interrupts()
}

/// A VM has gone off. With the last one the machine does.
pub fn vm_is_off() {
    let system = system();
    if system.vms_on.fetch_sub(1, Ordering::SeqCst) > 1 {
        return;
    }
    for hart in system.harts {
        for vm in system.vms {
            vm.report_usage(hart);
            console::flush();
        }
        Line::new()
            .begin("usage idle")
            .number("hart", hart.index as u64)
            .number("ticks", hart.idle_ticks.load(Ordering::Relaxed))
            .send();
        console::flush();
    }
    let lost = console::take_lost();
    if lost > 0 {
        Line::new()
            .begin("lost")
            .number("stream", 0)
            .number("bytes", lost.into())
            .send();
    }
    Line::new().begin("end").time().send();
    console::flush();
    firmware::power_off();
}
