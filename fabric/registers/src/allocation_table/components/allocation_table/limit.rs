//! Register: Limit

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Limit
///
/// For so many cycles a task that was told to stop may go on, before it is killed; and memory may owe something to
/// a region that is to be connected, before it is given up. While 0, no region is preempted.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Limit(u32);

unsafe impl Send for Limit {}
unsafe impl Sync for Limit {}

impl core::default::Default for Limit {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Limit {
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

impl Limit {
    pub const CYCLES_OFFSET: usize = 0;
    pub const CYCLES_WIDTH: usize = 20;
    pub const CYCLES_MASK: u32 = 0xF_FFFF;

    /// cycles
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn cycles(&self) -> u32 {
        let val = (self.0 >> Self::CYCLES_OFFSET) & Self::CYCLES_MASK;
        val
    }

    /// cycles
    #[inline(always)]
    pub fn set_cycles(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::CYCLES_MASK << Self::CYCLES_OFFSET))
            | ((val & Self::CYCLES_MASK) << Self::CYCLES_OFFSET);
    }
}

impl core::fmt::Debug for Limit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Limit")
            .field("cycles", &self.cycles())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Limit::default();
        assert_eq!(reg.cycles(), 0);
    }
}
