//! Register: Message

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Message
///
/// The same of what the other places sent.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Message(u32);

unsafe impl Send for Message {}
unsafe impl Sync for Message {}

impl core::default::Default for Message {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Message {
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

impl Message {
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

impl core::fmt::Debug for Message {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Message")
            .field("word", &self.word())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Message::default();
        assert_eq!(reg.word(), 0);
    }
}
