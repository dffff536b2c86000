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
    pub const FOUND_OFFSET: usize = 0;
    pub const FOUND_WIDTH: usize = 1;
    pub const FOUND_MASK: u32 = 0x1;

    /// found
    ///
    /// A region was found for one that waits.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn found(&self) -> bool {
        let val = (self.0 >> Self::FOUND_OFFSET) & Self::FOUND_MASK;
        val != 0
    }

    /// found
    ///
    /// A region was found for one that waits.
    #[inline(always)]
    pub fn set_found(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FOUND_MASK << Self::FOUND_OFFSET))
            | ((val & Self::FOUND_MASK) << Self::FOUND_OFFSET);
    }
}

impl core::fmt::Debug for IrqEnable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqEnable")
            .field("found", &self.found())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = IrqEnable::default();
        assert_eq!(reg.found(), false);
    }
}
