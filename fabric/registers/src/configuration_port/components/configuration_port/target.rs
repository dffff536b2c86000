//! Register: Target

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Target
///
/// Writing it begins a configuration.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Target(u32);

unsafe impl Send for Target {}
unsafe impl Sync for Target {}

impl core::default::Default for Target {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Target {
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

impl Target {
    pub const REGION_NUMBER_OFFSET: usize = 0;
    pub const REGION_NUMBER_WIDTH: usize = 4;
    pub const REGION_NUMBER_MASK: u32 = 0xF;

    /// region_number
    ///
    /// The number of the region.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn region_number(&self) -> u8 {
        let val = (self.0 >> Self::REGION_NUMBER_OFFSET) & Self::REGION_NUMBER_MASK;
        val as u8
    }

    /// region_number
    ///
    /// The number of the region.
    #[inline(always)]
    pub fn set_region_number(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::REGION_NUMBER_MASK << Self::REGION_NUMBER_OFFSET))
            | ((val & Self::REGION_NUMBER_MASK) << Self::REGION_NUMBER_OFFSET);
    }

    pub const TASK_NUMBER_OFFSET: usize = 8;
    pub const TASK_NUMBER_WIDTH: usize = 8;
    pub const TASK_NUMBER_MASK: u32 = 0xFF;

    /// task_number
    ///
    /// The number of the task that the bitstream has to be of; not 0.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn task_number(&self) -> u8 {
        let val = (self.0 >> Self::TASK_NUMBER_OFFSET) & Self::TASK_NUMBER_MASK;
        val as u8
    }

    /// task_number
    ///
    /// The number of the task that the bitstream has to be of; not 0.
    #[inline(always)]
    pub fn set_task_number(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::TASK_NUMBER_MASK << Self::TASK_NUMBER_OFFSET))
            | ((val & Self::TASK_NUMBER_MASK) << Self::TASK_NUMBER_OFFSET);
    }

    pub const GO_OFFSET: usize = 31;
    pub const GO_WIDTH: usize = 1;
    pub const GO_MASK: u32 = 0x1;

    /// go
    ///
    /// One begins.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn go(&self) -> bool {
        let val = (self.0 >> Self::GO_OFFSET) & Self::GO_MASK;
        val != 0
    }

    /// go
    ///
    /// One begins.
    #[inline(always)]
    pub fn set_go(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::GO_MASK << Self::GO_OFFSET))
            | ((val & Self::GO_MASK) << Self::GO_OFFSET);
    }
}

impl core::fmt::Debug for Target {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Target")
            .field("region_number", &self.region_number())
            .field("task_number", &self.task_number())
            .field("go", &self.go())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Target::default();
        assert_eq!(reg.region_number(), 0);
        assert_eq!(reg.task_number(), 0);
        assert_eq!(reg.go(), false);
    }
}
