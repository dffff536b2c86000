//! Register: Start

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Start
///
/// The cycle at which the first run's first command takes effect. A write while a schedule is there is an
/// error.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Start(u64);

unsafe impl Send for Start {}
unsafe impl Sync for Start {}

impl core::default::Default for Start {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Start {
    type Regwidth = u64;
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

impl Start {
    pub const CYCLE_OFFSET: usize = 0;
    pub const CYCLE_WIDTH: usize = 64;
    pub const CYCLE_MASK: u64 = 0xFFFF_FFFF_FFFF_FFFF;

    /// cycle
    ///
    /// While a schedule is there, that of its next run.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn cycle(&self) -> u64 {
        let val = (self.0 >> Self::CYCLE_OFFSET) & Self::CYCLE_MASK;
        val
    }

    /// cycle
    ///
    /// While a schedule is there, that of its next run.
    #[inline(always)]
    pub fn set_cycle(&mut self, val: u64) {
        let val = val as u64;
        self.0 = (self.0 & !(Self::CYCLE_MASK << Self::CYCLE_OFFSET))
            | ((val & Self::CYCLE_MASK) << Self::CYCLE_OFFSET);
    }
}

impl core::fmt::Debug for Start {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Start")
            .field("cycle", &self.cycle())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Start::default();
        assert_eq!(reg.cycle(), 0);
    }
}
