//! Register: Reset

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Reset
///
/// Writing a one ends what the VM has asked for: requests that have not begun are gone, and so are responses; the
/// request under way has none, and what it reads is not stored in the VM's memory any more. Where timed I/O
/// has its CANCEL: a hypervisor writes the same to both when their VM has ended.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Reset(u32);

unsafe impl Send for Reset {}
unsafe impl Sync for Reset {}

impl core::default::Default for Reset {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Reset {
    type Regwidth = u32;
    type Accesswidth = u32;
    type Access = peakrdl_rust::access::W;
    type ByteEndian = peakrdl_rust::endian::LittleEndian;
    type WordEndian = peakrdl_rust::endian::LittleEndian;

    unsafe fn from_raw(val: Self::Regwidth) -> Self {
        Self(val)
    }

    fn to_raw(self) -> Self::Regwidth {
        self.0
    }
}

impl Reset {
    pub const NOW_OFFSET: usize = 0;
    pub const NOW_WIDTH: usize = 1;
    pub const NOW_MASK: u32 = 0x1;

    /// now
    #[inline(always)]
    pub fn set_now(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::NOW_MASK << Self::NOW_OFFSET))
            | ((val & Self::NOW_MASK) << Self::NOW_OFFSET);
    }
}

impl core::fmt::Debug for Reset {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reset").finish()
    }
}
