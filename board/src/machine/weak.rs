//! Weakly ordered loads and stores, and what else has to do with their order.
//!
//! The functions named `..._weakly` are called by handlers of [`Weak`](crate::pace::Weak) variants alone. The others do
//! nothing where memory is in order.

use super::Machine;
use crate::hart::Hart;
use crate::op::Op;
use crate::weak_memory::Bytes;

/// Where a fence's sets begin in its immediate.
const SUCCESSORS: i32 = 0;
const PREDECESSORS: i32 = 4;
/// The sets of `fence.tso`.
const READS_AND_WRITES: u8 = 0b11;

impl Machine {
    /// Loads `size` bytes of memory for the hart.
    pub(crate) fn load_weakly(&mut self, hart: &mut Hart, physical: u64, size: u8) -> u64 {
        let Some(weak) = &mut self.weak else {
            return 0;
        };
        let depends_on = hart.dependencies.access;
        let (value, time) = weak.load(&self.memory, hart.index, (physical, size), depends_on);
        // Of an access in several parts, the latest.
        hart.dependencies.access = depends_on.max(time);
        value
    }

    /// Stores the low `size` bytes of `value` to memory for the hart.
    pub(crate) fn store_weakly(&mut self, hart: &mut Hart, physical: u64, value: u64, size: u8) {
        let (depends_on, cycle) = (hart.dependencies.access, hart.cycle());
        if let Some(weak) = &mut self.weak {
            let bytes = Bytes::new(physical, value, size);
            weak.store(&self.memory, hart.index, bytes, depends_on, cycle);
        }
        hart.attention |= self.invalidate_committed();
    }

    /// Commits stores that must be in memory before an atomic on `size` bytes.
    pub(crate) fn begin_atomic(&mut self, hart: &mut Hart, op: *const Op, host: *mut u8, size: u8) {
        // Safety: the caller's op.
        let ordering = unsafe { (*op).immediate };
        let place = (self.physical(host), size);
        if let Some(weak) = &mut self.weak {
            weak.begin_atomic(&self.memory, hart.index, place, ordering, hart.cycle());
        }
        hart.attention |= self.invalidate_committed();
    }

    /// An atomic has read, and if it is given what was there `before`, also written `size` bytes.
    pub(crate) fn end_atomic(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        host: *mut u8,
        size: u8,
        before: Option<u64>,
    ) {
        // Safety: the caller's op.
        let (rd, ordering) = unsafe { ((*op).rd, (*op).immediate) };
        let physical = self.physical(host);
        if before.is_some() {
            self.break_reservations(hart.index, physical, size.into());
        }
        if let Some(weak) = &mut self.weak {
            let place = (physical, size);
            hart.dependencies.x[rd as usize] =
                weak.end_atomic(hart.index, place, before, ordering, hart.cycle());
        }
    }

    /// Orders what is before a fence, or a `fence.tso`, before what is behind it.
    pub(crate) fn fence_weakly(&mut self, hart: &mut Hart, op: *const Op, tso: bool) {
        // Safety: the caller's op.
        let immediate = unsafe { (*op).immediate };
        let sets = if tso {
            [READS_AND_WRITES; 2]
        } else {
            [PREDECESSORS, SUCCESSORS].map(|shift| (immediate >> shift & 15) as u8)
        };
        if let Some(weak) = &mut self.weak {
            weak.fence(&self.memory, hart.index, sets.into(), tso, hart.cycle());
        }
        hart.attention |= self.invalidate_committed();
    }

    /// Orders an access to a CSR, of the registers that it reads and writes.
    pub(crate) fn access_csr_weakly(&mut self, hart: &mut Hart, source: u8, rd: u8) {
        if let Some(weak) = &mut self.weak {
            weak.access_device(hart.index);
        }
        let this = &mut hart.dependencies;
        this.csr = this.csr.max(this.x[source as usize]);
        this.x[rd as usize] = this.csr;
    }

    /// Orders an access to a device.
    pub(super) fn order_device(&mut self, hart: &mut Hart) {
        if let Some(weak) = &mut self.weak {
            hart.dependencies.access = weak.access_device(hart.index);
        }
    }

    /// Orders a trap or interrupt.
    pub(super) fn order_trap(&mut self, hart: &Hart) {
        if let Some(weak) = &mut self.weak {
            weak.trap(hart.index);
        }
    }

    /// Lets all of the hart's stores reach memory.
    pub(crate) fn drain_stores(&mut self, hart: &mut Hart) {
        if let Some(weak) = &mut self.weak {
            weak.drain(&self.memory, hart.index, hart.cycle());
            hart.attention |= self.invalidate_committed();
        }
    }

    /// Keeps loads and stores in program order until a hart leaves M-mode for the first time.
    pub(crate) fn begin_in_order(&mut self) {
        if let Some(weak) = &mut self.weak {
            weak.begin_in_order();
        }
    }

    /// A hart has left M-mode.
    pub(crate) fn left_machine_mode(&mut self) {
        if let Some(weak) = &mut self.weak {
            weak.end_order();
        }
    }

    /// Memory was written by no load or store of a hart.
    pub(super) fn written_from_outside(&mut self) {
        if let Some(weak) = &mut self.weak {
            weak.written_from_outside();
        }
    }

    /// A turn begins at `cycle`: stores that are due reach memory. No hart is running.
    pub(crate) fn begin_turn(&mut self, cycle: u64) {
        if let Some(weak) = &mut self.weak {
            weak.begin_turn(&self.memory, cycle);
            self.invalidate_committed();
        }
    }

    /// Drops code and reservations that stores took which reached memory. Whether code was dropped.
    fn invalidate_committed(&mut self) -> bool {
        let mut dropped = false;
        while let Some((hart, physical, size)) =
            self.weak.as_mut().and_then(|weak| weak.take_committed())
        {
            self.break_reservations(hart, physical, size.into());
            if self.code.in_page(physical) {
                dropped |= self.code.written(physical, size.into());
            }
        }
        dropped
    }
}
