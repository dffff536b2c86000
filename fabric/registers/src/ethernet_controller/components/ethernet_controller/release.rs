//! Register: Release

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Release
///
/// Writing it throws the frame away that waits, so that the next can come; reading its last word does as well.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Release(u32);

unsafe impl Send for Release {}
unsafe impl Sync for Release {}

impl core::default::Default for Release {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Release {
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

impl Release {
    pub const FRAME_OFFSET: usize = 0;
    pub const FRAME_WIDTH: usize = 1;
    pub const FRAME_MASK: u32 = 0x1;

    /// frame
    #[inline(always)]
    pub fn set_frame(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FRAME_MASK << Self::FRAME_OFFSET))
            | ((val & Self::FRAME_MASK) << Self::FRAME_OFFSET);
    }
}

impl core::fmt::Debug for Release {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Release").finish()
    }
}
