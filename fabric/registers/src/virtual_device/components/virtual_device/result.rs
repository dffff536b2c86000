//! Register: Result

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Result
///
/// Of the last computation, from when it is over.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Result(u64);

unsafe impl Send for Result {}
unsafe impl Sync for Result {}

impl core::default::Default for Result {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Result {
    type Regwidth = u64;
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

impl Result {
    pub const ERROR_OFFSET: usize = 0;
    pub const ERROR_WIDTH: usize = 4;
    pub const ERROR_MASK: u64 = 0xF;

    /// error
    ///
    /// The error, as in STAT.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn error(&self) -> u8 {
        let val = (self.0 >> Self::ERROR_OFFSET) & Self::ERROR_MASK;
        val as u8
    }

    pub const CYCLES_OFFSET: usize = 32;
    pub const CYCLES_WIDTH: usize = 32;
    pub const CYCLES_MASK: u64 = 0xFFFF_FFFF;

    /// cycles
    ///
    /// For how many cycles the task computed, in all the regions that it was in.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn cycles(&self) -> u32 {
        let val = (self.0 >> Self::CYCLES_OFFSET) & Self::CYCLES_MASK;
        val as u32
    }
}

impl core::fmt::Debug for Result {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Result")
            .field("error", &self.error())
            .field("cycles", &self.cycles())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Result::default();
        assert_eq!(reg.error(), 0);
        assert_eq!(reg.cycles(), 0);
    }
}
