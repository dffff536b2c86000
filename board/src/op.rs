//! The instruction as the engine runs it: an op, and the function that carries it out.
//!
//! Ops name hart and machine by type alone; what they do is in [`execute`](crate::execute).

use crate::code::Block;
use crate::hart::Hart;
use crate::machine::Machine;

/// Carries out an op of the hart's running block and all behind it. Gives the next block, or null.
///
/// # Safety
///
/// The op is one of the hart's running block, which is one of the machine's.
pub type Handler = unsafe fn(&mut Hart, &mut Machine, *const Op) -> *const Block;

/// One instruction, ready to run: what to call and with what.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Op {
    /// Carries it out and goes on to the op behind it.
    pub handler: Handler,
    /// The immediate, by the kind of instruction.
    pub immediate: i32,
    /// Destination. For integer registers x0 is replaced by a place that nothing reads.
    pub rd: u8,
    /// First source.
    pub rs1: u8,
    /// Second source.
    pub rs2: u8,
    /// Where it begins: halfwords from the block's begin.
    pub at: u8,
}

const _: () = assert!(size_of::<Op>() == 16);
