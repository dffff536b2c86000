//! Faults of a service VM by its boot arguments, for tests: with `faults=N` each access after the first N of a life is
//! one, when it was served and before its driver is told so; with `hangs=N` it does not end.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::devicetree;

/// Accesses that are left.
pub struct Faults {
    until_fault: AtomicU64,
    until_hang: AtomicU64,
}

impl Faults {
    /// No faults.
    pub const fn none() -> Self {
        Self {
            until_fault: AtomicU64::new(u64::MAX),
            until_hang: AtomicU64::new(u64::MAX),
        }
    }

    /// Those of the boot arguments.
    pub fn begin(&self) {
        for (left, argument) in [(&self.until_fault, "faults"), (&self.until_hang, "hangs")] {
            left.store(devicetree::number(argument, u64::MAX), Ordering::Relaxed);
        }
    }

    /// An access was served.
    pub fn count(&self) {
        if self.until_fault.fetch_sub(1, Ordering::Relaxed) == 0 {
            // SAFETY: the VM has a fault by it.
            unsafe { asm!("unimp", options(noreturn)) };
        }
        if self.until_hang.fetch_sub(1, Ordering::Relaxed) == 0 {
            // Until the call takes too long, which is a fault of the VM.
            loop {
                core::hint::spin_loop();
            }
        }
    }
}
