//! Register: Faults

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Faults
///
/// What the tasks behind this interface tried, since the faults were forgotten; each counts up to 255. While one
/// of them is not 0, the fault's line is up.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Faults(u32);

unsafe impl Send for Faults {}
unsafe impl Sync for Faults {}

impl core::default::Default for Faults {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Faults {
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

impl Faults {
    pub const OUTSIDE_OFFSET: usize = 0;
    pub const OUTSIDE_WIDTH: usize = 8;
    pub const OUTSIDE_MASK: u32 = 0xFF;

    /// outside
    ///
    /// Requests outside of the VM's memory.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn outside(&self) -> u8 {
        let val = (self.0 >> Self::OUTSIDE_OFFSET) & Self::OUTSIDE_MASK;
        val as u8
    }

    pub const ILLEGAL_OFFSET: usize = 8;
    pub const ILLEGAL_WIDTH: usize = 8;
    pub const ILLEGAL_MASK: u32 = 0xFF;

    /// illegal
    ///
    /// Requests that break the rules of bursts.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn illegal(&self) -> u8 {
        let val = (self.0 >> Self::ILLEGAL_OFFSET) & Self::ILLEGAL_MASK;
        val as u8
    }

    pub const WRONG_LAST_OFFSET: usize = 16;
    pub const WRONG_LAST_WIDTH: usize = 8;
    pub const WRONG_LAST_MASK: u32 = 0xFF;

    /// wrong_last
    ///
    /// Words wrongly marked as the last of a burst, or not marked.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn wrong_last(&self) -> u8 {
        let val = (self.0 >> Self::WRONG_LAST_OFFSET) & Self::WRONG_LAST_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Faults {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Faults")
            .field("outside", &self.outside())
            .field("illegal", &self.illegal())
            .field("wrong_last", &self.wrong_last())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Faults::default();
        assert_eq!(reg.outside(), 0);
        assert_eq!(reg.illegal(), 0);
        assert_eq!(reg.wrong_last(), 0);
    }
}
