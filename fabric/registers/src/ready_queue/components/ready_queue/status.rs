//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// How things are now.
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
    pub const READY_OFFSET: usize = 0;
    pub const READY_WIDTH: usize = 1;
    pub const READY_MASK: u32 = 0x1;

    /// ready
    ///
    /// The queue takes commands. It does not while it is being emptied.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn ready(&self) -> bool {
        let val = (self.0 >> Self::READY_OFFSET) & Self::READY_MASK;
        val != 0
    }

    pub const ERROR_OFFSET: usize = 1;
    pub const ERROR_WIDTH: usize = 1;
    pub const ERROR_MASK: u32 = 0x1;

    /// error
    ///
    /// Memory answered with an error. Nothing is read or written there until ACCESS is written.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn error(&self) -> bool {
        let val = (self.0 >> Self::ERROR_OFFSET) & Self::ERROR_MASK;
        val != 0
    }

    pub const PENDING_OFFSET: usize = 2;
    pub const PENDING_WIDTH: usize = 1;
    pub const PENDING_MASK: u32 = 0x1;

    /// pending
    ///
    /// ACCESS was written and does not count yet: a read or write of memory is under way.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn pending(&self) -> bool {
        let val = (self.0 >> Self::PENDING_OFFSET) & Self::PENDING_MASK;
        val != 0
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Status")
            .field("ready", &self.ready())
            .field("error", &self.error())
            .field("pending", &self.pending())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Status::default();
        assert_eq!(reg.ready(), false);
        assert_eq!(reg.error(), false);
        assert_eq!(reg.pending(), false);
    }
}
