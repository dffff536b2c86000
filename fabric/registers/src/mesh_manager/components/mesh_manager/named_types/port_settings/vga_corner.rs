//! Register: VGA window's corner

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// VGA window's corner
///
/// The upper left one, in pixels of the display's buffer.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct VgaCorner(u32);

unsafe impl Send for VgaCorner {}
unsafe impl Sync for VgaCorner {}

impl core::default::Default for VgaCorner {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for VgaCorner {
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

impl VgaCorner {
    pub const X_OFFSET: usize = 0;
    pub const X_WIDTH: usize = 10;
    pub const X_MASK: u32 = 0x3FF;

    /// x
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn x(&self) -> u16 {
        let val = (self.0 >> Self::X_OFFSET) & Self::X_MASK;
        val as u16
    }

    /// x
    #[inline(always)]
    pub fn set_x(&mut self, val: u16) {
        let val = val as u32;
        self.0 =
            (self.0 & !(Self::X_MASK << Self::X_OFFSET)) | ((val & Self::X_MASK) << Self::X_OFFSET);
    }

    pub const Y_OFFSET: usize = 16;
    pub const Y_WIDTH: usize = 10;
    pub const Y_MASK: u32 = 0x3FF;

    /// y
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn y(&self) -> u16 {
        let val = (self.0 >> Self::Y_OFFSET) & Self::Y_MASK;
        val as u16
    }

    /// y
    #[inline(always)]
    pub fn set_y(&mut self, val: u16) {
        let val = val as u32;
        self.0 =
            (self.0 & !(Self::Y_MASK << Self::Y_OFFSET)) | ((val & Self::Y_MASK) << Self::Y_OFFSET);
    }
}

impl core::fmt::Debug for VgaCorner {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("VgaCorner")
            .field("x", &self.x())
            .field("y", &self.y())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = VgaCorner::default();
        assert_eq!(reg.x(), 0);
        assert_eq!(reg.y(), 0);
    }
}
