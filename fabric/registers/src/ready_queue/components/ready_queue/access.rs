//! Register: Access

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Access
///
/// Where the doubleword in memory is, and what is done with it. Each write of the lowest byte begins
/// again, also after an error. Written while a read or write of memory is under way, it counts from when that is over.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Access(u32);

unsafe impl Send for Access {}
unsafe impl Sync for Access {}

impl core::default::Default for Access {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Access {
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

impl Access {
    pub const SCHEME_OFFSET: usize = 0;
    pub const SCHEME_WIDTH: usize = 2;
    pub const SCHEME_MASK: u32 = 0x3;

    /// scheme
    ///
    /// 0: GP, memory is left alone. 1: hybrid. 2: ACP, commands are fetched at events. 3: ACP polling.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn scheme(&self) -> u8 {
        let val = (self.0 >> Self::SCHEME_OFFSET) & Self::SCHEME_MASK;
        val as u8
    }

    /// scheme
    ///
    /// 0: GP, memory is left alone. 1: hybrid. 2: ACP, commands are fetched at events. 3: ACP polling.
    #[inline(always)]
    pub fn set_scheme(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::SCHEME_MASK << Self::SCHEME_OFFSET))
            | ((val & Self::SCHEME_MASK) << Self::SCHEME_OFFSET);
    }

    pub const ADDRESS_OFFSET: usize = 3;
    pub const ADDRESS_WIDTH: usize = 29;
    pub const ADDRESS_MASK: u32 = 0x1FFF_FFFF;

    /// address
    ///
    /// Bits 31 to 3 of the doubleword's address.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn address(&self) -> u32 {
        let val = (self.0 >> Self::ADDRESS_OFFSET) & Self::ADDRESS_MASK;
        val
    }

    /// address
    ///
    /// Bits 31 to 3 of the doubleword's address.
    #[inline(always)]
    pub fn set_address(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ADDRESS_MASK << Self::ADDRESS_OFFSET))
            | ((val & Self::ADDRESS_MASK) << Self::ADDRESS_OFFSET);
    }
}

impl core::fmt::Debug for Access {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Access")
            .field("scheme", &self.scheme())
            .field("address", &self.address())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Access::default();
        assert_eq!(reg.scheme(), 0);
        assert_eq!(reg.address(), 0);
    }
}
