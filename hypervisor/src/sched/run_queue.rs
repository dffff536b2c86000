//! Ready vCPUs: real-time ones in their home hart's queue, best-effort ones in the queue that all harts share.

use super::fpu;
use crate::body::Body;
use crate::hart::Hart;
use crate::hart::context::{HartCtx, Local, is_same};
use crate::migration;
use crate::system::{System, system};
use crate::vm::vcpu::State;
use crate::vm::{Bodies, Vcpu};
use core::sync::atomic::Ordering;
use tactus_abi::blob::Class;
use tactus_policy::ready::{Handle, ReadyQueue};
use tactus_policy::reservation::Account;
use tactus_policy::schedule::{self, Affinity, End, Runs, precedence};

/// Whether one of two vCPUs of a class, which this hart owns, comes before the other here.
#[inline]
pub fn comes_before(cx: &mut HartCtx, vcpu: &'static Vcpu, other: &'static Vcpu) -> bool {
    schedule::comes_before(
        (vcpu.class == Class::RealTime) & cx.local.hart.by_deadline,
        [vcpu.precedence, other.precedence],
        || cx.bodies.of_two(vcpu, other).map(|body| deadline(body)),
    )
}

/// The deadline of a real-time vCPU's job.
#[inline(always)]
fn deadline(body: &Body) -> u64 {
    body.account.as_ref().map_or(u64::MAX, Account::deadline)
}

/// Puts a vCPU that this hart owns into its queue. A best-effort one is no hart's from then on (protocol V1).
pub fn enqueue(cx: &mut HartCtx, vcpu: &'static Vcpu, end: End) {
    let (handle, priority) = (vcpu.handle, vcpu.priority);
    let head = end == End::Head;
    match vcpu.class {
        Class::RealTime if cx.local.hart.by_deadline => {
            vcpu.state.set(State::Ready);
            let (local, body) = cx.with_body(vcpu);
            edf_insert(local, handle, deadline(body));
            local.has_queued_real_time = true;
        }
        Class::RealTime => {
            vcpu.state.set(State::Ready);
            cx.local.realtime.insert(handle, priority, head);
            cx.local.has_queued_real_time = true;
        }
        Class::BestEffort => {
            let HartCtx { bodies, local, .. } = cx;
            release_to_queue(local, bodies, vcpu);
            vcpu.state.set(State::Ready);
            let mut queue = system().best_effort.lock_inlined();
            queue.insert(handle, priority, head);
        }
    }
}

/// A best-effort vCPU leaves this hart for the shared queue: it is no hart's from then on (protocol V1), and is to be
/// offered to the harts that it may run on beside this one.
#[inline(always)]
fn release_to_queue(local: &mut Local, bodies: &mut Bodies, vcpu: &'static Vcpu) {
    fpu::save_if_unsaved(local, bodies, vcpu);
    vcpu.owner.release();
    local.has_unoffered |= vcpu.affinity() & !(1 << local.hart.index) != 0;
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
fn pop_real_time(local: &mut Local) -> Option<&'static Vcpu> {
    if !local.has_queued_real_time {
        return None;
    }
    let handle = if local.hart.by_deadline {
        edf_pop(local)
    } else {
        local.realtime.pop()
    };
    local.has_queued_real_time = !is_empty(local);
    handle.map(|handle| system().vcpu(handle))
}

/// Whether no real-time vCPU is queued here.
fn is_empty(local: &mut Local) -> bool {
    if local.hart.by_deadline {
        local.edf.is_empty()
    } else {
        local.realtime.highest().is_none()
    }
}

/// Whether a real-time vCPU waits for the hart.
pub fn has_real_time(local: &Local) -> bool {
    local.next.is_some() | local.has_queued_real_time
}

/// Takes the vCPU that is to run from where it waits for a hart; this hart owns it then.
#[inline(never)]
pub fn pick_next(cx: &mut HartCtx) -> Option<&'static Vcpu> {
    if let Some(vcpu) = pop_real_time(&mut cx.local) {
        return Some(vcpu);
    }
    if cx.local.hart.is_user_only() {
        release_if_confined(cx);
    }
    let HartCtx { bodies, local, .. } = cx;
    let vcpus = system().vcpus;
    // Rule 2 of offers (`schedule`): what is queued from now on is offered to this hart.
    local.hart.running.store(Runs::IDLE.0, Ordering::Relaxed);
    let mut queue = system().best_effort.lock_inlined();
    if let Some(held) = local.soft_affine.take() {
        let slice_left = bodies.of(held).slice_left > 0;
        match schedule::resume_affine(held.priority, slice_left, queue.highest()) {
            Affinity::Resumes => return Some(held),
            Affinity::Ends(end) => {
                release_to_queue(local, bodies, held);
                queue.insert(held.handle, held.priority, end == End::Head);
            }
        }
    }
    let hart = local.hart;
    let mut here = |handle: Handle| vcpus[usize::from(handle)].may_run_on(hart.index);
    let (handle, _) = queue.pop_where(&mut here)?;
    let vcpu = &vcpus[usize::from(handle)];
    // Protocol V1: taken from the shared queue, under its lock.
    vcpu.owner.claim(bodies.owner());
    Some(vcpu)
}

/// A vCPU with a soft affinity to this hart, which is for user level only, goes into the shared queue if it may not run
/// here as it is.
#[cold]
fn release_if_confined(cx: &mut HartCtx) {
    let hart = cx.local.hart;
    let is_confined = |held: &mut &Vcpu| !held.may_run_on(hart.index);
    if let Some(held) = cx.local.soft_affine.take_if(is_confined) {
        end_affinity(cx, held);
    }
}

/// The soft affinity of a vCPU ends: it goes into the shared queue.
pub fn end_affinity(cx: &mut HartCtx, held: &'static Vcpu) {
    let end = schedule::expire_affinity(cx.bodies.of(held).slice_left > 0);
    enqueue(cx, held, end);
}

/// Takes a ready vCPU at home here from where it waits; this hart owns it then. `false`: another hart has just taken
/// it.
pub fn dequeue(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    let local = &mut cx.local;
    if is_same(local.soft_affine, vcpu) {
        local.soft_affine = None;
        return true;
    }
    if is_same(local.next, vcpu) {
        local.next = None;
        return true;
    }
    match vcpu.class {
        Class::RealTime => {
            let taken = if local.hart.by_deadline {
                local.edf.clear(vcpu.handle);
                true
            } else {
                local.realtime.remove(vcpu.handle)
            };
            local.has_queued_real_time = !is_empty(local);
            taken
        }
        Class::BestEffort => {
            let mut queue = system().best_effort.lock();
            let taken = queue.remove(vcpu.handle);
            if taken {
                // Protocol V1: taken from the shared queue, under its lock.
                vcpu.owner.claim(cx.bodies.owner());
            }
            taken
        }
    }
}

/// This hart has queued best-effort vCPUs and has chosen its next one: offers the queued ones to the harts that run
/// less urgent ones, or none (rule 1 of offers, `schedule`).
#[inline(always)]
pub fn offer_queued(cx: &mut HartCtx) {
    if cx.local.has_unoffered {
        offer_to_harts(cx);
    }
}

#[inline(never)]
fn offer_to_harts(cx: &mut HartCtx) {
    cx.local.has_unoffered = false;
    let hart = cx.local.hart;
    let System { harts, vcpus, .. } = system();
    let mut wanted = 0_u64;
    // At most one step for each vCPU and each hart.
    system().best_effort.lock().visit(&mut |handle| {
        let vcpu = &vcpus[usize::from(handle)];
        for other in harts.iter().filter(|other| vcpu.may_run_on(other.index)) {
            let runs = other.runs().precedence();
            if schedule::accepts_offer(Some(vcpu.priority), runs) {
                wanted |= 1 << other.index;
            }
        }
    });
    wanted &= !(1 << hart.index);
    for other in harts.iter().filter(|other| wanted >> other.index & 1 != 0) {
        other.offer();
    }
    if hart.has_role() {
        migration::request_migration(cx);
    }
}

/// As [`offer_queued`], while a real-time vCPU runs here: a hart without one makes the offers. If there is none, no
/// hart would accept one.
pub fn delegate_offers(cx: &mut HartCtx) {
    if !cx.local.has_unoffered {
        return;
    }
    let hart = cx.local.hart;
    let mut others = system().harts.iter();
    let other = others.find(|other| {
        let runs = other.runs().precedence();
        (other.index != hart.index) & (runs < precedence::REAL_TIME)
    });
    if let Some(other) = other {
        cx.local.has_unoffered = false;
        other.offer();
    }
}

/// Whether a vCPU of the shared queue may run on a hart.
#[inline(never)]
pub fn has_work_for(hart: &Hart) -> bool {
    let vcpus = system().vcpus;
    let mut found = false;
    // At most one step for each vCPU.
    let mut look = |handle: Handle| found |= vcpus[usize::from(handle)].may_run_on(hart.index);
    system().best_effort.lock().visit(&mut look);
    found
}

/// Another hart offers a best-effort vCPU: the current one makes room if a queued one comes before it. Other harts may
/// have to be offered the rest.
pub fn consider_offer(cx: &mut HartCtx) {
    cx.local.has_unoffered = true;
    let highest = system().best_effort.lock().highest();
    let current = cx.local.current;
    let runs = current.map_or(precedence::IDLE, |vcpu| vcpu.precedence);
    if schedule::accepts_offer(highest, runs) {
        cx.local.needs_resched = true;
    } else if runs < precedence::REAL_TIME {
        offer_queued(cx);
        if cx.local.hart.has_role() {
            migration::migrate_if_waiters(cx);
        }
    }
}
