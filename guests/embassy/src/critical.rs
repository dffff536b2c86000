//! Critical sections: with interrupts off, by one vCPU at a time.

use core::sync::atomic::{AtomicUsize, Ordering};

use critical_section::RawRestoreState;
use tactus_guest::{start, trap};

struct Section;

critical_section::set_impl!(Section);

/// Number of the vCPU that is in the section, plus one; 0: none.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// Interrupts were enabled.
const INTERRUPTS: u8 = 1;
/// The vCPU was in the section already.
const NESTED: u8 = 2;

// SAFETY: between `acquire` and `release` no other vCPU is in the section, and no handler of this one runs. Acquire and
// release order the accesses within.
unsafe impl critical_section::Impl for Section {
    unsafe fn acquire() -> RawRestoreState {
        let interrupts = if trap::disable_interrupts() {
            INTERRUPTS
        } else {
            0
        };
        let own = start::hart() + 1;
        if OWNER.load(Ordering::Relaxed) == own {
            return interrupts | NESTED;
        }
        // Bounded by the sections of the other vCPUs, whose interrupts are off.
        while OWNER
            .compare_exchange_weak(0, own, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            core::hint::spin_loop();
        }
        interrupts
    }

    unsafe fn release(before: RawRestoreState) {
        if before & NESTED == 0 {
            OWNER.store(0, Ordering::Release);
        }
        if before & INTERRUPTS != 0 {
            trap::enable_interrupts();
        }
    }
}
