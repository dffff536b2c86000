//! Register: Transfer

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Transfer
///
/// Writing it begins a transfer: the part is selected, bytes are sent, others received. The write waits until the transfer before
/// is over. What of RXDATA was not read is thrown away, and so is the rest of a word of which the last byte was sent.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Transfer(u32);

unsafe impl Send for Transfer {}
unsafe impl Sync for Transfer {}

impl core::default::Default for Transfer {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Transfer {
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

impl Transfer {
    pub const SEND_BYTES_OFFSET: usize = 0;
    pub const SEND_BYTES_WIDTH: usize = 10;
    pub const SEND_BYTES_MASK: u32 = 0x3FF;

    /// send_bytes
    ///
    /// How many bytes of TXDATA are sent, 0 to 512.
    #[inline(always)]
    pub fn set_send_bytes(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::SEND_BYTES_MASK << Self::SEND_BYTES_OFFSET))
            | ((val & Self::SEND_BYTES_MASK) << Self::SEND_BYTES_OFFSET);
    }

    pub const DUMMY_CLOCKS_OFFSET: usize = 10;
    pub const DUMMY_CLOCKS_WIDTH: usize = 4;
    pub const DUMMY_CLOCKS_MASK: u32 = 0xF;

    /// dummy_clocks
    ///
    /// Clocks between those and what is received, in which no line is driven, 0 to 15.
    #[inline(always)]
    pub fn set_dummy_clocks(&mut self, val: u8) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::DUMMY_CLOCKS_MASK << Self::DUMMY_CLOCKS_OFFSET))
            | ((val & Self::DUMMY_CLOCKS_MASK) << Self::DUMMY_CLOCKS_OFFSET);
    }

    pub const RECEIVE_BYTES_OFFSET: usize = 16;
    pub const RECEIVE_BYTES_WIDTH: usize = 10;
    pub const RECEIVE_BYTES_MASK: u32 = 0x3FF;

    /// receive_bytes
    ///
    /// How many are received behind them, 0 to 512.
    #[inline(always)]
    pub fn set_receive_bytes(&mut self, val: u16) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::RECEIVE_BYTES_MASK << Self::RECEIVE_BYTES_OFFSET))
            | ((val & Self::RECEIVE_BYTES_MASK) << Self::RECEIVE_BYTES_OFFSET);
    }

    pub const QUAD_OFFSET: usize = 30;
    pub const QUAD_WIDTH: usize = 1;
    pub const QUAD_MASK: u32 = 0x1;

    /// quad
    ///
    /// On four lines, two clocks a byte: each half's highest bit on line 3, the upper half first.
    #[inline(always)]
    pub fn set_quad(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::QUAD_MASK << Self::QUAD_OFFSET))
            | ((val & Self::QUAD_MASK) << Self::QUAD_OFFSET);
    }

    pub const KEEP_OFFSET: usize = 31;
    pub const KEEP_WIDTH: usize = 1;
    pub const KEEP_MASK: u32 = 0x1;

    /// keep
    ///
    /// The part stays selected behind it, for the next transfer to go on.
    #[inline(always)]
    pub fn set_keep(&mut self, val: bool) {
        let val = val as u32;
        self.0 = (self.0 & !(Self::KEEP_MASK << Self::KEEP_OFFSET))
            | ((val & Self::KEEP_MASK) << Self::KEEP_OFFSET);
    }
}

impl core::fmt::Debug for Transfer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Transfer").finish()
    }
}
