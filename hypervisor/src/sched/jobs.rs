//! Reservations at run time: the release, the end and the throttling of jobs.

use super::run_queue;
use crate::body::{Body, Wait};
use crate::hart::context::Local;
use crate::vm::Vcpu;
use crate::vm::vcpu::State;
use tactus_abi::blob::Class;
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
    let at = account.end_job(now);
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
        account.end_job(now)
    } else {
        account.throttle(now)
    };
    vcpu.record.take(account);
    body.wait = Wait::Release { at, answers: false };
    vcpu.state.set(State::Waiting);
    // Rate-limited: reported at powers of two.
    if !loads && account.overruns.is_power_of_two() {
        local.overruns[usize::from(vcpu.handle / 64)] |= 1 << (vcpu.handle % 64);
        local.has_aftermath = true;
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
        Wait::Start => *account = account.restarted_at(now),
        Wait::Release { answers, .. } => {
            match if changes { body.next.take() } else { None } {
                Some(reservation) => account.release_with(reservation, now),
                None => account.release_next(now),
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

/// Whether the hart has no real-time work just now: neither current nor ready.
fn has_no_real_time(local: &Local) -> bool {
    let busy = local
        .current
        .is_some_and(|vcpu| vcpu.class == Class::RealTime);
    !busy && !run_queue::has_real_time(local)
}
