//! Memory for what is made at boot and lives for ever: page tables, stacks, VMs, vCPUs.

#[cfg(feature = "onchip")]
mod onchip;

use core::cell::Cell;
use core::mem::MaybeUninit;
#[cfg(feature = "onchip")]
use onchip::Onchip;
use tactus_policy::table::Table;

/// Hands out parts of one range of memory and never takes them back. Used by the boot hart alone.
pub struct Arena {
    next: Cell<u64>,
    end: u64,
    /// Faster memory, from which parts are taken as long as they fit.
    #[cfg(feature = "onchip")]
    onchip: Onchip,
}

/// The range is used up; the tool reserves enough for every system, so this is a defect.
#[derive(Clone, Copy, Debug)]
pub struct Exhausted;

impl Arena {
    /// An arena of `size` bytes of physical memory from `base`.
    ///
    /// # Safety
    /// The range is memory that nothing else uses, and the hypervisor reaches physical memory without translation.
    pub const unsafe fn new(base: u64, size: u64) -> Self {
        Self {
            next: Cell::new(base),
            end: base + size,
            #[cfg(feature = "onchip")]
            onchip: Onchip::new(0, 0),
        }
    }

    /// The same with `size` bytes of faster memory from `base`.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    #[cfg(feature = "onchip")]
    pub const unsafe fn with_onchip(self, (base, size): (u64, u64)) -> Self {
        Self {
            onchip: Onchip::new(base, size),
            ..self
        }
    }

    /// Keeps so many bytes of the faster memory for objects: whole pages, and [`bytes`](Self::bytes), leave them there.
    #[cfg(feature = "onchip")]
    pub fn keep_for_objects(&self, bytes: u64) {
        self.onchip.keep(bytes);
    }

    /// The address of `size` bytes, aligned to `align`.
    #[inline(never)]
    pub fn take(&self, size: u64, align: u64) -> Result<u64, Exhausted> {
        #[cfg(feature = "onchip")]
        if let Some(start) = self.onchip.take(size, align) {
            return Ok(start);
        }
        let start = self.next.get().next_multiple_of(align);
        if start.checked_add(size).is_none_or(|end| end > self.end) {
            return Err(Exhausted);
        }
        self.next.set(start + size);
        Ok(start)
    }

    /// An object.
    pub fn object<T>(&self, object: T) -> Result<&'static T, Exhausted> {
        let place = self.take(size_of::<T>() as u64, align_of::<T>() as u64)? as *mut T;
        // Safety: within the part just taken, which is aligned for T and nothing else uses.
        unsafe {
            place.write(object);
            Ok(&*place)
        }
    }

    /// `count` objects, made one by one.
    // Each kind is made in one place: compiled there, what it is made from need not be handed over.
    #[inline(always)]
    pub fn slice<T>(
        &self,
        count: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Result<&'static Table<T>, Exhausted> {
        let bytes = (size_of::<T>() * count) as u64;
        let first = self.take(bytes, align_of::<T>() as u64)? as *mut MaybeUninit<T>;
        for i in 0..count {
            // Safety: within the part just taken, which is aligned for T and nothing else uses.
            unsafe { (*first.add(i)).write(make(i)) };
        }
        // Safety: all `count` objects have been written.
        Ok(Table::new(unsafe {
            core::slice::from_raw_parts(first.cast(), count)
        }))
    }

    /// The address of `count` bytes, aligned to 8.
    pub fn bytes(&self, count: u64) -> Result<u64, Exhausted> {
        #[cfg(feature = "onchip")]
        if !self.onchip.spares(count) {
            return self.onchip.without(|| self.take(count, 8));
        }
        self.take(count, 8)
    }

    /// A zeroed table of `N` doublewords, aligned to its size.
    pub fn table<const N: usize>(&self) -> Result<&'static mut [u64; N], Exhausted> {
        let bytes = (N * 8) as u64;
        // Safety: within the part just taken, aligned.
        Ok(unsafe { zeroed(self.take(bytes, bytes)?) })
    }

    /// The top of a new stack of `size` bytes, at the end of a cache line.
    pub fn stack(&self, size: u64) -> Result<u64, Exhausted> {
        Ok(self.take(size.next_multiple_of(64), 64)? + size.next_multiple_of(64))
    }
}

/// Doublewords at a physical address, made zero.
///
/// # Safety
/// They are memory that nothing else uses, and aligned.
#[inline(never)]
pub unsafe fn zeroed<const N: usize>(address: u64) -> &'static mut [u64; N] {
    let table = address as *mut [u64; N];
    // Safety: the caller's promise; any bits are valid doublewords, and zero is written first.
    unsafe {
        table.write_bytes(0, 1);
        &mut *table
    }
}
