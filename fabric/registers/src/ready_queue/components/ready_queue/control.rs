//! Register: Control

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Control
///
/// What is done when it is written.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Control(u32);

unsafe impl Send for Control {}
unsafe impl Sync for Control {}

impl core::default::Default for Control {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Control {
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

impl Control {
    pub const CLEAR_OFFSET: usize = 0;
    pub const CLEAR_WIDTH: usize = 1;
    pub const CLEAR_MASK: u32 = 0x1;

    /// clear
    ///
    /// Writing a one empties the queue. Commands that come after it wait until
    /// that is done.
    #[inline(always)]
    pub fn set_clear(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::CLEAR_MASK << Self::CLEAR_OFFSET))
            | ((val & Self::CLEAR_MASK) << Self::CLEAR_OFFSET);
    }
}

impl core::fmt::Debug for Control {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Control").finish()
    }
}
