//! Physical memory protection (section 3.7): 16 entries, granularity 4 bytes.

use super::{Access, Privilege, Privileged};
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// Permissions of a memory region.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Rights: u8 {
        /// Loading from it.
        const READ = 1;
        /// Storing to it.
        const WRITE = 2;
        /// Fetching from it.
        const EXECUTE = 4;
    }
}

impl Rights {
    /// The permission that `access` needs.
    pub(super) const fn needed(access: Access) -> Self {
        match access {
            Access::Load => Self::READ,
            Access::Store => Self::WRITE,
            Access::Fetch => Self::EXECUTE,
            // PMP must grant both (section 8.3.1).
            Access::LoadExecute => Self::READ.union(Self::EXECUTE),
        }
    }
}

/// How many entries there are.
const ENTRIES: usize = 16;
/// Physical addresses have 56 bits; an address register holds bits 55:2.
const ADDRESS: u64 = (1 << 54) - 1;
const LOCKED: u8 = 1 << 7;
/// The field A: 0 off, 1 TOR, 2 NA4, 3 NAPOT.
const MATCHING: u8 = 3 << 3;
const TOR: u8 = 1 << 3;
const NA4: u8 = 2 << 3;

/// The range of an entry that matches no access, however long.
const NOTHING: (u64, u64) = (u64::MAX, 0);

/// The entries, as registers and as what they mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Registers")]
pub(super) struct Pmp {
    configuration: [u8; ENTRIES],
    address: [u64; ENTRIES],
    /// The ranges that the entries match, first and last byte; [`NOTHING`] where there are none. Follows from the
    /// registers.
    #[serde(skip)]
    ranges: [(u64, u64); ENTRIES],
    /// How many entries can match at all: 1 + the highest that is not off. Follows from the registers.
    #[serde(skip)]
    used: usize,
}

/// What is written down of it.
#[derive(Deserialize)]
struct Registers {
    configuration: [u8; ENTRIES],
    address: [u64; ENTRIES],
}

impl From<Registers> for Pmp {
    /// Makes registers that were read from outside such as can be written, and derives the rest from them.
    fn from(registers: Registers) -> Self {
        let mut pmp = Self {
            configuration: registers.configuration,
            address: registers.address.map(|address| address & ADDRESS),
            ..Self::default()
        };
        pmp.update();
        pmp
    }
}

impl Pmp {
    /// Entries that allow all accesses to all addresses.
    pub fn open() -> Self {
        let mut pmp = Self::default();
        pmp.set_address(0, ADDRESS);
        pmp.set_configuration(0, u64::from(TOR | Rights::all().bits()));
        pmp
    }

    /// Register `pmpcfg0` (`index` 0) or `pmpcfg2` (1).
    pub fn configuration(&self, index: usize) -> u64 {
        (0..8).fold(0, |value, byte| {
            value | u64::from(self.configuration[index * 8 + byte]) << (8 * byte)
        })
    }

    pub fn set_configuration(&mut self, index: usize, value: u64) {
        for byte in 0..8 {
            let entry = index * 8 + byte;
            if self.configuration[entry] & LOCKED != 0 {
                continue;
            }
            let mut new = (value >> (8 * byte)) as u8 & (LOCKED | MATCHING | 7);
            // Writable without readable is reserved: not taken.
            if new & 3 == 2 {
                new &= !2;
            }
            self.configuration[entry] = new;
        }
        self.update();
    }

    pub const fn address(&self, entry: usize) -> u64 {
        self.address[entry]
    }

    pub fn set_address(&mut self, entry: usize, value: u64) {
        let locked = self.configuration[entry] & LOCKED != 0;
        // The next entry, if it is a locked range from this address on, locks the address too.
        let bound = self
            .configuration
            .get(entry + 1)
            .is_some_and(|next| next & (LOCKED | MATCHING) == LOCKED | TOR);
        if !locked && !bound {
            self.address[entry] = value & ADDRESS;
            self.update();
        }
    }

    fn update(&mut self) {
        self.used = 0;
        for entry in 0..ENTRIES {
            let address = self.address[entry];
            self.ranges[entry] = match self.configuration[entry] & MATCHING {
                0 => NOTHING,
                TOR => {
                    let first = if entry == 0 {
                        0
                    } else {
                        self.address[entry - 1] << 2
                    };
                    let end = address << 2;
                    if first < end {
                        (first, end - 1)
                    } else {
                        NOTHING
                    }
                }
                NA4 => (address << 2, (address << 2) + 3),
                _ => {
                    // The trailing ones and the zero above them say the size: 8 bytes for none.
                    let span = (address ^ (address + 1)) << 2 | 3;
                    (address << 2 & !span, address << 2 | span)
                }
            };
            if self.configuration[entry] & MATCHING != 0 {
                self.used = entry + 1;
            }
        }
    }

    /// The rights that an entry gives at `privilege`.
    const fn given(&self, entry: usize, privilege: Privilege) -> Rights {
        let configuration = self.configuration[entry];
        if matches!(privilege, Privilege::Machine) && configuration & LOCKED == 0 {
            Rights::all()
        } else {
            Rights::from_bits_truncate(configuration)
        }
    }

    /// Where no entry matches: M-mode may do anything, others nothing.
    const fn unmatched(privilege: Privilege) -> Rights {
        if matches!(privilege, Privilege::Machine) {
            Rights::all()
        } else {
            Rights::empty()
        }
    }

    /// The rights to all of `length` (at least 1) bytes from `physical` on, by the lowest entry that matches any
    /// of them; none where it does not match all.
    pub fn rights(&self, physical: u64, length: u64, privilege: Privilege) -> Rights {
        let last = physical.saturating_add(length - 1);
        for entry in 0..self.used {
            let (from, to) = self.ranges[entry];
            if physical <= to && last >= from {
                let all = from <= physical && last <= to;
                return if all {
                    self.given(entry, privilege)
                } else {
                    Rights::empty()
                };
            }
        }
        Self::unmatched(privilege)
    }

    /// The rights to the page of 4 KiB that holds `physical`, if they are the same for all of it.
    pub fn page_rights(&self, physical: u64, privilege: Privilege) -> Option<Rights> {
        let first = physical & !0xfff;
        let last = first | 0xfff;
        for entry in 0..self.used {
            let (from, to) = self.ranges[entry];
            if first <= to && last >= from {
                let all = from <= first && last <= to;
                return all.then(|| self.given(entry, privilege));
            }
        }
        Some(Self::unmatched(privilege))
    }
}

impl Privileged {
    /// Whether PMP lets an access to all of `length` (at least 1) bytes from the physical address `physical` on pass at
    /// `privilege`.
    #[must_use]
    pub fn permits(
        &self,
        physical: u64,
        length: u64,
        access: Access,
        privilege: Privilege,
    ) -> bool {
        self.pmp
            .rights(physical, length, privilege)
            .contains(Rights::needed(access))
    }

    /// The permissions by PMP of the 4 KiB page that holds `physical`. `None`: not the same for every byte and access
    /// within it.
    #[must_use]
    pub fn page_rights(&self, physical: u64, privilege: Privilege) -> Option<Rights> {
        self.pmp.page_rights(physical, privilege)
    }
}
