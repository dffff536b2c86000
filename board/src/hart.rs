//! A hart: its registers, and what the engine keeps beside them to run it fast.

use std::ptr;

use crate::account::{Account, Doing};
use crate::code::{Block, Link};
use crate::op::Op;
use crate::pace::Variant;
use crate::privileged::{Context, Privileged, Trap};
use crate::timing::{Page, Side};
use crate::tlb::{Contexts, Tlb, tag_of};
use crate::trace::Moment;
use crate::weak_memory::Dependencies;

/// Where writes to x0 go, and nothing reads.
pub const SINK: u8 = 32;
/// Entries of the cache of jump targets: sets by page, entries by place in it.
const JUMP_SETS: usize = 32;
const JUMP_WAYS: usize = 64;
/// Entries of the cache of pages that code runs from.
const FETCHES: usize = 64;
/// A jump target: where, in which context, and the block there.
#[derive(Clone, Copy)]
struct Jump {
    pc: u64,
    context: u64,
    block: *const Block,
}

const NO_JUMP: Jump = Jump {
    pc: 1,
    context: 0,
    block: ptr::null(),
};

/// A page that code runs from.
#[derive(Clone, Copy)]
struct Fetch {
    page: u64,
    context: u64,
    physical: u64,
}

const NO_FETCH: Fetch = Fetch {
    page: 1,
    context: 0,
    physical: 0,
};

/// No address lies in it.
const NO_SUPERPAGES: (u64, u64) = (u64::MAX, 0);

/// No instruction is at an odd address.
const NOT_FETCHED: u64 = 1;

/// Nowhere to continue.
const NO_RESUME: (*const Block, usize, u64) = (ptr::null(), 0, 0);

/// The current state of floating point, cached so that each such instruction reads one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FloatState {
    /// Its instructions are illegal.
    Off,
    /// On; the next change of a register has to be noted in `mstatus`.
    On,
    /// On, and noted as changed already.
    Dirty,
}

/// An address space, as modelled TLBs tell them apart: by ASID and VMID, whatever the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Space {
    /// Whether it is a guest's.
    pub(crate) v: bool,
    root: u64,
    guest_root: u64,
    /// What stands for it.
    pub(crate) number: u32,
}

/// How often things happened to a hart that nothing else counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Happened {
    pub(crate) interrupts: u64,
    pub(crate) exceptions: u64,
    pub(crate) fetch_tlb_misses: u64,
    pub(crate) data_tlb_misses: u64,
}

/// One hart.
#[repr(C)]
pub struct Hart {
    /// Integer registers; `x[0]` is always 0, [`SINK`] takes what is written to it.
    pub(crate) x: [u64; 40],
    /// The address of the next instruction; while a block runs, of its first one.
    pub(crate) pc: u64,
    /// Cycles left until [`limit`](Self::limit), those of the running block taken off.
    pub(crate) budget: i64,
    /// The running block.
    pub(crate) block: *const Block,
    /// Which of that block's links is to be set to the block at `pc`, once it is found.
    pub(crate) link: *const Link,
    /// The tag part of loads.
    pub(crate) load_tag: u64,
    /// The tag part of stores: that of loads, or one that nothing matches while stores are watched.
    pub(crate) store_tag: u64,
    /// The context of instruction fetches.
    pub(crate) fetch_context: u64,
    /// Instructions retired, those of the running block added.
    pub(crate) instructions: u64,
    /// Something happened that the run loop has to see to before it continues.
    pub(crate) attention: bool,
    /// It stands before an access that a device has postponed.
    pub(crate) postponed: bool,
    /// Whether another hart holds a reservation, so that each store has to be compared with it.
    pub(crate) watched: bool,
    /// Whether floating point may be used.
    pub(crate) float: FloatState,
    /// Whether it waits for an interrupt.
    pub(crate) waiting: bool,
    /// The block that the budget ended in, the index of the op to continue with, and the block's address.
    resume: (*const Block, usize, u64),
    /// The context that the block ran in.
    resume_context: u64,
    /// The address of an instruction that was fetched, and not carried out before the turn ended.
    pub(crate) fetched: u64,
    /// The same after a snapshot was taken back, when the block has yet to be found: its address and the index.
    pub(crate) restored: Option<(u64, usize)>,
    /// The first cycle at which a timer of its own raises an interrupt.
    pub(crate) timer_cycle: u64,
    /// What the wires and the offset of time were when it last looked at interrupts.
    pub(crate) seen: (u64, u64),
    /// The cycle at which the budget ends.
    pub(crate) limit: u64,
    /// The cycle at which the run loop returns to the board.
    pub(crate) until: u64,
    /// Floating-point registers, floats boxed in NaNs.
    pub(crate) f: [u64; 32],
    /// `instructions` when it made its reservation.
    pub(crate) reserved_at: u64,
    /// Its number on the board.
    pub(crate) index: usize,
    /// Mode, CSRs, PMP.
    pub(crate) privileged: Privileged,
    pub(crate) contexts: Contexts,
    /// The address spaces that its modelled TLBs know, in the order of their numbers.
    pub(crate) spaces: Vec<Space>,
    /// The VMID of `hgatp`, while virtualized.
    vmid: u16,
    /// Counts for its counters.
    pub(crate) happened: Happened,
    /// The account of its cycles.
    pub(crate) account: Account,
    /// The epochs of the code cache that the pointers to blocks, and the entries of stores, are of.
    pub(crate) epoch: u64,
    pub(crate) pages_epoch: u64,
    pub(crate) loads: Tlb,
    pub(crate) stores: Tlb,
    fetches: [Fetch; FETCHES],
    jumps: [Jump; JUMP_SETS * JUMP_WAYS],
    /// The lowest and highest address of what lies in superpages of which some part was entered. What a fence drops of
    /// the modelled TLBs depends on it, so that it is part of a run's state.
    pub(crate) superpages: (u64, u64),
    /// Dependencies of its registers, with weakly ordered memory.
    pub(crate) dependencies: Dependencies,
}

// Safety: the pointers lead into the code cache of the board that owns the hart, and move with it.
unsafe impl Send for Hart {}

impl Hart {
    /// Hart number `index` at reset.
    pub fn new(index: usize, privileged: Privileged) -> Box<Self> {
        let mut hart = Box::new(Self {
            x: [0; 40],
            pc: 0,
            budget: 0,
            block: ptr::null(),
            link: ptr::null(),
            load_tag: 0,
            store_tag: 0,
            fetch_context: 0,
            instructions: 0,
            attention: true,
            postponed: false,
            watched: false,
            float: FloatState::Off,
            waiting: false,
            resume: NO_RESUME,
            resume_context: 0,
            fetched: NOT_FETCHED,
            restored: None,
            timer_cycle: 0,
            seen: (0, 0),
            limit: 0,
            until: 0,
            f: [0; 32],
            reserved_at: 0,
            index,
            privileged,
            contexts: Contexts::new(),
            spaces: Vec::new(),
            vmid: 0,
            happened: Happened::default(),
            account: Account::new(),
            epoch: 0,
            pages_epoch: 0,
            loads: Tlb::new(),
            stores: Tlb::new(),
            fetches: [NO_FETCH; FETCHES],
            jumps: [NO_JUMP; JUMP_SETS * JUMP_WAYS],
            superpages: NO_SUPERPAGES,
            dependencies: Dependencies::new(),
        });
        hart.refresh();
        hart
    }

    /// The integer register `number` (0 to 31).
    #[inline(always)]
    pub(crate) fn get(&self, number: u8) -> u64 {
        debug_assert!(number < 32, "a register of no op");
        // Safety: ops name registers 0 to 31 as sources.
        unsafe { *self.x.get_unchecked(number as usize) }
    }

    /// Sets the integer register `number` (1 to 31, or [`SINK`]).
    #[inline(always)]
    pub(crate) fn set(&mut self, number: u8, value: u64) {
        debug_assert!(number != 0 && number <= SINK, "a register of no op");
        // Safety: ops name registers 1 to 32 as destinations.
        unsafe { *self.x.get_unchecked_mut(number as usize) = value }
    }

    /// Notes what the access under way depends on: two registers.
    #[inline(always)]
    pub(crate) fn accesses<V: Variant>(&mut self, one: u8, other: u8) {
        if V::WEAK {
            let x = &self.dependencies.x;
            self.dependencies.access = x[one as usize].max(x[other as usize]);
        }
    }

    /// Notes that the register `rd` depends on loads up to this time.
    #[inline(always)]
    pub(crate) fn depends_on<V: Variant>(&mut self, rd: u8, time: u64) {
        if V::WEAK {
            self.dependencies.x[rd as usize] = time;
        }
    }

    /// Notes that `op` computed its destination from its sources.
    #[inline(always)]
    pub(crate) fn computed<V: Variant>(&mut self, op: *const Op) {
        if V::WEAK {
            // Safety: the caller's op. Sources that it does not have are x0.
            let (rd, rs1, rs2) = unsafe { ((*op).rd, (*op).rs1, (*op).rs2) };
            let x = &mut self.dependencies.x;
            x[rd as usize] = x[rs1 as usize].max(x[rs2 as usize]);
        }
    }

    /// The tag part by which stores and atomics find their host pointers. Weakly ordered ones are compared with other
    /// harts' reservations when they reach memory.
    #[inline(always)]
    pub(crate) fn tag_of_stores<V: Variant>(&self) -> u64 {
        if V::WEAK {
            self.load_tag
        } else {
            self.store_tag
        }
    }

    /// How far it has come, for the trace.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            hart: self.index,
            cycle: self.cycle(),
            instructions: self.instructions,
        }
    }

    /// The cycle that it has come to. Within a block, the one behind that block.
    pub(crate) fn cycle(&self) -> u64 {
        self.limit.wrapping_sub(self.budget as u64)
    }

    /// Moves the end of the budget; the cycle that the hart has come to stays.
    pub(crate) fn set_limit(&mut self, limit: u64) {
        self.budget += limit.wrapping_sub(self.limit) as i64;
        self.limit = limit;
    }

    /// Lets it have come to `cycle`.
    pub(crate) fn set_cycle(&mut self, cycle: u64) {
        self.budget = self.limit.wrapping_sub(cycle) as i64;
    }

    /// The address of `op` of the running block.
    #[inline]
    pub(crate) fn pc_of(&self, op: &Op) -> u64 {
        self.pc.wrapping_add(2 * u64::from(op.at))
    }

    /// The running block.
    #[inline]
    pub(crate) fn running(&self) -> &Block {
        // Safety: set by the run loop to the block whose ops run, which stays until the loop continues.
        unsafe { &*self.block }
    }

    /// Ends the running block at `op`, which is carried out (`retired`) or raised an exception: takes back the cycles
    /// and instructions behind it. `pc` is then that of the next instruction, or of `op`.
    pub(crate) fn leave(&mut self, op: *const Op, retired: bool) {
        let block = self.running();
        let index = block.index_of(op);
        let cycles = i64::from(block.cycles - block.cycles_until(index));
        let instructions = u64::from(block.count) - index as u64 - u64::from(retired);
        let halfwords = if retired {
            block.halfwords_until(index)
        } else {
            // Safety: an op of the running block.
            u64::from(unsafe { (*op).at })
        };
        self.budget += cycles;
        self.instructions -= instructions;
        self.pc = self.pc.wrapping_add(2 * halfwords);
    }

    /// As [`leave`](Self::leave) behind an instruction that is carried out, to continue in the same block.
    pub(crate) fn leave_to_resume(&mut self, op: *const Op) {
        let next = self.running().index_of(op) + 1;
        if next < usize::from(self.running().count) {
            self.resume_at(self.block, next, self.pc);
        }
        self.leave(op, true);
    }

    /// Whether what is at the pc was fetched and charged for before, in a turn that ended there.
    #[inline(always)]
    pub(crate) fn take_fetched(&mut self) -> bool {
        std::mem::replace(&mut self.fetched, NOT_FETCHED) == self.pc
    }

    /// Takes back where to continue in a block.
    pub(crate) fn forget_resume(&mut self) {
        self.resume = NO_RESUME;
    }

    /// Where to continue: with the op at `index` of a block that is at the address `begin`.
    pub(crate) fn resume_at(&mut self, block: *const Block, index: usize, begin: u64) {
        self.resume = (block, index, begin);
        self.resume_context = self.fetch_context;
    }

    /// The address of the block that it is to continue in, and the index of the op there, for a snapshot.
    pub(crate) fn resumes_at(&self) -> Option<(u64, usize)> {
        let (block, index, begin) = self.resume;
        if block.is_null() {
            self.restored
        } else {
            Some((begin, index))
        }
    }

    /// Ends the running block before `op`, to continue from there. As [`leave`](Self::leave), but that `op` takes no
    /// time.
    pub(crate) fn pause_before(&mut self, op: *const Op) {
        let block = self.running();
        let index = block.index_of(op);
        let cycles = i64::from(block.cycles - block.cycles_before(index));
        let instructions = u64::from(block.count) - index as u64;
        self.resume_at(self.block, index, self.pc);
        self.budget += cycles;
        self.instructions -= instructions;
        // Safety: an op of the running block.
        self.pc = self.pc_of(unsafe { &*op });
    }

    /// The block that was paused and the index of the op to continue with, if that is what the hart has to do now. Its
    /// pc is then that of the block.
    pub(crate) fn take_resume(&mut self) -> Option<(*const Block, usize)> {
        if self.resume.0.is_null() {
            return None;
        }
        let (block, index, begin) = std::mem::replace(&mut self.resume, NO_RESUME);
        // Safety: blocks stay while nothing drops code, and what does takes this back (`drop_jumps`).
        let at = unsafe { (*(*block).ops().add(index)).at };
        if self.pc != begin.wrapping_add(2 * u64::from(at))
            || self.resume_context != self.fetch_context
        {
            return None;
        }
        self.pc = begin;
        Some((block, index))
    }

    /// How many instructions are retired when `op` of the running block is.
    pub(crate) fn instructions_until(&self, op: *const Op) -> u64 {
        let block = self.running();
        self.instructions - (u64::from(block.count) - block.index_of(op) as u64 - 1)
    }

    /// A cycle that no op of the running block, from here on, comes before; that of its begin unless it was stalled or
    /// came to it within.
    #[inline(always)]
    pub(crate) fn block_begin(&self) -> u64 {
        self.cycle().saturating_sub(self.running().cycles.into())
    }

    /// The cycle at which `op` of the running block ends, as far as that is known.
    pub(crate) fn cycle_of(&self, op: *const Op) -> u64 {
        let block = self.running();
        self.cycle() - u64::from(block.cycles - block.cycles_until(block.index_of(op)))
    }

    #[inline(always)]
    fn jump_index(pc: u64) -> usize {
        let set = (pc >> 12) as usize % JUMP_SETS;
        set * JUMP_WAYS + ((pc >> 1) ^ (pc >> 6)) as usize % JUMP_WAYS
    }

    /// The block at `pc`, if the cache of jump targets has it; else null.
    #[inline(always)]
    pub(crate) fn jump(&self, pc: u64) -> *const Block {
        // Safety: the index is below the number of entries.
        let jump = unsafe { self.jumps.get_unchecked(Self::jump_index(pc)) };
        if jump.pc == pc && jump.context == self.fetch_context {
            jump.block
        } else {
            ptr::null()
        }
    }

    /// Notes that `block` is at `pc`.
    pub(crate) fn enter_jump(&mut self, pc: u64, block: *const Block) {
        self.jumps[Self::jump_index(pc)] = Jump {
            pc,
            context: self.fetch_context,
            block,
        };
    }

    /// The physical address of `pc`, if it is known.
    pub(crate) fn fetch(&self, pc: u64) -> Option<u64> {
        let page = pc >> 12;
        let entry = &self.fetches[page as usize % FETCHES];
        (entry.page == page << 12 && entry.context == self.fetch_context)
            .then_some(entry.physical | pc & 4095)
    }

    /// Notes where `pc` is.
    pub(crate) fn enter_fetch(&mut self, pc: u64, physical: u64) {
        let page = pc >> 12;
        self.fetches[page as usize % FETCHES] = Fetch {
            page: page << 12,
            context: self.fetch_context,
            physical: physical & !4095,
        };
    }

    /// Notes that a part of the page of `address`, of 2^`size` bytes, was entered into a cache.
    pub(crate) fn enter_superpage(&mut self, address: u64, size: u8) {
        if size > 12 {
            let mask = (1 << size) - 1;
            let (low, high) = self.superpages;
            self.superpages = (low.min(address & !mask), high.max(address | mask));
        }
    }

    /// Whether `address` may lie in a superpage of which some other part is in a cache, so that a fence for it is not
    /// about its page alone.
    pub(crate) fn in_superpages(&self, address: u64) -> bool {
        (self.superpages.0..=self.superpages.1).contains(&address)
    }

    /// Drops what is known of the page of `address`.
    pub(crate) fn drop_page(&mut self, address: u64) {
        self.loads.drop_page(address);
        self.stores.drop_page(address);
        self.drop_fetch_page(address);
    }

    /// Drops what is known of code in the page of `address`.
    pub(crate) fn drop_fetch_page(&mut self, address: u64) {
        self.resume = NO_RESUME;
        self.fetches[(address >> 12) as usize % FETCHES] = NO_FETCH;
        let set = (address >> 12) as usize % JUMP_SETS;
        self.jumps[set * JUMP_WAYS..][..JUMP_WAYS].fill(NO_JUMP);
    }

    /// Drops all jump targets. Where to continue in a block is kept as a place in the code: that code is dropped is the
    /// engine's affair, and makes no difference to what instructions take.
    pub(crate) fn drop_jumps(&mut self) {
        self.jumps.fill(NO_JUMP);
        self.restored = self.resumes_at();
        self.resume = NO_RESUME;
    }

    /// Drops all translations.
    pub(crate) fn drop_all(&mut self) {
        self.contexts = Contexts::new();
        self.superpages = NO_SUPERPAGES;
        self.drop_tagged();
        self.refresh();
    }

    fn drop_tagged(&mut self) {
        self.loads.clear();
        self.stores.clear();
        self.fetches.fill(NO_FETCH);
        self.drop_jumps();
    }

    fn number(&mut self, context: &Context) -> u64 {
        let (number, restarted) = self.contexts.number(context);
        if restarted {
            self.drop_tagged();
        }
        tag_of(number)
    }

    /// The tag part that stands for a context other than the hart's own.
    pub(crate) fn tag_of_other(&mut self, context: &Context) -> u64 {
        let (number, restarted) = self.contexts.number(context);
        if restarted {
            // The hart's own get others, too.
            self.drop_tagged();
            self.refresh();
        }
        tag_of(number)
    }

    /// The number of a context's address space.
    pub(crate) fn space(&mut self, context: &Context) -> u32 {
        if let Some(number) = self.known_space(context) {
            return number;
        }
        let (v, root, guest_root) = (context.v, context.root, context.guest_root);
        let number = self.spaces.len() as u32;
        self.spaces.push(Space {
            v,
            root,
            guest_root,
            number,
        });
        number
    }

    /// The number that stands for an address space in the modelled TLBs, if it has one.
    pub(crate) fn known_space(&self, context: &Context) -> Option<u32> {
        let (v, root, guest_root) = (context.v, context.root, context.guest_root);
        let same =
            |space: &&Space| (space.v, space.root, space.guest_root) == (v, root, guest_root);
        self.spaces.iter().find(same).map(|space| space.number)
    }

    /// Drops what it knows of a page that left a modelled TLB.
    pub(crate) fn page_left(&mut self, side: Side, page: Option<Page>) {
        if let Some(page) = page {
            let address = page.number << 12;
            match side {
                Side::Fetch => self.drop_fetch_page(address),
                Side::Data => {
                    self.loads.drop_page(address);
                    self.stores.drop_page(address);
                }
            }
        }
    }

    /// Its activity.
    pub(crate) fn doing(&self) -> Doing {
        if self.waiting {
            return Doing::Waiting;
        }
        let mode = self.privileged.mode;
        let guest = mode.v.then_some(self.vmid);
        Doing::Running {
            guest,
            privilege: mode.privilege,
        }
    }

    /// Forgets what it found of interrupts, after a change from outside its own run: it checks again before it
    /// continues.
    pub(crate) fn recheck_interrupts(&mut self) {
        self.seen = (u64::MAX, u64::MAX);
        self.attention = true;
    }

    /// Brings what is derived from mode and CSRs up to date.
    pub(crate) fn refresh(&mut self) {
        let (data, fetch) = (
            self.privileged.data_context(),
            self.privileged.fetch_context(),
        );
        self.vmid = (fetch.guest_root >> 44 & 0x3fff) as u16;
        self.load_tag = self.number(&data);
        // The second may start the numbers again; then the first needs a new one.
        self.fetch_context = self.number(&fetch);
        self.load_tag = self.number(&data);
        self.watch_stores(self.watched);
        self.float = match (
            self.privileged.float_enabled(),
            self.privileged.float_dirty(),
        ) {
            (false, _) => FloatState::Off,
            (true, false) => FloatState::On,
            (true, true) => FloatState::Dirty,
        };
    }

    /// Sets whether stores have to be compared with other harts' reservations.
    pub(crate) fn watch_stores(&mut self, watched: bool) {
        self.watched = watched;
        self.store_tag = if watched {
            crate::tlb::NO_CONTEXT
        } else {
            self.load_tag
        };
    }

    /// Takes an exception at `pc`.
    pub(crate) fn take(&mut self, trap: &Trap) {
        self.pc = self.privileged.enter_trap(trap, self.pc);
        self.refresh();
    }

    /// Notes that a floating-point register changes.
    #[inline(always)]
    pub(crate) fn dirty_float(&mut self) {
        if self.float != FloatState::Dirty {
            self.privileged.dirty_float();
            self.float = FloatState::Dirty;
        }
    }
}
