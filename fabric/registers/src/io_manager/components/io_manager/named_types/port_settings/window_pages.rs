//! Register: Window's pages

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Window's pages
///
/// How many pages the VM's memory has. 0: the port reaches no memory.
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
    pub const COUNT_OFFSET: usize = 0;
    pub const COUNT_WIDTH: usize = 21;
    pub const COUNT_MASK: u32 = 0x1F_FFFF;

    /// count
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn count(&self) -> u32 {
        let val = (self.0 >> Self::COUNT_OFFSET) & Self::COUNT_MASK;
        val
    }

    /// count
    #[inline(always)]
    pub fn set_count(&mut self, val: u32) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::COUNT_MASK << Self::COUNT_OFFSET))
            | ((val & Self::COUNT_MASK) << Self::COUNT_OFFSET);
    }
}

impl core::fmt::Debug for WindowPages {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("WindowPages")
            .field("count", &self.count())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = WindowPages::default();
        assert_eq!(reg.count(), 0);
    }
}
