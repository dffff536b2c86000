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
    pub const STOPPED_OFFSET: usize = 0;
    pub const STOPPED_WIDTH: usize = 1;
    pub const STOPPED_MASK: u32 = 0x1;

    /// stopped
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    pub fn set_stopped(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::STOPPED_MASK << Self::STOPPED_OFFSET))
            | ((val & Self::STOPPED_MASK) << Self::STOPPED_OFFSET);
    }

    pub const EXPIRED_OFFSET: usize = 1;
    pub const EXPIRED_WIDTH: usize = 1;
    pub const EXPIRED_MASK: u32 = 0x1;

    /// expired
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    pub fn set_expired(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::EXPIRED_MASK << Self::EXPIRED_OFFSET))
            | ((val & Self::EXPIRED_MASK) << Self::EXPIRED_OFFSET);
    }

    pub const OVERDUE_OFFSET: usize = 2;
    pub const OVERDUE_WIDTH: usize = 1;
    pub const OVERDUE_MASK: u32 = 0x1;

    /// overdue
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    pub fn set_overdue(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::OVERDUE_MASK << Self::OVERDUE_OFFSET))
            | ((val & Self::OVERDUE_MASK) << Self::OVERDUE_OFFSET);
    }
}

impl core::fmt::Debug for IrqClear {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqClear").finish()
    }
}
