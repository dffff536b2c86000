//! The board's main memory: one range of physical addresses, kept in the host's memory.
//!
//! Harts reach it through host pointers ([`Memory::host`]); bus masters through [`vm_memory`]'s types
//! ([`Memory::guest`]), which note the pages that they write, so that decoded code in them is dropped.

use vm_memory::bitmap::AtomicBitmap;
use vm_memory::{
    Bytes, GuestAddress, GuestMemoryBackend, GuestMemoryMmap, GuestRegionMmap, MmapRegion,
};

/// An address at which there is no memory, or not enough of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory at {address:#x}, {length} bytes")]
pub struct NoMemory {
    /// Where the access began.
    pub address: u64,
    /// How many bytes it asked for.
    pub length: usize,
}

/// Main memory.
pub struct Memory {
    guest: GuestMemoryMmap<AtomicBitmap>,
    base: u64,
    size: u64,
    host: *mut u8,
}

// Safety: the pointer is to the mapping that `guest` owns, and the board gives out access through itself alone.
unsafe impl Send for Memory {}

impl Memory {
    /// Memory of `size` bytes, all zero, at the physical address `base`; both multiples of 4 KiB. The host gives
    /// pages as they are touched.
    ///
    /// # Errors
    ///
    /// The host's error when it cannot map the memory.
    pub fn new(base: u64, size: u64) -> Result<Self, std::io::Error> {
        let length = usize::try_from(size).map_err(std::io::Error::other)?;
        let region = MmapRegion::new(length).map_err(std::io::Error::other)?;
        let host = region.as_ptr();
        let region = GuestRegionMmap::new(region, GuestAddress(base))
            .ok_or_else(|| std::io::Error::other("memory at the end of the address space"))?;
        let guest = GuestMemoryMmap::from_regions(vec![region]).map_err(std::io::Error::other)?;
        Ok(Self {
            guest,
            base,
            size,
            host,
        })
    }

    /// The lowest physical address.
    #[must_use]
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// How many bytes there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Whether all of `length` bytes from `address` on are memory.
    #[must_use]
    pub const fn holds(&self, address: u64, length: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset < self.size && length <= self.size - offset
    }

    /// Where the host has the byte at `address`; valid for all of memory behind it. `None`: no memory there.
    #[inline]
    #[must_use]
    pub const fn host(&self, address: u64) -> Option<*mut u8> {
        let offset = address.wrapping_sub(self.base);
        if offset < self.size {
            // Safety: the offset lies within the mapping.
            Some(unsafe { self.host.add(offset as usize) })
        } else {
            None
        }
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// Where not all of them are memory; `bytes` may then be partly overwritten.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), NoMemory> {
        let length = bytes.len();
        self.guest
            .read_slice(bytes, GuestAddress(address))
            .map_err(|_| NoMemory { address, length })
    }

    /// Writes bytes, as a bus master does.
    ///
    /// # Errors
    ///
    /// Where not all of them are memory; nothing is written then.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), NoMemory> {
        let length = bytes.len();
        if !self.holds(address, length as u64) {
            return Err(NoMemory { address, length });
        }
        self.guest
            .write_slice(bytes, GuestAddress(address))
            .map_err(|_| NoMemory { address, length })
    }

    /// Calls `each` with the address of every page of 4 KiB that was written through [`write`](Self::write) or
    /// [`guest`](Self::guest) since this was called last.
    pub(crate) fn take_written(&self, mut each: impl FnMut(u64)) {
        for region in self.guest.iter() {
            for (word, bits) in MmapRegion::bitmap(region)
                .get_and_reset()
                .into_iter()
                .enumerate()
            {
                let mut bits = bits;
                while bits != 0 {
                    let page = word as u64 * 64 + u64::from(bits.trailing_zeros());
                    bits &= bits - 1;
                    each(self.base + page * 4096);
                }
            }
        }
    }

    /// The same memory as [`vm_memory`] has it, for device models.
    #[must_use]
    pub const fn guest(&self) -> &GuestMemoryMmap<AtomicBitmap> {
        &self.guest
    }
}
