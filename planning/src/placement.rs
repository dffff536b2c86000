//! Where in physical memory each VM's memory goes.
//!
//! Memory is placed once, before boot. A VM of a GiB or more gets an address at which 1 GiB pages map
//! it, when there is one; every VM gets one at which 2 MiB pages do.

use tactus_abi::map::{GIGAPAGE_SIZE, MEGAPAGE_SIZE};

/// A half-open range of addresses; empty when `end <= start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First address.
    pub start: u64,
    /// First address past it.
    pub end: u64,
}

impl Extent {
    /// The range of `size` bytes from `start`, cut off at the end of the address space.
    pub const fn new(start: u64, size: u64) -> Self {
        Self {
            start,
            end: start.saturating_add(size),
        }
    }

    /// Bytes.
    pub const fn size(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether an address belongs to both.
    pub const fn overlaps(self, other: Self) -> bool {
        let start = if self.start > other.start {
            self.start
        } else {
            other.start
        };
        let end = if self.end < other.end {
            self.end
        } else {
            other.end
        };
        start < end
    }

    /// Whether all of `other` belongs to `self`.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// The lowest multiple of `align` at which `size` bytes lie within `within` and clear of every obstacle.
/// `None` when there is no such address. `align` is a power of two.
pub fn lowest_fit(
    within: Extent,
    obstacles: impl Iterator<Item = Extent> + Clone,
    size: u64,
    align: u64,
) -> Option<u64> {
    let mut start = within.start.checked_next_multiple_of(align)?;
    // Ends: each round passes an obstacle for good, as `start` only grows.
    loop {
        let candidate = Extent {
            start,
            end: start.checked_add(size)?,
        };
        if !within.contains(candidate) {
            return None;
        }
        match obstacles.clone().find(|o| o.overlaps(candidate)) {
            None => return Some(start),
            Some(obstacle) => start = obstacle.end.checked_next_multiple_of(align)?,
        }
    }
}

/// What is known of a memory's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Given; never changed.
    Fixed(u64),
    /// To be chosen.
    Open,
    /// Chosen by [`place`].
    Chosen(u64),
    /// There is no room.
    Nowhere,
}

/// Memory to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes, a multiple of 2 MiB.
    pub size: u64,
    /// Where.
    pub place: Place,
}

impl Request {
    /// The addresses it has, if any.
    pub const fn extent(&self) -> Option<Extent> {
        match self.place {
            Place::Fixed(address) | Place::Chosen(address) => Some(Extent::new(address, self.size)),
            Place::Open | Place::Nowhere => None,
        }
    }

    /// The alignment that lets the largest pages map it.
    const fn best_align(&self) -> u64 {
        if self.size >= GIGAPAGE_SIZE {
            GIGAPAGE_SIZE
        } else {
            MEGAPAGE_SIZE
        }
    }
}

/// Chooses an address for every request without a fixed one, clear of `taken` and of all requests: the
/// largest first, each as low as it fits. Alignment is to 1 GiB for a request of that size or more; when
/// not everything fits that way, to 2 MiB for all. Returns whether everything fits; what does not is
/// [`Place::Nowhere`]. A system this refuses may still fit with addresses chosen by hand.
pub fn place(within: Extent, taken: &[Extent], requests: &mut [Request]) -> bool {
    place_aligned(within, taken, requests, Request::best_align)
        || place_aligned(within, taken, requests, |_| MEGAPAGE_SIZE)
}

fn place_aligned(
    within: Extent,
    taken: &[Extent],
    requests: &mut [Request],
    align: fn(&Request) -> u64,
) -> bool {
    for request in requests.iter_mut() {
        if !matches!(request.place, Place::Fixed(_)) {
            request.place = Place::Open;
        }
    }
    let mut complete = true;
    while let Some(next) = largest_open(requests) {
        let obstacles = taken
            .iter()
            .copied()
            .chain(requests.iter().filter_map(Request::extent));
        let request = &requests[next];
        let place = match lowest_fit(within, obstacles, request.size, align(request)) {
            Some(address) => Place::Chosen(address),
            None => Place::Nowhere,
        };
        complete &= place != Place::Nowhere;
        requests[next].place = place;
    }
    complete
}

/// Index of the largest request that is open, the first of them when several are.
fn largest_open(requests: &[Request]) -> Option<usize> {
    let mut largest: Option<usize> = None;
    for (i, request) in requests.iter().enumerate() {
        let larger = largest.is_none_or(|l| request.size > requests[l].size);
        if request.place == Place::Open && larger {
            largest = Some(i);
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const UNIT: u64 = MEGAPAGE_SIZE;
    const UNITS_IN_GIGAPAGE: u64 = GIGAPAGE_SIZE / MEGAPAGE_SIZE;

    fn extent() -> impl Strategy<Value = Extent> {
        (0..40u64, 0..12u64).prop_map(|(start, size)| Extent::new(start, size))
    }

    fn requests() -> impl Strategy<Value = Vec<Request>> {
        let size = prop_oneof![
            1..8u64,
            (0..3u64, 0..2u64).prop_map(|(g, r)| (g * UNITS_IN_GIGAPAGE + r).max(1))
        ];
        let place = prop_oneof![
            3 => Just(Place::Open),
            1 => (0..4 * UNITS_IN_GIGAPAGE).prop_map(|n| Place::Fixed(n * UNIT)),
        ];
        prop::collection::vec((size, place), 1..6).prop_map(|all| {
            all.into_iter()
                .map(|(size, place)| Request {
                    size: size * UNIT,
                    place,
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn the_lowest_fit_is_what_trying_every_address_finds(
            within in extent(),
            obstacles in prop::collection::vec(extent(), 0..6),
            size in 1..10u64,
            align in (0..4u32).prop_map(|n| 1 << n),
        ) {
            let fits = |start: &u64| {
                let candidate = Extent::new(*start, size);
                within.contains(candidate) && !obstacles.iter().any(|o| o.overlaps(candidate))
            };
            let expected = (0..64).filter(|a| a % align == 0).find(fits);
            prop_assert_eq!(lowest_fit(within, obstacles.iter().copied(), size, align), expected);
        }

        #[test]
        fn overlap_is_a_shared_address(a in extent(), b in extent()) {
            let shared = (0..64).any(|x| (a.start..a.end).contains(&x) && (b.start..b.end).contains(&x));
            prop_assert_eq!(a.overlaps(b), shared);
            prop_assert_eq!(b.overlaps(a), shared);
        }

        #[test]
        fn what_is_placed_lies_within_and_clear_of_all_else(
            requests in requests(),
            taken_units in prop::collection::vec((0..4 * UNITS_IN_GIGAPAGE, 1..100u64), 0..4),
        ) {
            let within = Extent::new(0, 4 * GIGAPAGE_SIZE);
            let taken: Vec<Extent> =
                taken_units.iter().map(|&(start, size)| Extent::new(start * UNIT, size * UNIT)).collect();
            let mut placed = requests.clone();
            let complete = place(within, &taken, &mut placed);

            prop_assert_eq!(complete, !placed.iter().any(|r| r.place == Place::Nowhere));
            for (i, request) in placed.iter().enumerate() {
                prop_assert_ne!(request.place, Place::Open);
                let Place::Chosen(address) = request.place else {
                    // Fixed ones stay where they are; a refusal means that there is no room beside the others.
                    if let Place::Fixed(_) = request.place {
                        prop_assert_eq!(request, &requests[i]);
                    } else {
                        let others = taken.iter().copied().chain(placed.iter().filter_map(Request::extent));
                        prop_assert_eq!(lowest_fit(within, others, request.size, UNIT), None);
                    }
                    continue;
                };
                let extent = Extent::new(address, request.size);
                prop_assert!(address.is_multiple_of(UNIT));
                prop_assert!(within.contains(extent));
                prop_assert!(!taken.iter().any(|t| t.overlaps(extent)));
                for (j, other) in placed.iter().enumerate() {
                    prop_assert!(i == j || !other.extent().is_some_and(|o| o.overlaps(extent)));
                }
            }
        }
    }

    #[test]
    fn a_gigabyte_gets_its_alignment_when_there_is_room() {
        let within = Extent::new(0x8000_0000, 4 << 30);
        let taken = [Extent::new(0x8000_0000, 64 << 20)];
        let mut requests = [16 << 20, 1 << 30].map(|size| Request {
            size,
            place: Place::Open,
        });
        assert!(place(within, &taken, &mut requests));
        assert_eq!(requests[0].place, Place::Chosen(0x8400_0000));
        assert_eq!(requests[1].place, Place::Chosen(0xc000_0000));
    }

    #[test]
    fn alignment_yields_to_room() {
        let within = Extent::new(0x8000_0000, 0x6000_0000);
        let taken = [Extent::new(0x8000_0000, 64 << 20)];
        let mut requests = [Request {
            size: 1 << 30,
            place: Place::Open,
        }];
        assert!(place(within, &taken, &mut requests));
        assert_eq!(requests[0].place, Place::Chosen(0x8400_0000));
    }
}
