//! Calls about real-time vCPUs, which admission decides about ([`crate::admission`]).
//!
//! Such a call takes many steps, between which interrupts are served. The caller's vCPU may leave the hart meanwhile; it continues when it has a
//! hart again.

use crate::admission;
use crate::admission::request::{AdmissionRequest, PendingCall, Start};
use crate::arch::memory;
use crate::body::Wait;
use crate::call::{AnswerTo, SbiError, SbiResult};
use crate::dispatch::look;
use crate::hart::context::HartCtx;
use crate::sched::{block, signals};
use crate::vm::Vcpu;
use crate::vm::vcpu::State;
use core::sync::atomic::Ordering;
use tactus_abi::hypercall::{RT_SELF, Refusal, RtStatus};
use tactus_policy::admission::{Request, Task};
use tactus_policy::reservation::{Kind, Reservation};

/// Makes a real-time vCPU: begins the call; [`continue_call`] completes it. `arguments` as of `rt_create`.
pub fn create(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    arguments: [u64; 6],
    answer: AnswerTo,
) -> Result<(), SbiError> {
    let [entry, stack, argument, period, budget, deadline] = arguments;
    let reservation = Reservation::new(period, budget, deadline).ok_or(SbiError::INVALID_PARAM)?;
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
    ask(cx, vcpu, target, reservation, Kind::Periodic, start, answer);
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
    let reservation = Reservation::new(period, budget, deadline).ok_or(SbiError::INVALID_PARAM)?;
    if target.relocation.promised().is_none() {
        return Err(SbiError::DENIED);
    }
    let kind = if target.is_made() {
        Kind::Periodic
    } else {
        Kind::Server
    };
    ask(cx, vcpu, target, reservation, kind, None, answer);
    Ok(())
}

fn ask(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    target: &'static Vcpu,
    reservation: Reservation,
    kind: Kind,
    start: Option<Start>,
    answer: AnswerTo,
) {
    let request = Request {
        handle: target.handle,
        vm: target.vm.index,
        task: Task { reservation, kind },
        harts: target.harts,
    };
    let wanted = AdmissionRequest { request, start };
    let body = cx.bodies.of(vcpu);
    body.pending_admission = Some(PendingCall { wanted, answer });
    body.unfinished = true;
}

/// Continues the current vCPU's call for admission. `false`: it has to leave the hart, and the call continues when it has one again.
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

/// Writes what is known of a real-time vCPU to the caller's memory.
pub fn query(vcpu: &'static Vcpu, number: u64, address: u64, length: u64) -> SbiResult {
    let target = named(vcpu, number)?;
    let size = size_of::<RtStatus>() as u64;
    let length = length.min(size);
    if !address.is_multiple_of(8) {
        return Err(SbiError::INVALID_ADDRESS);
    }
    let to = vcpu
        .vm
        .memory_at(address, length)
        .ok_or(SbiError::INVALID_ADDRESS)?;
    let promised = target.relocation.promised();
    let record = &target.record;
    let status = RtStatus {
        period: promised.map_or(0, |reservation| reservation.period),
        budget: promised.map_or(0, |reservation| reservation.budget),
        deadline: promised.map_or(0, |reservation| reservation.deadline),
        release: record.release.load(Ordering::Relaxed),
        jobs: record.jobs.load(Ordering::Relaxed),
        overruns: record.overruns.load(Ordering::Relaxed),
        missed: record.missed.load(Ordering::Relaxed),
        used: record.used.load(Ordering::Relaxed),
        used_max: record.used_max.load(Ordering::Relaxed),
        hart: target.home() as u32,
        reserved: 0,
    };
    // Safety: `memory_at` has found all of it in the guest's memory.
    unsafe {
        memory::copy_shared((&raw const status) as u64, to, length);
    }
    Ok(size)
}

/// The current vCPU has done its job. Its answer comes when the next one is released.
pub fn end_job(cx: &mut HartCtx, vcpu: &'static Vcpu) -> SbiResult {
    if cx.bodies.of(vcpu).account.is_none() {
        return Err(SbiError::DENIED);
    }
    block::wait(
        cx,
        vcpu,
        Wait::Release {
            at: u64::MAX,
            answers: true,
        },
    );
    Ok(0)
}

/// The real-time vCPU of the caller's VM that a number names.
#[inline(never)]
fn named(vcpu: &'static Vcpu, number: u64) -> Result<&'static Vcpu, SbiError> {
    let target = if number == RT_SELF {
        Some(vcpu)
    } else {
        usize::try_from(number)
            .ok()
            .and_then(|number| vcpu.vm.made_vcpus().get(number))
    };
    target
        .filter(|target| {
            let real_time = target.class == tactus_abi::blob::Class::RealTime;
            real_time && target.state.get() != State::Stopped
        })
        .ok_or(SbiError::INVALID_PARAM)
}
