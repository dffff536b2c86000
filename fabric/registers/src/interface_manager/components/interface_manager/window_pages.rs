//! Register: Window size

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Window size
///
/// How many pages of 4 KiB the VM's memory has, at most 2^20. With none, as after reset, a task reaches nothing.
/// Stays as it is while a region is connected.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct WindowPages(u32);

unsafe impl Send for WindowPages {}
unsafe impl Sync for WindowPages {}

impl core::default::Default for WindowPages {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for WindowPages {
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

impl WindowPages {
    pub const PAGES_OFFSET: usize = 0;
    pub const PAGES_WIDTH: usize = 21;
    pub const PAGES_MASK: u32 = 0x1F_FFFF;

    /// pages
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn pages(&self) -> u32 {
        let val = (self.0 >> Self::PAGES_OFFSET) & Self::PAGES_MASK;
        val
    }

    /// pages
    #[inline(always)]
    pub fn set_pages(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PAGES_MASK << Self::PAGES_OFFSET))
            | ((val & Self::PAGES_MASK) << Self::PAGES_OFFSET);
    }
}

impl core::fmt::Debug for WindowPages {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("WindowPages")
            .field("pages", &self.pages())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = WindowPages::default();
        assert_eq!(reg.pages(), 0);
    }
}
