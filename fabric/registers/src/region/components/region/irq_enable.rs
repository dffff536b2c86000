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
    pub const STOPPED_OFFSET: usize = 0;
    pub const STOPPED_WIDTH: usize = 1;
    pub const STOPPED_MASK: u32 = 0x1;

    /// stopped
    ///
    /// The region came to Switch because its task stopped, or was done when it was to stop.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn stopped(&self) -> bool {
        let val = (self.0 >> Self::STOPPED_OFFSET) & Self::STOPPED_MASK;
        val != 0
    }

    /// stopped
    ///
    /// The region came to Switch because its task stopped, or was done when it was to stop.
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
    /// The hold time was over.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn expired(&self) -> bool {
        let val = (self.0 >> Self::EXPIRED_OFFSET) & Self::EXPIRED_MASK;
        val != 0
    }

    /// expired
    ///
    /// The hold time was over.
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
    /// Memory has owed something to the region for 4,096 cycles since it was cut off.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn overdue(&self) -> bool {
        let val = (self.0 >> Self::OVERDUE_OFFSET) & Self::OVERDUE_MASK;
        val != 0
    }

    /// overdue
    ///
    /// Memory has owed something to the region for 4,096 cycles since it was cut off.
    #[inline(always)]
    pub fn set_overdue(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::OVERDUE_MASK << Self::OVERDUE_OFFSET))
            | ((val & Self::OVERDUE_MASK) << Self::OVERDUE_OFFSET);
    }
}

impl core::fmt::Debug for IrqEnable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqEnable")
            .field("stopped", &self.stopped())
            .field("expired", &self.expired())
            .field("overdue", &self.overdue())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = IrqEnable::default();
        assert_eq!(reg.stopped(), false);
        assert_eq!(reg.expired(), false);
        assert_eq!(reg.overdue(), false);
    }
}
