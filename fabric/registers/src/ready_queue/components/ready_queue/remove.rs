//! Register: Remove

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Remove
///
/// Writing removes a handle wherever it is. It has to be written as a whole, or nothing happens and the
/// write is an error.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Remove(u32);

unsafe impl Send for Remove {}
unsafe impl Sync for Remove {}

impl core::default::Default for Remove {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Remove {
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

impl Remove {
    pub const HANDLE_OFFSET: usize = 0;
    pub const HANDLE_WIDTH: usize = 16;
    pub const HANDLE_MASK: u32 = 0xFFFF;

    /// handle
    ///
    /// The handle.
    #[inline(always)]
    pub fn set_handle(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::HANDLE_MASK << Self::HANDLE_OFFSET))
            | ((val & Self::HANDLE_MASK) << Self::HANDLE_OFFSET);
    }
}

impl core::fmt::Debug for Remove {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Remove").finish()
    }
}
