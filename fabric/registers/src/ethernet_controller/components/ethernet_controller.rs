//! Addrmap: Ethernet controller

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod frame;
pub mod id;
pub mod patience;
pub mod release;
pub mod rx_length;
pub mod rxdata;
pub mod status;
pub mod txdata;

/// Ethernet controller
///
/// A MAC with a buffer for a frame each way. Frames are without check sequence; words have four bytes, the lowest first. It
/// receives all frames that are whole, whatever their destination.
#[derive(Eq, PartialEq)]
pub struct EthernetController<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for EthernetController<'_, IO> {}
unsafe impl<IO: Sync> Sync for EthernetController<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for EthernetController<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for EthernetController<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl EthernetController<'static> {
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

impl<'io, IO> EthernetController<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x1000;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> EthernetController<'io, IO> {
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

    /// Patience
    ///
    /// For how many cycles a read of RX_LENGTH waits for a frame at most. Everybody else waits meanwhile.
    #[inline(always)]
    #[must_use]
    pub const fn patience(&self) -> peakrdl_rust::reg::Reg<'io, patience::Patience, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Release
    ///
    /// Writing it throws the frame away that waits, so that the next can come; reading its last word does as well.
    #[inline(always)]
    #[must_use]
    pub const fn release(&self) -> peakrdl_rust::reg::Reg<'io, release::Release, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Length of the frame that came
    ///
    /// In bytes; 0 if there is none. Reading it makes RXDATA begin at the frame's first word.
    #[inline(always)]
    #[must_use]
    pub const fn rx_length(&self) -> peakrdl_rust::reg::Reg<'io, rx_length::RxLength, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x1FC).cast(), self.io)
        }
    }

    /// Frame to send
    ///
    /// A frame of so many bytes, 1 to 1514, is to be sent; it is when its last word has been written into TXDATA. A write waits until the frame
    /// before is gone, and one of which not all words were written is forgotten; with any other number there is none to send.
    #[inline(always)]
    #[must_use]
    pub const fn frame(&self) -> peakrdl_rust::reg::Reg<'io, frame::Frame, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x7FC).cast(), self.io)
        }
    }

    /// Words of the frame that came
    ///
    /// Whichever of them is read, it is the next word of the frame; behind the last one 0. The bytes behind the last one are any.
    #[inline(always)]
    #[must_use]
    pub const fn rxdata(&self) -> rxdata::Rxdata<'io, IO> {
        unsafe { rxdata::Rxdata::from_ptr_with(self.ptr.wrapping_byte_add(0x200).cast(), self.io) }
    }

    /// Words to send
    ///
    /// The frame, from its first word on.
    #[inline(always)]
    #[must_use]
    pub const fn txdata(&self) -> txdata::Txdata<'io, IO> {
        unsafe { txdata::Txdata::from_ptr_with(self.ptr.wrapping_byte_add(0x800).cast(), self.io) }
    }
}
