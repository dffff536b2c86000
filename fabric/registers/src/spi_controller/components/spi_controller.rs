//! Addrmap: SPI controller

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod clear;
pub mod id;
pub mod rxdata;
pub mod status;
pub mod transfer;
pub mod txdata;

/// SPI controller
///
/// Sends bytes to an SPI part and receives some from it, in SPI mode 0, the most significant bit first, on one line each way or on four. Words have four
/// bytes, the lowest first.
#[derive(Eq, PartialEq)]
pub struct SpiController<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for SpiController<'_, IO> {}
unsafe impl<IO: Sync> Sync for SpiController<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for SpiController<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for SpiController<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl SpiController<'static> {
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

impl<'io, IO> SpiController<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x408;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> SpiController<'io, IO> {
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
    /// What is going on.
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

    /// Transfer
    ///
    /// Writing it begins a transfer: the part is selected, bytes are sent, others received. The write waits until the transfer before
    /// is over. What of RXDATA was not read is thrown away, and so is the rest of a word of which the last byte was sent.
    #[inline(always)]
    #[must_use]
    pub const fn transfer(&self) -> peakrdl_rust::reg::Reg<'io, transfer::Transfer, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x400).cast(), self.io)
        }
    }

    /// Received words
    ///
    /// The oldest, which a read takes away. A read waits until there is one or the transfer is over; then it is 0 if there is none. Bytes
    /// behind the last one are 0.
    #[inline(always)]
    #[must_use]
    pub const fn rxdata(&self) -> peakrdl_rust::reg::Reg<'io, rxdata::Rxdata, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x404).cast(), self.io)
        }
    }

    /// Words to send
    ///
    /// Whichever of them is written, the word goes behind those that wait to be sent: 128 at most. Only whole words.
    #[inline(always)]
    #[must_use]
    pub const fn txdata(&self) -> txdata::Txdata<'io, IO> {
        unsafe { txdata::Txdata::from_ptr_with(self.ptr.wrapping_byte_add(0x200).cast(), self.io) }
    }
}
