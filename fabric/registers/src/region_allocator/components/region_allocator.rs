//! Addrmap: Region allocator

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod answers;
pub mod id;
pub mod irq_clear;
pub mod irq_enable;
pub mod irq_pending;
pub mod request;
pub mod status;

/// Region allocator
///
/// Connects an interface to a region at the request of the hypervisor, without the device manager where no judgement is needed. The hypervisor's alone.
#[derive(Eq, PartialEq)]
pub struct RegionAllocator<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for RegionAllocator<'_, IO> {}
unsafe impl<IO: Sync> Sync for RegionAllocator<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for RegionAllocator<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for RegionAllocator<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl RegionAllocator<'static> {
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

impl<'io, IO> RegionAllocator<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x20;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> RegionAllocator<'io, IO> {
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

    /// Request
    ///
    /// Writing it asks for a region for an interface. Ignored for an interface that does not exist, and while ANSWERS
    /// is off. Writes to the page are stalled for a few cycles, until the search is over.
    #[inline(always)]
    #[must_use]
    pub const fn request(&self) -> peakrdl_rust::reg::Reg<'io, request::Request, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Answers
    ///
    /// Where answers are written: a doubleword for each interface, in the line of 64 bytes at this address. Written
    /// from the lower word; changes as a whole with the upper one.
    #[inline(always)]
    #[must_use]
    pub const fn answers(&self) -> peakrdl_rust::reg::Reg<'io, answers::Answers, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Status
    ///
    /// What goes on.
    #[inline(always)]
    #[must_use]
    pub const fn status(&self) -> peakrdl_rust::reg::Reg<'io, status::Status, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Interrupt enable
    ///
    /// Which pending events hold the interrupt line up.
    #[inline(always)]
    #[must_use]
    pub const fn irq_enable(&self) -> peakrdl_rust::reg::Reg<'io, irq_enable::IrqEnable, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x14).cast(), self.io)
        }
    }

    /// Interrupt pending
    ///
    /// Which events have happened since they were cleared, enabled or not.
    #[inline(always)]
    #[must_use]
    pub const fn irq_pending(&self) -> peakrdl_rust::reg::Reg<'io, irq_pending::IrqPending, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Interrupt clear
    ///
    /// Writing a one makes an event not pending. One that happens at the same moment stays.
    #[inline(always)]
    #[must_use]
    pub const fn irq_clear(&self) -> peakrdl_rust::reg::Reg<'io, irq_clear::IrqClear, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x1C).cast(), self.io)
        }
    }
}
