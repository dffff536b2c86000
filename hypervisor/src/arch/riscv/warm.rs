//! Cache lines are brought near before they are used.

use super::context::Context;
use core::arch::asm;

/// No cache has shorter lines.
const LINE: u64 = 32;
/// Bytes of the way into a guest, from where the scheduler returns to.
const WAY_IN: u64 = 0xa0;

unsafe extern "C" {
    fn resume();
}

/// Brings the line of an address in memory near, for instructions or for data. `prefetches`: the harts have Zicbop, so
/// that nothing is waited for; otherwise by a load.
#[inline(always)]
pub fn warm(address: u64, code: bool, prefetches: bool) {
    // Safety: hints, and a load whose value goes nowhere, of what is memory by the callers.
    unsafe {
        match (prefetches, code) {
            (false, _) => asm!("lb x0, 0({0})", in(reg) address, options(readonly, nostack)),
            // prefetch.i and prefetch.r (Zicbop: CMO specification, section 4).
            (_, true) => asm!(".insn i 0x13, 6, x0, {0}, 0", in(reg) address, options(nomem)),
            (_, false) => asm!(".insn i 0x13, 6, x0, {0}, 1", in(reg) address, options(nomem)),
        }
    }
}

/// Brings near what the way into a guest reads: its instructions, and the registers.
pub fn warm_way_in(context: &Context, prefetches: bool) {
    let registers = core::ptr::from_ref(&context.registers).addr() as u64;
    let all = |first, bytes: u64| (0..bytes).step_by(LINE as usize).map(move |at| first + at);
    let bytes = size_of_val(&context.registers) as u64;
    all(registers, bytes).for_each(|line| warm(line, false, prefetches));
    all(resume as *const () as u64, WAY_IN).for_each(|line| warm(line, true, prefetches));
}
