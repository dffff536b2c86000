//! TLBs against a slow model, and the guarantee on which the engine's own TLB in front of them depends.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tactus_board::profile::Profile;
use tactus_board::timing::parameters::{Parameters, SecondTlb, Tlb, Walks};
use tactus_board::timing::{Lookup, Page, Side, Timing};

const STALL: u32 = 3;

fn parameters(fetch_entries: u32, data_entries: u32, second: Option<(u32, u32)>) -> Parameters {
    Parameters {
        tlb: Some(Tlb {
            fetch_entries,
            data_entries,
            second: second.map(|(sets, ways)| SecondTlb {
                entries: sets * ways,
                ways,
                latency: STALL,
            }),
            walks: Walks::Level1,
        }),
        ..Profile::named("soc")
            .expect("it comes with the crate")
            .timing
    }
}

/// Slots that are written in turn.
#[derive(Clone, Debug)]
struct Ring {
    slots: Vec<Option<Page>>,
    written: usize,
}

impl Ring {
    fn new(slots: u32) -> Self {
        Self {
            slots: vec![None; slots as usize],
            written: 0,
        }
    }

    fn has(&self, page: Page) -> bool {
        self.slots.contains(&Some(page))
    }

    fn put(&mut self, page: Page) -> Option<Page> {
        let slot = self.written % self.slots.len();
        self.written += 1;
        self.slots[slot].replace(page)
    }

    fn remove(&mut self, matches: impl Fn(Page) -> bool) -> BTreeSet<Page> {
        let mut left = BTreeSet::new();
        for slot in &mut self.slots {
            if slot.is_some_and(&matches) {
                left.extend(slot.take());
            }
        }
        left
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    /// An access to a page; for a walk, whether it finds a translation.
    Use(Side, Page, bool),
    RemoveAll,
    RemoveContext(u32),
    RemovePage(u64),
    RemoveOne(Page),
}

fn pages() -> impl Strategy<Value = Page> {
    (0_u32..3, 0_u64..14).prop_map(|(context, number)| Page {
        context,
        // Pages far apart as well as adjacent ones.
        number: if number < 10 {
            number
        } else {
            (1 << 52) - number
        },
    })
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let side = prop_oneof![Just(Side::Fetch), Just(Side::Data)];
    let action = prop_oneof![
        30 => (side, pages(), prop::bool::weighted(0.9)).prop_map(|(side, page, good)| Action::Use(side, page, good)),
        1 => Just(Action::RemoveAll),
        1 => (0_u32..3).prop_map(Action::RemoveContext),
        1 => (0_u64..10).prop_map(Action::RemovePage),
        1 => pages().prop_map(Action::RemoveOne),
    ];
    prop::collection::vec(action, 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn look_ups_and_evictions_agree_with_the_slow_model(
        entries in (1_u32..6, 1_u32..6),
        second in prop::option::of((prop::sample::select(vec![1_u32, 2, 4]), 1_u32..5)),
        actions in actions(),
    ) {
        let mut timing = Timing::new(&parameters(entries.0, entries.1, second), 2, 1);
        let mut first = [Ring::new(entries.0), Ring::new(entries.1)];
        let mut behind = second.map(|(sets, ways)| vec![Ring::new(ways); sets as usize]);
        // The pages that an engine would cache by these reports, and need not look up.
        let mut known = [BTreeSet::new(), BTreeSet::new()];
        for action in actions {
            let matches = |page: Page| match action {
                Action::Use(..) => false,
                Action::RemoveAll => true,
                Action::RemoveContext(context) => page.context == context,
                Action::RemovePage(number) => page.number == number,
                Action::RemoveOne(one) => page == one,
            };
            let Action::Use(side, page, good) = action else {
                let mut left = [BTreeSet::new(), BTreeSet::new()];
                timing.tlb_remove(0, matches, |side, page| assert!(left[side as usize].insert(page)));
                prop_assert_eq!(&left[0], &first[0].remove(matches));
                prop_assert_eq!(&left[1], &first[1].remove(matches));
                for ring in behind.iter_mut().flatten() {
                    ring.remove(matches);
                }
                for (known, left) in known.iter_mut().zip(&left) {
                    known.retain(|page| !left.contains(page));
                }
                continue;
            };
            let index = side as usize;
            let resident = first[index].has(page);
            // An engine that caches the page makes no look-up; the TLBs are the same as if it made one.
            if known[index].contains(&page) {
                prop_assert!(resident);
                continue;
            }
            let ring = behind.as_mut().map(|rings| {
                let sets = rings.len() as u64;
                &mut rings[(page.number % sets) as usize]
            });
            let found = timing.tlb(0, side, page);
            let left = match found {
                Lookup::Resident => {
                    prop_assert!(resident);
                    None
                }
                Lookup::Refilled { stall, left } => {
                    prop_assert!(!resident && ring.is_some_and(|ring| ring.has(page)));
                    prop_assert_eq!(stall, u64::from(STALL));
                    prop_assert_eq!(left, first[index].put(page));
                    left
                }
                Lookup::Walk { stall } => {
                    prop_assert!(!resident && !ring.as_ref().is_some_and(|ring| ring.has(page)));
                    prop_assert_eq!(stall, if ring.is_some() { u64::from(STALL) } else { 0 });
                    if !good {
                        continue;
                    }
                    if let Some(ring) = ring {
                        ring.put(page);
                    }
                    let left = timing.tlb_fill(0, side, page);
                    prop_assert_eq!(left, first[index].put(page));
                    left
                }
            };
            known[index].insert(page);
            if let Some(left) = left {
                prop_assert!(known[index].remove(&left));
            }
            for (side, known) in [Side::Fetch, Side::Data].into_iter().zip(&known) {
                prop_assert!(known.iter().all(|&page| timing.is_resident(0, side, page)));
            }
        }
        // The other hart is not affected.
        prop_assert_eq!(timing.tlb(1, Side::Data, Page { context: 0, number: 0 }), Lookup::Walk {
            stall: if second.is_some() { u64::from(STALL) } else { 0 },
        });
    }
}

#[test]
fn translations_are_counted() {
    let mut timing = Timing::new(&parameters(1, 1, Some((4, 2))), 1, 1);
    let page = |number| Page { context: 7, number };
    for number in [1, 2] {
        assert_eq!(
            timing.tlb(0, Side::Data, page(number)),
            Lookup::Walk { stall: 3 }
        );
        timing.walk_access(0, 0x8000_0000, false, 0);
        timing.tlb_fill(0, Side::Data, page(number));
    }
    assert_eq!(
        timing.tlb(0, Side::Data, page(1)),
        Lookup::Refilled {
            stall: 3,
            left: Some(page(2))
        }
    );
    assert_eq!(timing.tlb(0, Side::Data, page(1)), Lookup::Resident);
    assert_eq!(
        timing.tlb(0, Side::Fetch, page(1)),
        Lookup::Refilled {
            stall: 3,
            left: None
        },
        "the L2 TLB is for both"
    );
    let counts = timing.counts(0);
    assert_eq!(
        (counts.tlb_refills, counts.walks, counts.walk_accesses),
        (2, 2, 2)
    );
    assert_eq!(counts.stall_tlb, 12);
}

/// A walk for a resident page (to set its D bit, for example) changes no order.
#[test]
fn a_page_is_in_a_tlb_once() {
    let mut timing = Timing::new(&parameters(3, 3, Some((1, 3))), 1, 1);
    let page = |number| Page { context: 7, number };
    let left = [1, 2, 1, 3, 4].map(|number| timing.tlb_fill(0, Side::Data, page(number)));
    assert_eq!(left, [None, None, None, None, Some(page(1))]);
    let found = [1, 2, 3, 4].map(|number| timing.tlb(0, Side::Fetch, page(number)));
    assert_eq!(found[0], Lookup::Walk { stall: 3 });
    for found in &found[1..] {
        assert!(matches!(found, Lookup::Refilled { .. }));
    }
}

/// Without TLBs every page is resident, and nothing is ever reported.
#[test]
fn a_board_without_tlbs() {
    let mut timing = Timing::new(
        &Profile::named("mpsoc")
            .expect("it comes with the crate")
            .timing,
        1,
        1,
    );
    let page = Page {
        context: 0,
        number: 5,
    };
    assert_eq!(timing.tlb(0, Side::Fetch, page), Lookup::Resident);
    assert_eq!(timing.tlb_fill(0, Side::Fetch, page), None);
    timing.tlb_remove(0, |_| true, |_, page| panic!("{page:?} left"));
    assert!(timing.is_resident(0, Side::Fetch, page));
}
