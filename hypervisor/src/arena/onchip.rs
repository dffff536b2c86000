//! Faster memory that is less than what could be there: objects come first, whole pages have what is left.
//!
//! Objects are taken from its beginning, and pages, which are page tables, from its end. A root table has to be aligned
//! to its four pages; the pages that this leaves out are those of the next tables. So no more than three are lost.

use core::cell::Cell;
use tactus_abi::map::PAGE_SIZE;

/// A range of faster memory. Used by the boot hart alone.
pub struct Onchip {
    next: Cell<u64>,
    end: Cell<u64>,
    /// Pages that an alignment has left out, behind `end`: the first address, and the end.
    left_out: Cell<(u64, u64)>,
    /// Bytes that only objects may have.
    kept: Cell<u64>,
    /// Nothing is taken.
    closed: Cell<bool>,
}

impl Onchip {
    /// `size` bytes from `base`.
    pub const fn new(base: u64, size: u64) -> Self {
        Self {
            next: Cell::new(base),
            end: Cell::new(base + size),
            left_out: Cell::new((0, 0)),
            kept: Cell::new(0),
            closed: Cell::new(false),
        }
    }

    /// Only objects may have so many bytes, as long as they have not taken as many.
    pub fn keep(&self, bytes: u64) {
        self.kept.set(bytes);
    }

    /// The address of `size` bytes, aligned to `align`, if they fit.
    pub fn take(&self, size: u64, align: u64) -> Option<u64> {
        if self.closed.get() {
            return None;
        }
        if align >= PAGE_SIZE {
            return self.take_pages(size, align);
        }
        let start = self.next.get().next_multiple_of(align);
        let taken = start.checked_add(size)?;
        if taken > self.end.get() {
            return None;
        }
        self.kept
            .set(self.kept.get().saturating_sub(taken - self.next.get()));
        self.next.set(taken);
        Some(start)
    }

    /// Whether `bytes` that are no object can be taken, and what is kept for objects still be there.
    pub fn spares(&self, bytes: u64) -> bool {
        let left = self
            .end
            .get()
            .saturating_sub(self.next.get() + self.kept.get());
        // Aligned as little as any object.
        bytes.checked_add(8).is_some_and(|bytes| bytes <= left)
    }

    /// Does something in which nothing is taken of this memory.
    pub fn without<T>(&self, act: impl FnOnce() -> T) -> T {
        self.closed.set(true);
        let result = act();
        self.closed.set(false);
        result
    }

    fn take_pages(&self, size: u64, align: u64) -> Option<u64> {
        let (first, last) = self.left_out.get();
        if align == PAGE_SIZE && last - first >= size {
            self.left_out.set((first, last - size));
            return Some(last - size);
        }
        let end = self.end.get();
        let start = end.checked_sub(size)? & !(align - 1);
        if start < self.next.get().checked_add(self.kept.get())? {
            return None;
        }
        if start + size < end {
            self.left_out.set((start + size, end & !(PAGE_SIZE - 1)));
        }
        self.end.set(start);
        Some(start)
    }
}
