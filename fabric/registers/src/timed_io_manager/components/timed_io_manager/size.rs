//! Register: Size

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Size
///
/// What there is.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Size(u32);

unsafe impl Send for Size {}
unsafe impl Sync for Size {}

impl core::default::Default for Size {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Size {
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

impl Size {
    pub const VMS_OFFSET: usize = 0;
    pub const VMS_WIDTH: usize = 8;
    pub const VMS_MASK: u32 = 0xFF;

    /// vms
    ///
    /// VMs, each with a page before this one.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn vms(&self) -> u8 {
        let val = (self.0 >> Self::VMS_OFFSET) & Self::VMS_MASK;
        val as u8
    }

    pub const PINS_OFFSET: usize = 8;
    pub const PINS_WIDTH: usize = 8;
    pub const PINS_MASK: u32 = 0xFF;

    /// pins
    ///
    /// Pins.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn pins(&self) -> u8 {
        let val = (self.0 >> Self::PINS_OFFSET) & Self::PINS_MASK;
        val as u8
    }

    pub const AHEAD_OFFSET: usize = 16;
    pub const AHEAD_WIDTH: usize = 16;
    pub const AHEAD_MASK: u32 = 0xFFFF;

    /// ahead
    ///
    /// How many cycles before its START a schedule has to be made, and the shortest period.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn ahead(&self) -> u16 {
        let val = (self.0 >> Self::AHEAD_OFFSET) & Self::AHEAD_MASK;
        val as u16
    }
}

impl core::fmt::Debug for Size {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Size")
            .field("vms", &self.vms())
            .field("pins", &self.pins())
            .field("ahead", &self.ahead())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Size::default();
        assert_eq!(reg.vms(), 0);
        assert_eq!(reg.pins(), 0);
        assert_eq!(reg.ahead(), 0);
    }
}
