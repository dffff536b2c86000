//! Translation look-aside buffers: one each for fetches and data, and a larger one behind both.
//!
//! Entries are of 4 KiB: of a larger page, each 4 KiB that is used takes one. The places of a set are filled in turn,
//! whether empty or not, so a hit changes nothing: the engine need not tell of accesses to pages that it knows to be in
//! an L1 TLB.

use serde::{Deserialize, Serialize};

use super::parameters;

/// Which L1 TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Side {
    /// That of instruction fetches.
    Fetch = 0,
    /// That of loads, stores and atomics.
    Data = 1,
}

/// A page of 4 KiB in an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Page {
    /// The address space, as the engine numbers them.
    pub context: u32,
    /// The virtual address without its low 12 bits.
    pub number: u64,
}

impl Page {
    const NONE: Self = Self {
        context: u32::MAX,
        number: u64::MAX,
    };
}

/// The result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The page is in the L1 TLB: no cost.
    Resident,
    /// The L2 TLB had it: it is in the L1 TLB from now on.
    Refilled {
        /// Cycles that the hart waits.
        stall: u64,
        /// The page that left the L1 TLB for it.
        left: Option<Page>,
    },
    /// No TLB has it: the page tables must be walked, and [`fill`](crate::timing::Timing::tlb_fill) called if that
    /// gives a translation.
    Walk {
        /// Cycles that the hart waits before the walk begins.
        stall: u64,
    },
}

/// Entries in sets, each replaced in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Buffer {
    ways: usize,
    mask: u64,
    pages: Box<[Page]>,
    /// The way to be replaced next, by set.
    next: Box<[u16]>,
}

impl Buffer {
    /// A buffer of `sets` (a power of two) times `ways` entries.
    pub fn new(sets: u32, ways: u32) -> Self {
        Self {
            ways: ways as usize,
            mask: u64::from(sets) - 1,
            pages: vec![Page::NONE; (sets * ways) as usize].into(),
            next: vec![0; sets as usize].into(),
        }
    }

    fn fits(&self, other: &Self) -> bool {
        (self.ways, self.mask, self.pages.len(), self.next.len())
            == (other.ways, other.mask, other.pages.len(), other.next.len())
    }

    fn set(&self, page: Page) -> usize {
        (page.number & self.mask) as usize
    }

    pub fn has(&self, page: Page) -> bool {
        let first = self.set(page) * self.ways;
        self.pages[first..first + self.ways].contains(&page)
    }

    /// Puts in a page that is not there; what it replaces is given.
    pub fn insert(&mut self, page: Page) -> Option<Page> {
        let set = self.set(page);
        // A saved state may have any number here.
        let way = usize::from(self.next[set]) % self.ways;
        self.next[set] = ((way + 1) % self.ways) as u16;
        let left = std::mem::replace(&mut self.pages[set * self.ways + way], page);
        (left != Page::NONE).then_some(left)
    }

    /// Takes out all pages that match.
    pub fn remove(&mut self, matches: &mut impl FnMut(Page) -> bool, left: &mut impl FnMut(Page)) {
        for page in &mut self.pages {
            if *page != Page::NONE && matches(*page) {
                left(std::mem::replace(page, Page::NONE));
            }
        }
    }
}

/// A hart's TLBs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tlbs {
    first: [Buffer; 2],
    second: Option<Buffer>,
}

impl Tlbs {
    pub fn new(parameters: &parameters::Tlb) -> Self {
        Self {
            first: [
                Buffer::new(1, parameters.fetch_entries),
                Buffer::new(1, parameters.data_entries),
            ],
            second: parameters
                .second
                .as_ref()
                .map(|second| Buffer::new(second.entries / second.ways, second.ways)),
        }
    }

    /// Whether `other` is a possible state of the same TLBs.
    pub fn fits(&self, other: &Self) -> bool {
        self.first
            .iter()
            .zip(&other.first)
            .all(|(one, other)| one.fits(other))
            && match (&self.second, &other.second) {
                (Some(one), Some(other)) => one.fits(other),
                (None, None) => true,
                _ => false,
            }
    }

    /// Looks a page up; `stall` is what the L2 TLB costs.
    pub fn look_up(&mut self, side: Side, page: Page, stall: u64) -> Lookup {
        let first = &mut self.first[side as usize];
        if first.has(page) {
            return Lookup::Resident;
        }
        match &self.second {
            Some(second) if second.has(page) => Lookup::Refilled {
                stall,
                left: first.insert(page),
            },
            Some(_) => Lookup::Walk { stall },
            None => Lookup::Walk { stall: 0 },
        }
    }

    /// Puts in a page that a walk has translated.
    pub fn fill(&mut self, side: Side, page: Page) -> Option<Page> {
        if let Some(second) = &mut self.second
            && !second.has(page)
        {
            second.insert(page);
        }
        let first = &mut self.first[side as usize];
        if first.has(page) {
            None
        } else {
            first.insert(page)
        }
    }

    /// Takes out all pages that match; what leaves an L1 TLB is told.
    pub fn remove(
        &mut self,
        mut matches: impl FnMut(Page) -> bool,
        mut left: impl FnMut(Side, Page),
    ) {
        for side in [Side::Fetch, Side::Data] {
            self.first[side as usize].remove(&mut matches, &mut |page| left(side, page));
        }
        if let Some(second) = &mut self.second {
            second.remove(&mut matches, &mut |_| ());
        }
    }

    /// Whether a page is in an L1 TLB.
    pub fn is_resident(&self, side: Side, page: Page) -> bool {
        self.first[side as usize].has(page)
    }
}
