//! Register: Refusal

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Refusal
///
/// The first write to the page that was refused since this was last forgotten. A write is posted, so that
/// no hart waits for its answer. Without `valid` the rest means nothing.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Refusal(u32);

unsafe impl Send for Refusal {}
unsafe impl Sync for Refusal {}

impl core::default::Default for Refusal {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Refusal {
    type Regwidth = u32;
    type Accesswidth = u32;
    type Access = peakrdl_rust::access::RW;
    type ByteEndian = peakrdl_rust::endian::LittleEndian;
    type WordEndian = peakrdl_rust::endian::LittleEndian;

    unsafe fn from_raw(val: Self::Regwidth) -> Self {
        Self(val)
    }

    fn to_raw(self) -> Self::Regwidth {
        self.0
    }
}

impl Refusal {
    pub const HANDLE_OFFSET: usize = 0;
    pub const HANDLE_WIDTH: usize = 16;
    pub const HANDLE_MASK: u32 = 0xFFFF;

    /// handle
    ///
    /// The handle that was written.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn handle(&self) -> u16 {
        let val = (self.0 >> Self::HANDLE_OFFSET) & Self::HANDLE_MASK;
        val as u16
    }

    pub const STATUS_OFFSET: usize = 28;
    pub const STATUS_WIDTH: usize = 3;
    pub const STATUS_MASK: u32 = 0x7;

    /// status
    ///
    /// Why, as in ANSWER.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn status(&self) -> u8 {
        let val = (self.0 >> Self::STATUS_OFFSET) & Self::STATUS_MASK;
        val as u8
    }

    pub const VALID_OFFSET: usize = 31;
    pub const VALID_WIDTH: usize = 1;
    pub const VALID_MASK: u32 = 0x1;

    /// valid
    ///
    /// There is one. Writing a one forgets it.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn valid(&self) -> bool {
        let val = (self.0 >> Self::VALID_OFFSET) & Self::VALID_MASK;
        val != 0
    }

    /// valid
    ///
    /// There is one. Writing a one forgets it.
    #[inline(always)]
    pub fn set_valid(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::VALID_MASK << Self::VALID_OFFSET))
            | ((val & Self::VALID_MASK) << Self::VALID_OFFSET);
    }
}

impl core::fmt::Debug for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Refusal")
            .field("handle", &self.handle())
            .field("status", &self.status())
            .field("valid", &self.valid())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Refusal::default();
        assert_eq!(reg.handle(), 0);
        assert_eq!(reg.status(), 0);
        assert_eq!(reg.valid(), false);
    }
}
