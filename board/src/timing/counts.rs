//! Event counters of a hart: for cycle accounting and the `hpm` counters.

use serde::{Deserialize, Serialize};

macro_rules! counts {
    ($($(#[$text:meta])+ $name:ident,)+) => {
        /// Events and stall cycles of one hart since reset or the last [`reset`](crate::timing::Timing::reset_counts).
        ///
        /// Events are counted by the hart that caused them. Stall cycles are those that the calls of
        /// [`Timing`](crate::timing::Timing) returned, each counted once, by its reason.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Counts {
            $($(#[$text])+ pub $name: u64,)+
        }

        impl Counts {
            /// The names of all counts, in the order of [`values`](Self::values).
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)+];

            /// All counts, in the order of [`NAMES`](Self::NAMES).
            #[must_use]
            pub const fn values(&self) -> [u64; Self::NAMES.len()] {
                [$(self.$name,)+]
            }

            /// The difference of the counters since `earlier`.
            #[must_use]
            pub const fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.wrapping_sub(earlier.$name),)+ }
            }
        }
    };
}

counts! {
    /// Loads from memory; hits are these less `load_misses`.
    loads,
    /// Stores to memory; hits are these less `store_misses` and `upgrades`.
    stores,
    /// Loads whose line was not in the L1 data cache.
    load_misses,
    /// Stores whose line was not in the L1 data cache.
    store_misses,
    /// Stores to a line that was in the L1 data cache but shared.
    upgrades,
    /// Instruction lines looked up: one each time fetching comes to another line.
    fetch_lines,
    /// Of these, lines that were not in the L1 instruction cache.
    fetch_misses,
    /// Lines that the L2 cache or the memory on the chip had when an L1 cache of this hart, or a walk, asked for them.
    level2_hits,
    /// Lines that it did not have.
    level2_misses,
    /// Dirty lines that left the L1 data cache for want of room.
    data_write_backs,
    /// Dirty lines that left the L2 cache for memory because of what this hart asked for.
    level2_write_backs,
    /// Copies in L1 data caches of other harts that this hart's stores invalidated.
    invalidations,
    /// Lines that another L1 data cache (for instruction fetches also the own one) had to give.
    interventions,
    /// Atomic memory operations, and store-conditionals that stored.
    atomics,
    /// Branches and jumps.
    branches,
    /// Of these, those whose direction or target was predicted wrongly.
    mispredictions,
    /// Of the others, those whose target the branch target buffer did not know in time.
    redirects,
    /// Misses of the L1 TLBs that the L2 TLB answered.
    tlb_refills,
    /// Page table walks.
    walks,
    /// Page table entries that walks read or wrote.
    walk_accesses,
    /// Accesses to devices and other uncached regions.
    uncached,
    /// Stall cycles: waiting for instructions.
    stall_fetch,
    /// Stall cycles: waiting for a load.
    stall_load,
    /// Stall cycles: a store found the store buffer full.
    stall_store,
    /// Stall cycles: waiting for the line of an atomic, or for the stores that it must follow.
    stall_atomic,
    /// Stall cycles: mispredicted and redirected branches.
    stall_branch,
    /// Stall cycles: looking in the L2 TLB.
    stall_tlb,
    /// Stall cycles: page table accesses.
    stall_walk,
    /// Stall cycles: uncached accesses.
    stall_uncached,
    /// Stall cycles: fences waiting for stores.
    stall_fence,
}

/// Stall cycles of one hart since reset by what it waited for, modulo 2^32: the counts' nine in fewer words, for
/// [events](crate::trace::Event).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Instructions.
    pub fetch: u32,
    /// Loads.
    pub load: u32,
    /// Stores, atomics, and fences for their sake.
    pub store: u32,
    /// Branches that went another way than expected.
    pub branch: u32,
    /// The second TLB, and walks.
    pub translation: u32,
    /// Devices.
    pub device: u32,
}

impl From<&Counts> for Stalls {
    fn from(counts: &Counts) -> Self {
        Self {
            fetch: counts.stall_fetch as u32,
            load: counts.stall_load as u32,
            store: (counts.stall_store + counts.stall_atomic + counts.stall_fence) as u32,
            branch: counts.stall_branch as u32,
            translation: (counts.stall_tlb + counts.stall_walk) as u32,
            device: counts.stall_uncached as u32,
        }
    }
}
