//! Register: Compatibility

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Compatibility
///
/// Which regions each task fits into: four bits a task, beginning with task 0, which there is not; the lowest bit
/// is region 0, the smallest.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Compatibility(u32);

unsafe impl Send for Compatibility {}
unsafe impl Sync for Compatibility {}

impl core::default::Default for Compatibility {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Compatibility {
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

impl Compatibility {
    pub const REGIONS_OFFSET: usize = 0;
    pub const REGIONS_WIDTH: usize = 32;
    pub const REGIONS_MASK: u32 = 0xFFFF_FFFF;

    /// regions
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn regions(&self) -> u32 {
        let val = (self.0 >> Self::REGIONS_OFFSET) & Self::REGIONS_MASK;
        val
    }

    /// regions
    #[inline(always)]
    pub fn set_regions(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::REGIONS_MASK << Self::REGIONS_OFFSET))
            | ((val & Self::REGIONS_MASK) << Self::REGIONS_OFFSET);
    }
}

impl core::fmt::Debug for Compatibility {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Compatibility")
            .field("regions", &self.regions())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Compatibility::default();
        assert_eq!(reg.regions(), 0);
    }
}
