//! Register: Row

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Row
///
/// Where the pixels of COLOURS begin, which go to the right.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Row(u32);

unsafe impl Send for Row {}
unsafe impl Sync for Row {}

impl core::default::Default for Row {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Row {
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

impl Row {
    pub const X_OFFSET: usize = 0;
    pub const X_WIDTH: usize = 10;
    pub const X_MASK: u32 = 0x3FF;

    /// x
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
    #[inline(always)]
    pub fn set_y(&mut self, val: u16) {
        let val = val as u32;
        self.0 =
            (self.0 & !(Self::Y_MASK << Self::Y_OFFSET)) | ((val & Self::Y_MASK) << Self::Y_OFFSET);
    }

    pub const PIXELS_OFFSET: usize = 20;
    pub const PIXELS_WIDTH: usize = 10;
    pub const PIXELS_MASK: u32 = 0x3FF;

    /// pixels
    ///
    /// How many there are: what is written beyond is not drawn.
    #[inline(always)]
    pub fn set_pixels(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PIXELS_MASK << Self::PIXELS_OFFSET))
            | ((val & Self::PIXELS_MASK) << Self::PIXELS_OFFSET);
    }
}

impl core::fmt::Debug for Row {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Row").finish()
    }
}
