//! Addrmap: Mesh interface

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod buffer;
pub mod header;
pub mod id;
pub mod irq_enable;
pub mod message;
pub mod packet;
pub mod places;
pub mod response;
pub mod room;
pub mod status;

/// Mesh interface
///
/// The page through which a hart sends packets over the mesh and takes those that have come. All of it is this hart's
/// alone.
#[derive(Eq, PartialEq)]
pub struct MeshInterface<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for MeshInterface<'_, IO> {}
unsafe impl<IO: Sync> Sync for MeshInterface<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for MeshInterface<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for MeshInterface<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl MeshInterface<'static> {
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

impl<'io, IO> MeshInterface<'io, IO> {
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

impl<'io, IO: peakrdl_rust::io::RegisterIO> MeshInterface<'io, IO> {
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
    /// What is under way, and what waits.
    #[inline(always)]
    #[must_use]
    pub const fn status(&self) -> peakrdl_rust::reg::Reg<'io, status::Status, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Places
    ///
    /// Where on the mesh this interface is, and where the I/O hypervisor.
    #[inline(always)]
    #[must_use]
    pub const fn places(&self) -> peakrdl_rust::reg::Reg<'io, places::Places, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Room
    ///
    /// For requests to the I/O hypervisor and its responses, in words. All of it is there again when a response has come to a
    /// request that is not quiet, and all responses are taken.
    #[inline(always)]
    #[must_use]
    pub const fn room(&self) -> peakrdl_rust::reg::Reg<'io, room::Room, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Packet
    ///
    /// What of BUFFER follows the first word of the next packet.
    #[inline(always)]
    #[must_use]
    pub const fn packet(&self) -> peakrdl_rust::reg::Reg<'io, packet::Packet, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Header
    ///
    /// The first word of a packet. Writing it, as a whole word, sends it and what PACKET says. A packet is refused while another is being sent,
    /// when it goes to a place that this one may not send to, and when it is a request for which, or for whose response, there is
    /// no room: STATUS counts it, and nothing else changes.
    #[inline(always)]
    #[must_use]
    pub const fn header(&self) -> peakrdl_rust::reg::Reg<'io, header::Header, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x14).cast(), self.io)
        }
    }

    /// Response
    ///
    /// The next word of what the I/O hypervisor sent, which a read takes away. All zeros if there is none. Of a packet's first word
    /// bit 31 is set, and 30 to 26 are not.
    #[inline(always)]
    #[must_use]
    pub const fn response(&self) -> peakrdl_rust::reg::Reg<'io, response::Response, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Message
    ///
    /// The same of what the other places sent.
    #[inline(always)]
    #[must_use]
    pub const fn message(&self) -> peakrdl_rust::reg::Reg<'io, message::Message, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x1C).cast(), self.io)
        }
    }

    /// Interrupt enable
    ///
    /// The interrupt is up while something waits that is enabled here.
    #[inline(always)]
    #[must_use]
    pub const fn irq_enable(&self) -> peakrdl_rust::reg::Reg<'io, irq_enable::IrqEnable, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x20).cast(), self.io)
        }
    }

    /// Buffer
    ///
    /// What packets are made of. Not to be read. What is written while it is being sent may be sent or not.
    #[inline(always)]
    #[must_use]
    pub const fn buffer(&self) -> buffer::Buffer<'io, IO> {
        unsafe { buffer::Buffer::from_ptr_with(self.ptr.wrapping_byte_add(0x800).cast(), self.io) }
    }
}
