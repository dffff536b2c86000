//! Taking another board's state: the same as by a snapshot, and neither board has anything of the other from then on.

use tactus_board::board::Board;
use tactus_board::profile::Profile;
use tactus_board::setup;

const BASE: u64 = 0x8000_0000;
/// addi a0, a0, 1; sd a0, 0(a1); j .-8
const COUNT: [u32; 3] = [0x0015_0513, 0x00a5_b023, 0xff9f_f06f];

fn board() -> Board {
    let profile = Profile::named("mpsoc").expect("a profile");
    let options = setup::Options {
        harts: Some(1),
        memory: Some(1 << 20),
        ..Default::default()
    };
    let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    let code: Vec<u8> = COUNT.iter().flat_map(|word| word.to_le_bytes()).collect();
    board.write(BASE, &code).expect("memory");
    board.set_pc(0, BASE);
    board.set_x(0, 11, BASE + 0x8000);
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
