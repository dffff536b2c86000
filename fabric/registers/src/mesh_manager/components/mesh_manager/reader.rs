//! Register: Reader

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Reader
///
/// Which port reads what comes to the UART.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Reader(u32);

unsafe impl Send for Reader {}
unsafe impl Sync for Reader {}

impl core::default::Default for Reader {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Reader {
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

impl Reader {
    pub const PORT_OFFSET: usize = 0;
    pub const PORT_WIDTH: usize = 6;
    pub const PORT_MASK: u32 = 0x3F;

    /// port
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn port(&self) -> u8 {
        let val = (self.0 >> Self::PORT_OFFSET) & Self::PORT_MASK;
        val as u8
    }

    /// port
    #[inline(always)]
    pub fn set_port(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PORT_MASK << Self::PORT_OFFSET))
            | ((val & Self::PORT_MASK) << Self::PORT_OFFSET);
    }
}

impl core::fmt::Debug for Reader {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reader")
            .field("port", &self.port())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Reader::default();
        assert_eq!(reg.port(), 0);
    }
}
