//! What waits at one end of a channel, and a vCPU's call that is not done yet.

use crate::arena::{Arena, Exhausted};
use crate::call::AnswerTo;
use tactus_abi::blob::{Blob, ChannelEnd};
use tactus_hypervisor::lock::Lock;
use tactus_policy::mailbox::{Mailbox, Outcome};
use tactus_policy::ready::Handle;
use tactus_policy::table::Table;

/// What waits at one end of a channel.
pub struct Endpoint {
    /// Who holds which slot, and who waits.
    pub mailbox: Lock<Mailbox>,
    /// Physical address of its slots.
    pub slots: u64,
}

/// A vCPU's call that is not done yet.
#[derive(Clone, Copy)]
pub struct Call {
    /// Number of the caller's channel.
    pub channel: u64,
    /// It sends; otherwise it receives.
    pub sends: bool,
    /// The receiving end.
    pub end: &'static ChannelEnd,
    /// What waits there.
    pub endpoint: &'static Endpoint,
    /// Guest-physical address of the caller's bytes, which are in its VM's memory.
    pub address: u64,
    /// Physical address of the first one, if all followed those of the present page.
    pub host: u64,
    /// How many bytes are before the end of that page: only of a VM with colours the next ones are elsewhere.
    pub part_end: u64,
    /// Bytes to copy; before the message is known: that there is room for.
    pub length: u64,
    /// The message's.
    pub priority: u8,
    /// It waits up to this time.
    pub until: u64,
    /// Where its answer goes.
    pub answer: AnswerTo,
    /// Physical address of the slot that it copies to or from, when it has one.
    pub slot: Option<u64>,
    /// Bytes copied.
    pub done: u64,
}

impl Call {
    /// The calling vCPU has made its copy, or never will.
    pub fn leave(&self, caller: Handle, made: bool) -> Outcome {
        let mut mailbox = self.endpoint.mailbox.lock();
        if self.sends == made {
            mailbox.deliver(caller, !self.sends)
        } else {
            mailbox.vacate(caller)
        }
    }
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
            mailbox: Lock::new(Mailbox::new(u32::from(end.messages))),
            slots: first,
        }
    })
}

/// Bytes of a slot, in memory.
pub fn slot_size(end: &ChannelEnd) -> u64 {
    u64::from(end.message_size).next_multiple_of(8)
}
