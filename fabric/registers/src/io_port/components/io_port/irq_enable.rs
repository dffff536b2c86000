//! Register: Interrupt enable

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Interrupt enable
///
/// The interrupt is up while a response waits and this is set.
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
    pub const RESPONSE_OFFSET: usize = 0;
    pub const RESPONSE_WIDTH: usize = 1;
    pub const RESPONSE_MASK: u32 = 0x1;

    /// response
    ///
    /// Whether a response interrupts. RESET clears it.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn response(&self) -> bool {
        let val = (self.0 >> Self::RESPONSE_OFFSET) & Self::RESPONSE_MASK;
        val != 0
    }

    /// response
    ///
    /// Whether a response interrupts. RESET clears it.
    #[inline(always)]
    pub fn set_response(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::RESPONSE_MASK << Self::RESPONSE_OFFSET))
            | ((val & Self::RESPONSE_MASK) << Self::RESPONSE_OFFSET);
    }
}

impl core::fmt::Debug for IrqEnable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqEnable")
            .field("response", &self.response())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = IrqEnable::default();
        assert_eq!(reg.response(), false);
    }
}
