//! Memory on the chip, the L2 cache's prefetches, and the memory controller's queue of writes.

use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::memory::Place;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;
use tactus_board::timing::parameters::{Fixed, Memory, Parameters, Prefetch};
use tactus_board::timing::{LineState, Timing};

const LINE: u64 = 32;
const LEVEL2: u64 = 26;
const ONCHIP: u64 = 7;
const MEMORY: u64 = 100;
const BEGIN: u64 = 0x8000_0000;

fn soc_ocm() -> Profile {
    Profile::named("soc-ocm").expect("it comes with the crate")
}

/// `soc-ocm` with memory on the chip that costs less, main memory that always takes as long, and no prefetches.
fn parameters() -> Parameters {
    let mut parameters = soc_ocm().timing;
    parameters.memory = Memory::Fixed(Fixed {
        latency: MEMORY as u32,
        transfer: 0,
    });
    if let Some(caches) = &mut parameters.caches {
        caches.next_line = None;
    }
    if let Some(onchip) = &mut parameters.onchip {
        onchip.latency = ONCHIP as u32;
    }
    parameters
}

fn place() -> Place {
    soc_ocm().onchip.expect("the profile has it")
}

#[test]
fn lines_on_the_chip_cost_their_latency_and_no_memory() {
    let mut timing = Timing::new(&parameters(), 2, 1);
    let at = place().base;
    assert_eq!(timing.data(0, at, false, 0), ONCHIP);
    assert_eq!(timing.data(0, at, false, 100), 0);
    assert_eq!(timing.fetch(0, at + LINE, 1, 200), ONCHIP);
    assert_eq!(
        timing.fabric_access(true, at + 2 * LINE, LINE, false, 300),
        ONCHIP
    );
    assert_eq!(
        timing.fabric_access(false, at + 2 * LINE, LINE, false, 300),
        ONCHIP
    );
    timing.data(0, at + 3 * LINE, true, 400);
    assert_eq!(timing.fence(0, 3, 400), ONCHIP);
    // The L1 cache has them, the L2 cache has not.
    let held = timing.held(0, at + 3 * LINE);
    assert_eq!((held.data, held.level2), (LineState::Modified, false));
    let last = at + place().size - 1;
    assert_eq!(timing.data(0, last, false, 500), ONCHIP);
    assert_eq!(timing.data(0, last + 1, false, 600), LEVEL2 + MEMORY);
    assert_eq!(timing.data(0, at - 1, false, 700), LEVEL2 + MEMORY);
    assert_eq!(timing.counts(0).level2_misses, 2);
}

#[test]
fn lines_on_the_chip_never_make_room_and_are_never_written_back() {
    let mut timing = Timing::new(&parameters(), 2, 1);
    // All of them, dirty; then four times the L2 cache of main memory.
    for offset in (0..place().size).step_by(LINE as usize) {
        timing.data(0, place().base + offset, true, 0);
    }
    for number in 0..4 * (512 << 10) / LINE {
        timing.data(0, BEGIN + number * LINE, false, 1_000 * number);
    }
    assert_eq!(timing.counts(0).level2_write_backs, 0);
    timing.check_coherence().expect("all agree");
    let late = 1 << 40;
    for offset in (0..place().size).step_by(LINE as usize) {
        assert_eq!(timing.data(1, place().base + offset, false, late), ONCHIP);
    }
}

#[test]
fn lines_on_the_chip_are_coherent() {
    let parameters = parameters();
    let caches = parameters.caches.as_ref().expect("soc has caches");
    let intervention = u64::from(caches.intervention);
    let mut timing = Timing::new(&parameters, 2, 1);
    let at = place().base;
    timing.data(0, at, true, 0);
    assert_eq!(timing.data(1, at, false, 1_000), ONCHIP + intervention);
    assert_eq!(timing.held(0, at).data, LineState::Shared);
    timing.master_write(at, LINE, 2_000);
    assert_eq!(timing.held(0, at).data, LineState::Invalid);
    assert_eq!(timing.held(1, at).data, LineState::Invalid);
    assert_eq!(timing.data(1, at, false, 3_000), ONCHIP);
    let mut other = Timing::new(&parameters, 2, 1);
    other
        .restore(&timing.save())
        .expect("a state of the same board");
    assert_eq!(other.save(), timing.save());
}

#[test]
fn software_runs_and_is_saved_on_the_chip() {
    let profile = soc_ocm();
    let options = Options {
        harts: Some(1),
        memory: Some(1 << 20),
        ..Options::default()
    };
    let new = || -> Board {
        let board = setup::board(&profile, &options, Vec::new());
        board.expect("there is such a board").0
    };
    for pace in [Pace::Fast, Pace::Timed] {
        let mut board = new();
        // auipc a0, 0; lw a1, 24(a0); addi a1, a1, 1; sw a1, 24(a0); addi a2, a2, 1; j .-16
        let program: [u32; 6] = [
            0x0000_0517,
            0x0185_2583,
            0x0015_8593,
            0x00b5_2c23,
            0x0016_0613,
            0xff1f_f06f,
        ];
        let at = place().base + 0x1000;
        let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
        board.write(at, &bytes).expect("there is memory");
        board.set_pc(0, at);
        board.set_pace(pace);
        assert_eq!(board.run(Femtoseconds(20_000_000_000)), Outcome::Limit);
        let count = |board: &Board| {
            let mut word = [0; 4];
            board.memory().read(at + 24, &mut word).expect("memory");
            u32::from_le_bytes(word)
        };
        let before = count(&board);
        assert!(before > 100, "{before}");
        let snapshot = board.snapshot();
        let mut again = new();
        again.restore(&snapshot).expect("the same board");
        assert_eq!(count(&again), before);
        for board in [&mut board, &mut again] {
            assert_eq!(board.run(Femtoseconds(40_000_000_000)), Outcome::Limit);
        }
        assert_eq!(
            (count(&board), board.trace_hash()),
            (count(&again), again.trace_hash())
        );
        // It is apart from main memory, whose snapshot it does not fit.
        assert!(!board.memory().holds(place().base + place().size, 1));
        let mut soc = profile.clone();
        (soc.onchip, soc.timing.onchip) = (None, None);
        let (mut soc, _) = setup::board(&soc, &options, Vec::new()).expect("a board");
        assert!(soc.restore(&snapshot).is_err());
    }
}

#[test]
fn the_line_behind_a_fetched_one_is_read() {
    let mut parameters = parameters();
    let caches = parameters.caches.as_mut().expect("soc has caches");
    caches.next_line = Some(Prefetch { outstanding: 2 });
    let mut timing = Timing::new(&parameters, 2, 1);
    assert_eq!(timing.fetch(0, BEGIN, 1, 0), LEVEL2 + MEMORY);
    assert!(timing.held(0, BEGIN + LINE).level2);
    assert!(!timing.held(0, BEGIN + 2 * LINE).level2);
    // It was asked for as soon as the L2 cache had looked for the first one, and is there now.
    assert_eq!(timing.fetch(0, BEGIN + LINE, 1, 200), LEVEL2);
    // The next one is on its way.
    assert_eq!(
        timing.fetch(0, BEGIN + 2 * LINE, 1, 226),
        LEVEL2 + MEMORY - LEVEL2
    );
    // No line beyond the page of 4 KiB, none for data, and no more at once than there may be.
    timing.fetch(0, BEGIN + 4096 - LINE, 1, 1_000);
    assert!(!timing.held(0, BEGIN + 4096).level2);
    timing.data(0, BEGIN + 0x2000, false, 2_000);
    assert!(!timing.held(0, BEGIN + 0x2000 + LINE).level2);
    for number in 3..6 {
        timing.fetch(0, BEGIN + number * 4096, 1, 3_000);
        assert_eq!(
            timing.held(0, BEGIN + number * 4096 + LINE).level2,
            number < 5
        );
    }
    // None is read that is on the chip.
    let before = timing.counts(0).level2_misses;
    timing.fetch(0, place().base, 1, 4_000);
    assert_eq!(timing.counts(0).level2_misses, before);
}

/// The memory of `soc-ocm`, whose controller queues that many writes and carries them out after that time.
fn queued(write_queue: u32, write_idle: u32) -> Timing {
    let mut parameters = parameters();
    parameters.memory = soc_ocm().timing.memory;
    let Memory::OpenRow(row) = &mut parameters.memory else {
        panic!("{:?}", parameters.memory);
    };
    (row.write_queue, row.write_idle) = (write_queue, write_idle);
    Timing::new(&parameters, 1, 1)
}

/// Costs of `soc`: from an L1 miss to the line from a row that is open, and from a bank with another row open.
const HIT: u64 = 26 + 34 + 14;
const CONFLICT: u64 = 26 + 34 + 31;
/// A way of the L2 cache. Lines so far apart share a set, and since a row of each bank is half of it, a bank.
const WAY: u64 = 64 << 10;

/// Fills a way's length of lines one after the other, each in place of a dirty one: what the last 100 took on average,
/// with `pause` cycles between one and the next.
fn fills(timing: &mut Timing, pause: u64) -> u64 {
    let mut now = 0;
    for number in 0..8 * WAY / LINE {
        timing.data(0, BEGIN + number * LINE, true, now);
        now += 1_000;
    }
    let mut sum = 0;
    for number in 0..100 {
        let stall = timing.data(0, BEGIN + 64 * WAY + number * LINE, false, now);
        sum += stall;
        now += stall + pause;
    }
    sum / 100
}

/// A write-back is in the bank of the line that is filled, and so closes its row, unless it waits.
#[test]
fn a_write_back_closes_the_row_unless_it_is_queued() {
    assert_eq!(fills(&mut queued(0, 0), 1), CONFLICT);
    assert_eq!(fills(&mut queued(256, 158), 1), HIT);
    // As soon as the controller has nothing else to do, it writes.
    assert_eq!(fills(&mut queued(256, 2), 1), CONFLICT);
    assert_eq!(fills(&mut queued(256, 158), 1_000), CONFLICT);
}

#[test]
fn a_full_queue_is_written_at_once() {
    let queue = fills(&mut queued(32, 158), 1);
    assert!((HIT + 1..CONFLICT).contains(&queue), "{queue}");
}
