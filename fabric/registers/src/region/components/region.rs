//! Addrmap: Region

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod answer;
pub mod client;
pub mod command;
pub mod descriptor;
pub mod hold;
pub mod id;
pub mod irq_clear;
pub mod irq_enable;
pub mod irq_pending;

/// Region
///
/// A reconfigurable region, as the device manager sees it.
#[derive(Eq, PartialEq)]
pub struct Region<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for Region<'_, IO> {}
unsafe impl<IO: Sync> Sync for Region<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for Region<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for Region<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Region<'static> {
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

impl<'io, IO> Region<'io, IO> {
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

impl<'io, IO: peakrdl_rust::io::RegisterIO> Region<'io, IO> {
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

    /// Descriptor
    ///
    /// How the region is.
    #[inline(always)]
    #[must_use]
    pub const fn descriptor(&self) -> peakrdl_rust::reg::Reg<'io, descriptor::Descriptor, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Client
    ///
    /// For the next `connect`.
    #[inline(always)]
    #[must_use]
    pub const fn client(&self) -> peakrdl_rust::reg::Reg<'io, client::Client, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Command
    ///
    /// What is to happen: one bit. A command that the region's state does not allow, or two at once, change nothing,
    /// and are refused.
    #[inline(always)]
    #[must_use]
    pub const fn command(&self) -> peakrdl_rust::reg::Reg<'io, command::Command, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Answer
    ///
    /// What became of the last command.
    #[inline(always)]
    #[must_use]
    pub const fn answer(&self) -> peakrdl_rust::reg::Reg<'io, answer::Answer, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Hold time
    ///
    /// For how many cycles a client that was connected has the region to itself without starting.
    #[inline(always)]
    #[must_use]
    pub const fn hold(&self) -> peakrdl_rust::reg::Reg<'io, hold::Hold, IO> {
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
