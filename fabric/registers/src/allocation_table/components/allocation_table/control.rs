//! Register: Control

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Control
///
/// Whether the allocator acts, and for which tasks it does not.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Control(u32);

unsafe impl Send for Control {}
unsafe impl Sync for Control {}

impl core::default::Default for Control {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Control {
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

impl Control {
    pub const ENABLE_OFFSET: usize = 0;
    pub const ENABLE_WIDTH: usize = 1;
    pub const ENABLE_MASK: u32 = 0x1;

    /// enable
    ///
    /// It acts. While 0, each request is answered with `manager`.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn enable(&self) -> bool {
        let val = (self.0 >> Self::ENABLE_OFFSET) & Self::ENABLE_MASK;
        val != 0
    }

    /// enable
    ///
    /// It acts. While 0, each request is answered with `manager`.
    #[inline(always)]
    pub fn set_enable(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ENABLE_MASK << Self::ENABLE_OFFSET))
            | ((val & Self::ENABLE_MASK) << Self::ENABLE_OFFSET);
    }

    pub const ROUTINES_OFFSET: usize = 1;
    pub const ROUTINES_WIDTH: usize = 7;
    pub const ROUTINES_MASK: u32 = 0x7F;

    /// routines
    ///
    /// Tasks whose context is saved or restored by a routine of the manager, a bit each from task 1 on: the
    /// allocator neither preempts nor resumes them.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn routines(&self) -> u8 {
        let val = (self.0 >> Self::ROUTINES_OFFSET) & Self::ROUTINES_MASK;
        val as u8
    }

    /// routines
    ///
    /// Tasks whose context is saved or restored by a routine of the manager, a bit each from task 1 on: the
    /// allocator neither preempts nor resumes them.
    #[inline(always)]
    pub fn set_routines(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ROUTINES_MASK << Self::ROUTINES_OFFSET))
            | ((val & Self::ROUTINES_MASK) << Self::ROUTINES_OFFSET);
    }
}

impl core::fmt::Debug for Control {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Control")
            .field("enable", &self.enable())
            .field("routines", &self.routines())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Control::default();
        assert_eq!(reg.enable(), false);
        assert_eq!(reg.routines(), 0);
    }
}
