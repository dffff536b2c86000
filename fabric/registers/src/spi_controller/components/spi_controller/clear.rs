//! Register: Clear

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Clear
///
/// Writing ones makes what STATUS keeps 0.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Clear(u32);

unsafe impl Send for Clear {}
unsafe impl Sync for Clear {}

impl core::default::Default for Clear {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Clear {
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

impl Clear {
    pub const OVERFLOW_OFFSET: usize = 1;
    pub const OVERFLOW_WIDTH: usize = 1;
    pub const OVERFLOW_MASK: u32 = 0x1;

    /// overflow
    #[inline(always)]
    pub fn set_overflow(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::OVERFLOW_MASK << Self::OVERFLOW_OFFSET))
            | ((val & Self::OVERFLOW_MASK) << Self::OVERFLOW_OFFSET);
    }

    pub const UNDERFLOW_OFFSET: usize = 2;
    pub const UNDERFLOW_WIDTH: usize = 1;
    pub const UNDERFLOW_MASK: u32 = 0x1;

    /// underflow
    #[inline(always)]
    pub fn set_underflow(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::UNDERFLOW_MASK << Self::UNDERFLOW_OFFSET))
            | ((val & Self::UNDERFLOW_MASK) << Self::UNDERFLOW_OFFSET);
    }
}

impl core::fmt::Debug for Clear {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Clear").finish()
    }
}
