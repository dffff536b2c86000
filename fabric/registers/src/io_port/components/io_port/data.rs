//! Register: Data

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Data
///
/// Of the next request: where its data are, or go. Without `memory`, a multiple of 4 from the beginning of
/// BUFFER; with it, a multiple of 64 from the beginning of the VM's memory.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Data(u32);

unsafe impl Send for Data {}
unsafe impl Sync for Data {}

impl core::default::Default for Data {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Data {
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

impl Data {
    pub const PLACE_OFFSET: usize = 0;
    pub const PLACE_WIDTH: usize = 32;
    pub const PLACE_MASK: u32 = 0xFFFF_FFFF;

    /// place
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn place(&self) -> u32 {
        let val = (self.0 >> Self::PLACE_OFFSET) & Self::PLACE_MASK;
        val
    }

    /// place
    #[inline(always)]
    pub fn set_place(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PLACE_MASK << Self::PLACE_OFFSET))
            | ((val & Self::PLACE_MASK) << Self::PLACE_OFFSET);
    }
}

impl core::fmt::Debug for Data {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Data")
            .field("place", &self.place())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Data::default();
        assert_eq!(reg.place(), 0);
    }
}
