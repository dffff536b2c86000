//! What a run did, as a hash and, on demand, as records.
//!
//! The hash covers every interrupt and exception with its cycle, hart and address, and at the end the state of harts
//! and memory. Two runs with the same hash did the same at the same time.

use xxhash_rust::xxh3::Xxh3;

use crate::hart::Hart;
use crate::privileged::{Interrupt, Trap};

/// The trace of a run.
pub(crate) struct Trace {
    hash: Xxh3,
}

impl Trace {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self { hash: Xxh3::new() }
    }

    fn event(&mut self, hart: &Hart, kind: u64, pc: u64, value: u64) {
        let fields = [hart.cycle(), hart.index as u64 | kind << 32, pc, value];
        let mut bytes = [0; 32];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        self.hash.update(&bytes);
    }

    /// The hart took an interrupt at `pc`.
    pub(crate) fn interrupt(&mut self, hart: &Hart, interrupt: Interrupt, pc: u64) {
        self.event(hart, 1 << 31 | u64::from(interrupt.number), pc, 0);
    }

    /// The hart took an exception at `pc`.
    pub(crate) fn exception(&mut self, hart: &Hart, trap: &Trap, pc: u64) {
        self.event(hart, trap.cause as u64, pc, trap.value);
    }

    /// Adds other bytes that belong to the run.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// The hash so far.
    pub(crate) fn digest(&self) -> u64 {
        self.hash.digest()
    }
}
