//! Costs of the timed mode: pipeline, branches, translation, caches, memory, buses.
//!
//! The engine runs instructions; this module tells how long they take and knows nothing of what they do. All times
//! are in cycles of the harts' clock, all costs come from the profile ([`parameters`]), and all calls give *stall
//! cycles*: what the hart waits on top of the cycles that the instructions take to issue ([`Schedule`]).
//!
//! Callers and functions:
//!
//! | when | call |
//! |---|---|
//! | a block is decoded | [`Schedule::next`] for each instruction, [`Timing::fetch_lines`] for the block |
//! | a block is entered | [`Timing::fetch`] |
//! | a control transfer is executed | [`Timing::branch`] |
//! | a load or store reaches memory | [`Timing::data`]; `lr`, `sc`, atomics: [`Timing::load_reserved`], [`Timing::store_conditional`], [`Timing::atomic`] |
//! | it reaches anything else | [`Timing::uncached`] |
//! | the engine's own TLB misses | [`Timing::tlb`]; then for a walk [`Timing::walk_access`] for each page table entry, and [`Timing::tlb_fill`] when it gave a translation |
//! | `sfence.vma`, `hfence.*` | [`Timing::tlb_remove`] |
//! | a prefetch, `cbo.*` | [`Timing::prefetch`], [`Timing::operate_on_block`] |
//! | `fence`, `fence.i` | [`Timing::fence`], [`Timing::fence_i`] |
//! | a trap is taken | [`Timing::trap`] |
//! | a bus master has written memory | [`Timing::master_write`] |
//! | the fabric reads or writes memory | [`Timing::fabric_access`] |
//!
//! # What is modelled, and what is not
//!
//! Loads, fetches, walks and atomics that miss keep the hart waiting until the data is there; stores go through the
//! store buffer. Stores that hit a line that the cache owns are done at once, also when older ones are on their way.
//! Coherence is that of a directory in the inclusive L2 cache (MESI); a request finds the state that the calls before
//! it have left, whatever the times of these calls. A line is in its new state when the call returns, though its
//! data may come later; only the hart that stored waits for it. Bus masters read coherently and keep no hart waiting.
//! L2 banks and ports and the memory on the chip are always free; memory's banks and channel are not. Software
//! prefetches, and the L2 cache where the profile says so; nothing is fetched on a wrongly predicted path. Victims go
//! through buffers that are never full. Predictors know virtual addresses alone, not the address space. The pipeline's
//! blindness across blocks is described at [`Schedule`].
//!
//! # Exactness of the filter in front
//!
//! The engine need not ask for pages that it knows to be in an L1 TLB, since a hit changes nothing there. Every page
//! that leaves an L1 TLB is told: by [`Timing::tlb`], [`Timing::tlb_fill`] or [`Timing::tlb_remove`].

mod cache;
mod check;
mod coherence;
mod counts;
mod fills;
mod level2;
mod memory;
pub mod parameters;
mod pipeline;
mod predictor;
mod reloads;
mod store_buffer;
mod tlb;
mod touched;
mod uses;
mod wakes;
mod worst;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use check::{Held, LineState};
pub use counts::{Counts, Stalls};
pub use pipeline::Schedule;
pub use predictor::BranchKind;
pub use reloads::{Cost, Reloads, Watch, Watched};
pub use tlb::{Lookup, Page, Side};
pub use touched::{Count, Lines};
pub(crate) use uses::{Entered, Registers};
pub use uses::{Life, RegisterOf, Turn, Uses};
pub use wakes::{Use, Wake};
pub use worst::Worst;

use crate::account::Doing;
use crate::fault;
use crate::privileged::BlockOperation;
use crate::privileged::Exception;
use crate::state::BadState;
use cache::{Cache, EXCLUSIVE, MODIFIED, SHARED};
use fills::{Filled, Fills};
use level2::Level2;
use memory::MainMemory;
use parameters::{Access, MAX_HARTS, Parameters, Pipeline, Region, Walks};
use predictor::{Outcome, Predictor};
use reloads::{Books, By, Miss};
use store_buffer::StoreBuffer;
use tlb::Tlbs;
use touched::Touched;
use uses::Follower;
use wakes::Wakes;

/// No line has this key: keys have two zero bits.
const NO_KEY: u64 = 1;
/// Stands for the keys of code in more than one line, and is none.
const SEVERAL_KEYS: u64 = 2;
/// `lr`, `sc` and atomics: the bits of [`immediate`](crate::decode::Instruction::immediate).
const RELEASE: i32 = 1;
/// Bits of a fence's predecessor set: device output and memory writes (Volume I, 20191213, section 2.7).
const WRITES: u8 = 0b0101;

/// log2 of a cache block's bytes where there are no caches.
const BLOCK_SHIFT: u32 = 6;

/// An access to memory, for those who count lines and uses.
#[derive(Clone, Copy)]
enum Touch {
    Load,
    Store,
    /// An atomic, or a mark that a walk leaves.
    Both,
    /// An operation on a cache block.
    Block,
    Prefetch {
        code: bool,
    },
}

/// What a line is prefetched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefetch {
    /// Execution: `prefetch.i`.
    Fetch,
    /// Loads: `prefetch.r`.
    Read,
    /// Stores: `prefetch.w`.
    Write,
}

/// The cost of everything that a board's harts do.
#[derive(Clone, Debug)]
pub struct Timing {
    parameters: Parameters,
    seed: u64,
    costs: Costs,
    harts: Vec<Hart>,
    /// Whether there are caches at all; without them `level2` is idle.
    cached: bool,
    level2: Level2,
    /// What the L2 cache itself has begun to read.
    next_lines: Fills,
    memory: MainMemory,
    /// No part of the state: they change nothing.
    books: Option<Box<Books>>,
    /// No part of the state.
    wakes: Option<Box<Wakes>>,
    /// By hart, where lines are counted. No part of the state.
    touched: Option<Box<[Touched]>>,
    /// Where uses are followed. No part of the state.
    uses: Option<Box<Follower>>,
    /// Whether `touched` or `uses` is there: each access asks for this alone.
    observed: bool,
}

/// The profile's parameters, ready for use.
#[derive(Clone, Debug)]
struct Costs {
    pipeline: Pipeline,
    mispredict: u64,
    redirect: u64,
    level2: u64,
    onchip: u64,
    intervention: u64,
    snoop: u64,
    invalidation: u64,
    upgrade: u64,
    tlb: u64,
    walks: Walks,
    device: Access,
    regions: Box<[Region]>,
    /// log2 of a line's bytes; 63 without caches.
    line_shift: u32,
}

/// The state of one hart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Hart {
    /// Key of the line that was fetched last.
    last_fetch: u64,
    data: Cache,
    code: Cache,
    stores: StoreBuffer,
    fills: Fills,
    predictor: Option<Predictor>,
    tlbs: Option<Tlbs>,
    counts: Counts,
}

impl Hart {
    fn fits(&self, other: &Self) -> bool {
        other.counts.values().into_iter().all(is_time)
            && self.data.fits(&other.data)
            && self.code.fits(&other.code)
            && self.stores.fits(&other.stores)
            && self.fills.fits(&other.fills)
            && match (&self.predictor, &other.predictor) {
                (Some(one), Some(other)) => one.fits(other),
                (None, None) => true,
                _ => false,
            }
            && match (&self.tlbs, &other.tlbs) {
                (Some(one), Some(other)) => one.fits(other),
                (None, None) => true,
                _ => false,
            }
    }
}

/// Whether a cycle (or a count) of a saved state is one that a run can come to: nothing overflows then.
const fn is_time(cycle: u64) -> bool {
    cycle < 1 << 62
}

/// A state that another board has.
fn other_profile() -> BadState {
    BadState("timing: the state is that of another profile or number of harts".to_owned())
}

#[derive(Serialize, Deserialize)]
struct State {
    harts: Vec<Hart>,
    level2: Level2,
    next_lines: Fills,
    memory: memory::State,
}

impl Timing {
    /// The costs of `harts` (1 to 16) harts as a profile has them: caches, TLBs and predictors empty. Random
    /// replacement follows from `seed` alone.
    ///
    /// # Panics
    ///
    /// When `harts` is out of range, which is the board's fault and no guest's.
    #[must_use]
    pub fn new(parameters: &Parameters, harts: usize, seed: u64) -> Self {
        assert!((1..=MAX_HARTS).contains(&harts), "{harts} harts");
        let caches = parameters.caches.as_ref();
        let hart = |number: u64| Hart {
            // Without a cache all keys are 0, and nothing is ever fetched.
            last_fetch: if caches.is_some() { NO_KEY } else { 0 },
            data: caches.map_or_else(Cache::none, |caches| {
                Cache::new(&caches.l1d, seed, 2 * number + 1)
            }),
            code: caches.map_or_else(Cache::none, |caches| {
                Cache::new(&caches.l1i, seed, 2 * number + 2)
            }),
            stores: StoreBuffer::new(parameters.store_buffer.as_ref()),
            fills: Fills::new(parameters.prefetch.as_ref()),
            predictor: parameters.predictor.as_ref().map(Predictor::new),
            tlbs: parameters.tlb.as_ref().map(Tlbs::new),
            counts: Counts::default(),
        };
        let cost = |of: fn(&parameters::Caches) -> u32| u64::from(caches.map_or(0, of));
        let predictor = parameters.predictor.as_ref();
        let second = parameters.tlb.as_ref().and_then(|tlb| tlb.second.as_ref());
        Self {
            parameters: parameters.clone(),
            seed,
            costs: Costs {
                pipeline: parameters.pipeline.clone(),
                mispredict: u64::from(predictor.map_or(0, |predictor| predictor.mispredict)),
                redirect: u64::from(predictor.map_or(0, |predictor| predictor.redirect)),
                level2: cost(|caches| caches.l2_latency),
                onchip: u64::from(
                    parameters
                        .onchip
                        .as_ref()
                        .map_or(0, |onchip| onchip.latency),
                ),
                intervention: cost(|caches| caches.intervention),
                snoop: cost(|caches| caches.snoop),
                invalidation: cost(|caches| caches.invalidation),
                upgrade: cost(|caches| caches.upgrade),
                tlb: u64::from(second.map_or(0, |second| second.latency)),
                walks: parameters
                    .tlb
                    .as_ref()
                    .map_or(Walks::Level1, |tlb| tlb.walks),
                device: parameters.device,
                regions: parameters.regions.clone().into(),
                line_shift: caches.map_or(63, |caches| caches.l1d.line.trailing_zeros()),
            },
            harts: (0..harts as u64).map(hart).collect(),
            cached: caches.is_some(),
            level2: caches.map_or_else(Level2::none, |caches| {
                Level2::new(&caches.l2, parameters.onchip.as_ref(), seed, 0)
            }),
            next_lines: Fills::new(caches.and_then(|caches| caches.next_line.as_ref())),
            memory: MainMemory::new(&parameters.memory, harts + 1),
            books: None,
            wakes: None,
            touched: None,
            uses: None,
            observed: false,
        }
    }

    /// Empties caches, TLBs, predictors and store buffers and closes all rows, as after [`new`](Self::new); counts
    /// stay. For a run that comes to the timed mode from the fast one, of which the models have seen nothing. No page
    /// is in an L1 TLB afterwards, and the engine is not told of each.
    pub fn forget(&mut self) {
        let counts: Vec<Counts> = self.harts.iter().map(|hart| hart.counts).collect();
        let mut books = self.books.take();
        let wakes = self.wakes.take();
        let touched = self.touched.take();
        let uses = self.uses.take();
        if let Some(books) = &mut books {
            books.forget();
        }
        *self = Self::new(&self.parameters, counts.len(), self.seed);
        self.books = books;
        self.wakes = wakes;
        self.touched = touched;
        self.uses = uses;
        self.observed = self.touched.is_some() || self.uses.is_some();
        for (hart, counts) in self.harts.iter_mut().zip(counts) {
            hart.counts = counts;
        }
    }

    /// How many places a cache has, and the lowest bit of a physical address that is in its tags. `None`: there are no
    /// caches.
    pub(crate) fn tags(&self, cache: fault::Cache) -> Option<(usize, u32)> {
        let hart = self.harts.first().filter(|_| self.cached)?;
        Some(match cache {
            fault::Cache::Data => (hart.data.words().len(), hart.data.first_tag_bit()),
            fault::Cache::Code => (hart.code.words().len(), hart.code.first_tag_bit()),
            fault::Cache::Level2 => (
                self.level2.words().len(),
                self.level2.first_tag_bit(self.costs.line_shift),
            ),
        })
    }

    /// Changes a bit of a tag, which [`tags`](Self::tags) has: a fault. Afterwards caches and directory disagree about
    /// the line, which costs time alone.
    pub(crate) fn flip_tag(&mut self, cache: fault::Cache, hart: usize, place: usize, bit: u32) {
        let shift = self.costs.line_shift;
        match cache {
            fault::Cache::Data => self.harts[hart].data.flip_tag(place, bit),
            fault::Cache::Code => self.harts[hart].code.flip_tag(place, bit),
            fault::Cache::Level2 => self.level2.flip_tag(place, bit, shift),
        }
    }

    /// The pipeline's costs, for [`Schedule::new`].
    #[must_use]
    pub const fn pipeline(&self) -> &Pipeline {
        &self.costs.pipeline
    }

    /// The counters of a hart.
    #[must_use]
    pub fn counts(&self, hart: usize) -> &Counts {
        &self.harts[hart].counts
    }

    /// A hart's stall cycles.
    #[must_use]
    pub fn stalls(&self, hart: usize) -> Stalls {
        self.counts(hart).into()
    }

    /// Sets a hart's counts to zero.
    pub fn reset_counts(&mut self, hart: usize) {
        self.harts[hart].counts = Counts::default();
    }

    // Fetching.

    /// The number of I-cache lines that `bytes` bytes of code from the physical address `physical` lie in, for
    /// [`fetch`](Self::fetch); 1 without caches. They must not cross a page.
    #[must_use]
    pub const fn fetch_lines(&self, physical: u64, bytes: u64) -> u32 {
        let last = physical + if bytes == 0 { 0 } else { bytes - 1 };
        ((last >> self.costs.line_shift) - (physical >> self.costs.line_shift) + 1) as u32
    }

    /// The only line that `lines` lines of code from `physical` on lie in, for `is_fetched`.
    #[must_use]
    pub fn only_line(&self, physical: u64, lines: u32) -> u64 {
        match &self.harts[..] {
            [hart, ..] if lines == 1 => hart.code.key(physical),
            _ => SEVERAL_KEYS,
        }
    }

    /// Whether a [`fetch`](Self::fetch) of code would cost nothing, and change nothing: its
    /// [only line](Self::only_line) is that of the last call.
    #[inline(always)]
    pub(crate) fn is_fetched(&self, hart: usize, only_line: u64) -> bool {
        !self.observed && self.harts[hart].last_fetch == only_line
    }

    /// Code is entered at `physical`, in `lines` lines from there on. Its lines are looked up unless there is one
    /// alone and it is that of the last call.
    #[inline]
    pub fn fetch(&mut self, hart: usize, physical: u64, lines: u32, now: u64) -> u64 {
        if self.observed {
            self.touch_code(hart, physical, lines);
        }
        let this = &self.harts[hart];
        if lines == 1 && this.code.key(physical) == this.last_fetch {
            return 0;
        }
        self.fetch_more(hart, physical, lines, now)
    }

    #[inline(never)]
    fn fetch_more(&mut self, hart: usize, physical: u64, lines: u32, now: u64) -> u64 {
        if !self.cached {
            return 0;
        }
        let mut stall = 0;
        let mut key = self.harts[hart].code.key(physical);
        for _ in 0..lines {
            let this = &mut self.harts[hart];
            if key != this.last_fetch {
                this.last_fetch = key;
                this.counts.fetch_lines += 1;
                if this.code.recent(key) != SHARED && this.code.look_up(key) == 0 {
                    stall += self.fetch_miss(hart, key, now + stall);
                } else if !self.harts[hart].fills.are_done(now + stall) {
                    let this = &mut self.harts[hart];
                    let wait = this.fills.wait(key, Filled::Code, now + stall);
                    this.counts.stall_fetch += wait;
                    stall += wait;
                }
            }
            key += 4;
        }
        stall
    }

    fn fetch_miss(&mut self, hart: usize, key: u64, now: u64) -> u64 {
        let level2_misses = self.harts[hart].counts.level2_misses;
        let stall = self.fetch_line(hart, key, now);
        let this = &mut self.harts[hart];
        this.counts.fetch_misses += 1;
        this.counts.stall_fetch += stall;
        self.book_miss((hart, now), By::Fetch, key, stall, level2_misses);
        stall
    }

    /// `fence.i`: the hart's instruction cache is emptied when its stores are done.
    pub fn fence_i(&mut self, hart: usize, now: u64) -> u64 {
        let this = &mut self.harts[hart];
        this.code.clear();
        if self.cached {
            this.last_fetch = NO_KEY;
        }
        let stall = this.stores.drain_wait(now);
        this.counts.stall_fence += stall;
        stall
    }

    // Loads and stores.

    /// Whether a load or store as of [`data`](Self::data) costs nothing, at `since` or at any time behind it. Then it is
    /// done; else nothing has changed.
    #[inline(always)]
    pub(crate) fn is_free(&mut self, hart: usize, physical: u64, write: bool, since: u64) -> bool {
        if self.observed {
            return false;
        }
        let this = &mut self.harts[hart];
        let state = this.data.recent(this.data.key(physical));
        if write {
            let is_free = state == MODIFIED && this.fills.are_done(since);
            this.counts.stores += u64::from(is_free);
            is_free
        } else {
            let is_hit = state.wrapping_sub(1) < 3;
            let is_free = is_hit && this.stores.is_quiet(since) && this.fills.are_done(since);
            this.counts.loads += u64::from(is_free);
            is_free
        }
    }

    /// A load or store of memory at `physical`, which lies within one line: the engine splits others.
    #[inline]
    pub fn data(&mut self, hart: usize, physical: u64, write: bool, now: u64) -> u64 {
        let touch = if write { Touch::Store } else { Touch::Load };
        self.touch(hart, physical, touch, now);
        let this = &mut self.harts[hart];
        let key = this.data.key(physical);
        let state = this.data.recent(key);
        if write {
            this.counts.stores += 1;
            if state == MODIFIED && this.fills.are_done(now) {
                return 0;
            }
            self.store_more(hart, physical, now)
        } else {
            this.counts.loads += 1;
            if state.wrapping_sub(1) < 3 && this.stores.is_quiet(now) && this.fills.are_done(now) {
                return 0;
            }
            self.load_more(hart, physical, now)
        }
    }

    /// A load that does not hit the most recently used line of its set, or must look at the store buffer.
    #[inline(never)]
    fn load_more(&mut self, hart: usize, physical: u64, now: u64) -> u64 {
        let this = &mut self.harts[hart];
        let key = this.data.key(physical);
        let stall = if this.data.look_up(key) != 0 {
            let wait = this.fills.wait(key, Filled::Data, now);
            wait + this.stores.line_wait(key, now + wait)
        } else if !self.cached {
            let wait = this.stores.line_wait(physical >> 3 << 2, now);
            wait + self.memory.access(physical, now + wait)
        } else {
            this.counts.load_misses += 1;
            self.load_miss(hart, key, now)
        };
        self.harts[hart].counts.stall_load += stall;
        stall
    }

    /// A store that does not hit the most recently used line of its set, dirty already.
    #[inline(never)]
    fn store_more(&mut self, hart: usize, physical: u64, now: u64) -> u64 {
        let this = &mut self.harts[hart];
        let key = this.data.key(physical);
        let (line, duration) = if !self.cached {
            // Words of 8 bytes stand for lines.
            (physical >> 3 << 2, self.memory.access(physical, now))
        } else {
            match this.data.look_up(key) {
                state @ (MODIFIED | EXCLUSIVE) => {
                    if state == EXCLUSIVE {
                        this.data.set_state(key, MODIFIED);
                    }
                    match this.fills.wait(key, Filled::Data, now) {
                        0 => return 0,
                        wait => (key, wait),
                    }
                }
                SHARED => {
                    this.counts.upgrades += 1;
                    let wait = this.fills.wait(key, Filled::Data, now);
                    (key, wait + self.upgrade(hart, key))
                }
                _ => {
                    this.counts.store_misses += 1;
                    (key, self.store_miss(hart, key, now))
                }
            }
        };
        let this = &mut self.harts[hart];
        let stall = this.stores.store(line, duration, now);
        this.counts.stall_store += stall;
        stall
    }

    // Cache blocks.

    /// A prefetch of the line that holds `physical`. The hart waits for a place among its fills under way, and for
    /// nothing else: the line is there when the fill is done, and an access to it waits until then.
    pub fn prefetch(&mut self, hart: usize, kind: Prefetch, physical: u64, now: u64) -> u64 {
        let key = self.harts[hart].data.key(physical);
        if self.parameters.prefetch.is_some() {
            let touch = Touch::Prefetch {
                code: kind == Prefetch::Fetch,
            };
            self.touch(hart, physical, touch, now);
        }
        let this = &self.harts[hart];
        let there = match kind {
            Prefetch::Fetch => this.code.state(key) != 0,
            Prefetch::Read => this.data.state(key) != 0,
            Prefetch::Write => this.data.state(key) >= EXCLUSIVE,
        };
        if there || !self.cached || self.parameters.prefetch.is_none() {
            return 0;
        }
        let stall = self.harts[hart].fills.place_wait(now);
        let begin = now + stall;
        let level2_misses = self.harts[hart].counts.level2_misses;
        let (cost, filled) = match kind {
            Prefetch::Fetch => (self.fetch_line(hart, key, begin), Filled::Code),
            Prefetch::Read => (self.load_line(hart, key, begin), Filled::Data),
            Prefetch::Write => (self.own_line(hart, key, begin), Filled::Data),
        };
        self.note_miss(hart, key, kind == Prefetch::Fetch, level2_misses);
        let this = &mut self.harts[hart];
        this.fills.insert(key, filled, begin + cost);
        if kind == Prefetch::Fetch {
            this.counts.stall_fetch += stall;
        } else {
            this.counts.stall_load += stall;
        }
        stall
    }

    /// `cbo.zero`, `cbo.clean`, `cbo.flush` or `cbo.inval` of the block at `physical`, which is a line. It goes through
    /// the store buffer. `cbo.zero` needs nothing from memory.
    pub fn operate_on_block(
        &mut self,
        hart: usize,
        operation: BlockOperation,
        physical: u64,
        now: u64,
    ) -> u64 {
        self.touch(hart, physical, Touch::Block, now);
        let this = &mut self.harts[hart];
        let zeros = operation == BlockOperation::Zero;
        this.counts.stores += u64::from(zeros);
        let key = this.data.key(physical);
        let (line, duration) = match (self.cached, zeros) {
            (false, true) => (physical >> 3 << 2, self.memory.access(physical, now)),
            (false, false) => return 0,
            (true, false) => (key, self.write_out(hart, key, operation, now)),
            (true, true) => match this.data.look_up(key) {
                MODIFIED => return 0,
                EXCLUSIVE => {
                    this.data.set_state(key, MODIFIED);
                    return 0;
                }
                SHARED => {
                    this.counts.upgrades += 1;
                    (key, self.upgrade(hart, key))
                }
                _ => {
                    this.counts.store_misses += 1;
                    (key, self.allocate(hart, key, now))
                }
            },
        };
        let this = &mut self.harts[hart];
        let stall = this.stores.store(line, duration, now);
        this.counts.stall_store += stall;
        stall
    }

    // Atomics and fences.

    /// `lr.w`, `lr.d`: a load; with `rl` it waits for the stores before it. `ordering` is the instruction's
    /// immediate: bit 1 `aq`, which costs nothing since loads wait for their data anyway, and bit 0 `rl`.
    pub fn load_reserved(&mut self, hart: usize, physical: u64, ordering: i32, now: u64) -> u64 {
        let wait = self.release(hart, ordering, now);
        wait + self.data(hart, physical, false, now + wait)
    }

    /// `sc.w`, `sc.d`; one that fails stores nothing and costs nothing but the wait of `rl`.
    pub fn store_conditional(
        &mut self,
        hart: usize,
        physical: u64,
        ordering: i32,
        stores: bool,
        now: u64,
    ) -> u64 {
        if stores {
            self.atomic(hart, physical, ordering, now)
        } else {
            self.release(hart, ordering, now)
        }
    }

    /// An atomic memory operation: done in the L1 data cache, which owns the line first; the hart waits for that.
    /// `ordering` as for [`load_reserved`](Self::load_reserved).
    pub fn atomic(&mut self, hart: usize, physical: u64, ordering: i32, now: u64) -> u64 {
        let wait = self.release(hart, ordering, now);
        let now = now + wait;
        self.touch(hart, physical, Touch::Both, now);
        let this = &mut self.harts[hart];
        this.counts.atomics += 1;
        this.counts.stores += 1;
        let key = this.data.key(physical);
        let stall = if !self.cached {
            let wait = this.stores.line_wait(physical >> 3 << 2, now);
            wait + self.memory.access(physical, now + wait)
        } else {
            match this.data.look_up(key) {
                state @ (MODIFIED | EXCLUSIVE) => {
                    if state == EXCLUSIVE {
                        this.data.set_state(key, MODIFIED);
                    }
                    let wait = this.fills.wait(key, Filled::Data, now);
                    wait + this.stores.line_wait(key, now + wait)
                }
                SHARED => {
                    this.counts.upgrades += 1;
                    let wait = this.fills.wait(key, Filled::Data, now);
                    wait + self.upgrade(hart, key)
                }
                _ => {
                    this.counts.store_misses += 1;
                    self.store_miss(hart, key, now)
                }
            }
        };
        self.harts[hart].counts.stall_atomic += stall;
        wait + stall
    }

    fn release(&mut self, hart: usize, ordering: i32, now: u64) -> u64 {
        if ordering & RELEASE == 0 {
            return 0;
        }
        let this = &mut self.harts[hart];
        let wait = this.stores.drain_wait(now);
        this.counts.stall_atomic += wait;
        wait
    }

    /// `fence`, with its predecessor set (bits 3:0 are input, output, reads, writes): waits for the stores before
    /// it when it orders writes or output. `fence.tso` waits for nothing (`predecessors` 0): loads are in order.
    pub fn fence(&mut self, hart: usize, predecessors: u8, now: u64) -> u64 {
        if predecessors & WRITES == 0 {
            return 0;
        }
        let this = &mut self.harts[hart];
        let stall = this.stores.drain_wait(now);
        this.counts.stall_fence += stall;
        stall
    }

    // Devices and bus masters.

    /// An access to what is not memory. Accesses of one hart to devices stay in order: a read waits for the posted
    /// writes before it. What the device itself takes comes on top.
    pub fn uncached(&mut self, hart: usize, physical: u64, write: bool, now: u64) -> u64 {
        let access = self.access(physical);
        if let Some(touched) = &mut self.touched {
            touched[hart].device();
        }
        let this = &mut self.harts[hart];
        let stall = if write && access.posted {
            u64::from(access.handover) + this.stores.post(u64::from(access.write), now)
        } else {
            this.stores.device_wait(now) + u64::from(if write { access.write } else { access.read })
        };
        this.counts.uncached += 1;
        this.counts.stall_uncached += stall;
        stall
    }

    fn access(&self, physical: u64) -> Access {
        let behind = self
            .costs
            .regions
            .partition_point(|region| region.address <= physical);
        match behind
            .checked_sub(1)
            .map(|index| &self.costs.regions[index])
        {
            Some(region) if physical - region.address < region.size => Access {
                read: region.read,
                write: region.write,
                posted: region.posted,
                handover: region.handover,
            },
            _ => self.costs.device,
        }
    }

    /// A bus master has written `bytes` bytes of memory: their lines leave all caches. Dirty ones are written back.
    pub fn master_write(&mut self, physical: u64, bytes: u64, now: u64) {
        if !self.cached || bytes == 0 {
            return;
        }
        let shift = self.costs.line_shift;
        for number in physical >> shift..=(physical + (bytes - 1)) >> shift {
            let key = number << 2;
            let Some(line) = self.level2.remove(key) else {
                continue;
            };
            if (self.drop_copies(key, &line) || line.dirty) && !self.level2.is_on_chip(key) {
                self.memory.write(number << shift, now);
            }
        }
    }

    /// The fabric reads or writes memory: how many cycles that takes. A `coherent` access is one of the L2 cache: it
    /// finds what the L1 caches have, allocates what is not there, and a write takes the line from them. Others are
    /// memory's alone, and the caches learn nothing of them.
    pub fn fabric_access(
        &mut self,
        coherent: bool,
        physical: u64,
        bytes: u64,
        write: bool,
        now: u64,
    ) -> u64 {
        // Without caches words of 8 bytes stand for lines.
        let shift = if self.cached {
            self.costs.line_shift
        } else {
            3
        };
        let mut cost = 0;
        for number in physical >> shift..=(physical + bytes.max(1) - 1) >> shift {
            let now = now + cost;
            cost += if self.cached && !coherent && self.level2.is_on_chip(number << 2) {
                self.costs.onchip
            } else if !self.cached || !coherent {
                if write {
                    self.memory.write(number << shift, now)
                } else {
                    self.memory.access(number << shift, now)
                }
            } else if write {
                let begin = (number << shift).max(physical);
                let end = ((number + 1) << shift).min(physical + bytes);
                self.fabric_write(number << 2, end - begin == 1 << shift, now)
            } else {
                self.ask(None, number << 2, now).0
            };
        }
        cost
    }

    // Translation.

    /// Looks a page up that the engine's own TLB does not have.
    pub fn tlb(&mut self, hart: usize, side: Side, page: Page) -> Lookup {
        let this = &mut self.harts[hart];
        let Some(tlbs) = &mut this.tlbs else {
            return Lookup::Resident;
        };
        let found = tlbs.look_up(side, page, self.costs.tlb);
        match found {
            Lookup::Resident => {}
            Lookup::Refilled { stall, .. } => {
                this.counts.tlb_refills += 1;
                this.counts.stall_tlb += stall;
            }
            Lookup::Walk { stall } => {
                this.counts.walks += 1;
                this.counts.stall_tlb += stall;
            }
        }
        found
    }

    /// Puts a page into the TLBs that a walk has translated. Given is the page that left the L1 TLB for it.
    pub fn tlb_fill(&mut self, hart: usize, side: Side, page: Page) -> Option<Page> {
        self.harts[hart].tlbs.as_mut()?.fill(side, page)
    }

    /// Takes all pages that match out of a hart's TLBs; `left` is told of each that leaves an L1 TLB.
    pub fn tlb_remove(
        &mut self,
        hart: usize,
        matches: impl FnMut(Page) -> bool,
        left: impl FnMut(Side, Page),
    ) {
        if let Some(tlbs) = &mut self.harts[hart].tlbs {
            tlbs.remove(matches, left);
        }
    }

    /// Whether a page is in a hart's L1 TLB; always without TLBs.
    #[must_use]
    pub fn is_resident(&self, hart: usize, side: Side, page: Page) -> bool {
        self.harts[hart]
            .tlbs
            .as_ref()
            .is_none_or(|tlbs| tlbs.is_resident(side, page))
    }

    /// A walk reads (or, setting the bits A and D, writes) a page table entry at `physical`.
    pub fn walk_access(&mut self, hart: usize, physical: u64, write: bool, now: u64) -> u64 {
        self.harts[hart].counts.walk_accesses += 1;
        let touch = if write { Touch::Both } else { Touch::Load };
        self.touch(hart, physical, touch, now);
        let this = &mut self.harts[hart];
        let key = this.data.key(physical);
        let stall = if !self.cached {
            self.memory.access(physical, now)
        } else if write {
            // An atomic update, which the walk waits for.
            match this.data.look_up(key) {
                MODIFIED => 0,
                EXCLUSIVE => {
                    this.data.set_state(key, MODIFIED);
                    0
                }
                SHARED => self.upgrade(hart, key),
                _ => self.store_miss(hart, key, now),
            }
        } else if self.costs.walks == Walks::Level1 {
            if this.data.look_up(key) != 0 {
                let wait = this.fills.wait(key, Filled::Data, now);
                wait + this.stores.line_wait(key, now + wait)
            } else {
                self.load_miss(hart, key, now)
            }
        } else {
            let level2_misses = this.counts.level2_misses;
            let cost = self.ask(Some(hart), key, now).0;
            self.book_miss((hart, now), By::Walk, key, cost, level2_misses);
            cost
        };
        self.harts[hart].counts.stall_walk += stall;
        stall
    }

    // Reload costs.

    /// Keeps books on these guests' reload costs from here on.
    pub fn watch_reloads(&mut self, watch: Watch) {
        self.books = Some(Box::new(Books::new(watch, self.harts.len())));
    }

    /// What the guests have paid for lines that they had lost, in the order of [`Watch::guests`]; none without books.
    pub fn reloads(&self) -> Vec<Reloads> {
        let books = self.books.iter();
        books.flat_map(|books| books.reloads()).collect()
    }

    /// The hart turns `to` something else, where books are kept; by this exception, with its a6 and a7, or another way.
    #[inline]
    pub fn turn(&mut self, hart: usize, to: Doing, exception: Option<(Exception, [u64; 2])>) {
        if let Some(books) = &mut self.books {
            books.turn(hart, to, exception, &self.harts, &self.level2);
        }
    }

    /// Writes down what an L1 cache did not have, and what that cost. `level2_misses`: the hart's count before.
    #[inline]
    fn book_miss(
        &mut self,
        (hart, now): (usize, u64),
        by: By,
        key: u64,
        cost: u64,
        level2_misses: u64,
    ) {
        self.note_miss(hart, key, by == By::Fetch, level2_misses);
        if let Some(wakes) = &mut self.wakes
            && by != By::Walk
        {
            let line = Use {
                physical: key >> 2 << self.costs.line_shift,
                cycle: now,
                code: by == By::Fetch,
            };
            wakes.miss(hart, line);
        }
        let latency = self.latency(key);
        if let Some(books) = &mut self.books {
            let miss = Miss {
                by,
                key,
                level2: self.harts[hart].counts.level2_misses != level2_misses,
                cost,
                level2_cost: latency,
                upgrade_cost: self.costs.upgrade,
            };
            books.miss(hart, miss);
        }
    }

    // Lines outside guests.

    /// Counts the lines that harts touch outside guests, for [events](crate::trace::Event::lines).
    /// `known`: as [`Count::known`].
    pub fn count_lines(&mut self, known: &[(u64, u64)]) {
        if self.cached {
            self.touched = Some(vec![Touched::new(known.into()); self.harts.len()].into());
            self.observed = true;
        }
    }

    /// What a hart has touched since it left a guest, ended a wait or passed a mark; nothing where lines are not
    /// counted.
    #[must_use]
    pub fn lines(&self, hart: usize) -> Lines {
        let touched = self.touched.as_ref();
        touched.map_or_else(Lines::default, |touched| touched[hart].lines())
    }

    /// The hart turns `to` something else, where lines are counted.
    pub fn turn_of_lines(&mut self, hart: usize, to: Doing) {
        if let Some(touched) = &mut self.touched {
            touched[hart].turn(to);
        }
    }

    /// The hart passes a mark, in a block of which `bytes` bytes from `physical` on are left.
    pub fn pass_mark(&mut self, hart: usize, physical: u64, bytes: u64) {
        if let Some(touched) = &mut self.touched {
            touched[hart].begin();
            self.touch_code(hart, physical, self.fetch_lines(physical, bytes));
        }
    }

    /// The hart touches a line, of instructions or data.
    #[inline]
    fn touch(&mut self, hart: usize, physical: u64, touch: Touch, now: u64) {
        if self.observed {
            self.observe(hart, physical, touch, now);
        }
    }

    #[inline(never)]
    fn observe(&mut self, hart: usize, physical: u64, touch: Touch, now: u64) {
        if let Some(touched) = &mut self.touched {
            let code = matches!(touch, Touch::Prefetch { code: true });
            touched[hart].touch(self.harts[hart].data.key(physical), code);
        }
        let Some(uses) = &mut self.uses else {
            return;
        };
        match touch {
            Touch::Load => uses.access(physical, true, false, now),
            Touch::Store => uses.access(physical, false, true, now),
            Touch::Both => uses.access(physical, true, true, now),
            Touch::Block => {
                let shift = self.costs.line_shift.min(BLOCK_SHIFT);
                uses.read(physical >> shift << shift, 1 << shift, now);
            }
            Touch::Prefetch { .. } => {}
        }
    }

    // Uses of memory and registers.

    /// Follows who reads what of this memory, and registers, from the cycle `begin` on. `doing`: what each hart does.
    pub(crate) fn follow_uses(&mut self, memory: &[Range<u64>], begin: u64, doing: &[Doing]) {
        self.uses = Some(Box::new(Follower::new(memory, begin, doing)));
        self.observed = true;
    }

    /// The uses since [`follow_uses`](Self::follow_uses); `now`: the cycle of each hart.
    pub(crate) fn take_uses(&mut self, now: &[u64]) -> Option<Uses> {
        let uses = self.uses.take();
        self.observed = self.touched.is_some();
        uses.map(|uses| uses.finish(now))
    }

    /// Whether anything is counted or followed.
    #[inline(always)]
    pub(crate) const fn is_observed(&self) -> bool {
        self.observed
    }

    /// A hart comes to a block, where uses are followed.
    pub(crate) fn enter_block(&mut self, hart: usize, block: Entered) {
        if let Some(uses) = &mut self.uses {
            uses.enter(hart, block);
        }
    }

    /// So many bytes are read by what is charged elsewhere, or nowhere, where uses are followed.
    pub(crate) fn note_read(&mut self, physical: u64, bytes: u64, now: u64) {
        if let Some(uses) = &mut self.uses {
            uses.read(physical, bytes, now);
        }
    }

    /// A device reads memory, and it is not seen what.
    pub(crate) const fn note_unseen(&mut self) {
        if let Some(uses) = &mut self.uses {
            uses.note_unseen();
        }
    }

    /// The hart turns `to` something else, where uses are followed.
    pub(crate) fn turn_of_uses(&mut self, hart: usize, to: Doing, now: u64) {
        if let Some(uses) = &mut self.uses {
            uses.turn(hart, to, now);
        }
    }

    #[inline(never)]
    fn touch_code(&mut self, hart: usize, physical: u64, lines: u32) {
        let Some(touched) = &mut self.touched else {
            return;
        };
        touched[hart].enter(physical);
        let first = self.harts[hart].code.key(physical);
        for line in 0..u64::from(lines) {
            touched[hart].touch(first + 4 * line, true);
        }
    }

    /// The line that the hart has touched was read. `level2_misses`: the hart's count before.
    #[inline]
    fn note_miss(&mut self, hart: usize, key: u64, code: bool, level2_misses: u64) {
        if let Some(touched) = &mut self.touched {
            let memory = self.harts[hart].counts.level2_misses != level2_misses;
            touched[hart].miss(key, code, memory);
        }
    }

    // Lines from wake to wait.

    /// Watches which lines these guests use from when their timer wakes them until they wait. Caches are emptied at
    /// each wake.
    pub fn watch_wakes(&mut self, watch: Watch) {
        self.wakes = Some(Box::new(Wakes::new(watch, self.harts.len())));
    }

    /// Takes the wakes that have ended since the last time.
    pub fn take_wakes(&mut self) -> Vec<Wake> {
        let wakes = self.wakes.iter_mut();
        wakes.flat_map(|wakes| wakes.take()).collect()
    }

    /// Whether wakes are watched.
    #[must_use]
    pub const fn watches_wakes(&self) -> bool {
        self.wakes.is_some()
    }

    /// The hart, at its cycle `now`, turns `to` something else, where wakes are watched; by this exception, with its a6
    /// and a7, or another way. `timer`: a guest's timer interrupt is pending.
    pub fn turn_of_wakes(
        &mut self,
        hart: usize,
        now: u64,
        to: Doing,
        exception: Option<(Exception, [u64; 2])>,
        timer: bool,
    ) {
        let Some(wakes) = &mut self.wakes else {
            return;
        };
        if wakes.turn((hart, now), to, exception, timer) && self.cached {
            for hart in &mut self.harts {
                hart.data.clear();
                hart.code.clear();
                hart.last_fetch = NO_KEY;
            }
            self.level2.clear();
        }
    }

    // Control transfer.

    /// A control transfer at `pc` to `target` (when `taken`; `next` is the address behind it) was executed: what
    /// its prediction cost.
    #[inline(always)]
    pub fn branch(
        &mut self,
        hart: usize,
        pc: u64,
        kind: BranchKind,
        taken: bool,
        target: u64,
        next: u64,
    ) -> u64 {
        let this = &mut self.harts[hart];
        let Some(predictor) = &mut this.predictor else {
            return 0;
        };
        this.counts.branches += 1;
        let stall = match predictor.branch(pc, kind, taken, target, next) {
            Outcome::Right => return 0,
            Outcome::Redirected => {
                this.counts.redirects += 1;
                self.costs.redirect
            }
            Outcome::Wrong => {
                this.counts.mispredictions += 1;
                self.costs.mispredict
            }
        };
        this.counts.stall_branch += stall;
        stall
    }

    /// The cost of a trap.
    #[must_use]
    pub const fn trap(&self) -> u64 {
        self.costs.pipeline.trap as u64
    }

    // Snapshots.

    /// All state, for a snapshot; counts too.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let state = State {
            harts: self.harts.clone(),
            level2: self.level2.clone(),
            next_lines: self.next_lines.clone(),
            memory: self.memory.state.clone(),
        };
        // Nothing in the state is of a kind that the format does not have.
        postcard::to_stdvec(&state).unwrap_or_default()
    }

    /// Takes all state of another one: it is what [`restore`](Self::restore) does with what the other saves.
    ///
    /// # Errors
    ///
    /// When the other is of another profile or number of harts; nothing has changed then.
    pub(crate) fn copy_from(&mut self, other: &Self) -> Result<(), BadState> {
        if self.harts.len() != other.harts.len() || self.parameters != other.parameters {
            return Err(other_profile());
        }
        self.harts.clone_from(&other.harts);
        self.level2.clone_from(&other.level2);
        self.next_lines.clone_from(&other.next_lines);
        self.memory.state.clone_from(&other.memory.state);
        if let Some(books) = &mut self.books {
            books.forget();
        }
        Ok(())
    }

    /// Takes back what [`save`](Self::save) gave, for the same profile and number of harts.
    ///
    /// # Errors
    ///
    /// When the bytes are no such state; nothing has changed then.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), BadState> {
        let state: State = postcard::from_bytes(state)
            .map_err(|error| BadState(format!("timing: no saved state: {error}")))?;
        let fits = self.harts.len() == state.harts.len()
            && self
                .harts
                .iter()
                .zip(&state.harts)
                .all(|(one, other)| one.fits(other))
            && self.level2.fits(&state.level2, self.harts.len())
            && self.next_lines.fits(&state.next_lines)
            && self.memory.state.fits(&state.memory);
        if !fits {
            return Err(other_profile());
        }
        self.harts = state.harts;
        self.level2 = state.level2;
        self.next_lines = state.next_lines;
        self.memory.state = state.memory;
        if let Some(books) = &mut self.books {
            books.forget();
        }
        Ok(())
    }
}
