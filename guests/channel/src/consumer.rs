//! The receiving end of a ring.

use tactus_abi::ring::{self, Position};

use crate::atomic::{Ordering, fence};
use crate::{Shared, copy, mend};

/// The reason why no record was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// There is no record now.
    Empty,
    /// The record has this length, and the buffer is shorter. It stays; see [`Consumer::skip`].
    TooLong(usize),
    /// The producer has restarted. Its earlier records that were not received are lost; new records will be
    /// received.
    Restarted,
    /// The producer has written invalid data. All of it has been dropped; new records will be received.
    Corrupt,
}

/// The receiving end of a ring.
#[derive(Debug)]
pub struct Consumer<'a> {
    ring: Shared<'a>,
    /// Its position. The shared copy is never read back, except at the start.
    own: Position,
}

impl<'a> Consumer<'a> {
    pub(crate) fn new(ring: Shared<'a>) -> Self {
        let own = Position::from_word(ring.consumed.load(Ordering::Relaxed));
        let produced = Position::from_word(ring.produced.load(Ordering::Relaxed));
        Self {
            ring,
            // In an earlier epoch there is no position to continue from.
            own: if own.epoch == produced.epoch {
                own
            } else {
                Position::first(0)
            },
        }
    }

    /// Bytes of the longest record there can be.
    pub const fn record_max(&self) -> usize {
        ring::record_max(self.ring.capacity())
    }

    /// Takes the oldest record, copies it to the start of `buffer` and returns its length.
    ///
    /// # Errors
    ///
    /// See [`ReceiveError`]; the buffer's contents are then undefined.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, ReceiveError> {
        let length = self.first()?;
        let Some(bytes) = buffer.get_mut(..length) else {
            self.still_valid()?;
            return Err(ReceiveError::TooLong(length));
        };
        let begin = self.own.sequence.wrapping_add(ring::ALIGN as u32);
        let (behind, before) = self.ring.from(begin);
        let (first, second) = bytes.split_at_mut(length.min(behind.len() * ring::ALIGN));
        copy::get(behind, first);
        copy::get(before, second);
        self.still_valid()?;
        self.take(length);
        Ok(length)
    }

    /// Drops the oldest record and returns its length.
    ///
    /// # Errors
    ///
    /// As [`Consumer::receive`], except for [`ReceiveError::TooLong`].
    pub fn skip(&mut self) -> Result<usize, ReceiveError> {
        let length = self.first()?;
        self.still_valid()?;
        self.take(length);
        Ok(length)
    }

    /// Length of the oldest record, which lies within the ring's contents.
    fn first(&mut self) -> Result<usize, ReceiveError> {
        // The producer's stores of the data precede its store of this position.
        let position = Position::from_word(self.ring.produced.load(Ordering::Acquire));
        if position.epoch != self.own.epoch {
            let first = self.own.epoch == 0;
            self.own = Position::first(position.epoch);
            self.publish();
            if !first {
                return Err(ReceiveError::Restarted);
            }
        }
        if position.epoch == 0 || position.sequence == self.own.sequence {
            mend(self.ring.consumed, self.own);
            return Err(ReceiveError::Empty);
        }
        let held = position.sequence.wrapping_sub(self.own.sequence) as usize;
        let (head, _) = self.ring.from(self.own.sequence);
        let length = head[0].load(Ordering::Relaxed);
        // The ring holds a whole number of words, at least one and at most its capacity, which include the
        // record.
        let sound = held <= self.ring.capacity()
            && held.is_multiple_of(ring::ALIGN)
            && self.own.sequence.is_multiple_of(ring::ALIGN as u32)
            && length <= (held - ring::ALIGN) as u64;
        if !sound {
            self.still_valid()?;
            self.own.sequence = position.sequence / ring::ALIGN as u32 * ring::ALIGN as u32;
            self.publish();
            return Err(ReceiveError::Corrupt);
        }
        Ok(length as usize)
    }

    /// Checks that the data loaded from the ring belong to this epoch.
    fn still_valid(&mut self) -> Result<(), ReceiveError> {
        // All loads above precede the load below.
        fence(Ordering::Acquire);
        let position = Position::from_word(self.ring.produced.load(Ordering::Relaxed));
        if position.epoch == self.own.epoch {
            return Ok(());
        }
        self.own = Position::first(position.epoch);
        self.publish();
        Err(ReceiveError::Restarted)
    }

    /// Advances the position over a record of this length.
    fn take(&mut self, length: usize) {
        self.own.sequence = self
            .own
            .sequence
            .wrapping_add(ring::record_size(length) as u32);
        self.publish();
    }

    /// Publishes the position: all loads of consumed data precede it.
    fn publish(&self) {
        self.ring
            .consumed
            .store(self.own.to_word(), Ordering::Release);
    }
}
