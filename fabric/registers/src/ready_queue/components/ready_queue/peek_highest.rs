//! Register: Look at the highest

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Look at the highest
///
/// Reading gives the first of the highest priority that waits, and leaves it.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct PeekHighest(u32);

unsafe impl Send for PeekHighest {}
unsafe impl Sync for PeekHighest {}

impl core::default::Default for PeekHighest {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for PeekHighest {
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

impl PeekHighest {
    pub const HANDLE_OFFSET: usize = 0;
    pub const HANDLE_WIDTH: usize = 16;
    pub const HANDLE_MASK: u32 = 0xFFFF;

    /// handle
    ///
    /// Its handle.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn handle(&self) -> u16 {
        let val = (self.0 >> Self::HANDLE_OFFSET) & Self::HANDLE_MASK;
        val as u16
    }

    pub const PRIO_OFFSET: usize = 16;
    pub const PRIO_WIDTH: usize = 8;
    pub const PRIO_MASK: u32 = 0xFF;

    /// prio
    ///
    /// Its priority.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn prio(&self) -> u8 {
        let val = (self.0 >> Self::PRIO_OFFSET) & Self::PRIO_MASK;
        val as u8
    }

    pub const VALID_OFFSET: usize = 31;
    pub const VALID_WIDTH: usize = 1;
    pub const VALID_MASK: u32 = 0x1;

    /// valid
    ///
    /// There is one.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn valid(&self) -> bool {
        let val = (self.0 >> Self::VALID_OFFSET) & Self::VALID_MASK;
        val != 0
    }
}

impl core::fmt::Debug for PeekHighest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PeekHighest")
            .field("handle", &self.handle())
            .field("prio", &self.prio())
            .field("valid", &self.valid())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = PeekHighest::default();
        assert_eq!(reg.handle(), 0);
        assert_eq!(reg.prio(), 0);
        assert_eq!(reg.valid(), false);
    }
}
