//! Register: Policy

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Policy
///
/// Whose request each device takes next: 0 round robin; 1 fixed priority; 2 first in, first out; 3 as 0. It counts
/// from the device's next turn on.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Policy(u32);

unsafe impl Send for Policy {}
unsafe impl Sync for Policy {}

impl core::default::Default for Policy {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Policy {
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

impl Policy {
    pub const UART_OFFSET: usize = 2;
    pub const UART_WIDTH: usize = 2;
    pub const UART_MASK: u32 = 0x3;

    /// uart
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn uart(&self) -> u8 {
        let val = (self.0 >> Self::UART_OFFSET) & Self::UART_MASK;
        val as u8
    }

    /// uart
    #[inline(always)]
    pub fn set_uart(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::UART_MASK << Self::UART_OFFSET))
            | ((val & Self::UART_MASK) << Self::UART_OFFSET);
    }

    pub const FLASH_OFFSET: usize = 4;
    pub const FLASH_WIDTH: usize = 2;
    pub const FLASH_MASK: u32 = 0x3;

    /// flash
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn flash(&self) -> u8 {
        let val = (self.0 >> Self::FLASH_OFFSET) & Self::FLASH_MASK;
        val as u8
    }

    /// flash
    #[inline(always)]
    pub fn set_flash(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FLASH_MASK << Self::FLASH_OFFSET))
            | ((val & Self::FLASH_MASK) << Self::FLASH_OFFSET);
    }

    pub const VGA_OFFSET: usize = 6;
    pub const VGA_WIDTH: usize = 2;
    pub const VGA_MASK: u32 = 0x3;

    /// vga
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn vga(&self) -> u8 {
        let val = (self.0 >> Self::VGA_OFFSET) & Self::VGA_MASK;
        val as u8
    }

    /// vga
    #[inline(always)]
    pub fn set_vga(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::VGA_MASK << Self::VGA_OFFSET))
            | ((val & Self::VGA_MASK) << Self::VGA_OFFSET);
    }

    pub const ETHERNET_OFFSET: usize = 8;
    pub const ETHERNET_WIDTH: usize = 2;
    pub const ETHERNET_MASK: u32 = 0x3;

    /// ethernet
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn ethernet(&self) -> u8 {
        let val = (self.0 >> Self::ETHERNET_OFFSET) & Self::ETHERNET_MASK;
        val as u8
    }

    /// ethernet
    #[inline(always)]
    pub fn set_ethernet(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ETHERNET_MASK << Self::ETHERNET_OFFSET))
            | ((val & Self::ETHERNET_MASK) << Self::ETHERNET_OFFSET);
    }
}

impl core::fmt::Debug for Policy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Policy")
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
        let reg = Policy::default();
        assert_eq!(reg.uart(), 0);
        assert_eq!(reg.flash(), 0);
        assert_eq!(reg.vga(), 0);
        assert_eq!(reg.ethernet(), 0);
    }
}
