//! The Supervisor Binary Interface that guests see (RISC-V SBI specification 2.0), and Tactus's own extension
//! ([`tactus_abi::hypercall`]). Every argument is checked; a call that fails changes nothing.

#[cfg_attr(not(feature = "legacy-sbi"), path = "base/legacy.rs")]
mod legacy;
mod text;

use crate::accelerators;
use crate::arch::{self, context};
use crate::body::Wait;
use crate::call::{AnswerTo, SbiError, SbiResult};
use crate::dispatch;
use crate::dispatch::look;
use crate::doorbell::delivery;
use crate::exception;
use crate::exit::Exit;
use crate::hart::context::HartCtx;
#[cfg(feature = "management")]
use crate::management;
use crate::message;
use crate::realtime::{self, requests};
use crate::sched::{block, signals};
use crate::service;
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::{State, signal};
use crate::vm::{End, Vm};
use core::sync::atomic::Ordering;
use sbi_spec::{base, dbcn, hsm, rfnc, spi, srst, time};
use tactus_abi::blob::{NONE, OnFault, limit};
use tactus_abi::hypercall::{self, VmState};
use tactus_abi::interrupts::IPI;
use tactus_policy::table::Array;
use tactus_policy::table::bits;

/// "TCTS": the specification has no number for Tactus.
const IMPLEMENTATION_ID: u64 = 0x5443_5453;
/// Version 2.0 of the specification.
const SPECIFICATION_VERSION: u64 = 2 << 24;
const TACTUS_VERSION: u64 = {
    const fn number(text: &str) -> u64 {
        let bytes = text.as_bytes();
        let mut value = 0;
        let mut i = 0;
        while i < bytes.len() {
            value = value * 10 + (bytes[i] - b'0') as u64;
            i += 1;
        }
        value
    }
    number(env!("CARGO_PKG_VERSION_MAJOR")) << 24
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 12
        | number(env!("CARGO_PKG_VERSION_PATCH"))
};

/// Serves an environment call of the current vCPU; says whether its guest goes on.
///
/// The base extension, which asks for facts, is answered right here.
#[unsafe(export_name = "tactus_call")]
pub extern "C" fn call(vcpu: &'static Vcpu) -> Exit {
    context::skip_instruction(4);
    // Safety: the entry code's call for a trap (protocol H1).
    let cx = unsafe { HartCtx::of_trapped(vcpu) };
    let context = &mut cx.bodies.of(vcpu).context;
    let registers = &mut context.registers;
    if registers[17] != base::EID_BASE as u64 {
        return further(cx, vcpu);
    }
    (registers[10], registers[11]) = match base_call(registers[16] as usize, registers[10]) {
        Ok(value) => (0, value),
        Err(error) => (error.code.cast_unsigned(), error.value),
    };
    Exit::enter_unchanged(context)
}

enum Answer {
    /// Error and value in `a0` and `a1`.
    Standard(SbiResult),
    /// A legacy call's value in `a0`.
    Legacy(u64),
    /// It comes when admission has decided, or a message is copied.
    Later,
}

#[unsafe(export_name = "tactus_further_call")]
#[inline(never)]
extern "C" fn further(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Exit {
    // A look halfway: if the vCPU has to leave the hart first, it makes the call again.
    if !look::may_continue(cx) {
        context::repeat_call();
        return Exit::leave();
    }
    let registers = &cx.bodies.of(vcpu).context.registers;
    if service::is_call(registers) {
        let channel = registers[10];
        let result = service::call(cx, vcpu, channel);
        AnswerTo::Registers.give(&mut cx.bodies.of(vcpu).context.registers, result);
        return look::go_on(cx, vcpu);
    }
    let [a0, a1, a2, a3, a4, a5, function, extension] =
        *registers[10..].first_chunk().expect("32 registers");
    let arguments = [a0, a1, a2, a3, a4, a5];
    match dispatch(cx, vcpu, extension as usize, function as usize, arguments) {
        Answer::Legacy(value) => {
            cx.bodies.of(vcpu).context.registers[10] = value;
        }
        Answer::Standard(result) => {
            AnswerTo::Registers.give(&mut cx.bodies.of(vcpu).context.registers, result);
        }
        Answer::Later => {
            if !dispatch::continue_calls(cx, vcpu) {
                return Exit::leave();
            }
        }
    }
    look::go_on(cx, vcpu)
}

fn dispatch(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    extension: usize,
    function: usize,
    arguments: [u64; 6],
) -> Answer {
    let [a0, a1, a2, ..] = arguments;
    Answer::Standard(match extension {
        time::EID_TIME if function == time::SET_TIMER => {
            context::set_guest_timer(a0);
            Ok(0)
        }
        spi::EID_SPI if function == spi::SEND_IPI => send_ipi(cx, vcpu, a0, a1),
        rfnc::EID_RFNC => remote_fence(cx, vcpu, function, a0, a1),
        hsm::EID_HSM => hart_state(cx, vcpu, function, arguments),
        dbcn::EID_DBCN => text::debug_console(cx, vcpu, function, a0, a1, a2),
        srst::EID_SRST if function == srst::SYSTEM_RESET => reset(cx, vcpu, a0, a1),
        hypercall::EXTENSION => match tactus(cx, vcpu, function, arguments, AnswerTo::Registers) {
            Some(result) => result,
            None => return Answer::Later,
        },
        _ => match legacy::call(cx, vcpu, extension, a0) {
            Some(value) => return Answer::Legacy(value),
            None => Err(SbiError::NOT_SUPPORTED),
        },
    })
}

fn base_call(function: usize, extension: u64) -> SbiResult {
    match function {
        base::GET_SBI_SPEC_VERSION => Ok(SPECIFICATION_VERSION),
        base::GET_SBI_IMPL_ID => Ok(IMPLEMENTATION_ID),
        base::GET_SBI_IMPL_VERSION => Ok(TACTUS_VERSION),
        base::PROBE_EXTENSION => {
            let there = matches!(
                extension as usize,
                base::EID_BASE
                    | time::EID_TIME
                    | spi::EID_SPI
                    | rfnc::EID_RFNC
                    | hsm::EID_HSM
                    | dbcn::EID_DBCN
                    | srst::EID_SRST
                    | hypercall::EXTENSION
            );
            Ok((there || legacy::has(extension as usize)).into())
        }
        // A machine of no known vendor.
        base::GET_MVENDORID | base::GET_MARCHID | base::GET_MIMPID => Ok(0),
        _ => Err(SbiError::NOT_SUPPORTED),
    }
}

/// The vCPUs of the caller's VM that a hart mask names (SBI specification, "Hart list parameter"), as bits.
#[inline(never)]
fn targets(vcpu: &Vcpu, mask: u64, base: u64) -> Result<u32, SbiError> {
    let all = (1 << vcpu.vm.vcpus().len()) - 1;
    if base == u64::MAX {
        return Ok(all);
    }
    if mask == 0 {
        return Ok(0);
    }
    let set = mask << (base % u64::from(u64::BITS));
    // None is lost above, and each is there.
    if base < limit::VCPUS_PER_VM as u64 && set >> base == mask && set & !u64::from(all) == 0 {
        Ok(set as u32)
    } else {
        Err(SbiError::INVALID_PARAM)
    }
}

fn send_ipi(cx: &mut HartCtx, vcpu: &'static Vcpu, mask: u64, base: u64) -> SbiResult {
    for index in bits(targets(vcpu, mask, base)?.into()) {
        let target = &vcpu.vm.vcpus()[index];
        if send_software_interrupt(target) {
            signals::notify(cx, target);
        }
    }
    Ok(0)
}

/// Sends a vCPU an interrupt from another one of its VM; `true`: it is to be notified.
fn send_software_interrupt(vcpu: &Vcpu) -> bool {
    if vcpu.page.get().is_some() {
        let news = vcpu.page.send(0, 1 << IPI);
        vcpu.signal(signal::SOFTWARE);
        return news;
    }
    // If it has not taken the last one yet, it knows.
    vcpu.signal(signal::SOFTWARE) & signal::SOFTWARE == 0
}

/// Fences of translations are of all addresses and address spaces. Those of instructions include one, as it costs less
/// than the caches that they empty.
fn remote_fence(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    function: usize,
    mask: u64,
    base: u64,
) -> SbiResult {
    let fences = match function {
        // One that a hypercall has made uses no translation, and waits for nothing but its next job.
        _ if vcpu.is_made() => return Err(SbiError::NOT_SUPPORTED),
        rfnc::REMOTE_FENCE_I => signal::FENCES | signal::FENCE_I,
        rfnc::REMOTE_SFENCE_VMA | rfnc::REMOTE_SFENCE_VMA_ASID => signal::FENCES,
        _ => return Err(SbiError::NOT_SUPPORTED),
    };
    let targets = targets(vcpu, mask, base)?;
    let vm = vcpu.vm;
    let mut waits = 0;
    let mut numbers = Array([0; limit::VCPUS_PER_VM]);
    for (index, target) in vm.vcpus().iter().enumerate() {
        if targets >> index & 1 == 0 {
            continue;
        }
        if index == vcpu.index {
            arch::fence_guest(fences & signal::FENCE_I != 0);
            continue;
        }
        numbers[index] = target
            .fences_asked
            .fetch_add(1, Ordering::SeqCst)
            .wrapping_add(1);
        // Should it leave its hart from now on, it tells.
        target.signal(fences | signal::awaits(vcpu.index));
        if !target.state.has_left() {
            waits |= 1 << index;
        }
    }
    if waits != 0 {
        // Before anyone is told: the call has its answer when the vCPU runs again.
        block::wait(cx, vcpu, Wait::Fences(waits, numbers));
        for (index, target) in vm.vcpus().iter().enumerate() {
            if waits >> index & 1 != 0 {
                signals::notify(cx, target);
            }
        }
        // Giving the hart up is another piece of work.
        look::may_continue(cx);
    }
    Ok(0)
}

fn hart_state(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    function: usize,
    arguments: [u64; 6],
) -> SbiResult {
    let vm = vcpu.vm;
    let target = || {
        usize::try_from(arguments[0])
            .ok()
            .and_then(|index| vm.vcpus().get(index))
            .ok_or(SbiError::INVALID_PARAM)
    };
    match function {
        hsm::HART_START => {
            let target = target()?;
            let [_, pc, argument, ..] = arguments;
            if vm.memory_at(pc, 2).is_none() || !pc.is_multiple_of(2) {
                return Err(SbiError::INVALID_ADDRESS);
            }
            if vm.start_vcpu(target.index, pc, argument) {
                Ok(0)
            } else {
                Err(SbiError::ALREADY_AVAILABLE)
            }
        }
        hsm::HART_STOP => {
            vcpu.signal(signal::STOP);
            signals::notify(cx, vcpu);
            Err(SbiError::FAILED)
        }
        hsm::HART_GET_STATUS => {
            let status = match target()?.state.get() {
                State::Stopped => hsm::hart_state::STOPPED,
                State::Ready | State::Running | State::Waiting | State::Leaving => {
                    hsm::hart_state::STARTED
                }
            };
            Ok(status as u64)
        }
        hsm::HART_SUSPEND => match u32::try_from(arguments[0]) {
            // Retentive suspend is `wfi`.
            Ok(hsm::suspend_type::RETENTIVE) => {
                block::wait_for_interrupt(cx, vcpu);
                Ok(0)
            }
            Ok(hsm::suspend_type::NON_RETENTIVE) => Err(SbiError::NOT_SUPPORTED),
            _ => Err(SbiError::INVALID_PARAM),
        },
        _ => Err(SbiError::NOT_SUPPORTED),
    }
}

fn reset(cx: &mut HartCtx, vcpu: &'static Vcpu, kind: u64, reason: u64) -> SbiResult {
    let failed = match u32::try_from(reason) {
        Ok(srst::RESET_REASON_NO_REASON) => false,
        Ok(srst::RESET_REASON_SYSTEM_FAILURE) => true,
        _ => return Err(SbiError::INVALID_PARAM),
    };
    let end = match u32::try_from(kind) {
        Ok(srst::RESET_TYPE_SHUTDOWN) if failed => End::Fail(1),
        Ok(srst::RESET_TYPE_SHUTDOWN) => End::Shutdown,
        Ok(srst::RESET_TYPE_COLD_REBOOT | srst::RESET_TYPE_WARM_REBOOT) => End::Restart,
        _ => return Err(SbiError::INVALID_PARAM),
    };
    exception::end(cx, vcpu.vm, end);
    Ok(0)
}

/// Tactus's own calls; `None`: the answer comes later, see [`dispatch::continue_calls`].
pub fn tactus(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    function: usize,
    arguments: [u64; 6],
    answer: AnswerTo,
) -> Option<SbiResult> {
    let [a0, a1, a2, a3, ..] = arguments;
    // A call by memory comes from code that may run on any of the VM's vCPUs.
    let by_memory = answer != AnswerTo::Registers;
    let of_self = [
        hypercall::RT_QUERY,
        hypercall::RT_CHANGE,
        hypercall::RT_DELETE,
    ];
    if by_memory && (of_self.contains(&function) && a0 == hypercall::RT_SELF) {
        return Some(Err(SbiError::INVALID_PARAM));
    }
    Some(match function {
        hypercall::VERSION => Ok(TACTUS_VERSION),
        hypercall::CHANNEL_NOTIFY => delivery::ring(cx, vcpu.vm, a0)
            .map(|()| 0)
            .ok_or(SbiError::INVALID_PARAM),
        #[cfg(feature = "management")]
        hypercall::VM_STATUS => charge(vcpu, a0).map(management::status),
        #[cfg(not(feature = "management"))]
        hypercall::VM_STATUS => charge(vcpu, a0).map(|other| {
            let (state, cause) = other.status();
            state as u64 | u64::from(cause) << 8
        }),
        hypercall::VM_RESTART => charge(vcpu, a0).and_then(|other| match other.status().0 {
            VmState::Off | VmState::Faulted if other.revive() => Ok(0),
            _ => Err(SbiError::ALREADY_AVAILABLE),
        }),
        hypercall::CPU_TIME => Ok(vcpu.vm.cpu_ticks()),
        hypercall::RT_CREATE => {
            return requests::create(cx, vcpu, arguments, answer).err().map(Err);
        }
        hypercall::RT_CHANGE => {
            return requests::change(cx, vcpu, arguments, answer).err().map(Err);
        }
        hypercall::MESSAGE_SEND | hypercall::MESSAGE_RECEIVE => {
            let sends = function == hypercall::MESSAGE_SEND;
            return message::begin(cx, vcpu, sends, arguments, answer)
                .err()
                .map(Err);
        }
        hypercall::INTERRUPT_PAGE if !by_memory => vcpu.vm.share_page(cx, vcpu, a0),
        hypercall::INTERRUPT_END => vcpu.vm.end_interrupt(cx, a0),
        hypercall::RT_QUERY => realtime::query(vcpu, a0, a1, a2),
        hypercall::RT_DELETE => requests::delete(vcpu, a0),
        hypercall::ACCELERATOR_REQUESTS => {
            accelerators::requests(cx, vcpu, [a0, a1, a2, a3], !by_memory)
        }
        hypercall::CALL_SERVE if !by_memory => service::serve(cx, vcpu, a0, a1),
        hypercall::RT_YIELD if !by_memory => realtime::end_job(cx, vcpu),
        #[cfg(feature = "management")]
        management::FIRST..=management::LAST => management::call(cx, vcpu, function, arguments),
        _ => Err(SbiError::NOT_SUPPORTED),
    })
}

/// A VM that the caller may ask about: itself, or one whose faults are signalled to it.
#[inline(never)]
fn charge(vcpu: &Vcpu, index: u64) -> Result<&'static Vm, SbiError> {
    let other = usize::try_from(index)
        .ok()
        .and_then(|index| system().vms.get(index))
        .ok_or(SbiError::INVALID_PARAM)?;
    let config = other.config();
    let signals = OnFault::from_raw(config.on_fault) == Some(OnFault::Signal);
    let mine = config.signal_vm != NONE && config.signal_vm as usize == vcpu.vm.index;
    #[cfg(feature = "management")]
    if management::manages(vcpu.vm, other) {
        return Ok(other);
    }
    if other.index == vcpu.vm.index || signals && mine {
        Ok(other)
    } else {
        Err(SbiError::DENIED)
    }
}
