//! Register: Depth

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Depth
///
/// How many handles there are: 0 to one less.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Depth(u32);

unsafe impl Send for Depth {}
unsafe impl Sync for Depth {}

impl core::default::Default for Depth {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Depth {
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

impl Depth {
    pub const HANDLES_OFFSET: usize = 0;
    pub const HANDLES_WIDTH: usize = 16;
    pub const HANDLES_MASK: u32 = 0xFFFF;

    /// handles
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn handles(&self) -> u16 {
        let val = (self.0 >> Self::HANDLES_OFFSET) & Self::HANDLES_MASK;
        val as u16
    }
}

impl core::fmt::Debug for Depth {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Depth")
            .field("handles", &self.handles())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Depth::default();
        assert_eq!(reg.handles(), 0);
    }
}
