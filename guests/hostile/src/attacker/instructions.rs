//! Instructions that a guest may not execute: control and status registers of the levels below, privileged and
//! undefined ones. Each must raise an exception.

use core::sync::atomic::{AtomicU32, Ordering};

use tactus_guest::{record, start};

use super::{Attacker, traps};

/// Instructions of one step.
const INSTRUCTIONS: usize = 16;

/// `ret`.
const RETURN: u32 = 0x0000_8067;

/// Words of code of each vCPU.
#[repr(align(64))]
struct Code([AtomicU32; 2]);

static CODE: [Code; start::HARTS_MAX] =
    [const { Code([const { AtomicU32::new(RETURN) }; 2]) }; start::HARTS_MAX];

/// Runs one instruction, which changes t0 at most; whether it raised an exception.
fn is_refused(instruction: u32) -> bool {
    let code = &CODE[start::hart() % start::HARTS_MAX].0;
    code[0].store(instruction, Ordering::Relaxed);
    code[1].store(RETURN, Ordering::Relaxed);
    let before = traps::exceptions();
    // SAFETY: makes the stores visible to instruction fetch, and calls the two words as a function that changes no
    // register but t0; an exception is stepped over.
    unsafe {
        core::arch::asm!(
            "fence.i",
            "jalr {0}",
            in(reg) code.as_ptr(),
            out("ra") _,
            out("t0") _,
        );
    }
    traps::exceptions() != before
}

/// Any of them.
pub fn refused(attacker: &mut Attacker) {
    for _ in 0..INSTRUCTIONS {
        // `csrrs t0, csr, zero`, and `csrrw t0, csr, zero` of registers that are not the guest's.
        let csr = attacker.below(1 << 12) as u32;
        let foreign = csr >> 8 & 3 >= 2;
        let write = foreign && attacker.once_in(2);
        let funct3 = if write { 1 } else { 2 };
        let access = csr << 20 | funct3 << 12 | 5 << 7 | 0x73;
        // Undefined: an all-ones word, the custom opcodes' reserved one; `mret`, `hfence.gvma`, `hlv.d t0, (zero)`.
        let others = [
            0xffff_ffff,
            0x0000_006b,
            0x3020_0073,
            0x6200_0073,
            0x6c00_42f3,
        ];
        let refused = is_refused(access);
        if foreign && !refused {
            record::fail(
                start::program(),
                format_args!("access to CSR {csr:#x} was not refused"),
            );
        }
        is_refused(others[attacker.below(others.len())]);
    }
}
