//! Register: Command

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Command
///
/// What is to happen: one bit. A command that the region's state does not allow, or two at once, change nothing,
/// and are refused.
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
    pub const TAKE_OFFSET: usize = 0;
    pub const TAKE_WIDTH: usize = 1;
    pub const TAKE_MASK: u32 = 0x1;

    /// take
    ///
    /// Idle to Switch: disconnect the client, for another one.
    #[inline(always)]
    pub fn set_take(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::TAKE_MASK << Self::TAKE_OFFSET))
            | ((val & Self::TAKE_MASK) << Self::TAKE_OFFSET);
    }

    pub const PREEMPT_OFFSET: usize = 1;
    pub const PREEMPT_WIDTH: usize = 1;
    pub const PREEMPT_MASK: u32 = 0x1;

    /// preempt
    ///
    /// Busy to Preempt: stop the task at its next consistency point.
    #[inline(always)]
    pub fn set_preempt(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PREEMPT_MASK << Self::PREEMPT_OFFSET))
            | ((val & Self::PREEMPT_MASK) << Self::PREEMPT_OFFSET);
    }

    pub const KILL_OFFSET: usize = 2;
    pub const KILL_WIDTH: usize = 1;
    pub const KILL_MASK: u32 = 0x1;

    /// kill
    ///
    /// Busy or Preempt to Switch: cut the task off where it is.
    #[inline(always)]
    pub fn set_kill(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::KILL_MASK << Self::KILL_OFFSET))
            | ((val & Self::KILL_MASK) << Self::KILL_OFFSET);
    }

    pub const CONNECT_OFFSET: usize = 3;
    pub const CONNECT_WIDTH: usize = 1;
    pub const CONNECT_MASK: u32 = 0x1;

    /// connect
    ///
    /// Switch to Hold: connect the client. Refused while the region is not loaded or not drained, and where there is no such interface or another region has it.
    #[inline(always)]
    pub fn set_connect(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::CONNECT_MASK << Self::CONNECT_OFFSET))
            | ((val & Self::CONNECT_MASK) << Self::CONNECT_OFFSET);
    }

    pub const RELEASE_REGION_OFFSET: usize = 4;
    pub const RELEASE_REGION_WIDTH: usize = 1;
    pub const RELEASE_REGION_MASK: u32 = 0x1;

    /// release_region
    ///
    /// Switch to Idle: leave the region to the client that wants it.
    #[inline(always)]
    pub fn set_release_region(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::RELEASE_REGION_MASK << Self::RELEASE_REGION_OFFSET))
            | ((val & Self::RELEASE_REGION_MASK) << Self::RELEASE_REGION_OFFSET);
    }
}

impl core::fmt::Debug for Command {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Command").finish()
    }
}
