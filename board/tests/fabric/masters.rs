//! The fabric as a master of the bus: the design `mover`, over both of its ports.

use crate::assembler::{A0, A1, A2, MIE, Program, S0, S1, S2, S3, T0, T1, T2, ZERO};
use crate::support::{GP, MEMORY, PORT, RESULTS, Random, board, model, power_off, result};
use crate::{BOTH, run};
use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::fabric::FabricPort;
use tactus_board::fault::Fault;
use tactus_board::timing::Counts;

const ADDRESS: i32 = 4;
const COMMAND: i32 = 8;
const STATUS: i32 = 0xc;
const DONE: i32 = 0x10;
const BUFFER: i32 = 0x40;
/// Bits of a command.
const WRITE: u32 = 1;
const HP: u32 = 2;
const ON_EVENT: u32 = 1 << 8;
/// The memory that is moved.
const DATA: u32 = 0x8020_0000;

/// Appends a command that lets the design in S0 move 2^`log2_words` words.
fn command(p: &mut Program, address: u32, command: u32, log2_words: u32) {
    p.li(T0, address);
    p.sw(T0, ADDRESS, S0);
    p.li(T0, command | log2_words << 4);
    p.sw(T0, COMMAND, S0);
}

/// Appends a wait until the design is idle; its status is in T0.
fn wait(p: &mut Program) {
    let again = p.here();
    p.lw(T0, STATUS, S0);
    p.slli(T1, T0, 63);
    p.bne(T1, ZERO, again);
}

fn memory(board: &Board, address: u32) -> u64 {
    let mut bytes = [0; 8];
    board
        .memory()
        .read(address.into(), &mut bytes)
        .expect("memory");
    u64::from_le_bytes(bytes)
}

/// A program of bursts and of the hart's own loads and stores in between, with the expected results.
///
/// The hart waits for the design before its next access.
fn bursts(seed: u64) -> (Program, Vec<u64>, Vec<u64>) {
    const WORDS: u64 = 64;
    let mut random = Random(seed);
    let mut p = Program::new();
    let (mut words, mut buffer, mut found) = (vec![0; WORDS as usize], [0_u64; 8], Vec::new());
    p.li(S0, GP);
    p.li(S1, RESULTS);
    p.li(S3, DATA);
    for index in 0..8 {
        p.sd(ZERO, BUFFER + 8 * index, S0);
    }
    for _ in 0..60 {
        match random.below(5) {
            0 => {
                let (index, value) = (random.below(WORDS), random.below(1 << 31));
                p.li(T0, value as u32);
                p.sd(T0, 8 * index as i32, S3);
                words[index as usize] = value;
            }
            1 => {
                let index = random.below(WORDS);
                p.ld(T0, 8 * index as i32, S3);
                p.sd(T0, 0, S1);
                p.addi(S1, S1, 8);
                found.push(words[index as usize]);
            }
            2 => {
                let (index, value) = (random.below(8), random.below(1 << 31));
                p.li(T0, value as u32);
                p.sd(T0, BUFFER + 8 * index as i32, S0);
                buffer[index as usize] = value;
            }
            kind => {
                let log2_words = random.below(4) as u32;
                let (first, count) = (random.below(WORDS), 1 << log2_words);
                let port = if random.below(2) == 0 { 0 } else { HP };
                let direction = if kind == 3 { WRITE } else { 0 };
                // A burst begins at a multiple of its length.
                let begin = (first & !(count - 1)) as usize;
                if random.below(2) == 0 {
                    // Earlier stores precede the command for the design, too.
                    p.fence();
                }
                command(
                    &mut p,
                    DATA + 8 * first as u32,
                    direction | port,
                    log2_words,
                );
                wait(&mut p);
                for index in 0..count as usize {
                    if kind == 3 {
                        words[begin + index] = buffer[index];
                    } else {
                        buffer[index] = words[begin + index];
                    }
                }
            }
        }
    }
    for (index, value) in buffer.iter().enumerate() {
        p.ld(T0, BUFFER + 8 * index as i32, S0);
        p.sd(T0, 0, S1);
        p.addi(S1, S1, 8);
        found.push(*value);
    }
    power_off(&mut p);
    (p, found, words)
}

#[test]
fn bursts_move_the_data_in_memory() {
    for seed in 0..60 {
        let (program, found, words) = bursts(seed);
        for pace in BOTH {
            let mut hashes = Vec::new();
            for all in [false, true] {
                let mut board = board(Some(model("mover")), 1, pace, &program);
                board.fabric().expect("a fabric").simulate_all(all);
                run(&mut board);
                let results = (0..found.len() as u32).map(|index| result(&board, index));
                assert_eq!(results.collect::<Vec<_>>(), found, "seed {seed}, {pace:?}");
                let moved = (0..words.len() as u32).map(|index| memory(&board, DATA + 8 * index));
                assert_eq!(moved.collect::<Vec<_>>(), words, "seed {seed}, {pace:?}");
                hashes.push(board.trace_hash());
            }
            assert_eq!(hashes[0], hashes[1]);
        }
    }
}

/// The counts of a hart that twice stores to a line, moves it over the port, and loads or stores it again.
fn line(port: u32, direction: u32, store: bool) -> Counts {
    let mut p = Program::new();
    p.li(S0, GP);
    p.li(S3, DATA);
    p.li(S2, 2);
    let again = p.here();
    p.sd(S2, 0, S3);
    p.fence();
    command(&mut p, DATA, direction | port, 2);
    wait(&mut p);
    if store {
        p.sd(ZERO, 0, S3);
    } else {
        p.ld(T2, 0, S3);
    }
    p.addi(S2, S2, -1);
    p.bne(S2, ZERO, again);
    power_off(&mut p);
    let mut board = board(Some(model("mover")), 1, Pace::Timed, &p);
    run(&mut board);
    *board.counts(0)
}

#[test]
fn the_coherent_port_takes_lines_from_the_caches_and_the_other_does_not() {
    let misses = |counts: Counts| (counts.load_misses, counts.store_misses, counts.upgrades);
    for store in [false, true] {
        // Past the caches: the hart finds its line unchanged, and misses only the first time.
        let past = line(HP, 0, store);
        assert_eq!(misses(past), (0, 1, 0));
        assert_eq!(misses(line(HP, WRITE, store)), (0, 1, 0));
        // A write over ACP invalidates the hart's line and puts it into the L2 cache: 26 cycles from there.
        let written = line(0, WRITE, store);
        if store {
            assert_eq!(misses(written), (0, 3, 0));
        } else {
            assert_eq!(misses(written), (2, 1, 0));
            assert_eq!(written.stall_load - past.stall_load, 2 * 26);
        }
        // A read shares the line: loads hit, and a store needs an upgrade.
        let read = line(0, 0, store);
        assert_eq!(misses(read), (0, 1, if store { 2 } else { 1 }));
    }
}

#[test]
fn memory_that_is_not_there_is_an_error_to_the_design() {
    for port in [0, HP] {
        for direction in [0, WRITE] {
            let mut p = Program::new();
            p.li(S0, GP);
            command(&mut p, 0x1000, direction | port, 3);
            wait(&mut p);
            p.addi(A0, T0, 0);
            command(&mut p, DATA, direction | port, 3);
            wait(&mut p);
            p.addi(A1, T0, 0);
            power_off(&mut p);
            let mut board = board(Some(model("mover")), 1, Pace::Timed, &p);
            run(&mut board);
            assert_eq!((board.x(0, A0 as usize), board.x(0, A1 as usize)), (2, 0));
        }
    }
}

#[test]
fn events_and_interrupts_reach_the_other_side() {
    // The hart sleeps until the design has written; the event starts the burst.
    let mut p = Program::new();
    p.li(S0, GP);
    p.li(S1, PORT);
    p.li(T0, 0xc00_0000);
    p.li(T1, 1);
    p.sw(T1, 4 * 40, T0);
    p.li(T0, 0xc00_2000);
    p.slli(T1, T1, 8);
    p.sw(T1, 4, T0);
    p.li(T0, 1 << 11);
    p.csrw(MIE, T0);
    p.li(T0, 77);
    p.sw(T0, BUFFER, S0);
    command(&mut p, DATA, WRITE | ON_EVENT, 0);
    p.fence();
    p.sw(ZERO, 0, S1);
    p.csrr(A1, 0xb00);
    p.wfi();
    p.csrr(A2, 0xb00);
    p.sw(ZERO, DONE, S0);
    p.lw(A0, STATUS, S0);
    p.li(S2, 5);
    power_off(&mut p);
    for pace in BOTH {
        let mut board = board(Some(model("mover")), 1, pace, &p);
        run(&mut board);
        assert_eq!(board.x(0, A0 as usize), 1 << 16);
        assert_eq!(memory(&board, DATA), 77);
        let waited = board.x(0, A2 as usize) - board.x(0, A1 as usize);
        // The fast mode's time is 10.8 cycles of the fabric: for the event to the fabric, the request to the port, and
        // its answer and the interrupt back.
        let cycles = match pace {
            Pace::Fast => 72,
            Pace::Timed => 160,
        };
        assert_eq!(waited, cycles);
    }
}

#[test]
fn a_write_of_the_design_reaches_code_that_was_run() {
    let mut p = Program::new();
    p.li(S0, GP);
    p.li(S1, 0);
    // addi a0, a0, 100; addi a1, a1, 100
    p.li(T0, 0x0645_0513);
    p.sw(T0, BUFFER, S0);
    p.li(T0, 0x0645_8593);
    p.sw(T0, BUFFER + 4, S0);
    let over = p.room();
    if p.here() % 8 != 0 {
        p.addi(ZERO, ZERO, 0);
    }
    let code = p.here();
    p.addi(A0, A0, 1);
    p.addi(A1, A1, 1);
    let back = p.room();
    let begin = p.here();
    p.fill(over, |p| p.j(begin));
    // Runs the code, has the design overwrite it, and runs it again.
    p.bne(S1, ZERO, begin + 12);
    p.addi(S1, S1, 1);
    p.j(code);
    p.addi(S1, S1, 1);
    p.li(T0, 3);
    let out = p.room();
    command(&mut p, MEMORY + code as u32, WRITE, 0);
    wait(&mut p);
    p.fence_i();
    p.j(code);
    let end = p.here();
    p.fill(out, |p| p.beq(S1, T0, end));
    p.fill(back, |p| p.j(begin));
    power_off(&mut p);
    for pace in BOTH {
        let mut board = board(Some(model("mover")), 1, pace, &p);
        run(&mut board);
        assert_eq!(
            (board.x(0, A0 as usize), board.x(0, A1 as usize)),
            (101, 101)
        );
    }
}

#[test]
fn failed_master_port_does_not_stop_others() {
    for (port, bit) in [(FabricPort::Acp, 0), (FabricPort::Hp, HP)] {
        // Moves without end; counts errors in A0 and all moves in A1.
        let mut p = Program::new();
        p.li(S0, GP);
        let again = p.here();
        command(&mut p, DATA, WRITE | bit, 2);
        wait(&mut p);
        p.srli(T0, T0, 1);
        p.add(A0, A0, T0);
        p.addi(A1, A1, 1);
        p.j(again);
        for pace in BOTH {
            let mut board = board(Some(model("mover")), 1, pace, &p);
            let at = |board: &Board, cycle| board.clock().time_of(cycle);
            let moved = |board: &Board| board.x(0, A1 as usize);
            board
                .inject(at(&board, 20_000), Fault::FabricError { port })
                .expect("a fault");
            assert_eq!(board.run(at(&board, 40_000)), Outcome::Limit);
            assert_eq!(board.x(0, A0 as usize), 1);
            let before = moved(&board);
            board
                .inject(at(&board, 50_000), Fault::FabricHang { port })
                .expect("a fault");
            board.run(at(&board, 60_000));
            let hung = moved(&board);
            assert!(hung > before);
            // The hart continues to read the status, and gets answers.
            let instructions = board.instructions(0);
            board.run(at(&board, 200_000));
            assert_eq!(moved(&board), hung);
            assert!(board.instructions(0) > instructions + 1_000);
            board
                .inject(at(&board, 200_000), Fault::FabricRelease { port })
                .expect("a fault");
            board.run(at(&board, 300_000));
            assert!(moved(&board) > hung);
        }
    }
}

#[test]
fn bursts_under_way_are_part_of_a_snapshot() {
    let (program, ..) = bursts(9);
    let mut taken = 0;
    for pace in BOTH {
        let mut whole = board(Some(model("mover")), 2, pace, &program);
        run(&mut whole);
        for cycle in (1_000..9_000).step_by(173) {
            let mut first = board(Some(model("mover")), 2, pace, &program);
            if first.run(first.clock().time_of(cycle)) != Outcome::Limit {
                break;
            }
            taken += 1;
            let snapshot = first.snapshot();
            run(&mut first);
            assert_eq!(whole.trace_hash(), first.trace_hash(), "{pace:?} {cycle}");
            let mut second = board(Some(model("mover")), 2, pace, &program);
            second.restore(&snapshot).expect("the same board");
            run(&mut second);
            assert_eq!(whole.trace_hash(), second.trace_hash(), "{pace:?} {cycle}");
        }
    }
    assert!(taken > 20);
}
