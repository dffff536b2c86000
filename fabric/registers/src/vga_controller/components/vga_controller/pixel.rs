//! Register: Pixel

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Pixel
///
/// Writing it draws a pixel. One outside of the display is none.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Pixel(u32);

unsafe impl Send for Pixel {}
unsafe impl Sync for Pixel {}

impl core::default::Default for Pixel {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Pixel {
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

impl Pixel {
    pub const X_OFFSET: usize = 0;
    pub const X_WIDTH: usize = 10;
    pub const X_MASK: u32 = 0x3FF;

    /// x
    ///
    /// From the left.
    #[inline(always)]
    pub fn set_x(&mut self, val: u16) {
        let val = val as u32;
        self.0 =
            (self.0 & !(Self::X_MASK << Self::X_OFFSET)) | ((val & Self::X_MASK) << Self::X_OFFSET);
    }

    pub const Y_OFFSET: usize = 10;
    pub const Y_WIDTH: usize = 10;
    pub const Y_MASK: u32 = 0x3FF;

    /// y
    ///
    /// From above.
    #[inline(always)]
    pub fn set_y(&mut self, val: u16) {
        let val = val as u32;
        self.0 =
            (self.0 & !(Self::Y_MASK << Self::Y_OFFSET)) | ((val & Self::Y_MASK) << Self::Y_OFFSET);
    }

    pub const COLOUR_OFFSET: usize = 20;
    pub const COLOUR_WIDTH: usize = 8;
    pub const COLOUR_MASK: u32 = 0xFF;

    /// colour
    #[inline(always)]
    pub fn set_colour(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::COLOUR_MASK << Self::COLOUR_OFFSET))
            | ((val & Self::COLOUR_MASK) << Self::COLOUR_OFFSET);
    }
}

impl core::fmt::Debug for Pixel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pixel").finish()
    }
}
