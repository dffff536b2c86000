//! Register: Run

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Run
///
/// Writing it makes a schedule of START, PERIOD and RUNS; STATUS has the answer.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Run(u32);

unsafe impl Send for Run {}
unsafe impl Sync for Run {}

impl core::default::Default for Run {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Run {
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

impl Run {
    pub const ENTRY_OFFSET: usize = 0;
    pub const ENTRY_WIDTH: usize = 6;
    pub const ENTRY_MASK: u32 = 0x3F;

    /// entry
    ///
    /// The word of the program that a run begins with.
    #[inline(always)]
    pub fn set_entry(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::ENTRY_MASK << Self::ENTRY_OFFSET))
            | ((val & Self::ENTRY_MASK) << Self::ENTRY_OFFSET);
    }
}

impl core::fmt::Debug for Run {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Run").finish()
    }
}
