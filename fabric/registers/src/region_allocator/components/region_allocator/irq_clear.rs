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
    pub const FIRST_OFFSET: usize = 0;
    pub const FIRST_WIDTH: usize = 1;
    pub const FIRST_MASK: u32 = 0x1;

    /// first
    ///
    /// As in IRQ_ENABLE.
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
    /// As in IRQ_ENABLE.
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
    /// As in IRQ_ENABLE.
    #[inline(always)]
    pub fn set_error(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ERROR_MASK << Self::ERROR_OFFSET))
            | ((val & Self::ERROR_MASK) << Self::ERROR_OFFSET);
    }
}

impl core::fmt::Debug for IrqClear {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqClear").finish()
    }
}
