//! Memory: Pins

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Pins
///
/// A word for each pin, written as a whole: bits 5:0 are the VM that has it; bit 31 is set where it is a VM's,
/// and a pin that is no VM's is low. Pin p carries line p modulo 8 of its VM. A word of a pin or a VM
/// that there is not, and one that gives a line a second pin, are refused with an error.
#[derive(Eq, PartialEq)]
pub struct Pins<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u32,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for Pins<'_, IO> {}
unsafe impl<IO: Sync> Sync for Pins<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for Pins<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for Pins<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<IO> peakrdl_rust::mem::Memory for Pins<'_, IO> {
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

impl Pins<'static> {
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

impl<'io, IO> Pins<'io, IO> {
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
