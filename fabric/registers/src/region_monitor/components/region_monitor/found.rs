//! Register: Found

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Found
///
/// The first of those that wait for which there is a region now. It is looked for again whenever a region or
/// the list changes.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Found(u32);

unsafe impl Send for Found {}
unsafe impl Sync for Found {}

impl core::default::Default for Found {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Found {
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

impl Found {
    pub const METHOD_OFFSET: usize = 0;
    pub const METHOD_WIDTH: usize = 2;
    pub const METHOD_MASK: u32 = 0x3;

    /// method
    ///
    /// As in SOLUTION; 0: none found yet.
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
    /// As in SOLUTION.
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
    /// As in SOLUTION.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn region_number(&self) -> u8 {
        let val = (self.0 >> Self::REGION_NUMBER_OFFSET) & Self::REGION_NUMBER_MASK;
        val as u8
    }

    pub const CLIENT_OFFSET: usize = 8;
    pub const CLIENT_WIDTH: usize = 4;
    pub const CLIENT_MASK: u32 = 0xF;

    /// client
    ///
    /// The interface that asked.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn client(&self) -> u8 {
        let val = (self.0 >> Self::CLIENT_OFFSET) & Self::CLIENT_MASK;
        val as u8
    }

    pub const TASK_NUMBER_OFFSET: usize = 12;
    pub const TASK_NUMBER_WIDTH: usize = 3;
    pub const TASK_NUMBER_MASK: u32 = 0x7;

    /// task_number
    ///
    /// The task that it asked for.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn task_number(&self) -> u8 {
        let val = (self.0 >> Self::TASK_NUMBER_OFFSET) & Self::TASK_NUMBER_MASK;
        val as u8
    }

    pub const WAITING_OFFSET: usize = 16;
    pub const WAITING_WIDTH: usize = 5;
    pub const WAITING_MASK: u32 = 0x1F;

    /// waiting
    ///
    /// How many wait, this one among them.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn waiting(&self) -> u8 {
        let val = (self.0 >> Self::WAITING_OFFSET) & Self::WAITING_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Found {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Found")
            .field("method", &self.method())
            .field("reconfigure", &self.reconfigure())
            .field("region_number", &self.region_number())
            .field("client", &self.client())
            .field("task_number", &self.task_number())
            .field("waiting", &self.waiting())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Found::default();
        assert_eq!(reg.method(), 0);
        assert_eq!(reg.reconfigure(), false);
        assert_eq!(reg.region_number(), 0);
        assert_eq!(reg.client(), 0);
        assert_eq!(reg.task_number(), 0);
        assert_eq!(reg.waiting(), 0);
    }
}
