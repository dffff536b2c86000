//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// How the device is. Of a VM that only writes and waits, none of it need be looked at.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Stat(u32);

unsafe impl Send for Stat {}
unsafe impl Sync for Stat {}

impl core::default::Default for Stat {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Stat {
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

impl Stat {
    pub const CONNECTED_OFFSET: usize = 0;
    pub const CONNECTED_WIDTH: usize = 1;
    pub const CONNECTED_MASK: u32 = 0x1;

    /// connected
    ///
    /// A region with the device's task is connected.
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
    /// The task was stopped before it was over, and goes on when there is a region for it.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn unfinished(&self) -> bool {
        let val = (self.0 >> Self::UNFINISHED_OFFSET) & Self::UNFINISHED_MASK;
        val != 0
    }

    pub const ERROR_OFFSET: usize = 8;
    pub const ERROR_WIDTH: usize = 4;
    pub const ERROR_MASK: u32 = 0xF;

    /// error
    ///
    /// The error of the last computation: 0 none; 1 to 6 as the task tells; 13 it was ended by END; 14 the
    /// device was taken from a task that did not stop; 15 there was no region for it.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn error(&self) -> u8 {
        let val = (self.0 >> Self::ERROR_OFFSET) & Self::ERROR_MASK;
        val as u8
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

impl core::fmt::Debug for Stat {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stat")
            .field("connected", &self.connected())
            .field("running", &self.running())
            .field("unfinished", &self.unfinished())
            .field("error", &self.error())
            .field("region", &self.region())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Stat::default();
        assert_eq!(reg.connected(), false);
        assert_eq!(reg.running(), false);
        assert_eq!(reg.unfinished(), false);
        assert_eq!(reg.error(), 0);
        assert_eq!(reg.region(), 0);
    }
}
