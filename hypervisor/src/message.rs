//! Messages between VMs, copied by the hypervisor: from the sender's memory to a slot at the receiving end of the
//! channel, and from there to the receiver's.
//!
//! A copy is made in the time of the vCPU that calls, in pieces, between which interrupts are served: a more urgent
//! vCPU may have the hart, and the copy goes on when the caller has one again. The caller does not run before its call
//! is done, so that nothing is half done but what [`Call`] and the mailbox hold; if it is stopped, the slot is
//! another's, or the message is back in the queue.

pub mod endpoint;
pub mod waiters;

use crate::arch::{self, memory};
use crate::body::Wait;
use crate::call::{AnswerTo, SbiError};
use crate::dispatch::look;
use crate::doorbell::delivery;
use crate::hart::context::HartCtx;
use crate::sched::{block, signals};
use crate::system::system;
use crate::vm::{Vcpu, Vm};
use core::sync::atomic::Ordering;
use endpoint::{Call, slot_size};
use tactus_abi::map::PAGE_SIZE;
use tactus_policy::mailbox::Received;
use tactus_policy::ready::Handle;
use tactus_policy::table::Table;

/// Bytes copied between two looks at the interrupts, where all are aligned.
const PIECE: u64 = 256;

/// Begins a call to send or to receive; [`continue_call`] completes it. `arguments` as of `message_send` and
/// `message_receive`.
pub fn begin(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    sends: bool,
    arguments: [u64; 6],
    answer: AnswerTo,
) -> Result<(), SbiError> {
    let [channel, address, length, ..] = arguments;
    let (priority, timeout) = match sends {
        true => (arguments[3], arguments[4]),
        false => (0, arguments[3]),
    };
    let blob = &system().blob;
    let config = vcpu.vm.config();
    let ends = blob.channel_ends_of(config);
    let end = ends.get(channel as usize).ok_or(SbiError::INVALID_PARAM)?;
    let index = match sends {
        true => blob.vms[end.peer_vm as usize].first_channel_end + end.peer_channel,
        false => config.first_channel_end + channel as u32,
    };
    let end = &Table::new(blob.channel_ends)[index as usize];
    if end.messages == 0 || sends && length > u64::from(end.message_size) {
        return Err(SbiError::INVALID_PARAM);
    }
    let priority = u8::try_from(priority).map_err(|_| SbiError::INVALID_PARAM)?;
    let host = (vcpu.vm.memory_at(address, length)).ok_or(SbiError::INVALID_ADDRESS)?;
    let part_end = match vcpu.vm.memory.spread {
        0 => u64::MAX,
        _ => PAGE_SIZE - address % PAGE_SIZE,
    };
    let until = match (timeout, answer) {
        (0, _) | (_, AnswerTo::Block(_)) => 0,
        _ => arch::now().saturating_add(timeout),
    };
    let body = cx.bodies.of(vcpu);
    body.unfinished = true;
    body.message = Some(Call {
        channel,
        sends,
        end,
        endpoint: &system().endpoints[index as usize],
        address,
        host,
        part_end,
        length,
        priority,
        until,
        answer,
        slot: None,
        done: 0,
    });
    Ok(())
}

/// Continues the current vCPU's call. `false`: it has to leave the hart, and the call continues when it has one again.
pub fn continue_call(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    while let Some(call) = &mut cx.bodies.of(vcpu).message {
        let result = match call.slot {
            Some(slot) if call.done < call.length => {
                copy(vcpu.vm, call, slot);
                None
            }
            Some(_) => {
                let call = *call;
                Some(Ok(complete(cx, vcpu, &call)))
            }
            None => {
                let mut taking = *call;
                match take_slot(cx, vcpu, &mut taking) {
                    Ok(true) => {
                        cx.bodies.of(vcpu).message = Some(taking);
                        None
                    }
                    Ok(false) => return false,
                    Err(error) => Some(Err(error)),
                }
            }
        };
        if let Some(result) = result {
            let call = cx.bodies.of(vcpu).message.take();
            let to = call.map_or(AnswerTo::Registers, |call| call.answer);
            to.give(&mut cx.bodies.of(vcpu).context.registers, result);
        }
        if !look::may_continue(cx) {
            return false;
        }
    }
    true
}

/// Asks the mailbox for a slot. `false`: the vCPU waits now.
fn take_slot(cx: &mut HartCtx, vcpu: &'static Vcpu, call: &mut Call) -> Result<bool, SbiError> {
    // A hart that gives it a slot from now on wakes it.
    vcpu.message.store(false, Ordering::SeqCst);
    let waits = call.until > arch::now();
    let slot = {
        let mut mailbox = call.endpoint.mailbox.lock();
        if call.sends {
            mailbox.send(vcpu.handle, call.length as u32, call.priority, waits)
        } else {
            match mailbox.receive(vcpu.handle, call.length, waits) {
                Received::Message { slot, length } => {
                    call.length = length.into();
                    Some(slot)
                }
                Received::Nothing => None,
                Received::TooLong { length, wake } => {
                    drop(mailbox);
                    tell(cx, wake);
                    return Err(SbiError::too_long(length));
                }
            }
        }
    };
    match slot {
        Some(slot) => {
            call.slot = Some(call.endpoint.slots + slot as u64 * slot_size(call.end));
            Ok(true)
        }
        None if waits => {
            block::wait(cx, vcpu, Wait::Message { until: call.until });
            Ok(false)
        }
        None => Err(SbiError::TIMEOUT),
    }
}

/// Copies a piece.
fn copy(vm: &Vm, call: &mut Call, slot: u64) {
    if call.done == call.part_end {
        call.host = vm.host_of(call.address + call.done) - call.done;
        call.part_end += PAGE_SIZE;
    }
    let (from, to) = match call.sends {
        true => (call.host, slot),
        false => (slot, call.host),
    };
    let left = call.length.min(call.part_end) - call.done;
    let count = left.min(memory::piece(from, to, PIECE));
    // Safety: `begin` has found all of the caller's bytes in its VM's memory, where nothing of the hypervisor is; other
    // vCPUs of the VM may write them, but they are only ever data. The slot is this vCPU's alone, and large enough for
    // its message.
    unsafe {
        memory::copy_shared(from + call.done, to + call.done, count);
    }
    call.done += count;
}

/// All has been copied: the value that the call returns.
fn complete(cx: &mut HartCtx, vcpu: &'static Vcpu, call: &Call) -> u64 {
    let outcome = call.leave(vcpu.handle, true);
    if outcome.first {
        // Its channel is there.
        let _ = delivery::ring(cx, vcpu.vm, call.channel);
    }
    tell(cx, outcome.wake);
    if call.sends { 0 } else { call.length }
}

/// A vCPU has got what it waited for.
fn tell(cx: &mut HartCtx, wake: Option<Handle>) {
    if let Some(vcpu) = waiters::woken(wake) {
        signals::notify(cx, vcpu);
    }
}
