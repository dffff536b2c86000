//! Register: Sample

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Sample
///
/// The oldest sample, which a read takes away.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Sample(u32);

unsafe impl Send for Sample {}
unsafe impl Sync for Sample {}

impl core::default::Default for Sample {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Sample {
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

impl Sample {
    pub const LINES_OFFSET: usize = 0;
    pub const LINES_WIDTH: usize = 8;
    pub const LINES_MASK: u32 = 0xFF;

    /// lines
    ///
    /// The VM's lines; those without a pin read as 0.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn lines(&self) -> u8 {
        let val = (self.0 >> Self::LINES_OFFSET) & Self::LINES_MASK;
        val as u8
    }

    pub const VALID_OFFSET: usize = 31;
    pub const VALID_WIDTH: usize = 1;
    pub const VALID_MASK: u32 = 0x1;

    /// valid
    ///
    /// There was one.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn valid(&self) -> bool {
        let val = (self.0 >> Self::VALID_OFFSET) & Self::VALID_MASK;
        val != 0
    }
}

impl core::fmt::Debug for Sample {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sample")
            .field("lines", &self.lines())
            .field("valid", &self.valid())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Sample::default();
        assert_eq!(reg.lines(), 0);
        assert_eq!(reg.valid(), false);
    }
}
