//! Register: Interrupt control

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Interrupt control
///
/// The interrupt is up while `over` is pending and enabled. Both bits are zero after END.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct IntCtrl(u32);

unsafe impl Send for IntCtrl {}
unsafe impl Sync for IntCtrl {}

impl core::default::Default for IntCtrl {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for IntCtrl {
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

impl IntCtrl {
    pub const ENABLE_OFFSET: usize = 0;
    pub const ENABLE_WIDTH: usize = 1;
    pub const ENABLE_MASK: u32 = 0x1;

    /// enable
    ///
    /// Whether the end of a computation interrupts.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn enable(&self) -> bool {
        let val = (self.0 >> Self::ENABLE_OFFSET) & Self::ENABLE_MASK;
        val != 0
    }

    /// enable
    ///
    /// Whether the end of a computation interrupts.
    #[inline(always)]
    pub fn set_enable(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ENABLE_MASK << Self::ENABLE_OFFSET))
            | ((val & Self::ENABLE_MASK) << Self::ENABLE_OFFSET);
    }

    pub const OVER_OFFSET: usize = 8;
    pub const OVER_WIDTH: usize = 1;
    pub const OVER_MASK: u32 = 0x1;

    /// over
    ///
    /// A computation ended since a one was written here.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn over(&self) -> bool {
        let val = (self.0 >> Self::OVER_OFFSET) & Self::OVER_MASK;
        val != 0
    }

    /// over
    ///
    /// A computation ended since a one was written here.
    #[inline(always)]
    pub fn set_over(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::OVER_MASK << Self::OVER_OFFSET))
            | ((val & Self::OVER_MASK) << Self::OVER_OFFSET);
    }
}

impl core::fmt::Debug for IntCtrl {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IntCtrl")
            .field("enable", &self.enable())
            .field("over", &self.over())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = IntCtrl::default();
        assert_eq!(reg.enable(), false);
        assert_eq!(reg.over(), false);
    }
}
