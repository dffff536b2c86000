//! Running code: the loop that goes from block to block, and what its ops share.
//!
//! Each op of a block is a call of its [`Handler`](crate::op::Handler), which ends by calling that of the next op. The
//! compiler makes such a last call a jump, so that a block runs as one chain of jumps with its operands in registers.
//! The last op of a block returns the next block, or null when the loop has to look for it. (Where the compiler makes
//! real calls, as it may without optimisation, they nest no deeper than a block is long.)
//!
//! Handlers are compiled once for each [`Variant`] of the board: with and without costs, with and without weak memory.

mod atomic;
mod cache_blocks;
mod float;
mod integer;
mod jump;
mod memory;
mod system;
pub(crate) mod translate;

use std::ptr;

use crate::code::{BLOCK_OPS, Block, PAGE};
use crate::decode::length;
use crate::hart::Hart;
use crate::machine::Machine;
use crate::op::Op;
use crate::pace::Variant;
use crate::privileged::Trap;

/// Goes on to the next op.
#[inline(always)]
unsafe fn next(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
    // Safety: every block ends with an op that doesn't come here, so there is one behind this.
    unsafe {
        let op = op.add(1);
        ((*op).handler)(hart, machine, op)
    }
}

/// Ends the block behind `op`, which is carried out, because something has to be seen to.
#[cold]
fn stop_behind(hart: &mut Hart, op: *const Op) -> *const Block {
    hart.leave_to_resume(op);
    hart.attention = true;
    ptr::null()
}

/// The same because the budget is used up. Interrupts are looked at in this turn only where one may be due, or where
/// something else has to be seen to.
#[cold]
fn pause_behind(hart: &mut Hart, machine: &Machine, op: *const Op) -> *const Block {
    hart.leave_to_resume(op);
    hart.attention |= machine.needs_attention(hart);
    debug_assert!(
        hart.attention || !machine.is_interrupt_due(hart),
        "an interrupt is due that nothing has told of"
    );
    ptr::null()
}

/// Charges for a load or store that is carried out, and goes on if that leaves some of the budget.
#[inline(never)]
unsafe fn charge(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
    host: *mut u8,
    write: bool,
) -> *const Block {
    if machine.charge_access(hart, op, host, write) {
        return pause_behind(hart, machine, op);
    }
    // Safety: the caller's.
    unsafe { next(hart, machine, op) }
}

/// Raises an exception at `op`, or lets the hart stand before it when a device has postponed its access.
#[cold]
fn raise(hart: &mut Hart, machine: &mut Machine, op: *const Op, trap: Trap) -> *const Block {
    if machine.postponed {
        hart.pause_before(op);
        hart.postponed = true;
        return ptr::null();
    }
    let offset = std::mem::take(&mut machine.fault_offset);
    let trap = trap.by(machine.bits(hart, op), offset);
    hart.leave(op, false);
    take(hart, machine, &trap);
    ptr::null()
}

/// Runs the hart until the cycle `until`, or until the board has something to see to: the hart waits, a wire to a hart
/// changed, the run is to end.
pub(crate) fn run<V: Variant>(hart: &mut Hart, machine: &mut Machine, until: u64) {
    hart.until = until;
    hart.link = ptr::null();
    if std::mem::take(&mut hart.postponed) {
        // No interrupt comes between: the access has begun.
        machine.invalidate_stale(hart);
        hart.attention = false;
        hart.set_limit(hart.cycle() + 1);
    } else if machine.needs_attention(hart) {
        hart.attention = true;
    } else {
        hart.set_limit(until.min(hart.timer_cycle));
    }
    loop {
        if hart.postponed {
            return;
        }
        if hart.attention {
            hart.attention = false;
            machine.handle_attention(hart);
            if hart.waiting || machine.disturbed {
                return;
            }
        }
        if hart.budget <= 0 {
            if hart.cycle() >= until {
                return;
            }
            // A timer's time has come.
            hart.attention = true;
            continue;
        }
        if let Some((begin, index)) = hart.restored.take() {
            find_resume::<V>(hart, machine, begin, index);
            if hart.budget <= 0 {
                continue;
            }
        }
        if let Some((block, index)) = hart.take_resume() {
            // Safety: that the block is still the one at the hart's pc has been asked.
            unsafe { run_part::<V>(hart, machine, block, index) };
            continue;
        }
        let mut block = find::<V>(hart, machine);
        if hart.attention {
            // The walk left marks in a page with code.
            hart.link = ptr::null();
            continue;
        }
        if !hart.link.is_null() {
            // Safety: the link is one of the block that ran last, which no drop of code has come after: that would have
            // asked for attention and left no link.
            unsafe { (*hart.link).set(block) };
            hart.link = ptr::null();
        }
        while !block.is_null() {
            // Safety: blocks are found for this hart's pc, and dropped only where this loop is not at work with them.
            unsafe {
                if V::TIMED && hart.budget <= 0 {
                    // Whether it was come to by a link or not: an interrupt comes before the next fetch.
                    hart.link = ptr::null();
                    break;
                }
                if V::TIMED && !hart.take_fetched() && machine.charge_fetch(hart, &*block) {
                    // It has been fetched, and is not to be charged for it again. A block that is made to run once is
                    // gone when another hart, which may come first, needs one; it is made again.
                    if machine.once.holds(block) {
                        hart.fetched = hart.pc;
                    } else {
                        hart.resume_at(block, 0, hart.pc);
                    }
                    hart.link = ptr::null();
                    break;
                }
                let cycles = i64::from((*block).cycles);
                if hart.budget < cycles + i64::from(V::TIMED) {
                    hart.link = ptr::null();
                    // A block that follows another one may be come to just at the end.
                    if hart.budget > 0 {
                        run_part::<V>(hart, machine, block, 0);
                    }
                    break;
                }
                hart.budget -= cycles;
                hart.instructions += u64::from((*block).count);
                hart.block = block;
                let op = (*block).ops();
                block = ((*op).handler)(hart, machine, op);
            }
        }
    }
}

/// Runs a block from the instruction at `first` on, as far as the budget reaches, of which there has to be some: at
/// least an instruction.
#[cold]
unsafe fn run_part<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    block: *const Block,
    first: usize,
) {
    // Safety: the caller's; ops of a block that is not running may be changed and changed back.
    unsafe {
        let (cycles, count) = ((*block).cycles, (*block).count as usize);
        let before = (*block).cycles_before(first);
        let mut end = first + 1;
        // An instruction that begins before the end is carried out, one that would begin there is not, though it may
        // take no cycle of its own.
        while end < count && i64::from((*block).cycles_before(end) - before) < hart.budget {
            end += 1;
        }
        hart.budget -= i64::from(cycles - before);
        hart.instructions += (count - first) as u64;
        hart.block = block;
        let op = (*block).ops().add(first);
        if end == count {
            ((*op).handler)(hart, machine, op);
        } else {
            let behind = (*block).ops().add(end).cast_mut();
            let handler = (*behind).handler;
            (*behind).handler = jump::stop;
            ((*op).handler)(hart, machine, op);
            (*behind).handler = handler;
        }
        hart.link = ptr::null();
    }
}

/// Lets a hart that a snapshot left at the instruction at `index` of the block at `begin` continue there, if that is
/// still where it is.
fn find_resume<V: Variant>(hart: &mut Hart, machine: &mut Machine, begin: u64, index: usize) {
    // Where an interrupt came between, it goes on elsewhere; asking for the page would count as a fetch.
    if hart.pc.wrapping_sub(begin) >= 4 * BLOCK_OPS as u64 || hart.pc / PAGE != begin / PAGE {
        return;
    }
    let Ok((physical, true)) = machine.fetch::<V>(hart, begin) else {
        return;
    };
    if machine.straddles(physical) {
        return;
    }
    let mut block = machine.code.find(physical);
    if block.is_null() {
        block = translate::block::<V>(hart, machine, physical);
    }
    // Safety: found or made just now.
    if index < usize::from(unsafe { (*block).count }) {
        hart.resume_at(block, index, begin);
    }
}

/// The block at the hart's pc. Null when fetching from there raised an exception. When the link that led here may be
/// set to the block, it stays.
fn find<V: Variant>(hart: &mut Hart, machine: &mut Machine) -> *const Block {
    let pc = hart.pc;
    let block = hart.jump(pc);
    if !block.is_null() {
        keep_link(hart, machine, block);
        return block;
    }
    let (physical, whole) = match machine.fetch::<V>(hart, pc) {
        Ok(place) => place,
        Err(trap) => return refuse(hart, machine, trap),
    };
    let mut block = machine.code.find(physical);
    if block.is_null() || !whole {
        if !whole || machine.straddles(physical) {
            hart.link = ptr::null();
            let low = machine.halfword(physical);
            let mut bits = u32::from(low);
            if length(low) == 4 {
                match machine.fetch::<V>(hart, pc.wrapping_add(2)) {
                    Ok((second, _)) => {
                        bits |= u32::from(machine.halfword(second)) << 16;
                        machine.timing.note_read(second, 2, hart.cycle());
                    }
                    Err(trap) => return refuse(hart, machine, trap),
                }
            }
            return translate::single::<V>(machine, bits, physical);
        }
        block = translate::block::<V>(hart, machine, physical);
    }
    hart.enter_jump(pc, block);
    keep_link(hart, machine, block);
    block
}

/// Keeps the link only where it leads from a block to one in the same page, virtually (which the caller that asked for
/// it has seen to) and physically.
fn keep_link(hart: &mut Hart, machine: &Machine, block: *const Block) {
    if !hart.link.is_null() {
        // Safety: with a link, the block that ran last is still there.
        let (from, to) = unsafe { ((*hart.block).physical, (*block).physical) };
        if from / PAGE != to / PAGE || machine.once.holds(hart.block) {
            hart.link = ptr::null();
        }
    }
}

/// Takes an exception of an instruction that can't be fetched. It takes a cycle, as every instruction does.
fn refuse(hart: &mut Hart, machine: &mut Machine, trap: Trap) -> *const Block {
    hart.link = ptr::null();
    hart.budget -= 1;
    take(hart, machine, &trap);
    ptr::null()
}

/// Takes an exception at the hart's pc.
fn take(hart: &mut Hart, machine: &mut Machine, trap: &Trap) {
    let pc = hart.pc;
    hart.take(trap);
    machine.trapped(hart, trap, pc);
}
