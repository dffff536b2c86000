//! Register: Places

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Places
///
/// Where on the mesh this interface is, and where the I/O hypervisor.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Places(u32);

unsafe impl Send for Places {}
unsafe impl Sync for Places {}

impl core::default::Default for Places {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Places {
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

impl Places {
    pub const X_OFFSET: usize = 0;
    pub const X_WIDTH: usize = 3;
    pub const X_MASK: u32 = 0x7;

    /// x
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn x(&self) -> u8 {
        let val = (self.0 >> Self::X_OFFSET) & Self::X_MASK;
        val as u8
    }

    pub const Y_OFFSET: usize = 3;
    pub const Y_WIDTH: usize = 3;
    pub const Y_MASK: u32 = 0x7;

    /// y
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn y(&self) -> u8 {
        let val = (self.0 >> Self::Y_OFFSET) & Self::Y_MASK;
        val as u8
    }

    pub const IO_X_OFFSET: usize = 8;
    pub const IO_X_WIDTH: usize = 3;
    pub const IO_X_MASK: u32 = 0x7;

    /// io_x
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn io_x(&self) -> u8 {
        let val = (self.0 >> Self::IO_X_OFFSET) & Self::IO_X_MASK;
        val as u8
    }

    pub const IO_Y_OFFSET: usize = 11;
    pub const IO_Y_WIDTH: usize = 3;
    pub const IO_Y_MASK: u32 = 0x7;

    /// io_y
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn io_y(&self) -> u8 {
        let val = (self.0 >> Self::IO_Y_OFFSET) & Self::IO_Y_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Places {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Places")
            .field("x", &self.x())
            .field("y", &self.y())
            .field("io_x", &self.io_x())
            .field("io_y", &self.io_y())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Places::default();
        assert_eq!(reg.x(), 0);
        assert_eq!(reg.y(), 0);
        assert_eq!(reg.io_x(), 0);
        assert_eq!(reg.io_y(), 0);
    }
}
