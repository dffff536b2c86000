//! Register: Identification

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Identification
///
/// Says that this page is here, and which version of its registers.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Id(u32);

unsafe impl Send for Id {}
unsafe impl Sync for Id {}

impl core::default::Default for Id {
    fn default() -> Self {
        Self(0x5241_0001)
    }
}

impl peakrdl_rust::reg::Register for Id {
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

impl Id {
    pub const VERSION_OFFSET: usize = 0;
    pub const VERSION_WIDTH: usize = 16;
    pub const VERSION_MASK: u32 = 0xFFFF;

    /// version
    ///
    /// Goes up with each change that software can see.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn version(&self) -> u16 {
        let val = (self.0 >> Self::VERSION_OFFSET) & Self::VERSION_MASK;
        val as u16
    }

    pub const KIND_OFFSET: usize = 16;
    pub const KIND_WIDTH: usize = 16;
    pub const KIND_MASK: u32 = 0xFFFF;

    /// kind
    ///
    /// `RA`, for region allocator.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn kind(&self) -> u16 {
        let val = (self.0 >> Self::KIND_OFFSET) & Self::KIND_MASK;
        val as u16
    }
}

impl core::fmt::Debug for Id {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Id")
            .field("version", &self.version())
            .field("kind", &self.kind())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Id::default();
        assert_eq!(reg.version(), 1);
        assert_eq!(reg.kind(), 21057);
    }
}
