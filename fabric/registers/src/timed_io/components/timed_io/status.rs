//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// How the engine is.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Status(u32);

unsafe impl Send for Status {}
unsafe impl Sync for Status {}

impl core::default::Default for Status {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Status {
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

impl Status {
    pub const SCHEDULED_OFFSET: usize = 0;
    pub const SCHEDULED_WIDTH: usize = 1;
    pub const SCHEDULED_MASK: u32 = 0x1;

    /// scheduled
    ///
    /// There are runs that have not been given to the engine yet.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn scheduled(&self) -> bool {
        let val = (self.0 >> Self::SCHEDULED_OFFSET) & Self::SCHEDULED_MASK;
        val != 0
    }

    pub const ARMED_OFFSET: usize = 1;
    pub const ARMED_WIDTH: usize = 1;
    pub const ARMED_MASK: u32 = 0x1;

    /// armed
    ///
    /// A run has been given to the engine and has not begun.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn armed(&self) -> bool {
        let val = (self.0 >> Self::ARMED_OFFSET) & Self::ARMED_MASK;
        val != 0
    }

    pub const RUNNING_OFFSET: usize = 2;
    pub const RUNNING_WIDTH: usize = 1;
    pub const RUNNING_MASK: u32 = 0x1;

    /// running
    ///
    /// A run is under way.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn running(&self) -> bool {
        let val = (self.0 >> Self::RUNNING_OFFSET) & Self::RUNNING_MASK;
        val != 0
    }

    pub const ANSWER_OFFSET: usize = 4;
    pub const ANSWER_WIDTH: usize = 3;
    pub const ANSWER_MASK: u32 = 0x7;

    /// answer
    ///
    /// Of the last write to RUN: 0 accepted; 1 too late, and reported; 2 a schedule is there already;
    /// 3 the period is too short.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn answer(&self) -> u8 {
        let val = (self.0 >> Self::ANSWER_OFFSET) & Self::ANSWER_MASK;
        val as u8
    }

    pub const SAMPLES_OFFSET: usize = 8;
    pub const SAMPLES_WIDTH: usize = 6;
    pub const SAMPLES_MASK: u32 = 0x3F;

    /// samples
    ///
    /// Samples that are there; 0 to 32.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn samples(&self) -> u8 {
        let val = (self.0 >> Self::SAMPLES_OFFSET) & Self::SAMPLES_MASK;
        val as u8
    }

    pub const REPORTS_OFFSET: usize = 16;
    pub const REPORTS_WIDTH: usize = 4;
    pub const REPORTS_MASK: u32 = 0xF;

    /// reports
    ///
    /// Reports that are there; 0 to 8.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn reports(&self) -> u8 {
        let val = (self.0 >> Self::REPORTS_OFFSET) & Self::REPORTS_MASK;
        val as u8
    }

    pub const LOST_OFFSET: usize = 24;
    pub const LOST_WIDTH: usize = 8;
    pub const LOST_MASK: u32 = 0xFF;

    /// lost
    ///
    /// Reports that there was no room for, since reset or since they were cleared; at most 255.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn lost(&self) -> u8 {
        let val = (self.0 >> Self::LOST_OFFSET) & Self::LOST_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Status")
            .field("scheduled", &self.scheduled())
            .field("armed", &self.armed())
            .field("running", &self.running())
            .field("answer", &self.answer())
            .field("samples", &self.samples())
            .field("reports", &self.reports())
            .field("lost", &self.lost())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Status::default();
        assert_eq!(reg.scheduled(), false);
        assert_eq!(reg.armed(), false);
        assert_eq!(reg.running(), false);
        assert_eq!(reg.answer(), 0);
        assert_eq!(reg.samples(), 0);
        assert_eq!(reg.reports(), 0);
        assert_eq!(reg.lost(), 0);
    }
}
