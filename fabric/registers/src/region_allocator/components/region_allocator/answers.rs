//! Register: Answers

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Answers
///
/// Where answers are written: a doubleword for each interface, in the line of 64 bytes at this address. Written
/// from the lower word; changes as a whole with the upper one.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Answers(u64);

unsafe impl Send for Answers {}
unsafe impl Sync for Answers {}

impl core::default::Default for Answers {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Answers {
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

impl Answers {
    pub const ON_OFFSET: usize = 0;
    pub const ON_WIDTH: usize = 1;
    pub const ON_MASK: u64 = 0x1;

    /// on
    ///
    /// Requests are taken, and answers written.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn on(&self) -> bool {
        let val = (self.0 >> Self::ON_OFFSET) & Self::ON_MASK;
        val != 0
    }

    /// on
    ///
    /// Requests are taken, and answers written.
    #[inline(always)]
    pub fn set_on(&mut self, val: bool) {
        let val = val as u64;
        self.0 = (self.0 & !(Self::ON_MASK << Self::ON_OFFSET))
            | ((val & Self::ON_MASK) << Self::ON_OFFSET);
    }

    pub const ADDR_OFFSET: usize = 6;
    pub const ADDR_WIDTH: usize = 34;
    pub const ADDR_MASK: u64 = 0x3_FFFF_FFFF;

    /// addr
    ///
    /// The address.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn addr(&self) -> u64 {
        let val = (self.0 >> Self::ADDR_OFFSET) & Self::ADDR_MASK;
        val
    }

    /// addr
    ///
    /// The address.
    #[inline(always)]
    pub fn set_addr(&mut self, val: u64) {
        let val = val as u64;
        self.0 = (self.0 & !(Self::ADDR_MASK << Self::ADDR_OFFSET))
            | ((val & Self::ADDR_MASK) << Self::ADDR_OFFSET);
    }
}

impl core::fmt::Debug for Answers {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Answers")
            .field("on", &self.on())
            .field("addr", &self.addr())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Answers::default();
        assert_eq!(reg.on(), false);
        assert_eq!(reg.addr(), 0);
    }
}
