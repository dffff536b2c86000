//! VMs of whose memory a part is in on-chip memory: for a hypervisor that is there as well, and for the maker of a
//! blob.

use super::{Blob, Error, Region, Vm, region};
use crate::map::PAGE_SIZE;

/// [`Header::parts`](super::Header::parts): a part of a VM's memory is in on-chip memory.
pub const ONCHIP: u32 = 1 << 11;
/// [`Region::flags`]: a part of the VM's memory, in on-chip memory. What region 0 of the VM has for these addresses is
/// not used.
pub const MEMORY: u16 = 128;

/// A VM's memory, of which a part may be in on-chip memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// First guest-physical address.
    pub guest: u64,
    /// Bytes, with the part.
    pub size: u64,
    /// As [`Region::spread`]: 0 if all of it is contiguous.
    pub spread: u8,
    whole: Region,
    part: Part,
}

/// A part of a VM's memory: its offset, its bytes, perhaps none, and its physical address.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: u64,
    size: u64,
    host: u64,
}

impl Memory {
    /// That of regions: the whole, and the part of it that is in on-chip memory, if one is.
    pub const fn new(whole: &Region, part: Option<&Region>) -> Self {
        let part = match part {
            Some(part) => Part {
                first: part.guest.saturating_sub(whole.guest),
                size: part.size,
                host: part.host,
            },
            None => Part {
                first: 0,
                size: 0,
                host: 0,
            },
        };
        Self {
            guest: whole.guest,
            size: whole.size,
            spread: if part.size == 0 { whole.spread } else { 1 },
            whole: *whole,
            part,
        }
    }

    /// The physical address of the byte at `offset`.
    #[inline(never)]
    pub const fn host_at(&self, offset: u64) -> u64 {
        let within = offset.wrapping_sub(self.part.first);
        if within < self.part.size {
            self.part.host + within
        } else {
            self.whole.host_at(offset)
        }
    }

    /// The offset of the byte at a physical address, if it is of this memory.
    pub fn offset_of(&self, physical: u64) -> Option<u64> {
        let within = physical.wrapping_sub(self.part.host);
        let offset = if within < self.part.size {
            self.part.first + within
        } else {
            let distance = physical.checked_sub(self.whole.host)?;
            let within = distance & ((1 << self.whole.run) - 1);
            within + ((distance - within) >> self.whole.spread)
        };
        (offset < self.size && self.host_at(offset) == physical).then_some(offset)
    }

    /// The physical addresses of the memory ahead of the part, of the part, and behind it, each with their end, and
    /// some of them empty; with colours others are between them.
    pub const fn extents(&self) -> [(u64, u64); 3] {
        let (part, whole) = (&self.part, &self.whole);
        [
            (whole.host_at(0), whole.host_at(part.first)),
            (part.host, part.host + part.size),
            (
                whole.host_at(part.first + part.size),
                whole.host_at(whole.size),
            ),
        ]
    }

    /// What is mapped of a region of the VM ahead of the part, if there is any.
    pub fn mapped_ahead(&self, region: &Region) -> Option<Region> {
        let size = self.part.first;
        (region.flags == region::MEMORY && size != 0).then_some(Region { size, ..*region })
    }

    /// What is mapped of a region of the VM otherwise: the part as memory, the memory behind it, others as they are.
    pub const fn mapped(&self, region: &Region) -> Region {
        let Part { first, size, .. } = self.part;
        let before = first + size;
        match region.flags {
            MEMORY => Region {
                flags: region::MEMORY,
                ..*region
            },
            region::MEMORY => Region {
                guest: region.guest + before,
                host: region.host + before,
                size: region.size - before,
                ..*region
            },
            _ => *region,
        }
    }
}

impl Blob<'_> {
    /// The memory of a VM, which has a region at least.
    pub fn memory_of(&self, vm: &Vm) -> Memory {
        let regions = self.regions_of(vm);
        let part = regions.iter().find(|region| region.flags == MEMORY);
        Memory::new(&regions[0], part)
    }

    /// Whether each VM has one part of its memory in on-chip memory at most, which ends before the whole does, and lies
    /// between two physical addresses. A hypervisor that knows of them asks this at boot.
    pub fn check_onchip(&self, begin: u64, end: u64) -> Result<(), Error> {
        let mut parts = 0;
        for vm in self.vms {
            let regions = self.regions_of(vm);
            let own = regions.iter().filter(|region| region.flags == MEMORY);
            for (number, part) in own.enumerate() {
                parts += 1;
                let within = |whole: &Region| {
                    let first = part.guest.checked_sub(whole.guest);
                    let last = first.and_then(|first| first.checked_add(part.size));
                    whole.flags == region::MEMORY
                        && whole.spread == 0
                        && last.is_some_and(|last| last < whole.size)
                };
                let host_end = part.host.checked_add(part.size);
                let good = number == 0
                    && regions.first().is_some_and(within)
                    && (part.guest | part.host | part.size).is_multiple_of(PAGE_SIZE)
                    && part.host >= begin
                    && host_end.is_some_and(|last| last <= end);
                if !good {
                    return Err(Error::Table("on-chip memory of a VM out of range"));
                }
            }
        }
        if (parts != 0) != (self.header.parts & ONCHIP != 0) {
            return Err(Error::Table(
                "on-chip memory of VMs without the part, or the part without them",
            ));
        }
        Ok(())
    }
}
