//! The way of PCI's accesses to memory: through the IOMMU, and then through the L2 cache.

use super::Iommu;
use crate::bus::{Port, Refused};
use crate::devices::dma::{Dma, Spent};
use crate::memory::NoMemory;
use crate::time::{Clock, Femtoseconds};

/// The root of the bus: accesses at physical addresses, and how long they take.
pub(super) struct Root<'w, 'p> {
    port: &'w mut Port<'p>,
    clock: Clock,
    /// Cycles of the harts' clock that the accesses have taken so far.
    cycles: u64,
}

impl<'w, 'p> Root<'w, 'p> {
    pub const fn new(port: &'w mut Port<'p>, clock: Clock) -> Self {
        Self {
            port,
            clock,
            cycles: 0,
        }
    }

    /// The time at which the first access began.
    pub const fn now(&self) -> Femtoseconds {
        self.port.now()
    }

    /// How long the accesses have taken so far.
    pub const fn spent(&self) -> Femtoseconds {
        self.clock.time_of(self.cycles)
    }

    /// The cycle at which the next access begins.
    const fn cycle(&self) -> u64 {
        self.clock.cycle_from(self.port.now()) + self.cycles
    }

    /// Reads memory.
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), NoMemory> {
        let cycle = self.cycle();
        self.cycles += self.port.read_as_master(true, address, bytes, cycle)?;
        Ok(())
    }

    /// Writes memory.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), NoMemory> {
        let cycle = self.cycle();
        self.cycles += self.port.write_as_master(address, bytes, cycle)?;
        Ok(())
    }
}

/// Translations are of pages of this many bytes at least.
const PAGE: u64 = 4096;

/// A function's way to memory.
pub(super) struct Way<'w, 'p> {
    root: Root<'w, 'p>,
    iommu: Option<&'w mut Iommu>,
    requester: u32,
    /// Of the time that was spent, what translations took.
    translations: Femtoseconds,
    /// What was told of before.
    told: Spent,
}

impl<'w, 'p> Way<'w, 'p> {
    pub fn new(root: Root<'w, 'p>, iommu: Option<&'w mut Iommu>, requester: u32) -> Self {
        Self {
            root,
            iommu,
            requester,
            translations: Femtoseconds::default(),
            told: Spent::default(),
        }
    }

    /// The physical address of an access within a page.
    fn translate(&mut self, address: u64, write: bool) -> Result<u64, Refused> {
        let Some(iommu) = &mut self.iommu else {
            return Ok(address);
        };
        let before = self.root.spent();
        let translated = iommu.translate(self.requester, address, write, &mut self.root);
        self.translations += self.root.spent() - before;
        translated
    }

    /// What part of `length` bytes from an address on is in its page.
    fn in_page(address: u64, length: usize) -> usize {
        length.min((PAGE - address % PAGE) as usize)
    }
}

impl Dma for Way<'_, '_> {
    /// Only an access finds out what it leads to.
    fn may_reach(&self, address: u64, length: u64) -> bool {
        address.checked_add(length).is_some()
    }

    fn read(&mut self, mut address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, others) = rest.split_at_mut(Self::in_page(address, rest.len()));
            let physical = self.translate(address, false)?;
            self.root.read(physical, piece).map_err(|_| Refused)?;
            address = address.wrapping_add(piece.len() as u64);
            rest = others;
        }
        Ok(())
    }

    fn write(&mut self, mut address: u64, bytes: &[u8]) -> Result<(), Refused> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, others) = rest.split_at(Self::in_page(address, rest.len()));
            let physical = self.translate(address, true)?;
            self.root.write(physical, piece).map_err(|_| Refused)?;
            address = address.wrapping_add(piece.len() as u64);
            rest = others;
        }
        Ok(())
    }

    fn take_spent(&mut self) -> Spent {
        let all = Spent {
            transfers: self.root.spent() - self.translations,
            translations: self.translations,
        };
        let told = std::mem::replace(&mut self.told, all);
        Spent {
            transfers: all.transfers - told.transfers,
            translations: all.translations - told.translations,
        }
    }
}
