//! Injects faults into a run and sees what the guest does about them.
//!
//! The guest adds up a table again and again, and knows what has to come out. When something else does, it copies
//! the table from a spare, counts that, and adds up again; when that does not help either, it reports failure. So it
//! survives a bit that flips in its table. What of one that flips in the spare, or in a register?
//!
//! `cargo run -p tactus-board --example fault`

mod assembler;

use assembler::{A0, A1, A2, A3, A4, Program, S0, S1, S2, S3, S4, T0, T1, ZERO};
use tactus_board::board::{Board, Outcome};
use tactus_board::bus::Stop;
use tactus_board::fault::{Fault, Register};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};

const MEMORY: u64 = 0x8000_0000;
const TABLE: u64 = 0x8000_1000;
const SPARE: u64 = 0x8000_1100;
/// Numbers in the table.
const COUNT: u32 = 16;
/// What they add up to: 1 + 2 + ... + 16.
const SUM: u32 = COUNT * (COUNT + 1) / 2;
/// How often it adds them up.
const ROUNDS: u32 = 20;
const FINISHER: u32 = 0x0010_0000;

/// What the hart runs.
fn program() -> Vec<u8> {
    let mut p = Program::new();
    p.li(S0, TABLE as u32);
    p.li(S1, SPARE as u32);
    p.li(S2, SUM);
    p.li(S3, ROUNDS);
    p.li(S4, 0); // repairs so far
    p.li(A3, 0); // whether the table was repaired in this round
    let round = p.here();
    // a0 = the sum of the table.
    p.li(A0, 0);
    p.addi(T0, S0, 0);
    p.addi(T1, S0, 8 * COUNT as i32);
    let add = p.here();
    p.ld(A1, 0, T0);
    p.add(A0, A0, A1);
    p.addi(T0, T0, 8);
    p.bne(T0, T1, add);
    let wrong = p.room();
    p.li(A3, 0);
    p.addi(S3, S3, -1);
    p.bne(S3, ZERO, round);
    // All rounds are done: power off.
    p.li(A4, 0x5555);
    let done = p.room();

    let place = p.here();
    p.fill(wrong, |p| p.bne(A0, S2, place));
    let again = p.room();
    p.li(A3, 1);
    p.addi(S4, S4, 1);
    p.addi(T0, S0, 0);
    p.addi(A2, S1, 0);
    let copy = p.here();
    p.ld(A1, 0, A2);
    p.sd(A1, 0, T0);
    p.addi(A2, A2, 8);
    p.addi(T0, T0, 8);
    p.bne(T0, T1, copy);
    p.j(round);

    // Wrong again in spite of the repair: report failure 7.
    let place = p.here();
    p.fill(again, |p| p.bne(A3, ZERO, place));
    p.li(A4, 7 << 16 | 0x3333);
    let place = p.here();
    p.fill(done, |p| p.j(place));
    p.li(T0, FINISHER);
    p.sw(A4, 0, T0);
    p.bytes()
}

/// A run to its end, or as long as any sound run takes ten times.
fn run(board: &mut Board) -> Outcome {
    board.run(board.clock().time_of(100_000))
}

/// Runs the guest without a fault, and then with one after the other.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profile = Profile::named("mpsoc").ok_or("no such profile")?;
    let options = Options {
        harts: Some(1),
        memory: Some(1 << 20),
        ..Options::default()
    };
    let (mut board, _console) = setup::board(&profile, &options, Vec::new())?;
    let table: Vec<u8> = (1..=u64::from(COUNT)).flat_map(u64::to_le_bytes).collect();
    for place in [TABLE, SPARE] {
        board.write(place, &table)?;
    }
    board.write(MEMORY, &program())?;
    board.set_pc(0, MEMORY);

    // 1. Every run begins here. A snapshot has all of the board's state, planned faults too.
    let begin = board.snapshot();

    // 2. The run that all others are compared with.
    assert_eq!(run(&mut board), Outcome::Stop(Stop::PowerOff));
    let (sound, cycles) = (board.trace_hash(), board.cycle(0));
    println!("no fault: {cycles} cycles, trace {sound:016x}");

    // 3. One fault each, in the middle of the run.
    let at = board.clock().time_of(cycles / 2);
    let register = |register, bits| Fault::Register {
        hart: 0,
        register,
        bits,
    };
    let faults = [
        (
            "a bit in the table",
            Fault::Memory {
                address: TABLE + 8,
                bits: 1 << 4,
            },
        ),
        (
            "a bit in the spare",
            Fault::Memory {
                address: SPARE + 8,
                bits: 1 << 4,
            },
        ),
        (
            "a bit of a0, the sum",
            register(Register::X(A0 as u8), 1 << 7),
        ),
        ("a bit of a3, just 0", register(Register::X(A3 as u8), 1)),
        (
            "a bit of s1, the spare's address",
            register(Register::X(S1 as u8), 1 << 5),
        ),
        (
            "a bit of s2, the right sum",
            register(Register::X(S2 as u8), 1),
        ),
        (
            "a bit of s3, the rounds to go",
            register(Register::X(S3 as u8), 1 << 33),
        ),
        ("a high bit of pc", register(Register::Pc, 1 << 40)),
    ];
    let mut seen = Vec::new();
    for (name, fault) in faults {
        board.restore(&begin)?;
        board.inject(at, fault)?;
        let outcome = run(&mut board);
        let effect = match outcome {
            // The trace has all that happened, and the registers at the end.
            Outcome::Stop(Stop::PowerOff) if board.trace_hash() == sound => {
                "nothing happens".to_owned()
            }
            Outcome::Stop(Stop::PowerOff) if board.x(0, S4 as usize) != 0 => {
                format!("repaired, {} cycles later", board.cycle(0) - cycles)
            }
            Outcome::Stop(Stop::PowerOff) => "not noticed, and nothing to repair".to_owned(),
            Outcome::Stop(Stop::Failure(code)) => format!("given up with code {code}"),
            _ => format!("hangs at {:#x}", board.pc(0)),
        };
        println!("{name:<34} {effect}");
        seen.push((name, outcome, board.x(0, S4 as usize)));
    }
    assert_eq!(seen[0].1, Outcome::Stop(Stop::PowerOff));
    assert_eq!(seen[0].2, 1, "the guest repairs its table");
    assert_eq!(
        seen[5].1,
        Outcome::Stop(Stop::Failure(7)),
        "no repair helps when the guest is wrong about what is right"
    );

    // 4. Two faults that do no harm alone do together: the spare is needed when it is broken. And the same plan gives
    // the same run.
    let mut hashes = Vec::new();
    for _ in 0..2 {
        board.restore(&begin)?;
        board.inject(board.clock().time_of(cycles / 4), faults[1].1)?;
        board.inject(at, faults[0].1)?;
        assert_eq!(run(&mut board), Outcome::Stop(Stop::Failure(7)));
        hashes.push(board.trace_hash());
    }
    println!("{:<34} given up, twice the same way", "table and spare");
    assert_eq!(hashes[0], hashes[1]);
    Ok(())
}
