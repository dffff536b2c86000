//! Register: Reach

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Reach
///
/// Which tiles this port's may send messages to, a bit each. What it may send to the I/O is not asked here.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Reach(u32);

unsafe impl Send for Reach {}
unsafe impl Sync for Reach {}

impl core::default::Default for Reach {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Reach {
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

impl Reach {
    pub const TILES_OFFSET: usize = 0;
    pub const TILES_WIDTH: usize = 16;
    pub const TILES_MASK: u32 = 0xFFFF;

    /// tiles
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn tiles(&self) -> u16 {
        let val = (self.0 >> Self::TILES_OFFSET) & Self::TILES_MASK;
        val as u16
    }

    /// tiles
    #[inline(always)]
    pub fn set_tiles(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::TILES_MASK << Self::TILES_OFFSET))
            | ((val & Self::TILES_MASK) << Self::TILES_OFFSET);
    }
}

impl core::fmt::Debug for Reach {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reach")
            .field("tiles", &self.tiles())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Reach::default();
        assert_eq!(reg.tiles(), 0);
    }
}
