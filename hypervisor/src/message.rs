//! Messages between VMs, copied by the hypervisor: from the sender's memory to a slot at the receiving end of the channel, and from
//! there to the receiver's.
//!
//! A copy is made in the time of the vCPU that calls, in pieces, between which interrupts are served: a more urgent vCPU may have
//! the hart, and the copy goes on when the caller has one again. The caller does not run before its call is done, so that nothing
//! is half done but what [`Call`] and the mailbox hold; if it is stopped, the slot is another's, or the message is back in the queue.

use crate::arch::{self, memory};
use crate::arena::{Arena, Exhausted};
use crate::devices;
use crate::hart::context::HartCtx;
use crate::realtime::{self, AnswerTo};
use crate::sbi::SbiError;
use crate::sched;
use crate::sched::{block, signals};
use crate::system::system;
use crate::vcpu::{Vcpu, Wait};
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::{Blob, ChannelEnd};
use tactus_hypervisor::lock::Lock;
use tactus_policy::mailbox::{Mailbox, Outcome, Received};
use tactus_policy::ready::Handle;
use tactus_policy::table::Table;

/// Bytes copied between two looks at the interrupts, where all are aligned.
const PIECE: u64 = 256;

/// What waits at one end of a channel.
pub struct Endpoint {
    mailbox: Lock<Mailbox>,
    /// Physical address of its slots.
    slots: u64,
}

/// A vCPU's call that is not done yet.
#[derive(Clone, Copy)]
pub struct Call {
    /// Number of the caller's channel.
    channel: u64,
    sends: bool,
    /// The receiving end.
    end: &'static ChannelEnd,
    endpoint: &'static Endpoint,
    /// Physical address of the caller's bytes.
    host: u64,
    /// Bytes to copy; before the message is known: that there is room for.
    length: u64,
    priority: u8,
    /// It waits up to this time.
    until: u64,
    answer: AnswerTo,
    /// Physical address of the slot that it copies to or from, when it has one.
    slot: Option<u64>,
    done: u64,
}

/// Makes what holds messages, for each channel end.
pub fn endpoints(
    arena: &Arena,
    blob: &Blob<'static>,
) -> Result<&'static Table<Endpoint>, Exhausted> {
    let slots_size = |end: &ChannelEnd| slot_size(end) * u64::from(end.messages);
    let mut slots = arena.bytes(blob.channel_ends.iter().map(slots_size).sum())?;
    arena.slice(blob.channel_ends.len(), |index| {
        let end = &Table::new(blob.channel_ends)[index];
        let first = slots;
        slots += slots_size(end);
        Endpoint {
            mailbox: Lock::new(Mailbox::new(end.messages)),
            slots: first,
        }
    })
}

/// Bytes of a slot, in memory.
fn slot_size(end: &ChannelEnd) -> u64 {
    u64::from(end.message_size).next_multiple_of(8)
}

/// Begins a call to send or to receive; [`continue_call`] completes it. `arguments` as of `message_send` and `message_receive`.
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
    let host = vcpu.vm.memory_at(address, length);
    let host = host.ok_or(SbiError::INVALID_ADDRESS)?;
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
        host,
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
                copy(call, slot);
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
            realtime::answer(cx, vcpu, to, result);
        }
        if !sched::may_continue(cx) {
            return false;
        }
    }
    true
}

/// Asks the mailbox for a slot. `false`: the vCPU waits now.
fn take_slot(cx: &mut HartCtx, vcpu: &'static Vcpu, call: &mut Call) -> Result<bool, SbiError> {
    // Whoever gives it a slot from now on wakes it.
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
fn copy(call: &mut Call, slot: u64) {
    let (from, to) = match call.sends {
        true => (call.host, slot),
        false => (slot, call.host),
    };
    let count = (call.length - call.done).min(memory::piece(from, to, PIECE));
    // Safety: `begin` has found all of the caller's bytes in its VM's memory, where nothing of the hypervisor is; other vCPUs
    // of the VM may write them, but they are only ever data. The slot is this vCPU's alone, and large enough for its message.
    unsafe {
        memory::copy_shared(from + call.done, to + call.done, count);
    }
    call.done += count;
}

/// All has been copied: the value that the call returns.
fn complete(cx: &mut HartCtx, vcpu: &'static Vcpu, call: &Call) -> u64 {
    let outcome = leave(vcpu, call, true);
    if outcome.first {
        // Its channel is there.
        let _ = devices::ring(cx, vcpu.vm, call.channel);
    }
    tell(cx, outcome.wake);
    if call.sends { 0 } else { call.length }
}

/// The vCPU has made its copy, or never will.
fn leave(vcpu: &Vcpu, call: &Call, made: bool) -> Outcome {
    let mut mailbox = call.endpoint.mailbox.lock();
    if call.sends == made {
        mailbox.deliver(vcpu.handle, !call.sends)
    } else {
        mailbox.vacate(vcpu.handle)
    }
}

/// A vCPU has got what it waited for.
fn tell(cx: &mut HartCtx, wake: Option<Handle>) {
    if let Some(vcpu) = woken(wake) {
        signals::notify(cx, vcpu);
    }
}

fn woken(wake: Option<Handle>) -> Option<&'static Vcpu> {
    let vcpu = system().vcpu(wake?);
    vcpu.message.store(true, Ordering::Release);
    Some(vcpu)
}

/// A vCPU of this hart, which does not run, stops: whatever it was at comes to nothing.
pub fn stopped(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let Some(call) = cx.bodies.of(vcpu).message.take() else {
        return;
    };
    let wake = leave(vcpu, &call, false).wake;
    if let Some(other) = woken(wake) {
        // Not from here: it may be about to stop too, and so on.
        fence(Ordering::SeqCst);
        system().harts[other.home()].post(other);
    }
}
