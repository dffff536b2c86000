//! Memory: Entries

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Entries
///
/// Word 8 t + 2 r and the next one are the bitstream of task t, from 1 on, for region r: bits 31 to 6 of its
/// address, a multiple of 64; then bits 39 to 32 of it (7 to 0), and how many bytes are there, with the header
/// (31 to 8). Words 0 to 7 are the hold times of interfaces 0 to 7, in cycles. Written in whole words alone: a
/// write of less changes nothing.
#[derive(Eq, PartialEq)]
pub struct Entries<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u32,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for Entries<'_, IO> {}
unsafe impl<IO: Sync> Sync for Entries<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for Entries<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for Entries<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<IO> peakrdl_rust::mem::Memory for Entries<'_, IO> {
    type Memwidth = u32;
    type Access = peakrdl_rust::access::RW;
    type Endian = peakrdl_rust::endian::LittleEndian;

    fn first_entry_ptr(&self) -> *mut Self::Memwidth {
        self.ptr
    }

    fn num_entries(&self) -> usize {
        64
    }

    fn width(&self) -> usize {
        32
    }
}

impl Entries<'static> {
    /// # Safety
    ///
    /// The caller must guarantee that the provided address points to a
    /// hardware memory implementing this interface.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_ptr(ptr: *mut u32) -> Self {
        Self {
            ptr,
            io: &peakrdl_rust::io::PtrIO,
        }
    }
}

impl<'io, IO> Entries<'io, IO> {
    /// Size in bytes of the memory
    pub const SIZE: usize = 0x100;

    /// # Safety
    ///
    /// The caller must guarantee that the provided address points to a
    /// hardware memory implementing this interface.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_ptr_with(ptr: *mut u32, io: &'io IO) -> Self {
        Self { ptr, io }
    }

    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(&self) -> *mut u32 {
        self.ptr
    }
}
