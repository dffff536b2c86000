//! Memory as a device reaches it when it masters the bus.

use crate::bus::Refused;
use crate::memory::Memory;
use crate::time::Femtoseconds;

/// How long a device's accesses to memory took, beyond what the device takes itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Moving data: a device that moves it while it works on the request waits only where this is longer.
    pub transfers: Femtoseconds,
    /// Finding out where it is to go: the device waits.
    pub translations: Femtoseconds,
}

/// The way of a device to memory.
pub trait Dma {
    /// Whether an access to all of these bytes may succeed, as far as that is known without trying.
    fn may_reach(&self, address: u64, length: u64) -> bool;

    /// Reads memory.
    ///
    /// # Errors
    ///
    /// When an access to any of the bytes is refused; `bytes` may then be partly overwritten.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused>;

    /// Writes memory.
    ///
    /// # Errors
    ///
    /// When an access to any of the bytes is refused; those before may have been written.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused>;

    /// How long the accesses took since this was asked last.
    fn take_spent(&mut self) -> Spent {
        Spent::default()
    }
}

/// The way without anything in between, which costs nothing.
pub struct Direct<'a>(pub &'a Memory);

impl Dma for Direct<'_> {
    fn may_reach(&self, address: u64, length: u64) -> bool {
        self.0.holds(address, length)
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        self.0.read(address, bytes).map_err(|_| Refused)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        self.0.write(address, bytes).map_err(|_| Refused)
    }
}
