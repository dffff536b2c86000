//! A descriptor chain that has been looked through: what a driver hands to a device (Virtual I/O Device specification 1.2,
//! section 2.7).

use super::Malformed;
use crate::memory::Memory;
use virtio_queue::DescriptorChain;
use vm_memory::GuestMemoryMmap;
use vm_memory::bitmap::AtomicBitmap;

/// How many bytes a chain may have. Drivers use far less; a hostile one cannot keep the host busy for long.
pub const LENGTH_MAX: u64 = 64 << 20;

/// A range of memory: address and length.
type Buffer = (u64, u64);

/// The buffers of one request: first those that the device reads, then those that it writes. All are memory.
pub struct Chain<'a> {
    memory: &'a Memory,
    readable: Vec<Buffer>,
    writable: Vec<Buffer>,
}

impl<'a> Chain<'a> {
    /// Looks through the chain. It has at most `limit` buffers (section 2.7.4.1: no more than the queue's size).
    pub(super) fn new(
        memory: &'a Memory,
        descriptors: DescriptorChain<&'a GuestMemoryMmap<AtomicBitmap>>,
        limit: u16,
    ) -> Result<Self, Malformed> {
        let mut chain = Self {
            memory,
            readable: Vec::new(),
            writable: Vec::new(),
        };
        let (mut more, mut length, mut count) = (true, 0, 0);
        for descriptor in descriptors {
            let (address, size) = (descriptor.addr().0, u64::from(descriptor.len()));
            length += size;
            count += 1;
            if count > limit || length > LENGTH_MAX || size == 0 || !memory.holds(address, size) {
                return Err(Malformed);
            }
            if descriptor.is_write_only() {
                chain.writable.push((address, size));
            } else if chain.writable.is_empty() {
                chain.readable.push((address, size));
            } else {
                // Section 2.7.4.2: what the device reads comes first.
                return Err(Malformed);
            }
            more = descriptor.has_next();
        }
        // The walk ends early at an index or a table that does not exist, and when it has taken too many steps.
        if more { Err(Malformed) } else { Ok(chain) }
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
    /// When the chain has fewer bytes; `bytes` may then be partly overwritten.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Malformed> {
        let mut rest = bytes;
        for (address, size) in pieces(&self.readable, offset, rest.len() as u64) {
            let (piece, others) = rest.split_at_mut(size as usize);
            self.memory.read(address, piece).map_err(|_| Malformed)?;
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
    /// When the chain has fewer bytes; some may have been written then.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Malformed> {
        let mut rest = bytes;
        for (address, size) in pieces(&self.writable, offset, rest.len() as u64) {
            let (piece, others) = rest.split_at(size as usize);
            self.memory.write(address, piece).map_err(|_| Malformed)?;
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
