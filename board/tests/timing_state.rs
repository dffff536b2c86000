//! Equal calls give equal cycles, and a saved state continues as the original does.

use proptest::prelude::*;
use tactus_board::profile::Profile;
use tactus_board::timing::{BranchKind, Counts, Lookup, Page, Side, Timing};

/// A call of some kind, chosen by one word.
fn step(timing: &mut Timing, harts: usize, word: u64, now: u64) -> u64 {
    let hart = (word >> 60) as usize % harts;
    let physical = 0x8000_0000 + (word >> 8 & 0x3_ffff) * 8;
    match word % 16 {
        0..=4 => timing.data(hart, physical, false, now),
        5..=7 => timing.data(hart, physical, true, now),
        8 | 9 => timing.fetch(hart, physical, 1 + (word >> 40 & 1) as u32, now),
        10 => timing.atomic(hart, physical, (word >> 40) as i32 & 3, now),
        11 => timing.uncached(
            hart,
            0x200_0000 + (word >> 40 & 0xfff8),
            word >> 30 & 1 != 0,
            now,
        ),
        12 => timing.fence(hart, (word >> 40) as u8 & 15, now),
        13 => {
            let page = Page {
                context: 1,
                number: word >> 40 & 0xff,
            };
            match timing.tlb(hart, Side::Data, page) {
                Lookup::Resident => 0,
                Lookup::Refilled { stall, left } => stall + left.map_or(0, |left| left.number),
                Lookup::Walk { stall } => {
                    let walk = timing.walk_access(hart, physical, word >> 32 & 7 == 0, now + stall);
                    stall
                        + walk
                        + timing
                            .tlb_fill(hart, Side::Data, page)
                            .map_or(0, |left| left.number)
                }
            }
        }
        14 => timing.branch(
            hart,
            physical,
            BranchKind::Conditional,
            word >> 41 & 3 != 0,
            physical + 64,
            physical + 4,
        ),
        _ => {
            timing.master_write(physical, word >> 40 & 0x1ff, now);
            timing.branch(
                hart,
                physical,
                BranchKind::Call,
                true,
                physical + 64,
                physical + 4,
            )
        }
    }
}

fn words(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        // A 64-bit linear congruential generator, the upper bits of which are mixed down.
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 32
    })
}

fn run(timing: &mut Timing, harts: usize, seed: u64, from: usize, count: usize) -> Vec<u64> {
    let steps = words(seed).enumerate().skip(from).take(count);
    steps
        .map(|(number, word)| step(timing, harts, word, number as u64 * 40))
        .collect()
}

fn new(name: &str, harts: usize, seed: u64) -> Timing {
    Timing::new(
        &Profile::named(name)
            .expect("it comes with the crate")
            .timing,
        harts,
        seed,
    )
}

#[test]
fn the_same_calls_give_the_same_cycles() {
    for name in Profile::names() {
        let [one, other] = [(); 2].map(|()| run(&mut new(name, 4, 9), 4, 3, 0, 20_000));
        assert_eq!(one, other, "{name}");
    }
}

#[test]
fn another_seed_gives_other_victims_and_nothing_else() {
    let costs = [1, 2].map(|seed| run(&mut new("soc", 2, seed), 2, 3, 0, 20_000));
    assert_ne!(
        costs[0], costs[1],
        "random replacement follows from the seed"
    );
    let costs = [1, 2].map(|seed| run(&mut new("mpsoc", 2, seed), 2, 3, 0, 20_000));
    assert_eq!(costs[0], costs[1], "nothing in it is random");
}

#[test]
fn stalls_are_counted_once_by_hart() {
    // Without the steps whose result is more than stall cycles.
    let mut timing = new("soc", 2, 1);
    let mut stalls = [0; 2];
    for (number, word) in words(5).take(20_000).enumerate() {
        if word % 16 != 13 {
            stalls[(word >> 60) as usize % 2] += step(&mut timing, 2, word, number as u64 * 40);
        }
    }
    for (hart, stalls) in stalls.into_iter().enumerate() {
        let counts = timing.counts(hart);
        let named = Counts::NAMES.iter().zip(counts.values());
        let sum: u64 = named
            .filter(|(name, _)| name.starts_with("stall_"))
            .map(|(_, value)| value)
            .sum();
        assert_eq!(sum, stalls);
        assert!(
            counts.loads > 2_000 && counts.load_misses > 0 && counts.load_misses <= counts.loads
        );
        assert_eq!(counts.since(counts), Counts::default());
        assert_eq!(counts.since(&Counts::default()), *counts);
    }
    timing.reset_counts(0);
    assert_eq!(*timing.counts(0), Counts::default());
    assert_ne!(*timing.counts(1), Counts::default());
}

#[test]
fn a_saved_state_continues_as_the_original() {
    for name in Profile::names() {
        let mut original = new(name, 3, 9);
        run(&mut original, 3, 3, 0, 10_000);
        let state = original.save();
        let mut copy = new(name, 3, 1234);
        run(&mut copy, 3, 77, 0, 500);
        assert_eq!(copy.restore(&state), Ok(()));
        assert_eq!(copy.save(), state);
        assert_eq!(copy.check_coherence(), Ok(()));
        assert_eq!(
            run(&mut copy, 3, 3, 10_000, 10_000),
            run(&mut original, 3, 3, 10_000, 10_000),
            "{name}"
        );
        assert_eq!(copy.save(), original.save());
    }
}

#[test]
fn reset_keeps_only_the_counts() {
    for name in Profile::names() {
        let mut timing = new(name, 2, 9);
        run(&mut timing, 2, 3, 0, 2_000);
        let counts = [0, 1].map(|hart| *timing.counts(hart));
        timing.forget();
        assert_eq!([0, 1].map(|hart| *timing.counts(hart)), counts);
        for hart in 0..2 {
            timing.reset_counts(hart);
        }
        assert_eq!(timing.save(), new(name, 2, 9).save());
    }
}

#[test]
fn states_of_other_boards_are_refused_and_change_nothing() {
    let mut timing = new("soc", 2, 1);
    run(&mut timing, 2, 3, 0, 1_000);
    let before = timing.save();
    for other in [new("soc", 3, 1).save(), new("mpsoc", 2, 1).save()] {
        let error = timing.restore(&other).expect_err("another board");
        assert_eq!(
            error.0,
            "timing: the state is that of another profile or number of harts"
        );
    }
    for length in [0, 1, before.len() / 2, before.len() - 1] {
        let error = timing
            .restore(&before[..length])
            .expect_err("a part of a state");
        assert!(error.0.starts_with("timing: no saved state: "), "{error}");
    }
    assert_eq!(timing.save(), before);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// A manipulated state is refused, or used without harm.
    #[test]
    fn a_damaged_state_does_no_harm(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut timing = new("soc", 2, 1);
        run(&mut timing, 2, 3, 0, 300);
        let mut state = timing.save();
        for (place, byte) in places {
            let place = place.index(state.len());
            state[place] = byte;
        }
        if timing.restore(&state).is_ok() {
            run(&mut timing, 2, 4, 300, 300);
        }
    }
}
