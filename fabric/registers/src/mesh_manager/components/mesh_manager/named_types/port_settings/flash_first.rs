//! Register: Flash's first sector

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Flash's first sector
///
/// Where the port's area of the flash begins, in sectors of 4 KiB.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct FlashFirst(u32);

unsafe impl Send for FlashFirst {}
unsafe impl Sync for FlashFirst {}

impl core::default::Default for FlashFirst {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for FlashFirst {
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

impl FlashFirst {
    pub const SECTOR_OFFSET: usize = 0;
    pub const SECTOR_WIDTH: usize = 10;
    pub const SECTOR_MASK: u32 = 0x3FF;

    /// sector
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn sector(&self) -> u16 {
        let val = (self.0 >> Self::SECTOR_OFFSET) & Self::SECTOR_MASK;
        val as u16
    }

    /// sector
    #[inline(always)]
    pub fn set_sector(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::SECTOR_MASK << Self::SECTOR_OFFSET))
            | ((val & Self::SECTOR_MASK) << Self::SECTOR_OFFSET);
    }
}

impl core::fmt::Debug for FlashFirst {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FlashFirst")
            .field("sector", &self.sector())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = FlashFirst::default();
        assert_eq!(reg.sector(), 0);
    }
}
