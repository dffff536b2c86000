//! Reservations at run time: the release, the end and the throttling of jobs, and the orders of admission about them (protocol R1).

use super::{block, fpu, run_queue};
use crate::arch;
use crate::hart::Local;
use crate::hart::context::HartCtx;
use crate::system::system;
use crate::vcpu::{Body, State, Vcpu, Wait};
use core::sync::atomic::Ordering;
use tactus_abi::blob::Class;
use tactus_policy::ready::Handle;
use tactus_policy::reservation::{Kind, Wake};

/// Whether what the vCPU waits for ends its job.
pub fn ends_job(body: &Body) -> bool {
    match (&body.wait, &body.account) {
        (Wait::Release { .. }, _) => true,
        (_, Some(account)) => account.kind() == Kind::Periodic,
        (_, None) => false,
    }
}

/// The vCPU has ended its job; it waits for its next one.
pub fn end_job(vcpu: &Vcpu, body: &mut Body, now: u64) {
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
pub fn throttle(local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) {
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
    vcpu.state.set(State::Waiting);
    // Rate-limited: reported at powers of two.
    if !loads && account.overruns.is_power_of_two() {
        local.overruns[usize::from(vcpu.handle / 64)] |= 1 << (vcpu.handle % 64);
    }
}

/// A vCPU with a reservation is to run: asks the reservation whether it may, which may begin a job. `false`: it goes on waiting.
pub fn release(local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) -> bool {
    let Some(account) = &mut body.account else {
        return true;
    };
    let changes = body.next.is_some();
    if (body.wait == Wait::Start || changes) && !local.hart.is_settled() {
        // As soon as nothing is left of the work that was here before.
        local.starting_reservations[usize::from(vcpu.handle / 64)] |= 1 << (vcpu.handle % 64);
        // That may be now.
        local.needs_resched |= has_no_real_time(local);
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

/// Carries out what admission has ordered about a waiting real-time vCPU (protocol R1); `true`: it is another hart's now.
pub fn carry_out_orders(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    if !vcpu.relocation.may_have_orders() {
        return false;
    }
    let orders = vcpu.relocation.take();
    let (local, body) = cx.with_body(vcpu);
    if orders.change.is_some() {
        body.next = orders.change;
        drain_reservation(local);
    }
    let Some(to) = orders.to else { return false };
    drain_reservation(local);
    fpu::save_if_unsaved(&mut cx.local, &mut cx.bodies, vcpu);
    block::cancel_wakeup(&mut cx.local, vcpu);
    vcpu.owner.release();
    vcpu.relocation.arrive(to);
    system().harts[to].post(vcpu);
    true
}

/// A reservation that admission no longer counts on this hart has had its last job here.
fn drain_reservation(local: &mut Local) {
    let hart = local.hart;
    hart.awaiting_idle_instant.store(true, Ordering::Relaxed);
    hart.departing_reservations.end_one();
    // Perhaps nothing else is left, and successors may begin.
    local.needs_resched = true;
}

/// The hart has no real-time work: the successors of departed reservations may begin. `true`: one does.
pub fn start_pending_reservations(cx: &mut HartCtx) -> bool {
    let hart = cx.local.hart;
    if !hart.awaiting_idle_instant.load(Ordering::Relaxed)
        || !hart.departing_reservations.are_over()
    {
        return false;
    }
    hart.awaiting_idle_instant.store(false, Ordering::Release);
    let starting = core::mem::take(&mut cx.local.starting_reservations.0);
    let mut any = false;
    for (word, mut bits) in starting.into_iter().enumerate() {
        // At most one step for each vCPU.
        while bits != 0 {
            let handle = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            block::wake(cx, system().vcpu(handle as Handle), arch::now());
            any = true;
        }
    }
    any
}

/// Whether the hart has no real-time work just now: neither current nor ready.
fn has_no_real_time(local: &Local) -> bool {
    let busy = local
        .current
        .is_some_and(|vcpu| vcpu.class == Class::RealTime);
    !busy && !run_queue::has_real_time(local)
}
