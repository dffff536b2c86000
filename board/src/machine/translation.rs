//! Translating addresses: what harts' caches do not know, walked and charged for.

use super::Machine;
use super::reservation::break_reservations;
use crate::code::{Code, PAGE};
use crate::hart::Hart;
use crate::memory::Memory;
use crate::pace::Variant;
use crate::privileged::{Access, Context, PageTables, Translation, Trap};
use crate::timing::{Lookup, Page, Side, Timing};

/// How many address spaces a hart's modelled TLBs tell apart.
const SPACES: usize = 256;

/// Page tables, as walks find them in memory.
struct Tables<'a> {
    memory: &'a Memory,
    code: &'a mut Code,
    reservations: &'a mut [u64],
    /// Whether decoded code was dropped.
    dropped: bool,
    /// Whether anything was written.
    updated: bool,
    timing: &'a mut Timing,
    /// Whether the accesses cost something: the modelled TLBs walk, and not the engine alone.
    charged: bool,
    hart: usize,
    now: u64,
    /// Cycles that the walk took.
    stall: u64,
}

impl Tables<'_> {
    fn charge(&mut self, physical: u64, write: bool) {
        if self.charged {
            let now = self.now + self.stall;
            self.stall += self.timing.walk_access(self.hart, physical, write, now);
        } else {
            self.timing.note_read(physical, 8, self.now);
        }
    }
}

impl PageTables for Tables<'_> {
    fn read(&mut self, physical: u64) -> Option<u64> {
        if self.memory.holds(physical, 8) {
            self.charge(physical, false);
        }
        // Safety: aligned, and so all in memory when its first byte is.
        self.memory
            .host(physical & !7)
            .map(|host| unsafe { host.cast::<u64>().read() })
    }

    fn update(&mut self, physical: u64, old: u64, new: u64) -> Option<bool> {
        let host = self.memory.host(physical & !7)?.cast::<u64>();
        // Safety: as above.
        unsafe {
            if host.read() != old {
                return Some(false);
            }
            host.write(new);
        }
        self.dropped |= self.code.written(physical, 8);
        self.updated = true;
        break_reservations(self.reservations, self.hart, physical, 8);
        self.charge(physical, true);
        Some(true)
    }
}

/// Page tables for a look that costs and changes nothing: a bit that would have to be set ends it.
pub(super) struct Quiet<'a>(pub(super) &'a Memory);

impl PageTables for Quiet<'_> {
    fn read(&mut self, physical: u64) -> Option<u64> {
        // Safety: aligned, and so all in memory when its first byte is.
        self.0
            .host(physical & !7)
            .map(|host| unsafe { host.cast::<u64>().read() })
    }

    fn update(&mut self, _: u64, _: u64, _: u64) -> Option<bool> {
        None
    }
}

impl Machine {
    /// Whether a hart's L1 TLB has the page of `address`.
    pub(super) fn is_resident(
        &self,
        hart: &Hart,
        address: u64,
        access: Access,
        context: &Context,
    ) -> bool {
        let side = if access == Access::Fetch {
            Side::Fetch
        } else {
            Side::Data
        };
        hart.known_space(context).is_some_and(|space| {
            let page = Page {
                context: space,
                number: address >> 12,
            };
            self.timing.is_resident(hart.index, side, page)
        })
    }

    /// Translates for the hart, and charges the walk.
    pub(super) fn translate<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
    ) -> Result<Translation, Trap> {
        let side = if access == Access::Fetch {
            Side::Fetch
        } else {
            Side::Data
        };
        let mut walk = None;
        if V::TIMED && !context.bare() {
            let (walks, page) = self.charge_translation(hart, address, side, context);
            walk = walks.then_some(page);
        }
        let mut tables = Tables {
            memory: &self.memory,
            code: &mut self.code,
            reservations: &mut self.reservations,
            dropped: false,
            updated: false,
            timing: &mut self.timing,
            charged: walk.is_some(),
            hart: hart.index,
            now: hart.cycle(),
            stall: 0,
        };
        let translation = hart
            .privileged
            .translate(address, size, access, context, &mut tables);
        hart.budget -= tables.stall as i64;
        // Marks that a walk left in a page with code.
        hart.attention |= tables.dropped;
        if V::WEAK && tables.updated {
            self.written_from_outside();
        }
        if let (Some(page), Ok(_)) = (walk, &translation) {
            let left = self.timing.tlb_fill(hart.index, side, page);
            hart.page_left(side, left);
        }
        translation
    }

    /// The physical address of code at `address`, and whether all of its page may be run.
    ///
    /// # Errors
    ///
    /// The exception that fetching from there raises.
    pub(crate) fn fetch<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
    ) -> Result<(u64, bool), Trap> {
        if let Some(physical) = hart.fetch(address) {
            return Ok((physical, true));
        }
        let context = hart.privileged.fetch_context();
        let place = self.translate::<V>(hart, address, 2, Access::Fetch, &context)?;
        if self.memory.host(place.physical).is_none() {
            return Err(context.access_fault(address, Access::Fetch));
        }
        if place.whole_page {
            hart.enter_superpage(address, place.page);
            hart.enter_fetch(address, place.physical);
        }
        Ok((place.physical, place.whole_page))
    }

    /// The physical address of `size` bytes in one page, entered into the hart's caches where it may be.
    pub(super) fn place<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
        tag: Option<u64>,
    ) -> Result<u64, Trap> {
        let place = self.translate::<V>(hart, address, size, access, context)?;
        if self.probes.watches_page(address) {
            self.report_watched(hart, address, size, access);
        } else if let Some(tag) = tag
            && place.whole_page
            && let Some(host) = self.memory.host(place.physical)
        {
            hart.enter_superpage(address, place.page);
            if access == Access::Load {
                hart.loads.insert(address, tag, host);
            } else if !self.code.in_page(place.physical) {
                hart.stores.insert(address, tag, host);
            }
        }
        Ok(place.physical)
    }

    /// Ends the run behind an access to what is watched.
    #[cold]
    pub(super) fn report_watched(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
    ) {
        let write = access == Access::Store;
        if let Some(byte) = self.probes.watched(address, size, write) {
            self.watched_at = Some((hart.index, byte, write));
            self.disturbed = true;
            hart.attention = true;
        }
    }

    /// The places of `size` bytes that may lie in two pages: the first, how many bytes are there, the second.
    pub(super) fn places<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
        tag: Option<u64>,
    ) -> Result<(u64, u8, u64), Trap> {
        let left = PAGE - address % PAGE;
        if u64::from(size) <= left {
            return Ok((
                self.place::<V>(hart, address, size, access, context, tag)?,
                size,
                0,
            ));
        }
        let first = left as u8;
        let begin = self.place::<V>(hart, address, first, access, context, tag)?;
        let behind = address.wrapping_add(left);
        self.fault_offset = left;
        let rest = self.place::<V>(hart, behind, size - first, access, context, tag)?;
        self.fault_offset = 0;
        Ok((begin, first, rest))
    }

    /// Charges for what the hart's TLBs do for an address that the engine's own does not know. Whether page tables are
    /// walked, and the page.
    pub(super) fn charge_translation(
        &mut self,
        hart: &mut Hart,
        address: u64,
        side: Side,
        context: &Context,
    ) -> (bool, Page) {
        if hart.spaces.len() > SPACES {
            // Software that makes up address spaces loses its translations once in a while.
            self.timing.tlb_remove(
                hart.index,
                |_| true,
                |side, page| hart.page_left(side, Some(page)),
            );
            hart.spaces.clear();
        }
        let page = Page {
            context: hart.space(context),
            number: address >> 12,
        };
        let found = self.timing.tlb(hart.index, side, page);
        if found != Lookup::Resident {
            match side {
                Side::Fetch => hart.happened.fetch_tlb_misses += 1,
                Side::Data => hart.happened.data_tlb_misses += 1,
            }
        }
        match found {
            Lookup::Resident => (false, page),
            Lookup::Refilled { stall, left } => {
                hart.budget -= stall as i64;
                hart.page_left(side, left);
                (false, page)
            }
            Lookup::Walk { stall } => {
                hart.budget -= stall as i64;
                (true, page)
            }
        }
    }

    /// Drops what the hart's TLBs hold of the guests' (`v`) or the machine's own address spaces: of one page, or all.
    pub(crate) fn drop_translations(&mut self, hart: &mut Hart, v: bool, address: Option<u64>) {
        if !self.timed {
            return;
        }
        let index = hart.index;
        let spaces = std::mem::take(&mut hart.spaces);
        self.timing.tlb_remove(
            index,
            |page| {
                address.is_none_or(|address| page.number == address >> 12)
                    && spaces
                        .iter()
                        .any(|space| space.number == page.context && space.v == v)
            },
            |side, page| hart.page_left(side, Some(page)),
        );
        hart.spaces = spaces;
    }
}
