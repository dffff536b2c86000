//! The protocol by which the hostile guest and its peer finally verify their channel: through the last word of the
//! channel's memory, behind the rings.

use core::sync::atomic::Ordering;

use tactus_guest::channel::{Channel, MessageError};
use tactus_guest::{time, trap};

/// Slots for messages at an end (`systems/hostile-ring.toml`).
const MESSAGES: usize = 4;
/// Bytes of a message, at most.
pub const MESSAGE_SIZE: usize = 512;
/// Records that verify the ring.
pub const RECORDS: usize = 20;

/// The phase that both have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Phase {
    /// The hostile guest has finished its attacks.
    Peace = 1,
    /// The peer has received all pending messages, and sends no more.
    Drained = 2,
    /// The hostile guest too; it has sent as many messages as there are slots, and [`RECORDS`] records.
    Sent = 3,
    /// The peer has received all of them, and has sent as many messages.
    Received = 4,
}

/// A channel whose last word holds the phase.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The channel.
    pub channel: Channel,
}

/// The contents of record `number`.
pub fn record(number: usize) -> [u8; 33] {
    [number as u8; 33]
}

impl Meeting {
    /// Opens the VM's channel `number`; `None`: there is no such channel.
    pub fn new(number: usize) -> Option<Self> {
        let channel = Channel::find(number)?;
        Some(Self { channel })
    }

    fn word(self) -> &'static core::sync::atomic::AtomicU64 {
        let words = self.channel.words();
        &words[words.len() - 1]
    }

    /// Announces that this phase is reached.
    pub fn say(self, phase: Phase) {
        self.word().store(phase as u64, Ordering::Release);
    }

    /// Whether this phase is reached.
    pub fn is_at(self, phase: Phase) -> bool {
        self.word().load(Ordering::Acquire) >= phase as u64
    }

    /// Waits until this phase is reached.
    ///
    /// # Errors
    ///
    /// It was not reached in a second.
    pub fn wait_for(self, phase: Phase) -> Result<(), &'static str> {
        let begin = time::now();
        trap::on_timer(|| {});
        while !self.is_at(phase) {
            // The other end may need the hart.
            time::set_deadline(time::now() + time::hz() / 10_000);
            trap::wait_for_interrupt();
            if time::now() - begin > time::hz() {
                return Err("the other end has not answered");
            }
        }
        Ok(())
    }

    /// Sends as many messages as there are slots.
    ///
    /// # Errors
    ///
    /// There are fewer slots, or more.
    pub fn fill(self) -> Result<(), &'static str> {
        for number in 0..MESSAGES {
            if self
                .channel
                .send(&[number as u8; MESSAGE_SIZE], 9, 0)
                .is_err()
            {
                return Err("a place for a message is lost");
            }
        }
        match self.channel.send(&[0; MESSAGE_SIZE], 9, 0) {
            Err(MessageError::Timeout) => Ok(()),
            _ => Err("there are too many places for messages"),
        }
    }

    /// Receives these messages.
    ///
    /// # Errors
    ///
    /// They are not the messages that were sent.
    pub fn empty(self) -> Result<(), &'static str> {
        let mut buffer = [0; MESSAGE_SIZE];
        for number in 0..MESSAGES {
            let received = self.channel.receive(&mut buffer, 0);
            if received != Ok(MESSAGE_SIZE) || buffer.iter().any(|byte| *byte != number as u8) {
                return Err("a message is not the one that was sent");
            }
        }
        match self.channel.receive(&mut buffer, 0) {
            Err(MessageError::Timeout) => Ok(()),
            _ => Err("there is a message too many"),
        }
    }
}
