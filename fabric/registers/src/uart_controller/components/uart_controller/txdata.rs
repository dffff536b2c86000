//! Register: Byte to send

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Byte to send
///
/// Writing it puts a byte behind those that wait.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Txdata(u32);

unsafe impl Send for Txdata {}
unsafe impl Sync for Txdata {}

impl core::default::Default for Txdata {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Txdata {
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

impl Txdata {
    pub const CHARACTER_OFFSET: usize = 0;
    pub const CHARACTER_WIDTH: usize = 8;
    pub const CHARACTER_MASK: u32 = 0xFF;

    /// character
    #[inline(always)]
    pub fn set_character(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::CHARACTER_MASK << Self::CHARACTER_OFFSET))
            | ((val & Self::CHARACTER_MASK) << Self::CHARACTER_OFFSET);
    }
}

impl core::fmt::Debug for Txdata {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Txdata").finish()
    }
}
