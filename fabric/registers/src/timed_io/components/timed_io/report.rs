//! Register: Report

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Report
///
/// The oldest report. Writing a one to `valid` takes it away.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Report(u32);

unsafe impl Send for Report {}
unsafe impl Sync for Report {}

impl core::default::Default for Report {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Report {
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

impl Report {
    pub const CAUSE_OFFSET: usize = 0;
    pub const CAUSE_WIDTH: usize = 3;
    pub const CAUSE_MASK: u32 = 0x7;

    /// cause
    ///
    /// 1 late schedule; 2 late command; 3 a command on a line without a pin; 4 a run was still
    /// under way when the next was to begin; 5 no room for a sample; 6 a program without
    /// end.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn cause(&self) -> u8 {
        let val = (self.0 >> Self::CAUSE_OFFSET) & Self::CAUSE_MASK;
        val as u8
    }

    pub const VALID_OFFSET: usize = 31;
    pub const VALID_WIDTH: usize = 1;
    pub const VALID_MASK: u32 = 0x1;

    /// valid
    ///
    /// There is one.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn valid(&self) -> bool {
        let val = (self.0 >> Self::VALID_OFFSET) & Self::VALID_MASK;
        val != 0
    }

    /// valid
    ///
    /// There is one.
    #[inline(always)]
    pub fn set_valid(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::VALID_MASK << Self::VALID_OFFSET))
            | ((val & Self::VALID_MASK) << Self::VALID_OFFSET);
    }
}

impl core::fmt::Debug for Report {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Report")
            .field("cause", &self.cause())
            .field("valid", &self.valid())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Report::default();
        assert_eq!(reg.cause(), 0);
        assert_eq!(reg.valid(), false);
    }
}
