//! Translations of pages, found in page tables and cached (sections 2.3 and 2.6).

use serde::{Deserialize, Serialize};

use super::Root;
use super::context::Context;
use super::queues::Fault;
use crate::privileged::{self, Access, PageTables, Privilege, Privileged};

/// An access: its address, and whether it writes.
type Wanted = (u64, bool);

/// A cached translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// GSCID and PSCID of the stages that it comes from.
    guest: Option<u16>,
    process: Option<u32>,
    /// log2 of the page's size.
    shift: u8,
    /// The first address of the page, before and after.
    address: u64,
    physical: u64,
    readable: bool,
    writable: bool,
}

impl Entry {
    const fn mask(&self) -> u64 {
        (1 << self.shift) - 1
    }

    const fn covers(&self, address: u64) -> bool {
        address & !self.mask() == self.address
    }

    const fn is_of(&self, context: &Context) -> bool {
        let guest = match (self.guest, context.guest()) {
            (None, None) => true,
            (Some(own), Some(other)) => own == other,
            _ => false,
        };
        let process = match (self.process, context.process()) {
            (None, None) => true,
            (Some(own), Some(other)) => own == other,
            _ => false,
        };
        guest && process
    }

    /// Where an address of the page leads.
    pub const fn physical(&self, address: u64) -> u64 {
        self.physical | address & self.mask()
    }
}

/// The cache: the oldest first, which makes room.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Translations(Vec<Entry>);

impl Translations {
    /// The physical address, where the cache has a translation that allows the access.
    pub fn find(&self, context: &Context, (address, write): Wanted) -> Option<u64> {
        let entry = self
            .0
            .iter()
            .find(|entry| entry.covers(address) && entry.is_of(context))?;
        let allowed = if write {
            entry.writable
        } else {
            entry.readable
        };
        allowed.then(|| entry.physical(address))
    }

    /// Puts a translation in the place of others of that page.
    pub fn insert(&mut self, entry: Entry, capacity: usize) {
        self.0.retain(|other| {
            !(other.guest == entry.guest
                && other.process == entry.process
                && (other.covers(entry.address) || entry.covers(other.address)))
        });
        if self.0.len() >= capacity {
            self.0.remove(0);
        }
        self.0.push(entry);
    }

    /// Drops what `IOTINVAL.VMA` names (section 3.1.1): of the host, or of a guest; of all processes, or of one; at all
    /// addresses, or at one.
    pub fn drop_first_stage(
        &mut self,
        guest: Option<u16>,
        process: Option<u32>,
        address: Option<u64>,
    ) {
        self.0.retain(|entry| {
            !(entry.guest == guest
                && process.is_none_or(|process| entry.process == Some(process))
                && address.is_none_or(|address| entry.covers(address)))
        });
    }

    /// Drops what `IOTINVAL.GVMA` names: of all guests, or of one; at all guest physical addresses, or at one. Of a
    /// translation in both stages the guest physical address is not known, so that it goes whatever the address.
    pub fn drop_second_stage(&mut self, guest: Option<u16>, address: Option<u64>) {
        self.0.retain(|entry| {
            !(entry
                .guest
                .is_some_and(|own| guest.is_none_or(|guest| own == guest))
                && (entry.process.is_some() || address.is_none_or(|address| entry.covers(address))))
        });
    }

    /// Whether this is a possible content of a cache of that size.
    pub fn is_sound(&self, capacity: usize) -> bool {
        let sound = |entry: &Entry| {
            (12..=48).contains(&entry.shift)
                && (entry.address | entry.physical) & entry.mask() == 0
                && (entry.guest.is_some() || entry.process.is_some())
        };
        self.0.len() <= capacity && self.0.iter().all(sound)
    }
}

/// Page tables as walks of the IOMMU read them.
struct Tables<'a, 'w, 'p>(&'a mut Root<'w, 'p>);

impl PageTables for Tables<'_, '_, '_> {
    fn read(&mut self, physical: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.0.read(physical, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Not there: `capabilities.AMO_HWAD` is 0.
    fn update(&mut self, _: u64, _: u64, _: u64) -> Option<bool> {
        None
    }
}

/// Walks the page tables of a context. `None`: it has none, and addresses are physical.
pub(super) fn walk(
    walker: &Privileged,
    context: &Context,
    (address, write): Wanted,
    root: &mut Root<'_, '_>,
) -> Result<Option<Entry>, Fault> {
    let (guest, process) = (context.guest(), context.process());
    if guest.is_none() && process.is_none() {
        return Ok(None);
    }
    let stages = privileged::Context {
        // Accesses without a process are a user's (section 2.3).
        privilege: Privilege::User,
        v: guest.is_some(),
        sum: false,
        mxr: false,
        guest_mxr: false,
        root: context.root,
        guest_root: context.guest_root,
    };
    let access = if write { Access::Store } else { Access::Load };
    let found = walker
        .translate(address, 1, access, &stages, &mut Tables(root))
        .map_err(Fault::of_walk)?;
    let shift = found.page.min(found.guest_page);
    let mask = (1 << shift) - 1;
    Ok(Some(Entry {
        guest,
        process,
        shift,
        address: address & !mask,
        physical: found.physical & !mask,
        readable: found.readable,
        writable: found.writable,
    }))
}
