//! Register: Interrupt pending

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Interrupt pending
///
/// Which events have happened since they were cleared, enabled or not.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct IrqPending(u32);

unsafe impl Send for IrqPending {}
unsafe impl Sync for IrqPending {}

impl core::default::Default for IrqPending {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for IrqPending {
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

impl IrqPending {
    pub const FIRST_OFFSET: usize = 0;
    pub const FIRST_WIDTH: usize = 1;
    pub const FIRST_MASK: u32 = 0x1;

    /// first
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn first(&self) -> bool {
        let val = (self.0 >> Self::FIRST_OFFSET) & Self::FIRST_MASK;
        val != 0
    }

    pub const LATER_OFFSET: usize = 1;
    pub const LATER_WIDTH: usize = 1;
    pub const LATER_MASK: u32 = 0x1;

    /// later
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn later(&self) -> bool {
        let val = (self.0 >> Self::LATER_OFFSET) & Self::LATER_MASK;
        val != 0
    }

    pub const ERROR_OFFSET: usize = 2;
    pub const ERROR_WIDTH: usize = 1;
    pub const ERROR_MASK: u32 = 0x1;

    /// error
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn error(&self) -> bool {
        let val = (self.0 >> Self::ERROR_OFFSET) & Self::ERROR_MASK;
        val != 0
    }
}

impl core::fmt::Debug for IrqPending {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqPending")
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
        let reg = IrqPending::default();
        assert_eq!(reg.first(), false);
        assert_eq!(reg.later(), false);
        assert_eq!(reg.error(), false);
    }
}
