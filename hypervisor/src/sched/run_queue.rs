//! Ready vCPUs: real-time ones in their home hart's queue, best-effort ones in the queue that all harts share.

use super::fpu;
use crate::body::Body;
use crate::hart::context::{HartCtx, Local, is_same};
use crate::hart::{Hart, HartRole, running};
use crate::migration;
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::State;
use core::cmp;
use core::hint::cold_path;
use core::sync::atomic::Ordering;
use tactus_abi::blob::Class;
use tactus_policy::ready::{Handle, ReadyQueue};
use tactus_policy::reservation::Account;

/// Where a ready vCPU goes among those of its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was preempted: it keeps its place, and the rest of its slice.
    Head,
    /// It is new, or its slice is used up.
    Tail,
}

/// Whether one of two vCPUs of a class, which this hart owns, comes before the other here.
#[inline]
pub fn comes_before(cx: &mut HartCtx, vcpu: &'static Vcpu, other: &'static Vcpu) -> bool {
    if (vcpu.class == Class::RealTime) & cx.local.hart.by_deadline {
        let [one, two] = cx.bodies.of_two(vcpu, other);
        deadline(one) < deadline(two)
    } else {
        vcpu.precedence > other.precedence
    }
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
        }
        Class::RealTime => {
            vcpu.state.set(State::Ready);
            cx.local.realtime.insert(handle, priority, head);
        }
        Class::BestEffort => {
            let HartCtx { bodies, local, .. } = cx;
            fpu::save_if_unsaved(local, bodies, vcpu);
            vcpu.owner.release();
            vcpu.state.set(State::Ready);
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
fn pop_real_time(local: &mut Local) -> Option<&'static Vcpu> {
    let handle = if local.hart.by_deadline {
        edf_pop(local)
    } else {
        local.realtime.pop()
    };
    handle.map(|handle| system().vcpu(handle))
}

/// Whether a real-time vCPU waits for the hart.
pub fn has_real_time(local: &Local) -> bool {
    local.next.is_some()
        || if local.hart.by_deadline {
            !local.edf.is_empty()
        } else {
            local.realtime.highest().is_some()
        }
}

/// Takes the vCPU that is to run from where it waits for a hart; this hart owns it then.
#[inline(never)]
pub fn pick_next(cx: &mut HartCtx) -> Option<&'static Vcpu> {
    if let Some(vcpu) = pop_real_time(&mut cx.local) {
        return Some(vcpu);
    }
    if cx.local.role == HartRole::User {
        release_if_confined(cx);
    }
    let HartCtx { bodies, local, .. } = cx;
    let vcpus = system().vcpus;
    let mut queue = system().best_effort.lock_inlined();
    if let Some(held) = local.soft_affine.take() {
        let slice_left = bodies.of(held).slice_left > 0;
        let others = queue.highest().map(|highest| highest.cmp(&held.priority));
        match others {
            None | Some(cmp::Ordering::Less) => return Some(held),
            Some(cmp::Ordering::Equal) if slice_left => return Some(held),
            Some(_) => {}
        }
        fpu::save_if_unsaved(local, bodies, held);
        held.owner.release();
        queue.insert(held.handle, held.priority, slice_left);
    }
    let hart = local.hart;
    let mut here = |handle: Handle| vcpus[usize::from(handle)].may_run_on(hart.index);
    let (handle, _) = queue.pop_where(&mut here)?;
    let vcpu = &vcpus[usize::from(handle)];
    // Protocol V1: taken from the shared queue, under its lock.
    vcpu.owner.claim(bodies.owner());
    Some(vcpu)
}

/// A vCPU with a soft affinity to this hart, which is for user level only, goes into the shared queue if it may not run here as it is.
#[cold]
fn release_if_confined(cx: &mut HartCtx) {
    let hart = cx.local.hart;
    if let Some(held) = cx
        .local
        .soft_affine
        .take_if(|held| !held.may_run_on(hart.index))
    {
        enqueue(cx, held, End::Head);
        push_to_hart(cx, held);
    }
}

/// Takes a ready vCPU at home here from where it waits; this hart owns it then. `false`: another hart has just taken it.
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
        Class::RealTime if local.hart.by_deadline => {
            local.edf.clear(vcpu.handle);
            true
        }
        Class::RealTime => local.realtime.remove(vcpu.handle),
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

/// Finds another hart for a ready best-effort vCPU: an idle one, or one that runs something of lower priority.
#[cold]
pub fn push_to_hart(cx: &mut HartCtx, vcpu: &Vcpu) {
    let hart = cx.local.hart;
    let others = system()
        .harts
        .iter()
        .filter(|other| other.index != hart.index && vcpu.may_run_on(other.index));
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
        migration::request_migration(cx);
    }
}

/// Wakes the idle harts that may run what waits in the shared queue.
#[inline(never)]
pub fn kick_idle_harts(cx: &mut HartCtx) {
    let hart = cx.local.hart;
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
        migration::request_migration(cx);
    }
}

/// Harts, as bits, that may run a vCPU of the shared queue.
#[inline(never)]
pub fn harts_with_queued_work() -> u64 {
    let vcpus = system().vcpus;
    let mut harts = 0;
    // At most one step for each vCPU.
    system()
        .best_effort
        .lock()
        .visit(&mut |handle| harts |= vcpus[usize::from(handle)].affinity());
    harts
}

/// Another hart offers a best-effort vCPU: the current one makes room if a queued one comes before it.
pub fn consider_offer(cx: &mut HartCtx) {
    let highest = system().best_effort.lock().highest();
    let runs = cx
        .local
        .current
        .map_or(running::IDLE, |vcpu| vcpu.precedence);
    if highest.is_some_and(|priority| running::BEST_EFFORT + u32::from(priority) > runs) {
        cx.local.needs_resched = true;
    } else if cx.local.role != HartRole::Any {
        migration::migrate_if_waiters(cx);
    }
}
