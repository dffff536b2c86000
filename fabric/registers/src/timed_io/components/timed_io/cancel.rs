//! Register: Cancel

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Cancel
///
/// Writing it ends the schedule: no run begins any more that has not begun.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Cancel(u32);

unsafe impl Send for Cancel {}
unsafe impl Sync for Cancel {}

impl core::default::Default for Cancel {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Cancel {
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

impl Cancel {
    pub const STOP_OFFSET: usize = 0;
    pub const STOP_WIDTH: usize = 1;
    pub const STOP_MASK: u32 = 0x1;

    /// stop
    ///
    /// The run under way ends too; lines stay as they are.
    #[inline(always)]
    pub fn set_stop(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::STOP_MASK << Self::STOP_OFFSET))
            | ((val & Self::STOP_MASK) << Self::STOP_OFFSET);
    }

    pub const CLEAR_OFFSET: usize = 1;
    pub const CLEAR_WIDTH: usize = 1;
    pub const CLEAR_MASK: u32 = 0x1;

    /// clear
    ///
    /// Lines go low, and samples, reports and the program are gone. A hypervisor writes both bits when the
    /// VM has ended.
    #[inline(always)]
    pub fn set_clear(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::CLEAR_MASK << Self::CLEAR_OFFSET))
            | ((val & Self::CLEAR_MASK) << Self::CLEAR_OFFSET);
    }
}

impl core::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cancel").finish()
    }
}
