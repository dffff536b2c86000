//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// What the port does, or did last.
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
    pub const BUSY_OFFSET: usize = 0;
    pub const BUSY_WIDTH: usize = 1;
    pub const BUSY_MASK: u32 = 0x1;

    /// busy
    ///
    /// A configuration is going on.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn busy(&self) -> bool {
        let val = (self.0 >> Self::BUSY_OFFSET) & Self::BUSY_MASK;
        val != 0
    }

    pub const OWED_OFFSET: usize = 1;
    pub const OWED_WIDTH: usize = 1;
    pub const OWED_MASK: u32 = 0x1;

    /// owed
    ///
    /// Memory has been given up, and owes words. A configuration that begins ends at once with error 9.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn owed(&self) -> bool {
        let val = (self.0 >> Self::OWED_OFFSET) & Self::OWED_MASK;
        val != 0
    }

    pub const ERROR_OFFSET: usize = 4;
    pub const ERROR_WIDTH: usize = 4;
    pub const ERROR_MASK: u32 = 0xF;

    /// error
    ///
    /// Why the last one failed: 0 it did not; 1 the region was not free, or there is none of this number, or a
    /// configuration was going on; 2 not a bitstream; 3 of another version; 4 of another task; 5 for another
    /// region; 6 not as long as the region's are, or truncated; 7 corrupt; 8 memory answered with an error; 9 memory did not answer
    /// for 4,096 cycles.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn error(&self) -> u8 {
        let val = (self.0 >> Self::ERROR_OFFSET) & Self::ERROR_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Status")
            .field("busy", &self.busy())
            .field("owed", &self.owed())
            .field("error", &self.error())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Status::default();
        assert_eq!(reg.busy(), false);
        assert_eq!(reg.owed(), false);
        assert_eq!(reg.error(), 0);
    }
}
