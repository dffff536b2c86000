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
use tactus_abi::hypercall::{RT_SELF, RtStatus};

/// Writes what is known of a real-time vCPU to the caller's memory.
pub fn query(vcpu: &'static Vcpu, number: u64, address: u64, length: u64) -> SbiResult {
    let target = named(vcpu, number)?;
    let size = size_of::<RtStatus>() as u64;
    let length = length.min(size);
    let to = vcpu.vm.memory_at(address, length);
    to.filter(|_| address.is_multiple_of(8))
        .ok_or(SbiError::INVALID_ADDRESS)?;
    let promised = target.relocation.promised();
    let [period, budget, deadline] = promised.map_or([0; 3], |reservation| {
        [reservation.period, reservation.budget, reservation.deadline]
    });
    // As `RtStatus` has them.
    let words = [period, budget, deadline, target.home() as u64].into_iter();
    for (index, word) in words.chain(target.record.words()).enumerate() {
        let at = 8 * index as u64;
        let count = length.saturating_sub(at).min(8);
        let to = vcpu.vm.host_of(address + at);
        // Safety: `memory_at` has found so much of it in the guest's memory.
        unsafe { memory::copy_shared((&raw const word) as u64, to, count) };
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
