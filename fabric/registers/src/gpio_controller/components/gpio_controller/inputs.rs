//! Register: Inputs

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Inputs
///
/// What is on the pins.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Inputs(u32);

unsafe impl Send for Inputs {}
unsafe impl Sync for Inputs {}

impl core::default::Default for Inputs {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Inputs {
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

impl Inputs {
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
}

impl core::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Inputs")
            .field("pins", &self.pins())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Inputs::default();
        assert_eq!(reg.pins(), 0);
    }
}
