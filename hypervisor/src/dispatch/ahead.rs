//! Just-in-time dispatch: a real-time vCPU that waits for its timer gets its hart ahead of that, and is entered when
//! the timer goes off.
//!
//! Until then the hart spins below the guest, and looks for interrupts meanwhile: a more urgent vCPU takes the hart at
//! once, and any interrupt of the guest's own ends the wait. The guest reads no other time than the hart's. How long
//! ahead it is, `policy::lead` decides. Shortly before that, in the *guard*, nothing is begun for a best-effort vCPU
//! that may take long: the hart is given up first.

use super::leave_uncharged;
use crate::arch::{self, context, warm};
use crate::body::{Body, Wait};
use crate::exit::NextContext;
use crate::hart::context::{HartCtx, Local};
use crate::interrupt;
use crate::sched::{signals, wake};
use crate::system::system;
use crate::vm::Vcpu;
use core::hint::cold_path;

/// A guest is entered, has begun to serve its interrupt and cannot yet wait again, so many ticks after its time.
const ENTRY_TICKS: u64 = 3;
/// So many lines are brought near between two looks for interrupts.
const LINES_AT_A_TIME: u16 = 4;

/// Whether a vCPU that is about to be entered has been given the hart ahead of its time.
#[inline(always)]
pub const fn is_ahead(body: &Body) -> bool {
    body.lead.until() != 0
}

/// Something is about to begin for a best-effort vCPU. `true`: a vCPU is given the hart first, ahead of its time.
#[inline(always)]
pub fn comes_first(cx: &mut HartCtx) -> bool {
    is_guarded(&cx.local) && dispatch(cx, arch::now())
}

/// As [`comes_first`], at that time.
#[inline(always)]
pub fn comes_first_at(cx: &mut HartCtx, now: u64) -> bool {
    !cx.local.real_time_only & cx.local.timer.is_guarded(now) && dispatch(cx, now)
}

/// Whether a best-effort vCPU, or none, has the hart, and it is so shortly before a release that nothing is begun for
/// such a vCPU.
#[inline(always)]
pub fn is_guarded(local: &Local) -> bool {
    !local.real_time_only && local.timer.is_guarded(arch::now())
}

/// Gives the hart to the vCPU of the earliest release, if it is one that gets it ahead of its time.
#[cold]
#[inline(never)]
fn dispatch(cx: &mut HartCtx, now: u64) -> bool {
    release_ahead(cx, now) && cx.local.needs_resched
}

/// The vCPU of the earliest release may have the hart from now on, if it is one that gets it ahead of its time.
fn release_ahead(cx: &mut HartCtx, now: u64) -> bool {
    cold_path();
    let vcpu = system().vcpu(cx.local.timer.earliest_release().1);
    if !is_ahead(cx.bodies.of(vcpu)) {
        return false;
    }
    cx.local.timer.pop_release();
    wake::wake(cx, vcpu, now);
    true
}

/// The current vCPU, which has been given the hart ahead of its time, is entered when that has come; or when one of its
/// interrupts has, if it waits for interrupts. Meanwhile the lines are brought near that it uses then. If a more urgent
/// one takes the hart before, it waits again when it has it back.
#[inline(never)]
#[unsafe(link_section = ".text_last")]
pub fn enter_when_due(cx: &mut HartCtx, vcpu: &'static Vcpu) -> NextContext {
    let (local, body) = cx.with_body(vcpu);
    let header = &system().blob.header;
    let prefetches = header.prefetches != 0;
    warm::warm_way_in(&body.context, prefetches);
    let began = local.timer.since().min(body.lead.planned());
    let (until, interruptible) = (body.lead.until(), body.wait == Wait::Interrupt);
    // Deferred work that is due before that is done first, so that it is not done at the deadline.
    if local.timer.deferred_at() <= until {
        local.timer.set_deferred_at(arch::now());
    }
    // And vCPUs are released that would get a hart ahead of their times by then, so that this does not interrupt the
    // guest before it has begun.
    while cx.local.timer.earliest_release().0 <= until + ENTRY_TICKS
        && arch::now() < until
        && release_ahead(cx, arch::now())
    {}
    if cx.local.needs_resched {
        return leave_uncharged(cx, vcpu);
    }
    let mut ranges = vcpu.warm.iter();
    // What is left of a range: where it is in memory, how many lines, and whether they hold instructions.
    let (mut address, mut left, mut code, mut ready) = (0, 0, false, false);
    while arch::now() < until && !(interruptible && context::guest_interrupt_pending()) {
        let pending = cx.local.poll();
        if pending != 0 && !serve(cx, vcpu, pending) {
            return leave_uncharged(cx, vcpu);
        }
        if ready {
            continue;
        }
        if left == 0 {
            let Some(range) = ranges.next() else {
                // The guest's lines may have taken the place of some.
                warm::warm_way_in(&cx.bodies.of(vcpu).context, prefetches);
                ready = true;
                learn(cx, vcpu, began);
                continue;
            };
            // A range is within a page, so that its lines follow each other in memory, too.
            (address, left, code) = (vcpu.vm.host_of(range.guest), range.lines, range.code != 0);
        }
        let some = left.min(LINES_AT_A_TIME);
        left -= some;
        for _ in 0..some {
            warm::warm(address, code, prefetches);
            address += u64::from(header.cache_line);
        }
    }
    if !ready {
        cold_path();
        learn(cx, vcpu, began);
    }
    cx.bodies.of(vcpu).lead.end();
    if cx.local.timer.has_budget() {
        cold_path();
        cx.local.timer.credit_since(cx.local.timer.since());
    }
    NextContext::enter(&mut cx.local, vcpu)
}

/// What it takes to have the vCPU ready has been done, or its time has come before.
fn learn(cx: &mut HartCtx, vcpu: &'static Vcpu, began: u64) {
    let took = arch::now().saturating_sub(began);
    cx.bodies.of(vcpu).lead.learn(took);
}

/// Serves interrupts that are pending. `false`: the vCPU has to leave the hart.
#[cold]
#[inline(never)]
fn serve(cx: &mut HartCtx, vcpu: &'static Vcpu, pending: u64) -> bool {
    // A budget does not end before its job begins.
    cx.local.timer.credit_since(cx.local.timer.since());
    interrupt::handle(cx, pending);
    signals::handle_news(cx, vcpu);
    super::aftermath::conclude(cx);
    !(cx.local.needs_resched | vcpu.stops())
}
