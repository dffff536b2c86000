//! Addrmap: Interface, as the device manager sees it

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod command;
pub mod context;
pub mod fault_addr;
pub mod faults;
pub mod id;
pub mod state;
pub mod window_base;
pub mod window_pages;

/// Interface, as the device manager sees it
///
/// What only the device manager may set of an interface: the VM's memory, and the task's context.
#[derive(Eq, PartialEq)]
pub struct InterfaceManager<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for InterfaceManager<'_, IO> {}
unsafe impl<IO: Sync> Sync for InterfaceManager<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for InterfaceManager<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for InterfaceManager<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl InterfaceManager<'static> {
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

impl<'io, IO> InterfaceManager<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x800;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> InterfaceManager<'io, IO> {
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

    /// State
    ///
    /// How the interface is.
    #[inline(always)]
    #[must_use]
    pub const fn state(&self) -> peakrdl_rust::reg::Reg<'io, state::State, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Command
    ///
    /// What is to happen; each with a one.
    #[inline(always)]
    #[must_use]
    pub const fn command(&self) -> peakrdl_rust::reg::Reg<'io, command::Command, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Window base
    ///
    /// The first page of 4 KiB of the VM's memory. Stays as it is while a region is connected.
    #[inline(always)]
    #[must_use]
    pub const fn window_base(&self) -> peakrdl_rust::reg::Reg<'io, window_base::WindowBase, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Window size
    ///
    /// How many pages of 4 KiB the VM's memory has, at most 2^20. With none, as after reset, a task reaches nothing.
    /// Stays as it is while a region is connected.
    #[inline(always)]
    #[must_use]
    pub const fn window_pages(&self) -> peakrdl_rust::reg::Reg<'io, window_pages::WindowPages, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// Faults
    ///
    /// What the tasks behind this interface tried, since the faults were forgotten; each counts up to 255. While one
    /// of them is not 0, the fault's line is up.
    #[inline(always)]
    #[must_use]
    pub const fn faults(&self) -> peakrdl_rust::reg::Reg<'io, faults::Faults, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x14).cast(), self.io)
        }
    }

    /// Fault address
    ///
    /// The task's address of the last request that was refused.
    #[inline(always)]
    #[must_use]
    pub const fn fault_addr(&self) -> peakrdl_rust::reg::Reg<'io, fault_addr::FaultAddr, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Context
    ///
    /// The context buffer, 1 KiB, written in whole words alone: a write of less changes nothing. What is read or
    /// written while the task is running may be wrong.
    #[inline(always)]
    #[must_use]
    pub const fn context(&self) -> context::Context<'io, IO> {
        unsafe {
            context::Context::from_ptr_with(self.ptr.wrapping_byte_add(0x400).cast(), self.io)
        }
    }
}
