//! Addrmap: I/O port

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod address;
pub mod buffer;
pub mod data;
pub mod id;
pub mod irq_enable;
pub mod request;
pub mod reset;
pub mod response;
pub mod status;

/// I/O port
///
/// The page through which a VM uses the devices behind the I/O hypervisor. All of it is this VM's alone.
#[derive(Eq, PartialEq)]
pub struct IoPort<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for IoPort<'_, IO> {}
unsafe impl<IO: Sync> Sync for IoPort<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for IoPort<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for IoPort<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl IoPort<'static> {
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

impl<'io, IO> IoPort<'io, IO> {
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

impl<'io, IO: peakrdl_rust::io::RegisterIO> IoPort<'io, IO> {
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
    /// How full the queues are.
    #[inline(always)]
    #[must_use]
    pub const fn status(&self) -> peakrdl_rust::reg::Reg<'io, status::Status, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Address
    ///
    /// Of the next request, at the device; what it means is the device's.
    #[inline(always)]
    #[must_use]
    pub const fn address(&self) -> peakrdl_rust::reg::Reg<'io, address::Address, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Data
    ///
    /// Of the next request: where its data are, or go. Without `memory`, a multiple of 4 from the beginning of
    /// BUFFER; with it, a multiple of 64 from the beginning of the VM's memory.
    #[inline(always)]
    #[must_use]
    pub const fn data(&self) -> peakrdl_rust::reg::Reg<'io, data::Data, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Request
    ///
    /// Writing it, as a whole word, queues a request of it, ADDRESS and DATA. Without room it is refused: STATUS counts it,
    /// and nothing else changes.
    #[inline(always)]
    #[must_use]
    pub const fn request(&self) -> peakrdl_rust::reg::Reg<'io, request::Request, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Response
    ///
    /// The oldest response, which a read takes away. All zeros if there is none.
    #[inline(always)]
    #[must_use]
    pub const fn response(&self) -> peakrdl_rust::reg::Reg<'io, response::Response, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x14).cast(), self.io)
        }
    }

    /// Interrupt enable
    ///
    /// The interrupt is up while a response waits and this is set.
    #[inline(always)]
    #[must_use]
    pub const fn irq_enable(&self) -> peakrdl_rust::reg::Reg<'io, irq_enable::IrqEnable, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Reset
    ///
    /// Writing a one ends what the VM has asked for: requests that have not begun are gone, and so are responses; the
    /// request under way has none, and what it reads is not stored in the VM's memory any more. Where timed I/O
    /// has its CANCEL: a hypervisor writes the same to both when their VM has ended.
    #[inline(always)]
    #[must_use]
    pub const fn reset(&self) -> peakrdl_rust::reg::Reg<'io, reset::Reset, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x24).cast(), self.io)
        }
    }

    /// Buffer
    ///
    /// Two buffers of 2 KiB at the same place: what is written goes to devices, and what is read came from them.
    #[inline(always)]
    #[must_use]
    pub const fn buffer(&self) -> buffer::Buffer<'io, IO> {
        unsafe { buffer::Buffer::from_ptr_with(self.ptr.wrapping_byte_add(0x800).cast(), self.io) }
    }
}
