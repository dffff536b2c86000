//! Register: Received byte

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Received byte
///
/// The oldest, which a read takes away; all zeros if there is none.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Rxdata(u32);

unsafe impl Send for Rxdata {}
unsafe impl Sync for Rxdata {}

impl core::default::Default for Rxdata {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Rxdata {
    type Regwidth = u32;
    type Accesswidth = u32;
    type Access = peakrdl_rust::access::R;
    type ByteEndian = peakrdl_rust::endian::LittleEndian;
    type WordEndian = peakrdl_rust::endian::LittleEndian;

    unsafe fn from_raw(val: Self::Regwidth) -> Self {
        Self(val)
    }

    fn to_raw(self) -> Self::Regwidth {
        self.0
    }
}

impl Rxdata {
    pub const CHARACTER_OFFSET: usize = 0;
    pub const CHARACTER_WIDTH: usize = 8;
    pub const CHARACTER_MASK: u32 = 0xFF;

    /// character
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn character(&self) -> u8 {
        let val = (self.0 >> Self::CHARACTER_OFFSET) & Self::CHARACTER_MASK;
        val as u8
    }

    pub const THERE_OFFSET: usize = 31;
    pub const THERE_WIDTH: usize = 1;
    pub const THERE_MASK: u32 = 0x1;

    /// there
    ///
    /// There was one.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn there(&self) -> bool {
        let val = (self.0 >> Self::THERE_OFFSET) & Self::THERE_MASK;
        val != 0
    }
}

impl core::fmt::Debug for Rxdata {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rxdata")
            .field("character", &self.character())
            .field("there", &self.there())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Rxdata::default();
        assert_eq!(reg.character(), 0);
        assert_eq!(reg.there(), false);
    }
}
