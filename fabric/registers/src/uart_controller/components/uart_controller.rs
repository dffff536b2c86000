//! Addrmap: UART controller

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod clear;
pub mod id;
pub mod rxdata;
pub mod status;
pub mod txdata;

/// UART controller
///
/// A UART with queues of 16 bytes: eight bits, no parity, one stop bit.
#[derive(Eq, PartialEq)]
pub struct UartController<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for UartController<'_, IO> {}
unsafe impl<IO: Sync> Sync for UartController<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for UartController<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for UartController<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl UartController<'static> {
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

impl<'io, IO> UartController<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x14;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> UartController<'io, IO> {
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

    /// Status
    ///
    /// What waits.
    #[inline(always)]
    #[must_use]
    pub const fn status(&self) -> peakrdl_rust::reg::Reg<'io, status::Status, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Clear
    ///
    /// Writing ones makes what STATUS keeps 0.
    #[inline(always)]
    #[must_use]
    pub const fn clear(&self) -> peakrdl_rust::reg::Reg<'io, clear::Clear, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Byte to send
    ///
    /// Writing it puts a byte behind those that wait.
    #[inline(always)]
    #[must_use]
    pub const fn txdata(&self) -> peakrdl_rust::reg::Reg<'io, txdata::Txdata, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Received byte
    ///
    /// The oldest, which a read takes away; all zeros if there is none.
    #[inline(always)]
    #[must_use]
    pub const fn rxdata(&self) -> peakrdl_rust::reg::Reg<'io, rxdata::Rxdata, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }
}
