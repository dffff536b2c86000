//! All of the board that its harts share: memory, decoded code, devices, and what runs over the slow paths to them.

mod access;
mod cache_blocks;
mod cost;
mod device;
mod interrupt;
mod reservation;
mod translation;
mod weak;

pub(crate) use device::{Attached, Part, Window};
pub(crate) use reservation::RESERVATION_INSTRUCTIONS;

use crate::bus::{Lines, Stop};
use crate::code::{Code, Draft, PAGE, Scratch};
use crate::hart::Hart;
use crate::memory::Memory;
use crate::op::Op;
use crate::privileged::{Counters, Event, Exception, Trap, interrupts};
use crate::probe::{Probes, Reaction};
use crate::time::{Clock, Femtoseconds};
use crate::timing::Timing;
use crate::trace::Trace;
use crate::weak_memory::WeakMemory;

/// State shared by the harts.
pub(crate) struct Machine {
    pub(crate) memory: Memory,
    pub(crate) code: Code,
    /// In the order of their addresses.
    pub(crate) devices: Vec<Attached>,
    /// Where they answer: in the order of the addresses, which do not overlap.
    pub(crate) windows: Vec<Window>,
    /// Which of them is the fabric.
    pub(crate) fabric: Option<usize>,
    /// Which is the port of a tile.
    pub(crate) tile_port: Option<usize>,
    pub(crate) lines: Lines,
    /// By hart, the bits of `mip` that are driven from outside.
    pub(crate) wires: Vec<u64>,
    /// By hart, the physical address that is reserved.
    pub(crate) reservations: Vec<u64>,
    /// The board has something to see to: a wire changed, a device asked to be woken, or to stop.
    pub(crate) disturbed: bool,
    pub(crate) stop: Option<Stop>,
    /// The run ended before an access that a device could not answer yet.
    pub(crate) postponed: bool,
    /// The hart and address of the stop that ended the run.
    pub(crate) stopped_at: Option<(usize, u64)>,
    /// The hart that touched what is watched, the byte, and whether it wrote.
    pub(crate) watched_at: Option<(usize, u64, bool)>,
    /// The harts' clock.
    pub(crate) clock: Clock,
    /// The clock of `time`.
    pub(crate) timebase: Clock,
    /// The offset of `time`, set by writes of `mtime`.
    pub(crate) time_offset: u64,
    /// Loads and stores, where they are weakly ordered.
    pub(crate) weak: Option<Box<WeakMemory>>,
    pub(crate) timing: Timing,
    /// Whether costs are charged.
    pub(crate) timed: bool,
    /// log2 of a cache block's bytes.
    pub(crate) block_shift: u32,
    pub(crate) probes: Probes,
    /// Probes from this number on begin a new count of lines.
    pub(crate) marks: Option<u32>,
    pub(crate) trace: Trace,
    /// While the second part of an access is translated that lies in two pages, its distance from the first in bytes.
    pub(crate) fault_offset: u64,
    /// The earliest time that a device is to be woken.
    pub(crate) next_wake: Femtoseconds,
    pub(crate) draft: Draft,
    /// For blocks that run once.
    pub(crate) once: Scratch,
}

impl Machine {
    /// Ticks of `time` at a hart's cycle.
    pub(crate) fn ticks(&self, cycle: u64) -> u64 {
        self.timebase
            .cycle_at(self.clock.time_of(cycle))
            .wrapping_add(self.time_offset)
    }

    /// The first cycle that does not begin before `time`; for the end of time, the last there is.
    pub(crate) fn cycle_from(&self, time: Femtoseconds) -> u64 {
        if time == Femtoseconds::NEVER {
            u64::MAX
        } else {
            self.clock.cycle_from(time)
        }
    }

    /// How often each event happened to the hart, by [`Event`] less 1.
    pub(crate) fn events(&self, hart: &Hart) -> [u64; Event::COUNT] {
        let counts = self.timing.counts(hart.index);
        let mut events = [0; Event::COUNT];
        for (event, count) in [
            (Event::BranchMispredicted, counts.mispredictions),
            (Event::InstructionCacheMiss, counts.fetch_misses),
            (
                Event::DataCacheMiss,
                counts.load_misses + counts.store_misses,
            ),
            (Event::SecondLevelCacheMiss, counts.level2_misses),
            (Event::Load, counts.loads),
            (Event::Store, counts.stores),
            (Event::InstructionTlbMiss, hart.happened.fetch_tlb_misses),
            (Event::DataTlbMiss, hart.happened.data_tlb_misses),
            (Event::PageWalkAccess, counts.walk_accesses),
            (Event::Interrupt, hart.happened.interrupts),
            (Event::Exception, hart.happened.exceptions),
        ] {
            events[event as usize - 1] = count;
        }
        events
    }

    /// The counts that `hart`'s counters are made of.
    pub(crate) fn counters<'a>(
        &self,
        hart: &Hart,
        events: &'a [u64; Event::COUNT],
    ) -> Counters<'a> {
        let cycle = hart.cycle();
        Counters {
            cycle,
            instructions: hart.instructions.wrapping_sub(1),
            time: self.ticks(cycle),
            events,
        }
    }

    /// The 16 bits of code at a physical address that is memory and even.
    pub(crate) fn halfword(&self, physical: u64) -> u16 {
        // Safety: aligned, so all of it is memory when its begin is.
        self.memory
            .host(physical)
            .map_or(0, |host| unsafe { host.cast::<u16>().read() })
    }

    /// The physical address of a pointer into memory.
    pub(crate) fn physical(&self, host: *mut u8) -> u64 {
        self.memory.address(host)
    }

    /// The bits of the instruction of `op`.
    pub(crate) fn bits(&self, hart: &Hart, op: *const Op) -> u32 {
        let block = hart.running();
        if block.bits != 0 {
            return block.bits;
        }
        // Safety: an op of the running block.
        let physical = block.physical + 2 * u64::from(unsafe { (*op).at });
        self.instruction(physical)
    }

    /// The bits of the instruction at a physical address that is memory and even. It has to lie in one page.
    pub(crate) fn instruction(&self, physical: u64) -> u32 {
        let low = self.halfword(physical);
        if crate::decode::length(low) == 4 {
            u32::from(self.halfword(physical + 2)) << 16 | u32::from(low)
        } else {
            low.into()
        }
    }

    /// Whether the instruction at a physical address that is memory and even reaches into the next page.
    pub(crate) fn straddles(&self, physical: u64) -> bool {
        physical % PAGE == PAGE - 2 && crate::decode::length(self.halfword(physical)) == 4
    }

    /// The illegal-instruction exception of `op`.
    pub(crate) fn illegal(&self, hart: &Hart, op: *const Op) -> Trap {
        Trap::illegal(self.bits(hart, op))
    }

    /// Looks at the probes at `op`, which the hart is about to carry out. Whether the hart stops there.
    pub(crate) fn probe(&mut self, hart: &Hart, op: *const Op) -> bool {
        // Safety: the caller's op, of the running block.
        let (index, pc) = (hart.index, hart.pc_of(unsafe { &*op }));
        // What is behind is counted already.
        let begun = hart.instructions_until(op) - 1;
        if self
            .probes
            .at(pc)
            .any(|reaction| reaction == Reaction::Stop)
            && self.probes.stops(index, pc, begun)
        {
            self.stopped_at = Some((index, pc));
            self.disturbed = true;
            return true;
        }
        for reaction in self.probes.at(pc) {
            if let Reaction::Record(probe) = reaction {
                // What is behind in its block is charged already.
                let block = hart.running();
                let behind = block.cycles - block.cycles_before(block.index_of(op));
                let mut at = hart.moment();
                at.cycle -= u64::from(behind);
                let mut arguments = [0; 8];
                arguments.copy_from_slice(&hart.x[10..18]);
                self.trace
                    .probe(&self.timing, at, hart.account.current(), arguments, probe);
                if self.marks.is_some_and(|first| probe >= first) {
                    let end = block.physical + 2 * u64::from(block.halfwords);
                    // Safety: the caller's op, of the running block.
                    let here = block.physical + 2 * u64::from(unsafe { (*op).at });
                    self.timing.pass_mark(hart.index, here, end - here);
                }
            }
        }
        false
    }

    /// Notes that the hart does something else from here on, if it does.
    #[inline]
    pub(crate) fn note_activity(&mut self, hart: &mut Hart) {
        self.note_turn(hart, None);
    }

    /// The same, when it has taken this exception, with its a6 and a7.
    #[inline]
    fn note_turn(&mut self, hart: &mut Hart, exception: Option<(Exception, [u64; 2])>) {
        let on = hart.doing();
        if hart.account.current() != on {
            if self.timed {
                self.timing.turn(hart.index, on, exception);
                if self.timing.watches_wakes() {
                    let now = hart.cycle();
                    let pending = hart.privileged.pending(0, self.ticks(now));
                    let timer = pending & interrupts::VSTI != 0;
                    let timing = &mut self.timing;
                    timing.turn_of_wakes(hart.index, now, on, exception, timer);
                }
            }
            let (cycle, instructions) = (hart.cycle(), hart.instructions);
            hart.account.turn_to(on, cycle, instructions);
            self.trace.turn(&self.timing, hart.moment(), on);
            self.timing.turn_of_lines(hart.index, on);
            self.timing.turn_of_uses(hart.index, on, cycle);
        }
    }
}
