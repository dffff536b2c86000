//! Regfile: Port

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

// Anonymous component instances
pub mod devices;
pub mod flash_first;
pub mod flash_sectors;
pub mod mac_high;
pub mod mac_low;
pub mod reach;
pub mod vga_corner;
pub mod vga_size;

/// Port
///
/// What one port is given.
#[derive(Eq, PartialEq)]
pub struct PortSettings<'io, IO = peakrdl_rust::io::PtrIO> {
    ptr: *mut u8,
    io: &'io IO,
}

unsafe impl<IO: Sync> Send for PortSettings<'_, IO> {}
unsafe impl<IO: Sync> Sync for PortSettings<'_, IO> {}

// manually implement Copy to ease generic bounds
// (IO does not need to be Copy)
impl<IO> Copy for PortSettings<'_, IO> {}

// manually implement Clone to ease generic bounds
// (IO does not need to be Clone)
impl<IO> Clone for PortSettings<'_, IO> {
    fn clone(&self) -> Self {
        *self
    }
}

impl PortSettings<'static> {
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

impl<'io, IO> PortSettings<'io, IO> {
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

impl<'io, IO: peakrdl_rust::io::RegisterIO> PortSettings<'io, IO> {
    /// Devices
    ///
    /// Which devices the port may use.
    #[inline(always)]
    #[must_use]
    pub const fn devices(&self) -> peakrdl_rust::reg::Reg<'io, devices::Devices, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x0).cast(), self.io)
        }
    }

    /// Flash's first sector
    ///
    /// Where the port's area of the flash begins, in sectors of 4 KiB.
    #[inline(always)]
    #[must_use]
    pub const fn flash_first(&self) -> peakrdl_rust::reg::Reg<'io, flash_first::FlashFirst, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0xC).cast(), self.io)
        }
    }

    /// Flash's sectors
    ///
    /// How many the port's area has. It has to lie in the part.
    #[inline(always)]
    #[must_use]
    pub const fn flash_sectors(
        &self,
    ) -> peakrdl_rust::reg::Reg<'io, flash_sectors::FlashSectors, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x10).cast(), self.io)
        }
    }

    /// VGA window's corner
    ///
    /// The upper left one, in pixels of the display's buffer.
    #[inline(always)]
    #[must_use]
    pub const fn vga_corner(&self) -> peakrdl_rust::reg::Reg<'io, vga_corner::VgaCorner, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x14).cast(), self.io)
        }
    }

    /// VGA window's size
    ///
    /// In pixels.
    #[inline(always)]
    #[must_use]
    pub const fn vga_size(&self) -> peakrdl_rust::reg::Reg<'io, vga_size::VgaSize, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x18).cast(), self.io)
        }
    }

    /// Ethernet address, lower word
    ///
    /// The address's last four bytes, the last one lowest.
    #[inline(always)]
    #[must_use]
    pub const fn mac_low(&self) -> peakrdl_rust::reg::Reg<'io, mac_low::MacLow, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x1C).cast(), self.io)
        }
    }

    /// Ethernet address, upper half-word
    ///
    /// Its first two bytes.
    #[inline(always)]
    #[must_use]
    pub const fn mac_high(&self) -> peakrdl_rust::reg::Reg<'io, mac_high::MacHigh, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x20).cast(), self.io)
        }
    }

    /// Reach
    ///
    /// Which tiles this port's may send messages to, a bit each. What it may send to the I/O is not asked here.
    #[inline(always)]
    #[must_use]
    pub const fn reach(&self) -> peakrdl_rust::reg::Reg<'io, reach::Reach, IO> {
        unsafe {
            peakrdl_rust::reg::Reg::from_ptr_with(self.ptr.wrapping_byte_add(0x24).cast(), self.io)
        }
    }
}
