//! Register: Timer

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Timer
///
/// Cycles since reset, when it is read. Reading the lower word keeps the upper one of the same cycle for the next read.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Timer(u64);

unsafe impl Send for Timer {}
unsafe impl Sync for Timer {}

impl core::default::Default for Timer {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Timer {
    type Regwidth = u64;
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

impl Timer {
    pub const CYCLES_OFFSET: usize = 0;
    pub const CYCLES_WIDTH: usize = 64;
    pub const CYCLES_MASK: u64 = 0xFFFF_FFFF_FFFF_FFFF;

    /// cycles
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn cycles(&self) -> u64 {
        let val = (self.0 >> Self::CYCLES_OFFSET) & Self::CYCLES_MASK;
        val
    }
}

impl core::fmt::Debug for Timer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Timer")
            .field("cycles", &self.cycles())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Timer::default();
        assert_eq!(reg.cycles(), 0);
    }
}
