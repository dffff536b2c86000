//! A descriptor chain that has been looked through: what a driver hands to a device (Virtual I/O Device specification
//! 1.2, section 2.7).

use super::Malformed;
use super::ring::Ring;
use crate::devices::dma::Dma;
use virtio_bindings::virtio_ring::{VRING_DESC_F_INDIRECT, VRING_DESC_F_NEXT, VRING_DESC_F_WRITE};

/// How many bytes a chain may have. Drivers use far less; a hostile one cannot keep the host busy for long.
pub const LENGTH_MAX: u64 = 64 << 20;

/// Bytes of a descriptor (section 2.7.5).
pub(super) const DESCRIPTOR: u64 = 16;

/// A range of memory: address and length.
type Buffer = (u64, u64);

/// A descriptor: an address, a length, what it is for, and which one follows.
struct Descriptor {
    address: u64,
    length: u32,
    flags: u32,
    next: u16,
}

impl Descriptor {
    fn read(dma: &mut dyn Dma, table: u64, index: u16) -> Result<Self, Malformed> {
        let mut bytes = [0; DESCRIPTOR as usize];
        let place = table.checked_add(u64::from(index) * DESCRIPTOR);
        dma.read(place.ok_or(Malformed)?, &mut bytes)
            .map_err(|_| Malformed)?;
        let word = u128::from_le_bytes(bytes);
        Ok(Self {
            address: word as u64,
            length: (word >> 64) as u32,
            flags: u32::from((word >> 96) as u16),
            next: (word >> 112) as u16,
        })
    }

    const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// The buffers of one request: first those that the device reads, then those that it writes.
pub struct Chain<'a> {
    dma: &'a mut dyn Dma,
    readable: Vec<Buffer>,
    writable: Vec<Buffer>,
}

impl<'a> Chain<'a> {
    /// Looks through the chain that begins at the descriptor `head` of a queue. It has at most as many buffers as the
    /// queue has entries (section 2.7.4.1).
    pub(super) fn new(dma: &'a mut dyn Dma, ring: &Ring, head: u16) -> Result<Self, Malformed> {
        let (mut readable, mut writable) = (Vec::new(), Vec::new());
        let (mut table, mut entries, mut index) = (ring.descriptors, ring.size, head);
        // Steps that a chain without a loop takes at most.
        let mut left = ring.size;
        let (mut indirect, mut length, mut count) = (false, 0, 0);
        loop {
            if left == 0 || index >= entries {
                return Err(Malformed);
            }
            let descriptor = Descriptor::read(dma, table, index)?;
            let (address, size) = (descriptor.address, u64::from(descriptor.length));
            if descriptor.has(VRING_DESC_F_INDIRECT) {
                // Section 2.7.5.3: a table of whole descriptors, none of which refers to another table.
                if indirect || !size.is_multiple_of(DESCRIPTOR) {
                    return Err(Malformed);
                }
                entries = u16::try_from(size / DESCRIPTOR).map_err(|_| Malformed)?;
                (table, index, left, indirect) = (address, 0, entries, true);
                continue;
            }
            length += size;
            count += 1;
            if count > ring.size
                || length > LENGTH_MAX
                || size == 0
                || !dma.may_reach(address, size)
            {
                return Err(Malformed);
            }
            if descriptor.has(VRING_DESC_F_WRITE) {
                writable.push((address, size));
            } else if writable.is_empty() {
                readable.push((address, size));
            } else {
                // Section 2.7.4.2: what the device reads comes first.
                return Err(Malformed);
            }
            if !descriptor.has(VRING_DESC_F_NEXT) {
                return Ok(Self {
                    dma,
                    readable,
                    writable,
                });
            }
            index = descriptor.next;
            left -= 1;
        }
    }

    /// How many bytes the device can read.
    #[must_use]
    pub fn readable(&self) -> u64 {
        length(&self.readable)
    }

    /// How many bytes the device can write.
    #[must_use]
    pub fn writable(&self) -> u64 {
        length(&self.writable)
    }

    /// Reads all of `bytes` from what the device can read, beginning at the given offset.
    ///
    /// # Errors
    ///
    /// When the chain has fewer bytes, or an access is refused; `bytes` may then be partly overwritten.
    pub fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), Malformed> {
        let mut rest = bytes;
        for (address, size) in pieces(&self.readable, offset, rest.len() as u64) {
            let (piece, others) = rest.split_at_mut(size as usize);
            self.dma.read(address, piece).map_err(|_| Malformed)?;
            rest = others;
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }

    /// Writes all of `bytes` to what the device can write, beginning at the given offset.
    ///
    /// # Errors
    ///
    /// When the chain has fewer bytes, or an access is refused; some may have been written then.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Malformed> {
        let mut rest = bytes;
        for (address, size) in pieces(&self.writable, offset, rest.len() as u64) {
            let (piece, others) = rest.split_at(size as usize);
            self.dma.write(address, piece).map_err(|_| Malformed)?;
            rest = others;
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
}

fn length(buffers: &[Buffer]) -> u64 {
    buffers.iter().map(|&(_, size)| size).sum()
}

/// The parts of the buffers that hold `wanted` bytes from `offset` on, or as many as there are.
fn pieces(
    buffers: &[Buffer],
    mut offset: u64,
    mut wanted: u64,
) -> impl Iterator<Item = Buffer> + '_ {
    buffers.iter().filter_map(move |&(address, size)| {
        let skipped = offset.min(size);
        offset -= skipped;
        let taken = (size - skipped).min(wanted);
        wanted -= taken;
        (taken > 0).then_some((address + skipped, taken))
    })
}
