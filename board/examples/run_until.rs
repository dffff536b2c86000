//! Runs a program until something holds, continues from there, and prints what its cycles went to.
//!
//! The program has two parts, as a small system has: a user's, which counts and calls, and a supervisor of it in
//! M-mode, which answers the calls and then sleeps until a timer's next tick.
//!
//! `cargo run -p tactus-board --example run_until`

mod assembler;

use assembler::{A0, MEPC, MIE, MTVEC, PMPADDR0, PMPCFG0, Program, S0, S1, T0, T1, T2, ZERO};
use tactus_board::account::Doing;
use tactus_board::board::{Board, Outcome};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

const MEMORY: u64 = 0x8000_0000;
/// Where the supervisor counts the calls that it has answered.
const CALLS: u64 = 0x8000_2000;
/// How far the user counts for each call.
const ROUNDS: u32 = 200;
/// Ticks of `mtime` (10 MHz) from one call to the next: 10 microseconds.
const PERIOD: i32 = 100;

/// The core-local interruptor: `mtimecmp` of hart 0, and `mtime`.
const MTIMECMP: u32 = 0x200_4000;
const MTIME: u32 = 0x200_bff8;

/// The program, and the address of the handler in it.
fn program() -> (Vec<u8>, u64) {
    let mut p = Program::new();
    let begin = p.room();

    // The handler: one more call answered; the next tick is PERIOD later; sleep until then, and return behind the
    // call. The timer's interrupt is let through while asleep only, and is not taken even then: M-mode has them off.
    let handler = p.here();
    p.li(S0, CALLS as u32);
    p.ld(T0, 0, S0);
    p.addi(T0, T0, 1);
    p.sd(T0, 0, S0);
    p.li(T1, MTIMECMP);
    p.addi(S1, S1, PERIOD);
    p.sd(S1, 0, T1);
    p.li(T0, 1 << 7);
    p.csrw(MIE, T0);
    p.wfi();
    p.csrw(MIE, ZERO);
    p.csrr(T0, MEPC);
    p.addi(T0, T0, 4);
    p.csrw(MEPC, T0);
    p.mret();

    // The user: count, call, again.
    let user = p.here();
    p.li(T2, ROUNDS);
    p.li(A0, 0);
    let count = p.here();
    p.addi(A0, A0, 1);
    p.bltu(A0, T2, count);
    p.ecall();
    p.j(user);

    // The start: the handler's address; all of memory for the user; ticks count from now; and off to
    // the user. `mstatus.MPP` is 0, user mode, as at reset.
    let place = p.here();
    p.fill(begin, |p| p.j(place));
    p.li(T0, MEMORY as u32 + handler as u32);
    p.csrw(MTVEC, T0);
    p.addi(T0, ZERO, -1);
    p.csrw(PMPADDR0, T0);
    p.li(T0, 0x1f);
    p.csrw(PMPCFG0, T0);
    p.li(T1, MTIME);
    p.ld(S1, 0, T1);
    p.li(T0, MEMORY as u32 + user as u32);
    p.csrw(MEPC, T0);
    p.mret();
    (p.bytes(), MEMORY + handler as u64)
}

fn calls(board: &Board) -> u64 {
    let mut bytes = [0; 8];
    // Looking does not disturb the run.
    board
        .memory()
        .read(CALLS, &mut bytes)
        .map_or(0, |()| u64::from_le_bytes(bytes))
}

/// Prints what a hart's cycles went to.
fn print_account(board: &mut Board) {
    let account = board.account(0);
    let all: u64 = account.iter().map(|spent| spent.cycles).sum();
    for spent in account {
        let what = match spent.on {
            Doing::Waiting => "waiting".to_owned(),
            Doing::Running {
                guest: None,
                privilege,
            } => format!("{privilege:?}"),
            Doing::Running {
                guest: Some(vmid),
                privilege,
            } => format!("guest {vmid}, {privilege:?}"),
        };
        let share = 100.0 * spent.cycles as f64 / all.max(1) as f64;
        println!(
            "  {what:<10} {:>6} cycles ({share:4.1} %), {:>5} instructions",
            spent.cycles, spent.instructions
        );
    }
}

/// Runs the program, looks at it in three ways, and prints its accounts.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profile = Profile::named("mpsoc").ok_or("no such profile")?;
    let options = Options {
        harts: Some(1),
        memory: Some(1 << 20),
        ..Options::default()
    };
    let (mut board, _console) = setup::board(&profile, &options, Vec::new())?;
    let (bytes, handler) = program();
    board.write(MEMORY, &bytes)?;
    board.set_pc(0, MEMORY);

    // 1. Until a condition holds: ten calls were answered. It is asked whenever a hart's turn is over: after a quantum
    // where harts take turns, when a hart waits, when a device is to be woken, and after 2^20 cycles at most.
    let outcome = board.run_until(Femtoseconds::SECOND, |board| calls(board) >= 10);
    println!("{outcome}: {} calls, {}", calls(&board), board.time());
    print_account(&mut board);
    assert_eq!(outcome, Outcome::Condition);
    assert!(calls(&board) >= 10);

    // 2. Until a place is reached: the next call's handler.
    let before = calls(&board);
    let outcome = board.run_to(handler, Femtoseconds::SECOND);
    println!("{outcome}: the user counted to {}", board.x(0, 10));
    assert_eq!(
        outcome,
        Outcome::Breakpoint {
            hart: 0,
            pc: handler
        }
    );
    assert_eq!((calls(&board), board.x(0, 10)), (before, ROUNDS.into()));

    // 3. Instruction by instruction, until the call is counted.
    let mut steps = 0;
    while calls(&board) == before {
        assert_eq!(board.step(0), Outcome::Condition);
        steps += 1;
    }
    println!("{steps} instructions later it is counted");

    // 4. Until a time. Most of it is spent waiting.
    let outcome = board.run(Femtoseconds(Femtoseconds::SECOND.0 / 1000));
    println!("{outcome}: {} calls, {}", calls(&board), board.time());
    print_account(&mut board);
    assert_eq!(outcome, Outcome::Limit);
    let waiting: u64 = board
        .account(0)
        .iter()
        .filter(|spent| spent.on == Doing::Waiting)
        .map(|spent| spent.cycles)
        .sum();
    assert!(2 * waiting > board.cycle(0));
    Ok(())
}
