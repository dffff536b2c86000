//! The end of a ring that sends.

use tactus_abi::ring::{self, Position};

use crate::atomic::{Ordering, fence};
use crate::{Shared, copy, mend};

/// Why a record was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// There is no room now.
    Full,
    /// It is longer than [`Producer::record_max`].
    TooLong,
    /// The consumer's position was impossible. The ring has restarted: what had not been taken is lost, and sending
    /// works again.
    Corrupt,
}

/// The end of a ring that sends.
#[derive(Debug)]
pub struct Producer<'a> {
    ring: Shared<'a>,
    /// Its position. What is shared of it is never read back.
    own: Position,
    /// The consumer's sequence, as seen last.
    consumed: u32,
}

impl<'a> Producer<'a> {
    pub(crate) fn new(ring: Shared<'a>) -> Self {
        let own = Position::from_word(ring.produced.load(Ordering::Relaxed));
        let mut producer = Self {
            ring,
            own,
            consumed: ring::FIRST,
        };
        producer.begin();
        producer
    }

    /// Bytes of the longest record.
    pub const fn record_max(&self) -> usize {
        ring::record_max(self.ring.capacity())
    }

    /// Drops what has not been taken, and restarts. The consumer is told by [`crate::ReceiveError::Restarted`].
    pub fn begin(&mut self) {
        let seen = Position::from_word(self.ring.consumed.load(Ordering::Relaxed)).epoch;
        let mut epoch = self.own.epoch.wrapping_add(1);
        // At most two steps: two numbers are not to be taken.
        while epoch == 0 || epoch == seen {
            epoch = epoch.wrapping_add(1);
        }
        self.own = Position::first(epoch);
        self.consumed = ring::FIRST;
        self.ring
            .produced
            .store(self.own.to_word(), Ordering::Relaxed);
        // Whoever sees anything that is put into the ring from now on sees the new epoch too.
        fence(Ordering::Release);
    }

    /// Sends a record. The other end learns of it when it looks, or by the channel's doorbell.
    ///
    /// # Errors
    ///
    /// See [`SendError`]; nothing has been sent then.
    pub fn send(&mut self, record: &[u8]) -> Result<(), SendError> {
        if record.len() > self.record_max() {
            return Err(SendError::TooLong);
        }
        let size = ring::record_size(record.len());
        if self.room() < size {
            self.look()?;
            if self.room() < size {
                mend(self.ring.produced, self.own);
                return Err(SendError::Full);
            }
        }
        let sequence = self.own.sequence;
        let (head, _) = self.ring.from(sequence);
        head[0].store(record.len() as u64, Ordering::Relaxed);
        let (behind, before) = self.ring.from(sequence.wrapping_add(ring::ALIGN as u32));
        let (first, second) = record.split_at(record.len().min(behind.len() * ring::ALIGN));
        copy::put(behind, first);
        copy::put(before, second);
        self.own.sequence = sequence.wrapping_add(size as u32);
        // Whoever sees the new position sees the record.
        self.ring
            .produced
            .store(self.own.to_word(), Ordering::Release);
        Ok(())
    }

    /// Bytes that are free for all it knows.
    fn room(&self) -> usize {
        self.ring.capacity() - self.own.sequence.wrapping_sub(self.consumed) as usize
    }

    /// Learns how far the consumer is.
    fn look(&mut self) -> Result<(), SendError> {
        // The consumer has done its loads of what it says to have consumed.
        let position = Position::from_word(self.ring.consumed.load(Ordering::Acquire));
        if position.epoch != self.own.epoch {
            // It has not begun in this epoch.
            return Ok(());
        }
        let used = self.own.sequence.wrapping_sub(position.sequence) as usize;
        if used > self.ring.capacity() || !used.is_multiple_of(ring::ALIGN) {
            self.begin();
            return Err(SendError::Corrupt);
        }
        self.consumed = position.sequence;
        Ok(())
    }
}
