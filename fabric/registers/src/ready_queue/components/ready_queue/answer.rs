//! Register: Answer

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Answer
///
/// The answer to the last command, by page or from memory, as memory gets it; before the first, `empty`.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Answer(u32);

unsafe impl Send for Answer {}
unsafe impl Sync for Answer {}

impl core::default::Default for Answer {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Answer {
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

impl Answer {
    pub const HANDLE_OFFSET: usize = 0;
    pub const HANDLE_WIDTH: usize = 16;
    pub const HANDLE_MASK: u32 = 0xFFFF;

    /// handle
    ///
    /// Where it is done: the handle.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn handle(&self) -> u16 {
        let val = (self.0 >> Self::HANDLE_OFFSET) & Self::HANDLE_MASK;
        val as u16
    }

    pub const PRIO_OFFSET: usize = 16;
    pub const PRIO_WIDTH: usize = 8;
    pub const PRIO_MASK: u32 = 0xFF;

    /// prio
    ///
    /// Where it is done: the handle's priority.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn prio(&self) -> u8 {
        let val = (self.0 >> Self::PRIO_OFFSET) & Self::PRIO_MASK;
        val as u8
    }

    pub const STATUS_OFFSET: usize = 28;
    pub const STATUS_WIDTH: usize = 3;
    pub const STATUS_MASK: u32 = 0x7;

    /// status
    ///
    /// 0 done, 1 empty, 2 queued already, 3 absent, 4 no handle.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn status(&self) -> u8 {
        let val = (self.0 >> Self::STATUS_OFFSET) & Self::STATUS_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Answer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Answer")
            .field("handle", &self.handle())
            .field("prio", &self.prio())
            .field("status", &self.status())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Answer::default();
        assert_eq!(reg.handle(), 0);
        assert_eq!(reg.prio(), 0);
        assert_eq!(reg.status(), 0);
    }
}
