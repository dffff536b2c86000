//! Which vCPU has a hart, and when another gets it.
//!
//! Real-time vCPUs have a home hart and wait in its own queue: highest priority first, or earliest deadline first. Those
//! with a reservation run until its budget is spent, and then wait for the release of their next job. Below them, ready
//! best-effort vCPUs of all harts share one queue, round robin within a priority, and go wherever a hart
//! is free. One that a real-time vCPU takes the hart from is held there for a while, as the hart is often free again soon;
//! then it goes back to the queue. The queues and reservations are `policy`'s; here is what their answers lead to.
//!
//! While a real-time vCPU runs, best-effort ones are seen to every now and then only: [`serve_best_effort`].
//!
//! A vCPU that has a hart to itself waits on it, in `wfi`, as on a machine of its own.
//!
//! A vCPU leaves a hart only through [`reschedule`], which the entry code calls when all its registers are
//! saved; from then on any hart may take it.

use crate::arch::{self, context, context::Context, csr, firmware};
use crate::console;
use crate::hart::{Hart, Levels, Local, running};
use crate::interrupt;
use crate::log::Line;
use crate::message;
use crate::migration;
use crate::page;
use crate::realtime;
use crate::system::system;
use crate::vcpu::{Body, State, Vcpu, Wait};
use core::cmp;
use core::hint::cold_path;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::{Class, limit};
use tactus_policy::deadline::Deadlines;
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
pub extern "C" fn hart_main(hart: &'static Hart) -> *const Context {
    context::initialise_hart(hart.shared);
    arch::fence_stage2();
    interrupt::initialise_hart(hart);
    // Safety: on this hart, no other reference in use.
    unsafe { hart.local() }.since = arch::now();
    // What was posted before the hart could be interrupted.
    interrupted(hart);
    search(hart)
}

/// The running vCPU `vcpu`, all of whose registers are saved, may have to leave the hart; returns the context that is
/// to be entered.
pub extern "C" fn reschedule(vcpu: &'static Vcpu) -> *const Context {
    let hart = vcpu.hart();
    put_back(hart, vcpu);
    let pending = arch::pending_interrupts();
    if pending != 0 && has_come(hart, pending) {
        serve(hart, pending);
    }
    match run_chosen(hart) {
        Some(context) => context,
        None => search(hart),
    }
}

/// Whether of the interrupts that are pending one has come while the hart was taken from its vCPU. The timer that led to that is due until it is set
/// for the next one.
#[inline]
fn has_come(hart: &'static Hart, pending: u64) -> bool {
    // Safety: on this hart, no other reference in use.
    let released = unsafe { hart.local() }.releases.earliest();
    released.is_some_and(|(at, _)| at <= arch::now())
        || pending & csr::SSI != 0 && hart.has_urgent_news()
}

/// The current vCPU waits for `why`; its trap handler then gives up the hart.
pub fn wait(vcpu: &'static Vcpu, why: Wait) {
    // Safety: it runs on this hart.
    unsafe { vcpu.body() }.wait = why;
    vcpu.set_state(State::Waiting);
}

/// The current vCPU waits for an interrupt, if none is there, or for its next job, if waiting ends the present one.
pub fn wait_for_interrupt(vcpu: &'static Vcpu) {
    // Safety: it runs on this hart.
    let account = &unsafe { vcpu.body() }.account;
    let periodic = account
        .as_ref()
        .is_some_and(|account| account.kind() == Kind::Periodic);
    if periodic || !context::guest_interrupt_pending() {
        wait(vcpu, Wait::Interrupt);
    }
}

/// Whether the current vCPU has to leave the hart.
pub fn must_leave(hart: &'static Hart) -> bool {
    // Safety: on this hart, no other reference in use.
    unsafe { hart.local() }.reschedule
}

/// Whether a real-time vCPU takes the hart from whoever has it, or had it.
pub fn has_chosen(hart: &'static Hart) -> bool {
    // Safety: on this hart, no other reference in use.
    unsafe { hart.local() }.next.is_some()
}

/// Between two pieces of long work in the current vCPU's time: serves what is pending. `false`: the vCPU has to leave the hart.
#[inline]
pub fn keeps_hart(hart: &'static Hart) -> bool {
    let pending = arch::pending_interrupts();
    if pending == 0 {
        return true;
    }
    serve(hart, pending);
    !must_leave(hart)
}

/// Serves what is pending, apart from the ways on which nothing is.
#[cold]
#[inline(never)]
fn serve(hart: &'static Hart, pending: u64) {
    interrupt::handle(hart, pending);
}

/// Takes the hart from the current vCPU and puts it where it belongs.
fn put_back(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use; likewise the body of the vCPU that runs on it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    let now = arch::now();
    // While its image is loaded, the registers in the hart are another's.
    if is_in(hart, local, vcpu, body) {
        if hart.levels != Levels::Any && vcpu.class == Class::BestEffort {
            migration::leaves(hart, local, vcpu, body);
        }
        if body.context.save() {
            local.fpu_unsaved = Some(vcpu);
        }
        if body.livelock.watched() {
            cold_path();
            context::watch(false);
            // Entered again, it is watched again.
            body.loaded_on = 0;
        }
    }
    account(hart, local, now, vcpu, body);
    body.slice_left = local.slice_end.saturating_sub(now);
    local.current = None;
    local.slice_end = u64::MAX;
    local.budget_end = u64::MAX;
    local.reschedule = false;
    let waits = vcpu.state_here() == State::Waiting;
    if vcpu.stop.load(Ordering::Relaxed) {
        cold_path();
        stop(hart, vcpu);
    } else if vcpu.class == Class::RealTime {
        if let Some(account) = &body.account
            && !waits
            && account.left() == 0
        {
            cut_off(local, vcpu, body, now);
            rest(hart, vcpu);
        } else if waits {
            if ends_job(body) {
                end_job(vcpu, body, now);
            }
            rest(hart, vcpu);
        } else {
            enqueue(hart, vcpu, Place::First);
        }
    } else if waits {
        rest(hart, vcpu);
    } else if local.next.is_some() {
        vcpu.set_state(State::Ready);
        local.held = Some(vcpu);
    } else {
        let goes = !vcpu.may_run_on(hart);
        if body.slice_left == 0 {
            enqueue(hart, vcpu, Place::Last);
        } else {
            enqueue(hart, vcpu, Place::First);
        }
        if goes {
            offer(hart, vcpu);
        }
    }
    // Those that wait for a fence of a running vCPU need not wait for this one any more.
    fence(Ordering::SeqCst);
    if vcpu.vm.fence_waiters.load(Ordering::Relaxed) & !vcpu.bit != 0 {
        cold_path();
        tell_fence_waiters(hart, vcpu);
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
fn cut_off(local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) {
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
fn rest(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use; it waits at home here.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    if vcpu.class == Class::RealTime && depart(hart, local, vcpu, body) {
        return;
    }
    let wakes_at = match body.wait {
        Wait::Interrupt => body.context.timer_deadline(),
        Wait::Release { at, .. } => Some(at),
        Wait::Message { until } => (until != u64::MAX).then_some(until),
        Wait::Start | Wait::Fences(..) => None,
    };
    if let Some(at) = wakes_at {
        match vcpu.class {
            Class::RealTime => local.releases.set(vcpu.handle, at),
            Class::BestEffort => local.deadlines.set(vcpu.handle, at),
        }
    }
    // Whoever has sent something since sees it waiting and tells this hart; what was sent before is seen here.
    fence(Ordering::SeqCst);
    if is_due(vcpu, body) {
        forget(local, vcpu);
        if make_ready(hart, vcpu) {
            offer(hart, vcpu);
        }
    }
}

/// A waiting vCPU is no longer woken by this hart.
fn forget(local: &mut Local, vcpu: &Vcpu) {
    match vcpu.class {
        Class::RealTime => {
            local.releases.clear(vcpu.handle);
            local.beginners[usize::from(vcpu.handle / 64)] &= !(1 << (vcpu.handle % 64));
        }
        Class::BestEffort => local.deadlines.clear(vcpu.handle),
    }
}

/// Carries out what admission has decided about a waiting real-time vCPU; `true`: it is another hart's now.
fn depart(hart: &'static Hart, local: &mut Local, vcpu: &'static Vcpu, body: &mut Body) -> bool {
    if vcpu.changes.load(Ordering::SeqCst) && vcpu.changes.swap(false, Ordering::SeqCst) {
        body.next = vcpu.promised();
        leave_reservation(hart, local);
    }
    if vcpu.moves.load(Ordering::SeqCst) == 0 {
        return false;
    }
    let to = vcpu.moves.swap(0, Ordering::SeqCst) as usize - 1;
    leave_reservation(hart, local);
    leave_fpu(local, vcpu);
    forget(local, vcpu);
    vcpu.move_to(to);
    system().harts[to].post(vcpu);
    true
}

/// A reservation that admission no longer counts on this hart has had its last job here.
fn leave_reservation(hart: &Hart, local: &mut Local) {
    hart.stale.store(true, Ordering::SeqCst);
    hart.leaving.fetch_sub(1, Ordering::SeqCst);
    // Perhaps nothing else is left, and others may begin.
    local.reschedule = true;
}

/// Makes the vCPUs that wait for fences, but for this one, look whether they still have to.
#[cold]
fn tell_fence_waiters(hart: &'static Hart, vcpu: &'static Vcpu) {
    let mut waiters = vcpu.vm.fence_waiters.load(Ordering::SeqCst) & !vcpu.bit;
    // At most one step for each vCPU of the VM.
    while waiters != 0 {
        let index = waiters.trailing_zeros() as usize;
        waiters &= waiters - 1;
        notify(hart, &vcpu.vm.vcpus()[index]);
    }
}

/// Whether the hart's registers are the vCPU's.
pub fn is_in(hart: &Hart, local: &Local, vcpu: &Vcpu, body: &Body) -> bool {
    body.loaded_on == hart.index + 1 && holds(local.loaded, vcpu)
}

/// Whether a slot of a hart's state holds this vCPU.
fn holds(slot: Option<&Vcpu>, vcpu: &Vcpu) -> bool {
    slot.is_some_and(|held| core::ptr::eq(held, vcpu))
}

fn account(hart: &Hart, local: &mut Local, now: u64, vcpu: &Vcpu, body: &mut Body) {
    let ticks = now - local.since;
    vcpu.vm.ticks[hart.index].fetch_add(ticks, Ordering::Relaxed);
    if let Some(account) = &mut body.account {
        account.charge(ticks);
    }
    local.since = now;
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
        Class::RealTime if hart.by_deadline => {
            vcpu.set_state(State::Ready);
            edf_insert(local, handle, u64::MAX - urgency(hart, vcpu));
        }
        Class::RealTime => {
            vcpu.set_state(State::Ready);
            if head {
                local.realtime.insert_head(handle, priority);
            } else {
                local.realtime.insert_tail(handle, priority);
            }
        }
        Class::BestEffort => {
            leave_fpu(local, vcpu);
            vcpu.set_state(State::Ready);
            let mut queue = system().best_effort.lock();
            if head {
                queue.insert_head(handle, priority);
            } else {
                queue.insert_tail(handle, priority);
            }
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
fn edf_take(local: &mut Local) -> Option<Handle> {
    local.edf.pop_until(u64::MAX)
}

/// Takes the ready real-time vCPU that comes first.
fn take_real_time(hart: &Hart, local: &mut Local) -> Option<&'static Vcpu> {
    let handle = if hart.by_deadline {
        edf_take(local)
    } else {
        local.realtime.pop()
    };
    handle.map(|handle| &system().vcpus[usize::from(handle)])
}

/// Whether a real-time vCPU waits for the hart.
fn real_time_waits(hart: &Hart, local: &Local) -> bool {
    local.next.is_some()
        || if hart.by_deadline {
            local.edf.earliest().is_some()
        } else {
            local.realtime.highest().is_some()
        }
}

/// The vCPU leaves this hart: so do its floating-point registers, if they are still here unsaved.
fn leave_fpu(local: &mut Local, vcpu: &Vcpu) {
    if holds(local.fpu_unsaved, vcpu) {
        local.fpu_unsaved = None;
        // Safety: the vCPU is still this hart's; no other reference in use.
        unsafe { vcpu.body() }.context.save_fpu();
    }
}

/// The current vCPU uses floating-point registers for the first time since it got the hart, perhaps.
pub fn take_fpu(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if let Some(owner) = local.fpu_unsaved {
        leave_fpu(local, owner);
    }
    // Safety: the vCPU runs on this hart, no other reference in use.
    let body = unsafe { vcpu.body() };
    body.context.load_fpu();
    body.fpu_on = hart.index + 1;
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
fn stop(hart: &'static Hart, vcpu: &'static Vcpu) {
    message::stopped(vcpu);
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    forget(local, vcpu);
    leave_fpu(local, vcpu);
    if vcpu.class == Class::RealTime {
        local.overruns[usize::from(vcpu.handle / 64)] &= !(1 << (vcpu.handle % 64));
        // What is admitted in its place is not to begin before its last job is forgotten.
        hart.stale.store(true, Ordering::SeqCst);
    }
    realtime::stopped(hart, vcpu);
    vcpu.vm.fence_waiters.fetch_and(!vcpu.bit, Ordering::SeqCst);
    if vcpu.vm.vcpu_stopped(vcpu) {
        local.concludes |= 1 << vcpu.vm.index;
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
fn conclude(hart: &'static Hart) -> bool {
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
            report_overruns(&system().vcpus[word * 64 + bit]);
            return true;
        }
    }
    if local.concludes == 0 {
        return false;
    }
    let index = local.concludes.trailing_zeros() as usize;
    // Before its last piece, which may start the VM anew, and end it again.
    local.concludes &= !(1 << index);
    if !system().vms[index].conclude(hart) {
        // Safety: as above.
        unsafe { hart.local() }.concludes |= 1 << index;
    }
    true
}

#[cold]
fn report_overruns(vcpu: &Vcpu) {
    Line::new()
        .begin("overrun")
        .text("vm", vcpu.vm.name)
        .number("vcpu", vcpu.index as u64)
        .number("count", vcpu.record.overruns.load(Ordering::Relaxed))
        .time()
        .send();
}

/// The hart has no real-time work: what admission has put in the place of what left it may begin. `true`: something does.
fn begin_reservations(hart: &'static Hart) -> bool {
    if !hart.stale.load(Ordering::SeqCst) || hart.leaving.load(Ordering::SeqCst) != 0 {
        return false;
    }
    hart.stale.store(false, Ordering::SeqCst);
    // Safety: on this hart, no other reference in use.
    let beginners = core::mem::take(&mut unsafe { hart.local() }.beginners);
    let mut any = false;
    for (word, mut bits) in beginners.into_iter().enumerate() {
        // At most one step for each vCPU.
        while bits != 0 {
            let handle = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            make_ready(hart, &system().vcpus[handle]);
            any = true;
        }
    }
    any
}

/// Whether what a vCPU waits for has come.
fn is_due(vcpu: &Vcpu, body: &Body) -> bool {
    match &body.wait {
        Wait::Start => true,
        Wait::Release { at, .. } => *at <= arch::now(),
        Wait::Message { until } => vcpu.message.load(Ordering::SeqCst) || *until <= arch::now(),
        Wait::Interrupt => {
            let software = vcpu.software.load(Ordering::SeqCst) && page::is_heard(vcpu);
            let external = vcpu.external.load(Ordering::SeqCst);
            body.context.wakes(software, external)
                || body
                    .context
                    .timer_deadline()
                    .is_some_and(|deadline| deadline <= arch::now())
        }
        Wait::Fences(targets, numbers) => {
            vcpu.vm.vcpus().iter().enumerate().all(|(index, target)| {
                let missing = numbers[index]
                    .wrapping_sub(target.fences_done.load(Ordering::SeqCst))
                    .cast_signed();
                // One that does not run does its fences before it runs again.
                targets >> index & 1 == 0 || missing <= 0 || target.state() != State::Running
            })
        }
    }
}

/// A waiting vCPU at home here is to run; its deadline is no longer kept. `true`: another hart might take it.
fn make_ready(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    // Safety: on this hart, no other reference in use; it waits at home here.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    if let Wait::Fences(..) = body.wait {
        cold_path();
        vcpu.vm.fence_waiters.fetch_and(!vcpu.bit, Ordering::SeqCst);
    }
    if body.account.is_some() && !release(hart, local, vcpu, body) {
        return false;
    }
    let runs = local
        .next
        .or(local.current)
        .map_or(0, |vcpu| urgency(hart, vcpu));
    let first = urgency(hart, vcpu) > runs;
    if first && vcpu.class == Class::RealTime {
        vcpu.set_state(State::Ready);
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
fn release(hart: &Hart, local: &mut Local, vcpu: &Vcpu, body: &mut Body) -> bool {
    let Some(account) = &mut body.account else {
        return true;
    };
    let now = arch::now();
    let begins = body.wait == Wait::Start || body.next.is_some();
    if begins && !hart.is_settled() {
        // As soon as nothing is left of the work that was here before.
        local.beginners[usize::from(vcpu.handle / 64)] |= 1 << (vcpu.handle % 64);
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
            match body.next.take() {
                Some(reservation) => account.renew_as(reservation, now),
                None => account.renew(now),
            }
            if answers {
                body.context.registers[11] = account.release();
            }
        }
        Wait::Interrupt | Wait::Message { .. } | Wait::Fences(..) => {
            if let Wake::At(at) = account.wake(now) {
                body.wait = Wait::Release { at, answers: false };
                local.releases.set(vcpu.handle, at);
                return false;
            }
        }
    }
    true
}

/// Finds another hart for a ready best-effort vCPU: an idle one, or one that runs something of lower priority.
#[cold]
fn offer(hart: &'static Hart, vcpu: &Vcpu) {
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
    } else if hart.levels != Levels::Any {
        migration::press(hart);
    }
}

/// Wakes the idle harts that may run what waits in the best-effort queue.
#[inline(never)]
fn spread(hart: &'static Hart) {
    let may_run = queued_harts();
    if may_run == 0 {
        return;
    }
    for other in system().harts {
        let idle = other.running.load(Ordering::Relaxed) == running::IDLE;
        if idle && other.index != hart.index && may_run >> other.index & 1 != 0 {
            other.offer();
        }
    }
    if hart.levels != Levels::Any {
        migration::press(hart);
    }
}

/// Takes a ready vCPU at home here from where it waits; `false`: another hart has just taken it.
fn unqueue(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if holds(local.held, vcpu) {
        local.held = None;
        return true;
    }
    if holds(local.next, vcpu) {
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

/// Enters the real-time vCPU that takes the hart, if there is one that can be entered at once.
#[inline]
fn run_chosen(hart: &'static Hart) -> Option<*const Context> {
    // Safety: on this hart, no other reference in use.
    let vcpu = unsafe { hart.local() }.next.take()?;
    // Safety: the vCPU is this hart's, no other reference in use.
    let unfinished = unsafe { vcpu.body() }.is_unfinished();
    if unfinished || vcpu.stop.load(Ordering::Relaxed) {
        cold_path();
        // It is first in its queue then.
        enqueue(hart, vcpu, Place::First);
        return None;
    }
    begin(hart, vcpu);
    Some(enter(hart, vcpu))
}

/// Chooses what runs now on this hart, waiting for work if there is none, and enters it.
#[inline(never)]
fn search(hart: &'static Hart) -> *const Context {
    let mut again = false;
    loop {
        let pending = arch::pending_interrupts();
        if pending != 0 {
            serve(hart, pending);
            if let Some(context) = run_chosen(hart) {
                return context;
            }
            // Work begins after a look that has found nothing; or after the second, since somebody may interrupt without pause.
            again = !again;
            if again {
                continue;
            }
        }
        if conclude(hart) {
            continue;
        }
        // Safety: on this hart, no other reference in use.
        if !real_time_waits(hart, unsafe { hart.local() }) {
            if hart.has_posts() {
                read_posts(hart);
                continue;
            }
            if begin_reservations(hart) {
                continue;
            }
        }
        let Some(vcpu) = take(hart) else {
            // Whatever asked for the hart has gone elsewhere.
            // Safety: on this hart, no other reference in use.
            unsafe { hart.local() }.reschedule = false;
            idle(hart);
            continue;
        };
        if vcpu.stop.load(Ordering::SeqCst) {
            stop(hart, vcpu);
            continue;
        }
        begin(hart, vcpu);
        if vcpu.class == Class::BestEffort {
            spread(hart);
        }
        // Who has asked it to stop before it had its home here has told another hart.
        let stops = vcpu.stop.load(Ordering::SeqCst);
        // Safety: the vCPU runs on this hart, no other reference in use.
        let unfinished = unsafe { vcpu.body() }.is_unfinished();
        if stops || unfinished && !finish(hart, vcpu) || !keeps_hart(hart) {
            put_back(hart, vcpu);
            continue;
        }
        let context = enter(hart, vcpu);
        if hart.levels != Levels::Any {
            migration::make_way(hart);
            if must_leave(hart) {
                put_back(hart, vcpu);
                continue;
            }
        }
        return context;
    }
}

/// Takes the vCPU that is to run from where it waits.
fn take(hart: &'static Hart) -> Option<&'static Vcpu> {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if let Some(vcpu) = local.next.take() {
        return Some(vcpu);
    }
    if let Some(vcpu) = take_real_time(hart, local) {
        return Some(vcpu);
    }
    if hart.is_user_only()
        && let Some(held) = local.held.take_if(|held| !held.may_run_on(hart))
    {
        enqueue(hart, held, Place::First);
        offer(hart, held);
    }
    let vcpus = system().vcpus;
    let mut queue = system().best_effort.lock();
    if let Some(held) = local.held.take() {
        // Safety: it is this hart's, no other reference in use.
        let slice_left = unsafe { held.body() }.slice_left > 0;
        let others = queue.highest().map(|highest| highest.cmp(&held.priority));
        match others {
            None | Some(cmp::Ordering::Less) => return Some(held),
            Some(cmp::Ordering::Equal) if slice_left => return Some(held),
            Some(_) => {}
        }
        leave_fpu(local, held);
        if slice_left {
            queue.insert_head(held.handle, held.priority);
        } else {
            queue.insert_tail(held.handle, held.priority);
        }
    }
    let here = |handle: Handle| vcpus[usize::from(handle)].may_run_on(hart);
    let (handle, _) = queue.pop_where(here)?;
    Some(&vcpus[usize::from(handle)])
}

/// Nothing to do until an interrupt comes.
#[inline(never)]
fn idle(hart: &'static Hart) {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    program_timer(local);
    local.since = arch::now();
    if local.admits != Class::BestEffort {
        local.admits = Class::BestEffort;
        interrupt::admit(hart, Class::BestEffort);
    }
    if console::has_unsent() {
        let room = console::pump();
        crate::vm::tell_room(hart, room);
    } else {
        wait_for_work(hart);
    }
    // Safety: as above.
    let local = unsafe { hart.local() };
    let now = arch::now();
    hart.idle_ticks
        .fetch_add(now - local.since, Ordering::Relaxed);
    local.since = now;
}

/// Waits, known to be idle, for an interrupt.
fn wait_for_work(hart: &'static Hart) {
    hart.running.store(running::IDLE, Ordering::SeqCst);
    if hart.is_user_only() {
        migration::press(hart);
    }
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if let Some((_, handle)) = local.releases.earliest() {
        // Whose job is released next will not have to wait for its registers.
        let vcpu = &system().vcpus[usize::from(handle)];
        // Safety: it waits at home here, no other reference in use.
        load(hart, local, vcpu, unsafe { vcpu.body() });
    }
    if context::guest_interrupt_pending() {
        // The last guest's, which runs elsewhere or nowhere; it would end every wait.
        context::mask_guest_interrupts();
        // Safety: on this hart, no other reference in use.
        unsafe { hart.local() }.loaded = None;
    }
    // What was queued before others could see this hart idle is seen here.
    let nothing_here = queued_harts() >> hart.index & 1 == 0 && !hart.has_posts();
    if arch::pending_interrupts() == 0 && nothing_here {
        arch::wait_for_interrupt();
    }
}

/// Harts, as bits, that may run a vCPU of the best-effort queue.
#[inline(never)]
fn queued_harts() -> u64 {
    let vcpus = system().vcpus;
    let mut queue = system().best_effort.lock();
    let mut harts = 0;
    // At most one step for each vCPU.
    queue.pop_where(|handle| {
        harts |= vcpus[usize::from(handle)].reach();
        false
    });
    harts
}

/// The hart is the vCPU's from now on.
fn begin(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use; the vCPU has just been taken by it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    vcpu.settle(hart);
    hart.running.store(vcpu.precedence, Ordering::Relaxed);
    // From here on senders see who runs, and what they have sent before is seen here.
    fence(Ordering::SeqCst);
    let now = arch::now();
    if local.admits != vcpu.class {
        local.admits = vcpu.class;
        interrupt::admit(hart, vcpu.class);
        match vcpu.class {
            Class::RealTime => {
                // From here on nobody else interrupts it for best-effort vCPUs; what has been sent for them before waits, too.
                arch::clear_software_interrupt();
                if hart.has_urgent_news() {
                    arch::raise_software_interrupt();
                }
                local.service_at = local.service_at.max(now + system().hold_ticks);
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
    local.slice_end = now + body.slice_left;
    if let Some(account) = &body.account {
        local.budget_end = now + account.left();
    }
    program_timer(local);
}

/// Goes on with what the vCPU has to do before it is entered. `false`: it has to leave the hart.
#[cold]
fn finish(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    load_image(hart, vcpu) && finish_calls(hart, vcpu)
}

/// Goes on with the vCPU's calls that take long. `false`: it has to leave the hart.
pub fn finish_calls(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    realtime::go_on(hart, vcpu) && message::go_on(hart, vcpu)
}

/// Loads the VM's image, which is what its boot vCPU has to do first. `false`: it has to leave the hart.
fn load_image(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    // Safety: the vCPU runs on this hart, no other reference in use.
    while unsafe { vcpu.body() }.loader.is_some() {
        if !keeps_hart(hart) {
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

/// Puts the current vCPU into the hart's registers, but for those that are loaded last.
fn enter(hart: &'static Hart, vcpu: &'static Vcpu) -> *const Context {
    // Safety: on this hart, no other reference in use; the vCPU runs on it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    load(hart, local, vcpu, body);
    let context = &raw const body.context;
    take_notice(hart, vcpu);
    context
}

/// Puts a vCPU of this hart into the hart's control and status registers, if it is not there.
#[inline(never)]
fn load(hart: &Hart, local: &mut Local, vcpu: &'static Vcpu, body: &mut Body) {
    if is_in(hart, local, vcpu, body) {
        return;
    }
    let here = hart.index + 1;
    let came = body.loaded_on != here;
    let fpu_ready = local.fpu_owner == Some(vcpu.handle) && body.fpu_on == here;
    body.context.load(hart.stack_top, fpu_ready);
    if body.livelock.watched() {
        cold_path();
        context::watch(true);
    }
    confine(hart, vcpu);
    body.loaded_on = here;
    local.loaded = Some(vcpu);
    let number = vcpu.index as u8 + 1;
    let last = &mut local.last_vcpu[vcpu.vm.index];
    if core::mem::replace(last, number) != number || came {
        cold_path();
        // Cached translations and instructions are another vCPU's of the same VM, or this one's of a time before it
        // changed them elsewhere.
        arch::fence_guest_translations();
        arch::fence_instructions();
    }
}

/// Gives the current vCPU what has been sent to it. After a full fence.
fn take_notice(hart: &'static Hart, vcpu: &'static Vcpu) {
    if vcpu.software.load(Ordering::Relaxed)
        && vcpu.software.swap(false, Ordering::SeqCst)
        && page::deliver(vcpu)
    {
        context::raise_software();
    }
    context::set_external(vcpu.external.load(Ordering::Relaxed));
    if vcpu.fences_asked.load(Ordering::Relaxed) != vcpu.fences_done.load(Ordering::Relaxed) {
        do_fences(hart, vcpu);
    }
}

/// Does the fences that others have asked of the current vCPU, and tells those that wait for it.
#[cold]
fn do_fences(hart: &'static Hart, vcpu: &'static Vcpu) {
    let asked = vcpu.fences_asked.load(Ordering::SeqCst);
    arch::fence_guest_translations();
    arch::fence_instructions();
    vcpu.fences_done.store(asked, Ordering::SeqCst);
    tell_fence_waiters(hart, vcpu);
}

/// Something has been sent to a vCPU: makes its home look, now.
pub fn notify(hart: &'static Hart, vcpu: &'static Vcpu) {
    fence(Ordering::SeqCst);
    let home = vcpu.home();
    if home == hart.index {
        look(hart, vcpu);
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
fn look(hart: &'static Hart, vcpu: &'static Vcpu) {
    match vcpu.state_here() {
        State::Running => {
            // Safety: on this hart, no other reference in use.
            let local = unsafe { hart.local() };
            if !holds(local.current, vcpu) {
                return;
            }
            if vcpu.stop.load(Ordering::Relaxed) {
                local.reschedule = true;
            }
            // Safety: it runs on this hart, no other reference in use.
            if is_in(hart, local, vcpu, unsafe { vcpu.body() }) {
                take_notice(hart, vcpu);
            }
        }
        State::Waiting => {
            if vcpu.stop.load(Ordering::Relaxed) {
                // Safety: on this hart, no other reference in use.
                let local = unsafe { hart.local() };
                if holds(local.current, vcpu) {
                    // About to leave the hart; it is stopped then.
                    return;
                }
                stop(hart, vcpu);
                return;
            }
            // Safety: it waits at home on this hart, no other reference in use.
            let (local, body) = unsafe { (hart.local(), vcpu.body()) };
            // Real-time vCPUs may just have come here, or may have to go.
            let leaving = holds(local.current, vcpu);
            if !leaving && vcpu.class == Class::RealTime {
                rest(hart, vcpu);
            } else if !leaving && is_due(vcpu, body) {
                forget(local, vcpu);
                if make_ready(hart, vcpu) {
                    offer(hart, vcpu);
                }
            }
        }
        State::Ready => {
            if vcpu.stop.load(Ordering::Relaxed) && unqueue(hart, vcpu) {
                stop(hart, vcpu);
            }
            // It takes notice of anything else when it is entered.
        }
        State::Stopped => {}
    }
}

/// Serves an interrupt from another hart.
#[inline(never)]
pub fn interrupted(hart: &'static Hart) {
    arch::clear_software_interrupt();
    // What is passed or posted from now on interrupts anew.
    if let Some(doorbell) = hart.take_doorbell() {
        doorbell.sound(hart);
    }
    if hart.has_posts_or_offers() {
        cold_path();
        read_posts(hart);
        if hart.take_offer() {
            consider(hart);
        }
    }
}

/// Makes room for a best-effort vCPU that nobody has taken yet, if it comes before what runs here.
fn consider(hart: &'static Hart) {
    let highest = system().best_effort.lock().highest();
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let runs = local.current.map_or(running::IDLE, |vcpu| vcpu.precedence);
    if highest.is_some_and(|priority| running::BEST_EFFORT + u32::from(priority) > runs) {
        local.reschedule = true;
    } else if hart.levels != Levels::Any {
        migration::make_way(hart);
    }
}

/// Looks at the vCPUs at home here that have news.
fn read_posts(hart: &'static Hart) {
    for (word, mut posted) in hart.receive().into_iter().enumerate() {
        // At most one step for each vCPU.
        while posted != 0 {
            let handle = word * 64 + posted.trailing_zeros() as usize;
            posted &= posted - 1;
            notify(hart, &system().vcpus[handle]);
        }
    }
}

/// Serves the hart's timer.
pub fn timer(hart: &'static Hart) {
    let now = arch::now();
    loop {
        // Safety: on this hart, no other reference in use.
        let local = unsafe { hart.local() };
        // At most one step for each vCPU at home here.
        let Some(handle) = local.releases.pop_until(now) else {
            break;
        };
        make_ready(hart, &system().vcpus[usize::from(handle)]);
    }
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if now >= local.budget_end {
        cold_path();
        local.reschedule = true;
    }
    // A real-time vCPU that is to run comes first.
    if local.next.is_none() && !(local.reschedule && undisturbed(local)) {
        if !undisturbed(local) || now >= local.service_at {
            serve_best_effort(hart, now);
        }
        // Safety: as above.
        let local = unsafe { hart.local() };
        // Otherwise the timer is set when the next vCPU begins.
        if !local.reschedule {
            program_timer(local);
        }
    }
}

/// Whether the current vCPU is a real-time one that shares its hart: it is held up for nothing that can wait.
fn undisturbed(local: &Local) -> bool {
    local
        .current
        .is_some_and(|vcpu| vcpu.class == Class::RealTime && vcpu.hart().shared)
}

/// Sees to best-effort vCPUs, and to text. While a real-time vCPU runs, this is done once in a service period at most, and
/// admission counts it in.
#[inline(never)]
fn serve_best_effort(hart: &'static Hart, now: u64) {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let real_time = undisturbed(local);
    let mut for_others = false;
    if real_time {
        local.service_at = now + system().service_ticks;
        if let Some(held) = local.held.take() {
            enqueue(hart, held, Place::First);
            for_others = true;
        }
        if hart.has_posts() {
            read_posts(hart);
        }
    }
    loop {
        // Safety: as above.
        let local = unsafe { hart.local() };
        // At most one step for each vCPU at home here.
        let Some(handle) = local.deadlines.pop_until(now) else {
            break;
        };
        for_others |= make_ready(hart, &system().vcpus[usize::from(handle)]);
    }
    if for_others {
        spread(hart);
    }
    if console::has_unsent() && !real_time {
        let room = console::pump();
        crate::vm::tell_room(hart, room);
    }
    // Safety: as above.
    let local = unsafe { hart.local() };
    if now >= local.slice_end {
        slice_ended(hart, local, now);
    }
}

/// The current vCPU has used up its slice.
#[cold]
fn slice_ended(hart: &Hart, local: &mut Local, now: u64) {
    let Some(vcpu) = local.current else {
        local.slice_end = u64::MAX;
        return;
    };
    // Safety: it runs on this hart, no other reference in use.
    let body = unsafe { vcpu.body() };
    if is_in(hart, local, vcpu, body) {
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
        local.slice_end = now;
        local.reschedule = true;
    } else {
        local.slice_end = now + system().blob.header.slice_ticks;
    }
}

/// Sets the hart's timer to what comes first.
fn program_timer(local: &mut Local) {
    fn earliest(deadlines: &Deadlines<{ limit::VCPUS }>) -> u64 {
        deadlines
            .earliest()
            .map_or(u64::MAX, |(deadline, _)| deadline)
    }
    let mut next = earliest(&local.releases).min(local.budget_end);
    if undisturbed(local) {
        next = next.min(local.service_at);
    } else {
        next = next.min(earliest(&local.deadlines)).min(local.slice_end);
        if console::has_unsent() {
            next = next.min(arch::now() + system().text_ticks);
        }
    }
    if next != local.timer {
        local.timer = next;
        arch::set_timer(next);
    }
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
