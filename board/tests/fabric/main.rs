//! The fabric on the board: real RTL in Verilator's models, driven by programs on the harts.

mod accelerators;
mod allocator;
#[path = "../../examples/assembler/mod.rs"]
mod assembler;
mod io;
mod manycore;
mod masters;
mod queue;
mod stamp;
mod support;
mod tiles;

use assembler::{A0, A1, A2, MEPC, MIE, MTVEC, Program, S0, S1, S2, T0, T1, T2, ZERO};
use stamp::Stamp;
use support::{
    Compared, GP, MCAUSE, MEMORY, PORT, RESULTS, Random, board, board_with, model, power_off,
    result,
};
use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::bus::Stop;
use tactus_board::fabric::{Fabric, FabricPort};
use tactus_board::fault::Fault;
use tactus_board::time::Femtoseconds;

const BOTH: [Pace; 2] = [Pace::Fast, Pace::Timed];

fn run(board: &mut Board) {
    let outcome = board.run(Femtoseconds::SECOND);
    assert_eq!(outcome, Outcome::Stop(Stop::PowerOff));
}

/// Reads the identification, writes and reads the scratch register, and records the cycles before and after each.
fn accesses() -> Program {
    const CYCLE: u32 = 0xb00;
    let mut p = Program::new();
    p.li(S0, GP);
    p.li(S1, RESULTS);
    for round in 0..4_u32 {
        p.csrr(A0, CYCLE);
        p.lw(T0, 0, S0);
        p.csrr(A1, CYCLE);
        p.li(T1, 0x1234_5678 + round);
        p.sw(T1, 4, S0);
        p.csrr(A2, CYCLE);
        p.lw(T2, 4, S0);
        p.csrr(S2, CYCLE);
        for (index, register) in [T0, T2, A0, A1, A2, S2].into_iter().enumerate() {
            p.sd(register, 8 * (6 * round as i32 + index as i32), S1);
        }
    }
    power_off(&mut p);
    p
}

#[test]
fn software_reaches_the_design_and_waits_for_it() {
    let times = BOTH.map(|pace| {
        let mut board = board(Some(model("stamp")), 1, pace, &accesses());
        run(&mut board);
        [0, 3].map(|round: u32| {
            let at = |index| result(&board, 6 * round + index);
            assert_eq!(at(0), 0x5354_0001);
            assert_eq!(at(1), 0x1234_5678 + u64::from(round));
            [at(3) - at(2), at(4) - at(3), at(5) - at(4)]
        })
    });
    // A read takes 2 cycles of the fabric, 2 more to the fabric and 2 of the hart's back. The hart does not wait for a
    // write, but a later read comes after it.
    assert_eq!(
        times,
        [[[36, 4, 43], [33, 4, 43]], [[150, 10, 90], [76, 101, 93]]]
    );
}

/// Appends a trap handler that counts traps in S2, adds their causes to A2, and continues after the instruction.
fn count_faults(p: &mut Program) {
    let over = p.room();
    let handler = p.here();
    p.csrr(T1, MCAUSE);
    p.add(A2, A2, T1);
    p.addi(S2, S2, 1);
    p.csrr(T1, MEPC);
    p.addi(T1, T1, 4);
    p.csrw(MEPC, T1);
    p.mret();
    let behind = p.here();
    p.fill(over, |p| p.j(behind));
    p.li(T1, MEMORY + handler as u32);
    p.csrw(MTVEC, T1);
}

/// Accesses to the registers of `stamp` and to addresses without any, in random order. The words read are in the
/// results.
fn traffic(seed: u64) -> Program {
    let mut random = Random(seed);
    let mut p = Program::new();
    p.li(S0, GP);
    p.li(S1, RESULTS);
    count_faults(&mut p);
    for _ in 0..200 {
        let word = 4 * random.below(10) as i32;
        match random.below(8) {
            0 | 1 => p.lw(A0, word, S0),
            2 => p.ld(A0, word & !7, S0),
            3 | 4 => {
                p.li(T0, random.below(1 << 32) as u32);
                p.sw(T0, word, S0);
            }
            5 => {
                // Near the present, so that the interrupt occurs.
                p.lw(T0, 8, S0);
                p.addi(T0, T0, random.below(60) as i32);
                p.sd(T0, 0x10, S0);
                p.li(T0, 1);
                p.sw(T0, 0x18, S0);
            }
            6 => p.fence(),
            _ => (0..random.below(40)).for_each(|_| p.addi(T2, T2, 1)),
        }
        p.sd(A0, 0, S1);
        p.addi(S1, S1, 8);
    }
    p.sd(S2, 0, S1);
    p.sd(A2, 8, S1);
    power_off(&mut p);
    p
}

/// The trace hash and the results of a run of one or two harts.
fn trace(
    fabric: Box<dyn Fabric>,
    harts: usize,
    pace: Pace,
    program: &Program,
    all: bool,
) -> (u64, Vec<u64>) {
    let mut board = board(Some(fabric), harts, pace, program);
    board.fabric().expect("a fabric").simulate_all(all);
    run(&mut board);
    (
        board.trace_hash(),
        (0..202).map(|index| result(&board, index)).collect(),
    )
}

#[test]
fn compiled_design_matches_its_description() {
    let mut faults = 0;
    for seed in 0..40 {
        let program = traffic(seed);
        for pace in BOTH {
            for harts in [1, 2] {
                let both = Box::new(Compared(model("stamp"), Box::new(Stamp::new())));
                let found = trace(both, harts, pace, &program, false);
                // Skipped cycles make no difference.
                let all = trace(model("stamp"), harts, pace, &program, true);
                assert_eq!(found, all, "seed {seed}, {pace:?}, {harts} harts");
                faults += found.1[200];
            }
        }
    }
    assert!(faults > 100);
}

/// Waits for the interrupt of `stamp` at a cycle of the fabric.
fn alarm(at: u32) -> Program {
    let mut p = Program::new();
    p.li(S0, GP);
    p.li(S1, 0xc00_0000);
    // Source 40: priority 1, enabled for the first hart's machine level.
    p.li(T0, 1);
    p.sw(T0, 4 * 40, S1);
    p.li(T1, 0xc00_2000);
    p.slli(T0, T0, 8);
    p.sw(T0, 4, T1);
    p.li(T0, 1 << 11);
    p.csrw(MIE, T0);
    p.li(T0, at);
    p.sd(T0, 0x10, S0);
    p.li(T0, 1);
    p.sw(T0, 0x18, S0);
    p.wfi();
    p.csrr(A0, 0xb00);
    p.lw(A1, 8, S0);
    p.li(S1, RESULTS);
    p.sd(A0, 0, S1);
    p.sd(A1, 8, S1);
    power_off(&mut p);
    p
}

#[test]
fn the_design_interrupts_at_its_cycle() {
    for pace in BOTH {
        let mut board = board(Some(model("stamp")), 1, pace, &alarm(100_000));
        run(&mut board);
        // CYCLES is 100,000 after that edge, and the line rises after the next one, at 1,000,010 ns. Two cycles of 1.5
        // ns later the hart sees it, at the start of its cycle 666,676.
        let until_read = match pace {
            Pace::Fast => 1,
            Pace::Timed => 4,
        };
        assert_eq!(result(&board, 0), 666_676 + until_read, "{pace:?}");
        let activity = board.fabric().expect("a fabric").activity();
        assert!(
            activity.cycles > 100_000 && activity.simulated < 100,
            "{activity:?}"
        );
    }
}

#[test]
fn errors_of_posted_writes_are_counted() {
    let mut p = Program::new();
    p.li(S0, GP);
    p.li(S1, PORT);
    count_faults(&mut p);
    p.sw(ZERO, 0, S0);
    p.sw(ZERO, 0x24, S0);
    p.sw(ZERO, 4, S0);
    p.fence();
    p.lw(A0, 4, S1);
    p.lw(A1, 8, S1);
    p.sw(ZERO, 4, S1);
    p.lw(T2, 4, S1);
    power_off(&mut p);
    for pace in BOTH {
        let mut waits = board_with(Some(model("stamp")), 1, pace, &p, |profile| {
            profile.fabric.as_mut().expect("a fabric").writes = 0;
        });
        run(&mut waits);
        // Two store access faults.
        assert_eq!((waits.x(0, S2 as usize), waits.x(0, A2 as usize)), (2, 14));
        assert_eq!(waits.x(0, A0 as usize), 0);
        let mut posts = board(Some(model("stamp")), 1, pace, &p);
        run(&mut posts);
        assert_eq!(posts.x(0, S2 as usize), 0);
        assert_eq!(
            (
                posts.x(0, A0 as usize),
                posts.x(0, A1 as usize),
                posts.x(0, T2 as usize)
            ),
            (2, 0, 0)
        );
    }
}

#[test]
fn a_port_that_fails_gives_access_faults_and_no_deadlock() {
    // The program reads and counts faults, until 10 reads in sequence have succeeded.
    let mut p = Program::new();
    p.li(S0, GP);
    count_faults(&mut p);
    let again = p.here();
    p.addi(A1, A1, 1);
    p.lw(A0, 0, S0);
    p.sw(ZERO, 4, S0);
    p.li(T0, 2000);
    p.bltu(A1, T0, again);
    power_off(&mut p);
    for pace in BOTH {
        let mut board = board(Some(model("stamp")), 2, pace, &p);
        let at = |board: &Board, cycle| board.clock().time_of(cycle);
        let port = FabricPort::Gp;
        for (cycle, fault) in [
            (1_000, Fault::FabricError { port }),
            (3_000, Fault::FabricHang { port }),
            (90_000, Fault::FabricRelease { port }),
        ] {
            board.inject(at(&board, cycle), fault).expect("a fault");
        }
        run(&mut board);
        let faults = board.x(0, S2 as usize) + board.x(1, S2 as usize);
        assert!((2..100).contains(&faults), "{faults}");
        // All faults are of reads.
        assert_eq!(
            board.x(0, A2 as usize) + board.x(1, A2 as usize),
            5 * faults
        );
        assert_eq!(board.x(0, A0 as usize), 0x5354_0001);
    }
}

#[test]
fn the_clock_of_the_fabric_drifts_from_that_of_the_harts() {
    // The fabric's cycles, again and again.
    let mut p = Program::new();
    p.li(S0, GP);
    let again = p.here();
    p.lw(A0, 8, S0);
    p.j(again);
    const MS: u64 = Femtoseconds::SECOND.0 / 1000;
    let counted = |ppm: Option<i32>, restored: bool| {
        let new = || board(Some(model("stamp")), 1, Pace::Fast, &p);
        let mut board = new();
        if let Some(ppm) = ppm {
            let drift = Fault::FabricDrift { ppm };
            board.inject(Femtoseconds(MS), drift).expect("a fabric");
            // 0 is back to the profile's.
            let steady = Fault::FabricDrift { ppm: 0 };
            board
                .inject(Femtoseconds(3 * MS), steady)
                .expect("a fabric");
        }
        board.run(Femtoseconds(2 * MS));
        if restored {
            let snapshot = board.snapshot();
            board = new();
            board.restore(&snapshot).expect("the same board");
        }
        board.run(Femtoseconds(4 * MS));
        (board.x(0, A0 as usize), board.trace_hash())
    };
    let (steady, _) = counted(None, false);
    // 100 MHz for 4 ms, less what a read takes.
    assert!((399_950..400_000).contains(&steady), "{steady}");
    for (ppm, cycles) in [(1_000, 399_800), (-1_000, 400_200), (100_000, 381_818)] {
        let (drifted, hash) = counted(Some(ppm), false);
        assert!(drifted.abs_diff(cycles) < 50, "{ppm}: {drifted}");
        assert_eq!(counted(Some(ppm), true), (drifted, hash), "{ppm}");
    }
    let mut board = board(Some(model("stamp")), 1, Pace::Fast, &p);
    let most = Fault::FabricDrift { ppm: 100_001 };
    assert!(board.inject(Femtoseconds(0), most).is_err());
}

#[test]
fn a_run_continues_from_a_snapshot() {
    for pace in BOTH {
        let program = traffic(7);
        let mut whole = board(Some(model("stamp")), 2, pace, &program);
        run(&mut whole);
        for cycle in [300, 2_000, 3_500, 5_001] {
            let mut first = board(Some(model("stamp")), 2, pace, &program);
            first.run(first.clock().time_of(cycle));
            let snapshot = first.snapshot();
            run(&mut first);
            assert_eq!(whole.trace_hash(), first.trace_hash(), "{pace:?} {cycle}");
            let mut second = board(Some(model("stamp")), 2, pace, &program);
            second.restore(&snapshot).expect("the same board");
            run(&mut second);
            assert_eq!(whole.trace_hash(), second.trace_hash(), "{pace:?} {cycle}");
        }
    }
}

#[test]
fn a_snapshot_of_another_design_is_refused() {
    let program = traffic(1);
    let snapshot = board(Some(model("stamp")), 1, Pace::Fast, &program).snapshot();
    let mut none = board(None, 1, Pace::Fast, &program);
    assert!(none.restore(&snapshot).is_err());
    let mut other = board(Some(Box::new(Stamp::new())), 1, Pace::Fast, &program);
    let error = other
        .restore(&snapshot)
        .expect_err("another fabric")
        .to_string();
    assert!(error.contains("fabric"), "{error}");
}

#[test]
fn waveforms_show_their_window_and_change_nothing() {
    use tactus_board::fabric::Waves;
    let program = traffic(3);
    let mut plain = board(Some(model("stamp")), 1, Pace::Timed, &program);
    run(&mut plain);
    let file = std::env::temp_dir().join(format!("tactus-waves-{}.fst", std::process::id()));
    let mut waved = board(Some(model("stamp")), 1, Pace::Timed, &program);
    let window = waved.clock().time_of(1_000)..waved.clock().time_of(2_000);
    let fabric = waved.fabric().expect("a fabric");
    fabric.record(Waves {
        file: file.clone(),
        window,
    });
    run(&mut waved);
    waved
        .fabric()
        .expect("a fabric")
        .take_waves()
        .expect("waveforms");
    assert_eq!(plain.trace_hash(), waved.trace_hash());
    let bytes = std::fs::read(&file).expect("waveforms");
    // An FST file's header block, and the time of its first and last change in picoseconds.
    assert_eq!(bytes[0], 0);
    let word = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let (begin, end) = (word(9), word(17));
    assert!((1_500_000..1_520_000).contains(&begin), "{begin}");
    assert!((2_980_000..3_000_000).contains(&end), "{end}");
    std::fs::remove_file(&file).expect("the file");
}

#[test]
fn nothing_is_there_where_no_design_is_loaded() {
    let mut p = Program::new();
    p.li(S0, GP);
    count_faults(&mut p);
    p.lw(A0, 0, S0);
    p.sw(A0, 0, S0);
    power_off(&mut p);
    let mut board = board(None, 1, Pace::Fast, &p);
    assert!(
        board
            .inject(
                Femtoseconds(0),
                Fault::FabricHang {
                    port: FabricPort::Gp
                }
            )
            .is_err()
    );
    run(&mut board);
    assert_eq!((board.x(0, S2 as usize), board.x(0, A2 as usize)), (2, 12));
}
