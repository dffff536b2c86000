//! The design `ready_queue` by each of its schemes, and its reports of quiet cycles.

use crate::assembler::{A0, Program, S0, S1, S3, T0, T1, ZERO};
use crate::support::{GP, PORT, RESULTS, board, model, power_off, result};
use crate::{BOTH, run};
use tactus_board::fault::Fault;

const CYCLE: u32 = 0xb00;
/// Registers of the page, after those of the priorities.
const TAKE_HIGHEST: i32 = 0x800 - 0x400;
const REMOVE: i32 = 0x808 - 0x400;
const ACCESS: i32 = 0x820 - 0x400;
const COUNT: i32 = 0x824 - 0x400;
/// The shared doubleword.
const DATA: u32 = 0x8020_0000;
const VALID: u32 = 1 << 31;
/// A vCPU and its priority.
const HANDLE: u32 = 3;
const PRIORITY: u32 = 9;
/// The number of doublewords that the program records.
const NOTES: u32 = 9;

/// Waits for some time.
fn pause(p: &mut Program) {
    p.li(T0, 3000);
    let again = p.here();
    p.addi(T0, T0, -1);
    p.bne(T0, ZERO, again);
}

/// Records the shared doubleword and the cycle after a pause.
fn note(p: &mut Program) {
    pause(p);
    p.ld(T0, 0, S3);
    p.sd(T0, 0, S1);
    p.csrr(T0, CYCLE);
    p.sd(T0, 8, S1);
    p.addi(S1, S1, 16);
}

/// Writes a command to memory.
fn command(p: &mut Program) {
    p.li(T0, VALID | PRIORITY << 16 | HANDLE);
    p.sw(T0, 0, S3);
    p.fence();
}

/// Queues a vCPU and removes it, by the page and then by memory, with pauses in which the design becomes quiet.
///
/// S0 is in the middle of the page.
fn schemes(scheme: u32) -> Program {
    let mut p = Program::new();
    p.li(S0, GP + 0x400);
    p.li(S1, RESULTS);
    p.li(S3, DATA);
    p.li(A0, PORT);
    p.li(T0, u32::MAX);
    p.slli(T0, T0, 32);
    p.sd(T0, 0, S3);
    p.fence();
    p.li(T0, DATA | scheme);
    p.sw(T0, ACCESS, S0);
    note(&mut p);
    p.li(T0, HANDLE);
    p.sw(T0, 8 * PRIORITY as i32 - 0x400, S0);
    note(&mut p);
    p.li(T0, HANDLE);
    p.sw(T0, REMOVE, S0);
    note(&mut p);
    // Only the schemes that read memory find the command.
    command(&mut p);
    p.sw(ZERO, 0, A0);
    note(&mut p);
    p.lw(T0, COUNT, S0);
    p.lw(T1, TAKE_HIGHEST, S0);
    p.slli(T1, T1, 32);
    p.add(T0, T0, T1);
    p.sd(T0, 0, S1);
    power_off(&mut p);
    p
}

#[test]
fn the_queue_is_reached_by_four_schemes_and_rests_in_between() {
    const FIRST: u64 = (VALID | PRIORITY << 16 | HANDLE) as u64;
    for scheme in 0..4 {
        for pace in BOTH {
            let notes = [false, true].map(|all| {
                let mut board = board(Some(model("ready_queue")), 1, pace, &schemes(scheme));
                let fabric = board.fabric().expect("it was loaded");
                fabric.simulate_all(all);
                run(&mut board);
                let activity = board.fabric().expect("it was loaded").activity();
                // A scheme that polls is never quiet.
                if scheme != 3 {
                    assert_eq!(activity.simulated == activity.cycles, all, "{scheme}");
                }
                (0..NOTES)
                    .map(|note| result(&board, note))
                    .collect::<Vec<_>>()
            });
            assert_eq!(notes[0], notes[1], "scheme {scheme}, {pace:?}");
            let [begun, queued, removed, commanded, last] = [0, 2, 4, 6, 8].map(|at| notes[0][at]);
            let (first, queue) = (FIRST << 32, 1 + (FIRST << 32));
            let expected = match scheme {
                0 => [
                    u64::from(u32::MAX) << 32,
                    u64::from(u32::MAX) << 32,
                    u64::from(u32::MAX) << 32,
                    u64::from(u32::MAX) << 32 | FIRST,
                    0,
                ],
                1 => [0, 1 | first, 2, FIRST, 0],
                _ => [0, first, 0, first | (FIRST & !u64::from(VALID)), queue],
            };
            assert_eq!(
                [begun, queued, removed, commanded, last],
                expected,
                "scheme {scheme}, {pace:?}"
            );
        }
    }
}

/// Writes a command to memory and sends two events for it, with pauses before, between and after.
fn events() -> Program {
    const ACP: u32 = 2;
    let mut p = Program::new();
    p.li(S0, GP + 0x400);
    p.li(S1, RESULTS);
    p.li(S3, DATA);
    p.li(A0, PORT);
    p.li(T0, DATA | ACP);
    p.sw(T0, ACCESS, S0);
    note(&mut p);
    command(&mut p);
    note(&mut p);
    for _ in 0..2 {
        p.sw(ZERO, 0, A0);
        note(&mut p);
    }
    p.lw(T0, COUNT, S0);
    p.sd(T0, 0, S1);
    power_off(&mut p);
    p
}

/// With lost or spurious events, each command in memory is executed once: at the next event, or without one.
#[test]
fn a_command_is_carried_out_once_whichever_events_come() {
    const WAITS: u64 = (VALID | PRIORITY << 16 | HANDLE) as u64;
    const DONE: u64 = WAITS << 32 | (WAITS & !(VALID as u64));
    // The doubleword before the command, with it, and after each event; then the number of queued vCPUs.
    const GOOD: [u64; 5] = [0, WAITS, DONE, DONE, 1];
    const EARLY: [u64; 5] = [0, DONE, DONE, DONE, 1];
    const LATE: [u64; 5] = [0, WAITS, WAITS, DONE, 1];
    let (lost, extra) = (Fault::FabricEventLost, Fault::FabricEventExtra);
    // A fault, and the number of the pause that contains it.
    let cases = [
        (None, GOOD),
        (Some((lost, 0)), LATE),
        (Some((lost, 1)), LATE),
        (Some((lost, 2)), GOOD),
        (Some((extra, 0)), GOOD),
        (Some((extra, 1)), EARLY),
        (Some((extra, 2)), GOOD),
    ];
    for pace in BOTH {
        let mut pauses = [0; 3];
        for (fault, expected) in cases {
            let notes = [false, true].map(|all| {
                let mut board = board(Some(model("ready_queue")), 1, pace, &events());
                board.fabric().expect("it was loaded").simulate_all(all);
                if let Some((fault, pause)) = fault {
                    let at = board.clock().time_of(pauses[pause]);
                    board.inject(at, fault).expect("a fault");
                }
                run(&mut board);
                (0..NOTES)
                    .map(|note| result(&board, note))
                    .collect::<Vec<_>>()
            });
            assert_eq!(notes[0], notes[1], "{fault:?}, {pace:?}");
            let found = [0, 2, 4, 6, 8].map(|at| notes[0][at]);
            assert_eq!(found, expected, "{fault:?}, {pace:?}");
            if fault.is_none() {
                // A pause takes more than 3,000 cycles.
                pauses = [1, 3, 5].map(|at| notes[0][at] - 1000);
            }
        }
    }
}
