//! The greatest cost of each access, whatever the caches hold and whatever other masters do.
//!
//! It follows from the profile alone, as the models in this module's siblings charge it. The properties that
//! `tests/timing_worst.rs` states hold for every order of accesses.

use super::parameters::{Access, Memory, Parameters};

/// Greatest costs, in cycles that a hart waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worst {
    /// To bring a line into an L1 cache, to read it or to own it: it is not in the L2 cache, its row of memory is not
    /// the open one, and every other master has a request before; or another L1 cache has it.
    pub line: u64,
    /// An access to a device: the bus alone, without what the device itself takes, and with the end of a posted write.
    pub device: u64,
    /// A control transfer that was predicted wrongly.
    pub branch: u64,
    /// A direct jump or call whose target was not known in time.
    pub jump: u64,
    /// Looking a page up in the second TLB.
    pub translation: u64,
    /// What may be under way when a hart begins something: stores in its buffer, and prefetches.
    pub under_way: u64,
    /// A trap.
    pub trap: u64,
}

impl Worst {
    /// Those of a board of so many harts. `None`: it has no caches, so that there are no lines.
    #[must_use]
    pub fn of(parameters: &Parameters, harts: usize) -> Option<Self> {
        let caches = parameters.caches.as_ref()?;
        // The fabric is a master, too.
        let memory = memory(&parameters.memory, harts as u64 + 1);
        let level2 = u64::from(caches.l2_latency);
        let onchip = parameters.onchip.as_ref();
        let found = onchip.map_or(level2, |onchip| level2.max(onchip.latency.into()));
        let others = u64::from(
            caches
                .intervention
                .max(caches.snoop)
                .max(caches.invalidation),
        );
        // The L2 cache may have begun to read the line, and another cache has taken it since.
        let next_line = caches.next_line.as_ref().map_or(0, |_| memory);
        let taken = found + next_line + others + u64::from(caches.upgrade) + others;
        let line = taken.max(level2 + memory);
        let devices = parameters
            .regions
            .iter()
            .map(|region| device(region.read, region.write, region.handover))
            .max();
        let Access {
            read,
            write,
            handover,
            ..
        } = parameters.device;
        let device = device(read, write, handover).max(devices.unwrap_or_default());
        let stores = parameters.store_buffer.as_ref();
        let stores = stores.map_or(0, |buffer| u64::from(buffer.entries));
        let prefetches = parameters.prefetch.as_ref();
        let prefetches = prefetches.map_or(0, |prefetch| u64::from(prefetch.outstanding));
        let predictor = parameters.predictor.as_ref();
        let (branch, jump) = predictor.map_or((0, 0), |predictor| {
            (
                predictor.mispredict.max(predictor.redirect),
                predictor.redirect,
            )
        });
        let second = parameters.tlb.as_ref().and_then(|tlb| tlb.second.as_ref());
        Some(Self {
            line,
            device,
            branch: branch.into(),
            jump: jump.into(),
            translation: second.map_or(0, |second| second.latency.into()),
            under_way: stores * line.max(device) + prefetches * line,
            trap: parameters.pipeline.trap.into(),
        })
    }
}

/// A write that is posted is handed over, and keeps what follows it waiting.
fn device(read: u32, write: u32, handover: u32) -> u64 {
    u64::from(read.max(write)) + u64::from(handover)
}

/// A line from memory that so many masters share.
fn memory(memory: &Memory, masters: u64) -> u64 {
    let channel = u64::from(memory.transfer()) * masters;
    match memory {
        Memory::Fixed(fixed) => channel + u64::from(fixed.latency),
        Memory::OpenRow(row) => {
            let bank = u64::from(row.bank_busy) * masters;
            let refresh = if row.refresh_interval == 0 {
                0
            } else {
                row.refresh_cycles
            };
            let latency = row.row_conflict.max(row.row_closed).max(row.row_hit);
            bank.max(channel) + u64::from(refresh) + u64::from(row.controller) + u64::from(latency)
        }
    }
}
