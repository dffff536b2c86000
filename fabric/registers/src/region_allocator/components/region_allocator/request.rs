//! Register: Request

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Request
///
/// Writing it asks for a region for an interface. Ignored for an interface that does not exist, and while ANSWERS
/// is off. Writes to the page are stalled for a few cycles, until the search is over.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Request(u32);

unsafe impl Send for Request {}
unsafe impl Sync for Request {}

impl core::default::Default for Request {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Request {
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

impl Request {
    pub const CLIENT_OFFSET: usize = 0;
    pub const CLIENT_WIDTH: usize = 4;
    pub const CLIENT_MASK: u32 = 0xF;

    /// client
    ///
    /// The number of the interface.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn client(&self) -> u8 {
        let val = (self.0 >> Self::CLIENT_OFFSET) & Self::CLIENT_MASK;
        val as u8
    }

    /// client
    ///
    /// The number of the interface.
    #[inline(always)]
    pub fn set_client(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::CLIENT_MASK << Self::CLIENT_OFFSET))
            | ((val & Self::CLIENT_MASK) << Self::CLIENT_OFFSET);
    }

    pub const GO_OFFSET: usize = 7;
    pub const GO_WIDTH: usize = 1;
    pub const GO_MASK: u32 = 0x1;

    /// go
    ///
    /// Ask.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn go(&self) -> bool {
        let val = (self.0 >> Self::GO_OFFSET) & Self::GO_MASK;
        val != 0
    }

    /// go
    ///
    /// Ask.
    #[inline(always)]
    pub fn set_go(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::GO_MASK << Self::GO_OFFSET))
            | ((val & Self::GO_MASK) << Self::GO_OFFSET);
    }

    pub const TASK_NUMBER_OFFSET: usize = 8;
    pub const TASK_NUMBER_WIDTH: usize = 3;
    pub const TASK_NUMBER_MASK: u32 = 0x7;

    /// task_number
    ///
    /// The number of the task; 1 to 7.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn task_number(&self) -> u8 {
        let val = (self.0 >> Self::TASK_NUMBER_OFFSET) & Self::TASK_NUMBER_MASK;
        val as u8
    }

    /// task_number
    ///
    /// The number of the task; 1 to 7.
    #[inline(always)]
    pub fn set_task_number(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::TASK_NUMBER_MASK << Self::TASK_NUMBER_OFFSET))
            | ((val & Self::TASK_NUMBER_MASK) << Self::TASK_NUMBER_OFFSET);
    }

    pub const TAG_OFFSET: usize = 16;
    pub const TAG_WIDTH: usize = 8;
    pub const TAG_MASK: u32 = 0xFF;

    /// tag
    ///
    /// Comes back with each answer to the request.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn tag(&self) -> u8 {
        let val = (self.0 >> Self::TAG_OFFSET) & Self::TAG_MASK;
        val as u8
    }

    /// tag
    ///
    /// Comes back with each answer to the request.
    #[inline(always)]
    pub fn set_tag(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::TAG_MASK << Self::TAG_OFFSET))
            | ((val & Self::TAG_MASK) << Self::TAG_OFFSET);
    }

    pub const PRIO_OFFSET: usize = 24;
    pub const PRIO_WIDTH: usize = 8;
    pub const PRIO_MASK: u32 = 0xFF;

    /// prio
    ///
    /// The priority of the VM.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn prio(&self) -> u8 {
        let val = (self.0 >> Self::PRIO_OFFSET) & Self::PRIO_MASK;
        val as u8
    }

    /// prio
    ///
    /// The priority of the VM.
    #[inline(always)]
    pub fn set_prio(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::PRIO_MASK << Self::PRIO_OFFSET))
            | ((val & Self::PRIO_MASK) << Self::PRIO_OFFSET);
    }
}

impl core::fmt::Debug for Request {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Request")
            .field("client", &self.client())
            .field("go", &self.go())
            .field("task_number", &self.task_number())
            .field("tag", &self.tag())
            .field("prio", &self.prio())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Request::default();
        assert_eq!(reg.client(), 0);
        assert_eq!(reg.go(), false);
        assert_eq!(reg.task_number(), 0);
        assert_eq!(reg.tag(), 0);
        assert_eq!(reg.prio(), 0);
    }
}
