//! Register: Descriptor

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Descriptor
///
/// How the region is.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Descriptor(u32);

unsafe impl Send for Descriptor {}
unsafe impl Sync for Descriptor {}

impl core::default::Default for Descriptor {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Descriptor {
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

impl Descriptor {
    pub const STATE_OFFSET: usize = 0;
    pub const STATE_WIDTH: usize = 3;
    pub const STATE_MASK: u32 = 0x7;

    /// state
    ///
    /// 0 Idle, 1 Busy, 2 Preempt, 3 Switch, 4 Reconfig, 5 Hold.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn state(&self) -> u8 {
        let val = (self.0 >> Self::STATE_OFFSET) & Self::STATE_MASK;
        val as u8
    }

    pub const SIZE_OFFSET: usize = 4;
    pub const SIZE_WIDTH: usize = 2;
    pub const SIZE_MASK: u32 = 0x3;

    /// size
    ///
    /// Its class, by size: from 0, the smallest, on.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn size(&self) -> u8 {
        let val = (self.0 >> Self::SIZE_OFFSET) & Self::SIZE_MASK;
        val as u8
    }

    pub const CONNECTED_OFFSET: usize = 6;
    pub const CONNECTED_WIDTH: usize = 1;
    pub const CONNECTED_MASK: u32 = 0x1;

    /// connected
    ///
    /// It is connected to the interface `client`.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn connected(&self) -> bool {
        let val = (self.0 >> Self::CONNECTED_OFFSET) & Self::CONNECTED_MASK;
        val != 0
    }

    pub const DRAINED_OFFSET: usize = 7;
    pub const DRAINED_WIDTH: usize = 1;
    pub const DRAINED_MASK: u32 = 0x1;

    /// drained
    ///
    /// Memory owes no answer to a task that was here.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn drained(&self) -> bool {
        let val = (self.0 >> Self::DRAINED_OFFSET) & Self::DRAINED_MASK;
        val != 0
    }

    pub const LOADED_OFFSET: usize = 8;
    pub const LOADED_WIDTH: usize = 8;
    pub const LOADED_MASK: u32 = 0xFF;

    /// loaded
    ///
    /// The number of the task that it is loaded with; 0 is none.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn loaded(&self) -> u8 {
        let val = (self.0 >> Self::LOADED_OFFSET) & Self::LOADED_MASK;
        val as u8
    }

    pub const CLIENT_OFFSET: usize = 16;
    pub const CLIENT_WIDTH: usize = 4;
    pub const CLIENT_MASK: u32 = 0xF;

    /// client
    ///
    /// The number of the interface that it was last connected to.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn client(&self) -> u8 {
        let val = (self.0 >> Self::CLIENT_OFFSET) & Self::CLIENT_MASK;
        val as u8
    }

    pub const PRIO_OFFSET: usize = 24;
    pub const PRIO_WIDTH: usize = 8;
    pub const PRIO_MASK: u32 = 0xFF;

    /// prio
    ///
    /// The priority of that interface's VM.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn prio(&self) -> u8 {
        let val = (self.0 >> Self::PRIO_OFFSET) & Self::PRIO_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Descriptor")
            .field("state", &self.state())
            .field("size", &self.size())
            .field("connected", &self.connected())
            .field("drained", &self.drained())
            .field("loaded", &self.loaded())
            .field("client", &self.client())
            .field("prio", &self.prio())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Descriptor::default();
        assert_eq!(reg.state(), 0);
        assert_eq!(reg.size(), 0);
        assert_eq!(reg.connected(), false);
        assert_eq!(reg.drained(), false);
        assert_eq!(reg.loaded(), 0);
        assert_eq!(reg.client(), 0);
        assert_eq!(reg.prio(), 0);
    }
}
