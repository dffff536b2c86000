//! The VM's vCPUs: interrupts and fences between them, and starting and stopping them.

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    sbi::{self, HartMask},
    start, time,
};

use super::Attacker;

/// Rounds of one step.
const ROUNDS: usize = 8;
/// Looks at the vCPUs are so many ticks apart.
const LOOK: u64 = 1_000;

/// When [`start_all`] looks again.
static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);

/// Starts all vCPUs that do not run at `entry`, now and then. Only the first vCPU does so.
pub fn start_all(attacker: &Attacker, entry: fn() -> !) {
    if start::hart() != 0 || time::now() < NEXT_LOOK.load(Ordering::Relaxed) {
        return;
    }
    NEXT_LOOK.store(time::now() + LOOK, Ordering::Relaxed);
    for vcpu in 1..attacker.rights.vcpus {
        // It runs already, or it is starting or stopping.
        let _ = start::start_hart(vcpu, entry);
    }
}

/// Interrupts and fences for all.
pub fn interrupt(attacker: &mut Attacker) {
    for _ in 0..ROUNDS {
        let one = HartMask::one(attacker.below(start::HARTS_MAX));
        // Any answer is accepted: only the load of the calls counts.
        let _ = sbi::send_ipi(HartMask::ALL);
        let _ = sbi::send_ipi(one);
        let _ = sbi::remote_fence_i(HartMask::ALL);
        let _ = sbi::remote_sfence_vma(HartMask::ALL, 0x1000, usize::MAX - 0x1000);
        let _ = sbi::remote_sfence_vma(one, 0, usize::MAX);
    }
}

/// Stops the calling vCPU, which the first one starts again; and starts what runs.
pub fn restart(attacker: &mut Attacker) {
    interrupt(attacker);
    if start::hart() != 0 {
        sbi::hart_stop();
    }
    NEXT_LOOK.store(0, Ordering::Relaxed);
    let _ = sbi::hart_status(attacker.below(start::HARTS_MAX));
}
