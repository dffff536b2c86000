//! Memory that a device shares with its driver.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU16, Ordering};

/// An access to what the device does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside;

/// The memory of a driver, by the addresses that the driver uses. The driver may change it at any time: what is read
/// twice may differ.
pub trait Memory {
    /// Copies from memory, all of it or nothing.
    ///
    /// # Errors
    ///
    /// A part is [`Outside`].
    fn read(&self, address: u64, to: &mut [u8]) -> Result<(), Outside>;

    /// Copies to memory, all of it or nothing.
    ///
    /// # Errors
    ///
    /// A part is [`Outside`].
    fn write(&self, address: u64, from: &[u8]) -> Result<(), Outside>;

    /// Reads a ring's index, little-endian: what the driver has written before it is visible afterwards (acquire).
    ///
    /// # Errors
    ///
    /// It is [`Outside`], or the address is odd.
    fn load_index(&self, address: u64) -> Result<u16, Outside>;

    /// Writes a ring's index: what was written before is visible to a driver that reads it (release).
    ///
    /// # Errors
    ///
    /// As [`Memory::load_index`].
    fn store_index(&self, address: u64, index: u16) -> Result<(), Outside>;
}

/// A range of memory of this VM that another one, or another life of this one, has too.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Where this VM has it; aligned to 8.
    here: usize,
    size: usize,
    /// The driver's address of its first byte.
    there: u64,
}

impl Window {
    /// `size` bytes at the address `here`, a multiple of 8, which the driver knows as `there`.
    ///
    /// # Safety
    ///
    /// It is memory for as long as the program runs, and the program accesses it by windows only.
    ///
    /// # Panics
    ///
    /// `here` is not a multiple of 8, or the driver's addresses wrap.
    pub const unsafe fn new(here: usize, size: usize, there: u64) -> Self {
        assert!(here.is_multiple_of(8) && there.checked_add(size as u64).is_some());
        Self { here, size, there }
    }

    /// Bytes of it.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The part from `offset` on, of at most `size` bytes, at addresses that begin with 0. `offset` is rounded down to
    /// a multiple of 8.
    pub const fn part(&self, offset: usize, size: usize) -> Self {
        let offset = if offset < self.size {
            offset / 8 * 8
        } else {
            self.size / 8 * 8
        };
        let left = self.size - offset;
        Self {
            here: self.here + offset,
            size: if size < left { size } else { left },
            there: 0,
        }
    }

    /// Where the bytes are in this VM, if all are within.
    fn find(&self, address: u64, length: usize) -> Result<usize, Outside> {
        let offset = address.checked_sub(self.there).ok_or(Outside)?;
        let offset = usize::try_from(offset).map_err(|_| Outside)?;
        let end = offset.checked_add(length).ok_or(Outside)?;
        if end <= self.size {
            Ok(self.here + offset)
        } else {
            Err(Outside)
        }
    }
}

/// Memory of this program that windows alone access, at the beginning of a page; zeroes at first.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct WindowMemory<const BYTES: usize>(UnsafeCell<[u8; BYTES]>);

// SAFETY: it is used by windows, whose accesses are volatile.
unsafe impl<const BYTES: usize> Sync for WindowMemory<BYTES> {}

impl<const BYTES: usize> WindowMemory<BYTES> {
    /// Zeroes.
    #[expect(clippy::new_without_default, reason = "it is for a static")]
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; BYTES]))
    }

    /// The address of its first byte.
    pub fn address(&self) -> u64 {
        self.0.get() as u64
    }

    /// All of it, by addresses from `there` on.
    pub fn window(&'static self, there: u64) -> Window {
        // SAFETY: it is there for ever, aligned, and accessed by windows only.
        unsafe { Window::new(self.0.get() as usize, BYTES, there) }
    }
}

/// Copies, by words wherever `to` is aligned. Volatile: the other side may access the same bytes. No byte is written
/// twice; some of the last may be read twice.
///
/// # Safety
///
/// `from` and `to` are `length` bytes of memory each, which do not overlap.
unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: it is called for places within the ranges.
    let byte = |at: usize| unsafe { from.add(at).read_volatile() };
    // SAFETY: the same.
    let put = |at: usize| unsafe { to.add(at).write_volatile(byte(at)) };
    let mut done = 0;
    while done < length && !(to as usize + done).is_multiple_of(8) {
        put(done);
        done += 1;
    }
    // Bytes of `from` before its next word, and these bytes: the lowest of the next word of `to`.
    let ahead = (from as usize + done).wrapping_neg() % 8;
    if ahead == 0 {
        while length - done >= 8 {
            // SAFETY: eight bytes within both ranges, aligned in both.
            unsafe {
                let word = from.add(done).cast::<u64>().read_volatile();
                to.add(done).cast::<u64>().write_volatile(word);
            }
            done += 8;
        }
    } else if length - done >= ahead + 8 {
        let mut low = 0;
        for number in 0..ahead {
            low |= u64::from(byte(done + number)) << (8 * number);
        }
        while length - done >= ahead + 8 {
            // SAFETY: eight bytes within the range, aligned by the choice of `ahead`.
            let word = unsafe { from.add(done + ahead).cast::<u64>().read_volatile() };
            let word = u64::from_le(word);
            let whole = (low | word << (8 * ahead)).to_le();
            // SAFETY: the same, aligned since the first loop.
            unsafe { to.add(done).cast::<u64>().write_volatile(whole) };
            low = word >> (64 - 8 * ahead);
            done += 8;
        }
    }
    while done < length {
        put(done);
        done += 1;
    }
}

impl Memory for Window {
    fn read(&self, address: u64, to: &mut [u8]) -> Result<(), Outside> {
        let from = self.find(address, to.len())?;
        // SAFETY: the range is within the window; the buffer is the program's own, which windows do not overlap
        // (`new`).
        unsafe { copy(from as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), Outside> {
        let to = self.find(address, from.len())?;
        // SAFETY: as above.
        unsafe { copy(from.as_ptr(), to as *mut u8, from.len()) };
        Ok(())
    }

    fn load_index(&self, address: u64) -> Result<u16, Outside> {
        Ok(u16::from_le(self.index(address)?.load(Ordering::Acquire)))
    }

    fn store_index(&self, address: u64, index: u16) -> Result<(), Outside> {
        self.index(address)?.store(index.to_le(), Ordering::Release);
        Ok(())
    }
}

impl Window {
    fn index(&self, address: u64) -> Result<&AtomicU16, Outside> {
        let at = self.find(address, 2)?;
        if !at.is_multiple_of(2) {
            return Err(Outside);
        }
        // SAFETY: within the window, aligned, and there for as long as the program runs.
        Ok(unsafe { &*(at as *const AtomicU16) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bytes of each range arrive, and no other is written, wherever the two begin.
    #[test]
    fn a_copy_is_the_bytes() {
        #[repr(align(8))]
        struct Aligned([u8; 80]);
        let from = Aligned(core::array::from_fn(|at| at as u8 + 1));
        for (begin, target) in (0..8).flat_map(|begin| (0..8).map(move |target| (begin, target))) {
            for length in 0..=64 {
                let mut to = Aligned([0; 80]);
                // SAFETY: within both arrays.
                unsafe {
                    let (from, to) = (from.0.as_ptr().add(begin), to.0.as_mut_ptr().add(target));
                    copy(from, to, length);
                }
                let mut wanted = [0; 80];
                wanted[target..target + length].copy_from_slice(&from.0[begin..begin + length]);
                assert_eq!(to.0, wanted, "{begin} {target} {length}");
            }
        }
    }
}
