//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// What waits.
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
    pub const TO_SEND_OFFSET: usize = 0;
    pub const TO_SEND_WIDTH: usize = 5;
    pub const TO_SEND_MASK: u32 = 0x1F;

    /// to_send
    ///
    /// Bytes that wait to be sent, without the one that is being sent.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn to_send(&self) -> u8 {
        let val = (self.0 >> Self::TO_SEND_OFFSET) & Self::TO_SEND_MASK;
        val as u8
    }

    pub const RECEIVED_OFFSET: usize = 8;
    pub const RECEIVED_WIDTH: usize = 5;
    pub const RECEIVED_MASK: u32 = 0x1F;

    /// received
    ///
    /// Bytes that have come.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn received(&self) -> u8 {
        let val = (self.0 >> Self::RECEIVED_OFFSET) & Self::RECEIVED_MASK;
        val as u8
    }

    pub const BUSY_OFFSET: usize = 16;
    pub const BUSY_WIDTH: usize = 1;
    pub const BUSY_MASK: u32 = 0x1;

    /// busy
    ///
    /// A byte is being sent, or waits.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn busy(&self) -> bool {
        let val = (self.0 >> Self::BUSY_OFFSET) & Self::BUSY_MASK;
        val != 0
    }

    pub const OVERFLOW_OFFSET: usize = 17;
    pub const OVERFLOW_WIDTH: usize = 1;
    pub const OVERFLOW_MASK: u32 = 0x1;

    /// overflow
    ///
    /// A byte was written while the queue was full, and lost; since CLEAR.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn overflow(&self) -> bool {
        let val = (self.0 >> Self::OVERFLOW_OFFSET) & Self::OVERFLOW_MASK;
        val != 0
    }

    pub const OVERRUN_OFFSET: usize = 18;
    pub const OVERRUN_WIDTH: usize = 1;
    pub const OVERRUN_MASK: u32 = 0x1;

    /// overrun
    ///
    /// A byte came while the queue was full, and is lost; since CLEAR.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn overrun(&self) -> bool {
        let val = (self.0 >> Self::OVERRUN_OFFSET) & Self::OVERRUN_MASK;
        val != 0
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Status")
            .field("to_send", &self.to_send())
            .field("received", &self.received())
            .field("busy", &self.busy())
            .field("overflow", &self.overflow())
            .field("overrun", &self.overrun())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Status::default();
        assert_eq!(reg.to_send(), 0);
        assert_eq!(reg.received(), 0);
        assert_eq!(reg.busy(), false);
        assert_eq!(reg.overflow(), false);
        assert_eq!(reg.overrun(), false);
    }
}
