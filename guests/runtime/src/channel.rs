//! Channels: memory shared with another VM, with rings of records in it, a doorbell in each direction, and messages
//! copied by the hypervisor.

use core::sync::atomic::{AtomicU32, AtomicU64};

use tactus_abi::hypercall::{
    BAD_RANGE_ERROR, EXTENSION, MESSAGE_RECEIVE, MESSAGE_SEND, TIMEOUT_ERROR,
};
use tactus_abi::map;
pub use tactus_channel::{Consumer, End, Producer, ReceiveError, SendError};

use crate::{devicetree, hypervisor, interrupts, sbi};

/// The timeout that never expires.
pub const FOR_EVER: u64 = u64::MAX;

/// Why a message was not sent or not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// The queue was still full, or empty, at the timeout.
    Timeout,
    /// The message, with this length, is longer than the buffer. It stays queued.
    TooLong(usize),
    /// Another error of the call, see [`tactus_abi::hypercall::MESSAGE_SEND`].
    Call(sbi::Error),
}

/// This VM's end of a channel.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    number: usize,
    memory: usize,
    size: usize,
}

impl Channel {
    /// Channel `number` of this VM, whose memory is `size` bytes at guest-physical address `memory`.
    ///
    /// # Safety
    ///
    /// The system gives the VM this channel, with this memory (`system.toml`, key `channel`).
    pub const unsafe fn at(number: usize, memory: usize, size: usize) -> Self {
        Self {
            number,
            memory,
            size,
        }
    }

    /// Channel 0 of this VM, with `size` bytes of memory.
    ///
    /// # Safety
    ///
    /// The system gives the VM a channel, and its memory is at least as large.
    pub const unsafe fn first(size: usize) -> Self {
        // SAFETY: the first channel's memory begins at the base (memory map); the caller vouches for the rest.
        unsafe { Self::at(0, map::CHANNEL_BASE as usize, size) }
    }

    /// Channel `number` of this VM, as the devicetree describes it; `None`: it has none.
    pub fn find(number: usize) -> Option<Self> {
        let channel = devicetree::channel(number)?;
        // SAFETY: the devicetree is the system's own description of what it gives the VM.
        Some(unsafe { Self::at(number, channel.memory, channel.size) })
    }

    /// The end of this VM, from the devicetree; `None`: not stated there.
    pub fn end(self) -> Option<End> {
        match devicetree::channel(self.number)?.end? {
            0 => Some(End::First),
            _ => Some(End::Second),
        }
    }

    /// Starts this end of the channel's rings, see [`tactus_channel::open`]. `None`: the memory is too small, or the
    /// devicetree does not state the end.
    pub fn rings(self) -> Option<(Producer<'static>, Consumer<'static>)> {
        tactus_channel::open(self.words(), self.end()?)
    }

    /// Sends a copy of a message. `priority`: higher first. Waits for a free slot for at most `timeout` ticks;
    /// meanwhile this vCPU is blocked and takes no interrupts.
    ///
    /// # Errors
    ///
    /// [`MessageError::Timeout`]; [`MessageError::Call`] with `InvalidParam`: no such channel, it carries no messages,
    /// or not such long ones.
    pub fn send(self, message: &[u8], priority: u8, timeout: u64) -> Result<(), MessageError> {
        let address = message.as_ptr() as usize;
        let priority = usize::from(priority);
        let arguments = [
            self.number,
            address,
            message.len(),
            priority,
            timeout as usize,
            0,
        ];
        // SAFETY: the call reads the message, which is borrowed.
        let answer = unsafe { sbi::call_raw(EXTENSION, MESSAGE_SEND, arguments) };
        message_result(answer).map(drop)
    }

    /// Receives the first message of the highest priority into `buffer` and returns its length. Waits for one for at
    /// most `timeout` ticks; meanwhile this vCPU is blocked and takes no interrupts.
    ///
    /// # Errors
    ///
    /// As [`Channel::send`], and [`MessageError::TooLong`].
    pub fn receive(self, buffer: &mut [u8], timeout: u64) -> Result<usize, MessageError> {
        let address = buffer.as_mut_ptr() as usize;
        let arguments = [self.number, address, buffer.len(), timeout as usize, 0, 0];
        // SAFETY: the call writes to the buffer at most, which is borrowed mutably.
        let answer = unsafe { sbi::call_raw(EXTENSION, MESSAGE_RECEIVE, arguments) };
        message_result(answer)
    }

    /// The memory, as words. The ends observe each other's writes in the order that the orderings of the accesses
    /// require.
    pub fn words(self) -> &'static [AtomicU64] {
        // SAFETY: the range belongs to the channel (`at`), is page aligned and lives as long as the VM; atomics may be
        // written by the other end at any time.
        unsafe { core::slice::from_raw_parts(self.memory as *const AtomicU64, self.size / 8) }
    }

    /// Rings the other end by a hypercall.
    ///
    /// # Errors
    ///
    /// [`sbi::Error::InvalidParam`]: the VM has no such channel.
    pub fn notify(self) -> Result<(), sbi::Error> {
        hypervisor::channel_notify(self.number)
    }

    /// Rings the other end by a store to the doorbell page.
    pub fn ring(self) {
        let doorbell = (map::DOORBELL_BASE as usize + 4 * self.number) as *const AtomicU32;
        // SAFETY: the doorbell page is the VM's own, and has a doorbell for each of its channels.
        unsafe { &*doorbell }.store(1, core::sync::atomic::Ordering::Release);
    }

    /// PLIC source by which the other end rings this one.
    pub const fn source(self) -> u32 {
        map::CHANNEL_SOURCE + self.number as u32
    }

    /// Enables the other end's doorbell interrupt on the running hart.
    pub fn enable_interrupt(self, priority: u32) {
        interrupts::enable(self.source(), priority);
    }
}

fn message_result(answer: sbi::Answer) -> Result<usize, MessageError> {
    match answer.error as i64 {
        TIMEOUT_ERROR => Err(MessageError::Timeout),
        BAD_RANGE_ERROR => Err(MessageError::TooLong(answer.value)),
        _ => answer.result().map_err(MessageError::Call),
    }
}
