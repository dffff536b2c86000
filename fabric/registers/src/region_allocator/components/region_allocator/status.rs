//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// What goes on.
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
    pub const PREPARING_OFFSET: usize = 0;
    pub const PREPARING_WIDTH: usize = 4;
    pub const PREPARING_MASK: u32 = 0xF;

    /// preparing
    ///
    /// The regions that are being prepared for an interface, or given back, a bit each. Their pages refuse all
    /// commands.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn preparing(&self) -> u8 {
        let val = (self.0 >> Self::PREPARING_OFFSET) & Self::PREPARING_MASK;
        val as u8
    }

    pub const UNWRITTEN_OFFSET: usize = 8;
    pub const UNWRITTEN_WIDTH: usize = 8;
    pub const UNWRITTEN_MASK: u32 = 0xFF;

    /// unwritten
    ///
    /// Answers that memory has not got yet, by interface.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn unwritten(&self) -> u8 {
        let val = (self.0 >> Self::UNWRITTEN_OFFSET) & Self::UNWRITTEN_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Status")
            .field("preparing", &self.preparing())
            .field("unwritten", &self.unwritten())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Status::default();
        assert_eq!(reg.preparing(), 0);
        assert_eq!(reg.unwritten(), 0);
    }
}
