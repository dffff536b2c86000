//! What a guest asks about its real-time vCPUs.

#[cfg_attr(not(feature = "reservation-calls"), path = "base/requests.rs")]
pub mod requests;

use crate::arch::memory;
use crate::body::Wait;
use crate::call::{SbiError, SbiResult};
use crate::hart::context::HartCtx;
use crate::sched::block;
use crate::vm::Vcpu;
use crate::vm::vcpu::State;
use core::sync::atomic::Ordering;
use tactus_abi::hypercall::{RT_SELF, RtStatus};
use tactus_abi::map::PAGE_SIZE;

/// Writes what is known of a real-time vCPU to the caller's memory.
pub fn query(vcpu: &'static Vcpu, number: u64, address: u64, length: u64) -> SbiResult {
    let target = named(vcpu, number)?;
    let size = size_of::<RtStatus>() as u64;
    let length = length.min(size);
    let to = vcpu.vm.memory_at(address, length);
    let to = to.filter(|_| address.is_multiple_of(8));
    let to = to.ok_or(SbiError::INVALID_ADDRESS)?;
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
    let from = (&raw const status) as u64;
    let page = length.min(PAGE_SIZE - to % PAGE_SIZE);
    // Safety: `memory_at` has found all of it in the guest's memory.
    unsafe {
        memory::copy_shared(from, to, page);
        memory::copy_shared(from + page, vcpu.vm.host_of(address + page), length - page);
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
