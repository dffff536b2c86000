//! Register: Set

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Set
///
/// Pins with a one become high, and the others stay.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Set(u32);

unsafe impl Send for Set {}
unsafe impl Sync for Set {}

impl core::default::Default for Set {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Set {
    type Regwidth = u32;
    type Accesswidth = u32;
    type Access = peakrdl_rust::access::W;
    type ByteEndian = peakrdl_rust::endian::LittleEndian;
    type WordEndian = peakrdl_rust::endian::LittleEndian;

    unsafe fn from_raw(val: Self::Regwidth) -> Self {
        Self(val)
    }

    fn to_raw(self) -> Self::Regwidth {
        self.0
    }
}

impl Set {
    pub const PINS_OFFSET: usize = 0;
    pub const PINS_WIDTH: usize = 8;
    pub const PINS_MASK: u32 = 0xFF;

    /// pins
    #[inline(always)]
    pub fn set_pins(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PINS_MASK << Self::PINS_OFFSET))
            | ((val & Self::PINS_MASK) << Self::PINS_OFFSET);
    }
}

impl core::fmt::Debug for Set {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Set").finish()
    }
}
