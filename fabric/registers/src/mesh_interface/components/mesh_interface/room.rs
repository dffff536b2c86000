//! Register: Room

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Room
///
/// For requests to the I/O hypervisor and its responses, in words. All of it is there again when a response has come to a
/// request that is not quiet, and all responses are taken.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Room(u32);

unsafe impl Send for Room {}
unsafe impl Sync for Room {}

impl core::default::Default for Room {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Room {
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

impl Room {
    pub const REQUESTS_OFFSET: usize = 0;
    pub const REQUESTS_WIDTH: usize = 10;
    pub const REQUESTS_MASK: u32 = 0x3FF;

    /// requests
    ///
    /// What requests may take; a quiet one leaves two of them.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn requests(&self) -> u16 {
        let val = (self.0 >> Self::REQUESTS_OFFSET) & Self::REQUESTS_MASK;
        val as u16
    }

    pub const RESPONSES_OFFSET: usize = 16;
    pub const RESPONSES_WIDTH: usize = 10;
    pub const RESPONSES_MASK: u32 = 0x3FF;

    /// responses
    ///
    /// What responses may take, beside those that wait and those that may come.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn responses(&self) -> u16 {
        let val = (self.0 >> Self::RESPONSES_OFFSET) & Self::RESPONSES_MASK;
        val as u16
    }
}

impl core::fmt::Debug for Room {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Room")
            .field("requests", &self.requests())
            .field("responses", &self.responses())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Room::default();
        assert_eq!(reg.requests(), 0);
        assert_eq!(reg.responses(), 0);
    }
}
