//! Addrmap: Region monitor

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod compatibility;
pub mod found;
pub mod id;
pub mod irq_clear;
pub mod irq_enable;
pub mod irq_pending;
pub mod request;
pub mod solution;
pub mod withdraw;

/// Region monitor
///
/// Finds a region for a request, and keeps looking for those that there was none for. The device manager's alone.
#[derive(Eq, PartialEq)]
pub struct RegionMonitor<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for RegionMonitor<'_, IO> {}
unsafe impl<IO: Sync> Sync for RegionMonitor<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for RegionMonitor<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for RegionMonitor<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl RegionMonitor<'static> {
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

impl<'io, IO> RegionMonitor<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x24;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> RegionMonitor<'io, IO> {
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

    /// Compatibility
    ///
    /// Which regions each task fits into: four bits a task, beginning with task 0, which there is not; the lowest bit
    /// is region 0, the smallest.
    #[inline(always)]
    #[must_use]
    pub const fn compatibility(
        &self,
    ) -> peakrdl_rust::reg::Reg<'io, compatibility::Compatibility, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Request
    ///
    /// Writing it searches for a region. Where there is none, the request waits, in the place of one that the
    /// interface had before.
    #[inline(always)]
    #[must_use]
    pub const fn request(&self) -> peakrdl_rust::reg::Reg<'io, request::Request, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Solution
    ///
    /// What there is for the last request.
    #[inline(always)]
    #[must_use]
    pub const fn solution(&self) -> peakrdl_rust::reg::Reg<'io, solution::Solution, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Found
    ///
    /// The first of those that wait for which there is a region now. It is looked for again whenever a region or
    /// the list changes.
    #[inline(always)]
    #[must_use]
    pub const fn found(&self) -> peakrdl_rust::reg::Reg<'io, found::Found, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Withdraw
    ///
    /// Takes a request off the list: one that was found and is being served, or one that is not wanted any more.
    #[inline(always)]
    #[must_use]
    pub const fn withdraw(&self) -> peakrdl_rust::reg::Reg<'io, withdraw::Withdraw, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x14).cast(), self.io)
        }
    }

    /// Interrupt enable
    ///
    /// Which pending events hold the interrupt line up.
    #[inline(always)]
    #[must_use]
    pub const fn irq_enable(&self) -> peakrdl_rust::reg::Reg<'io, irq_enable::IrqEnable, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Interrupt pending
    ///
    /// Which events have happened since they were cleared, enabled or not.
    #[inline(always)]
    #[must_use]
    pub const fn irq_pending(&self) -> peakrdl_rust::reg::Reg<'io, irq_pending::IrqPending, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x1C).cast(), self.io)
        }
    }

    /// Interrupt clear
    ///
    /// Writing a one makes an event not pending. One that happens at the same moment stays.
    #[inline(always)]
    #[must_use]
    pub const fn irq_clear(&self) -> peakrdl_rust::reg::Reg<'io, irq_clear::IrqClear, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x20).cast(), self.io)
        }
    }
}
