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
    pub const STOPPED_OFFSET: usize = 0;
    pub const STOPPED_WIDTH: usize = 1;
    pub const STOPPED_MASK: u32 = 0x1;

    /// stopped
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn stopped(&self) -> bool {
        let val = (self.0 >> Self::STOPPED_OFFSET) & Self::STOPPED_MASK;
        val != 0
    }

    pub const EXPIRED_OFFSET: usize = 1;
    pub const EXPIRED_WIDTH: usize = 1;
    pub const EXPIRED_MASK: u32 = 0x1;

    /// expired
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn expired(&self) -> bool {
        let val = (self.0 >> Self::EXPIRED_OFFSET) & Self::EXPIRED_MASK;
        val != 0
    }

    pub const OVERDUE_OFFSET: usize = 2;
    pub const OVERDUE_WIDTH: usize = 1;
    pub const OVERDUE_MASK: u32 = 0x1;

    /// overdue
    ///
    /// As in IRQ_ENABLE.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn overdue(&self) -> bool {
        let val = (self.0 >> Self::OVERDUE_OFFSET) & Self::OVERDUE_MASK;
        val != 0
    }
}

impl core::fmt::Debug for IrqPending {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IrqPending")
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
        let reg = IrqPending::default();
        assert_eq!(reg.stopped(), false);
        assert_eq!(reg.expired(), false);
        assert_eq!(reg.overdue(), false);
    }
}
