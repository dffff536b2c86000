//! Rings in memory that two VMs share ([`tactus_abi::ring`]): blocks of bytes in order, without a call to the
//! hypervisor.
//!
//! Lock-free; the ring's capacity bounds the number of steps of every call, for any behaviour of the other end.
//! Shared data are loaded once, checked, and then used: a hostile end can at worst make its own records
//! garbage. Each end keeps its own position in private memory; the shared copy only informs the other end.
//!
//! When an end is restarted, or has written invalid data, the other gets an error, once, and the ring works on.
//!
//! The C library in `c/` implements the same format.
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

/// The end of a channel that a VM has: property `tactus,end` of the channel's node in the devicetree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end of the VM that is first in `system.toml`.
    First = 0,
    /// The end of the other VM.
    Second = 1,
}

/// One ring, as both its ends see it.
#[derive(Clone, Copy, Debug)]
struct Shared<'a> {
    produced: &'a AtomicU64,
    consumed: &'a AtomicU64,
    /// Records; as many words as [`ring::capacity`] says, so that masked indices are in range.
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

    /// Index of the word that contains a byte of the sequence.
    const fn index(&self, sequence: u32) -> usize {
        (sequence as usize / ring::ALIGN) & (self.records.len() - 1)
    }

    /// The words from the one of `sequence` to the end of the ring, and those before it.
    fn from(&self, sequence: u32) -> (&'a [AtomicU64], &'a [AtomicU64]) {
        let (before, behind) = self.records.split_at(self.index(sequence));
        (behind, before)
    }
}

/// Restores this end's shared position before a wait: if the other end has corrupted it, the wait could last for ever.
/// `own`: the position.
fn mend(shared: &AtomicU64, own: Position) {
    let word = own.to_word();
    if shared.load(Ordering::Relaxed) != word {
        shared.store(word, Ordering::Release);
    }
}

/// Starts one end of a channel: the ring on which it sends, and the one from which it receives. `memory` is all of the
/// channel's memory.
///
/// The end's own ring restarts; its records that the other end has not received are dropped. Receiving resumes
/// where this end was before its restart. `None`: the memory is too small.
///
/// An end is to be started once, and again only after both results are dropped: two producers of one ring corrupt its
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
