//! Register: Request

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Request
///
/// Writing it, as a whole word, queues a request of it, ADDRESS and DATA. Without room it is refused: STATUS counts it,
/// and nothing else changes.
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

impl Request {
    pub const LENGTH_OFFSET: usize = 0;
    pub const LENGTH_WIDTH: usize = 11;
    pub const LENGTH_MASK: u32 = 0x7FF;

    /// length
    ///
    /// Bytes to be moved, at most 1,536.
    #[inline(always)]
    pub fn set_length(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::LENGTH_MASK << Self::LENGTH_OFFSET))
            | ((val & Self::LENGTH_MASK) << Self::LENGTH_OFFSET);
    }

    pub const TAG_OFFSET: usize = 11;
    pub const TAG_WIDTH: usize = 2;
    pub const TAG_MASK: u32 = 0x3;

    /// tag
    ///
    /// Comes back with the response.
    #[inline(always)]
    pub fn set_tag(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::TAG_MASK << Self::TAG_OFFSET))
            | ((val & Self::TAG_MASK) << Self::TAG_OFFSET);
    }

    pub const MEMORY_OFFSET: usize = 13;
    pub const MEMORY_WIDTH: usize = 1;
    pub const MEMORY_MASK: u32 = 0x1;

    /// memory
    ///
    /// Data are in the VM's memory, and not in BUFFER.
    #[inline(always)]
    pub fn set_memory(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::MEMORY_MASK << Self::MEMORY_OFFSET))
            | ((val & Self::MEMORY_MASK) << Self::MEMORY_OFFSET);
    }

    pub const QUIET_OFFSET: usize = 14;
    pub const QUIET_WIDTH: usize = 1;
    pub const QUIET_MASK: u32 = 0x1;

    /// quiet
    ///
    /// A response only if its status is not 0.
    #[inline(always)]
    pub fn set_quiet(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::QUIET_MASK << Self::QUIET_OFFSET))
            | ((val & Self::QUIET_MASK) << Self::QUIET_OFFSET);
    }

    pub const OP_OFFSET: usize = 15;
    pub const OP_WIDTH: usize = 2;
    pub const OP_MASK: u32 = 0x3;

    /// op
    ///
    /// 0 read; 1 write; 2 control; 3 is malformed.
    #[inline(always)]
    pub fn set_op(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::OP_MASK << Self::OP_OFFSET))
            | ((val & Self::OP_MASK) << Self::OP_OFFSET);
    }

    pub const DEVICE_OFFSET: usize = 17;
    pub const DEVICE_WIDTH: usize = 3;
    pub const DEVICE_MASK: u32 = 0x7;

    /// device
    ///
    /// 1 UART; 2 flash; 3 VGA; 4 Ethernet.
    #[inline(always)]
    pub fn set_device(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::DEVICE_MASK << Self::DEVICE_OFFSET))
            | ((val & Self::DEVICE_MASK) << Self::DEVICE_OFFSET);
    }
}

impl core::fmt::Debug for Request {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Request").finish()
    }
}
