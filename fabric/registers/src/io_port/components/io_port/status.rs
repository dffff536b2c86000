//! Register: Status

#[allow(unused_imports)]
use super::_root; // alias to root module of generated code

/// Status
///
/// How full the queues are.
#[repr(transparent)]
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct Status(u32);

unsafe impl Send for Status {}
unsafe impl Sync for Status {}

impl core::default::Default for Status {
    fn default() -> Self {
        Self(0x0)
    }
}

impl peakrdl_rust::reg::Register for Status {
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

impl Status {
    pub const ROOM_OFFSET: usize = 0;
    pub const ROOM_WIDTH: usize = 3;
    pub const ROOM_MASK: u32 = 0x7;

    /// room
    ///
    /// Requests that there is room for; 0 to 4. One under way takes room.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn room(&self) -> u8 {
        let val = (self.0 >> Self::ROOM_OFFSET) & Self::ROOM_MASK;
        val as u8
    }

    pub const WAITING_OFFSET: usize = 8;
    pub const WAITING_WIDTH: usize = 3;
    pub const WAITING_MASK: u32 = 0x7;

    /// waiting
    ///
    /// Responses that wait to be taken; 0 to 4. While there are 4, no request is begun.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn waiting(&self) -> u8 {
        let val = (self.0 >> Self::WAITING_OFFSET) & Self::WAITING_MASK;
        val as u8
    }

    pub const REFUSED_OFFSET: usize = 16;
    pub const REFUSED_WIDTH: usize = 8;
    pub const REFUSED_MASK: u32 = 0xFF;

    /// refused
    ///
    /// Requests that were written without room for them, and so are not there: since reset or RESET, at most 255.
    #[inline(always)]
    #[allow(clippy::missing_panics_doc)]
    #[must_use]
    pub fn refused(&self) -> u8 {
        let val = (self.0 >> Self::REFUSED_OFFSET) & Self::REFUSED_MASK;
        val as u8
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Status")
            .field("room", &self.room())
            .field("waiting", &self.waiting())
            .field("refused", &self.refused())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_default() {
        let reg = Status::default();
        assert_eq!(reg.room(), 0);
        assert_eq!(reg.waiting(), 0);
        assert_eq!(reg.refused(), 0);
    }
}
