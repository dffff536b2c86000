//! Register: Answer

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Answer
///
/// What became of the last command.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Answer(u32);

unsafe impl Send for Answer {}
unsafe impl Sync for Answer {}

impl core::default::Default for Answer {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Answer {
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

impl Answer {
    pub const REFUSED_OFFSET: usize = 0;
    pub const REFUSED_WIDTH: usize = 1;
    pub const REFUSED_MASK: u32 = 0x1;

    /// refused
    ///
    /// It was refused.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn refused(&self) -> bool {
        let val = (self.0 >> Self::REFUSED_OFFSET) & Self::REFUSED_MASK;
        val != 0
    }
}

impl core::fmt::Debug for Answer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Answer")
            .field("refused", &self.refused())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Answer::default();
        assert_eq!(reg.refused(), false);
    }
}
