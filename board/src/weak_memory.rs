//! Weak memory: the order in which harts see each other's loads and stores, as RVWMO leaves it open.
//!
//! The model is the one of the unprivileged specification (20240411, chapter 17, "RVWMO Memory Consistency Model");
//! "rule n" is rule n of its section 17.1.5, "Preserved program order". All memory operations are put into one *global
//! memory order*. Its clock counts stores: each store that reaches memory gets the next time.
//!
//! * A **store** waits in its hart's buffer and reaches memory later, past other stores of the same hart. It keeps its
//!   place behind older stores to the same bytes (rule 1) and behind those that a fence separates from it (rule 4).
//! * A **load** takes its value at a time of its own, which may lie before that of an older load. It is no earlier than
//!   older loads of the same bytes (rule 2), than a fence (rule 4) or an acquire (rule 5) says, and than the loads that
//!   its address depends on (rule 9). What its hart still has in the buffer, it takes from there; it is then no earlier
//!   than what that store depends on (rule 12). To tell dependencies, each register carries the time of the latest load
//!   that its value was computed from.
//! * **Atomics** (AMO, `lr`, `sc`) act on memory at once, at the latest time: behind older stores to the same bytes
//!   (rules 1 and 3), those that a fence separates from them, and, with `rl`, all older stores (rule 6).
//!
//! No load takes its value after a younger operation of its hart has acted, so that the rules about stores and older
//! loads (1, 4, 6, 7, 8, 10, 11, 13) hold by themselves. The price: a load is never seen behind a younger store (the
//! litmus test LB).
//!
//! Outside of RVWMO:
//!
//! * Accesses to devices act at once and in order. A fence with `w` before `i` or `o` lets older stores reach memory
//!   first; one with `i` or `o` before `r` makes loads no earlier than the last access to a device or a CSR.
//! * Page-table walks, instruction fetches and bus masters read memory, and not the buffers. `sfence.vma`,
//!   `hfence.vvma`, `hfence.gvma` and `fence.i` let the hart's older stores reach memory first.
//! * What bus masters, and walks that set the bits A and D, write is in memory at once; no load takes a value from
//!   before it afterwards.
//! * No load is earlier than the trap or interrupt that its hart took last.
//! * Firmware that starts other software may be kept in order up to there ([`WeakMemory::begin_in_order`]).
//! * A store reaches memory within [`DELAY_CYCLES`] and a turn, and before its hart waits. A load's time lies no more
//!   than [`WINDOW_CYCLES`] and a turn back.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::memory::Memory;
use crate::random::Random;

/// How harts see each other's loads and stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryModel {
    /// All in one order, which is each hart's program order.
    #[default]
    Sequential,
    /// Delayed and reordered at random as RVWMO allows, with turns of random lengths; from the board's seed.
    Weak,
}

/// Streams of random numbers, far from those of caches.
const STREAM: u64 = 0x7765_616b;
/// Integer registers, and the place that stands in for x0 as a destination.
const REGISTERS: usize = 33;
/// Entries of a store buffer. When it is full, one of them reaches memory.
const STORES: usize = 12;
/// For how many cycles a store waits in the buffer at most, before the next turn begins.
const DELAY_CYCLES: u64 = 1024;
/// How many stores that reached memory can be looked behind.
const HISTORY: usize = 64;
/// For how many cycles a store can be looked behind.
const WINDOW_CYCLES: u64 = 1024;
/// One load in so many takes its value at another time than the latest.
const EARLY: usize = 3;
/// Entries of the table by which a hart knows when it saw or wrote bytes last. Addresses that share an entry are kept
/// in order, which is more than the rules ask for.
const COHERENCE: usize = 256;
/// Bits of `aq` and `rl` in an atomic's immediate.
const ACQUIRE: i32 = 2;
const RELEASE: i32 = 1;

/// Members of a fence's sets.
mod set {
    pub const INPUT: u8 = 8;
    pub const OUTPUT: u8 = 4;
    pub const READS: u8 = 2;
    pub const WRITES: u8 = 1;
}

/// Up to eight bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bytes {
    physical: u64,
    size: u8,
    value: [u8; 8],
}

impl Bytes {
    /// The low `size` bytes of `value`, up to eight, at `physical`.
    pub(crate) const fn new(physical: u64, value: u64, size: u8) -> Self {
        let value = (value & mask(size)).to_le_bytes();
        Self {
            physical,
            size,
            value,
        }
    }

    fn overlaps(&self, physical: u64, size: u8) -> bool {
        self.physical < physical + u64::from(size)
            && physical < self.physical + u64::from(self.size)
    }

    /// Copies what is here of the `size` bytes at `physical` to `value`, whose lowest byte is the first.
    fn lay_over(&self, physical: u64, size: u8, value: &mut u64) {
        if !self.overlaps(physical, size) {
            return;
        }
        // Both are eight bytes at most and overlap, so that they begin no more than seven bytes apart.
        let (mine, mine_mask) = (u64::from_le_bytes(self.value), mask(self.size));
        let (bits, here) = if self.physical >= physical {
            let shift = 8 * (self.physical - physical);
            (mine << shift, mine_mask << shift)
        } else {
            let shift = 8 * (physical - self.physical);
            (mine >> shift, mine_mask >> shift)
        };
        let here = here & mask(size);
        *value = *value & !here | bits & here;
    }
}

/// A store that waits in a buffer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Store {
    bytes: Bytes,
    /// The cycle from which it reaches memory when the next turn begins.
    due: u64,
    /// How many fences between stores are before it.
    fences: u64,
    /// The time of the loads that its address and value depend on.
    depends_on: u64,
}

impl Store {
    /// Whether this one, which is older, has to reach memory before `other` (rules 1 and 4).
    fn is_before(&self, other: &Self) -> bool {
        self.fences < other.fences || self.bytes.overlaps(other.bytes.physical, other.bytes.size)
    }
}

/// A store that reached memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Past {
    time: u64,
    cycle: u64,
    /// The value before.
    before: Bytes,
}

/// The ordering constraints of a hart's memory operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Hart {
    /// Its stores that have not reached memory, in program order.
    buffer: Vec<Store>,
    /// How many fences between stores there were.
    fences: u64,
    /// The latest time at which any of its loads took its value.
    loaded: u64,
    /// No load is earlier.
    fenced: u64,
    /// The time of its last access to a device.
    device: u64,
    /// By address, the time at which it last saw or wrote bytes there.
    coherence: Vec<u64>,
}

/// By hart, how late the values of registers are: the time of the latest load that each was computed from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Dependencies {
    /// Of integer registers, and of where writes to x0 go.
    pub(crate) x: Vec<u64>,
    /// Of all floating-point registers together.
    pub(crate) float: u64,
    /// Of all CSRs together.
    pub(crate) csr: u64,
    /// Of what the access under way depends on; behind a load, when its value was taken.
    pub(crate) access: u64,
}

impl Dependencies {
    /// No value came from a load.
    pub(crate) fn new() -> Self {
        Self {
            x: vec![0; REGISTERS],
            float: 0,
            csr: 0,
            access: 0,
        }
    }

    /// Whether these, read from outside, are those of a hart.
    pub(crate) fn is_sound(&self) -> bool {
        self.x.len() == REGISTERS
    }
}

/// What an operation did that the machine has to act on: the bytes that reached memory.
pub(crate) type Committed = (usize, u64, u8);

/// The memory operations of all harts.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct WeakMemory {
    random: Random,
    /// The generator for the length of the next turn.
    next_turn: Random,
    /// Whether all is in order still, as the firmware is starting.
    in_order: bool,
    /// Stores that reached memory so far.
    now: u64,
    /// No load is earlier: what was before is forgotten.
    floor: u64,
    past: VecDeque<Past>,
    harts: Vec<Hart>,
    /// Committed stores that the machine has not acted on yet.
    #[serde(skip)]
    committed: Vec<Committed>,
}

impl WeakMemory {
    /// For so many harts, with nothing under way.
    pub(crate) fn new(harts: usize, seed: u64) -> Self {
        let hart = Hart {
            buffer: Vec::with_capacity(STORES),
            fences: 0,
            loaded: 0,
            fenced: 0,
            device: 0,
            coherence: vec![0; COHERENCE],
        };
        Self {
            random: Random::new(seed, STREAM),
            next_turn: Random::new(seed, STREAM + 1),
            in_order: false,
            now: 0,
            floor: 0,
            past: VecDeque::with_capacity(HISTORY + 1),
            harts: vec![hart; harts],
            committed: Vec::new(),
        }
    }

    /// Whether these, read from outside, can be those of a board with so many harts and this memory.
    pub(crate) fn is_sound(&self, harts: usize, memory: &Memory) -> bool {
        let sound = |bytes: &Bytes| {
            (1..=8).contains(&bytes.size) && memory.holds(bytes.physical, bytes.size.into())
        };
        self.harts.len() == harts
            && self.past.iter().all(|past| sound(&past.before))
            && self.harts.iter().all(|hart| {
                hart.coherence.len() == COHERENCE
                    && hart.buffer.iter().all(|store| sound(&store.bytes))
            })
    }

    /// Keeps loads and stores in program order, until [`end_order`](Self::end_order).
    pub(crate) const fn begin_in_order(&mut self) {
        self.in_order = true;
    }

    /// From now on loads and stores are weakly ordered.
    pub(crate) const fn end_order(&mut self) {
        self.in_order = false;
    }

    /// The stores that reached memory since the last call.
    pub(crate) fn take_committed(&mut self) -> Option<Committed> {
        self.committed.pop()
    }

    /// The length in cycles of the turn that begins next, up to twice `quantum`: short ones are as likely as long ones.
    pub(crate) fn turn(&self, quantum: u64) -> u64 {
        // What was drawn stays until the turn begins, however often it is asked for: a run may be cut before it.
        let mut random = self.next_turn.clone();
        let scale = random.below(quantum.ilog2() as usize + 2);
        1 + random.below(1 << scale) as u64
    }

    /// A turn begins at `cycle`: what is due reaches memory, and what is long past is forgotten.
    pub(crate) fn begin_turn(&mut self, memory: &Memory, cycle: u64) {
        self.next_turn = Random::new(self.random.next(), 0);
        loop {
            let mut first: Option<(u64, usize, usize)> = None;
            for (index, hart) in self.harts.iter().enumerate() {
                for (place, store) in hart.buffer.iter().enumerate() {
                    if store.due <= cycle && first.is_none_or(|(due, ..)| store.due < due) {
                        first = Some((store.due, index, place));
                    }
                }
            }
            let Some((_, index, place)) = first else {
                break;
            };
            self.commit(memory, index, place, cycle);
        }
        while let Some(past) = self.past.front()
            && past.cycle.saturating_add(WINDOW_CYCLES) < cycle
        {
            self.floor = past.time;
            self.past.pop_front();
        }
    }

    /// A store of `hart` that depends on loads up to the time `depends_on`.
    pub(crate) fn store(
        &mut self,
        memory: &Memory,
        hart: usize,
        bytes: Bytes,
        depends_on: u64,
        cycle: u64,
    ) {
        if self.in_order {
            write(memory, &bytes);
            self.committed.push((hart, bytes.physical, bytes.size));
            return;
        }
        if self.harts[hart].buffer.len() == STORES {
            let place = self.random.below(STORES);
            self.commit(memory, hart, place, cycle);
        }
        let scale = self.random.below(2 * DELAY_CYCLES.ilog2() as usize);
        let delay = match scale.checked_sub(DELAY_CYCLES.ilog2() as usize - 1) {
            Some(scale) => self.random.below(1 << scale) as u64,
            None => 0,
        };
        let this = &mut self.harts[hart];
        this.buffer.push(Store {
            bytes,
            due: cycle + delay,
            fences: this.fences,
            depends_on,
        });
    }

    /// A load of `hart` whose address depends on loads up to the time `depends_on`. Gives the bytes, and the time at
    /// which they were taken.
    pub(crate) fn load(
        &mut self,
        memory: &Memory,
        hart: usize,
        (physical, size): (u64, u8),
        depends_on: u64,
    ) -> (u64, u64) {
        let mut value = u64::from_le_bytes(read(memory, physical, size));
        let this = &mut self.harts[hart];
        let entries = coherence(physical, size);
        let mut earliest = self.floor.max(this.fenced).max(depends_on);
        for entry in entries {
            earliest = earliest.max(this.coherence[entry]);
        }
        for store in &this.buffer {
            if store.bytes.overlaps(physical, size) {
                earliest = earliest.max(store.depends_on);
            }
        }
        let mut time = self.now;
        if earliest < time && self.random.below(EARLY) == 0 {
            // As early as can be as often as anywhere between.
            time = earliest;
            if self.random.below(2) == 0 {
                time += self.random.below((self.now - earliest) as usize + 1) as u64;
            }
            for past in self.past.iter().rev().take_while(|past| past.time > time) {
                past.before.lay_over(physical, size, &mut value);
            }
        }
        for store in &this.buffer {
            store.bytes.lay_over(physical, size, &mut value);
        }
        for entry in entries {
            this.coherence[entry] = time;
        }
        this.loaded = this.loaded.max(time);
        (value, time)
    }

    /// Before an atomic of `hart` acts on `size` bytes: what has to be in memory before it.
    pub(crate) fn begin_atomic(
        &mut self,
        memory: &Memory,
        hart: usize,
        (physical, size): (u64, u8),
        ordering: i32,
        cycle: u64,
    ) {
        if ordering & RELEASE != 0 {
            self.drain(memory, hart, cycle);
            return;
        }
        let fences = self.harts[hart].fences;
        while let Some(place) = self.harts[hart]
            .buffer
            .iter()
            .position(|store| store.fences < fences || store.bytes.overlaps(physical, size))
        {
            self.commit(memory, hart, place, cycle);
        }
    }

    /// An atomic of `hart` has read, and if it is given what was there `before`, also written `size` bytes. Gives its
    /// time.
    pub(crate) fn end_atomic(
        &mut self,
        hart: usize,
        (physical, size): (u64, u8),
        before: Option<u64>,
        ordering: i32,
        cycle: u64,
    ) -> u64 {
        if let Some(before) = before
            && !self.in_order
        {
            self.enter(cycle, Bytes::new(physical, before, size));
        }
        let this = &mut self.harts[hart];
        for entry in coherence(physical, size) {
            this.coherence[entry] = self.now;
        }
        this.loaded = self.now;
        if ordering & ACQUIRE != 0 {
            this.fenced = self.now;
        }
        self.now
    }

    /// A fence of `hart`, with its sets: input, output, reads, writes in bits 3 to 0. `fence.tso` is one of reads and
    /// writes that does not order writes before reads.
    pub(crate) fn fence(
        &mut self,
        memory: &Memory,
        hart: usize,
        (predecessors, successors): (u8, u8),
        tso: bool,
        cycle: u64,
    ) {
        use set::{INPUT, OUTPUT, READS, WRITES};
        let before = |members| predecessors & members != 0;
        let after = |members| successors & members != 0;
        if before(WRITES) && (after(READS) && !tso || after(INPUT | OUTPUT)) {
            self.drain(memory, hart, cycle);
            if after(READS) {
                self.harts[hart].fenced = self.now;
            }
        }
        let this = &mut self.harts[hart];
        if before(WRITES) && after(WRITES) {
            this.fences += 1;
        }
        if before(READS) && after(READS) {
            this.fenced = this.fenced.max(this.loaded);
        }
        if before(INPUT | OUTPUT) && after(READS) {
            this.fenced = this.fenced.max(this.device);
        }
    }

    /// `hart` accesses a device, or a CSR. Gives the time.
    pub(crate) fn access_device(&mut self, hart: usize) -> u64 {
        self.harts[hart].device = self.now;
        self.now
    }

    /// `hart` takes a trap or interrupt.
    pub(crate) fn trap(&mut self, hart: usize) {
        self.harts[hart].fenced = self.now;
    }

    /// Lets all stores of `hart` reach memory.
    pub(crate) fn drain(&mut self, memory: &Memory, hart: usize, cycle: u64) {
        while !self.harts[hart].buffer.is_empty() {
            self.commit(memory, hart, 0, cycle);
        }
    }

    /// Memory was written by no load or store of a hart.
    pub(crate) fn written_from_outside(&mut self) {
        self.now += 1;
        self.floor = self.now;
        self.past.clear();
    }

    /// Lets a store reach memory, and before it those that have to be before it.
    fn commit(&mut self, memory: &Memory, hart: usize, place: usize, cycle: u64) {
        let mut place = place;
        loop {
            let buffer = &mut self.harts[hart].buffer;
            let mut first = place;
            while let Some(older) = buffer[..first]
                .iter()
                .position(|older| older.is_before(&buffer[first]))
            {
                first = older;
            }
            let Store { bytes, .. } = buffer.remove(first);
            let before = Bytes {
                value: read(memory, bytes.physical, bytes.size),
                ..bytes
            };
            write(memory, &bytes);
            self.committed.push((hart, bytes.physical, bytes.size));
            self.enter(cycle, before);
            for entry in coherence(bytes.physical, bytes.size) {
                self.harts[hart].coherence[entry] = self.now;
            }
            if first == place {
                break;
            }
            place -= 1;
        }
    }

    /// Notes that memory has changed by a store of a hart.
    fn enter(&mut self, cycle: u64, before: Bytes) {
        self.now += 1;
        self.past.push_back(Past {
            time: self.now,
            cycle,
            before,
        });
        if self.past.len() > HISTORY
            && let Some(past) = self.past.pop_front()
        {
            self.floor = past.time;
        }
    }
}

/// The entries of the table of coherence for `size` bytes: those of the first and the last.
const fn coherence(physical: u64, size: u8) -> [usize; 2] {
    [
        (physical / 8) as usize % COHERENCE,
        ((physical + size as u64 - 1) / 8) as usize % COHERENCE,
    ]
}

/// The bits of the first `size` bytes.
const fn mask(size: u8) -> u64 {
    match size {
        0..8 => (1 << (8 * size)) - 1,
        _ => u64::MAX,
    }
}

/// Reads memory, all of which is there.
fn read(memory: &Memory, physical: u64, size: u8) -> [u8; 8] {
    let mut value = [0; 8];
    if let Some(host) = memory.host(physical) {
        // Safety: bytes that harts access are in memory: the machine asks before it comes here.
        unsafe { copy(host, value.as_mut_ptr(), size) }
    }
    value
}

/// Writes memory, all of which is there.
fn write(memory: &Memory, bytes: &Bytes) {
    if let Some(host) = memory.host(bytes.physical) {
        // Safety: as above.
        unsafe { copy(bytes.value.as_ptr(), host, bytes.size) }
    }
}

/// Copies up to eight bytes: at once those of an aligned access, which are nearly all.
///
/// # Safety
/// `size` bytes, or eight, can be read from `from` and written to `to`.
#[inline]
unsafe fn copy(from: *const u8, to: *mut u8, size: u8) {
    // Safety: the caller's.
    unsafe {
        match size {
            8 => std::ptr::copy_nonoverlapping(from, to, 8),
            4 => std::ptr::copy_nonoverlapping(from, to, 4),
            1 => std::ptr::copy_nonoverlapping(from, to, 1),
            _ => std::ptr::copy_nonoverlapping(from, to, size.min(8) as usize),
        }
    }
}
