//! Floating-point computation: F and D. The arithmetic itself is in [`float`](crate::float).

use std::sync::LazyLock;

use super::{memory::raise_illegal, next};
use crate::code::Block;
use crate::decode::{Instruction, Operation, RoundingMode};
use crate::float::{File, Kind, Rounding, lookup};
use crate::hart::{FloatState, Hart};
use crate::machine::Machine;
use crate::op::Op;
use crate::pace::Variant;

/// By operation, how it is done.
static KINDS: LazyLock<[Option<Kind>; Operation::COUNT]> =
    LazyLock::new(|| Operation::ALL.map(lookup));

/// Whether the result goes to a floating-point register.
pub(super) fn writes_float(operation: Operation) -> bool {
    KINDS[operation as usize]
        .as_ref()
        .is_some_and(|kind| kind.destination == File::Float)
}

/// Operands of [`compute`] beside the registers that an op has room for: operation, third source, rounding mode.
/// `None`: the instruction is not for it.
pub(super) fn pack(instruction: &Instruction) -> Option<i32> {
    KINDS[instruction.operation as usize].as_ref()?;
    Some(
        instruction.operation as i32
            | i32::from(instruction.rs3) << 16
            | (instruction.rounding as i32) << 24,
    )
}

/// The rounding mode of `immediate`, which [`pack`] made, while the hart's `frm` is as it is.
fn rounding(hart: &Hart, immediate: i32) -> Option<Rounding> {
    let mode = RoundingMode::from_field(immediate as u32 >> 24)?;
    Rounding::of(mode, hart.privileged.frm())
}

/// Any floating-point computation.
pub(super) unsafe fn compute<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe {
        let Op {
            immediate,
            rd,
            rs1,
            rs2,
            ..
        } = *op;
        let kind = KINDS[immediate as usize & 0xffff].as_ref();
        let (Some(kind), Some(rounding), false) = (
            kind,
            rounding(hart, immediate),
            hart.float == FloatState::Off,
        ) else {
            return raise_illegal(hart, machine, op);
        };
        let registers = [rs1, rs2, (immediate >> 16) as u8 & 31];
        let mut values = [0; 3];
        let mut depends_on = 0;
        for ((value, register), file) in values.iter_mut().zip(registers).zip(kind.sources) {
            *value = match file {
                File::Integer => {
                    if V::WEAK {
                        depends_on = hart.dependencies.x[register as usize].max(depends_on);
                    }
                    hart.get(register)
                }
                File::Float => {
                    if V::WEAK {
                        depends_on = hart.dependencies.float.max(depends_on);
                    }
                    hart.f[register as usize % 32]
                }
            };
        }
        let (result, flags) = (kind.compute)(values[0], values[1], values[2], rounding);
        match kind.destination {
            File::Integer => {
                hart.set(rd, result);
                hart.depends_on::<V>(rd, depends_on);
            }
            File::Float => {
                if V::WEAK {
                    hart.dependencies.float = hart.dependencies.float.max(depends_on);
                }
                hart.f[rd as usize % 32] = result;
                hart.dirty_float();
            }
        }
        if !flags.is_empty() {
            hart.privileged.accrue_fflags(flags.bits());
            hart.dirty_float();
        }
        next(hart, machine, op)
    }
}
