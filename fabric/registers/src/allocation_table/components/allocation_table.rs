//! Addrmap: Allocation table

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod bitstreams;
pub mod control;
pub mod entries;
pub mod id;
pub mod limit;

/// Allocation table
///
/// What the region allocator may do by itself: bitstreams, limits, and the tasks that need the device manager. The device manager's alone.
#[derive(Eq, PartialEq)]
pub struct AllocationTable<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for AllocationTable<'_, IO> {}
unsafe impl<IO: Sync> Sync for AllocationTable<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for AllocationTable<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for AllocationTable<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl AllocationTable<'static> {
    /// # Safety
    ///
    /// The caller must guarantee that the provided address points to a
    /// hardware register block implementing this interface.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_ptr(ptr: *mut ()) -> Self {
        Self {
            ptr: ptr.cast::<u8>(),
            io: &peakrdl_rust::io::PtrIO,
        }
    }
}

impl<'io, IO> AllocationTable<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x200;

    /// # Safety
    ///
    /// The caller must guarantee that the provided address points to a
    /// hardware register block implementing this interface.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_ptr_with(ptr: *mut (), io: &'io IO) -> Self {
        Self {
            ptr: ptr.cast::<u8>(),
            io,
        }
    }

    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(&self) -> *mut () {
        self.ptr.cast::<()>()
    }
}

impl<'io, IO: peakrdl_rust::io::RegisterIO> AllocationTable<'io, IO> {
    /// Identification
    ///
    /// Says that this page is here, and which version of its registers.
    #[inline(always)]
    #[must_use]
    pub const fn id(&self) -> peakrdl_rust::reg::Reg<'io, id::Id, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x0).cast(), self.io)
        }
    }

    /// Control
    ///
    /// Whether the allocator acts, and for which tasks it does not.
    #[inline(always)]
    #[must_use]
    pub const fn control(&self) -> peakrdl_rust::reg::Reg<'io, control::Control, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Limit
    ///
    /// For so many cycles a task that was told to stop may go on, before it is killed; and memory may owe something to
    /// a region that is to be connected, before it is given up. While 0, no region is preempted.
    #[inline(always)]
    #[must_use]
    pub const fn limit(&self) -> peakrdl_rust::reg::Reg<'io, limit::Limit, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Bitstreams
    ///
    /// For which regions each task has a bitstream in ENTRIES: four bits a task, as in the region monitor's
    /// COMPATIBILITY. An entry is written while its bit is 0.
    #[inline(always)]
    #[must_use]
    pub const fn bitstreams(&self) -> peakrdl_rust::reg::Reg<'io, bitstreams::Bitstreams, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Entries
    ///
    /// Word 8 t + 2 r and the next one are the bitstream of task t, from 1 on, for region r: bits 31 to 6 of its
    /// address, a multiple of 64; then bits 39 to 32 of it (7 to 0), and how many bytes are there, with the header
    /// (31 to 8). Words 0 to 7 are the hold times of interfaces 0 to 7, in cycles. Written in whole words alone: a
    /// write of less changes nothing.
    #[inline(always)]
    #[must_use]
    pub const fn entries(&self) -> entries::Entries<'io, IO> {
        unsafe {
            entries::Entries::from_ptr_with(self.ptr.wrapping_byte_add(0x100).cast(), self.io)
        }
    }
}
