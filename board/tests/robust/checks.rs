//! Properties of any software, as checks that seeded tests and fuzzers share.

use std::io::{Read, Write};

use super::scenario::{BASE, Scenario, Source, TABLES, run_to};
use tactus_board::board::{Board, Pace};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options, Software};
use tactus_board::time::Femtoseconds;

/// Asserts that the complete states of two boards are equal.
fn assert_same(what: &str, one: &mut Board, other: &mut Board) {
    for hart in 0..one.harts() {
        let state = |board: &Board| (board.pc(hart), board.cycle(hart), board.instructions(hart));
        assert_eq!(state(one), state(other), "{what}: hart {hart}");
        for register in 0..32 {
            assert_eq!(
                one.x(hart, register),
                other.x(hart, register),
                "{what}: hart {hart}, x{register}"
            );
        }
    }
    assert_eq!(one.trace_hash(), other.trace_hash(), "{what}: the traces");
    let (one, other) = (plain(&one.snapshot()), plain(&other.snapshot()));
    if one != other {
        let places: Vec<_> = (0..one.len().min(other.len()))
            .filter(|place| one[*place] != other[*place])
            .take(20)
            .collect();
        panic!(
            "{what}: the states of {} and {} bytes differ at {places:?}",
            one.len(),
            other.len()
        );
    }
}

/// The contents of a snapshot, decompressed.
fn plain(snapshot: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    lz4_flex::frame::FrameDecoder::new(&snapshot[16..])
        .read_to_end(&mut bytes)
        .expect("a good snapshot");
    bytes
}

/// A run in pieces equals the run in one.
pub fn in_pieces(scenario: &Scenario, source: &mut Source<'_>) {
    let mut whole = scenario.board();
    run_to(&mut whole, scenario.cycles);
    let mut pieces = scenario.board();
    let mut at = 0;
    while at < scenario.cycles {
        at = (at + 1 + source.below(200)).min(scenario.cycles);
        run_to(&mut pieces, at);
    }
    assert_same("in pieces", &mut whole, &mut pieces);
}

/// A restored board continues as the saved one does.
pub fn restored(scenario: &Scenario, source: &mut Source<'_>) {
    let mut first = scenario.board();
    run_to(&mut first, source.below(scenario.cycles));
    let snapshot = first.snapshot();
    let mut second = scenario.bare(scenario.quantum, false);
    second.restore(&snapshot).expect("a good snapshot");
    assert!(
        second.snapshot() == snapshot,
        "what is restored is what was saved"
    );
    run_to(&mut first, scenario.cycles);
    run_to(&mut second, scenario.cycles);
    assert_same("restored", &mut first, &mut second);
}

/// Probes change nothing.
pub fn with_probes(scenario: &Scenario, source: &mut Source<'_>) {
    let mut plain = scenario.board();
    run_to(&mut plain, scenario.cycles);
    let mut probed = scenario.board();
    for _ in 0..source.below(20) {
        probed.probe(Scenario::place(source));
    }
    run_to(&mut probed, scenario.cycles);
    assert_same("with probes", &mut plain, &mut probed);
}

/// Stops change nothing.
pub fn with_stops(scenario: &Scenario, source: &mut Source<'_>) {
    let mut plain = scenario.board();
    run_to(&mut plain, scenario.cycles);
    let mut stopped = scenario.board();
    for _ in 0..source.below(20) {
        stopped.stop_at(Scenario::place(source));
    }
    run_to(&mut stopped, scenario.cycles);
    assert_same("with stops", &mut plain, &mut stopped);
}

/// The quantum has no effect on a single hart.
pub fn with_another_quantum(scenario: &Scenario, source: &mut Source<'_>) {
    let mut one = scenario.board();
    run_to(&mut one, scenario.cycles);
    let mut other = scenario.board_of(1 + source.below(1000), scenario.timed);
    run_to(&mut other, scenario.cycles);
    assert_same("with another quantum", &mut one, &mut other);
}

/// Software without access to time computes the same at any pace.
pub fn at_another_pace(scenario: &Scenario) {
    let mut timed = scenario.board_of(scenario.quantum, true);
    run_to(&mut timed, scenario.cycles);
    let count = timed.instructions(0);
    let mut fast = scenario.board_of(scenario.quantum, false);
    let mut at = 0;
    // Exceptions retire no instruction, so that the cycle is not known. The fast board needs at most as many as the
    // timed one.
    while fast.instructions(0) < count {
        at += count - fast.instructions(0);
        run_to(&mut fast, at);
    }
    let state = |board: &Board| -> (Vec<u64>, Vec<u8>) {
        let mut bytes = vec![0; 1 << 20];
        board.memory().read(BASE, &mut bytes).expect("memory");
        // One board may already have walked for its next access.
        let tables = &mut bytes[TABLES as usize..][..0xf000];
        tables.iter_mut().step_by(8).for_each(|byte| *byte |= 0xc0);
        (
            (0..32)
                .map(|register| board.x(0, register))
                .chain([board.pc(0), board.instructions(0)])
                .collect(),
            bytes,
        )
    };
    // The timed board may have taken exceptions after the last instruction.
    let wanted = state(&timed);
    while state(&fast) != wanted {
        at += 1;
        run_to(&mut fast, at);
        assert_eq!(
            fast.instructions(0),
            count,
            "what is the same is not so at this count"
        );
    }
}

/// The bytes with some of them changed.
fn mutated(bytes: &[u8], reach: usize, source: &mut Source<'_>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + source.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = source.below(bytes.len().min(reach).max(1) as u64) as usize;
        match source.below(8) {
            0 => {
                let from = source.below(bytes.len() as u64 + 1) as usize;
                let piece = bytes[from..]
                    .iter()
                    .copied()
                    .take(1 + source.below(40) as usize)
                    .collect::<Vec<_>>();
                bytes.splice(at..at, piece);
            }
            1 => drop(bytes.drain(at..(at + 1 + source.below(16) as usize).min(bytes.len()))),
            2 => bytes.truncate(at),
            3 | 4 => bytes[at..].iter_mut().take(9).for_each(|byte| *byte = 0xff),
            _ => bytes[at] = source.byte(),
        }
    }
    bytes
}

/// A damaged snapshot is refused, or restores a board that runs.
pub fn damaged_snapshots(scenario: &Scenario, source: &mut Source<'_>, times: u32) {
    let mut board = scenario.board();
    run_to(&mut board, source.below(500));
    let snapshot = board.snapshot();
    let (magic, plain) = (&snapshot[..16], plain(&snapshot));
    let head = 8 + u64::from_le_bytes(plain[..8].try_into().expect("8 bytes")) as usize;
    for _ in 0..times {
        let damaged = if source.chance(4) {
            mutated(&snapshot, snapshot.len(), source)
        } else {
            // The length is corrected, so that the rest is read.
            let mut state = mutated(&plain[8..head], head, source);
            let mut bytes = (state.len() as u64).to_le_bytes().to_vec();
            bytes.append(&mut state);
            bytes.extend_from_slice(&plain[head..]);
            let mut encoder = lz4_flex::frame::FrameEncoder::new(magic.to_vec());
            encoder.write_all(&bytes).expect("a vector takes all");
            encoder.finish().expect("a vector takes all")
        };
        let mut board = scenario.bare(scenario.quantum, false);
        if board.restore(&damaged).is_ok() {
            let now = board.clock().cycle_from(board.time());
            let limit = board.clock().time_of(now.saturating_add(300));
            for _ in 0..3 {
                board.run(limit);
            }
            let _ = (board.snapshot(), board.trace_hash());
        }
    }
}

/// An executable with random segments and random fields.
fn executable(source: &mut Source<'_>) -> Vec<u8> {
    let count = source.below(4) as u16;
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend_from_slice(&2_u16.to_le_bytes());
    bytes.extend_from_slice(&243_u16.to_le_bytes());
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    for word in [0x8000_0000_u64, 64, 0] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(&0_u32.to_le_bytes());
    for half in [64, 56, count, 64, 0, 0] {
        bytes.extend_from_slice(&half.to_le_bytes());
    }
    for _ in 0..count {
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        bytes.extend_from_slice(&7_u32.to_le_bytes());
        let address = if source.chance(3) {
            source.word()
        } else {
            0x8000_0000 + source.below(1 << 21)
        };
        let length = if source.chance(4) {
            source.word()
        } else {
            source.below(300)
        };
        let size = match source.below(4) {
            0 => source.word(),
            1 => u64::MAX - source.below(300),
            _ => source.below(1 << 21),
        };
        for word in [source.below(400), address, address, length, size, 1] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    let rest = source.below(300);
    bytes.extend((0..rest).map(|_| source.byte()));
    if source.chance(3) {
        mutated(&bytes, 200, source)
    } else {
        bytes
    }
}

/// Any file is booted or refused.
pub fn any_file(source: &mut Source<'_>) {
    let profile = Profile::named("soc").expect("a profile of the product");
    let options = Options {
        memory: Some(4 << 20),
        ..Options::default()
    };
    let (mut board, _) =
        setup::board(&profile, &options, Vec::new()).expect("a board of the product");
    let (firmware, kernel) = (executable(source), executable(source));
    let initrd = vec![1; source.below(1 << 13) as usize];
    let software = Software {
        firmware: &firmware,
        kernel: source.chance(2).then_some(&kernel[..]),
        initrd: source.chance(2).then_some(&initrd[..]),
        bootargs: source.chance(2).then_some("console=ttyS0\0quiet"),
    };
    if setup::boot(&mut board, &profile, &software).is_ok() {
        board.run(Femtoseconds(1_000_000_000));
    }
}

/// Any text is a profile or refused.
pub fn any_profile(source: &mut Source<'_>) {
    const NUMBERS: [&str; 16] = [
        "0",
        "1",
        "-1",
        "2",
        "3",
        "0x1000",
        "0x8000_0000",
        "0xffff_ffff",
        "0x1_0000_0000",
        "9223372036854775807",
        "\"16EiB\"",
        "\"0B\"",
        "\"17592186044415MiB\"",
        "0.5",
        "1000000000000001",
        "4_000_000_000",
    ];
    let texts = [
        include_str!("../../../profiles/soc.toml"),
        include_str!("../../../profiles/mpsoc.toml"),
    ];
    let text = texts[source.below(2) as usize];
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    for _ in 0..1 + source.below(3) {
        let line = source.below(lines.len() as u64 * 4) as usize % lines.len();
        match source.below(8) {
            0 => drop(lines.remove(line)),
            1 => lines.insert(line, lines[source.word() as usize % lines.len()].clone()),
            2 => {
                lines[line] = String::from_utf8_lossy(&mutated(lines[line].as_bytes(), 80, source))
                    .into_owned()
            }
            _ => {
                if let Some((key, _)) = lines[line].split_once('=') {
                    lines[line] = format!("{key}= {}", NUMBERS[source.below(16) as usize]);
                }
            }
        }
    }
    if let Ok(profile) = Profile::parse("profile.toml", &lines.join("\n")) {
        let options = Options {
            harts: Some(1),
            memory: Some(1 << 20),
            ..Options::default()
        };
        if let Ok((mut board, _)) = setup::board(&profile, &options, Vec::new()) {
            let software = Software {
                firmware: &[0x13, 0, 0, 0, 0x6f, 0, 0, 0],
                ..Software::default()
            };
            let _ = setup::boot(&mut board, &profile, &software);
            board.set_pace(Pace::Timed);
            board.run(Femtoseconds(1_000_000_000));
        }
    }
}
