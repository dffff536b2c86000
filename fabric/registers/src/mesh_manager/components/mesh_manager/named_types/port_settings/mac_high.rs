//! Register: Ethernet address, upper half-word

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Ethernet address, upper half-word
///
/// Its first two bytes.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct MacHigh(u32);

unsafe impl Send for MacHigh {}
unsafe impl Sync for MacHigh {}

impl core::default::Default for MacHigh {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for MacHigh {
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

impl MacHigh {
    pub const VALUE_OFFSET: usize = 0;
    pub const VALUE_WIDTH: usize = 16;
    pub const VALUE_MASK: u32 = 0xFFFF;

    /// value
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn value(&self) -> u16 {
        let val = (self.0 >> Self::VALUE_OFFSET) & Self::VALUE_MASK;
        val as u16
    }

    /// value
    #[inline(always)]
    pub fn set_value(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::VALUE_MASK << Self::VALUE_OFFSET))
            | ((val & Self::VALUE_MASK) << Self::VALUE_OFFSET);
    }
}

impl core::fmt::Debug for MacHigh {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MacHigh")
            .field("value", &self.value())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = MacHigh::default();
        assert_eq!(reg.value(), 0);
    }
}
