//! Register: Commands

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Commands
///
/// How many commands were answered since reset, done or refused, by page or from memory; modulo 2^32.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Commands(u32);

unsafe impl Send for Commands {}
unsafe impl Sync for Commands {}

impl core::default::Default for Commands {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Commands {
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

impl Commands {
    pub const ANSWERED_OFFSET: usize = 0;
    pub const ANSWERED_WIDTH: usize = 32;
    pub const ANSWERED_MASK: u32 = 0xFFFF_FFFF;

    /// answered
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn answered(&self) -> u32 {
        let val = (self.0 >> Self::ANSWERED_OFFSET) & Self::ANSWERED_MASK;
        val
    }
}

impl core::fmt::Debug for Commands {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Commands")
            .field("answered", &self.answered())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Commands::default();
        assert_eq!(reg.answered(), 0);
    }
}
