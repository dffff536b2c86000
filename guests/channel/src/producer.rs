//! The sending end of a ring.

use tactus_abi::ring::{self, Position};

use crate::atomic::{Ordering, fence};
use crate::{Shared, copy, mend};

/// The reason why a record was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// There is no room now.
    Full,
    /// The record is longer than [`Producer::record_max`].
    TooLong,
    /// The consumer's position was invalid. The ring has restarted: records that were not received are lost, and
    /// sending works again.
    Corrupt,
}

/// The sending end of a ring.
#[derive(Debug)]
pub struct Producer<'a> {
    ring: Shared<'a>,
    /// Its position. The shared copy is never read back.
    own: Position,
    /// The consumer's sequence, as last read.
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

    /// Drops records that were not received, and restarts. The consumer gets [`crate::ReceiveError::Restarted`].
    pub fn begin(&mut self) {
        let seen = Position::from_word(self.ring.consumed.load(Ordering::Relaxed)).epoch;
        let mut epoch = self.own.epoch.wrapping_add(1);
        // At most two steps: two numbers are excluded.
        while epoch == 0 || epoch == seen {
            epoch = epoch.wrapping_add(1);
        }
        self.own = Position::first(epoch);
        self.consumed = ring::FIRST;
        self.ring
            .produced
            .store(self.own.to_word(), Ordering::Relaxed);
        // An observer of any later store to the ring also observes the new epoch.
        fence(Ordering::Release);
    }

    /// Sends a record. The other end learns of it by polling, or by the channel's doorbell.
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
        // An observer of the new position also observes the record.
        self.ring
            .produced
            .store(self.own.to_word(), Ordering::Release);
        Ok(())
    }

    /// Bytes that are free, by the consumer's last known position.
    fn room(&self) -> usize {
        self.ring.capacity() - self.own.sequence.wrapping_sub(self.consumed) as usize
    }

    /// Reads the consumer's position.
    fn look(&mut self) -> Result<(), SendError> {
        // The consumer's loads of the data precede its store of this position.
        let position = Position::from_word(self.ring.consumed.load(Ordering::Acquire));
        if position.epoch != self.own.epoch {
            // The consumer has not started in this epoch.
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
