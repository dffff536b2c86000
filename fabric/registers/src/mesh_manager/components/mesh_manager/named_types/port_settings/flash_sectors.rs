//! Register: Flash's sectors

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Flash's sectors
///
/// How many the port's area has. It has to lie in the part.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct FlashSectors(u32);

unsafe impl Send for FlashSectors {}
unsafe impl Sync for FlashSectors {}

impl core::default::Default for FlashSectors {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for FlashSectors {
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

impl FlashSectors {
    pub const COUNT_OFFSET: usize = 0;
    pub const COUNT_WIDTH: usize = 11;
    pub const COUNT_MASK: u32 = 0x7FF;

    /// count
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn count(&self) -> u16 {
        let val = (self.0 >> Self::COUNT_OFFSET) & Self::COUNT_MASK;
        val as u16
    }

    /// count
    #[inline(always)]
    pub fn set_count(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::COUNT_MASK << Self::COUNT_OFFSET))
            | ((val & Self::COUNT_MASK) << Self::COUNT_OFFSET);
    }

    pub const WRITABLE_OFFSET: usize = 31;
    pub const WRITABLE_WIDTH: usize = 1;
    pub const WRITABLE_MASK: u32 = 0x1;

    /// writable
    ///
    /// The port may write and erase.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn writable(&self) -> bool {
        let val = (self.0 >> Self::WRITABLE_OFFSET) & Self::WRITABLE_MASK;
        val != 0
    }

    /// writable
    ///
    /// The port may write and erase.
    #[inline(always)]
    pub fn set_writable(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::WRITABLE_MASK << Self::WRITABLE_OFFSET))
            | ((val & Self::WRITABLE_MASK) << Self::WRITABLE_OFFSET);
    }
}

impl core::fmt::Debug for FlashSectors {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FlashSectors")
            .field("count", &self.count())
            .field("writable", &self.writable())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = FlashSectors::default();
        assert_eq!(reg.count(), 0);
        assert_eq!(reg.writable(), false);
    }
}
