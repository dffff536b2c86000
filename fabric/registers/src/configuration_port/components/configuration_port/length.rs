//! Register: Length

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Length
///
/// How many bytes are there, with the header.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Length(u32);

unsafe impl Send for Length {}
unsafe impl Sync for Length {}

impl core::default::Default for Length {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Length {
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

impl Length {
    pub const BYTES_OFFSET: usize = 0;
    pub const BYTES_WIDTH: usize = 32;
    pub const BYTES_MASK: u32 = 0xFFFF_FFFF;

    /// bytes
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn bytes(&self) -> u32 {
        let val = (self.0 >> Self::BYTES_OFFSET) & Self::BYTES_MASK;
        val
    }

    /// bytes
    #[inline(always)]
    pub fn set_bytes(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::BYTES_MASK << Self::BYTES_OFFSET))
            | ((val & Self::BYTES_MASK) << Self::BYTES_OFFSET);
    }
}

impl core::fmt::Debug for Length {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Length")
            .field("bytes", &self.bytes())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Length::default();
        assert_eq!(reg.bytes(), 0);
    }
}
