//! Memory that the driver shares with its device.

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use crate::MEMORY;

/// Memory for queues and buffers: [`MEMORY`] bytes.
#[derive(Debug)]
pub struct Shared {
    here: usize,
    there: u64,
    size: usize,
}

impl Shared {
    /// The [`MEMORY`] bytes at the address `here`, which the device knows as `there`; both are multiples of 16.
    ///
    /// # Safety
    ///
    /// They are memory for as long as the program runs, and nothing else of the program uses them.
    ///
    /// # Panics
    ///
    /// An address is not aligned.
    pub const unsafe fn new(here: usize, there: u64) -> Self {
        assert!(here.is_multiple_of(16) && there.is_multiple_of(16));
        Self {
            here,
            there,
            size: MEMORY,
        }
    }

    /// Its two halves.
    pub(crate) fn halves(self) -> (Self, Self) {
        let half = self.size / 2;
        let at = |offset: usize| Self {
            here: self.here + offset,
            there: self.there + offset as u64,
            size: half,
        };
        (at(0), at(half))
    }

    /// The device's address of a byte.
    pub(crate) const fn there(&self, offset: usize) -> u64 {
        self.there + offset as u64
    }

    fn at(&self, offset: usize, length: usize) -> usize {
        assert!(offset + length <= self.size && offset.is_multiple_of(length));
        self.here + offset
    }

    pub(crate) fn u16(&self, offset: usize) -> &AtomicU16 {
        // SAFETY: within the memory and aligned (`at`); all accesses are atomic, as the device may make some.
        unsafe { &*(self.at(offset, 2) as *const AtomicU16) }
    }

    pub(crate) fn u32(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { &*(self.at(offset, 4) as *const AtomicU32) }
    }

    pub(crate) fn u64(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { &*(self.at(offset, 8) as *const AtomicU64) }
    }

    /// Copies from the memory.
    pub(crate) fn read(&self, offset: usize, to: &mut [u8]) {
        assert!(offset + to.len() <= self.size);
        let from = (self.here + offset) as *const u8;
        let mut done = 0;
        if (from as usize | to.as_ptr() as usize).is_multiple_of(4) {
            while to.len() - done >= 4 {
                // SAFETY: within both, and aligned. Volatile, since the device may write the same bytes.
                let word = unsafe { from.add(done).cast::<u32>().read_volatile() };
                to[done..done + 4].copy_from_slice(&word.to_ne_bytes());
                done += 4;
            }
        }
        for (at, byte) in to.iter_mut().enumerate().skip(done) {
            // SAFETY: within.
            *byte = unsafe { from.add(at).read_volatile() };
        }
    }

    /// Copies to the memory.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) {
        assert!(offset + from.len() <= self.size);
        let to = (self.here + offset) as *mut u8;
        let mut done = 0;
        if (to as usize | from.as_ptr() as usize).is_multiple_of(4) {
            for word in from.as_chunks::<4>().0 {
                let word = u32::from_ne_bytes(*word);
                // SAFETY: within, and aligned.
                unsafe { to.add(done).cast::<u32>().write_volatile(word) };
                done += 4;
            }
        }
        for (at, byte) in from.iter().enumerate().skip(done) {
            // SAFETY: within.
            unsafe { to.add(at).write_volatile(*byte) };
        }
    }
}
