//! Addrmap: Configuration port

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod cycles;
pub mod id;
pub mod irq_clear;
pub mod irq_enable;
pub mod irq_pending;
pub mod length;
pub mod source;
pub mod status;
pub mod target;

/// Configuration port
///
/// Loads a region with a task from a bitstream in memory. The device manager's alone.
#[derive(Eq, PartialEq)]
pub struct ConfigurationPort<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for ConfigurationPort<'_, IO> {}
unsafe impl<IO: Sync> Sync for ConfigurationPort<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for ConfigurationPort<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for ConfigurationPort<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl ConfigurationPort<'static> {
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

impl<'io, IO> ConfigurationPort<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x28;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> ConfigurationPort<'io, IO> {
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
    /// What the port does, or did last.
    #[inline(always)]
    #[must_use]
    pub const fn status(&self) -> peakrdl_rust::reg::Reg<'io, status::Status, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Source
    ///
    /// Where the bitstream begins in memory; a multiple of 64. Written from the lower word; changes as a whole
    /// with the upper one.
    #[inline(always)]
    #[must_use]
    pub const fn source(&self) -> peakrdl_rust::reg::Reg<'io, source::Source, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Length
    ///
    /// How many bytes are there, with the header.
    #[inline(always)]
    #[must_use]
    pub const fn length(&self) -> peakrdl_rust::reg::Reg<'io, length::Length, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Target
    ///
    /// Writing it begins a configuration.
    #[inline(always)]
    #[must_use]
    pub const fn target(&self) -> peakrdl_rust::reg::Reg<'io, target::Target, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x14).cast(), self.io)
        }
    }

    /// Cycles
    ///
    /// How long the last configuration took, from its beginning to its end.
    #[inline(always)]
    #[must_use]
    pub const fn cycles(&self) -> peakrdl_rust::reg::Reg<'io, cycles::Cycles, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Interrupt enable
    ///
    /// Which pending events hold the interrupt line up.
    #[inline(always)]
    #[must_use]
    pub const fn irq_enable(&self) -> peakrdl_rust::reg::Reg<'io, irq_enable::IrqEnable, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x1C).cast(), self.io)
        }
    }

    /// Interrupt pending
    ///
    /// Which events have happened since they were cleared, enabled or not.
    #[inline(always)]
    #[must_use]
    pub const fn irq_pending(&self) -> peakrdl_rust::reg::Reg<'io, irq_pending::IrqPending, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x20).cast(), self.io)
        }
    }

    /// Interrupt clear
    ///
    /// Writing a one makes an event not pending. One that happens at the same moment stays.
    #[inline(always)]
    #[must_use]
    pub const fn irq_clear(&self) -> peakrdl_rust::reg::Reg<'io, irq_clear::IrqClear, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x24).cast(), self.io)
        }
    }
}
