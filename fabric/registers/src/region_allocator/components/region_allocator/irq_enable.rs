//! Register: Interrupt enable

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Interrupt enable
///
/// Which pending events hold the interrupt line up.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct IrqEnable(u32);

unsafe impl Send for IrqEnable {}
unsafe impl Sync for IrqEnable {}

impl core::default::Default for IrqEnable {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for IrqEnable {
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

impl IrqEnable {
    pub const FIRST_OFFSET: usize = 0;
    pub const FIRST_WIDTH: usize = 1;
    pub const FIRST_MASK: u32 = 0x1;

    /// first
    ///
    /// The first answer to a request is in memory.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn first(&self) -> bool {
        let val = (self.0 >> Self::FIRST_OFFSET) & Self::FIRST_MASK;
        val != 0
    }

    /// first
    ///
    /// The first answer to a request is in memory.
    #[inline(always)]
    pub fn set_first(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FIRST_MASK << Self::FIRST_OFFSET))
            | ((val & Self::FIRST_MASK) << Self::FIRST_OFFSET);
    }

    pub const LATER_OFFSET: usize = 1;
    pub const LATER_WIDTH: usize = 1;
    pub const LATER_MASK: u32 = 0x1;

    /// later
    ///
    /// A later answer to a request is in memory.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn later(&self) -> bool {
        let val = (self.0 >> Self::LATER_OFFSET) & Self::LATER_MASK;
        val != 0
    }

    /// later
    ///
    /// A later answer to a request is in memory.
    #[inline(always)]
    pub fn set_later(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::LATER_MASK << Self::LATER_OFFSET))
            | ((val & Self::LATER_MASK) << Self::LATER_OFFSET);
    }

    pub const ERROR_OFFSET: usize = 2;
    pub const ERROR_WIDTH: usize = 1;
    pub const ERROR_MASK: u32 = 0x1;

    /// error
    ///
    /// Memory answered the write of an answer with an error: the answer is lost.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn error(&self) -> bool {
        let val = (self.0 >> Self::ERROR_OFFSET) & Self::ERROR_MASK;
        val != 0
    }

    /// error
    ///
    /// Memory answered the write of an answer with an error: the answer is lost.
    #[inline(always)]
    pub fn set_error(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ERROR_MASK << Self::ERROR_OFFSET))
            | ((val & Self::ERROR_MASK) << Self::ERROR_OFFSET);
    }
}

impl core::fmt::Debug for IrqEnable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqEnable")
            .field("first", &self.first())
            .field("later", &self.later())
            .field("error", &self.error())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = IrqEnable::default();
        assert_eq!(reg.first(), false);
        assert_eq!(reg.later(), false);
        assert_eq!(reg.error(), false);
    }
}
