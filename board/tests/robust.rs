//! No guest software makes the board itself fail, and its results do not depend on the slices of a run.
//!
//! The seeds are the same each time. Set `ROBUST_SEEDS` to a range (`1000..2000`) for others. `fuzz/` has the same
//! checks for a fuzzer.

#[path = "robust/checks.rs"]
mod checks;
#[path = "robust/scenario.rs"]
mod scenario;

use std::ops::Range;

use scenario::{Scenario, Source, Wishes, seeded};

/// Prints the seed when a check fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the seed is {}", self.0);
        }
    }
}

/// The seeds to try: the first `count`, or those of the environment.
fn seeds(count: u64) -> Range<u64> {
    let wanted = std::env::var("ROBUST_SEEDS").ok();
    let wanted = wanted.as_ref().and_then(|range| range.split_once(".."));
    wanted.map_or(0..count, |(from, to)| {
        from.parse().expect("a number")..to.parse().expect("a number")
    })
}

/// Calls `check` with random bytes from each seed.
fn sources(name: u64, count: u64, check: impl Fn(&mut Source<'_>)) {
    for seed in seeds(count) {
        let _seed = Seed(seed);
        check(&mut Source::new(&seeded(seed << 8 | name, 8192)));
    }
}

/// Calls `check` for a scenario from each seed.
fn scenarios(name: u64, count: u64, wishes: Wishes, check: impl Fn(&Scenario, &mut Source<'_>)) {
    sources(name, count, |source| {
        let scenario = Scenario::of(source, wishes);
        check(&scenario, source);
    });
}

#[test]
fn any_software_runs_in_pieces_as_in_one() {
    scenarios(1, 30, Wishes::default(), checks::in_pieces);
}

#[test]
fn a_restored_board_continues_as_the_saved_one() {
    scenarios(2, 30, Wishes::default(), checks::restored);
}

#[test]
fn probes_change_nothing() {
    scenarios(3, 30, Wishes::default(), checks::with_probes);
}

#[test]
fn stops_change_nothing() {
    scenarios(4, 30, Wishes::default(), checks::with_stops);
}

#[test]
fn the_quantum_does_not_matter_to_a_single_hart() {
    scenarios(
        5,
        30,
        Wishes {
            harts: Some(1),
            ..Wishes::default()
        },
        checks::with_another_quantum,
    );
}

#[test]
fn results_of_software_are_the_same_at_any_pace() {
    let wishes = Wishes {
        harts: Some(1),
        timeless: true,
        timed: None,
    };
    scenarios(6, 40, wishes, |scenario, _| {
        checks::at_another_pace(scenario)
    });
}

#[test]
fn a_damaged_snapshot_is_refused_or_gives_a_board_that_runs() {
    scenarios(7, 6, Wishes::default(), |scenario, source| {
        checks::damaged_snapshots(scenario, source, 20)
    });
}

#[test]
fn any_file_is_booted_or_refused() {
    sources(8, 40, checks::any_file);
}

#[test]
fn any_text_is_a_profile_or_refused() {
    sources(9, 60, checks::any_profile);
}
