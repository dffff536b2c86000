//! Register: Source

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Source
///
/// Where the bitstream begins in memory; a multiple of 64. Written from the lower word; changes as a whole
/// with the upper one.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Source(u64);

unsafe impl Send for Source {}
unsafe impl Sync for Source {}

impl core::default::Default for Source {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Source {
    type Regwidth = u64;
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

impl Source {
    pub const ADDR_OFFSET: usize = 6;
    pub const ADDR_WIDTH: usize = 34;
    pub const ADDR_MASK: u64 = 0x3_FFFF_FFFF;

    /// addr
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn addr(&self) -> u64 {
        let val = (self.0 >> Self::ADDR_OFFSET) & Self::ADDR_MASK;
        val
    }

    /// addr
    #[inline(always)]
    pub fn set_addr(&mut self, val: u64) {
        let val = val as u64;
        self.0 = (self.0 & !(Self::ADDR_MASK << Self::ADDR_OFFSET))
            | ((val & Self::ADDR_MASK) << Self::ADDR_OFFSET);
    }
}

impl core::fmt::Debug for Source {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Source")
            .field("addr", &self.addr())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Source::default();
        assert_eq!(reg.addr(), 0);
    }
}
