//! Rings in memory that two VMs share ([`tactus_abi::ring`]): blocks of bytes in order, without a call to the
//! hypervisor.
//!
//! Lock-free; every call takes a number of steps that is bounded by the ring's capacity, whatever the other end does.
//! What the other end can write is loaded once, checked, and used then: the worst that a hostile end achieves is that
//! what it sends is garbage. Each end keeps its own position in its own memory; the shared copy only tells the other.
//!
//! When an end is restarted, or has written nonsense, the other is told by an error, once, and the ring works on.
//!
//! The C library in `c/` does the same in the same format.
#![cfg_attr(not(loom), no_std)]

mod consumer;
mod copy;
mod producer;

pub use consumer::{Consumer, ReceiveError};
pub use producer::{Producer, SendError};
pub use tactus_abi::ring;

#[cfg(not(loom))]
use core::sync::atomic;
#[cfg(loom)]
use loom::sync::atomic;

use atomic::{AtomicU64, Ordering};
use ring::Position;

/// Which end of a channel a VM has: property `tactus,end` of the channel's node in the devicetree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// That of the VM that comes first in `system.toml`.
    First = 0,
    /// The other's.
    Second = 1,
}

/// One ring, as both its ends see it.
#[derive(Clone, Copy, Debug)]
struct Shared<'a> {
    produced: &'a AtomicU64,
    consumed: &'a AtomicU64,
    /// Records; as many as [`ring::capacity`] says, so that masked indices are within.
    records: &'a [AtomicU64],
}

impl<'a> Shared<'a> {
    fn new(memory: &'a [AtomicU64], ring: usize, capacity: usize) -> Self {
        Self {
            produced: &memory[ring::produced_at(ring) / ring::ALIGN],
            consumed: &memory[ring::consumed_at(ring) / ring::ALIGN],
            records: &memory[ring::records_at(ring, capacity) / ring::ALIGN..]
                [..capacity / ring::ALIGN],
        }
    }

    const fn capacity(&self) -> usize {
        self.records.len() * ring::ALIGN
    }

    /// Index of the word that a byte of the sequence lies in.
    const fn index(&self, sequence: u32) -> usize {
        (sequence as usize / ring::ALIGN) & (self.records.len() - 1)
    }

    /// The words from the one of `sequence` to the end of the ring, and those before it.
    fn from(&self, sequence: u32) -> (&'a [AtomicU64], &'a [AtomicU64]) {
        let (before, behind) = self.records.split_at(self.index(sequence));
        (behind, before)
    }
}

/// Before an end waits for the other: if the other has spoilt this end's position, it could wait for ever. `own`: the
/// position.
fn mend(shared: &AtomicU64, own: Position) {
    let word = own.to_word();
    if shared.load(Ordering::Relaxed) != word {
        shared.store(word, Ordering::Release);
    }
}

/// Starts one end of a channel: the ring that it sends by, and the one that it receives from. `memory` is all of the
/// channel's memory.
///
/// Its own ring restarts; what it had sent before and the other end has not taken is dropped. Receiving continues
/// where this end was before it restarted. `None`: the memory is too small.
///
/// An end is to be started once, and again only when all that came of it is gone: two producers of one ring spoil its
/// records, though nothing else.
pub fn open(memory: &[AtomicU64], end: End) -> Option<(Producer<'_>, Consumer<'_>)> {
    let capacity = ring::capacity(size_of::<u64>() * memory.len());
    if capacity == 0 {
        return None;
    }
    let own = end as usize;
    Some((
        Producer::new(Shared::new(memory, own, capacity)),
        Consumer::new(Shared::new(memory, 1 - own, capacity)),
    ))
}
