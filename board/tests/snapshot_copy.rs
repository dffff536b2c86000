//! Taking another board's state: the same as by a snapshot, and neither board has anything of the other from then on.

use tactus_board::board::{Board, Pace};
use tactus_board::profile::Profile;
use tactus_board::setup;

const BASE: u64 = 0x8000_0000;
/// addi a0, a0, 1; sd a0, 0(a1); j .-8
const COUNT: [u32; 3] = [0x0015_0513, 0x00a5_b023, 0xff9f_f06f];

fn board() -> Board {
    board_of(&Profile::named("mpsoc").expect("a profile"), 1)
}

fn board_of(profile: &Profile, harts: usize) -> Board {
    let options = setup::Options {
        harts: Some(harts),
        memory: Some(1 << 20),
        ..Default::default()
    };
    let (mut board, _) = setup::board(profile, &options, Vec::new()).expect("a board");
    let code: Vec<u8> = COUNT.iter().flat_map(|word| word.to_le_bytes()).collect();
    board.write(BASE, &code).expect("memory");
    for hart in 0..harts {
        board.set_pc(hart, BASE);
        board.set_x(hart, 11, BASE + 0x8000);
    }
    board
}

fn word(board: &Board, address: u64) -> u64 {
    let mut bytes = [0; 8];
    board.memory().read(address, &mut bytes).expect("memory");
    u64::from_le_bytes(bytes)
}

#[test]
fn a_copy_goes_on_as_the_board_that_it_is_of() {
    let mut first = board();
    let clock = first.clock();
    first.run(clock.time_of(1000));
    let snapshot = first.snapshot();
    // What is only in the copy is gone.
    let mut second = board();
    second.write(BASE + 0xf_0000, &[7; 16]).expect("memory");
    second.copy_from(&mut first).expect("a board like it");
    assert_eq!(word(&second, BASE + 0xf_0000), 0);
    assert_eq!(second.trace_hash(), first.trace_hash());
    assert!(second.snapshot() == snapshot);
    // Each goes on by itself.
    second.run(clock.time_of(3000));
    assert!(word(&second, BASE + 0x8000) > word(&first, BASE + 0x8000));
    first.run(clock.time_of(3000));
    assert_eq!(second.trace_hash(), first.trace_hash());
    // Code that is written later is the copy's alone.
    second
        .write(BASE, &0x0000_006f_u32.to_le_bytes())
        .expect("memory");
    first.run(clock.time_of(4000));
    second.run(clock.time_of(4000));
    assert!(first.x(0, 10) > second.x(0, 10));
}

/// Memory is shared until it is written: by the board that is copied, by its copies, and by theirs; and again when so
/// much has been written that all of it is frozen once more.
#[test]
fn copies_of_copies_have_memories_of_their_own() {
    const PAGES: u64 = 256;
    let page = |number: u64| BASE + number * 4096;
    let fill = |board: &mut Board, pages: std::ops::Range<u64>, value: u64| {
        for number in pages {
            board
                .write(page(number), &value.to_le_bytes())
                .expect("memory");
        }
    };
    let has = |board: &Board| -> Vec<u64> {
        (0..PAGES).map(|number| word(board, page(number))).collect()
    };
    let mut boards = vec![board()];
    fill(&mut boards[0], 1..PAGES, 1);
    let mut wanted = vec![has(&boards[0])];
    for round in 2..40_u64 {
        let (from, of) = ((round * 7 % boards.len() as u64) as usize, boards.len());
        let mut copy = board();
        fill(&mut copy, round..PAGES, 1000 + round);
        copy.copy_from(&mut boards[from]).expect("a board like it");
        assert!(
            copy.snapshot() == boards[from].snapshot(),
            "copy {of} of {from}"
        );
        boards.push(copy);
        wanted.push(wanted[from].clone());
        // Now a few pages, now nearly all: of the copy and of another board.
        let few = 1..1 + round % 5 * PAGES / 5;
        for (at, board) in [(of, round), (round as usize * 3 % of, 100 + round)] {
            fill(&mut boards[at], few.clone(), board);
            wanted[at] = has(&boards[at]);
            assert!(
                few.clone()
                    .all(|number| wanted[at][number as usize] == board)
            );
        }
    }
    for (at, (board, wanted)) in boards.iter().zip(&wanted).enumerate() {
        assert_eq!(has(board), *wanted, "board {at}");
    }
}

/// What the models of caches, TLBs, predictors and memory have seen goes along: the copy takes as many cycles.
#[test]
fn a_copy_takes_as_long_as_the_board_that_it_is_of() {
    let profile = Profile::named("soc").expect("a profile");
    let mut first = board_of(&profile, 2);
    let clock = first.clock();
    first.set_pace(Pace::Timed);
    // Another has seen other lines.
    let mut second = board_of(&profile, 2);
    second.set_pace(Pace::Timed);
    second.set_x(0, 11, BASE + 0xa000);
    second.run(clock.time_of(5_000));
    for cycles in [10_000, 20_000] {
        first.run(clock.time_of(cycles));
        second.copy_from(&mut first).expect("a board like it");
        assert!(second.snapshot() == first.snapshot());
    }
    for board in [&mut first, &mut second] {
        board.run(clock.time_of(50_000));
    }
    assert_eq!(second.trace_hash(), first.trace_hash());
    for hart in 0..2 {
        assert!(first.counts(hart).store_misses > 0, "both write one line");
        assert_eq!(second.counts(hart), first.counts(hart));
    }
    assert!(second.snapshot() == first.snapshot());
}

#[test]
fn a_board_with_other_costs_is_refused() {
    let profile = Profile::named("soc").expect("a profile");
    let mut slower = profile.clone();
    slower.timing.pipeline.trap += 1;
    let mut board = board_of(&profile, 1);
    let before = board.snapshot();
    let refused = board.copy_from(&mut board_of(&slower, 1));
    let error = refused.expect_err("another profile").to_string();
    assert!(error.contains("of another profile"), "{error}");
    assert!(board.snapshot() == before);
}

#[test]
fn a_board_that_is_another_one_is_refused() {
    let profile = Profile::named("mpsoc").expect("a profile");
    let options = setup::Options {
        harts: Some(2),
        memory: Some(1 << 20),
        ..Default::default()
    };
    let (mut other, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    let mut board = board();
    let before = board.snapshot();
    assert!(board.copy_from(&mut other).is_err());
    assert!(board.snapshot() == before);
}
