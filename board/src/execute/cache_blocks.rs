//! Instructions on cache blocks: Zicbom, Zicbop, Zicboz.

use super::{next, raise, stop_behind};
use crate::code::Block;
use crate::hart::Hart;
use crate::machine::Machine;
use crate::op::Op;
use crate::pace::Variant;
use crate::privileged::BlockOperation;
use crate::timing::Prefetch;

/// Handlers of the instructions that may raise exceptions.
macro_rules! operations {
    ($($name:ident $operation:ident;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            let rs1 = unsafe { (*op).rs1 };
            let checked = hart
                .privileged
                .check_block(BlockOperation::$operation, machine.bits(hart, op));
            hart.accesses::<V>(rs1, 0);
            let done = checked.and_then(|operation| {
                machine.operate_on_block::<V>(hart, op, operation, hart.get(rs1))
            });
            if let Err(trap) = done {
                return raise(hart, machine, op, trap);
            }
            if hart.attention {
                return stop_behind(hart, op);
            }
            // Safety: the caller's.
            unsafe { next(hart, machine, op) }
        }
    )+ };
}

operations! {
    cbo_inval Invalidate;
    cbo_clean Clean;
    cbo_flush Flush;
    cbo_zero Zero;
}

/// Handlers of prefetches, in timed mode.
macro_rules! prefetches {
    ($($name:ident $kind:ident;)+) => { $(
        pub(super) unsafe fn $name(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            let address = unsafe { hart.get((*op).rs1).wrapping_add((*op).immediate as u64) };
            if machine.prefetch(hart, op, Prefetch::$kind, address) {
                return stop_behind(hart, op);
            }
            // Safety: the caller's.
            unsafe { next(hart, machine, op) }
        }
    )+ };
}

prefetches! {
    prefetch_i Fetch;
    prefetch_r Read;
    prefetch_w Write;
}
