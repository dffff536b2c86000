//! Register: Client

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Client
///
/// For the next `connect`.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Client(u32);

unsafe impl Send for Client {}
unsafe impl Sync for Client {}

impl core::default::Default for Client {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Client {
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

impl Client {
    pub const INTERFACE_NUMBER_OFFSET: usize = 0;
    pub const INTERFACE_NUMBER_WIDTH: usize = 4;
    pub const INTERFACE_NUMBER_MASK: u32 = 0xF;

    /// interface_number
    ///
    /// The number of the interface.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn interface_number(&self) -> u8 {
        let val = (self.0 >> Self::INTERFACE_NUMBER_OFFSET) & Self::INTERFACE_NUMBER_MASK;
        val as u8
    }

    /// interface_number
    ///
    /// The number of the interface.
    #[inline(always)]
    pub fn set_interface_number(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::INTERFACE_NUMBER_MASK << Self::INTERFACE_NUMBER_OFFSET))
            | ((val & Self::INTERFACE_NUMBER_MASK) << Self::INTERFACE_NUMBER_OFFSET);
    }

    pub const PRIO_OFFSET: usize = 24;
    pub const PRIO_WIDTH: usize = 8;
    pub const PRIO_MASK: u32 = 0xFF;

    /// prio
    ///
    /// The priority of its VM.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn prio(&self) -> u8 {
        let val = (self.0 >> Self::PRIO_OFFSET) & Self::PRIO_MASK;
        val as u8
    }

    /// prio
    ///
    /// The priority of its VM.
    #[inline(always)]
    pub fn set_prio(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PRIO_MASK << Self::PRIO_OFFSET))
            | ((val & Self::PRIO_MASK) << Self::PRIO_OFFSET);
    }
}

impl core::fmt::Debug for Client {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Client")
            .field("interface_number", &self.interface_number())
            .field("prio", &self.prio())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Client::default();
        assert_eq!(reg.interface_number(), 0);
        assert_eq!(reg.prio(), 0);
    }
}
