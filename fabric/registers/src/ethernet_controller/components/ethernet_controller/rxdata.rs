//! Memory: Words of the frame that came

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Words of the frame that came
///
/// Whichever of them is read, it is the next word of the frame; behind the last one 0. The bytes behind the last one are any.
#[derive(Eq, PartialEq)]
pub struct Rxdata<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u32,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for Rxdata<'_, IO> {}
unsafe impl<IO: Sync> Sync for Rxdata<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for Rxdata<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for Rxdata<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<IO> peakrdl_rust::mem::Memory for Rxdata<'_, IO> {
    type Memwidth = u32;
    type Access = peakrdl_rust::access::R;
    type Endian = peakrdl_rust::endian::LittleEndian;

    fn first_entry_ptr(&self) -> *mut Self::Memwidth {
        self.ptr
    }

    fn num_entries(&self) -> usize {
        128
    }

    fn width(&self) -> usize {
        32
    }
}

impl Rxdata<'static> {
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

impl<'io, IO> Rxdata<'io, IO> {
    /// Size in bytes of the memory
    pub const SIZE: usize = 0x200;

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
