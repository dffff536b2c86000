//! Prints how fast the fabric is simulated while it is at work, and by how much one that is quiet slows the board.
//!
//! `cargo run --release -p tactus-board --example fabric_speed -- MOVER.so`, where `fabric/flow.py model mover` prints
//! the model's file.

#[path = "assembler/mod.rs"]
mod assembler;

use std::path::Path;

use assembler::{Program, S0, T0, T1, ZERO};
use tactus_board::board::{Board, Pace};
use tactus_board::fabric::Model;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

const MEMORY: u32 = 0x8000_0000;
const TRIALS: usize = 51;
/// 20 ms.
const LIMIT: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 50);

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

/// Seconds that this thread has had of a processor.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds: f64 = text
        .split(' ')
        .next()
        .and_then(|first| first.parse().ok())
        .expect("a number");
    nanoseconds / 1e9
}

/// Seconds that 20 ms of virtual time take.
fn seconds(mut board: Board) -> f64 {
    let begin = cpu_seconds();
    board.run(LIMIT);
    cpu_seconds() - begin
}

/// The median of a figure over all trials: what disturbs one of them disturbs few.
fn median(figure: impl Fn() -> f64) -> f64 {
    let mut figures: Vec<f64> = (0..TRIALS).map(|_| figure()).collect();
    figures.sort_by(f64::total_cmp);
    figures[TRIALS / 2]
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
        // In turns, each beside the other.
        let slower = median(|| {
            let alone = seconds(board(None, pace, &computing));
            seconds(board(Some(file), pace, &computing)) / alone
        });
        println!(
            "{pace:?}: a quiet fabric slows the board by {:.2} %",
            100.0 * (slower - 1.0)
        );
        let active = median(|| seconds(board(Some(file), pace, &moving)));
        let mut one = board(Some(file), pace, &moving);
        one.run(LIMIT);
        let activity = one.fabric().expect("a fabric").activity();
        println!(
            "{pace:?}: {:.0} thousand cycles of an active fabric per second; simulated were {} of {}",
            activity.simulated as f64 / active / 1e3,
            activity.simulated,
            activity.cycles
        );
    }
}
