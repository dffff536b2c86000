//! A look for interrupts between two pieces of long work, so that no stretch with interrupts off is longer than a
//! piece.

use super::{ahead, tick};
use crate::arch;
use crate::exit::Exit;
use crate::hart::context::HartCtx;
use crate::interrupt;
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::State;
use core::hint::cold_path;
use tactus_policy::schedule::precedence;

/// Between two pieces of long work in the current vCPU's time: serves pending interrupts. `false`: the vCPU has to
/// leave the hart.
#[inline]
pub fn may_continue(cx: &mut HartCtx) -> bool {
    let dirty = cx.local.timer.is_dirty();
    let pending = arch::pending_interrupts();
    if ahead::comes_first(cx) {
        return false;
    }
    (pending | u64::from(dirty)) == 0 || serve_and_may_continue(cx)
}

/// As [`may_continue`], before work that the guest asks for again if it is not done, and that [`go_on`] follows: a
/// timer that is due is left to that.
#[inline]
pub fn may_begin(cx: &mut HartCtx) -> bool {
    !arch::timer_is_due() && may_continue(cx)
}

/// As [`may_continue`], when interrupts are pending, or may be once the timer is armed. Without separation they wait,
/// unless the work is a real-time vCPU's.
#[inline(never)]
pub fn serve_and_may_continue(cx: &mut HartCtx) -> bool {
    let pending = cx.local.poll();
    if pending == 0 {
        return true;
    }
    if !system().is_separated() && cx.local.hart.runs().precedence() < precedence::REAL_TIME {
        return true;
    }
    interrupt::handle(cx, pending);
    !cx.local.needs_resched
}

/// Enters the current vCPU's guest again, if the hart is still its. A timer that has become due meanwhile is served at
/// once: entering the guest first would only delay the vCPU that it wakes.
#[inline]
pub fn go_on(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Exit {
    match go_on_unless_due(cx, vcpu) {
        Some(exit) => exit,
        None => serve_due_and_go_on(cx, vcpu),
    }
}

/// Fast path of [`go_on`]; `None`: the timer is due, or is still to be armed.
#[inline(always)]
pub fn go_on_unless_due(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Option<Exit> {
    if leaves(cx, vcpu) {
        return Some(Exit::leave());
    }
    let dirty = cx.local.timer.is_dirty();
    if dirty | arch::timer_is_due() {
        cold_path();
        return None;
    }
    Some(Exit::enter_armed(&cx.local, vcpu))
}

/// The other path of [`go_on`].
#[inline(never)]
pub fn serve_due_and_go_on(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Exit {
    cx.local.arm_if_dirty();
    if arch::timer_is_due() {
        let now = arch::now();
        if tick::pop_due_release(cx, now).is_none() {
            tick::serve_due_at(cx, now);
        }
    }
    if leaves(cx, vcpu) {
        return Exit::leave();
    }
    Exit::enter(&mut cx.local, vcpu)
}

/// Whether the current vCPU has to leave the hart.
#[inline(always)]
fn leaves(cx: &HartCtx, vcpu: &Vcpu) -> bool {
    cx.local.needs_resched || vcpu.state.get() != State::Running
}
