//! A look for interrupts between two pieces of long work, so that no stretch with interrupts off is longer than a piece.

use super::tick;
use crate::arch;
use crate::exit::Exit;
use crate::hart::context::HartCtx;
use crate::hart::running;
use crate::interrupt;
use crate::system::system;
use crate::vcpu::{State, Vcpu};
use core::hint::cold_path;
use core::sync::atomic::Ordering;

/// Between two pieces of long work in the current vCPU's time: serves pending interrupts. `false`: the vCPU has to leave the hart.
#[inline]
pub fn may_continue(cx: &mut HartCtx) -> bool {
    let dirty = cx.local.timer.is_dirty();
    let pending = arch::pending_interrupts();
    (pending | u64::from(dirty)) == 0 || serve_and_may_continue(cx)
}

/// As [`may_continue`], when interrupts are pending, or may be once the timer is armed. Without separation they wait, unless the work is a
/// real-time vCPU's.
#[inline(never)]
pub fn serve_and_may_continue(cx: &mut HartCtx) -> bool {
    let pending = cx.local.poll();
    if pending == 0 {
        return true;
    }
    if !system().is_separated()
        && cx.local.hart.running.load(Ordering::Relaxed) < running::REAL_TIME
    {
        return true;
    }
    interrupt::handle(cx, pending);
    !cx.local.needs_resched
}

/// Goes on with the current vCPU, if the hart is still its. A timer that has become due meanwhile is served at once: entering the guest
/// first would only delay the vCPU that it wakes.
#[inline]
pub fn go_on(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Exit {
    let leaves = |cx: &HartCtx| cx.local.needs_resched || vcpu.state.get() != State::Running;
    if leaves(cx) {
        return Exit::leave();
    }
    let dirty = cx.local.timer.is_dirty();
    if dirty | arch::timer_is_due() {
        cold_path();
        if cx.local.poll_timer() {
            tick::serve_due(cx);
        }
        if leaves(cx) {
            return Exit::leave();
        }
    }
    Exit::enter(&mut cx.local, vcpu)
}
