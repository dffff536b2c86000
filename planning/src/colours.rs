//! Colours of a cache: which pages of physical memory meet in its sets, how they are divided between VMs, and where
//! memory with some of the colours goes.
//!
//! Pages whose addresses differ by a multiple of a way's bytes use the same sets of a cache that is indexed by physical
//! address. A way of 2^n pages has 2^n colours; memory is seen as rows, each as large as a way, with a page of each
//! colour. What has an aligned run of 2^k colours has a contiguous piece of 2^k pages in each of its rows.

use tactus_abi::blob::{Region, limit};
use tactus_abi::map::PAGE_SIZE;

use crate::placement::{Extent, lowest_fit};

/// An aligned run of colours: a power of two of them, but not all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// The first one.
    pub first: u32,
    /// How many there are, as a power of two.
    pub bits: u32,
    /// How many the cache has, as a power of two.
    pub of: u32,
}

impl Colours {
    /// The run from one colour to another one of a cache with 2^`of`. `None`: that is none.
    pub const fn run(first: u32, last: u32, of: u32) -> Option<Self> {
        if last < first || last >= 1 << of {
            return None;
        }
        let count = last - first + 1;
        let aligned = count.is_power_of_two() && first.is_multiple_of(count);
        let bits = count.trailing_zeros();
        if aligned && bits < of {
            Some(Self { first, bits, of })
        } else {
            None
        }
    }

    /// How many there are.
    pub const fn count(self) -> u32 {
        1 << self.bits
    }

    /// The last one.
    pub const fn last(self) -> u32 {
        self.first + self.count() - 1
    }

    /// Bytes of a way.
    const fn way(self) -> u64 {
        PAGE_SIZE << self.of
    }

    /// Bytes of a run: what is contiguous in physical memory.
    pub const fn run_bytes(self) -> u64 {
        PAGE_SIZE << self.bits
    }

    /// Whether a colour belongs to both.
    pub const fn overlaps(self, other: Self) -> bool {
        self.first <= other.last() && other.first <= self.last()
    }

    /// A region with these colours, all of whose other fields are zero.
    pub const fn region(self) -> Region {
        Region {
            guest: 0,
            host: 0,
            size: 0,
            flags: 0,
            run: self.run_bytes().trailing_zeros() as u8,
            spread: (self.of - self.bits) as u8,
            interface: 0,
            priority: 0,
            tables: 0,
        }
    }
}

/// Colours, as a power of two, of a cache whose way has so many bytes. `None`: it cannot be divided into at least two,
/// or is larger than [`limit::CACHE_WAY`].
pub const fn colours_of(way: u64) -> Option<u32> {
    let divides = way.is_power_of_two() && way >= 2 * PAGE_SIZE && way <= limit::CACHE_WAY;
    if divides {
        Some((way / PAGE_SIZE).trailing_zeros())
    } else {
        None
    }
}

/// Divides 2^`of` colours, of which some are `taken`: each of `parts` gets as many as every other, and the most that
/// leave as many for `rest`, which then gets the largest run that is left. `false`: there are too few.
pub fn divide(
    of: u32,
    taken: &[Colours],
    parts: &mut [Colours],
    mut rest: Option<&mut Colours>,
) -> bool {
    // Of the parts, those that have been given.
    let free = |bits: u32, given: &[Colours]| {
        let runs = (0..1 << (of - bits)).map(|run| Colours {
            first: run << bits,
            bits,
            of,
        });
        let mut runs =
            runs.filter(|run| !taken.iter().chain(given).any(|other| other.overlaps(*run)));
        runs.next()
    };
    (0..of).rev().any(|bits| {
        for index in 0..parts.len() {
            let (given, open) = parts.split_at_mut(index);
            match (free(bits, given), open.first_mut()) {
                (Some(run), Some(part)) => *part = run,
                _ => return false,
            }
        }
        rest.as_deref_mut().is_none_or(|rest| {
            let largest = (bits..of).rev().find_map(|bits| free(bits, parts));
            largest.map(|run| *rest = run).is_some()
        })
    })
}

/// Memory to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its colours.
    pub colours: Colours,
    /// Bytes, a multiple of the page size.
    pub size: u64,
    /// Its first address, once it is placed.
    pub host: Option<u64>,
}

impl Block {
    /// The rows that it has a piece of, from the first one of memory on.
    fn rows(&self) -> Option<Extent> {
        let way = self.colours.way();
        let count = self.size.div_ceil(self.colours.run_bytes());
        Some(Extent::new(self.host? / way, count))
    }
}

/// Chooses an address for every block, clear of `taken` and of the other ones: the one with most rows first, each as
/// low as it fits. Blocks of different colours share rows. Returns whether all fit; those that do not have no address
/// then.
pub fn place(within: Extent, taken: &[Extent], blocks: &mut [Block]) -> bool {
    for block in blocks.iter_mut() {
        block.host = None;
    }
    let mut complete = true;
    let rows = |block: &Block| block.size.div_ceil(block.colours.run_bytes());
    let mut most = u64::MAX;
    // From one number of rows to the next smaller one.
    while let Some(count) = blocks.iter().map(rows).filter(|rows| *rows < most).max() {
        most = count;
        for index in 0..blocks.len() {
            let block = blocks[index];
            if rows(&block) != count {
                continue;
            }
            let way = block.colours.way();
            let whole = Extent {
                start: within.start.div_ceil(way),
                end: within.end / way,
            };
            let beside = blocks
                .iter()
                .filter(|other| other.colours.overlaps(block.colours));
            let obstacles = taken
                .iter()
                .filter(|extent| extent.size() > 0)
                .map(|extent| Extent {
                    start: extent.start / way,
                    end: extent.end.div_ceil(way),
                })
                .chain(beside.filter_map(Block::rows));
            let row = lowest_fit(whole, obstacles, count, 1);
            let host = row.map(|row| row * way + u64::from(block.colours.first) * PAGE_SIZE);
            complete &= host.is_some();
            blocks[index].host = host;
        }
    }
    complete
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// All runs of a cache.
    fn runs(of: u32) -> Vec<Colours> {
        let all = (0..1 << of).flat_map(|first| (first..1 << of).map(move |last| (first, last)));
        all.filter_map(|(first, last)| Colours::run(first, last, of))
            .collect()
    }

    /// The physical pages of a block that is placed.
    fn pages(block: &Block) -> Vec<u64> {
        let region = Region {
            host: block.host.expect("it is placed"),
            size: block.size,
            ..block.colours.region()
        };
        (0..block.size / PAGE_SIZE)
            .map(|page| region.host_at(page * PAGE_SIZE) / PAGE_SIZE)
            .collect()
    }

    #[test]
    fn a_run_is_an_aligned_power_of_two_of_the_colours() {
        for of in 1..6 {
            // A binary tree without its root.
            assert_eq!(runs(of).len(), (2 << of) - 2);
        }
        for (first, last) in [(0, 15), (0, 2), (1, 2), (4, 11), (15, 16), (3, 2)] {
            assert_eq!(Colours::run(first, last, 4), None);
        }
    }

    #[test]
    fn ways_are_divided_into_pages() {
        for (way, colours) in [
            (64 << 10, Some(4)),
            (8 << 10, Some(1)),
            (2 << 20, Some(9)),
            (4 << 10, None),
            (4 << 20, None),
            (48 << 10, None),
            (0, None),
        ] {
            assert_eq!(colours_of(way), colours, "{way}");
        }
    }

    /// Every run of every small cache: each byte has one address, in the run's colours, and no page is left out.
    #[test]
    fn translation_is_injective_and_keeps_to_the_colours() {
        for of in 1..6 {
            for colours in runs(of) {
                let base = 7 * colours.way();
                let host = base + u64::from(colours.first) * PAGE_SIZE;
                let region = Region {
                    host,
                    ..colours.region()
                };
                assert!(region.has_sound_colours());
                let rows = 5;
                let count = rows * u64::from(colours.count());
                let expected = (0..rows).flat_map(|row| {
                    let first = (host + row * colours.way()) / PAGE_SIZE;
                    first..first + u64::from(colours.count())
                });
                let found = (0..count).map(|page| region.host_at(page * PAGE_SIZE) / PAGE_SIZE);
                assert!(found.eq(expected), "{colours:?}");
                for offset in (0..count * PAGE_SIZE).step_by(509) {
                    let host = region.host_at(offset);
                    assert_eq!(host % PAGE_SIZE, offset % PAGE_SIZE);
                    assert_eq!(
                        host / PAGE_SIZE,
                        region.host_at(offset & !(PAGE_SIZE - 1)) / PAGE_SIZE
                    );
                }
            }
        }
    }

    /// Every cache of 8 colours or fewer, with every set of up to two runs that are taken.
    #[test]
    fn parts_are_equal_disjoint_and_as_large_as_can_be() {
        for of in 1..4 {
            let all = runs(of);
            let ones = all.iter().map(|run| std::vec![*run]);
            let twos = all.iter().flat_map(|a| {
                let others = all.iter().filter(|b| !a.overlaps(**b));
                others.map(|b| std::vec![*a, *b])
            });
            for taken in std::iter::once(Vec::new()).chain(ones).chain(twos) {
                for (count, with_rest) in (0..5).flat_map(|n| [(n, false), (n, true)]) {
                    let nothing = Colours {
                        first: 0,
                        bits: 0,
                        of,
                    };
                    let mut parts = std::vec![nothing; count];
                    let mut rest = nothing;
                    let fits = divide(of, &taken, &mut parts, with_rest.then_some(&mut rest));
                    let free = (1 << of) - taken.iter().map(|run| run.count()).sum::<u32>();
                    let wanted = count as u32 + u32::from(with_rest);
                    assert_eq!(fits, wanted <= free, "{of} {taken:?} {wanted}");
                    if !fits {
                        continue;
                    }
                    if with_rest {
                        assert!(parts.iter().all(|part| part.bits <= rest.bits));
                        parts.push(rest);
                    }
                    for (i, a) in parts.iter().enumerate() {
                        assert_eq!(Colours::run(a.first, a.last(), of), Some(*a));
                        let others = taken.iter().chain(&parts[..i]);
                        assert!(!others.into_iter().any(|b| b.overlaps(*a)));
                    }
                    assert!(
                        parts[..count]
                            .windows(2)
                            .all(|pair| pair[0].bits == pair[1].bits)
                    );
                }
            }
        }
    }

    #[test]
    fn sixteen_colours_are_divided_as_the_reference_says() {
        let nothing = Colours {
            first: 0,
            bits: 0,
            of: 4,
        };
        for (parts, each, rest) in [
            (1, 8, 8),
            (2, 4, 8),
            (3, 4, 4),
            (4, 2, 8),
            (7, 2, 2),
            (8, 1, 8),
        ] {
            let mut real_time = std::vec![nothing; parts];
            let mut others = nothing;
            assert!(divide(4, &[], &mut real_time, Some(&mut others)));
            assert!(real_time.iter().all(|part| part.count() == each));
            assert_eq!(others.count(), rest, "{parts}");
        }
    }

    proptest! {
        #[test]
        fn what_is_placed_has_its_colours_alone(
            of in 1..6u32,
            wanted in prop::collection::vec((any::<u32>(), any::<u32>(), 1..200u64), 1..6),
            taken in prop::collection::vec((0..2000u64, 0..300u64), 0..3),
            start in 0..50u64,
        ) {
            let runs = runs(of);
            let mut blocks: Vec<Block> = wanted
                .iter()
                .map(|(run, _, pages)| Block {
                    colours: runs[*run as usize % runs.len()],
                    size: pages * PAGE_SIZE,
                    host: None,
                })
                .collect();
            let within = Extent::new(start * PAGE_SIZE, 4000 * PAGE_SIZE);
            let taken: Vec<Extent> = taken
                .iter()
                .map(|(start, size)| Extent::new(start * PAGE_SIZE, size * PAGE_SIZE))
                .collect();
            let complete = place(within, &taken, &mut blocks);
            prop_assert_eq!(complete, blocks.iter().all(|block| block.host.is_some()));
            let mut seen = BTreeSet::new();
            for block in blocks.iter().filter(|block| block.host.is_some()) {
                for page in pages(block) {
                    let colour = (page % (1 << of)) as u32;
                    prop_assert!((block.colours.first..=block.colours.last()).contains(&colour));
                    prop_assert!(seen.insert(page), "page {} twice", page);
                    let extent = Extent::new(page * PAGE_SIZE, PAGE_SIZE);
                    prop_assert!(within.contains(extent));
                    prop_assert!(!taken.iter().any(|other| other.overlaps(extent)));
                }
            }
        }
    }

    /// Two VMs with half of the colours each take no more memory than both would without.
    #[test]
    fn halves_are_interleaved() {
        let half = |first| Block {
            colours: Colours {
                first,
                bits: 3,
                of: 4,
            },
            size: 4 << 20,
            host: None,
        };
        let mut blocks = [half(0), half(8)];
        assert!(place(Extent::new(0, 8 << 20), &[], &mut blocks));
        assert_eq!(blocks.map(|block| block.host), [Some(0), Some(0x8000)]);
    }
}
