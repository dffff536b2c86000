//! Register: Withdraw

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Withdraw
///
/// Takes a request off the list: one that was found and is being served, or one that is not wanted any more.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Withdraw(u32);

unsafe impl Send for Withdraw {}
unsafe impl Sync for Withdraw {}

impl core::default::Default for Withdraw {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Withdraw {
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

impl Withdraw {
    pub const CLIENT_OFFSET: usize = 0;
    pub const CLIENT_WIDTH: usize = 4;
    pub const CLIENT_MASK: u32 = 0xF;

    /// client
    ///
    /// The number of the interface.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn client(&self) -> u8 {
        let val = (self.0 >> Self::CLIENT_OFFSET) & Self::CLIENT_MASK;
        val as u8
    }

    /// client
    ///
    /// The number of the interface.
    #[inline(always)]
    pub fn set_client(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::CLIENT_MASK << Self::CLIENT_OFFSET))
            | ((val & Self::CLIENT_MASK) << Self::CLIENT_OFFSET);
    }

    pub const GO_OFFSET: usize = 16;
    pub const GO_WIDTH: usize = 1;
    pub const GO_MASK: u32 = 0x1;

    /// go
    ///
    /// Do so.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn go(&self) -> bool {
        let val = (self.0 >> Self::GO_OFFSET) & Self::GO_MASK;
        val != 0
    }

    /// go
    ///
    /// Do so.
    #[inline(always)]
    pub fn set_go(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::GO_MASK << Self::GO_OFFSET))
            | ((val & Self::GO_MASK) << Self::GO_OFFSET);
    }
}

impl core::fmt::Debug for Withdraw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Withdraw")
            .field("client", &self.client())
            .field("go", &self.go())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Withdraw::default();
        assert_eq!(reg.client(), 0);
        assert_eq!(reg.go(), false);
    }
}
