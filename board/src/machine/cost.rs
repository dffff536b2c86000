//! Costs of the timed mode.

use super::Machine;
use crate::code::{Block, Draft};
use crate::fabric::Coupling;
use crate::hart::Hart;
use crate::op::Op;
use crate::pace::Variant;
use crate::timing::{BranchKind, Entered, Schedule};

/// Output, in a fence's set of predecessors (I 2.7).
const OUTPUT: u8 = 0b0100;

impl Machine {
    /// Fills in how many cycles a block takes by its pipeline alone.
    pub(crate) fn settle_cycles<V: Variant>(&self, draft: &mut Draft) {
        if !V::TIMED {
            draft.cycles.extend(1..=draft.instructions.len() as u16);
            return;
        }
        let mut schedule = Schedule::new(self.timing.pipeline());
        let mut cycles = 0_u16;
        for instruction in &draft.instructions {
            let more = match instruction {
                Some(instruction) => schedule.next(instruction),
                None => schedule.illegal(),
            };
            cycles = cycles.saturating_add(u16::try_from(more).unwrap_or(u16::MAX));
            draft.cycles.push(cycles);
        }
        draft.registers = schedule.registers();
        draft.lines = self
            .timing
            .fetch_lines(draft.physical, 2 * u64::from(draft.halfwords));
        draft.only_line = self.timing.only_line(draft.physical, draft.lines);
    }

    /// Takes stall cycles off the hart's budget. Whether it can't finish its block with what is left.
    #[inline(always)]
    pub(super) fn stall(hart: &mut Hart, stall: u64) -> bool {
        hart.budget -= stall as i64;
        hart.budget <= 0
    }

    /// Charges for fetching a block, while there is budget. Whether it is used up.
    #[inline(always)]
    pub(crate) fn charge_fetch(&mut self, hart: &mut Hart, block: &Block) -> bool {
        if self.timing.is_fetched(hart.index, block.only_line) {
            return false;
        }
        if self.timing.is_observed() {
            self.follow_block(hart, block);
        }
        let stall = self
            .timing
            .fetch(hart.index, block.physical, block.lines, hart.cycle());
        Self::stall(hart, stall)
    }

    /// Notes the block that a hart comes to, where uses are followed.
    #[cold]
    fn follow_block(&mut self, hart: &Hart, block: &Block) {
        let entered = Entered {
            physical: block.physical,
            bytes: 2 * u64::from(block.halfwords),
            registers: block.registers,
            count: block.count,
            retired: hart.instructions,
            now: hart.cycle(),
        };
        self.timing.enter_block(hart.index, entered);
    }

    /// Whether a load or store in memory costs nothing and the block goes on behind it; it is counted then. Any other
    /// has to be [charged](Self::charge_access).
    ///
    /// Where a part of a block is run, the budget is used up from its start, and each access ends the block: the
    /// interrupts that are due behind it are taken in this turn, and the order of turns depends on that.
    #[inline(always)]
    pub(crate) fn is_free(&mut self, hart: &Hart, host: *mut u8, write: bool) -> bool {
        if hart.budget <= 0 {
            return false;
        }
        let (physical, since) = (self.physical(host), hart.block_begin());
        self.timing.is_free(hart.index, physical, write, since)
    }

    /// Charges for a load or store in memory. Whether the block has to end behind it.
    #[inline(always)]
    pub(crate) fn charge_data(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        host: *mut u8,
        write: bool,
    ) -> bool {
        !self.is_free(hart, host, write) && self.charge_access(hart, op, host, write)
    }

    /// The same for one that is not known to be [free](Self::is_free).
    #[inline(never)]
    pub(crate) fn charge_access(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        host: *mut u8,
        write: bool,
    ) -> bool {
        let stall = self
            .timing
            .data(hart.index, self.physical(host), write, hart.cycle_of(op));
        Self::stall(hart, stall)
    }

    /// Charges for a load-reserved. Whether the block has to end behind it.
    pub(crate) fn charge_reserved(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        host: *mut u8,
    ) -> bool {
        // Safety: the caller's op.
        let ordering = unsafe { (*op).immediate };
        let stall =
            self.timing
                .load_reserved(hart.index, self.physical(host), ordering, hart.cycle_of(op));
        Self::stall(hart, stall)
    }

    /// Charges for a read-modify-write, or for a store-conditional that `stores` or not. Whether the block has to end
    /// behind it.
    pub(crate) fn charge_atomic(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        host: *mut u8,
        stores: bool,
    ) -> bool {
        // Safety: the caller's op.
        let ordering = unsafe { (*op).immediate };
        let (physical, now) = (self.physical(host), hart.cycle_of(op));
        let stall = self
            .timing
            .store_conditional(hart.index, physical, ordering, stores, now);
        Self::stall(hart, stall)
    }

    /// Which accesses before a fence are done before those behind it: input, output, reads, writes in bits 3 to 0.
    pub(super) const fn predecessors(op: *const Op) -> u8 {
        // Safety: the caller's op.
        let immediate = unsafe { (*op).immediate };
        // fence.tso, of mode 8, waits for nothing.
        if immediate >> 8 & 15 == 8 {
            0
        } else {
            (immediate >> 4 & 15) as u8
        }
    }

    /// Lets the fabric answer what a fence orders. Whether the block has to end behind it.
    pub(crate) fn order_fabric(&mut self, hart: &mut Hart, op: *const Op) -> bool {
        if self.fabric.is_none() || Self::predecessors(op) & OUTPUT == 0 {
            return false;
        }
        let now = self.clock.time_of(hart.cycle_of(op));
        let stall = self.call_fabric(now, Coupling::drain);
        self.after_access(hart, stall);
        hart.attention
    }

    /// Charges for a fence. Whether the block has to end behind it.
    pub(crate) fn charge_fence(&mut self, hart: &mut Hart, op: *const Op) -> bool {
        let predecessors = Self::predecessors(op);
        let stall = self
            .timing
            .fence(hart.index, predecessors, hart.cycle_of(op));
        Self::stall(hart, stall)
    }

    /// Charges for `fence.i`, at the end of a block.
    pub(crate) fn charge_fence_i(&mut self, hart: &mut Hart) {
        let stall = self.timing.fence_i(hart.index, hart.cycle());
        Self::stall(hart, stall);
    }

    /// Charges for the end of a block.
    #[inline(always)]
    pub(crate) fn charge_branch(
        &mut self,
        hart: &mut Hart,
        pc: u64,
        kind: BranchKind,
        taken: bool,
        target: u64,
        behind: u64,
    ) {
        let stall = self
            .timing
            .branch(hart.index, pc, kind, taken, target, behind);
        Self::stall(hart, stall);
    }

    /// Charges for a trap.
    pub(super) fn charge_trap(&self, hart: &mut Hart) {
        if self.timed {
            hart.budget -= self.timing.trap() as i64;
        }
    }
}
