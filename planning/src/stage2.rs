//! Second-stage (guest-physical to physical) translation in Sv39x4: which page sizes fit where, and how much
//! memory the tables take. RISC-V privileged specification, "Two-Stage Address Translation".
//!
//! The tool sizes the hypervisor's pool with [`pool_pages`]. The hypervisor maps with the largest leaf that fits, as
//! [`leaf_size`] does, so that the pool is exactly large enough.

use tactus_abi::map::{GIGAPAGE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE};

/// Pages of a root table: Sv39x4 translates 41 bits, two more than a page of entries can.
pub const ROOT_PAGES: usize = 4;
/// Alignment of a root table in bytes.
pub const ROOT_ALIGN: u64 = ROOT_PAGES as u64 * PAGE_SIZE;
/// End of the guest-physical addresses that Sv39x4 translates.
pub const GUEST_END: u64 = 1 << 41;

/// A contiguous range of guest-physical addresses and the physical range behind it. All three fields are
/// multiples of the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First guest-physical address.
    pub guest: u64,
    /// First physical address.
    pub host: u64,
    /// Bytes.
    pub size: u64,
}

impl Mapping {
    /// One whose physical addresses do not matter: mapped by the smallest pages wherever it is.
    pub const fn of_pages(guest: u64, size: u64) -> Self {
        Self {
            guest,
            host: guest + PAGE_SIZE,
            size,
        }
    }

    /// Whether a single leaf of `leaf` bytes can map the whole slot of that size that begins at `slot`.
    const fn fills(&self, slot: u64, leaf: u64) -> bool {
        self.guest <= slot
            && slot - self.guest <= self.size
            && self.size - (slot - self.guest) >= leaf
            && self.guest % leaf == self.host % leaf
    }

    /// Whether the mapping has a page in the slot of `size` bytes that begins at `slot`.
    const fn touches(&self, slot: u64, size: u64) -> bool {
        self.size != 0 && self.guest < slot + size && slot < self.guest + self.size
    }

    /// Whether the slot needs a table one level down: touched, but not by one whole leaf.
    const fn splits(&self, slot: u64, size: u64) -> bool {
        self.touches(slot, size) && !self.fills(slot, size)
    }

    /// The slots of `size` bytes that the mapping may split: where both addresses agree modulo the size, only
    /// those at its ends, otherwise all that it touches.
    fn candidates(self, size: u64) -> impl Iterator<Item = u64> {
        let first = self.guest / size;
        let last = (self.guest + self.size).div_ceil(size).max(first + 1) - 1;
        let agree = self.guest % size == self.host % size;
        let step = if agree { (last - first).max(1) } else { 1 };
        (first..=last).step_by(step as usize).map(move |n| n * size)
    }
}

/// The largest leaf, in bytes, that can begin at `guest` when it maps to `host` and `size` bytes are left to map:
/// both addresses are multiples of the leaf's size and the leaf ends within what is left.
pub const fn leaf_size(guest: u64, host: u64, size: u64) -> u64 {
    let addresses = guest | host;
    if addresses.is_multiple_of(GIGAPAGE_SIZE) && size >= GIGAPAGE_SIZE {
        GIGAPAGE_SIZE
    } else if addresses.is_multiple_of(MEGAPAGE_SIZE) && size >= MEGAPAGE_SIZE {
        MEGAPAGE_SIZE
    } else {
        PAGE_SIZE
    }
}

/// Pages of page tables below the root for mappings that are disjoint in guest-physical addresses and end
/// below [`GUEST_END`]: one for each GiB that is not a single leaf, and one for each 2 MiB within those.
pub fn table_pages(mappings: &[Mapping]) -> usize {
    split_slots(mappings, GIGAPAGE_SIZE) + split_slots(mappings, MEGAPAGE_SIZE)
}

/// Pages to set aside for all second-stage tables of one VM: the root, what aligning it may cost, and
/// [`table_pages`].
pub fn pool_pages(mappings: &[Mapping]) -> usize {
    ROOT_PAGES + (ROOT_PAGES - 1) + table_pages(mappings)
}

/// Slots of `size` bytes that any mapping splits, each counted once.
fn split_slots(mappings: &[Mapping], size: u64) -> usize {
    let mut count = 0;
    for (i, mapping) in mappings.iter().enumerate() {
        for slot in mapping.candidates(size) {
            let seen = mappings[..i].iter().any(|m| m.splits(slot, size));
            if mapping.splits(slot, size) && !seen {
                count += 1;
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// Maps leaf by leaf as the hypervisor does and notes every table that this makes.
    fn tables_by_walking(mappings: &[Mapping]) -> usize {
        let (mut level1, mut level0) = (BTreeSet::new(), BTreeSet::new());
        for mapping in mappings {
            let mut done = 0;
            while done < mapping.size {
                let guest = mapping.guest + done;
                let leaf = leaf_size(guest, mapping.host + done, mapping.size - done);
                if leaf < GIGAPAGE_SIZE {
                    level1.insert(guest / GIGAPAGE_SIZE);
                }
                if leaf < MEGAPAGE_SIZE {
                    level0.insert(guest / MEGAPAGE_SIZE);
                }
                done += leaf;
            }
        }
        level1.len() + level0.len()
    }

    /// Sizes and distances in pages that meet the boundaries of all three page sizes often.
    fn pages() -> impl Strategy<Value = u64> {
        prop_oneof![
            0..4u64,
            (0..4u64).prop_map(|n| n * 512),
            (0..2u64).prop_map(|n| n * 512 * 512),
            (0..2u64, 0..3u64, 0..3u64).prop_map(|(g, m, p)| (g * 512 + m) * 512 + p),
        ]
    }

    /// Mappings that are disjoint in guest-physical addresses, in no particular order.
    fn mappings() -> impl Strategy<Value = Vec<Mapping>> {
        prop::collection::vec((pages(), pages(), pages()), 0..5)
            .prop_map(|parts| {
                let mut next = 0;
                let mut mappings = Vec::new();
                for (gap, size, host) in parts {
                    let guest = next + gap * PAGE_SIZE;
                    let size = size * PAGE_SIZE;
                    mappings.push(Mapping {
                        guest,
                        host: host * PAGE_SIZE,
                        size,
                    });
                    next = guest + size;
                }
                mappings
            })
            .prop_shuffle()
    }

    proptest! {
        // Walking gigabytes page by page takes its time.
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn tables_are_those_that_mapping_makes(mappings in mappings()) {
            prop_assert_eq!(table_pages(&mappings), tables_by_walking(&mappings));
        }

        #[test]
        fn a_leaf_is_the_largest_that_fits(guest in pages(), host in pages(), size in 1..3 * 512 * 512u64) {
            let (guest, host, size) = (guest * PAGE_SIZE, host * PAGE_SIZE, size * PAGE_SIZE);
            let fits = |leaf: u64| guest.is_multiple_of(leaf) && host.is_multiple_of(leaf) && leaf <= size;
            let expected = [GIGAPAGE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE].into_iter().find(|&l| fits(l));
            prop_assert_eq!(Some(leaf_size(guest, host, size)), expected);
        }
    }

    #[test]
    fn a_linux_sized_vm_takes_few_tables() {
        let ram = Mapping {
            guest: 0x8000_0000,
            host: 0x9000_0000,
            size: 512 << 20,
        };
        let channel = Mapping {
            guest: 0x3000_1000,
            host: 0x8300_0000,
            size: 4096,
        };
        // RAM: one table of 2 MiB leaves. Channel: a table at each level.
        assert_eq!(table_pages(&[ram, channel]), 3);
        assert_eq!(pool_pages(&[ram, channel]), 10);
    }

    #[test]
    fn aligned_gigabytes_take_no_table() {
        let ram = Mapping {
            guest: 0x8000_0000,
            host: 0xc000_0000,
            size: 2 << 30,
        };
        assert_eq!(table_pages(&[ram]), 0);
    }
}
