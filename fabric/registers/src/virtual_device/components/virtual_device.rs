//! Addrmap: Virtual device

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod cmd;
pub mod custom0;
pub mod data_addr;
pub mod data_size;
pub mod end;
pub mod id;
pub mod int_ctrl;
pub mod over;
pub mod result;
pub mod start;
pub mod stat;

/// Named types defined within this component's body
pub mod named_types {
    #[allow(unused_imports)]
    use super::_root; // alias to root module of generated code
    pub mod custom;
}

// Instances of named component types
pub use _root::components::virtual_device::named_types::custom as custom1;
pub use _root::components::virtual_device::named_types::custom as custom2;
pub use _root::components::virtual_device::named_types::custom as custom3;
pub use _root::components::virtual_device::named_types::custom as custom4;
pub use _root::components::virtual_device::named_types::custom as custom5;
pub use _root::components::virtual_device::named_types::custom as custom6;
pub use _root::components::virtual_device::named_types::custom as custom7;

/// Virtual device
///
/// The page that a VM sees of an accelerator. What is written stays, whether a region stands behind it or not.
#[derive(Eq, PartialEq)]
pub struct VirtualDevice<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for VirtualDevice<'_, IO> {}
unsafe impl<IO: Sync> Sync for VirtualDevice<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for VirtualDevice<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for VirtualDevice<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl VirtualDevice<'static> {
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

impl<'io, IO> VirtualDevice<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x60;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> VirtualDevice<'io, IO> {
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
    /// How the device is. Of a VM that only writes and waits, none of it need be looked at.
    #[inline(always)]
    #[must_use]
    pub const fn stat(&self) -> peakrdl_rust::reg::Reg<'io, stat::Stat, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Start
    ///
    /// Writing a one asks for a computation with what CMD, DATA_ADDR, DATA_SIZE and CUSTOM0 hold when it begins.
    /// Reads as one until then. Withdrawn while END reads as one.
    #[inline(always)]
    #[must_use]
    pub const fn start(&self) -> peakrdl_rust::reg::Reg<'io, start::Start, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Over
    ///
    /// One from the end of a computation until the next begins; zero after END.
    #[inline(always)]
    #[must_use]
    pub const fn over(&self) -> peakrdl_rust::reg::Reg<'io, over::Over, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Command
    ///
    /// The task's parameter; what it means is the task's.
    #[inline(always)]
    #[must_use]
    pub const fn cmd(&self) -> peakrdl_rust::reg::Reg<'io, cmd::Cmd, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Data address
    ///
    /// Where the input begins, in bytes from the beginning of the VM's memory.
    #[inline(always)]
    #[must_use]
    pub const fn data_addr(&self) -> peakrdl_rust::reg::Reg<'io, data_addr::DataAddr, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x14).cast(), self.io)
        }
    }

    /// Data size
    ///
    /// How long the input is, in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn data_size(&self) -> peakrdl_rust::reg::Reg<'io, data_size::DataSize, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Interrupt control
    ///
    /// The interrupt is up while `over` is pending and enabled. Both bits are zero after END.
    #[inline(always)]
    #[must_use]
    pub const fn int_ctrl(&self) -> peakrdl_rust::reg::Reg<'io, int_ctrl::IntCtrl, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x1C).cast(), self.io)
        }
    }

    /// Result
    ///
    /// Of the last computation, from when it is over.
    #[inline(always)]
    #[must_use]
    pub const fn result(&self) -> peakrdl_rust::reg::Reg<'io, result::Result, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x20).cast(), self.io)
        }
    }

    /// End
    ///
    /// Writing a one ends all that the device computes or was asked to compute, for good: START is withdrawn, an
    /// unfinished computation is never resumed, and a task that computes is reset and cut off from memory. Reads as
    /// one until nothing of it can reach memory any more. Until then START, OVER and INT_CTRL are kept zero, and no
    /// computation begins. Error 13 where there was a computation; there is no interrupt. The other registers keep
    /// their values.
    #[inline(always)]
    #[must_use]
    pub const fn end(&self) -> peakrdl_rust::reg::Reg<'io, end::End, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x28).cast(), self.io)
        }
    }

    /// Custom port 0
    ///
    /// Where the output begins, in bytes from the beginning of the VM's memory.
    #[inline(always)]
    #[must_use]
    pub const fn custom0(&self) -> peakrdl_rust::reg::Reg<'io, custom0::Custom0, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x40).cast(), self.io)
        }
    }

    /// Custom port
    ///
    /// Kept; no task there is looks at it.
    #[inline(always)]
    #[must_use]
    pub const fn custom1(&self) -> peakrdl_rust::reg::Reg<'io, custom1::Custom, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x44).cast(), self.io)
        }
    }

    /// Custom port
    ///
    /// Kept; no task there is looks at it.
    #[inline(always)]
    #[must_use]
    pub const fn custom2(&self) -> peakrdl_rust::reg::Reg<'io, custom2::Custom, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x48).cast(), self.io)
        }
    }

    /// Custom port
    ///
    /// Kept; no task there is looks at it.
    #[inline(always)]
    #[must_use]
    pub const fn custom3(&self) -> peakrdl_rust::reg::Reg<'io, custom3::Custom, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4C).cast(), self.io)
        }
    }

    /// Custom port
    ///
    /// Kept; no task there is looks at it.
    #[inline(always)]
    #[must_use]
    pub const fn custom4(&self) -> peakrdl_rust::reg::Reg<'io, custom4::Custom, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x50).cast(), self.io)
        }
    }

    /// Custom port
    ///
    /// Kept; no task there is looks at it.
    #[inline(always)]
    #[must_use]
    pub const fn custom5(&self) -> peakrdl_rust::reg::Reg<'io, custom5::Custom, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x54).cast(), self.io)
        }
    }

    /// Custom port
    ///
    /// Kept; no task there is looks at it.
    #[inline(always)]
    #[must_use]
    pub const fn custom6(&self) -> peakrdl_rust::reg::Reg<'io, custom6::Custom, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x58).cast(), self.io)
        }
    }

    /// Custom port
    ///
    /// Kept; no task there is looks at it.
    #[inline(always)]
    #[must_use]
    pub const fn custom7(&self) -> peakrdl_rust::reg::Reg<'io, custom7::Custom, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x5C).cast(), self.io)
        }
    }
}
