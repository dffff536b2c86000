//! Second-stage page tables: Sv39x4 (privileged specification, "Guest-Page-Table Translation").

use core::sync::atomic::AtomicU64;
use tactus_abi::blob::{Region, region};
use tactus_abi::map::{GIGAPAGE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE};

const ENTRIES: usize = 512;
const ROOT_ENTRIES: usize = 4 * ENTRIES;

const VALID: u64 = 1 << 0;
const READ: u64 = 1 << 1;
/// A leaf's right to be written.
pub const WRITE: u64 = 1 << 2;
const EXECUTE: u64 = 1 << 3;
/// Guest accesses count as user accesses in the second stage.
const USER: u64 = 1 << 4;
const ACCESSED_DIRTY: u64 = 3 << 6;

type Table = [u64; ENTRIES];

/// Why a region cannot be mapped.
#[derive(Clone, Copy, Debug)]
pub enum MapError {
    /// No page left for a table.
    Pool,
    /// Addresses that Sv39x4 does not reach, or not multiples of a page, or impossible colours.
    Address,
    /// Something is mapped there already.
    Overlap,
}

/// A VM's second-stage translation, built once. Of what it says nothing changes but whether [`region::ACCELERATOR`]s
/// may be written.
pub struct Stage2 {
    root: &'static mut [u64; ROOT_ENTRIES],
}

impl Stage2 {
    /// Maps nothing. `root` is zero and aligned to its size.
    pub fn new(root: &'static mut [u64; ROOT_ENTRIES]) -> Self {
        debug_assert!((root.as_ptr() as usize).is_multiple_of(size_of_val(root)));
        Self { root }
    }

    /// Physical address of the root table.
    pub fn root(&self) -> u64 {
        self.root.as_ptr() as u64
    }

    /// Maps a region with the largest pages that fit, a coloured one with the smallest, and returns the last one's
    /// entry. `table` gives a zeroed page for a further table.
    pub fn map(
        &mut self,
        region: &Region,
        mut table: impl FnMut() -> Option<&'static mut Table>,
    ) -> Result<&'static AtomicU64, MapError> {
        let in_reach = |first: u64, size: u64, bits: u32| {
            first.is_multiple_of(PAGE_SIZE)
                && first.checked_add(size).is_some_and(|end| end <= 1 << bits)
        };
        if !in_reach(region.guest, region.size, 41)
            || !region.has_sound_colours()
            || !in_reach(region.host, region.size << region.spread, 56)
            || !region.size.is_multiple_of(PAGE_SIZE)
            || region.size == 0
        {
            return Err(MapError::Address);
        }
        let rights = VALID | READ | USER | ACCESSED_DIRTY;
        let rights = match region.flags {
            region::MEMORY => rights | WRITE | EXECUTE,
            region::ACCELERATOR => rights,
            _ => rights | WRITE,
        };
        let mut done = 0;
        loop {
            let (guest, host) = (region.guest + done, region.host_at(done));
            let left = region.size - done;
            let size = [GIGAPAGE_SIZE, MEGAPAGE_SIZE]
                .into_iter()
                .find(|size| region.spread == 0 && (guest | host) % size == 0 && left >= *size)
                .unwrap_or(PAGE_SIZE);
            let slot = self.map_page(guest, host >> 12 << 10 | rights, size, &mut table)?;
            done += size;
            if done == region.size {
                return Ok(slot);
            }
        }
    }

    fn map_page(
        &mut self,
        guest: u64,
        entry: u64,
        size: u64,
        table: &mut impl FnMut() -> Option<&'static mut Table>,
    ) -> Result<&'static AtomicU64, MapError> {
        let mut slot = &mut self.root[(guest >> 30) as usize];
        let mut shift = GIGAPAGE_SIZE.trailing_zeros();
        while size >> shift == 0 {
            if *slot == 0 {
                let new = table().ok_or(MapError::Pool)?;
                *slot = (new.as_ptr() as u64) >> 12 << 10 | VALID;
            } else if *slot & (READ | EXECUTE) != 0 {
                return Err(MapError::Overlap);
            }
            let next = (*slot >> 10 << 12) as *mut Table;
            // Safety: a non-leaf entry points to a table that `table` gave away for this VM alone.
            let next = unsafe { &mut *next };
            shift -= ENTRIES.trailing_zeros();
            slot = &mut next[(guest >> shift) as usize % ENTRIES];
        }
        if *slot != 0 {
            return Err(MapError::Overlap);
        }
        *slot = entry;
        // Safety: aligned, and there for ever; an entry that is a leaf is changed through this reference only.
        Ok(unsafe { AtomicU64::from_ptr(slot) })
    }
}
