//! Operations on cache blocks.
//!
//! "C" is the chapter "CMO" (1.0.0) of Volume I, 20240411, by its sections. Memory holds what harts have stored at
//! once, so that `cbo.clean`, `cbo.flush` and `cbo.inval` change no content: they move lines in the timing models.

use super::Machine;
use super::translation::Quiet;
use crate::hart::Hart;
use crate::op::Op;
use crate::pace::Variant;
use crate::privileged::{Access, BlockOperation, Context, Extensions, Trap};
use crate::timing::Prefetch;

/// Most bytes of a store to weakly ordered memory.
const PIECE: usize = 8;

impl Machine {
    /// Carries out an instruction on the cache block that holds `address`, which the mode may execute.
    pub(crate) fn operate_on_block<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        operation: BlockOperation,
        address: u64,
    ) -> Result<(), Trap> {
        let size = 1_u64 << self.block_shift;
        let block = address & !(size - 1);
        let context = hart.privileged.data_context();
        let mut place = Err(context.access_fault(block, Access::Load));
        if operation != BlockOperation::Zero {
            // Where a load or a store is permitted, the instruction is; where neither is, it raises what a store does
            // (C 4.2.2).
            place = self.place_of_block::<V>(hart, block, Access::Load, &context);
        }
        if place.is_err() {
            place = self.place_of_block::<V>(hart, block, Access::Store, &context);
        }
        // The faulting address is that of the instruction (C 4.2.2).
        let physical = place.map_err(|trap| Trap {
            value: address,
            ..trap
        })?;
        if !self.memory.holds(physical, size) {
            // Devices are not cached, and cannot be zeroed as a block (C 4.2.2: an access fault).
            return match operation {
                BlockOperation::Zero => Err(context.access_fault(address, Access::Store)),
                _ => Ok(()),
            };
        }
        if operation == BlockOperation::Zero {
            for offset in (0..size).step_by(PIECE) {
                self.write_memory::<V>(hart, physical + offset, &[0; PIECE]);
            }
        } else {
            self.drain_stores(hart);
        }
        if V::TIMED {
            let stall =
                self.timing
                    .operate_on_block(hart.index, operation, physical, hart.cycle_of(op));
            hart.attention |= Self::stall(hart, stall);
        }
        Ok(())
    }

    /// Where a block is that this access is permitted to.
    fn place_of_block<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        access: Access,
        context: &Context,
    ) -> Result<u64, Trap> {
        let tag = hart.load_tag;
        let known = if access == Access::Load {
            hart.loads.find(address, 8, tag)
        } else {
            hart.stores.find(address, 8, tag)
        };
        match known {
            Some(host) => Ok(self.physical(host)),
            None => self.place::<V>(
                hart,
                address,
                1 << self.block_shift,
                access,
                context,
                Some(tag),
            ),
        }
    }

    /// Starts to fill a cache with the line that holds `address`. Nothing happens where the hart's L1 TLB does not have
    /// the page, or an access would raise an exception or set a bit in a page table (C 4.2.2 and 6.3). Whether the
    /// block has to end behind it.
    pub(crate) fn prefetch(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        kind: Prefetch,
        address: u64,
    ) -> bool {
        if !hart.privileged.extensions().contains(Extensions::ZICBOP) {
            return false;
        }
        let place = match kind {
            Prefetch::Fetch => hart.fetch(address),
            Prefetch::Read => {
                let known = hart.loads.find(address & !7, 8, hart.load_tag);
                known.map(|host| self.physical(host))
            }
            Prefetch::Write => {
                let known = hart.stores.find(address & !7, 8, hart.load_tag);
                known.map(|host| self.physical(host))
            }
        };
        let place = place.or_else(|| {
            let (access, context) = match kind {
                Prefetch::Fetch => (Access::Fetch, hart.privileged.fetch_context()),
                Prefetch::Read => (Access::Load, hart.privileged.data_context()),
                Prefetch::Write => (Access::Store, hart.privileged.data_context()),
            };
            self.resident_place(hart, address & !7, access, &context)
        });
        let Some(physical) = place.filter(|physical| self.memory.holds(*physical, 1)) else {
            return false;
        };
        let stall = self
            .timing
            .prefetch(hart.index, kind, physical, hart.cycle_of(op));
        Self::stall(hart, stall)
    }

    /// The physical address where the hart's L1 TLB has the page and the access is permitted. Nothing changes.
    fn resident_place(
        &self,
        hart: &Hart,
        address: u64,
        access: Access,
        context: &Context,
    ) -> Option<u64> {
        if !context.bare() && !self.is_resident(hart, address, access, context) {
            return None;
        }
        let mut tables = Quiet(&self.memory);
        let place = hart
            .privileged
            .translate(address, PIECE as u8, access, context, &mut tables);
        place.ok().map(|place| place.physical)
    }
}
