//! Register: Outputs

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Outputs
///
/// The levels of the pins; a pin changes some cycles after the write that says so, always as many.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Outputs(u32);

unsafe impl Send for Outputs {}
unsafe impl Sync for Outputs {}

impl core::default::Default for Outputs {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Outputs {
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

impl Outputs {
    pub const PINS_OFFSET: usize = 0;
    pub const PINS_WIDTH: usize = 8;
    pub const PINS_MASK: u32 = 0xFF;

    /// pins
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn pins(&self) -> u8 {
        let val = (self.0 >> Self::PINS_OFFSET) & Self::PINS_MASK;
        val as u8
    }

    /// pins
    #[inline(always)]
    pub fn set_pins(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PINS_MASK << Self::PINS_OFFSET))
            | ((val & Self::PINS_MASK) << Self::PINS_OFFSET);
    }
}

impl core::fmt::Debug for Outputs {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Outputs")
            .field("pins", &self.pins())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Outputs::default();
        assert_eq!(reg.pins(), 0);
    }
}
