//! No guest software makes the board itself fail, and what it does does not depend on how the run is cut.

#[path = "robust/scenario.rs"]
mod scenario;

use scenario::{Scenario, Source, Wishes, run_to, seeded};
use tactus_board::board::Board;

const TIMED: Option<bool> = Some(false);

/// Calls `check` for scenarios of many seeds.
fn scenarios(name: u64, count: u64, wishes: Wishes, check: impl Fn(u64, &Scenario, &mut Source<'_>)) {
    let (from, count) = match std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => (seed, 1),
        None => (0, std::env::var("COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(count)),
    };
    for seed in from..from + count {
        if std::env::var("SAY").is_ok() {
            eprintln!("seed {seed}");
        }
        let bytes = seeded(seed << 8 | name, 8192);
        let mut source = Source::new(&bytes);
        let scenario = Scenario::of(&mut source, wishes);
        check(seed, &scenario, &mut source);
    }
}

/// All of a board's state, that must be `other`'s.
fn assert_same(seed: u64, what: &str, one: &mut Board, other: &mut Board) {
    for hart in 0..one.harts() {
        let state = |board: &Board| (board.pc(hart), board.cycle(hart), board.instructions(hart));
        assert_eq!(state(one), state(other), "seed {seed}: {what}: hart {hart}");
        for register in 0..32 {
            assert_eq!(one.x(hart, register), other.x(hart, register), "seed {seed}: {what}: hart {hart}, x{register}");
        }
    }
    assert_eq!(one.trace_hash(), other.trace_hash(), "seed {seed}: {what}: the traces");
    assert!(one.snapshot() == other.snapshot(), "seed {seed}: {what}: the states");
}

#[test]
fn any_software_runs_in_pieces_as_in_one() {
    scenarios(1, 300, Wishes { harts: Some(1), timed: TIMED, ..Wishes::default() }, |seed, scenario, source| {
        let mut whole = scenario.board();
        run_to(&mut whole, scenario.cycles);
        let mut pieces = scenario.board();
        let mut at = 0;
        while at < scenario.cycles {
            at = (at + 1 + source.below(200)).min(scenario.cycles);
            run_to(&mut pieces, at);
        }
        assert_same(seed, "in pieces", &mut whole, &mut pieces);
    });
}

#[test]
fn a_restored_board_goes_on_as_the_one_that_was_saved() {
    scenarios(2, 200, Wishes { timed: TIMED, ..Wishes::default() }, |seed, scenario, source| {
        let mut first = scenario.board();
        run_to(&mut first, source.below(scenario.cycles));
        let snapshot = first.snapshot();
        let mut second = scenario.bare(scenario.quantum, false);
        second.restore(&snapshot).expect("a good snapshot");
        assert!(second.snapshot() == snapshot, "seed {seed}: what is restored is what was saved");
        run_to(&mut first, scenario.cycles);
        run_to(&mut second, scenario.cycles);
        assert_same(seed, "restored", &mut first, &mut second);
    });
}

#[test]
fn probes_change_nothing() {
    scenarios(3, 200, Wishes { timed: TIMED, ..Wishes::default() }, |seed, scenario, source| {
        let mut plain = scenario.board();
        run_to(&mut plain, scenario.cycles);
        let mut probed = scenario.board();
        for _ in 0..source.below(20) {
            probed.probe(Scenario::place(source));
        }
        run_to(&mut probed, scenario.cycles);
        assert_same(seed, "with probes", &mut plain, &mut probed);
    });
}

#[test]
fn stops_change_nothing() {
    scenarios(4, 200, Wishes { harts: Some(1), timed: TIMED, ..Wishes::default() }, |seed, scenario, source| {
        let mut plain = scenario.board();
        run_to(&mut plain, scenario.cycles);
        let mut stopped = scenario.board();
        for _ in 0..source.below(20) {
            stopped.stop_at(Scenario::place(source));
        }
        run_to(&mut stopped, scenario.cycles);
        assert_same(seed, "with stops", &mut plain, &mut stopped);
    });
}

#[test]
fn the_quantum_does_not_matter_to_a_single_hart() {
    scenarios(5, 200, Wishes { harts: Some(1), timed: TIMED, ..Wishes::default() }, |seed, scenario, source| {
        let mut one = scenario.board();
        run_to(&mut one, scenario.cycles);
        let mut other = scenario.board_of(1 + source.below(1000), scenario.timed);
        run_to(&mut other, scenario.cycles);
        assert_same(seed, "with another quantum", &mut one, &mut other);
    });
}

#[test]
fn what_software_computes_is_the_same_at_any_pace() {
    scenarios(6, 300, Wishes { harts: Some(1), timeless: true, timed: None }, |seed, scenario, _| {
        let mut timed = scenario.board_of(scenario.quantum, true);
        run_to(&mut timed, scenario.cycles);
        let count = timed.instructions(0);
        let mut fast = scenario.board_of(scenario.quantum, false);
        let mut at = 0;
        // Exceptions retire nothing, so that the cycle is not known; a fast one takes no more than a timed one.
        while fast.instructions(0) < count {
            at += count - fast.instructions(0);
            run_to(&mut fast, at);
        }
        let state = |board: &Board| -> (Vec<u64>, Vec<u8>) {
            let mut bytes = vec![0; 1 << 20];
            board.memory().read(scenario::BASE, &mut bytes).expect("memory");
            ((0..32).map(|register| board.x(0, register)).chain([board.pc(0), board.instructions(0)]).collect(), bytes)
        };
        // The timed one may have taken exceptions since.
        let wanted = state(&timed);
        while state(&fast) != wanted {
            at += 1;
            run_to(&mut fast, at);
            assert_eq!(fast.instructions(0), count, "seed {seed}: what is the same is not so at this count");
        }
    });
}
