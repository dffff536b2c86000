//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// What is going on.
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
    pub const SENDING_OFFSET: usize = 0;
    pub const SENDING_WIDTH: usize = 1;
    pub const SENDING_MASK: u32 = 0x1;

    /// sending
    ///
    /// A frame is being sent, or not all of its words are written.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn sending(&self) -> bool {
        let val = (self.0 >> Self::SENDING_OFFSET) & Self::SENDING_MASK;
        val != 0
    }

    pub const RECEIVED_OFFSET: usize = 1;
    pub const RECEIVED_WIDTH: usize = 1;
    pub const RECEIVED_MASK: u32 = 0x1;

    /// received
    ///
    /// A frame waits to be read.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn received(&self) -> bool {
        let val = (self.0 >> Self::RECEIVED_OFFSET) & Self::RECEIVED_MASK;
        val != 0
    }

    pub const LOST_OFFSET: usize = 8;
    pub const LOST_WIDTH: usize = 8;
    pub const LOST_MASK: u32 = 0xFF;

    /// lost
    ///
    /// Frames that came while one waited, and are lost; 255 at most.
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
            .field("sending", &self.sending())
            .field("received", &self.received())
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
        assert_eq!(reg.sending(), false);
        assert_eq!(reg.received(), false);
        assert_eq!(reg.lost(), 0);
    }
}
