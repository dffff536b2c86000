//! Register: Frame to send

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Frame to send
///
/// A frame of so many bytes, 1 to 1514, is to be sent; it is when its last word has been written into TXDATA. A write waits until the frame
/// before is gone, and one of which not all words were written is forgotten; with any other number there is none to send.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Frame(u32);

unsafe impl Send for Frame {}
unsafe impl Sync for Frame {}

impl core::default::Default for Frame {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Frame {
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

impl Frame {
    pub const BYTES_OFFSET: usize = 0;
    pub const BYTES_WIDTH: usize = 11;
    pub const BYTES_MASK: u32 = 0x7FF;

    /// bytes
    #[inline(always)]
    pub fn set_bytes(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::BYTES_MASK << Self::BYTES_OFFSET))
            | ((val & Self::BYTES_MASK) << Self::BYTES_OFFSET);
    }
}

impl core::fmt::Debug for Frame {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Frame").finish()
    }
}
