//! Observation does not change a run: probes, stops, slices and snapshots keep instructions, cycles and the trace hash.
//!
//! In the timed mode, too, where each cycle depends on operations in progress.

use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

/// Where programs begin.
const BEGIN: u64 = 0x8000_0000;
/// The length of the runs, in cycles.
const CYCLES: u64 = 20_000;

/// A loop with multiplications, a division, loads and stores and a call. Every fourth round has an atomic addition to a
/// word that all harts share:
///
/// ```text
///     csrr t0, mhartid
///     slli t0, t0, 12
///     li t1, 0x80010000
///     add t1, t1, t0
///     li s0, 0
/// 1:  mul s1, s0, s0
///     mul s2, s1, s0
///     add s3, s1, s2
///     andi t2, s0, 0x7f8
///     add t3, t1, t2
///     sd s3, 0(t3)
///     ld s4, 8(t3)
///     add s5, s4, s4
///     div s6, s3, s0
///     jal ra, 2f
///     addi s0, s0, 1
///     andi t4, s0, 3
///     bnez t4, 1b
///     li t5, 0x80020000
///     amoadd.d t6, s0, (t5)
///     j 1b
/// 2:  xor s7, s5, s6
///     lw s8, 0(t3)
///     ret
/// ```
const PROGRAM: &[u8] = &[
    0xf3, 0x22, 0x40, 0xf1, 0xb2, 0x02, 0x21, 0x63, 0x05, 0x23, 0x42, 0x03, 0x16, 0x93, 0x01, 0x44,
    0xb3, 0x04, 0x84, 0x02, 0x33, 0x89, 0x84, 0x02, 0xb3, 0x89, 0x24, 0x01, 0x93, 0x73, 0x84, 0x7f,
    0x33, 0x0e, 0x73, 0x00, 0x23, 0x30, 0x3e, 0x01, 0x03, 0x3a, 0x8e, 0x00, 0xb3, 0x0a, 0x4a, 0x01,
    0x33, 0xcb, 0x89, 0x02, 0xef, 0x00, 0xa0, 0x01, 0x05, 0x04, 0x93, 0x7e, 0x34, 0x00, 0xe3, 0x99,
    0x0e, 0xfc, 0x11, 0x6f, 0x05, 0x2f, 0x46, 0x0f, 0xaf, 0x3f, 0x8f, 0x00, 0xd1, 0xb7, 0xb3, 0xcb,
    0x6a, 0x01, 0x03, 0x2c, 0x0e, 0x00, 0x82, 0x80,
];

/// A loop of loads and stores that hit. Every sixteenth round has an atomic addition to a word that all harts share. A
/// timer interrupts it at each tick; how the turns of harts end depends on it:
///
/// ```text
///     csrr t0, mhartid
///     slli t0, t0, 12
///     li t1, 0x80010000
///     add t1, t1, t0
///     li t5, 0x80020000
/// 1:  ld s1, 0(t1)
///     ld s2, 8(t1)
///     sd s1, 16(t1)
///     addi s0, s0, 1
///     andi t4, s0, 15
///     bnez t4, 1b
///     amoadd.d t6, s0, (t5)
///     j 1b
/// 2:  csrr t2, time
///     addi t2, t2, 1
///     csrw stimecmp, t2
///     mret
/// ```
const INTERRUPTED: &[u8] = &[
    0xf3, 0x22, 0x40, 0xf1, 0xb2, 0x02, 0x21, 0x63, 0x05, 0x23, 0x42, 0x03, 0x16, 0x93, 0x11, 0x6f,
    0x05, 0x2f, 0x46, 0x0f, 0x83, 0x34, 0x03, 0x00, 0x03, 0x39, 0x83, 0x00, 0x23, 0x38, 0x93, 0x00,
    0x05, 0x04, 0x93, 0x7e, 0xf4, 0x00, 0xe3, 0x97, 0x0e, 0xfe, 0xaf, 0x3f, 0x8f, 0x00, 0xdd, 0xb7,
    0xf3, 0x23, 0x10, 0xc0, 0x85, 0x03, 0x73, 0x90, 0xd3, 0x14, 0x73, 0x00, 0x20, 0x30,
];
/// Where its handler begins, which is label 2: bytes from its begin.
const HANDLER: u64 = 0x30;

/// A board that is about to run the program.
fn board(harts: usize, pace: Pace) -> Board {
    let profile = Profile::named("soc").expect("it comes with the board");
    let options = Options {
        harts: Some(harts),
        memory: Some(1 << 20),
        ..Options::default()
    };
    let (mut board, _) =
        setup::board(&profile, &options, Vec::new()).expect("there is such a board");
    board.write(BEGIN, PROGRAM).expect("there is memory");
    for hart in 0..harts {
        board.set_pc(hart, BEGIN);
    }
    board.set_pace(pace);
    board
}

/// The state at the end of a run: the hash, and instructions, cycle and pc of each hart.
type Place = (u64, Vec<(u64, u64, u64)>);

fn place(board: &Board) -> Place {
    let harts = 0..board.harts();
    let harts = harts.map(|hart| (board.instructions(hart), board.cycle(hart), board.pc(hart)));
    (board.trace_hash(), harts.collect())
}

fn time(board: &Board, cycle: u64) -> Femtoseconds {
    board.clock().time_of(cycle)
}

fn whole(mut board: Board) -> Place {
    let end = time(&board, CYCLES);
    assert_eq!(board.run(end), Outcome::Limit);
    place(&board)
}

/// Runs the board in slices of `length` cycles, and calls `between` after each.
fn sliced(mut board: Board, length: u64, mut between: impl FnMut(&mut Board)) -> Place {
    let mut at = 0;
    while at < CYCLES {
        at = (at + length).min(CYCLES);
        let end = time(&board, at);
        assert_eq!(board.run(end), Outcome::Limit);
        between(&mut board);
    }
    place(&board)
}

/// Calls `check` for one and several harts in both modes, with the end state of the undisturbed run.
fn for_all(check: impl Fn(usize, Pace, &Place)) {
    for harts in [1, 2, 4] {
        for pace in [Pace::Fast, Pace::Timed] {
            let undisturbed = whole(board(harts, pace));
            let (instructions, cycle, _) = undisturbed.1[0];
            assert!(
                cycle >= CYCLES && instructions > CYCLES / 20,
                "it ran: {undisturbed:x?}"
            );
            check(harts, pace, &undisturbed);
        }
    }
}

#[test]
fn by_slices() {
    for_all(|harts, pace, undisturbed| {
        for length in [1, 7, 97, 1000, 4999] {
            let found = sliced(board(harts, pace), length, |_| {});
            assert_eq!(
                found, *undisturbed,
                "{harts} harts, {pace:?}, slices of {length}"
            );
        }
    });
}

#[test]
fn by_probes() {
    for_all(|harts, pace, undisturbed| {
        let mut board = board(harts, pace);
        // Each instruction, and addresses without one.
        for offset in (0..PROGRAM.len() as u64 + 64).step_by(2) {
            board.probe(BEGIN + offset);
        }
        let end = time(&board, CYCLES);
        assert_eq!(board.run(end), Outcome::Limit);
        assert_eq!(place(&board), *undisturbed, "{harts} harts, {pace:?}");
        let (events, lost) = board.take_events();
        assert_eq!(lost, 0);
        let instructions: u64 = undisturbed.1.iter().map(|hart| hart.0).sum();
        assert_eq!(
            events.len() as u64,
            instructions,
            "each instruction is seen once"
        );
    });
}

#[test]
fn by_stops() {
    for_all(|harts, pace, undisturbed| {
        let mut board = board(harts, pace);
        board.stop_at(BEGIN + 0x2c);
        let mut stops = 0;
        let end = time(&board, CYCLES);
        loop {
            match board.run(end) {
                Outcome::Limit => break,
                Outcome::Breakpoint { pc, .. } => assert_eq!(pc, BEGIN + 0x2c),
                other => panic!("{other}"),
            }
            stops += 1;
            if stops % 5 == 0 {
                // Stops that are removed and set again.
                board.remove_stop(BEGIN + 0x2c);
                board.stop_at(BEGIN + 0x2c);
            }
        }
        assert!(stops > 10, "it stopped {stops} times");
        assert_eq!(place(&board), *undisturbed, "{harts} harts, {pace:?}");
    });
}

#[test]
fn by_snapshots() {
    for_all(|harts, pace, undisturbed| {
        for length in [333, 1999] {
            let found = sliced(board(harts, pace), length, |running| {
                let snapshot = running.snapshot();
                let mut other = board(harts, Pace::Fast);
                other
                    .restore(&snapshot)
                    .expect("it is of a board like this");
                *running = other;
            });
            assert_eq!(
                found, *undisturbed,
                "{harts} harts, {pace:?}, snapshots each {length} cycles"
            );
        }
    });
}

/// Who follows uses has each access looked at, so that none goes the short way of those that cost nothing.
#[test]
fn by_followers_of_uses() {
    let interrupted = |harts| {
        let mut board = board(harts, Pace::Timed);
        board.write(BEGIN, INTERRUPTED).expect("there is memory");
        for hart in 0..harts {
            // mtvec; menvcfg.STCE; stimecmp; mie.STIE; mstatus.MIE.
            for (number, value) in [
                (0x305, BEGIN + HANDLER),
                (0x30a, 1 << 63),
                (0x14d, 1),
                (0x304, 1 << 5),
                (0x300, 1 << 3),
            ] {
                board.set_csr(hart, number, value).expect("a CSR");
            }
        }
        board
    };
    for harts in [1, 2, 4] {
        let run = |follows: bool| {
            let mut board = interrupted(harts);
            if follows {
                let memory = BEGIN..BEGIN + (1 << 20);
                board.follow_uses(std::slice::from_ref(&memory));
            }
            let end = time(&board, 20 * CYCLES);
            assert_eq!(board.run(end), Outcome::Limit);
            assert_eq!(board.take_uses().is_some(), follows);
            let interrupts = board.csr(0, 0x14d).expect("stimecmp");
            assert!(interrupts > CYCLES / 10, "{interrupts} ticks");
            place(&board)
        };
        assert_eq!(run(true), run(false), "{harts} harts");
    }
}
