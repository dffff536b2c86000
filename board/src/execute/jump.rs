//! Ends of a block: jumps, branches, and the fall-through.

use std::ptr;

use crate::code::{Block, Link, PAGE};
use crate::hart::Hart;
use crate::machine::Machine;
use crate::op::Op;
use crate::pace::Variant;
use crate::timing::BranchKind;

/// Continues at `target`, to which `link` of the running block leads. A link that is to be set stays in the virtual
/// page: what another one leads to is no matter of the block, whichever physical page that is now.
#[inline(always)]
fn follow(hart: &mut Hart, target: u64, link: *const Link) -> *const Block {
    // Safety: a link of the running block.
    let block = unsafe { (*link).get() };
    if block.is_null() && (hart.pc ^ target) < PAGE {
        hart.link = link;
    }
    hart.pc = target;
    block
}

/// Handlers of branches.
macro_rules! branches {
    ($($name:ident |$a:ident, $b:ident| $condition:expr;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            unsafe {
                let ($a, $b): (u64, u64) = (hart.get((*op).rs1), hart.get((*op).rs2));
                let pc = hart.pc_of(&*op);
                let block = hart.block;
                let taken = $condition;
                let behind = pc.wrapping_add(2 * u64::from((*block).halfwords - u16::from((*op).at)));
                if V::TIMED {
                    let target = pc.wrapping_add((*op).immediate as u64);
                    machine.charge_branch(hart, pc, BranchKind::Conditional, taken, target, behind);
                }
                if taken {
                    follow(hart, pc.wrapping_add((*op).immediate as u64), &raw const (*block).taken)
                } else {
                    follow(hart, behind, &raw const (*block).next)
                }
            }
        }
    )+ };
}

branches! {
    beq |a, b| a == b;
    bne |a, b| a != b;
    blt |a, b| (a as i64) < b as i64;
    bge |a, b| a as i64 >= b as i64;
    bltu |a, b| a < b;
    bgeu |a, b| a >= b;
}

/// Whether a register is one that return addresses are kept in (I 2.5, table 2.1).
const fn is_link(register: u8) -> bool {
    register == 1 || register == 5
}

/// The return-address-stack hint of a `jalr` (I 2.5, table 2.1).
const fn indirect_kind(rd: u8, rs1: u8) -> BranchKind {
    match (is_link(rd), is_link(rs1)) {
        (false, false) => BranchKind::IndirectJump,
        (false, true) => BranchKind::Return,
        (true, true) if rd != rs1 => BranchKind::Swap,
        (true, _) => BranchKind::IndirectCall,
    }
}

/// `jal`.
pub(super) unsafe fn jal<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe {
        let pc = hart.pc_of(&*op);
        let block = hart.block;
        let behind = pc.wrapping_add(2 * u64::from((*block).halfwords - u16::from((*op).at)));
        let target = pc.wrapping_add((*op).immediate as u64);
        if V::TIMED {
            let kind = if is_link((*op).rd) {
                BranchKind::Call
            } else {
                BranchKind::Jump
            };
            machine.charge_branch(hart, pc, kind, true, target, behind);
        }
        hart.set((*op).rd, behind);
        hart.depends_on::<V>((*op).rd, 0);
        follow(hart, target, &raw const (*block).taken)
    }
}

/// `jalr`.
pub(super) unsafe fn jalr<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe {
        let pc = hart.pc_of(&*op);
        let behind = pc.wrapping_add(2 * u64::from((*hart.block).halfwords - u16::from((*op).at)));
        let target = hart.get((*op).rs1).wrapping_add((*op).immediate as u64) & !1;
        if V::TIMED {
            let kind = indirect_kind((*op).rd, (*op).rs1);
            machine.charge_branch(hart, pc, kind, true, target, behind);
        }
        hart.set((*op).rd, behind);
        hart.depends_on::<V>((*op).rd, 0);
        hart.pc = target;
        hart.jump(target)
    }
}

/// The end of a block whose last instruction is followed by the next one.
pub(super) unsafe fn end(hart: &mut Hart, _: &mut Machine, _: *const Op) -> *const Block {
    // Safety: the caller's.
    unsafe {
        let block = hart.block;
        let target = hart.pc.wrapping_add(2 * u64::from((*block).halfwords));
        follow(hart, target, &raw const (*block).next)
    }
}

/// Stands in for the first instruction that the budget does not reach.
pub(super) unsafe fn stop(hart: &mut Hart, _: &mut Machine, op: *const Op) -> *const Block {
    hart.pause_before(op);
    ptr::null()
}
