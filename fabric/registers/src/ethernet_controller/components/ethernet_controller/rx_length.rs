//! Register: Length of the frame that came

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Length of the frame that came
///
/// In bytes; 0 if there is none. Reading it makes RXDATA begin at the frame's first word.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct RxLength(u32);

unsafe impl Send for RxLength {}
unsafe impl Sync for RxLength {}

impl core::default::Default for RxLength {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for RxLength {
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

impl RxLength {
    pub const BYTES_OFFSET: usize = 0;
    pub const BYTES_WIDTH: usize = 11;
    pub const BYTES_MASK: u32 = 0x7FF;

    /// bytes
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn bytes(&self) -> u16 {
        let val = (self.0 >> Self::BYTES_OFFSET) & Self::BYTES_MASK;
        val as u16
    }
}

impl core::fmt::Debug for RxLength {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RxLength")
            .field("bytes", &self.bytes())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = RxLength::default();
        assert_eq!(reg.bytes(), 0);
    }
}
