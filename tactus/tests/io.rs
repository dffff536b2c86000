//! Guests that share the devices behind the I/O hypervisor, and pins that change on exact cycles whatever the other
//! guests do. The guests check their data, and the board records the pins.

use std::path::Path;

use tactus::run::Boot;
use tactus::run::board::Options;
use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Verdict};
use tactus_board::profile::Profile;

use crate::harness::{STUCK, assert_verdict, explain, fabric, figure, once, root};

/// Pins of the design.
const PINS: u32 = 8;

/// Runs a system until all VMs are off.
fn run(file: &Path) -> Outcome {
    let mut boot = Boot::of(file).unwrap_or_else(|error| panic!("{error:?}"));
    let mut options = Options::new(Profile::named("soc").expect("it comes with the board"));
    options.fabric = Some(fabric("io"));
    options.ends.pins = PINS;
    let plan = boot.plan.limit(STUCK);
    boot.plan = plan.on(Platform::Board(Box::new(options)));
    once(&boot)
}

/// The cycles at which the pins of `mask` change, with their levels from then on.
fn changes(outcome: &Outcome, mask: u32) -> Vec<(u64, u32)> {
    let facts = outcome.board.as_ref().expect("it ran on the board");
    let mut changes: Vec<(u64, u32)> = Vec::new();
    for (cycle, levels) in &facts.ends.pins {
        let before = changes.last().map_or(0, |(_, levels)| *levels);
        if levels & mask != before {
            changes.push((*cycle, levels & mask));
        }
    }
    changes
}

/// The changes of `runs` pulses of these pins: each of `length` cycles, from `start` on, every `period` cycles.
fn pulses(mask: u32, length: u64, start: u64, period: u64, runs: u64) -> Vec<(u64, u32)> {
    let starts = (0..runs).map(|run| start + run * period);
    starts
        .flat_map(|begin| [(begin, mask), (begin + length, 0)])
        .collect()
}

/// The pins of FreeRTOS's program `valves.tio` and of the Rust guest's `pulses.tio`, and the length of their pulses.
const VALVES: (u32, u64) = (0x3f, 250);
const PULSES: (u32, u64) = (0x40, 40);

#[track_caller]
fn assert_exact(outcome: &Outcome, vm: &str, (mask, length): (u32, u64), period: u64, runs: u64) {
    let start = figure(outcome, vm, "pins_start") as u64;
    let expected = pulses(mask, length, start, period, runs);
    let found = changes(outcome, mask);
    assert!(
        found == expected,
        "{vm}: the first of {} changes is {:?}, and of {} asked for {:?}\n{}",
        found.len(),
        found.iter().find(|change| !expected.contains(change)),
        expected.len(),
        expected.iter().find(|change| !found.contains(change)),
        explain(outcome)
    );
}

/// A hostile guest affects no other: each pin changes on its cycle and no other, and all data are right.
///
/// Beside it run FreeRTOS, a guest in Rust that uses its port without pause, and a real-time guest that watches. The
/// hostile guest writes garbage to its port and its engine in every way, and restarts itself meanwhile.
#[test]
fn pins_are_exact_and_data_right_beside_a_hostile_port() {
    let outcome = run(&root().join("systems/hostile-io.toml"));
    assert_eq!(outcome.journal.failure, None, "\n{}", explain(&outcome));
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    for (name, program) in [
        ("valves", "freertos-io"),
        ("logger", "shared-io"),
        ("watcher", "watcher"),
        ("hostile", "hostile"),
    ] {
        assert_eq!(vm(name).passed, [program], "\n{}", explain(&outcome));
    }
    for other in ["valves", "logger", "watcher", "manager"] {
        let (faults, restarts) = (vm(other).faults, vm(other).restarts);
        assert_eq!((faults, restarts), (0, 0), "{other}\n{}", explain(&outcome));
    }
    assert!(vm("hostile").restarts > 0, "\n{}", explain(&outcome));
    let given = "3 ports and 8 pins are given";
    let console = vm("manager").console.text();
    assert!(console.contains(given), "\n{}", explain(&outcome));
    assert_exact(&outcome, "valves", VALVES, 40_000, 40);
    assert_exact(&outcome, "logger", PULSES, 20_000, 60);
    // FreeRTOS reads its pins once a run, when they are high.
    assert_eq!(figure(&outcome, "valves", "samples"), 40.0);
    assert!(figure(&outcome, "valves", "flash_rounds") > 5.0);
    // The guest received its own frames; a broadcast frame can have arrived before them.
    let frames = figure(&outcome, "logger", "frames");
    assert!((1.0..=20.0).contains(&frames), "{frames}");
}

/// A guest's restart leaves none of its I/O behind: its line is low between two lives, and its requests have no effect.
///
/// The guest dies with a line high, an endless program, requests in progress and unread responses. It checks after the
/// restart that nothing is left. The other guest is not affected.
#[test]
fn nothing_is_left_of_a_life_before() {
    let outcome = run(&root().join("systems/io-restart.toml"));
    assert_verdict(&outcome, Verdict::Good);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("mortal").restarts, 4, "\n{}", explain(&outcome));
    assert_eq!(vm("mortal").passed, ["shared-io"]);
    let (mask, length) = PULSES;
    let found = changes(&outcome, mask);
    let (lives, rest) = found.split_at(2 * 4);
    for life in lives.chunks(2) {
        assert_eq!((life[0].1, life[1].1), (mask, 0), "{lives:?}");
    }
    let start = figure(&outcome, "mortal", "pins_start") as u64;
    assert_eq!(rest, pulses(mask, length, start, 10_000, 10));
    assert_exact(&outcome, "other", VALVES, 40_000, 40);
}

/// `systems/io.toml`, the run of the how-to page: the same checks while Linux runs hackbench on both harts.
#[test]
#[ignore = "long"]
fn pins_are_exact_while_linux_runs_hackbench() {
    // The run takes seconds of virtual time, and the fabric's model computes each cycle.
    let outcome = run(&root().join("systems/io.toml"));
    assert_verdict(&outcome, Verdict::Good);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    // The valves run from before Linux boots until after it is off.
    let off = |name| vm(name).off.map(|off| off.time);
    assert!(off("linux") < off("valves"), "\n{}", explain(&outcome));
    let mut passed = vm("linux").passed.clone();
    passed.sort();
    assert_eq!(passed, ["io_load", "io_rounds", "io_wrong"]);
    assert!(figure(&outcome, "linux", "linux_hackbench_runs") > 0.0);
    assert_exact(&outcome, "valves", VALVES, 100_000, 2_400);
    assert_exact(&outcome, "logger", PULSES, 100_000, 400);
    assert_eq!(figure(&outcome, "valves", "samples"), 2_400.0);
}

/// The words that the guest in Rust stores equal the assembler's output for its program.
#[test]
fn the_guests_words_are_those_of_their_programs() {
    let program = include_str!("../../guests/shared-io/pulses.tio");
    let words = tactus::timed_io::assemble(program)
        .expect("a program")
        .words;
    let source = include_str!("../../guests/shared-io/src/main.rs");
    let (_, list) = source
        .split_once("const PULSES: [u32; 4] = [")
        .expect("the words");
    let (list, _) = list.split_once(']').expect("their end");
    let stored = list.split(',').map(|word| {
        let digits = word.trim().trim_start_matches("0x").replace('_', "");
        u32::from_str_radix(&digits, 16).expect("a word")
    });
    assert_eq!(stored.collect::<Vec<_>>(), words);
}
