//! Addrmap: I/O manager

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod id;
pub mod policy;
pub mod ports;
pub mod reader;

/// Named types defined within this component's body
pub mod named_types {
    #[allow(unused_imports)]
    use super::_root; // alias to root module of generated code
    pub mod port_settings;
}

// Instances of named component types
pub use _root::components::io_manager::named_types::port_settings as port0;
pub use _root::components::io_manager::named_types::port_settings as port1;
pub use _root::components::io_manager::named_types::port_settings as port2;
pub use _root::components::io_manager::named_types::port_settings as port3;

/// I/O manager
///
/// Which VM may use which device, and what of it. The page of the VMs' manager, and no VM's. After reset no
/// port may use anything. What a port is given changes only while it has no request.
#[derive(Eq, PartialEq)]
pub struct IoManager<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for IoManager<'_, IO> {}
unsafe impl<IO: Sync> Sync for IoManager<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for IoManager<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for IoManager<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl IoManager<'static> {
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

impl<'io, IO> IoManager<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x1E4;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> IoManager<'io, IO> {
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

    /// Ports
    ///
    /// How many there are.
    #[inline(always)]
    #[must_use]
    pub const fn ports(&self) -> peakrdl_rust::reg::Reg<'io, ports::Ports, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x4).cast(), self.io)
        }
    }

    /// Policy
    ///
    /// Whose request each device takes next: 0 round robin; 1 fixed priority; 2 first in, first out; 3 as 0. It counts
    /// from the device's next turn on.
    #[inline(always)]
    #[must_use]
    pub const fn policy(&self) -> peakrdl_rust::reg::Reg<'io, policy::Policy, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x8).cast(), self.io)
        }
    }

    /// Reader
    ///
    /// Which port reads what comes to the UART.
    #[inline(always)]
    #[must_use]
    pub const fn reader(&self) -> peakrdl_rust::reg::Reg<'io, reader::Reader, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port0(&self) -> port0::PortSettings<'io, IO> {
        unsafe {
            port0::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x100).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port1(&self) -> port1::PortSettings<'io, IO> {
        unsafe {
            port1::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x140).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port2(&self) -> port2::PortSettings<'io, IO> {
        unsafe {
            port2::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x180).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port3(&self) -> port3::PortSettings<'io, IO> {
        unsafe {
            port3::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x1C0).cast(), self.io)
        }
    }
}
