//! Split virtqueues (virtio 1.2, section 2.7), served in order: a request is completed before the next is taken.
//!
//! **Protocol Q1, rings.** The driver writes a request's buffers, its descriptors and its entry in the available ring,
//! and then, with release, that ring's index; the device reads the index with acquire, and only then what it announces.
//! The device writes a request's result and its entry in the used ring, and then, with release, that ring's index. Each
//! index, and each ring, is written by one side only. `tests/ring_order.rs` goes through all interleavings.

use crate::memory::{Memory, Outside};

/// The largest queue.
pub const SIZE_MAX: u16 = 256;
/// Descriptors of a request, at most.
pub const CHAIN_MAX: usize = 16;

/// Bytes of a descriptor (section 2.7.5), and of an entry of the used ring (section 2.7.8).
pub(crate) const DESCRIPTOR: u64 = 16;
pub(crate) const USED: u64 = 8;
/// Flags of a descriptor.
pub(crate) const NEXT: u16 = 1;
pub(crate) const WRITE: u16 = 2;
/// A flag of the available ring: the driver wants no interrupt (section 2.7.6).
pub(crate) const NO_INTERRUPT: u16 = 1;

/// What is wrong with a queue. The driver is at fault: the device needs to be reset (section 2.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A ring, a descriptor or a buffer is not in the memory that the device has.
    Outside,
    /// More requests are announced than the queue has entries.
    Overrun,
    /// A descriptor's number is none of the queue.
    Descriptor,
    /// A request has more than [`CHAIN_MAX`] descriptors, or they are a circle.
    Chain,
    /// A buffer for the device to read follows one for it to write (section 2.7.4.2), or a descriptor has a flag that
    /// was not negotiated.
    Flags,
    /// A request is not of the form that its device wants.
    Request,
}

impl From<Outside> for Fault {
    fn from(_: Outside) -> Self {
        Self::Outside
    }
}

/// A queue as its driver has set it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Its entries, a power of two of at most [`SIZE_MAX`].
    pub size: u16,
    /// The driver has enabled it.
    pub ready: bool,
    /// Addresses of the descriptors, the available ring and the used ring.
    pub descriptors: u64,
    /// ... of the available ring.
    pub available: u64,
    /// ... of the used ring.
    pub used: u64,
    /// Requests that were completed, modulo 2^16: the index of the used ring, and the next of the available one.
    pub next: u16,
}

/// A buffer of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Its address for the driver.
    pub address: u64,
    /// Its bytes.
    pub length: u32,
    /// The device writes it, or reads it.
    pub writable: bool,
}

/// A request: its buffers, those to be read first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    head: u16,
    buffers: [Buffer; CHAIN_MAX],
    length: usize,
}

impl Chain {
    /// One without buffers.
    pub const EMPTY: Self = Self {
        head: 0,
        buffers: [Buffer {
            address: 0,
            length: 0,
            writable: false,
        }; CHAIN_MAX],
        length: 0,
    };

    /// The buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers[..self.length]
    }
}

impl Queue {
    /// Whether its addresses are aligned (section 2.7) and its size is possible.
    pub fn is_sound(&self) -> bool {
        self.size.is_power_of_two()
            && self.size <= SIZE_MAX
            && self.descriptors.is_multiple_of(16)
            && self.available.is_multiple_of(2)
            && self.used.is_multiple_of(4)
    }

    /// The address of the entry of a ring, or of a descriptor.
    fn at(base: u64, offset: u64) -> Result<u64, Fault> {
        base.checked_add(offset).ok_or(Fault::Outside)
    }

    /// How many requests wait.
    ///
    /// # Errors
    ///
    /// The ring is [`Fault::Outside`], or [`Fault::Overrun`].
    pub fn waiting(&self, memory: &impl Memory) -> Result<u16, Fault> {
        if !self.ready {
            return Ok(0);
        }
        let index = memory.load_index(Self::at(self.available, 2)?)?;
        let waiting = index.wrapping_sub(self.next);
        if waiting > self.size {
            return Err(Fault::Overrun);
        }
        Ok(waiting)
    }

    /// Makes `chain` the next request, which stays the next until it is completed. `false`: there is none, and `chain`
    /// is as before.
    ///
    /// # Errors
    ///
    /// See [`Fault`].
    pub fn peek(&self, memory: &impl Memory, chain: &mut Chain) -> Result<bool, Fault> {
        if self.waiting(memory)? == 0 {
            return Ok(false);
        }
        let mut entry = [0; 2];
        let slot = u64::from(self.next & (self.size - 1));
        memory.read(Self::at(self.available, 4 + 2 * slot)?, &mut entry)?;
        chain.head = u16::from_le_bytes(entry);
        chain.length = 0;
        let mut number = chain.head;
        loop {
            if number >= self.size {
                return Err(Fault::Descriptor);
            }
            let Some(buffer) = chain.buffers.get_mut(chain.length) else {
                return Err(Fault::Chain);
            };
            let mut bytes = [0; DESCRIPTOR as usize];
            memory.read(
                Self::at(self.descriptors, DESCRIPTOR * u64::from(number))?,
                &mut bytes,
            )?;
            let [address, rest] = [0, 8].map(|at| {
                let mut word = [0; 8];
                word.copy_from_slice(&bytes[at..at + 8]);
                u64::from_le_bytes(word)
            });
            let (length, flags, next) = (rest as u32, (rest >> 32) as u16, (rest >> 48) as u16);
            let writable = flags & WRITE != 0;
            *buffer = Buffer {
                address,
                length,
                writable,
            };
            let follows_writable = chain.length > 0 && chain.buffers[chain.length - 1].writable;
            if flags & !(NEXT | WRITE) != 0 || (follows_writable && !writable) {
                return Err(Fault::Flags);
            }
            chain.length += 1;
            if flags & NEXT == 0 {
                return Ok(true);
            }
            number = next;
        }
    }

    /// The request, which is the next one, is done: `written` bytes of its buffers were written. Returns whether the
    /// driver wants an interrupt.
    ///
    /// # Errors
    ///
    /// The used ring is [`Fault::Outside`].
    pub fn complete(
        &mut self,
        memory: &impl Memory,
        chain: &Chain,
        written: u32,
    ) -> Result<bool, Fault> {
        let slot = u64::from(self.next & (self.size - 1));
        let entry = u64::from(chain.head) | u64::from(written) << 32;
        memory.write(Self::at(self.used, 4 + USED * slot)?, &entry.to_le_bytes())?;
        let next = self.next.wrapping_add(1);
        memory.store_index(Self::at(self.used, 2)?, next)?;
        self.next = next;
        let flags = memory.load_index(self.available)?;
        Ok(flags & NO_INTERRUPT == 0)
    }

    /// Goes on where an earlier life of the device has ended: behind what that has completed.
    ///
    /// # Errors
    ///
    /// The used ring is [`Fault::Outside`].
    pub fn resume(&mut self, memory: &impl Memory) -> Result<(), Fault> {
        if self.ready {
            self.next = memory.load_index(Self::at(self.used, 2)?)?;
        }
        Ok(())
    }
}
