//! How the hostile guest and its peer, who share a channel, come to terms in the end: by the last word of the channel's
//! memory, which lies behind the rings.

use core::sync::atomic::Ordering;

use tactus_guest::channel::{Channel, MessageError};
use tactus_guest::{time, trap};

/// Messages that wait at an end (`systems/hostile-ring.toml`).
const MESSAGES: usize = 4;
/// Bytes of one, at most.
pub const MESSAGE_SIZE: usize = 512;
/// Records of the proof that the ring works.
pub const RECORDS: usize = 20;

/// How far they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Phase {
    /// The hostile guest has done its worst.
    Peace = 1,
    /// The peer has received what messages there were, and sends no more.
    Drained = 2,
    /// The hostile guest too; it has sent as many messages as there are places, and [`RECORDS`] records.
    Sent = 3,
    /// The peer has found all of them, and has sent as many messages.
    Received = 4,
}

/// A channel with a last word.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The channel.
    pub channel: Channel,
}

/// The record of that number.
pub fn record(number: usize) -> [u8; 33] {
    [number as u8; 33]
}

impl Meeting {
    /// In the VM's channel `number`; `None`: it has none.
    pub fn new(number: usize) -> Option<Self> {
        let channel = Channel::find(number)?;
        Some(Self { channel })
    }

    fn word(self) -> &'static core::sync::atomic::AtomicU64 {
        let words = self.channel.words();
        &words[words.len() - 1]
    }

    /// Says that this phase is reached.
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
    /// It was not in a second.
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

    /// Sends as many messages as there are places.
    ///
    /// # Errors
    ///
    /// There are fewer, or more.
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

    /// Receives them.
    ///
    /// # Errors
    ///
    /// They are not those that were sent.
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
