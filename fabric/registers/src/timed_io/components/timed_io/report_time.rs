//! Register: Report's time

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Report's time
///
/// Of the oldest report: the cycle at which what did not happen would have taken effect.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct ReportTime(u64);

unsafe impl Send for ReportTime {}
unsafe impl Sync for ReportTime {}

impl core::default::Default for ReportTime {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for ReportTime {
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

impl ReportTime {
    pub const CYCLE_OFFSET: usize = 0;
    pub const CYCLE_WIDTH: usize = 64;
    pub const CYCLE_MASK: u64 = 0xFFFF_FFFF_FFFF_FFFF;

    /// cycle
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn cycle(&self) -> u64 {
        let val = (self.0 >> Self::CYCLE_OFFSET) & Self::CYCLE_MASK;
        val
    }
}

impl core::fmt::Debug for ReportTime {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ReportTime")
            .field("cycle", &self.cycle())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = ReportTime::default();
        assert_eq!(reg.cycle(), 0);
    }
}
