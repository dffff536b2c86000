//! Register: Packet

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Packet
///
/// What of BUFFER follows the first word of the next packet.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Packet(u32);

unsafe impl Send for Packet {}
unsafe impl Sync for Packet {}

impl core::default::Default for Packet {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Packet {
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

impl Packet {
    pub const FIRST_OFFSET: usize = 0;
    pub const FIRST_WIDTH: usize = 9;
    pub const FIRST_MASK: u32 = 0x1FF;

    /// first
    ///
    /// The first word, counted from the beginning of BUFFER.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn first(&self) -> u16 {
        let val = (self.0 >> Self::FIRST_OFFSET) & Self::FIRST_MASK;
        val as u16
    }

    /// first
    ///
    /// The first word, counted from the beginning of BUFFER.
    #[inline(always)]
    pub fn set_first(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FIRST_MASK << Self::FIRST_OFFSET))
            | ((val & Self::FIRST_MASK) << Self::FIRST_OFFSET);
    }

    pub const WORDS_OFFSET: usize = 16;
    pub const WORDS_WIDTH: usize = 9;
    pub const WORDS_MASK: u32 = 0x1FF;

    /// words
    ///
    /// How many words; behind the last one of BUFFER comes the first.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn words(&self) -> u16 {
        let val = (self.0 >> Self::WORDS_OFFSET) & Self::WORDS_MASK;
        val as u16
    }

    /// words
    ///
    /// How many words; behind the last one of BUFFER comes the first.
    #[inline(always)]
    pub fn set_words(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::WORDS_MASK << Self::WORDS_OFFSET))
            | ((val & Self::WORDS_MASK) << Self::WORDS_OFFSET);
    }
}

impl core::fmt::Debug for Packet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Packet")
            .field("first", &self.first())
            .field("words", &self.words())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Packet::default();
        assert_eq!(reg.first(), 0);
        assert_eq!(reg.words(), 0);
    }
}
