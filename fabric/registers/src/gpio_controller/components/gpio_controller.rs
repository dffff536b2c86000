//! Addrmap: GPIO controller

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod clear;
pub mod id;
pub mod inputs;
pub mod outputs;
pub mod set;
pub mod timer;

/// GPIO controller
///
/// Eight pins to write and to read, and a timer.
#[derive(Eq, PartialEq)]
pub struct GpioController<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for GpioController<'_, IO> {}
unsafe impl<IO: Sync> Sync for GpioController<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for GpioController<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for GpioController<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl GpioController<'static> {
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

impl<'io, IO> GpioController<'io, IO> {
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

impl<'io, IO: peakrdl_rust::io::RegisterIO> GpioController<'io, IO> {
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

    /// Outputs
    ///
    /// The levels of the pins; a pin changes some cycles after the write that says so, always as many.
    #[inline(always)]
    #[must_use]
    pub const fn outputs(&self) -> peakrdl_rust::reg::Reg<'io, outputs::Outputs, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Set
    ///
    /// Pins with a one become high, and the others stay.
    #[inline(always)]
    #[must_use]
    pub const fn set(&self) -> peakrdl_rust::reg::Reg<'io, set::Set, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Clear
    ///
    /// Pins with a one become low, and the others stay.
    #[inline(always)]
    #[must_use]
    pub const fn clear(&self) -> peakrdl_rust::reg::Reg<'io, clear::Clear, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Inputs
    ///
    /// What is on the pins.
    #[inline(always)]
    #[must_use]
    pub const fn inputs(&self) -> peakrdl_rust::reg::Reg<'io, inputs::Inputs, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Timer
    ///
    /// Cycles since reset, when it is read. Reading the lower word keeps the upper one of the same cycle for the next read.
    #[inline(always)]
    #[must_use]
    pub const fn timer(&self) -> peakrdl_rust::reg::Reg<'io, timer::Timer, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }
}
