//! Register: Window's base

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Window's base
///
/// The first page of 4 KiB of the VM's memory.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct WindowBase(u32);

unsafe impl Send for WindowBase {}
unsafe impl Sync for WindowBase {}

impl core::default::Default for WindowBase {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for WindowBase {
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

impl WindowBase {
    pub const PAGE_OFFSET: usize = 0;
    pub const PAGE_WIDTH: usize = 20;
    pub const PAGE_MASK: u32 = 0xF_FFFF;

    /// page
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn page(&self) -> u32 {
        let val = (self.0 >> Self::PAGE_OFFSET) & Self::PAGE_MASK;
        val
    }

    /// page
    #[inline(always)]
    pub fn set_page(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PAGE_MASK << Self::PAGE_OFFSET))
            | ((val & Self::PAGE_MASK) << Self::PAGE_OFFSET);
    }
}

impl core::fmt::Debug for WindowBase {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("WindowBase")
            .field("page", &self.page())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = WindowBase::default();
        assert_eq!(reg.page(), 0);
    }
}
