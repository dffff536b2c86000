//! The end of a ring that receives.

use tactus_abi::ring::{self, Position};

use crate::atomic::{Ordering, fence};
use crate::{Shared, copy, mend};

/// Why no record was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// There is none now.
    Empty,
    /// The record has this length, and the buffer is shorter. It stays; see [`Consumer::skip`].
    TooLong(usize),
    /// The producer has restarted. What it had sent before and was not received is lost; from now on its new records
    /// are.
    Restarted,
    /// What the producer has written is impossible. All of it has been dropped; from now on new records are received.
    Corrupt,
}

/// The end of a ring that receives.
#[derive(Debug)]
pub struct Consumer<'a> {
    ring: Shared<'a>,
    /// Its position. What is shared of it is never read back but at the start.
    own: Position,
}

impl<'a> Consumer<'a> {
    pub(crate) fn new(ring: Shared<'a>) -> Self {
        let own = Position::from_word(ring.consumed.load(Ordering::Relaxed));
        let produced = Position::from_word(ring.produced.load(Ordering::Relaxed));
        Self {
            ring,
            // In an epoch that has gone by there is nothing to continue with.
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

    /// Takes the oldest record, copies it to the start of `buffer` and tells its length.
    ///
    /// # Errors
    ///
    /// See [`ReceiveError`]; the buffer may hold anything then.
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

    /// Drops the oldest record and tells its length.
    ///
    /// # Errors
    ///
    /// As [`Consumer::receive`], but for [`ReceiveError::TooLong`].
    pub fn skip(&mut self) -> Result<usize, ReceiveError> {
        let length = self.first()?;
        self.still_valid()?;
        self.take(length);
        Ok(length)
    }

    /// Length of the oldest record, which lies within what the ring holds.
    fn first(&mut self) -> Result<usize, ReceiveError> {
        // The producer has done its stores of what it says to have produced.
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
        // What the ring holds is a whole number of words, more than none and no more than the ring; the record is a
        // part of it.
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

    /// Whether what has been loaded from the ring is of this epoch.
    fn still_valid(&mut self) -> Result<(), ReceiveError> {
        // Before the load below are all the loads above.
        fence(Ordering::Acquire);
        let position = Position::from_word(self.ring.produced.load(Ordering::Relaxed));
        if position.epoch == self.own.epoch {
            return Ok(());
        }
        self.own = Position::first(position.epoch);
        self.publish();
        Err(ReceiveError::Restarted)
    }

    /// The record of this length is done with.
    fn take(&mut self, length: usize) {
        self.own.sequence = self
            .own
            .sequence
            .wrapping_add(ring::record_size(length) as u32);
        self.publish();
    }

    /// Tells the producer: all loads of what is consumed are done.
    fn publish(&self) {
        self.ring
            .consumed
            .store(self.own.to_word(), Ordering::Release);
    }
}
