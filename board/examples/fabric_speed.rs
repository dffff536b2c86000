//! Prints how fast the fabric is simulated while it is at work, and by how much one that is quiet slows the board.
//!
//! `cargo run --release -p tactus-board --example fabric_speed -- MOVER.so`, where `fabric/flow.py model mover` prints
//! the model's file.

#[path = "assembler/mod.rs"]
mod assembler;

use std::path::Path;
use std::time::Instant;

use assembler::{Program, S0, T0, T1, ZERO};
use tactus_board::board::{Board, Pace};
use tactus_board::fabric::Model;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

const MEMORY: u32 = 0x8000_0000;
/// The best of so many trials counts: what disturbs a trial only makes it longer.
const TRIALS: usize = 7;

fn board(model: Option<&Path>, pace: Pace, program: &Program) -> Board {
    let profile = Profile::named("soc").expect("it comes with the crate");
    let options = Options {
        memory: Some(4 << 20),
        ..Options::default()
    };
    let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    if let Some(file) = model {
        let model = Box::new(Model::load(file).expect("a model"));
        setup::load_fabric(&mut board, &profile, model).expect("a fabric");
    }
    board
        .write(MEMORY.into(), &program.bytes())
        .expect("memory");
    (0..board.harts()).for_each(|hart| board.set_pc(hart, MEMORY.into()));
    board.set_pace(pace);
    board
}

/// Host seconds of so much virtual time, the least of the trials.
fn seconds(mut board: impl FnMut() -> Board, milliseconds: u64) -> f64 {
    let limit = Femtoseconds(Femtoseconds::SECOND.0 / 1000 * milliseconds);
    let trial = |_| {
        let mut board = board();
        let begin = Instant::now();
        board.run(limit);
        begin.elapsed().as_secs_f64()
    };
    (0..TRIALS).map(trial).fold(f64::INFINITY, f64::min)
}

/// Two harts that compute, in registers and in memory.
fn computing() -> Program {
    let mut p = Program::new();
    p.li(S0, MEMORY + 0x10_0000);
    let again = p.here();
    for step in 0..8 {
        p.ld(T0, 8 * step, S0);
        p.add(T1, T1, T0);
        p.addi(T1, T1, 3);
        p.sd(T1, 8 * step, S0);
    }
    p.bne(S0, ZERO, again);
    p
}

/// Harts that let the design move one burst after the other.
fn moving() -> Program {
    let mut p = Program::new();
    p.li(S0, 0x4000_0000);
    p.li(T0, MEMORY + 0x20_0000);
    p.sw(T0, 4, S0);
    p.li(T0, 1 | 3 << 4);
    let again = p.here();
    p.sw(T0, 8, S0);
    p.lw(T1, 0xc, S0);
    p.j(again);
    p
}

fn main() {
    let file = std::env::args()
        .nth(1)
        .expect("the file of the model of `mover`");
    let file = Path::new(&file);
    let (computing, moving) = (computing(), moving());
    for pace in [Pace::Fast, Pace::Timed] {
        let alone = seconds(|| board(None, pace, &computing), 20);
        let quiet = seconds(|| board(Some(file), pace, &computing), 20);
        println!(
            "{pace:?}: a quiet fabric slows the board by {:.2} %",
            100.0 * (quiet / alone - 1.0)
        );
        let active = seconds(|| board(Some(file), pace, &moving), 20);
        let mut one = board(Some(file), pace, &moving);
        one.run(Femtoseconds(Femtoseconds::SECOND.0 / 50));
        let activity = one.fabric().expect("a fabric").activity();
        println!(
            "{pace:?}: {:.0} thousand cycles of an active fabric per second; simulated were {} of {}",
            activity.simulated as f64 / active / 1e3,
            activity.simulated,
            activity.cycles
        );
    }
}
