//! Register: End

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// End
///
/// Writing a one ends all that the device computes or was asked to compute, for good: START is withdrawn, an
/// unfinished computation is never resumed, and a task that computes is reset and cut off from memory. Reads as
/// one until nothing of it can reach memory any more. Until then START, OVER and INT_CTRL are kept zero, and no
/// computation begins. Error 13 where there was a computation; there is no interrupt. The other registers keep
/// their values.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct End(u32);

unsafe impl Send for End {}
unsafe impl Sync for End {}

impl core::default::Default for End {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for End {
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

impl End {
    pub const FLAG_OFFSET: usize = 0;
    pub const FLAG_WIDTH: usize = 1;
    pub const FLAG_MASK: u32 = 0x1;

    /// flag
    ///
    /// The device is being ended.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn flag(&self) -> bool {
        let val = (self.0 >> Self::FLAG_OFFSET) & Self::FLAG_MASK;
        val != 0
    }

    /// flag
    ///
    /// The device is being ended.
    #[inline(always)]
    pub fn set_flag(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::FLAG_MASK << Self::FLAG_OFFSET))
            | ((val & Self::FLAG_MASK) << Self::FLAG_OFFSET);
    }
}

impl core::fmt::Debug for End {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("End").field("flag", &self.flag()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = End::default();
        assert_eq!(reg.flag(), false);
    }
}
