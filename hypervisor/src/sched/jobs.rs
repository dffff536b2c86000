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
    matches!(body.wait, Wait::Release { .. }) || is_periodic(body)
}

/// Whether waiting ends the vCPU's job, whatever it waits for.
pub fn is_periodic(body: &Body) -> bool {
    let account = body.account.as_ref();
    account.is_some_and(|account| account.kind() == Kind::Periodic)
}

/// The vCPU has ended its job; it waits for its next one.
pub fn end_job(body: &mut Body) {
    let Some(account) = &mut body.account else {
        return;
    };
    let at = account.end_job();
    let answers = matches!(body.wait, Wait::Release { answers: true, .. });
    body.wait = Wait::Release { at, answers };
}

/// The vCPU has spent its budget, or has none in the hart's mode; it waits for its next job.
#[cold]
pub fn throttle(vcpu: &Vcpu, body: &mut Body) {
    let Some(account) = &mut body.account else {
        return;
    };
    // An image is loaded as fast as the budget allows: that is no overrun.
    let at = if body.loader.is_some() {
        account.end_job()
    } else {
        account.throttle(&vcpu.record)
    };
    body.wait = Wait::Release { at, answers: false };
    vcpu.state.set(State::Waiting);
}

/// A vCPU with a reservation blocks: counts how its job went. If more than before has gone wrong with its jobs, that is
/// to be reported; if another vCPU is reported, when it blocks again.
#[inline(never)]
pub fn account_for_job(local: &mut Local, vcpu: &'static Vcpu, body: &mut Body) {
    let Some(account) = &mut body.account else {
        return;
    };
    account.settle(&vcpu.record);
    if local.irregular.is_none() && account.is_to_report(&vcpu.record) {
        local.irregular = Some(vcpu);
        local.has_aftermath = true;
    }
}

/// A vCPU with a reservation is to run: asks the reservation whether it may, which may begin a job. `false`: it goes on
/// waiting.
pub fn release(local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) -> bool {
    let Some(account) = &mut body.account else {
        return true;
    };
    // A job whose vCPU gets the hart ahead of it is released when it is entered.
    let now = if cfg!(feature = "dispatch-ahead") {
        now.max(body.lead.until())
    } else {
        now
    };
    let changes = body.next.is_some();
    if (body.wait == Wait::Start || changes) && !local.hart.is_settled() {
        // As soon as nothing is left of the work that was here before.
        local.starting_reservations[usize::from(vcpu.handle / 64)] |= 1 << (vcpu.handle % 64);
        // That may be now.
        local.needs_resched |= !local.runs(Class::RealTime) && !run_queue::has_real_time(local);
        return false;
    }
    match body.wait {
        Wait::Start => account.release_at(now, &vcpu.record),
        Wait::Release { answers, .. } => {
            match if changes { body.next.take() } else { None } {
                Some(reservation) => account.release_with(reservation, now, &vcpu.record),
                None => account.release_next(now, &vcpu.record),
            }
            if answers {
                body.context.registers[11] = account.release();
            }
        }
        Wait::Interrupt | Wait::News | Wait::Message { .. } | Wait::Fences(..) => {
            if let Wake::At(at) = account.wake(now, &vcpu.record) {
                body.wait = Wait::Release { at, answers: false };
                local.timer.set_release(vcpu.handle, at);
                return false;
            }
        }
    }
    true
}
