//! Weak memory by litmus tests: each outcome that the documentation promises occurs, and none that RVWMO forbids.
//!
//! Tests have the names of the literature (J. Alglave, L. Maranget, M. Tautschnig, "Herding Cats", 2014); "rule n" is
//! one of "Preserved Program Order" (unprivileged specification, section 17.1.5).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tactus_board::board::{Board, MemoryModel, Outcome, Pace};
use tactus_board::bus::{BadState, Device, Port, Refused};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options, Software};

const BASE: u64 = 0x8000_0000;
const MEMORY: u64 = 8 << 20;
/// The size of each hart's program area.
const PROGRAM: u64 = 0x1000;
/// The variables x, y and z, in lines of their own.
const VARIABLES: [u64; 3] = [BASE + 0x10_000, BASE + 0x10_040, BASE + 0x10_080];
/// The default seeds; the environment variable `WEAK_MEMORY_SEEDS` selects others, as FROM..TO.
const SEEDS: Range<u64> = 1..4;
/// Runs of a litmus test from each seed.
const ROUNDS: u64 = 250;
/// The cycles after which each run is over, with all stores in memory.
const CYCLES: u64 = 8_000;

/// Registers with the addresses of x, y and z, the values 1 and 2, and the values read.
const X: u32 = 10;
const Y: u32 = 11;
const Z: u32 = 12;
const ONE: u32 = 8;
const TWO: u32 = 9;
const R1: u32 = 13;
const R2: u32 = 14;
const R3: u32 = 15;
/// The register of address dependencies.
const T: u32 = 6;

/// `aq` and `rl` of an atomic.
const AQ: u32 = 1 << 26;
const RL: u32 = 1 << 25;

const fn ld(rd: u32, address: u32) -> u32 {
    0x3003 | rd << 7 | address << 15
}

const fn sd(value: u32, address: u32) -> u32 {
    0x3023 | address << 15 | value << 20
}

/// A fence of these sets: `i` 8, `o` 4, `r` 2, `w` 1.
const fn fence(predecessors: u32, successors: u32) -> u32 {
    0xf | predecessors << 24 | successors << 20
}

const R: u32 = 2;
const W: u32 = 1;
const RW: u32 = 3;
const FENCE_TSO: u32 = 0x8330_000f;
const FENCE_I: u32 = 0x100f;
const MRET: u32 = 0x3020_0073;

const fn amoswap(rd: u32, value: u32, address: u32) -> u32 {
    0x0800_302f | rd << 7 | address << 15 | value << 20
}

const fn amoadd(rd: u32, value: u32, address: u32) -> u32 {
    0x302f | rd << 7 | address << 15 | value << 20
}

const fn lr(rd: u32, address: u32) -> u32 {
    0x1000_302f | rd << 7 | address << 15
}

const fn sc(rd: u32, value: u32, address: u32) -> u32 {
    0x1800_302f | rd << 7 | address << 15 | value << 20
}

const fn xor(rd: u32, one: u32, other: u32) -> u32 {
    0x4033 | rd << 7 | one << 15 | other << 20
}

const fn add(rd: u32, one: u32, other: u32) -> u32 {
    0x33 | rd << 7 | one << 15 | other << 20
}

/// `bnez`; with the offset 4 both ways continue at the next instruction.
const fn bnez(register: u32, offset: i32) -> u32 {
    let bits = offset as u32;
    0x1063
        | register << 15
        | (bits >> 12 & 1) << 31
        | (bits >> 5 & 63) << 25
        | (bits >> 1 & 15) << 8
        | (bits >> 11 & 1) << 7
}

/// `addi rd, rd, immediate`.
const fn addi(rd: u32, immediate: i32) -> u32 {
    0x13 | rd << 7 | rd << 15 | (immediate as u32) << 20
}

/// `ld` whose address depends on the value of `source`.
const fn ld_depending(rd: u32, address: u32, source: u32) -> [u32; 3] {
    [xor(T, source, source), add(T, T, address), ld(rd, T)]
}

/// A loop that takes some cycles.
const PAUSE: [u32; 3] = [addi(5, 40), addi(5, -1), bnez(5, -4)];
const STAY: u32 = 0x6f;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("WEAK_MEMORY_SEEDS") else {
        return SEEDS;
    };
    let ends = text.split_once("..");
    let ends = ends.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.unwrap_or_else(|| panic!("WEAK_MEMORY_SEEDS={text}: say FROM..TO, such as 0..10"))
}

fn board(harts: usize, seed: u64, pace: Pace) -> Board {
    let profile = Profile::named("soc").expect("it comes with the board");
    let options = Options {
        harts: Some(harts),
        memory: Some(MEMORY),
        seed,
        memory_model: MemoryModel::Weak,
        ..Options::default()
    };
    let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    board.set_pace(pace);
    board
}

fn load(board: &mut Board, hart: usize, program: &[u32]) {
    let place = BASE + hart as u64 * PROGRAM;
    let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    board.write(place, &bytes).expect("memory");
    board.set_pc(hart, place);
    for (register, value) in [(X, VARIABLES[0]), (Y, VARIABLES[1]), (Z, VARIABLES[2])] {
        board.set_x(hart, register as usize, value);
    }
    for (register, value) in [(ONE, 1), (TWO, 2)] {
        board.set_x(hart, register as usize, value);
    }
}

fn variable(board: &Board, index: usize) -> u64 {
    let mut bytes = [0; 8];
    let read = board.memory().read(VARIABLES[index], &mut bytes);
    read.map(|()| u64::from_le_bytes(bytes)).expect("memory")
}

/// A litmus test: each hart's program, and the observed registers and variables.
struct Litmus {
    harts: Vec<Vec<u32>>,
    /// The observed registers, with their harts.
    registers: &'static [(usize, u32)],
    /// The number of observed variables.
    variables: usize,
}

/// The number of runs with each outcome.
type Outcomes = BTreeMap<Vec<u64>, u64>;

impl Litmus {
    fn new(harts: &[&[u32]], registers: &'static [(usize, u32)], variables: usize) -> Self {
        Self {
            harts: harts.iter().map(|program| program.to_vec()).collect(),
            registers,
            variables,
        }
    }

    /// A test that observes only registers.
    fn reading(harts: &[&[u32]], registers: &'static [(usize, u32)]) -> Self {
        Self::new(harts, registers, 0)
    }

    /// The outcomes on boards that are prepared before.
    fn outcomes_after(&self, prepare: impl Fn(&mut Board)) -> Outcomes {
        let mut outcomes = Outcomes::new();
        for seed in seeds() {
            let mut board = board(self.harts.len(), seed, Pace::Fast);
            prepare(&mut board);
            for round in 0..ROUNDS {
                board.write(BASE + 0x10_000, &[0; 0x100]).expect("memory");
                for (hart, program) in self.harts.iter().enumerate() {
                    // Harts start a few cycles apart: addi t0, t0, -1; bnez t0, .-4.
                    let mut whole = vec![addi(5, -1), bnez(5, -4)];
                    whole.extend(program);
                    whole.push(STAY);
                    load(&mut board, hart, &whole);
                    for register in [R1, R2, R3, T] {
                        board.set_x(hart, register as usize, 0);
                    }
                    board.set_x(hart, 5, 1 + (round * 7 + hart as u64 * round * 5) % 23);
                }
                let end = board.clock().cycle_at(board.time()) + CYCLES;
                assert_eq!(board.run(board.clock().time_of(end)), Outcome::Limit);
                let registers = self.registers.iter();
                let mut outcome: Vec<u64> = registers
                    .map(|(hart, register)| board.x(*hart, *register as usize))
                    .collect();
                outcome.extend((0..self.variables).map(|index| variable(&board, index)));
                *outcomes.entry(outcome).or_default() += 1;
            }
        }
        outcomes
    }

    fn outcomes(&self) -> Outcomes {
        self.outcomes_after(|_| {})
    }

    /// Asserts that this outcome occurs.
    #[track_caller]
    fn shows(&self, outcome: &[u64]) {
        let outcomes = self.outcomes();
        assert!(outcomes.contains_key(outcome), "{outcomes:?}");
    }

    /// Asserts that this outcome does not occur, and that several others do.
    #[track_caller]
    fn forbids(&self, outcome: &[u64]) {
        let outcomes = self.outcomes();
        assert!(!outcomes.contains_key(outcome), "{outcomes:?}");
        assert!(outcomes.len() > 1, "only one outcome: {outcomes:?}");
    }
}

/// The instructions between two operations of a hart: none, or fences.
type Between<'a> = &'a [u32];

fn join(parts: &[&[u32]]) -> Vec<u32> {
    parts.concat()
}

/// SB: each hart stores to one variable and loads the other.
fn store_buffering(one: Between<'_>, other: Between<'_>) -> Litmus {
    Litmus::reading(
        &[
            &join(&[&[sd(ONE, X)], one, &[ld(R1, Y)]]),
            &join(&[&[sd(ONE, Y)], other, &[ld(R1, X)]]),
        ],
        &[(0, R1), (1, R1)],
    )
}

#[test]
fn store_buffering_is_ordered_by_a_fence_of_writes_before_reads() {
    store_buffering(&[], &[]).shows(&[0, 0]);
    store_buffering(&[fence(RW, RW)], &[]).shows(&[0, 0]);
    store_buffering(&[FENCE_TSO], &[FENCE_TSO]).shows(&[0, 0]);
    store_buffering(&[fence(R, RW)], &[fence(RW, W)]).shows(&[0, 0]);
    store_buffering(&[fence(RW, RW)], &[fence(RW, RW)]).forbids(&[0, 0]);
    store_buffering(&[fence(W, R)], &[fence(W, R)]).forbids(&[0, 0]);
}

/// Rules 5 to 7: atomics with both annotations in place of stores and loads.
#[test]
fn store_buffering_is_ordered_by_annotated_atomics() {
    let of = |store: u32, load: u32| {
        let one = [amoswap(0, ONE, X) | store, lr(R1, Y) | load];
        let other = [amoswap(0, ONE, Y) | store, lr(R1, X) | load];
        Litmus::reading(&[&one, &other], &[(0, R1), (1, R1)])
    };
    of(RL | AQ, AQ | RL).forbids(&[0, 0]);
    of(RL, AQ).forbids(&[0, 0]);
}

/// MP: a hart writes data and then a flag; the other reads the flag and then the data.
fn message_passing(writer: Between<'_>, reader: Between<'_>, data: &[u32]) -> Litmus {
    Litmus::reading(
        &[
            &join(&[&[sd(ONE, X)], writer, &[sd(ONE, Y)]]),
            &join(&[&[ld(R1, Y)], reader, data]),
        ],
        &[(1, R1), (1, R2)],
    )
}

#[test]
fn message_passing_needs_order_on_both_sides() {
    let data = [ld(R2, X)];
    let is_allowed = |writer: Between<'_>, reader: Between<'_>| {
        message_passing(writer, reader, &data).shows(&[1, 0]);
    };
    let is_forbidden = |writer: Between<'_>, reader: Between<'_>| {
        message_passing(writer, reader, &data).forbids(&[1, 0]);
    };
    is_allowed(&[], &[]);
    // Stores are reordered.
    is_allowed(&[], &[fence(R, R)]);
    is_allowed(&[fence(R, W)], &[fence(R, R)]);
    // Loads are reordered, also past a branch: a control dependency orders no load.
    is_allowed(&[fence(W, W)], &[]);
    is_allowed(&[fence(W, W)], &[fence(R, W)]);
    is_allowed(&[fence(W, W)], &[bnez(R1, 4)]);
    is_forbidden(&[fence(W, W)], &[fence(R, R)]);
    is_forbidden(&[fence(RW, W)], &[fence(R, RW)]);
    is_forbidden(&[FENCE_TSO], &[FENCE_TSO]);
    is_forbidden(&[fence(RW, RW)], &[bnez(R1, 4), fence(RW, RW)]);
    // A fence with an empty set is a hint (`pause` is one).
    is_allowed(&[fence(W, 0)], &[fence(R, R)]);
}

/// Rule 9: which registers carry a dependency.
#[test]
fn message_passing_is_ordered_by_an_address_dependency() {
    let fenced: Between<'_> = &[fence(W, W)];
    message_passing(fenced, &[], &ld_depending(R2, X, R1)).forbids(&[1, 0]);
    // A dependency through more registers.
    let far = [add(R3, R1, 0), add(R3, R3, 0), addi(R3, 0)];
    message_passing(fenced, &far, &ld_depending(R2, X, R3)).forbids(&[1, 0]);
    // A register that is written again carries none.
    let cut = [add(R3, R1, 0), add(R3, 0, 0)];
    message_passing(fenced, &cut, &ld_depending(R2, X, R3)).shows(&[1, 0]);
}

/// Rules 5 and 6.
#[test]
fn message_passing_is_ordered_by_release_and_acquire() {
    let passing = |release: u32, acquire: u32| {
        Litmus::reading(
            &[
                &[sd(ONE, X), amoswap(0, ONE, Y) | release],
                &[amoadd(R1, 0, Y) | acquire, ld(R2, X)],
            ],
            &[(1, R1), (1, R2)],
        )
    };
    passing(RL, AQ).forbids(&[1, 0]);
    passing(0, AQ).shows(&[1, 0]);
    passing(RL, 0).shows(&[1, 0]);
    let reserving = Litmus::reading(
        &[
            &[sd(ONE, X), lr(R1, Y), sc(R2, ONE, Y) | RL],
            &[lr(R1, Y) | AQ, ld(R2, X)],
        ],
        &[(1, R1), (1, R2)],
    );
    reserving.forbids(&[1, 0]);
}

/// Rules 10 to 12: a load forwarded from its own hart's buffer is as late as the store's dependencies.
#[test]
fn forwarding_keeps_dependencies() {
    let through = |middle: &[u32]| {
        let reader = join(&[&[ld(R1, Y)], middle, &[ld(R3, Z)], &ld_depending(R2, X, R3)]);
        let writer = [sd(ONE, X), fence(W, W), sd(ONE, Y)];
        Litmus::reading(&[&writer, &reader], &[(1, R1), (1, R2)])
    };
    through(&[sd(R1, Z)]).forbids(&[1, 0]);
    // PPOCA: the store depends on the load by control alone. Other harts may not see it yet; its own hart continues
    // with it.
    through(&[bnez(R1, 4), sd(ONE, Z)]).shows(&[1, 0]);
}

/// LB is allowed where nothing orders it, and does not occur; a data dependency forbids it (rule 10).
#[test]
fn load_buffering_is_not_produced() {
    for stored in [ONE, R1] {
        let one = [ld(R1, Y), sd(stored, X)];
        let other = [ld(R1, X), sd(ONE, Y)];
        Litmus::reading(&[&one, &other], &[(0, R1), (1, R1)]).forbids(&[1, 1]);
    }
}

/// S, R and 2+2W: the order in which stores reach memory.
#[test]
fn stores_reach_memory_in_another_order() {
    let s = |writer: Between<'_>| {
        let one = join(&[&[sd(TWO, X)], writer, &[sd(ONE, Y)]]);
        let other = [ld(R1, Y), sd(ONE, X)];
        Litmus::new(&[&one, &other], &[(1, R1)], 1)
    };
    s(&[]).shows(&[1, 2]);
    let ordered = {
        let one = [sd(TWO, X), fence(W, W), sd(ONE, Y)];
        // The second store depends on the load: x = 1 if y was 1.
        let other = [ld(R1, Y), sd(R1, X)];
        Litmus::new(&[&one, &other], &[(1, R1)], 1)
    };
    ordered.forbids(&[1, 2]);

    let r = |one: Between<'_>, other: Between<'_>| {
        let one = join(&[&[sd(ONE, X)], one, &[sd(ONE, Y)]]);
        let other = join(&[&[sd(TWO, Y)], other, &[ld(R1, X)]]);
        Litmus::new(&[&one, &other], &[(1, R1)], 2)
    };
    r(&[], &[]).shows(&[0, 1, 2]);
    r(&[fence(W, W)], &[]).shows(&[0, 1, 2]);
    r(&[], &[fence(W, R)]).shows(&[0, 1, 2]);
    r(&[fence(W, W)], &[fence(W, R)]).forbids(&[0, 1, 2]);

    let two_writes = |one: Between<'_>, other: Between<'_>| {
        let one = join(&[&[sd(ONE, X)], one, &[sd(TWO, Y)]]);
        let other = join(&[&[sd(ONE, Y)], other, &[sd(TWO, X)]]);
        Litmus::new(&[&one, &other], &[], 2)
    };
    two_writes(&[], &[]).shows(&[1, 1]);
    two_writes(&[fence(W, W)], &[]).shows(&[1, 1]);
    two_writes(&[fence(W, W)], &[fence(W, W)]).forbids(&[1, 1]);
    two_writes(&[FENCE_TSO], &[fence(RW, W)]).forbids(&[1, 1]);
}

/// Coherence (rules 1 to 3): all harts see the stores to one address in one order, and none sees an older one later.
#[test]
fn one_place_is_coherent() {
    let registers = &[(1, R1), (1, R2)];
    Litmus::reading(&[&[sd(ONE, X)], &[ld(R1, X), ld(R2, X)]], registers).forbids(&[1, 0]);
    let write = [sd(ONE, X), sd(TWO, X)];
    Litmus::reading(&[&write, &[ld(R1, X), ld(R2, X)]], registers).forbids(&[2, 1]);
    Litmus::new(&[&write, &[]], &[(1, R1)], 1).forbids_all(|outcome| outcome[1] == 1);
    // CoWR: a hart sees its own store, or a later one.
    let own = join(&[&[sd(ONE, X)], &PAUSE, &[ld(R1, X)]]);
    Litmus::reading(&[&own, &[sd(TWO, X)]], &[(0, R1)]).forbids(&[0]);
    // CoRW: a load does not read a value that is stored after the hart's own later store.
    Litmus::new(&[&[ld(R1, X), sd(ONE, X)], &[sd(TWO, X)]], &[(0, R1)], 1).forbids(&[2, 2]);
    Litmus::reading(&[&[ld(R1, X), sd(ONE, X)], &[sd(TWO, X)]], &[(0, R1)])
        .forbids_all(|outcome| outcome[0] == 1);
    // An atomic, and a load of its result (rule 3).
    let atomic = join(&[&[amoswap(R1, ONE, X)], &PAUSE, &[ld(R2, X)]]);
    Litmus::reading(&[&atomic, &[sd(TWO, X)]], &[(0, R2)]).forbids(&[0]);
}

impl Litmus {
    /// Asserts that no outcome satisfies `forbidden`.
    #[track_caller]
    fn forbids_all(&self, forbidden: impl Fn(&[u64]) -> bool) {
        let outcomes = self.outcomes();
        assert!(
            !outcomes.keys().any(|outcome| forbidden(outcome)),
            "{outcomes:?}"
        );
    }
}

/// IRIW and WRC: stores become visible to all harts at once (multi-copy atomicity).
#[test]
fn all_other_harts_see_a_store_at_once() {
    let iriw = |reading: &dyn Fn(u32, u32) -> Vec<u32>| {
        Litmus::reading(
            &[&[sd(ONE, X)], &[sd(ONE, Y)], &reading(X, Y), &reading(Y, X)],
            &[(2, R1), (2, R2), (3, R1), (3, R2)],
        )
    };
    iriw(&|one, other| vec![ld(R1, one), ld(R2, other)]).shows(&[1, 0, 1, 0]);
    iriw(&|one, other| vec![ld(R1, one), fence(R, R), ld(R2, other)]).forbids(&[1, 0, 1, 0]);
    iriw(&|one, other| join(&[&[ld(R1, one)], &ld_depending(R2, other, R1)]))
        .forbids(&[1, 0, 1, 0]);

    let wrc = |middle: Between<'_>, last: Between<'_>| {
        Litmus::reading(
            &[
                &[sd(ONE, X)],
                &join(&[&[ld(R1, X)], middle, &[sd(R1, Y)]]),
                &join(&[&[ld(R1, Y)], last, &[ld(R2, X)]]),
            ],
            &[(1, R1), (2, R1), (2, R2)],
        )
    };
    wrc(&[], &[]).shows(&[1, 1, 0]);
    wrc(&[], &[fence(R, R)]).forbids(&[1, 1, 0]);
    wrc(&[fence(RW, RW)], &[fence(RW, RW)]).forbids(&[1, 1, 0]);
}

/// The memory model is the same at both paces.
#[test]
fn timed_runs_are_weak_too() {
    let passing = |writer: Between<'_>, reader: Between<'_>| {
        let litmus = message_passing(writer, reader, &[ld(R2, X)]);
        litmus.outcomes_after(|board| board.set_pace(Pace::Timed))
    };
    let weak = [1, 0].as_slice();
    assert!(passing(&[], &[]).contains_key(weak));
    assert!(!passing(&[fence(W, W)], &[fence(R, R)]).contains_key(weak));
}

/// Firmware that starts a kernel is in order until a hart leaves M-mode. Such as is all of the software never is.
#[test]
fn firmware_that_starts_a_kernel_is_in_order() {
    let firmware = STAY.to_le_bytes();
    let storing = store_buffering(&[], &[]);
    let outcomes = |litmus: &Litmus, kernel| {
        litmus.outcomes_after(|board| {
            let profile = Profile::named("soc").expect("it comes with the board");
            let software = Software {
                firmware: &firmware,
                kernel,
                ..Software::default()
            };
            setup::boot(board, &profile, &software).expect("software that fits");
        })
    };
    let weak = [0, 0].as_slice();
    assert!(outcomes(&storing, None).contains_key(weak));
    let ordered = outcomes(&storing, Some(&firmware));
    assert!(!ordered.contains_key(weak), "{ordered:?}");
    assert!(ordered.len() > 1, "only one outcome: {ordered:?}");
    // A third hart leaves M-mode, to where it may not execute anything.
    let mut left = store_buffering(&[], &[]);
    left.harts.push(vec![MRET]);
    assert!(outcomes(&left, Some(&firmware)).contains_key(weak));
}

/// The number of lost additions when each hart adds 1 to x 40 times by `adding`.
fn counted(adding: &[u32], harts: usize, seed: u64) -> u64 {
    const TIMES: u64 = 40;
    let mut board = board(harts, seed, Pace::Fast);
    // addi t0, t0, -1; bnez t0 to the beginning
    let mut whole = adding.to_vec();
    whole.push(addi(5, -1));
    whole.push(bnez(5, -4 * whole.len() as i32));
    whole.push(STAY);
    for hart in 0..harts {
        load(&mut board, hart, &whole);
        board.set_x(hart, 5, TIMES);
    }
    let end = board.clock().time_of(10 * CYCLES);
    assert_eq!(board.run(end), Outcome::Limit);
    assert!((0..harts).all(|hart| board.x(hart, 5) == 0), "not over");
    variable(&board, 0).abs_diff(TIMES * harts as u64)
}

#[test]
fn atomics_lose_nothing() {
    for seed in 1..=20 {
        assert_eq!(counted(&[amoadd(0, ONE, X)], 4, seed), 0);
        let reserving = [lr(R1, X), add(R1, R1, ONE), sc(R2, R1, X), bnez(R2, -12)];
        assert_eq!(counted(&reserving, 4, seed), 0);
    }
}

#[test]
fn a_lock_needs_acquire_and_release() {
    // A spinlock at y: amoswap until it returns 0; x += 1; amoswap 0.
    let lock = |acquire: u32, release: u32| {
        [
            amoswap(R1, ONE, Y) | acquire,
            bnez(R1, -4),
            ld(R2, X),
            add(R2, R2, ONE),
            sd(R2, X),
            amoswap(0, 0, Y) | release,
        ]
    };
    let lost = |acquire: u32, release: u32| {
        (1..=20)
            .map(|seed| counted(&lock(acquire, release), 4, seed))
            .sum::<u64>()
    };
    assert_eq!(lost(AQ, RL), 0);
    assert!(lost(0, RL) > 0, "without acquire nothing was lost");
    assert!(lost(AQ, 0) > 0, "without release nothing was lost");
}

/// A device that reads x in memory when it is written to.
struct Reader {
    seen: Arc<AtomicU64>,
}

impl Device for Reader {
    fn read(&mut self, _: u64, _: u8, _: &mut Port<'_>) -> Result<u64, Refused> {
        Ok(0)
    }

    fn write(&mut self, _: u64, _: u8, _: u64, port: &mut Port<'_>) -> Result<(), Refused> {
        let mut bytes = [0; 8];
        port.read_memory(VARIABLES[0], &mut bytes)
            .map_err(|_| Refused)?;
        self.seen
            .store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
        Ok(())
    }
}

/// A device sees a buffer's contents if a fence of writes before output precedes its notification.
#[test]
fn devices_see_stores_behind_a_fence() {
    const DEVICE: u64 = 0x6000_0000;
    let seen = |between: Between<'_>| {
        let mut stale = 0;
        for seed in 1..=100 {
            let seen = Arc::new(AtomicU64::new(9));
            let mut board = board(1, seed, Pace::Fast);
            let device = Box::new(Reader { seen: seen.clone() });
            board.attach("reader", DEVICE, 8, device).expect("a place");
            let program = join(&[&[sd(ONE, X)], between, &[sd(ONE, Y), STAY]]);
            load(&mut board, 0, &program);
            board.set_x(0, Y as usize, DEVICE);
            board.run(board.clock().time_of(CYCLES));
            assert_ne!(seen.load(Ordering::Relaxed), 9, "it was never told");
            stale += 1 - seen.load(Ordering::Relaxed);
        }
        stale
    };
    const O: u32 = 4;
    const I: u32 = 8;
    assert!(seen(&[]) > 0);
    assert!(seen(&[fence(W, W)]) > 0);
    assert_eq!(seen(&[fence(W, O)]), 0);
    assert_eq!(seen(&[fence(O | W, I | O)]), 0);
}

/// A hart executes the code that it has written after `fence.i`.
#[test]
fn instructions_are_fetched_again_behind_a_fence() {
    let ran = |between: Between<'_>| {
        let mut old = 0;
        for seed in 1..=50 {
            let mut board = board(1, seed, Pace::Fast);
            // sw of `addi r1, r1, 2` over `addi r1, r1, 1`, which is at y.
            let program = join(&[&[0x2023 | Y << 15 | TWO << 20], between, &[0x67 | Y << 15]]);
            load(&mut board, 0, &program);
            let target = BASE + 0x2000;
            let code = [addi(R1, 1), STAY].map(u32::to_le_bytes).concat();
            board.write(target, &code).expect("memory");
            board.set_x(0, Y as usize, target);
            board.set_x(0, TWO as usize, addi(R1, 2).into());
            board.run(board.clock().time_of(CYCLES));
            old += u64::from(board.x(0, R1 as usize) == 1);
        }
        old
    };
    assert!(ran(&[]) > 0);
    assert_eq!(ran(&[FENCE_I]), 0);
}

/// A run with all harts busy, whose registers depend on the order of memory.
fn busy(seed: u64, pace: Pace) -> Board {
    let mut board = board(3, seed, pace);
    for hart in 0..3 {
        let program = [
            ld(R1, X),
            add(R2, R2, R1),
            xor(R3, R3, R2),
            sd(R2, Y),
            ld(R1, Y),
            add(R2, R2, R1),
            sd(R2, X),
            addi(R2, 3),
            bnez(ONE, -32),
        ];
        load(&mut board, hart, &program);
    }
    board
}

#[test]
fn a_seed_is_a_run() {
    for pace in [Pace::Fast, Pace::Timed] {
        let hash = |seed| {
            let mut board = busy(seed, pace);
            board.run(board.clock().time_of(20_000));
            board.trace_hash()
        };
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }
}

#[test]
fn a_run_in_slices_and_from_snapshots_is_the_same() {
    for pace in [Pace::Fast, Pace::Timed] {
        let mut whole = busy(7, pace);
        let end = whole.clock().time_of(40_000);
        whole.run(end);
        let mut sliced = busy(7, pace);
        let mut asked = 0_u64;
        while sliced.run_until(end, |_| {
            asked += 1;
            asked.is_multiple_of(3)
        }) == Outcome::Condition
        {}
        assert_eq!(whole.trace_hash(), sliced.trace_hash());
        let mut cut = busy(7, pace);
        for part in 1..=40 {
            cut.run(cut.clock().time_of(part * 1_000));
            let snapshot = cut.snapshot();
            cut = busy(7, pace);
            cut.restore(&snapshot).expect("a snapshot of this board");
        }
        assert_eq!(whole.trace_hash(), cut.trace_hash());
    }
}

#[test]
fn a_snapshot_is_of_one_memory_model() {
    let profile = Profile::named("soc").expect("it comes with the board");
    let options = Options {
        harts: Some(3),
        memory: Some(MEMORY),
        ..Options::default()
    };
    let (mut other, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    let snapshot = busy(7, Pace::Fast).snapshot();
    let refused = other.restore(&snapshot).expect_err("another model");
    assert!(refused.to_string().contains("memory model"), "{refused}");
}
