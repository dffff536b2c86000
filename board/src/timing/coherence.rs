//! Coherence on a miss: the source of the line, its invalidation in other caches, and the line evicted.
//!
//! The L2 cache has every line that an L1 cache has, and its directory knows which data caches have it. The protocol
//! is MESI: exclusive lines become modified without a word, so the directory knows an owner but not whether its line
//! is dirty.

use super::cache::{EXCLUSIVE, MODIFIED, SHARED};
use super::fills::Filled;
use super::level2::Line;
use super::reloads::By;
use super::{Counts, NO_KEY, Timing};
use crate::privileged::BlockOperation;

impl Timing {
    /// Brings a line into the L1 instruction cache.
    pub(super) fn fetch_line(&mut self, hart: usize, key: u64, now: u64) -> u64 {
        let (cost, place) = self.ask(Some(hart), key, now);
        self.level2.line(place).fetchers |= 1 << hart;
        self.harts[hart].code.insert(key, SHARED);
        self.prefetch_next(key, now);
        cost
    }

    /// Brings a line into the L1 data cache for a load, which waits for it.
    pub(super) fn load_miss(&mut self, hart: usize, key: u64, now: u64) -> u64 {
        let level2_misses = self.harts[hart].counts.level2_misses;
        let stall = self.load_line(hart, key, now);
        self.book_miss((hart, now), By::Read, key, stall, level2_misses);
        stall
    }

    /// Brings a line into the L1 data cache for reading.
    pub(super) fn load_line(&mut self, hart: usize, key: u64, now: u64) -> u64 {
        let (stall, place) = self.ask(Some(hart), key, now);
        let line = self.level2.line(place);
        let state = if line.sharers == 0 {
            line.own(hart);
            EXCLUSIVE
        } else {
            line.sharers |= 1 << hart;
            SHARED
        };
        self.insert_data(hart, key, state);
        stall
    }

    /// Makes a shared line the hart's own and dirty.
    pub(super) fn upgrade(&mut self, hart: usize, key: u64) -> u64 {
        if let Some(touched) = &mut self.touched {
            touched[hart].upgrade(key);
        }
        let mut cost = self.costs.upgrade;
        // It is there, since the L2 cache has all that an L1 cache has.
        if let Some(place) = self.level2.find(key) {
            cost += self.claim(hart, key, place);
        }
        self.harts[hart].data.set_state(key, MODIFIED);
        cost
    }

    /// Brings a line into the L1 data cache for a store.
    pub(super) fn store_miss(&mut self, hart: usize, key: u64, now: u64) -> u64 {
        let level2_misses = self.harts[hart].counts.level2_misses;
        let cost = self.store_line(hart, key, now);
        self.book_miss((hart, now), By::Write, key, cost, level2_misses);
        cost
    }

    /// Makes a line the hart's own, and leaves it clean.
    pub(super) fn own_line(&mut self, hart: usize, key: u64, now: u64) -> u64 {
        let cost = if self.harts[hart].data.state(key) == SHARED {
            self.upgrade(hart, key)
        } else {
            self.store_line(hart, key, now)
        };
        self.harts[hart].data.set_state(key, EXCLUSIVE);
        cost
    }

    /// Makes a line that the hart does not have its own and dirty, without its content.
    pub(super) fn allocate(&mut self, hart: usize, key: u64, now: u64) -> u64 {
        let mut cost = self.latency(key);
        if let Some(place) = self.level2.look_up(key) {
            self.harts[hart].counts.level2_hits += 1;
            cost += self.claim(hart, key, place);
        } else {
            self.harts[hart].counts.level2_misses += 1;
            let place = self.take_place(Some(hart), key, now + cost);
            self.level2.line(place).own(hart);
        }
        self.insert_data(hart, key, MODIFIED);
        cost
    }

    /// `cbo.clean`, `cbo.flush` and `cbo.inval` of a line: how long until memory has it, or the caches no longer have
    /// it.
    pub(super) fn write_out(
        &mut self,
        hart: usize,
        key: u64,
        operation: BlockOperation,
        now: u64,
    ) -> u64 {
        let mut cost = self.latency(key);
        let Some(place) = self.level2.find(key) else {
            return cost;
        };
        let line = *self.level2.line(place);
        let (own, owner) = (1 << hart, line.owner());
        let modified = owner.is_some_and(|owner| self.harts[owner].data.state(key) == MODIFIED);
        if operation == BlockOperation::Clean {
            if let Some(owner) = owner.filter(|_| modified) {
                self.harts[owner].data.set_state(key, EXCLUSIVE);
            }
            self.level2.line(place).dirty = false;
        } else {
            self.drop_copies(key, &line);
            self.level2.remove(key);
            let invalidated = line.sharers & !own;
            self.harts[hart].counts.invalidations += u64::from(invalidated.count_ones());
        }
        if owner.is_some_and(|owner| owner != hart) {
            self.harts[hart].counts.interventions += 1;
            cost += if modified {
                self.costs.intervention
            } else {
                self.costs.snoop
            };
        } else if operation != BlockOperation::Clean && line.sharers & !own != 0 {
            cost += self.costs.invalidation;
        }
        if (modified || line.dirty)
            && operation != BlockOperation::Invalidate
            && !self.level2.is_on_chip(key)
        {
            self.harts[hart].counts.level2_write_backs += 1;
            cost += self.memory.write(self.address(key), now + cost);
        }
        cost
    }

    /// From an L1 miss to the line, where the L2 cache has it, or the memory on the chip.
    #[inline]
    pub(super) fn latency(&self, key: u64) -> u64 {
        if self.level2.is_on_chip(key) {
            self.costs.onchip
        } else {
            self.costs.level2
        }
    }

    /// The L2 cache reads the line behind one that is fetched as instructions, if it does that at all, does not have it
    /// and has a place for it among its fills. Both are in one page of 4 KiB.
    fn prefetch_next(&mut self, key: u64, now: u64) {
        let next = key + 4;
        let page = |key| self.address(key) >> 12;
        if page(next) != page(key) || self.level2.find(next).is_some() {
            return;
        }
        let now = now + self.costs.level2;
        if self.next_lines.is_full(now) {
            return;
        }
        let (time, _) = self.fill(None, next, now);
        self.next_lines.insert(next, Filled::Code, now + time);
    }

    /// Brings a line into the L1 data cache for writing.
    fn store_line(&mut self, hart: usize, key: u64, now: u64) -> u64 {
        let mut cost = self.latency(key);
        if let Some(place) = self.level2.look_up(key) {
            self.harts[hart].counts.level2_hits += 1;
            cost += self.next_lines.wait(key, Filled::Code, now + cost);
            cost += self.claim(hart, key, place);
        } else {
            let (time, place) = self.fill(Some(hart), key, now + cost);
            cost += time;
            self.level2.line(place).own(hart);
        }
        self.insert_data(hart, key, MODIFIED);
        cost
    }

    /// Takes a line, which the L2 cache has at `place`, from all other L1 data caches; the directory has it as the
    /// hart's own.
    fn claim(&mut self, hart: usize, key: u64, place: usize) -> u64 {
        let line = self.level2.line(place);
        let owner = line.owner();
        let mut others = line.sharers & !(1 << hart);
        line.own(hart);
        if others == 0 {
            return 0;
        }
        let mut dirty = false;
        self.harts[hart].counts.invalidations += u64::from(others.count_ones());
        while others != 0 {
            dirty |= self.harts[others.trailing_zeros() as usize]
                .data
                .remove(key)
                == MODIFIED;
            others &= others - 1;
        }
        if owner.is_none() {
            return self.costs.invalidation;
        }
        self.harts[hart].counts.interventions += 1;
        if dirty {
            self.level2.line(place).dirty = true;
            self.costs.intervention
        } else {
            self.costs.snoop
        }
    }

    /// Finds a line in the L2 cache, or brings it there, for reading: what that takes, and where it is. An L1 data
    /// cache that has it for itself shares it from now on. `None` is the fabric, of which nothing is counted.
    pub(super) fn ask(&mut self, hart: Option<usize>, key: u64, now: u64) -> (u64, usize) {
        let mut cost = self.latency(key);
        let Some(place) = self.level2.look_up(key) else {
            let (time, place) = self.fill(hart, key, now + cost);
            return (cost + time, place);
        };
        if let Some(counts) = self.counts_of(hart) {
            counts.level2_hits += 1;
        }
        cost += self.next_lines.wait(key, Filled::Code, now + cost);
        let line = self.level2.line(place);
        if let Some(owner) = line.owner() {
            line.disown();
            if self.harts[owner].data.set_state(key, SHARED) == MODIFIED {
                line.dirty = true;
                cost += self.costs.intervention;
            } else {
                cost += self.costs.snoop;
            }
            if let Some(counts) = self.counts_of(hart) {
                counts.interventions += 1;
            }
        }
        (cost, place)
    }

    /// The counters of the requester; the fabric has none.
    fn counts_of(&mut self, hart: Option<usize>) -> Option<&mut Counts> {
        hart.map(|hart| &mut self.harts[hart].counts)
    }

    /// The fabric writes a line, the whole of it or a part, through the coherent port: what that takes. No L1 cache has
    /// it then, and the L2 cache has it dirty.
    pub(super) fn fabric_write(&mut self, key: u64, whole: bool, now: u64) -> u64 {
        let mut cost = self.latency(key);
        let place = if let Some(place) = self.level2.look_up(key) {
            let line = *self.level2.line(place);
            if line.sharers != 0 {
                let owned = line.owner().is_some();
                cost += match (self.drop_copies(key, &line), owned) {
                    (true, _) => self.costs.intervention,
                    (false, true) => self.costs.snoop,
                    (false, false) => self.costs.invalidation,
                };
            } else {
                self.drop_copies(key, &line);
            }
            let line = self.level2.line(place);
            (line.sharers, line.fetchers) = (0, 0);
            line.disown();
            place
        } else if whole {
            self.take_place(None, key, now + cost)
        } else {
            let (time, place) = self.fill(None, key, now + cost);
            cost += time;
            place
        };
        self.level2.line(place).dirty = true;
        cost
    }

    /// Reads a line from memory into the L2 cache: what that takes, and where it is. The line that makes room leaves
    /// all L1 caches too.
    fn fill(&mut self, hart: Option<usize>, key: u64, now: u64) -> (u64, usize) {
        if let Some(counts) = self.counts_of(hart) {
            counts.level2_misses += 1;
        }
        // The line that was asked for goes first.
        let cost = self.memory.access(self.address(key), now);
        (cost, self.take_place(hart, key, now + cost))
    }

    /// Makes room for a line in the L2 cache, and gives where. The one that leaves is written to memory where it has to
    /// be.
    fn take_place(&mut self, hart: Option<usize>, key: u64, now: u64) -> usize {
        let (place, victim) = self.level2.insert(key);
        if let Some((victim, line)) = victim
            && (self.drop_copies(victim, &line) || line.dirty)
        {
            self.memory.write(self.address(victim), now);
            if let Some(counts) = self.counts_of(hart) {
                counts.level2_write_backs += 1;
            }
        }
        place
    }

    /// The lowest address of a line.
    const fn address(&self, key: u64) -> u64 {
        key >> 2 << self.costs.line_shift
    }

    /// Takes a line that leaves the L2 cache out of all L1 caches: whether one had it dirty.
    pub(super) fn drop_copies(&mut self, key: u64, line: &Line) -> bool {
        let mut dirty = false;
        let mut sharers = line.sharers;
        while sharers != 0 {
            dirty |= self.harts[sharers.trailing_zeros() as usize]
                .data
                .remove(key)
                == MODIFIED;
            sharers &= sharers - 1;
        }
        let mut fetchers = line.fetchers;
        while fetchers != 0 {
            let this = &mut self.harts[fetchers.trailing_zeros() as usize];
            this.code.remove(key);
            if this.last_fetch == key {
                this.last_fetch = NO_KEY;
            }
            fetchers &= fetchers - 1;
        }
        dirty
    }

    /// Puts a line into an L1 data cache; the directory learns which line left for it.
    fn insert_data(&mut self, hart: usize, key: u64, state: u64) {
        let this = &mut self.harts[hart];
        let victim = this.data.insert(key, state);
        if victim == 0 {
            return;
        }
        let dirty = victim & 3 == MODIFIED;
        this.counts.data_write_backs += u64::from(dirty);
        if let Some(place) = self.level2.find(victim & !3) {
            let line = self.level2.line(place);
            line.sharers &= !(1 << hart);
            if line.owner() == Some(hart) {
                line.disown();
            }
            line.dirty |= dirty;
        }
    }
}
