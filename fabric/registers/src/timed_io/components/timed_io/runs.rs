//! Register: Runs

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Runs
///
/// How many runs; 0: without end. A write while a schedule is there is an error.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Runs(u32);

unsafe impl Send for Runs {}
unsafe impl Sync for Runs {}

impl core::default::Default for Runs {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Runs {
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

impl Runs {
    pub const COUNT_OFFSET: usize = 0;
    pub const COUNT_WIDTH: usize = 32;
    pub const COUNT_MASK: u32 = 0xFFFF_FFFF;

    /// count
    ///
    /// While a schedule is there, how many are left.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn count(&self) -> u32 {
        let val = (self.0 >> Self::COUNT_OFFSET) & Self::COUNT_MASK;
        val
    }

    /// count
    ///
    /// While a schedule is there, how many are left.
    #[inline(always)]
    pub fn set_count(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::COUNT_MASK << Self::COUNT_OFFSET))
            | ((val & Self::COUNT_MASK) << Self::COUNT_OFFSET);
    }
}

impl core::fmt::Debug for Runs {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Runs")
            .field("count", &self.count())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Runs::default();
        assert_eq!(reg.count(), 0);
    }
}
