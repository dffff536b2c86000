//! The platform's PLIC (RISC-V Platform-Level Interrupt Controller specification 1.0.0). Nothing outside this module
//! and [`crate::interrupt`] assumes one.

use core::ptr::{read_volatile, write_volatile};

/// Priorities of physical sources.
pub mod priority {
    /// Of VMs with real-time vCPUs: the upper half.
    pub const REAL_TIME: u32 = 6;
    /// Of other VMs; without separation, of all.
    pub const BEST_EFFORT: u32 = 2;
    /// Threshold while a real-time vCPU runs: sources of other VMs wait.
    pub const THRESHOLD_REAL_TIME: u32 = 3;
}

const ENABLE: u64 = 0x2000;
const CONTEXT: u64 = 0x20_0000;

/// The controller, by its physical address.
#[derive(Clone, Copy, Debug)]
pub struct Plic {
    base: u64,
}

impl Plic {
    /// The controller at `base`.
    ///
    /// # Safety
    /// `base` is the physical address of a PLIC that no guest can reach.
    pub const unsafe fn new(base: u64) -> Self {
        Self { base }
    }

    fn read(self, offset: u64) -> u32 {
        // Safety: a register of the controller, see `new`.
        unsafe { read_volatile((self.base + offset) as *const u32) }
    }

    fn write(self, offset: u64, value: u32) {
        // Safety: a register of the controller, see `new`.
        unsafe { write_volatile((self.base + offset) as *mut u32, value) }
    }

    /// Turns all of a context's sources off and lets every priority through.
    pub fn reset_context(self, context: u32, sources: u32) {
        for word in 0..sources.div_ceil(32) {
            self.write(ENABLE + u64::from(context) * 0x80 + u64::from(word) * 4, 0);
        }
        self.set_threshold(context, 0);
    }

    /// Delivers `source` to `context` at `priority` (1 or more).
    pub fn enable(self, context: u32, source: u32, priority: u32) {
        self.write(u64::from(source) * 4, priority);
        let word = ENABLE + u64::from(context) * 0x80 + u64::from(source / 32) * 4;
        self.write(word, self.read(word) | 1 << (source % 32));
    }

    /// Where a context's threshold is: only sources of a higher priority interrupt it.
    pub const fn threshold(self, context: u32) -> *mut u32 {
        (self.base + CONTEXT + context as u64 * 0x1000) as *mut u32
    }

    fn set_threshold(self, context: u32, threshold: u32) {
        self.write(CONTEXT + u64::from(context) * 0x1000, threshold);
    }

    /// Takes the context's best pending source; 0: none.
    pub fn claim(self, context: u32) -> u32 {
        self.read(CONTEXT + u64::from(context) * 0x1000 + 4)
    }

    /// Lets the source interrupt the context again.
    pub fn complete(self, context: u32, source: u32) {
        self.write(CONTEXT + u64::from(context) * 0x1000 + 4, source);
    }
}
