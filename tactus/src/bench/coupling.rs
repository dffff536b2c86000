//! How fast the board is with a fabric, in host time: while that is at work, and by how much one that has nothing to do
//! slows it.
//!
//! The programs run without firmware, on two harts of the profile `soc`; the design is `mover`. Each figure is the
//! median over some trials, of the pace at which it is worse.

use std::path::Path;

use tactus_board::board::{Board, Pace};
use tactus_board::fabric::Model;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

use super::board::host::{Stopwatch, Whose};
use super::experiment::Coupling;
use crate::artifacts::Artifacts;

/// Where memory begins, and harts without firmware.
const MEMORY: u64 = 0x8000_0000;
const MEMORY_BYTES: u64 = 4 << 20;
/// What the fabric is loaded with.
const DESIGN: &str = "mover";
/// Odd, so that there is one in the middle.
const TRIALS: usize = 11;
/// Virtual time of a trial: 5 ms.
const LIMIT: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 200);
const PACES: [Pace; 2] = [Pace::Fast, Pace::Timed];

/// The figure: thousands of cycles in a second, or percent.
///
/// # Errors
/// There is no such board or design, or the program did something else than it should; says why.
pub fn measure(what: Coupling) -> Result<f64, String> {
    let file = Artifacts::chosen()
        .model(DESIGN)
        .map_err(|missing| missing.reason)?;
    let figure = match what {
        Coupling::Active => active,
        Coupling::Quiet => quiet,
    };
    let [fast, timed] = PACES.map(|pace| figure(&file, pace));
    let (fast, timed) = (fast?, timed?);
    Ok(match what {
        Coupling::Active => fast.min(timed),
        Coupling::Quiet => fast.max(timed),
    })
}

fn active(file: &Path, pace: Pace) -> Result<f64, String> {
    let trial = || {
        let mut board = board(Some(file), pace, &moving())?;
        let seconds = seconds(&mut board);
        let activity = board.fabric().ok_or("there is no fabric")?.activity();
        if activity.acp.1 == 0 {
            return Err("the fabric moved nothing".to_owned());
        }
        Ok(activity.simulated as f64 / seconds / 1e3)
    };
    median(trial)
}

fn quiet(file: &Path, pace: Pace) -> Result<f64, String> {
    let program = computing();
    // In turns, each beside the other.
    let trial = || {
        let alone = seconds(&mut board(None, pace, &program)?);
        let with = seconds(&mut board(Some(file), pace, &program)?);
        Ok(100.0 * (with / alone - 1.0))
    };
    median(trial)
}

/// The middle one of all trials: what disturbs one of them disturbs few.
fn median(trial: impl Fn() -> Result<f64, String>) -> Result<f64, String> {
    let figures: Result<Vec<f64>, String> = (0..TRIALS).map(|_| trial()).collect();
    let mut figures = figures?;
    figures.sort_by(f64::total_cmp);
    Ok(figures[TRIALS / 2])
}

/// Host time that a trial takes.
fn seconds(board: &mut Board) -> f64 {
    let watch = Stopwatch::start(Whose::Thread);
    board.run(LIMIT);
    watch.read(watch.wall()).cpu.as_secs_f64()
}

fn board(model: Option<&Path>, pace: Pace, program: &[u32]) -> Result<Board, String> {
    let profile = Profile::named("soc").ok_or("there is no profile `soc`")?;
    let options = Options {
        memory: Some(MEMORY_BYTES),
        ..Options::default()
    };
    let (mut board, _) =
        setup::board(&profile, &options, Vec::new()).map_err(|error| error.to_string())?;
    if let Some(file) = model {
        let model = Model::load(file).map_err(|error| error.to_string())?;
        setup::load_fabric(&mut board, &profile, Box::new(model))
            .map_err(|error| error.to_string())?;
    }
    let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    board
        .write(MEMORY, &bytes)
        .map_err(|_| "the program has no room")?;
    (0..board.harts()).for_each(|hart| board.set_pc(hart, MEMORY));
    board.set_pace(pace);
    Ok(board)
}

/// Harts that compute, in registers and in memory.
fn computing() -> Vec<u32> {
    let mut program = vec![0x0010_0417]; // auipc s0, 0x100: 1 MiB ahead
    for step in 0..8 {
        let place = 8 * step;
        program.extend([
            place << 20 | 0x0004_3283,                          // ld   t0, place(s0)
            0x0053_0333,                                        // add  t1, t1, t0
            0x0033_0313,                                        // addi t1, t1, 3
            place >> 5 << 25 | (place & 31) << 7 | 0x0064_3023, // sd   t1, place(s0)
        ]);
    }
    program.push(0xf81f_f06f); // j the first ld, 32 instructions back
    program
}

/// Harts that let the design write one burst of 8 words to memory after the other.
fn moving() -> Vec<u32> {
    vec![
        0x4000_0437, // lui   s0, 0x40000: the design's registers
        0x0020_0297, // auipc t0, 0x200: 2 MiB ahead
        0x0054_2223, // sw    t0, 4(s0): the address
        0x0310_0293, // li    t0, 1 | 3 << 4: a write, of 8 words
        0x0054_2423, // sw    t0, 8(s0): begin
        0x00c4_2303, // lw    t1, 12(s0)
        0xff9f_f06f, // j     begin
    ]
}
