//! Addrmap: Timed I/O manager

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod id;
pub mod pins;
pub mod size;

/// Timed I/O manager
///
/// Which VM has which pin. The page of the VMs' manager, and no VM's.
#[derive(Eq, PartialEq)]
pub struct TimedIoManager<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for TimedIoManager<'_, IO> {}
unsafe impl<IO: Sync> Sync for TimedIoManager<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for TimedIoManager<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for TimedIoManager<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl TimedIoManager<'static> {
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

impl<'io, IO> TimedIoManager<'io, IO> {
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

impl<'io, IO: peakrdl_rust::io::RegisterIO> TimedIoManager<'io, IO> {
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

    /// Size
    ///
    /// What there is.
    #[inline(always)]
    #[must_use]
    pub const fn size(&self) -> peakrdl_rust::reg::Reg<'io, size::Size, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Pins
    ///
    /// A word for each pin, written as a whole: bits 5:0 are the VM that has it; bit 31 is set where it is a VM's,
    /// and a pin that is no VM's is low. Pin p carries line p modulo 8 of its VM. A word of a pin or a VM
    /// that there is not, and one that gives a line a second pin, are refused with an error.
    #[inline(always)]
    #[must_use]
    pub const fn pins(&self) -> pins::Pins<'io, IO> {
        unsafe { pins::Pins::from_ptr_with(self.ptr.wrapping_byte_add(0x100).cast(), self.io) }
    }
}
