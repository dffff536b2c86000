//! Register: Bitstreams

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Bitstreams
///
/// For which regions each task has a bitstream in ENTRIES: four bits a task, as in the region monitor's
/// COMPATIBILITY. An entry is written while its bit is 0.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Bitstreams(u32);

unsafe impl Send for Bitstreams {}
unsafe impl Sync for Bitstreams {}

impl core::default::Default for Bitstreams {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Bitstreams {
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

impl Bitstreams {
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

impl core::fmt::Debug for Bitstreams {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Bitstreams")
            .field("regions", &self.regions())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Bitstreams::default();
        assert_eq!(reg.regions(), 0);
    }
}
