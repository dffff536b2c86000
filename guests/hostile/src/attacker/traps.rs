//! Traps of the attacker itself: interrupts are taken, exceptions continue behind the instruction.

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    csr,
    plic::Plic,
    start,
    trap::{self, Frame},
};

/// Exceptions of each vCPU so far.
static EXCEPTIONS: [AtomicU64; start::HARTS_MAX] = [const { AtomicU64::new(0) }; start::HARTS_MAX];

/// Instruction access fault and instruction page fault: `sepc` is where nothing can be fetched.
const FETCH: [usize; 2] = [1, 12];

/// Sets the handlers.
pub fn tolerate_all() {
    trap::on_exception(step_over);
    trap::on_timer(super::timer::tick);
    trap::on_software(|| {});
    // A source whose line stays up would keep the vCPU here: it is enabled again by an attack.
    trap::on_external(|source| Plic::of_hart(start::hart()).disable(source));
}

/// Takes interrupts of every kind on the calling vCPU.
pub fn enable() {
    // SAFETY: the handlers are set before the first vCPU calls this.
    unsafe {
        csr::set::<{ csr::SIE }>(
            csr::INTERRUPT_TIMER | csr::INTERRUPT_SOFTWARE | csr::INTERRUPT_EXTERNAL,
        );
    }
    trap::enable_interrupts();
}

/// Exceptions of the calling vCPU so far.
pub fn exceptions() -> u64 {
    EXCEPTIONS[start::hart() % start::HARTS_MAX].load(Ordering::Relaxed)
}

/// Continues behind the instruction, or where a jump to nowhere came from.
fn step_over(frame: &mut Frame) {
    EXCEPTIONS[start::hart() % start::HARTS_MAX].fetch_add(1, Ordering::Relaxed);
    if FETCH.contains(&frame.cause) {
        // `ra`
        frame.pc = frame.registers[0];
        return;
    }
    // SAFETY: the instruction has been fetched from there.
    let low = unsafe { (frame.pc as *const u16).read_volatile() };
    frame.pc += if low & 3 == 3 { 4 } else { 2 };
}
