//! Register: Compare

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Compare
///
/// The cycle at which the event `match` happens. Written from the lower word; what it holds changes as
/// a whole with the upper one. A cycle that is over when it is written gives no event.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Compare(u64);

unsafe impl Send for Compare {}
unsafe impl Sync for Compare {}

impl core::default::Default for Compare {
    fn default() -> Self {
        Self(0xFFFF_FFFF_FFFF_FFFF)
    }
}

impl peakrdl_rust::reg::Register for Compare {
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

impl Compare {
    pub const VALUE_OFFSET: usize = 0;
    pub const VALUE_WIDTH: usize = 64;
    pub const VALUE_MASK: u64 = 0xFFFF_FFFF_FFFF_FFFF;

    /// value
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn value(&self) -> u64 {
        let val = (self.0 >> Self::VALUE_OFFSET) & Self::VALUE_MASK;
        val
    }

    /// value
    #[inline(always)]
    pub fn set_value(&mut self, val: u64) {
        let val = val as u64;
        self.0 = (self.0 & !(Self::VALUE_MASK << Self::VALUE_OFFSET))
            | ((val & Self::VALUE_MASK) << Self::VALUE_OFFSET);
    }
}

impl core::fmt::Debug for Compare {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Compare")
            .field("value", &self.value())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Compare::default();
        assert_eq!(reg.value(), 18446744073709551615);
    }
}
