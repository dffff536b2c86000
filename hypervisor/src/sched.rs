//! Which vCPU has a hart, and when another gets it.
//!
//! Real-time vCPUs stay on their hart, in its own queue, highest priority first. Below them, ready
//! best-effort vCPUs of all harts share one queue, round robin within a priority, and go wherever a hart
//! is free. One that a real-time vCPU takes the hart from is held there for a while, as the hart is often free again soon;
//! then it goes back to the queue. The queues are `policy`'s; here is what their answers lead to.
//!
//! A vCPU that has a hart to itself waits on it, in `wfi`, as on a machine of its own.
//!
//! A vCPU leaves a hart only through [`reschedule`], which the entry code calls when all its registers are
//! saved; from then on any hart may take it.

use crate::arch::{self, context, context::Context, firmware};
use crate::console;
use crate::hart::{Hart, Local, running};
use crate::interrupt;
use crate::log::Line;
use crate::system::system;
use crate::vcpu::{Body, State, Vcpu, Wait};
use crate::vm::Vm;
use core::cmp;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::Class;
use tactus_policy::livelock::Exception;
use tactus_policy::ready::{Handle, ReadyQueue};

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
    run_next(hart)
}

/// The running vCPU `vcpu`, all of whose registers are saved, may have to leave the hart; returns the context that is
/// to be entered.
pub extern "C" fn reschedule(vcpu: &'static Vcpu) -> *const Context {
    let hart = vcpu.hart();
    put_back(hart, vcpu);
    run_next(hart)
}

/// The current vCPU waits for `why`; its trap handler then gives up the hart.
pub fn wait(vcpu: &'static Vcpu, why: Wait) {
    // Safety: it runs on this hart.
    unsafe { vcpu.body() }.wait = why;
    vcpu.set_state(State::Waiting);
}

/// Whether the current vCPU has to leave the hart.
pub fn must_leave(hart: &'static Hart) -> bool {
    // Safety: on this hart, no other reference in use.
    unsafe { hart.local() }.reschedule
}

/// Takes the hart from the current vCPU and puts it where it belongs.
fn put_back(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use; likewise the body of the vCPU that runs on it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    let now = arch::now();
    // While its image is loaded, the registers in the hart are another's.
    if is_in(hart, local, vcpu, body) {
        if body.context.save() {
            local.fpu_unsaved = Some(vcpu);
        }
        if body.livelock.watched() {
            context::watch(false);
            // Entered again, it is watched again.
            body.loaded_on = 0;
        }
    }
    account(hart, local, now, vcpu);
    body.slice_left = local.slice_end.saturating_sub(now);
    local.current = None;
    local.slice_end = u64::MAX;
    local.reschedule = false;
    if vcpu.stop.load(Ordering::SeqCst) {
        stop(hart, vcpu);
    } else if vcpu.state() == State::Waiting {
        if let Some(deadline) = body.context.timer_deadline()
            && body.wait == Wait::Interrupt
        {
            local.deadlines.set(vcpu.handle, deadline);
        }
        // Whoever has sent something since sees it waiting and tells this hart; what was sent before is seen here.
        fence(Ordering::SeqCst);
        if is_due(vcpu, body) {
            local.deadlines.clear(vcpu.handle);
            if make_ready(hart, vcpu) {
                offer(hart, vcpu);
            }
        }
    } else if vcpu.class == Class::RealTime {
        enqueue(local, vcpu, Place::First);
    } else if local.next.is_some() {
        vcpu.set_state(State::Ready);
        local.held = Some(vcpu);
        local.offer_at = local.offer_at.min(now + system().hold_ticks);
    } else if body.slice_left == 0 {
        enqueue(local, vcpu, Place::Last);
    } else {
        enqueue(local, vcpu, Place::First);
    }
    // Those that wait for a fence of a running vCPU need not wait for this one any more.
    if vcpu.vm.fence_waiters.load(Ordering::SeqCst) & !(1 << vcpu.index) != 0 {
        tell_fence_waiters(hart, vcpu);
    }
}

/// Makes the vCPUs that wait for fences, but for this one, look whether they still have to.
#[cold]
fn tell_fence_waiters(hart: &'static Hart, vcpu: &'static Vcpu) {
    let mut waiters = vcpu.vm.fence_waiters.load(Ordering::SeqCst) & !(1 << vcpu.index);
    // At most one step for each vCPU of the VM.
    while waiters != 0 {
        let index = waiters.trailing_zeros() as usize;
        waiters &= waiters - 1;
        notify(hart, &vcpu.vm.vcpus()[index]);
    }
}

/// Whether the hart's registers are the vCPU's.
fn is_in(hart: &Hart, local: &Local, vcpu: &Vcpu, body: &Body) -> bool {
    body.loaded_on == hart.index + 1 && holds(local.loaded, vcpu)
}

/// Whether a slot of a hart's state holds this vCPU.
fn holds(slot: Option<&Vcpu>, vcpu: &Vcpu) -> bool {
    slot.is_some_and(|held| core::ptr::eq(held, vcpu))
}

fn account(hart: &Hart, local: &mut Local, now: u64, vcpu: &Vcpu) {
    vcpu.vm.ticks[hart.index].fetch_add(now - local.since, Ordering::Relaxed);
    local.since = now;
}

/// Puts a vCPU into its queue; from then on it belongs to no hart, if it is a best-effort one.
fn enqueue(local: &mut Local, vcpu: &'static Vcpu, place: Place) {
    if vcpu.class == Class::BestEffort {
        leave_fpu(local, vcpu);
    }
    vcpu.set_state(State::Ready);
    let (handle, priority) = (vcpu.handle, vcpu.priority);
    let head = place == Place::First;
    match vcpu.class {
        Class::RealTime if head => local.realtime.insert_head(handle, priority),
        Class::RealTime => local.realtime.insert_tail(handle, priority),
        Class::BestEffort if head => {
            system().best_effort.lock().insert_head(handle, priority);
        }
        Class::BestEffort => system().best_effort.lock().insert_tail(handle, priority),
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
}

/// A vCPU of this hart, which does not run, stops.
fn stop(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    local.deadlines.clear(vcpu.handle);
    leave_fpu(local, vcpu);
    vcpu.vm
        .fence_waiters
        .fetch_and(!(1 << vcpu.index), Ordering::SeqCst);
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
    let busy = local.next.is_some() || local.realtime.highest().is_some();
    if busy || local.concludes == 0 {
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

/// Whether what a vCPU waits for has come.
fn is_due(vcpu: &Vcpu, body: &Body) -> bool {
    match &body.wait {
        Wait::Start => true,
        Wait::Interrupt => {
            let software = vcpu.software.load(Ordering::SeqCst);
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
        vcpu.vm
            .fence_waiters
            .fetch_and(!(1 << vcpu.index), Ordering::SeqCst);
    }
    let runs = local
        .next
        .or(local.current)
        .map_or(running::IDLE, |vcpu| vcpu.precedence);
    let first = vcpu.precedence > runs;
    if first && vcpu.class == Class::RealTime {
        vcpu.set_state(State::Ready);
        if let Some(other) = local.next.replace(vcpu) {
            enqueue(local, other, Place::First);
        }
    } else {
        enqueue(local, vcpu, Place::Last);
    }
    if first {
        local.reschedule = true;
    }
    !first && vcpu.class == Class::BestEffort
}

/// Finds another hart for a ready best-effort vCPU: an idle one, or one that runs something of lower priority.
#[cold]
fn offer(hart: &Hart, vcpu: &Vcpu) {
    let others = system()
        .harts
        .iter()
        .filter(|other| other.index != hart.index && vcpu.harts >> other.index & 1 != 0);
    let mut best: Option<(&Hart, u32)> = None;
    for other in others {
        let runs = other.running.load(Ordering::Relaxed);
        if runs < best.map_or(vcpu.precedence, |(_, runs)| runs) {
            best = Some((other, runs));
        }
    }
    if let Some((other, _)) = best {
        other.interrupt();
    }
}

/// Wakes the idle harts that may run what waits in the best-effort queue.
fn spread(hart: &Hart) {
    let may_run = queued_harts();
    if may_run == 0 {
        return;
    }
    for other in system().harts {
        let idle = other.running.load(Ordering::Relaxed) == running::IDLE;
        if idle && other.index != hart.index && may_run >> other.index & 1 != 0 {
            other.interrupt();
        }
    }
}

/// Takes a ready vCPU at home here from where it waits; `false`: another hart has just taken it.
fn unqueue(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if holds(local.held, vcpu) {
        local.held = None;
        local.offer_at = u64::MAX;
        return true;
    }
    if holds(local.next, vcpu) {
        local.next = None;
        return true;
    }
    match vcpu.class {
        Class::RealTime => local.realtime.remove(vcpu.handle),
        Class::BestEffort => system().best_effort.lock().remove(vcpu.handle),
    }
}

/// Chooses what runs now on this hart, waiting for work if there is none, and enters it.
fn run_next(hart: &'static Hart) -> *const Context {
    // Safety: on this hart, no other reference in use.
    if let Some(vcpu) = unsafe { hart.local() }.next.take() {
        // Safety: the vCPU is this hart's, no other reference in use.
        let loads = unsafe { vcpu.body() }.loader.is_some();
        if !loads && !vcpu.stop.load(Ordering::SeqCst) {
            begin(hart, vcpu);
            return enter(hart, vcpu);
        }
        // It is first in its queue then.
        // Safety: as above.
        enqueue(unsafe { hart.local() }, vcpu, Place::First);
    }
    search(hart)
}

/// As [`run_next`], when nothing has been decided.
#[inline(never)]
fn search(hart: &'static Hart) -> *const Context {
    loop {
        if arch::pending_interrupts() != 0 {
            interrupt::handle(hart);
        }
        if conclude(hart) {
            continue;
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
        let loads = unsafe { vcpu.body() }.loader.is_some();
        if stops || loads && !load_image(hart, vcpu) {
            put_back(hart, vcpu);
            continue;
        }
        return enter(hart, vcpu);
    }
}

/// Takes the vCPU that is to run from where it waits.
fn take(hart: &'static Hart) -> Option<&'static Vcpu> {
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if let Some(vcpu) = local.next.take() {
        return Some(vcpu);
    }
    let vcpus = system().vcpus;
    if let Some(handle) = local.realtime.pop() {
        return Some(&vcpus[usize::from(handle)]);
    }
    let mut queue = system().best_effort.lock();
    if let Some(held) = local.held.take() {
        local.offer_at = u64::MAX;
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
    let here = |handle: Handle| vcpus[usize::from(handle)].harts >> hart.index & 1 != 0;
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
fn wait_for_work(hart: &Hart) {
    hart.running.store(running::IDLE, Ordering::SeqCst);
    if context::guest_interrupt_pending() {
        // The last guest's, which runs elsewhere or nowhere; it would end every wait.
        context::mask_guest_interrupts();
        // Safety: on this hart, no other reference in use.
        unsafe { hart.local() }.loaded = None;
    }
    // What was queued before others could see this hart idle is seen here.
    if arch::pending_interrupts() == 0 && queued_harts() >> hart.index & 1 == 0 {
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
        harts |= vcpus[usize::from(handle)].harts;
        false
    });
    harts
}

/// The hart is the vCPU's from now on.
fn begin(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: on this hart, no other reference in use; the vCPU has just been taken by it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    vcpu.settle(hart);
    vcpu.set_state(State::Running);
    hart.running.store(vcpu.precedence, Ordering::SeqCst);
    if local.admits != vcpu.class {
        local.admits = vcpu.class;
        interrupt::admit(hart, vcpu.class);
    }
    local.current = Some(vcpu);
    local.reschedule = false;
    let now = arch::now();
    local.since = now;
    if body.slice_left == 0 {
        body.slice_left = system().blob.header.slice_ticks;
    }
    local.slice_end = now + body.slice_left;
    program_timer(local);
}

/// Loads the VM's image, which is what its boot vCPU has to do first. `false`: it has to leave the hart.
#[cold]
fn load_image(hart: &'static Hart, vcpu: &'static Vcpu) -> bool {
    loop {
        // Safety: the vCPU runs on this hart, no other reference in use.
        let body = unsafe { vcpu.body() };
        let Some(loader) = &mut body.loader else {
            return true;
        };
        if loader.step(vcpu.vm, &system().blob) {
            body.loader = None;
            vcpu.vm.loaded();
        }
        if arch::pending_interrupts() != 0 {
            interrupt::handle(hart);
            if must_leave(hart) {
                return false;
            }
        }
    }
}

/// Puts the current vCPU into the hart's registers.
fn enter(hart: &'static Hart, vcpu: &'static Vcpu) -> *const Context {
    // Safety: on this hart, no other reference in use; the vCPU runs on it.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    if !is_in(hart, local, vcpu, body) {
        let here = hart.index + 1;
        let came = body.loaded_on != here;
        let fpu_ready = local.fpu_owner == Some(vcpu.handle) && body.fpu_on == here;
        body.context.load(hart.stack_top, fpu_ready);
        if body.livelock.watched() {
            context::watch(true);
        }
        body.loaded_on = here;
        local.loaded = Some(vcpu);
        let number = vcpu.index as u8 + 1;
        let last = &mut local.last_vcpu[vcpu.vm.index];
        if core::mem::replace(last, number) != number || came {
            // Cached translations and instructions are another vCPU's of the same VM, or this one's of a time before it
            // changed them elsewhere.
            arch::fence_guest_translations();
            arch::fence_instructions();
        }
    }
    let context = &raw const body.context;
    take_notice(hart, vcpu);
    context
}

/// Gives the current vCPU what has been sent to it.
fn take_notice(hart: &'static Hart, vcpu: &'static Vcpu) {
    if vcpu.software.load(Ordering::SeqCst) && vcpu.software.swap(false, Ordering::SeqCst) {
        context::raise_software();
    }
    context::set_external(vcpu.external.load(Ordering::SeqCst));
    if vcpu.fences_asked.load(Ordering::SeqCst) != vcpu.fences_done.load(Ordering::Relaxed) {
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
        system().harts[home].post(vcpu.handle);
    }
}

/// Looks at what has been sent to a vCPU at home here.
fn look(hart: &'static Hart, vcpu: &'static Vcpu) {
    match vcpu.state() {
        State::Running => {
            // Safety: on this hart, no other reference in use.
            let local = unsafe { hart.local() };
            if !holds(local.current, vcpu) {
                return;
            }
            if vcpu.stop.load(Ordering::SeqCst) {
                local.reschedule = true;
            }
            // Safety: it runs on this hart, no other reference in use.
            if is_in(hart, local, vcpu, unsafe { vcpu.body() }) {
                take_notice(hart, vcpu);
            }
        }
        State::Waiting => {
            if vcpu.stop.load(Ordering::SeqCst) {
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
            let leaving = holds(local.current, vcpu);
            if !leaving && is_due(vcpu, body) {
                local.deadlines.clear(vcpu.handle);
                if make_ready(hart, vcpu) {
                    offer(hart, vcpu);
                }
            }
        }
        State::Ready => {
            if vcpu.stop.load(Ordering::SeqCst) && unqueue(hart, vcpu) {
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
    // What is posted from now on interrupts again.
    for (word, mut posted) in hart.receive().into_iter().enumerate() {
        // At most one step for each vCPU.
        while posted != 0 {
            let handle = word * 64 + posted.trailing_zeros() as usize;
            posted &= posted - 1;
            notify(hart, &system().vcpus[handle]);
        }
    }
    // Perhaps it was about a best-effort vCPU that nobody has taken yet.
    let highest = system().best_effort.lock().highest();
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    let runs = local.current.map_or(running::IDLE, |vcpu| vcpu.precedence);
    if highest.is_some_and(|priority| running::BEST_EFFORT + u32::from(priority) > runs) {
        local.reschedule = true;
    }
}

/// Serves the hart's timer.
pub fn timer(hart: &'static Hart) {
    let now = arch::now();
    let mut for_others = false;
    loop {
        // Safety: on this hart, no other reference in use.
        let local = unsafe { hart.local() };
        // At most one step for each vCPU at home here.
        let Some(handle) = local.deadlines.pop_until(now) else {
            break;
        };
        for_others |= make_ready(hart, &system().vcpus[usize::from(handle)]);
    }
    // Safety: on this hart, no other reference in use.
    let local = unsafe { hart.local() };
    if local.next.is_some() {
        // A real-time vCPU comes first; the rest may have to be seen to while it runs.
        if for_others {
            local.offer_at = local.offer_at.min(now + system().hold_ticks);
        }
        return;
    }
    if for_others {
        spread(hart);
    }
    if console::has_unsent() {
        let room = console::pump();
        crate::vm::tell_room(hart, room);
    }
    // Safety: as above.
    let local = unsafe { hart.local() };
    if now >= local.offer_at {
        release_held(hart, local);
    }
    if now >= local.slice_end {
        slice_ended(hart, local, now);
    }
    // Otherwise the timer is set when the next vCPU begins.
    if !local.reschedule {
        program_timer(local);
    }
}

/// What best-effort vCPUs wait here has waited long enough: any hart may take them.
#[cold]
fn release_held(hart: &Hart, local: &mut Local) {
    local.offer_at = u64::MAX;
    if let Some(held) = local.held.take() {
        enqueue(local, held, Place::First);
    }
    spread(hart);
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
    let wake = local
        .deadlines
        .earliest()
        .map_or(u64::MAX, |(deadline, _)| deadline);
    let mut next = wake.min(local.slice_end).min(local.offer_at);
    // A real-time vCPU that shares its hart is not held up by text: others send it when it waits.
    let undisturbed = local
        .current
        .is_some_and(|vcpu| vcpu.class == Class::RealTime && vcpu.hart().shared);
    if !undisturbed && console::has_unsent() {
        next = next.min(arch::now() + system().text_ticks);
    }
    if next != local.timer {
        local.timer = next;
        arch::set_timer(next);
    }
}

/// A VM has gone off. With the last one the machine does.
pub fn vm_is_off(vm: &Vm) {
    let system = system();
    if system.vms_on.fetch_sub(1, Ordering::SeqCst) > 1 {
        vm_usage(vm);
        return;
    }
    for vm in system.vms {
        vm_usage(vm);
        console::flush();
    }
    for hart in system.harts {
        let ticks = hart.idle_ticks.load(Ordering::Relaxed);
        usage(&mut Line::new("usage idle"), hart, ticks);
        console::flush();
    }
    let lost = console::take_lost();
    if lost > 0 {
        Line::new("lost")
            .number("stream", 0)
            .number("bytes", lost.into())
            .send();
    }
    Line::new("end").time().send();
    console::flush();
    firmware::power_off();
}

fn vm_usage(vm: &Vm) {
    for hart in system().harts {
        let ticks = vm.ticks[hart.index].load(Ordering::Relaxed);
        if ticks > 0 {
            usage(Line::new("usage").text("vm", vm.name), hart, ticks);
        }
    }
}

fn usage(line: &mut Line, hart: &Hart, ticks: u64) {
    line.number("hart", hart.index as u64)
        .number("ticks", ticks)
        .send();
}
