//! Register: Devices

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Devices
///
/// Which devices the port may use.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Devices(u32);

unsafe impl Send for Devices {}
unsafe impl Sync for Devices {}

impl core::default::Default for Devices {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Devices {
    type Regwidth = u32;
    type Accesswidth = u32;
    type Access = peakrdl_rust::access::RW;
    type ByteEndian = peakrdl_rust::endian::LittleEndian;
    type WordEndian = peakrdl_rust::endian::LittleEndian;

    unsafe fn from_raw(val: Self::Regwidth) -> Self {
        Self(val)
    }

    fn to_raw(self) -> Self::Regwidth {
        self.0
    }
}

impl Devices {
    pub const UART_OFFSET: usize = 1;
    pub const UART_WIDTH: usize = 1;
    pub const UART_MASK: u32 = 0x1;

    /// uart
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn uart(&self) -> bool {
        let val = (self.0 >> Self::UART_OFFSET) & Self::UART_MASK;
        val != 0
    }

    /// uart
    #[inline(always)]
    pub fn set_uart(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::UART_MASK << Self::UART_OFFSET))
            | ((val & Self::UART_MASK) << Self::UART_OFFSET);
    }

    pub const FLASH_OFFSET: usize = 2;
    pub const FLASH_WIDTH: usize = 1;
    pub const FLASH_MASK: u32 = 0x1;

    /// flash
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn flash(&self) -> bool {
        let val = (self.0 >> Self::FLASH_OFFSET) & Self::FLASH_MASK;
        val != 0
    }

    /// flash
    #[inline(always)]
    pub fn set_flash(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FLASH_MASK << Self::FLASH_OFFSET))
            | ((val & Self::FLASH_MASK) << Self::FLASH_OFFSET);
    }

    pub const VGA_OFFSET: usize = 3;
    pub const VGA_WIDTH: usize = 1;
    pub const VGA_MASK: u32 = 0x1;

    /// vga
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn vga(&self) -> bool {
        let val = (self.0 >> Self::VGA_OFFSET) & Self::VGA_MASK;
        val != 0
    }

    /// vga
    #[inline(always)]
    pub fn set_vga(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::VGA_MASK << Self::VGA_OFFSET))
            | ((val & Self::VGA_MASK) << Self::VGA_OFFSET);
    }

    pub const ETHERNET_OFFSET: usize = 4;
    pub const ETHERNET_WIDTH: usize = 1;
    pub const ETHERNET_MASK: u32 = 0x1;

    /// ethernet
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn ethernet(&self) -> bool {
        let val = (self.0 >> Self::ETHERNET_OFFSET) & Self::ETHERNET_MASK;
        val != 0
    }

    /// ethernet
    #[inline(always)]
    pub fn set_ethernet(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ETHERNET_MASK << Self::ETHERNET_OFFSET))
            | ((val & Self::ETHERNET_MASK) << Self::ETHERNET_OFFSET);
    }
}

impl core::fmt::Debug for Devices {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Devices")
            .field("uart", &self.uart())
            .field("flash", &self.flash())
            .field("vga", &self.vga())
            .field("ethernet", &self.ethernet())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Devices::default();
        assert_eq!(reg.uart(), false);
        assert_eq!(reg.flash(), false);
        assert_eq!(reg.vga(), false);
        assert_eq!(reg.ethernet(), false);
    }
}
