//! Addrmap: Mesh's I/O manager

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod id;
pub mod lost;
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
pub use _root::components::mesh_manager::named_types::port_settings as port0;
pub use _root::components::mesh_manager::named_types::port_settings as port1;
pub use _root::components::mesh_manager::named_types::port_settings as port2;
pub use _root::components::mesh_manager::named_types::port_settings as port3;
pub use _root::components::mesh_manager::named_types::port_settings as port4;
pub use _root::components::mesh_manager::named_types::port_settings as port5;
pub use _root::components::mesh_manager::named_types::port_settings as port6;
pub use _root::components::mesh_manager::named_types::port_settings as port7;
pub use _root::components::mesh_manager::named_types::port_settings as port8;
pub use _root::components::mesh_manager::named_types::port_settings as port9;
pub use _root::components::mesh_manager::named_types::port_settings as port10;
pub use _root::components::mesh_manager::named_types::port_settings as port11;
pub use _root::components::mesh_manager::named_types::port_settings as port12;
pub use _root::components::mesh_manager::named_types::port_settings as port13;
pub use _root::components::mesh_manager::named_types::port_settings as port14;
pub use _root::components::mesh_manager::named_types::port_settings as port15;

/// Mesh's I/O manager
///
/// Which place of the mesh may use which device, and what of it. The page of the VMs' manager, and no VM's. After
/// reset no place may use anything. What a port is given changes only while it has no request.
#[derive(Eq, PartialEq)]
pub struct MeshManager<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for MeshManager<'_, IO> {}
unsafe impl<IO: Sync> Sync for MeshManager<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for MeshManager<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for MeshManager<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl MeshManager<'static> {
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

impl<'io, IO> MeshManager<'io, IO> {
    /// Size in bytes of the underlying memory
    pub const SIZE: usize = 0x4E8;

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

impl<'io, IO: peakrdl_rust::io::RegisterIO> MeshManager<'io, IO> {
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
    /// How many there are: one for each place that may ask.
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

    /// Lost
    ///
    /// A bit for each port of which a packet found no room since reset. None does that an interface has sent.
    #[inline(always)]
    #[must_use]
    pub const fn lost(&self) -> peakrdl_rust::reg::Reg<'io, lost::Lost, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
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

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port4(&self) -> port4::PortSettings<'io, IO> {
        unsafe {
            port4::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x200).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port5(&self) -> port5::PortSettings<'io, IO> {
        unsafe {
            port5::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x240).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port6(&self) -> port6::PortSettings<'io, IO> {
        unsafe {
            port6::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x280).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port7(&self) -> port7::PortSettings<'io, IO> {
        unsafe {
            port7::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x2C0).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port8(&self) -> port8::PortSettings<'io, IO> {
        unsafe {
            port8::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x300).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port9(&self) -> port9::PortSettings<'io, IO> {
        unsafe {
            port9::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x340).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port10(&self) -> port10::PortSettings<'io, IO> {
        unsafe {
            port10::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x380).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port11(&self) -> port11::PortSettings<'io, IO> {
        unsafe {
            port11::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x3C0).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port12(&self) -> port12::PortSettings<'io, IO> {
        unsafe {
            port12::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x400).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port13(&self) -> port13::PortSettings<'io, IO> {
        unsafe {
            port13::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x440).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port14(&self) -> port14::PortSettings<'io, IO> {
        unsafe {
            port14::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x480).cast(), self.io)
        }
    }

    /// Port
    ///
    /// What one port is given.
    #[inline(always)]
    #[must_use]
    pub const fn port15(&self) -> port15::PortSettings<'io, IO> {
        unsafe {
            port15::PortSettings::from_ptr_with(self.ptr.wrapping_byte_add(0x4C0).cast(), self.io)
        }
    }
}
