//! Register: Response

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Response
///
/// The next word of what the I/O hypervisor sent, which a read takes away. All zeros if there is none. Of a packet's first word
/// bit 31 is set, and 30 to 26 are not.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Response(u32);

unsafe impl Send for Response {}
unsafe impl Sync for Response {}

impl core::default::Default for Response {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Response {
    type Regwidth = u32;
    type Accesswidth = u32;
    type Access = peakrdl_rust::access::R;
    type ByteEndian = peakrdl_rust::endian::LittleEndian;
    type WordEndian = peakrdl_rust::endian::LittleEndian;

    unsafe fn from_raw(val: Self::Regwidth) -> Self {
        Self(val)
    }

    fn to_raw(self) -> Self::Regwidth {
        self.0
    }
}

impl Response {
    pub const WORD_OFFSET: usize = 0;
    pub const WORD_WIDTH: usize = 32;
    pub const WORD_MASK: u32 = 0xFFFF_FFFF;

    /// word
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn word(&self) -> u32 {
        let val = (self.0 >> Self::WORD_OFFSET) & Self::WORD_MASK;
        val
    }
}

impl core::fmt::Debug for Response {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Response")
            .field("word", &self.word())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Response::default();
        assert_eq!(reg.word(), 0);
    }
}
