//! Register: Response

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Response
///
/// The oldest response, which a read takes away. All zeros if there is none.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Response(u32);

unsafe impl Send for Response {}
unsafe impl Sync for Response {}

impl core::default::Default for Response {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Response {
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

impl Response {
    pub const LENGTH_OFFSET: usize = 0;
    pub const LENGTH_WIDTH: usize = 11;
    pub const LENGTH_MASK: u32 = 0x7FF;

    /// length
    ///
    /// Bytes that came back.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn length(&self) -> u16 {
        let val = (self.0 >> Self::LENGTH_OFFSET) & Self::LENGTH_MASK;
        val as u16
    }

    pub const TAG_OFFSET: usize = 11;
    pub const TAG_WIDTH: usize = 2;
    pub const TAG_MASK: u32 = 0x3;

    /// tag
    ///
    /// The request's.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn tag(&self) -> u8 {
        let val = (self.0 >> Self::TAG_OFFSET) & Self::TAG_MASK;
        val as u8
    }

    pub const STATUS_OFFSET: usize = 13;
    pub const STATUS_WIDTH: usize = 4;
    pub const STATUS_MASK: u32 = 0xF;

    /// status
    ///
    /// How it ended: 0 as asked; io-hypervisor.md has the others.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn status(&self) -> u8 {
        let val = (self.0 >> Self::STATUS_OFFSET) & Self::STATUS_MASK;
        val as u8
    }

    pub const DEVICE_OFFSET: usize = 17;
    pub const DEVICE_WIDTH: usize = 3;
    pub const DEVICE_MASK: u32 = 0x7;

    /// device
    ///
    /// The request's.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn device(&self) -> u8 {
        let val = (self.0 >> Self::DEVICE_OFFSET) & Self::DEVICE_MASK;
        val as u8
    }

    pub const VALID_OFFSET: usize = 31;
    pub const VALID_WIDTH: usize = 1;
    pub const VALID_MASK: u32 = 0x1;

    /// valid
    ///
    /// There was one.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn valid(&self) -> bool {
        let val = (self.0 >> Self::VALID_OFFSET) & Self::VALID_MASK;
        val != 0
    }
}

impl core::fmt::Debug for Response {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Response")
            .field("length", &self.length())
            .field("tag", &self.tag())
            .field("status", &self.status())
            .field("device", &self.device())
            .field("valid", &self.valid())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Response::default();
        assert_eq!(reg.length(), 0);
        assert_eq!(reg.tag(), 0);
        assert_eq!(reg.status(), 0);
        assert_eq!(reg.device(), 0);
        assert_eq!(reg.valid(), false);
    }
}
