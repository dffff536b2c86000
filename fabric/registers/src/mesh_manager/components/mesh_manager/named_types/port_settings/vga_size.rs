//! Register: VGA window's size

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// VGA window's size
///
/// In pixels.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct VgaSize(u32);

unsafe impl Send for VgaSize {}
unsafe impl Sync for VgaSize {}

impl core::default::Default for VgaSize {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for VgaSize {
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

impl VgaSize {
    pub const WIDTH_OFFSET: usize = 0;
    pub const WIDTH_WIDTH: usize = 10;
    pub const WIDTH_MASK: u32 = 0x3FF;

    /// width
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn width(&self) -> u16 {
        let val = (self.0 >> Self::WIDTH_OFFSET) & Self::WIDTH_MASK;
        val as u16
    }

    /// width
    #[inline(always)]
    pub fn set_width(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::WIDTH_MASK << Self::WIDTH_OFFSET))
            | ((val & Self::WIDTH_MASK) << Self::WIDTH_OFFSET);
    }

    pub const HEIGHT_OFFSET: usize = 16;
    pub const HEIGHT_WIDTH: usize = 10;
    pub const HEIGHT_MASK: u32 = 0x3FF;

    /// height
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn height(&self) -> u16 {
        let val = (self.0 >> Self::HEIGHT_OFFSET) & Self::HEIGHT_MASK;
        val as u16
    }

    /// height
    #[inline(always)]
    pub fn set_height(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::HEIGHT_MASK << Self::HEIGHT_OFFSET))
            | ((val & Self::HEIGHT_MASK) << Self::HEIGHT_OFFSET);
    }
}

impl core::fmt::Debug for VgaSize {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("VgaSize")
            .field("width", &self.width())
            .field("height", &self.height())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = VgaSize::default();
        assert_eq!(reg.width(), 0);
        assert_eq!(reg.height(), 0);
    }
}
