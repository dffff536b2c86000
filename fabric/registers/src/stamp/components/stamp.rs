//! Addrmap: Time stamps

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod compare;
pub mod cycles;
pub mod id;
pub mod irq_clear;
pub mod irq_enable;
pub mod irq_pending;
pub mod scratch;

/// Time stamps
///
/// A counter of the fabric's cycles, and an interrupt when it reaches a value.
#[derive(Eq, PartialEq)]
pub struct Stamp<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for Stamp<'_, IO> {}
unsafe impl<IO: Sync> Sync for Stamp<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for Stamp<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for Stamp<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Stamp<'static> {
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

impl<'io, IO> Stamp<'io, IO> {
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

impl<'io, IO: peakrdl_rust::io::RegisterIO> Stamp<'io, IO> {
    /// Identification
    ///
    /// Says that this block is here, and which version of its registers.
    #[inline(always)]
    #[must_use]
    pub const fn id(&self) -> peakrdl_rust::reg::Reg<'io, id::Id, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x0).cast(), self.io)
        }
    }

    /// Scratch
    ///
    /// Keeps what is written, and means nothing: for trying out the way to the block.
    #[inline(always)]
    #[must_use]
    pub const fn scratch(&self) -> peakrdl_rust::reg::Reg<'io, scratch::Scratch, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Cycles
    ///
    /// Cycles of the fabric's clock since reset. Reading the lower word keeps the upper one of the same
    /// cycle for the next read; there is one such copy, so two harts that read have to take turns.
    #[inline(always)]
    #[must_use]
    pub const fn cycles(&self) -> peakrdl_rust::reg::Reg<'io, cycles::Cycles, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Compare
    ///
    /// The cycle at which the event `match` happens. Written from the lower word; what it holds changes as
    /// a whole with the upper one. A cycle that is over when it is written gives no event.
    #[inline(always)]
    #[must_use]
    pub const fn compare(&self) -> peakrdl_rust::reg::Reg<'io, compare::Compare, IO> {
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
