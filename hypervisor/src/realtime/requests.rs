//! Requests for reservations, which admission decides about ([`crate::admission`]).
//!
//! Such a call takes many steps, between which interrupts are served. The caller's vCPU may leave the hart meanwhile;
//! it continues when it has a hart again.

use super::named;
use crate::admission;
use crate::admission::request::{AdmissionRequest, PendingCall, Start};
use crate::call::{AnswerTo, SbiError, SbiResult};
use crate::dispatch::look;
use crate::hart::context::HartCtx;
use crate::sched::signals;
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::configured;
use core::sync::atomic::Ordering;
use tactus_abi::blob::LEAST_BUDGET;
use tactus_abi::hypercall::Refusal;
use tactus_policy::admission::Request;
use tactus_policy::covering::covering;
use tactus_policy::reservation::{Kind, Reservation, Task};
use tactus_policy::table::Table;

/// Makes a real-time vCPU: begins the call; [`continue_call`] completes it. `arguments` as of `rt_create`.
pub fn create(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    arguments: [u64; 6],
    answer: AnswerTo,
) -> Result<(), SbiError> {
    let [entry, stack, argument, period, budget, deadline] = arguments;
    let reservation = reservation([period, budget, deadline])?;
    if !entry.is_multiple_of(2) || vcpu.vm.memory_at(entry, 2).is_none() {
        return Err(SbiError::INVALID_ADDRESS);
    }
    let target = vcpu
        .vm
        .made_vcpus()
        .iter()
        .find(|place| !place.claimed.swap(true, Ordering::SeqCst))
        .ok_or(SbiError::refused(Refusal::Count))?;
    let start = Some(Start {
        entry,
        stack,
        argument,
    });
    let task = Task {
        reservation,
        kind: Kind::Periodic,
    };
    ask(cx, vcpu, target, reservation, task, start, answer);
    Ok(())
}

/// Gives a real-time vCPU another reservation: begins the call, see [`create`].
pub fn change(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    arguments: [u64; 6],
    answer: AnswerTo,
) -> Result<(), SbiError> {
    let [number, period, budget, deadline, ..] = arguments;
    let target = named(vcpu, number)?;
    let reservation = reservation([period, budget, deadline])?;
    if target.relocation.promised().is_none() {
        return Err(SbiError::DENIED);
    }
    let task = match configured(&Table::new(system().blob.vcpus)[usize::from(target.handle)]) {
        None => Task {
            reservation,
            kind: Kind::Periodic,
        },
        Some(task) => covering(task, reservation).ok_or(SbiError::refused(Refusal::Demand))?,
    };
    ask(cx, vcpu, target, reservation, task, None, answer);
    Ok(())
}

/// The reservation that is asked for, with a budget that is worth having.
fn reservation([period, budget, deadline]: [u64; 3]) -> Result<Reservation, SbiError> {
    let least = LEAST_BUDGET * system().blob.header.interrupt_ticks;
    Reservation::new(period, budget, deadline)
        .filter(|_| budget >= least)
        .ok_or(SbiError::INVALID_PARAM)
}

fn ask(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    target: &'static Vcpu,
    reservation: Reservation,
    task: Task,
    start: Option<Start>,
    answer: AnswerTo,
) {
    let request = Request {
        handle: target.handle,
        vm: target.vm.index,
        task,
        harts: target.harts,
    };
    let wanted = AdmissionRequest {
        request,
        reservation,
        start,
    };
    let body = cx.bodies.of(vcpu);
    body.pending_admission = Some(PendingCall { wanted, answer });
    body.unfinished = true;
}

/// Continues the current vCPU's call for admission. `false`: it has to leave the hart, and the call continues when it
/// has one again.
#[unsafe(export_name = "tactus_continue_call")]
#[inline(never)]
pub extern "C" fn continue_call(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    while let Some(call) = cx.bodies.of(vcpu).pending_admission {
        if !look::may_continue(cx) {
            return false;
        }
        let (answered, notify) = admission::step(vcpu, &call.wanted);
        for other in notify.into_iter().flatten() {
            signals::post(other);
        }
        if let Some(result) = answered {
            cx.bodies.of(vcpu).pending_admission = None;
            let registers = &mut cx.bodies.of(vcpu).context.registers;
            call.answer.give(registers, result);
            return look::may_continue(cx);
        }
    }
    true
}

/// Stops and forgets a vCPU that was made by a hypercall.
pub fn delete(vcpu: &'static Vcpu, number: u64) -> SbiResult {
    let target = named(vcpu, number)?;
    if !target.is_made() || !target.vm.stop_made(target) {
        return Err(SbiError::INVALID_PARAM);
    }
    signals::post(target);
    Ok(0)
}
