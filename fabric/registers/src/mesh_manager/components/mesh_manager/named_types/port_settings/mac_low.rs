//! Register: Ethernet address, lower word

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Ethernet address, lower word
///
/// The address's last four bytes, the last one lowest.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct MacLow(u32);

unsafe impl Send for MacLow {}
unsafe impl Sync for MacLow {}

impl core::default::Default for MacLow {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for MacLow {
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

impl MacLow {
    pub const VALUE_OFFSET: usize = 0;
    pub const VALUE_WIDTH: usize = 32;
    pub const VALUE_MASK: u32 = 0xFFFF_FFFF;

    /// value
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn value(&self) -> u32 {
        let val = (self.0 >> Self::VALUE_OFFSET) & Self::VALUE_MASK;
        val
    }

    /// value
    #[inline(always)]
    pub fn set_value(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::VALUE_MASK << Self::VALUE_OFFSET))
            | ((val & Self::VALUE_MASK) << Self::VALUE_OFFSET);
    }
}

impl core::fmt::Debug for MacLow {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MacLow")
            .field("value", &self.value())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = MacLow::default();
        assert_eq!(reg.value(), 0);
    }
}
