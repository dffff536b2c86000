//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// What is under way, and what waits.
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
    /// A packet is being sent: another one is refused.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn sending(&self) -> bool {
        let val = (self.0 >> Self::SENDING_OFFSET) & Self::SENDING_MASK;
        val != 0
    }

    pub const ASKED_OFFSET: usize = 1;
    pub const ASKED_WIDTH: usize = 1;
    pub const ASKED_MASK: u32 = 0x1;

    /// asked
    ///
    /// The I/O hypervisor owes a response: another request is refused.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn asked(&self) -> bool {
        let val = (self.0 >> Self::ASKED_OFFSET) & Self::ASKED_MASK;
        val != 0
    }

    pub const RESPONSE_OFFSET: usize = 2;
    pub const RESPONSE_WIDTH: usize = 1;
    pub const RESPONSE_MASK: u32 = 0x1;

    /// response
    ///
    /// A response waits in RESPONSE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn response(&self) -> bool {
        let val = (self.0 >> Self::RESPONSE_OFFSET) & Self::RESPONSE_MASK;
        val != 0
    }

    pub const MESSAGE_OFFSET: usize = 3;
    pub const MESSAGE_WIDTH: usize = 1;
    pub const MESSAGE_MASK: u32 = 0x1;

    /// message
    ///
    /// A message waits in MESSAGE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn message(&self) -> bool {
        let val = (self.0 >> Self::MESSAGE_OFFSET) & Self::MESSAGE_MASK;
        val != 0
    }

    pub const RESPONSE_BEGUN_OFFSET: usize = 4;
    pub const RESPONSE_BEGUN_WIDTH: usize = 1;
    pub const RESPONSE_BEGUN_MASK: u32 = 0x1;

    /// response_begun
    ///
    /// The next word of RESPONSE is not the first of its packet.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn response_begun(&self) -> bool {
        let val = (self.0 >> Self::RESPONSE_BEGUN_OFFSET) & Self::RESPONSE_BEGUN_MASK;
        val != 0
    }

    pub const MESSAGE_BEGUN_OFFSET: usize = 5;
    pub const MESSAGE_BEGUN_WIDTH: usize = 1;
    pub const MESSAGE_BEGUN_MASK: u32 = 0x1;

    /// message_begun
    ///
    /// The next word of MESSAGE is not the first of its packet.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn message_begun(&self) -> bool {
        let val = (self.0 >> Self::MESSAGE_BEGUN_OFFSET) & Self::MESSAGE_BEGUN_MASK;
        val != 0
    }

    pub const REFUSED_OFFSET: usize = 8;
    pub const REFUSED_WIDTH: usize = 8;
    pub const REFUSED_MASK: u32 = 0xFF;

    /// refused
    ///
    /// Packets that were not sent: since reset, at most 255.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn refused(&self) -> u8 {
        let val = (self.0 >> Self::REFUSED_OFFSET) & Self::REFUSED_MASK;
        val as u8
    }

    pub const LOST_OFFSET: usize = 16;
    pub const LOST_WIDTH: usize = 8;
    pub const LOST_MASK: u32 = 0xFF;

    /// lost
    ///
    /// Packets that came and found no room, and so are not there: since reset, at most 255.
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
            .field("asked", &self.asked())
            .field("response", &self.response())
            .field("message", &self.message())
            .field("response_begun", &self.response_begun())
            .field("message_begun", &self.message_begun())
            .field("refused", &self.refused())
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
        assert_eq!(reg.asked(), false);
        assert_eq!(reg.response(), false);
        assert_eq!(reg.message(), false);
        assert_eq!(reg.response_begun(), false);
        assert_eq!(reg.message_begun(), false);
        assert_eq!(reg.refused(), 0);
        assert_eq!(reg.lost(), 0);
    }
}
