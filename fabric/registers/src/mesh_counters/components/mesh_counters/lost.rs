//! Register: Lost

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Lost
///
/// How many packets of registers have found no room at their places since reset; it stays at its largest value.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Lost(u32);

unsafe impl Send for Lost {}
unsafe impl Sync for Lost {}

impl core::default::Default for Lost {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Lost {
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

impl Lost {
    pub const PACKETS_OFFSET: usize = 0;
    pub const PACKETS_WIDTH: usize = 32;
    pub const PACKETS_MASK: u32 = 0xFFFF_FFFF;

    /// packets
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn packets(&self) -> u32 {
        let val = (self.0 >> Self::PACKETS_OFFSET) & Self::PACKETS_MASK;
        val
    }
}

impl core::fmt::Debug for Lost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Lost")
            .field("packets", &self.packets())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Lost::default();
        assert_eq!(reg.packets(), 0);
    }
}
