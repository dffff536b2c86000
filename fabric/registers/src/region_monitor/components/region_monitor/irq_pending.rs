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
    pub const FOUND_OFFSET: usize = 0;
    pub const FOUND_WIDTH: usize = 1;
    pub const FOUND_MASK: u32 = 0x1;

    /// found
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn found(&self) -> bool {
        let val = (self.0 >> Self::FOUND_OFFSET) & Self::FOUND_MASK;
        val != 0
    }
}

impl core::fmt::Debug for IrqPending {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqPending")
            .field("found", &self.found())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = IrqPending::default();
        assert_eq!(reg.found(), false);
    }
}
