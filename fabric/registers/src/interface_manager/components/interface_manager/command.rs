//! Register: Command

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Command
///
/// What is to happen; each with a one.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Command(u32);

unsafe impl Send for Command {}
unsafe impl Sync for Command {}

impl core::default::Default for Command {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Command {
    type Regwidth = u32;
    type Accesswidth = u32;
    type Access = peakrdl_rust::access::W;
    type ByteEndian = peakrdl_rust::endian::LittleEndian;
    type WordEndian = peakrdl_rust::endian::LittleEndian;

    unsafe fn from_raw(val: Self::Regwidth) -> Self {
        Self(val)
    }

    fn to_raw(self) -> Self::Regwidth {
        self.0
    }
}

impl Command {
    pub const RESUME_OFFSET: usize = 0;
    pub const RESUME_WIDTH: usize = 1;
    pub const RESUME_MASK: u32 = 0x1;

    /// resume
    ///
    /// Go on with the unfinished computation. Nothing happens where there is none, or no region.
    #[inline(always)]
    pub fn set_resume(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::RESUME_MASK << Self::RESUME_OFFSET))
            | ((val & Self::RESUME_MASK) << Self::RESUME_OFFSET);
    }

    pub const FAIL_OFFSET: usize = 1;
    pub const FAIL_WIDTH: usize = 1;
    pub const FAIL_MASK: u32 = 0x1;

    /// fail
    ///
    /// End an unfinished or asked computation with error 15. Nothing happens where one is running.
    #[inline(always)]
    pub fn set_fail(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FAIL_MASK << Self::FAIL_OFFSET))
            | ((val & Self::FAIL_MASK) << Self::FAIL_OFFSET);
    }

    pub const CLEAR_FAULTS_OFFSET: usize = 2;
    pub const CLEAR_FAULTS_WIDTH: usize = 1;
    pub const CLEAR_FAULTS_MASK: u32 = 0x1;

    /// clear_faults
    ///
    /// Forget the faults.
    #[inline(always)]
    pub fn set_clear_faults(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::CLEAR_FAULTS_MASK << Self::CLEAR_FAULTS_OFFSET))
            | ((val & Self::CLEAR_FAULTS_MASK) << Self::CLEAR_FAULTS_OFFSET);
    }
}

impl core::fmt::Debug for Command {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Command").finish()
    }
}
