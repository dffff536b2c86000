//! Register: Interrupt clear

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Interrupt clear
///
/// Writing a one makes an event not pending. One that happens at the same moment stays.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct IrqClear(u32);

unsafe impl Send for IrqClear {}
unsafe impl Sync for IrqClear {}

impl core::default::Default for IrqClear {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for IrqClear {
    type Regwidth = u32;
    type Accesswidth = u32;
    type Access = peakrdl_rust::access::W;
    type ByteEndian = peakrdl_rust::endian::LittleEndian;
    type WordEndian = peakrdl_rust::endian::LittleEndian;

    unsafe fn from_raw(val: Self::Regwidth) -> Self {
        Self(val)
    }

    fn to_raw(self) -> Self::Regwidth {
        self.0
    }
}

impl IrqClear {
    pub const FOUND_OFFSET: usize = 0;
    pub const FOUND_WIDTH: usize = 1;
    pub const FOUND_MASK: u32 = 0x1;

    /// found
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    pub fn set_found(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FOUND_MASK << Self::FOUND_OFFSET))
            | ((val & Self::FOUND_MASK) << Self::FOUND_OFFSET);
    }
}

impl core::fmt::Debug for IrqClear {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqClear").finish()
    }
}
