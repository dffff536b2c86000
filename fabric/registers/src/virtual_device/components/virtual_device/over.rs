//! Register: Over

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Over
///
/// One from the end of a computation until the next begins; zero after END.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Over(u32);

unsafe impl Send for Over {}
unsafe impl Sync for Over {}

impl core::default::Default for Over {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Over {
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

impl Over {
    pub const FLAG_OFFSET: usize = 0;
    pub const FLAG_WIDTH: usize = 1;
    pub const FLAG_MASK: u32 = 0x1;

    /// flag
    ///
    /// The computation is over.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn flag(&self) -> bool {
        let val = (self.0 >> Self::FLAG_OFFSET) & Self::FLAG_MASK;
        val != 0
    }

    pub const UNUSED_OFFSET: usize = 1;
    pub const UNUSED_WIDTH: usize = 7;
    pub const UNUSED_MASK: u32 = 0x7F;

    /// unused
    ///
    /// The published register has eight bits.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn unused(&self) -> u8 {
        let val = (self.0 >> Self::UNUSED_OFFSET) & Self::UNUSED_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Over {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Over")
            .field("flag", &self.flag())
            .field("unused", &self.unused())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Over::default();
        assert_eq!(reg.flag(), false);
        assert_eq!(reg.unused(), 0);
    }
}
