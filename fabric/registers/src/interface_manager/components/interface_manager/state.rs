//! Register: State

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// State
///
/// How the interface is.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct State(u32);

unsafe impl Send for State {}
unsafe impl Sync for State {}

impl core::default::Default for State {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for State {
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

impl State {
    pub const CONNECTED_OFFSET: usize = 0;
    pub const CONNECTED_WIDTH: usize = 1;
    pub const CONNECTED_MASK: u32 = 0x1;

    /// connected
    ///
    /// It is connected to a region.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn connected(&self) -> bool {
        let val = (self.0 >> Self::CONNECTED_OFFSET) & Self::CONNECTED_MASK;
        val != 0
    }

    pub const RUNNING_OFFSET: usize = 1;
    pub const RUNNING_WIDTH: usize = 1;
    pub const RUNNING_MASK: u32 = 0x1;

    /// running
    ///
    /// The task is computing.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn running(&self) -> bool {
        let val = (self.0 >> Self::RUNNING_OFFSET) & Self::RUNNING_MASK;
        val != 0
    }

    pub const UNFINISHED_OFFSET: usize = 2;
    pub const UNFINISHED_WIDTH: usize = 1;
    pub const UNFINISHED_MASK: u32 = 0x1;

    /// unfinished
    ///
    /// The task was stopped, and its context is in the buffer.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn unfinished(&self) -> bool {
        let val = (self.0 >> Self::UNFINISHED_OFFSET) & Self::UNFINISHED_MASK;
        val != 0
    }

    pub const ASKED_OFFSET: usize = 3;
    pub const ASKED_WIDTH: usize = 1;
    pub const ASKED_MASK: u32 = 0x1;

    /// asked
    ///
    /// The VM asked for a computation that has not begun.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn asked(&self) -> bool {
        let val = (self.0 >> Self::ASKED_OFFSET) & Self::ASKED_MASK;
        val != 0
    }

    pub const REGION_OFFSET: usize = 16;
    pub const REGION_WIDTH: usize = 4;
    pub const REGION_MASK: u32 = 0xF;

    /// region
    ///
    /// The number of the region, where one is connected.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn region(&self) -> u8 {
        let val = (self.0 >> Self::REGION_OFFSET) & Self::REGION_MASK;
        val as u8
    }
}

impl core::fmt::Debug for State {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("State")
            .field("connected", &self.connected())
            .field("running", &self.running())
            .field("unfinished", &self.unfinished())
            .field("asked", &self.asked())
            .field("region", &self.region())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = State::default();
        assert_eq!(reg.connected(), false);
        assert_eq!(reg.running(), false);
        assert_eq!(reg.unfinished(), false);
        assert_eq!(reg.asked(), false);
        assert_eq!(reg.region(), 0);
    }
}
