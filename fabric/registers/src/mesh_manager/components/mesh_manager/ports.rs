//! Register: Ports

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Ports
///
/// How many there are: one for each place that may ask.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Ports(u32);

unsafe impl Send for Ports {}
unsafe impl Sync for Ports {}

impl core::default::Default for Ports {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Ports {
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

impl Ports {
    pub const COUNT_OFFSET: usize = 0;
    pub const COUNT_WIDTH: usize = 8;
    pub const COUNT_MASK: u32 = 0xFF;

    /// count
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn count(&self) -> u8 {
        let val = (self.0 >> Self::COUNT_OFFSET) & Self::COUNT_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Ports {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ports")
            .field("count", &self.count())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Ports::default();
        assert_eq!(reg.count(), 0);
    }
}
