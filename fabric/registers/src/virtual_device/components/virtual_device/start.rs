//! Register: Start

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Start
///
/// Writing a one asks for a computation with what CMD, DATA_ADDR, DATA_SIZE and CUSTOM0 hold when it begins.
/// Reads as one until then. Withdrawn while END reads as one.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Start(u32);

unsafe impl Send for Start {}
unsafe impl Sync for Start {}

impl core::default::Default for Start {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Start {
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

impl Start {
    pub const FLAG_OFFSET: usize = 0;
    pub const FLAG_WIDTH: usize = 1;
    pub const FLAG_MASK: u32 = 0x1;

    /// flag
    ///
    /// A computation is asked for.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn flag(&self) -> bool {
        let val = (self.0 >> Self::FLAG_OFFSET) & Self::FLAG_MASK;
        val != 0
    }

    /// flag
    ///
    /// A computation is asked for.
    #[inline(always)]
    pub fn set_flag(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FLAG_MASK << Self::FLAG_OFFSET))
            | ((val & Self::FLAG_MASK) << Self::FLAG_OFFSET);
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

impl core::fmt::Debug for Start {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Start")
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
        let reg = Start::default();
        assert_eq!(reg.flag(), false);
        assert_eq!(reg.unused(), 0);
    }
}
