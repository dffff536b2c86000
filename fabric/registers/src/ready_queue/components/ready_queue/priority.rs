//! Memory: Commands for a priority

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Commands for a priority
///
/// Two words for each priority, those of priority `p` at `8 * p`. The first: writing inserts the handle in
/// bits 15 to 0 behind the others of the priority, reading takes its first. The second: writing inserts
/// before the others, reading looks at the first and leaves it. A handle has to be written as a whole,
/// or nothing happens and the write is an error.
#[derive(Eq, PartialEq)]
pub struct Priority<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u32,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for Priority<'_, IO> {}
unsafe impl<IO: Sync> Sync for Priority<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for Priority<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for Priority<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<IO> peakrdl_rust::mem::Memory for Priority<'_, IO> {
    type Memwidth = u32;
    type Access = peakrdl_rust::access::RW;
    type Endian = peakrdl_rust::endian::LittleEndian;

    fn first_entry_ptr(&self) -> *mut Self::Memwidth {
        self.ptr
    }

    fn num_entries(&self) -> usize {
        512
    }

    fn width(&self) -> usize {
        32
    }
}

impl Priority<'static> {
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

impl<'io, IO> Priority<'io, IO> {
    /// Size in bytes of the memory
    pub const SIZE: usize = 0x800;

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
