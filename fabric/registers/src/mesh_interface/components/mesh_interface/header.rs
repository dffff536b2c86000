//! Register: Header

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Header
///
/// The first word of a packet. Writing it, as a whole word, sends it and what PACKET says. A packet is refused while another is being sent,
/// when it goes to a place that this one may not send to, and when it is a request for which, or for whose response, there is
/// no room: STATUS counts it, and nothing else changes.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Header(u32);

unsafe impl Send for Header {}
unsafe impl Sync for Header {}

impl core::default::Default for Header {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Header {
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

impl Header {
    pub const HEAD_OFFSET: usize = 0;
    pub const HEAD_WIDTH: usize = 20;
    pub const HEAD_MASK: u32 = 0xF_FFFF;

    /// head
    ///
    /// Whatever the packet is to say; a request's.
    #[inline(always)]
    pub fn set_head(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::HEAD_MASK << Self::HEAD_OFFSET))
            | ((val & Self::HEAD_MASK) << Self::HEAD_OFFSET);
    }

    pub const X_OFFSET: usize = 26;
    pub const X_WIDTH: usize = 3;
    pub const X_MASK: u32 = 0x7;

    /// x
    ///
    /// Where it goes. The bits between are where it comes from, whatever is written there.
    #[inline(always)]
    pub fn set_x(&mut self, val: u8) {
        let val = val as u32;
        self.0 =
            (self.0 & !(Self::X_MASK << Self::X_OFFSET)) | ((val & Self::X_MASK) << Self::X_OFFSET);
    }

    pub const Y_OFFSET: usize = 29;
    pub const Y_WIDTH: usize = 3;
    pub const Y_MASK: u32 = 0x7;

    /// y
    #[inline(always)]
    pub fn set_y(&mut self, val: u8) {
        let val = val as u32;
        self.0 =
            (self.0 & !(Self::Y_MASK << Self::Y_OFFSET)) | ((val & Self::Y_MASK) << Self::Y_OFFSET);
    }
}

impl core::fmt::Debug for Header {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Header").finish()
    }
}
