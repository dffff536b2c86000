//! The driver's side of a split virtqueue (virtio 1.2, section 2.7), for a service VM that has a device of its own.
//!
//! The user of a queue divides its descriptors into slots, of which each has one request at a time. The protocol is Q1
//! ([`crate::queue`]), with the sides changed. The device is not trusted: whatever it writes into the used ring, no
//! access is outside of the queue.

use crate::memory::{Memory, Outside};
use crate::queue::{Buffer, DESCRIPTOR, NEXT, NO_INTERRUPT, USED, WRITE};

/// The parts of a queue in memory: descriptors, available ring, used ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Where the descriptors are, by the device's addresses.
    pub descriptors: u64,
    /// ... the available ring.
    pub available: u64,
    /// ... the used ring.
    pub used: u64,
}

impl Parts {
    /// Bytes that a queue of `size` entries takes.
    pub const fn bytes(size: u16) -> u64 {
        let own = Self::at(0, size);
        own.used + 4 + USED * size as u64
    }

    /// Those of a queue of `size` entries from the address `first` on.
    pub const fn at(first: u64, size: u16) -> Self {
        let available = first + DESCRIPTOR * size as u64;
        let behind = available + 4 + 2 * size as u64;
        Self {
            descriptors: first,
            available,
            used: behind.next_multiple_of(4),
        }
    }
}

/// A queue.
#[derive(Clone, Copy, Debug)]
pub struct Requester<M> {
    memory: M,
    parts: Parts,
    size: u16,
    added: u16,
}

impl<M: Memory> Requester<M> {
    /// A queue of `size` entries, a power of two, in memory from the address `first` on, a multiple of 16: all of it
    /// becomes zeroes.
    ///
    /// # Errors
    ///
    /// A part of it is [`Outside`].
    pub fn new(memory: M, first: u64, size: u16) -> Result<Self, Outside> {
        for word in 0..Parts::bytes(size).div_ceil(4) {
            memory.write(first + 4 * word, &[0; 4])?;
        }
        Ok(Self {
            memory,
            parts: Parts::at(first, size),
            size,
            added: 0,
        })
    }

    /// The device is to interrupt for none of its requests (section 2.7.7).
    ///
    /// # Errors
    ///
    /// None: the ring was all there ([`Requester::new`]).
    pub fn want_no_interrupts(&self) -> Result<(), Outside> {
        self.memory.store_index(self.parts.available, NO_INTERRUPT)
    }

    /// Its parts.
    pub const fn parts(&self) -> Parts {
        self.parts
    }

    /// Announces a request of these buffers, those to be read first, by the descriptors from `first` on, which no
    /// request has that is in flight. The device is not told so yet.
    ///
    /// # Errors
    ///
    /// The queue has not so many descriptors ([`Outside`]): nothing is announced.
    pub fn add(&mut self, first: u16, buffers: &[Buffer]) -> Result<(), Outside> {
        let end = usize::from(first) + buffers.len();
        if end > self.size.into() || buffers.is_empty() {
            return Err(Outside);
        }
        for (number, buffer) in (first..).zip(buffers) {
            let is_last = usize::from(number) + 1 == end;
            let next = if is_last { 0 } else { NEXT };
            let write = if buffer.writable { WRITE } else { 0 };
            let rest = u64::from(buffer.length)
                | u64::from(next | write) << 32
                | u64::from(number.wrapping_add(1)) << 48;
            let at = self.parts.descriptors + DESCRIPTOR * u64::from(number);
            self.memory.write(at, &buffer.address.to_le_bytes())?;
            self.memory.write(at + 8, &rest.to_le_bytes())?;
        }
        let slot = u64::from(self.added & (self.size - 1));
        let entry = self.parts.available + 4 + 2 * slot;
        self.memory.write(entry, &first.to_le_bytes())?;
        self.added = self.added.wrapping_add(1);
        self.memory
            .store_index(self.parts.available + 2, self.added)
    }

    /// A reader of what the device has used, from the beginning. There can be several, as reading changes nothing.
    pub fn used(&self) -> UsedRing<M>
    where
        M: Clone,
    {
        UsedRing {
            memory: self.memory.clone(),
            at: self.parts.used,
            size: self.size,
            seen: 0,
        }
    }
}

/// A request that the device has done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Its first descriptor, if the device is in order.
    pub first: u32,
    /// The bytes that the device says it has written.
    pub written: u32,
}

/// A reader of the used ring. One that is too far behind misses what the device has overwritten.
#[derive(Clone, Debug)]
pub struct UsedRing<M> {
    memory: M,
    at: u64,
    size: u16,
    seen: u16,
}

impl<M: Memory> Iterator for UsedRing<M> {
    type Item = Used;

    fn next(&mut self) -> Option<Used> {
        // Within the queue, which was all there (`Requester::new`).
        let index = self.memory.load_index(self.at + 2).ok()?;
        let behind = index.wrapping_sub(self.seen);
        if behind == 0 {
            return None;
        }
        if behind > self.size {
            self.seen = index.wrapping_sub(self.size);
        }
        let mut entry = [0; USED as usize];
        let slot = u64::from(self.seen & (self.size - 1));
        self.memory
            .read(self.at + 4 + USED * slot, &mut entry)
            .ok()?;
        self.seen = self.seen.wrapping_add(1);
        let word = u64::from_le_bytes(entry);
        Some(Used {
            first: word as u32,
            written: (word >> 32) as u32,
        })
    }
}
