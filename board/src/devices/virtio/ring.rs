//! A split virtqueue, from the device's side (Virtual I/O Device specification 1.2, section 2.7).

use super::chain::{Chain, DESCRIPTOR};
use super::{Malformed, QUEUE_SIZE_MAX};
use crate::devices::dma::Dma;
use crate::time::Femtoseconds;
use serde::{Deserialize, Serialize};
use virtio_bindings::virtio_ring::VRING_AVAIL_F_NO_INTERRUPT;

/// Where the index and the entries of the available and the used ring are (sections 2.7.6 and 2.7.8).
const INDEX: u64 = 2;
const ENTRIES: u64 = 4;
/// Bytes of a ring besides its entries: flags and index before them, a word for events behind.
const AROUND: u64 = 6;
/// Bytes of an entry of the available and of the used ring.
const AVAILABLE_ENTRY: u64 = 2;
const USED_ENTRY: u64 = 8;

/// A request that was served and of which the driver has not been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InFlight {
    pub head: u16,
    pub written: u32,
    pub due: Femtoseconds,
}

/// A queue's registers and position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ring {
    pub size: u16,
    pub ready: bool,
    pub descriptors: u64,
    pub available: u64,
    pub used: u64,
    next_available: u16,
    next_used: u16,
    pub in_flight: Option<InFlight>,
}

impl Ring {
    pub const fn new() -> Self {
        Self {
            size: QUEUE_SIZE_MAX,
            ready: false,
            descriptors: 0,
            available: 0,
            used: 0,
            next_available: 0,
            next_used: 0,
            in_flight: None,
        }
    }

    /// Makes it as it was at reset, but for its size.
    pub const fn disable(&mut self) {
        *self = Self {
            size: self.size,
            ..Self::new()
        };
    }

    /// Whether the registers describe a queue: a size that can be (section 2.7), and aligned parts (section 2.7.5 ff.).
    pub const fn is_sound(&self) -> bool {
        self.size.is_power_of_two()
            && self.size <= QUEUE_SIZE_MAX
            && self.descriptors.is_multiple_of(16)
            && self.available.is_multiple_of(2)
            && self.used.is_multiple_of(4)
    }

    /// Whether it can be used: it is sound, and its parts are where the device may reach them. An available ring at 0
    /// is one that was never set.
    pub fn is_usable(&self, dma: &dyn Dma) -> bool {
        let size = u64::from(self.size);
        self.is_sound()
            && self.available != 0
            && dma.may_reach(self.descriptors, DESCRIPTOR * size)
            && dma.may_reach(self.available, AROUND + AVAILABLE_ENTRY * size)
            && dma.may_reach(self.used, AROUND + USED_ENTRY * size)
    }

    /// Takes the next chain that the driver has made available.
    pub fn take<'a>(
        &mut self,
        dma: &'a mut dyn Dma,
    ) -> Result<Option<(u16, Chain<'a>)>, Malformed> {
        if !self.is_sound() || self.available == 0 {
            return Err(Malformed);
        }
        let index = read(dma, self.available, INDEX)?;
        // No more than there is room for.
        match index.wrapping_sub(self.next_available) {
            0 => return Ok(None),
            count if count > self.size => return Err(Malformed),
            _ => {}
        }
        let entry = u64::from(self.next_available % self.size) * AVAILABLE_ENTRY;
        let head = read(dma, self.available, ENTRIES + entry)?;
        self.next_available = self.next_available.wrapping_add(1);
        Chain::new(dma, self, head).map(|chain| Some((head, chain)))
    }

    /// Hands a chain back; whether the driver wants to be interrupted.
    pub fn give(&mut self, dma: &mut dyn Dma, served: InFlight) -> Result<bool, Malformed> {
        if !self.is_sound() || served.head >= self.size {
            return Err(Malformed);
        }
        let entry = u64::from(self.next_used % self.size) * USED_ENTRY;
        let element = u64::from(served.written) << 32 | u64::from(served.head);
        write(dma, self.used, ENTRIES + entry, &element.to_le_bytes())?;
        let index = self.next_used.wrapping_add(1);
        write(dma, self.used, INDEX, &index.to_le_bytes())?;
        self.next_used = index;
        // Section 2.7.7: the flags of the available ring.
        let flags = u32::from(read(dma, self.available, 0)?);
        Ok(flags & VRING_AVAIL_F_NO_INTERRUPT == 0)
    }
}

/// Reads two bytes of a ring.
fn read(dma: &mut dyn Dma, ring: u64, offset: u64) -> Result<u16, Malformed> {
    let mut bytes = [0; 2];
    let place = ring.checked_add(offset).ok_or(Malformed)?;
    dma.read(place, &mut bytes).map_err(|_| Malformed)?;
    Ok(u16::from_le_bytes(bytes))
}

/// Writes bytes of a ring.
fn write(dma: &mut dyn Dma, ring: u64, offset: u64, bytes: &[u8]) -> Result<(), Malformed> {
    let place = ring.checked_add(offset).ok_or(Malformed)?;
    dma.write(place, bytes).map_err(|_| Malformed)
}
