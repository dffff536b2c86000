//! Register: Received words

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Received words
///
/// The oldest, which a read takes away. A read waits until there is one or the transfer is over; then it is 0 if there is none. Bytes
/// behind the last one are 0.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Rxdata(u32);

unsafe impl Send for Rxdata {}
unsafe impl Sync for Rxdata {}

impl core::default::Default for Rxdata {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Rxdata {
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

impl Rxdata {
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

impl core::fmt::Debug for Rxdata {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rxdata")
            .field("word", &self.word())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Rxdata::default();
        assert_eq!(reg.word(), 0);
    }
}
