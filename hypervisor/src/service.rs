//! Calls between VMs: a vCPU calls another VM's service, which runs on that vCPU's hart, in its time, until it replies.
//!
//! The hart's scheduler does not know of it: the vCPU that calls stays the current one, and whatever interrupts
//! meanwhile waits. That is not long: each call has a limit, after which it is a fault of the VM that serves, and
//! admission counts it in. A service has no vCPU of its own: none is woken, given a priority or waited for, and each
//! call has the priority of the vCPU that makes it.
//!
//! **Protocol V3, services.** A [`Service`] is used by the hart that has its lock, from when a call is let in to its
//! end, guest included: calls of a VM are one after the other, first come, first served. Waits are bounded, as no chain
//! of calls comes back (the blob's `check_calls`): locks are taken in the order of a chain. A VM that has ended closes
//! its service before its memory is given to anything else, and waits for a call that is under way.

use crate::arch;
use crate::arch::context::{self, Context, Exception};
use crate::arch::service::{self, Trap};
use crate::call::{AnswerTo, SbiError, SbiResult};
use crate::dispatch::look;
use crate::hart::Hart;
use crate::hart::context::HartCtx;
use crate::system::system;
use crate::vm::{Vcpu, Vm};
use core::hint::cold_path;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_abi::blob::ChannelEnd;
use tactus_abi::hypercall;
use tactus_hypervisor::lock::Lock;
use tactus_policy::table::bits;

/// What a VM does for others.
pub struct Service(Lock<State>);

struct State {
    context: Context,
    /// Where calls begin; 0: there are none.
    entry: u64,
    stack: u64,
    /// `gp` and `tp`.
    pointers: (u64, u64),
    /// Harts, as bits, that hold nothing of the VM in their caches of instructions and translations that is older than
    /// `entry`.
    fresh: u64,
    /// Why it serves no more, until its VM has a fault by that.
    failure: Option<Exception>,
}

impl Service {
    /// One that is closed.
    pub const fn new() -> Self {
        Self(Lock::new(State {
            context: Context::new(0, false),
            entry: 0,
            stack: 0,
            pointers: (0, 0),
            fresh: 0,
            failure: None,
        }))
    }

    /// No call begins any more, and none is under way.
    pub fn close(&self) {
        self.0.lock().entry = 0;
    }
}

/// Calls of the vCPU's VM begin at `entry` from now on: [`hypercall::CALL_SERVE`].
pub fn serve(cx: &mut HartCtx, vcpu: &'static Vcpu, entry: u64, stack: u64) -> SbiResult {
    let blob = &system().blob;
    let is_called = |end: &ChannelEnd| {
        let peer = blob.channel_ends_of(&blob.vms[end.peer_vm as usize]);
        peer[end.peer_channel as usize].call_ticks != 0
    };
    if !blob.channel_ends_of(vcpu.vm.config()).iter().any(is_called) {
        return Err(SbiError::DENIED);
    }
    let memory = vcpu.vm.memory;
    let offset = entry.wrapping_sub(memory.guest);
    if entry != 0 && (entry & 1 != 0 || offset >= memory.size) {
        return Err(SbiError::INVALID_ADDRESS);
    }
    let own = &cx.bodies.of(vcpu).context;
    let mut state = vcpu.vm.service.0.lock();
    state.context.share_vm_of(own);
    state.entry = entry;
    state.stack = stack;
    state.pointers = service::guest_pointers();
    state.fresh = 0;
    Ok(0)
}

/// Whether a guest with these registers makes such a call.
#[inline(always)]
pub const fn is_call(registers: &[u64; 32]) -> bool {
    (registers[17] == hypercall::EXTENSION as u64) & (registers[16] == hypercall::CALL as u64)
}

/// The vCPU calls the VM at the other end of its channel: [`hypercall::CALL`].
#[inline(never)]
pub fn call(cx: &mut HartCtx, vcpu: &'static Vcpu, channel: u64) -> SbiResult {
    let (local, body) = cx.with_body(vcpu);
    let is_watched = body.livelock.is_watched();
    if is_watched {
        cold_path();
        context::watch(false);
    }
    let mut calls = Calls {
        hart: local.hart,
        fpu_ready: context::fpu_is_loaded(),
        external: &vcpu.external,
        failed: 0,
    };
    let result = calls.enter(&mut body.context, vcpu.vm, channel, u64::MAX, true);
    if is_watched {
        cold_path();
        context::watch(true);
    }
    local.timer.reuse();
    if calls.failed != 0 {
        cold_path();
        end_failed(cx, calls.failed);
    }
    result
}

/// The VMs, as bits, whose services have failed have faults.
#[cold]
#[inline(never)]
fn end_failed(cx: &mut HartCtx, failed: u64) {
    for index in bits(failed) {
        let server = &system().vms[index];
        let exception = server.service.0.lock().failure.take();
        if let Some(exception) = exception {
            server.fault(cx, &server.vcpus()[0], "call", &exception);
            look::may_continue(cx);
        }
    }
}

/// A call of a hart's current vCPU, and the calls within it.
struct Calls {
    hart: &'static Hart,
    /// The vCPU has the floating-point unit, which is off meanwhile.
    fpu_ready: bool,
    /// The vCPU's external interrupt is pending.
    external: &'static AtomicBool,
    /// VMs, as bits, whose services have failed.
    failed: u64,
}

impl Calls {
    /// The guest in the hart, of that VM, calls by that channel; its context is `from`. A call that may take longer
    /// than `until` (ticks) does not begin. `first`: it is the vCPU's guest, and no service that is called itself.
    #[inline(always)]
    fn enter(
        &mut self,
        from: &mut Context,
        vm: &'static Vm,
        channel: u64,
        until: u64,
        first: bool,
    ) -> SbiResult {
        let ends = system().blob.channel_ends_of(vm.config());
        let end = ends.get(channel as usize).filter(|end| end.call_ticks != 0);
        let end = end.ok_or(SbiError::INVALID_PARAM)?;
        let server = &system().vms[end.peer_vm as usize];
        let mut state = server.service.0.lock_inlined();
        if state.entry == 0 {
            return Err(SbiError::DENIED);
        }
        let over = arch::now() + u64::from(end.call_ticks);
        if over > until {
            return Err(SbiError::TIMEOUT);
        }
        let state = &mut *state;
        state
            .context
            .begin_call(state.entry, state.stack, state.pointers);
        let registers = &mut state.context.registers;
        registers[10] = end.peer_channel.into();
        pass(&from.registers, registers);
        from.exchange(&mut state.context, 0, false, false);
        let hart = 1 << self.hart.index;
        if state.fresh & hart == 0 {
            cold_path();
            arch::fence_own_stage2();
            arch::fence_guest(true);
            state.fresh |= hart;
        }
        let failure = self.run(state, server, over);
        let ready = first && self.fpu_ready;
        let external = first && self.external.load(Ordering::Relaxed);
        state
            .context
            .exchange(from, self.hart.stack_top, ready, external);
        if failure.is_some() {
            cold_path();
            state.entry = 0;
            state.failure = failure;
            self.failed |= 1 << server.index;
            return Err(SbiError::FAILED);
        }
        pass(&state.context.registers, &mut from.registers);
        Ok(from.registers[11])
    }

    /// A service, which is in the hart, runs until it replies; or until `over` (ticks), or it does what it may not:
    /// then the exception that is its VM's fault.
    fn run(&mut self, state: &mut State, server: &'static Vm, over: u64) -> Option<Exception> {
        loop {
            match service::run(&mut state.context, over) {
                Trap::Call => {}
                Trap::Time if arch::now() < over => continue,
                Trap::Time => return Some(Exception::read(hypercall::CALL_TOO_LONG_CAUSE)),
                Trap::Fault(cause) => return Some(Exception::read(cause)),
            }
            let registers = &state.context.registers;
            let is_own = registers[17] == hypercall::EXTENSION as u64;
            if is_own && registers[16] == hypercall::CALL_REPLY as u64 {
                return None;
            }
            cold_path();
            let result = if is_own && registers[16] == hypercall::CALL as u64 {
                self.enter_further(&mut state.context, server, over)
            } else {
                Err(SbiError::NOT_SUPPORTED)
            };
            AnswerTo::Registers.give(&mut state.context.registers, result);
        }
    }

    /// The service in the hart calls another VM.
    #[inline(never)]
    fn enter_further(&mut self, from: &mut Context, vm: &'static Vm, until: u64) -> SbiResult {
        self.enter(from, vm, from.registers[10], until, false)
    }
}

/// Passes a message on: `a1` to `a5`, `t0` to `t2`.
#[inline(always)]
fn pass(from: &[u64; 32], to: &mut [u64; 32]) {
    to[5..8].copy_from_slice(&from[5..8]);
    to[11..16].copy_from_slice(&from[11..16]);
}
