//! Register: Solution

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Solution
///
/// What there is for the last request.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Solution(u32);

unsafe impl Send for Solution {}
unsafe impl Sync for Solution {}

impl core::default::Default for Solution {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Solution {
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

impl Solution {
    pub const METHOD_OFFSET: usize = 0;
    pub const METHOD_WIDTH: usize = 2;
    pub const METHOD_MASK: u32 = 0x3;

    /// method
    ///
    /// 0 unavailable, 1 assign, 2 preempt, 3 unavailable and there is no room to wait.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn method(&self) -> u8 {
        let val = (self.0 >> Self::METHOD_OFFSET) & Self::METHOD_MASK;
        val as u8
    }

    pub const RECONFIGURE_OFFSET: usize = 2;
    pub const RECONFIGURE_WIDTH: usize = 1;
    pub const RECONFIGURE_MASK: u32 = 0x1;

    /// reconfigure
    ///
    /// The region has to be configured with the task.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn reconfigure(&self) -> bool {
        let val = (self.0 >> Self::RECONFIGURE_OFFSET) & Self::RECONFIGURE_MASK;
        val != 0
    }

    pub const REGION_NUMBER_OFFSET: usize = 4;
    pub const REGION_NUMBER_WIDTH: usize = 4;
    pub const REGION_NUMBER_MASK: u32 = 0xF;

    /// region_number
    ///
    /// The region.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn region_number(&self) -> u8 {
        let val = (self.0 >> Self::REGION_NUMBER_OFFSET) & Self::REGION_NUMBER_MASK;
        val as u8
    }

    pub const KNOWN_OFFSET: usize = 8;
    pub const KNOWN_WIDTH: usize = 1;
    pub const KNOWN_MASK: u32 = 0x1;

    /// known
    ///
    /// It is that of the last request; 0 for some cycles after that was written.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn known(&self) -> bool {
        let val = (self.0 >> Self::KNOWN_OFFSET) & Self::KNOWN_MASK;
        val != 0
    }
}

impl core::fmt::Debug for Solution {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Solution")
            .field("method", &self.method())
            .field("reconfigure", &self.reconfigure())
            .field("region_number", &self.region_number())
            .field("known", &self.known())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Solution::default();
        assert_eq!(reg.method(), 0);
        assert_eq!(reg.reconfigure(), false);
        assert_eq!(reg.region_number(), 0);
        assert_eq!(reg.known(), false);
    }
}
