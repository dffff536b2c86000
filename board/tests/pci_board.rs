//! A guest on the board of `soc-pci` reads a disk through the IOMMU: what it costs, and that it repeats.

use crate::assembler::{Program, S0, S1, S2, S3, T0, T1, ZERO};
use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::bus::Stop;
use tactus_board::devices::virtio::{Block, Disk};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

const BASE: u64 = 0x8000_0000;
const QUEUE: u64 = BASE + 0x1_0000;
const BUFFERS: u64 = BASE + 0x1_4000;
const DIRECTORY: u64 = BASE + 0x2_0000;
/// The second stage: its root, and the tables below.
const ROOT: u64 = BASE + 0x3_0000;
/// Device 1's configuration space, and where its registers are put.
const CONFIG: u64 = 0x3000_8000;
const NOTIFY: u64 = 0x5000_0000;
const COMMON: u64 = 0x5000_8000;
const IOMMU: u64 = 0x301_0000;
const FINISHER: u64 = 0x10_0000;
const MCYCLE: u32 = 0xb00;

/// Stores `size` bytes, the low ones of `value`.
fn store(program: &mut Program, address: u64, size: u8, value: u32) {
    program.li(T0, address as u32);
    program.li(T1, value);
    match size {
        1 => program.sb(T1, 0, T0),
        2 => program.sh(T1, 0, T0),
        _ => program.sw(T1, 0, T0),
    }
}

/// The guest: it starts the disk, submits the same request twice, and keeps in S1, S2 and S3 the cycles before the
/// first and behind each.
fn guest() -> Vec<u8> {
    let mut program = Program::new();
    for (address, size, value) in [
        (IOMMU + 20, 4, 0),
        (IOMMU + 16, 4, (DIRECTORY >> 2 | 2) as u32),
        (CONFIG + 0x10, 4, NOTIFY as u32),
        (CONFIG + 0x20, 4, COMMON as u32),
        (CONFIG + 4, 2, 6),
        (COMMON + 20, 1, 3),
        (COMMON + 8, 4, 1),
        (COMMON + 12, 4, 1),
        (COMMON + 20, 1, 11),
        (COMMON + 24, 2, 8),
        (COMMON + 32, 4, QUEUE as u32),
        (COMMON + 40, 4, QUEUE as u32 + 0x1000),
        (COMMON + 48, 4, QUEUE as u32 + 0x2000),
        (COMMON + 28, 2, 1),
        (COMMON + 20, 1, 15),
    ] {
        store(&mut program, address, size, value);
    }
    program.csrr(S1, MCYCLE);
    for (count, cycles) in [(1, S2), (2, S3)] {
        store(&mut program, QUEUE + 0x1002, 2, count);
        program.fence();
        store(&mut program, NOTIFY, 2, 0);
        program.li(T0, QUEUE as u32 + 0x2002);
        program.li(T1, count);
        let wait = program.here();
        program.lhu(S0, 0, T0);
        program.bne(S0, T1, wait);
        program.csrr(cycles, MCYCLE);
    }
    store(&mut program, FINISHER, 4, 0x5555);
    program.beq(ZERO, ZERO, program.here());
    program.bytes()
}

fn put(board: &mut Board, address: u64, words: &[u64]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    board.write(address, &bytes).expect("memory");
}

fn board(pace: Pace) -> Board {
    let profile = Profile::named("soc-pci").expect("it comes with the crate");
    let options = Options {
        harts: Some(1),
        memory: Some(16 << 20),
        ..Options::default()
    };
    let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    let image = (0..=255).cycle().take(4096).collect();
    let disk = Block::new(Disk::new(image), "disk");
    setup::plug(&mut board, vec![Box::new(disk)]).expect("a slot");
    board.write(BASE, &guest()).expect("memory");
    // The context of device 1, whose second stage maps the first 2 MiB of memory as they are, in pages of 4 KiB.
    put(
        &mut board,
        DIRECTORY + 8 * 32,
        &[1, 8 << 60 | ROOT >> 12, 0, 0],
    );
    put(&mut board, ROOT + 2 * 8, &[(ROOT + 0x4000) >> 2 | 1]);
    put(&mut board, ROOT + 0x4000, &[(ROOT + 0x5000) >> 2 | 1]);
    let pages: Vec<u64> = (0..512)
        .map(|page| (BASE + page * 4096) >> 2 | 0xd7)
        .collect();
    put(&mut board, ROOT + 0x5000, &pages);
    // Header, 512 bytes of data, status: read sector 1.
    let descriptor =
        |address, length: u64, flags: u64, next: u64| [address, length | flags << 32 | next << 48];
    let chain = [
        descriptor(BUFFERS, 16, 1, 1),
        descriptor(BUFFERS + 0x1000, 512, 3, 2),
        descriptor(BUFFERS + 0x100, 1, 2, 0),
    ];
    put(&mut board, QUEUE, chain.as_flattened());
    put(&mut board, BUFFERS, &[0, 1]);
    board.set_pc(0, BASE);
    board.set_pace(pace);
    board
}

fn finish(board: &mut Board) {
    let outcome = board.run(Femtoseconds(Femtoseconds::SECOND.0 / 1000));
    assert_eq!(outcome, Outcome::Stop(Stop::PowerOff));
}

/// The cycles of the two requests.
fn requests(pace: Pace) -> [u64; 2] {
    let mut board = board(pace);
    finish(&mut board);
    let mut data = [0; 512];
    board
        .memory()
        .read(BUFFERS + 0x1000, &mut data)
        .expect("memory");
    assert!((0..=255).cycle().take(512).eq(data));
    let [before, first, second] = [S1, S2, S3].map(|register| board.x(0, register as usize));
    [first - before, second - first]
}

/// For the first request the IOMMU reads three levels of tables for each of three pages, descriptors, header and data;
/// the context and the available ring's page it has come to know when the disk was started. Each entry takes as long as
/// the L2 cache at least.
#[test]
fn walks_of_the_iommu_take_time() {
    let [cold, warm] = requests(Pace::Timed);
    let level2 = 26;
    assert!(cold > warm + 9 * level2, "{cold} and {warm} cycles");
    let [cold, warm] = requests(Pace::Fast);
    assert!(cold.abs_diff(warm) < 50, "{cold} and {warm} cycles");
}

#[test]
fn a_snapshot_goes_on_in_the_middle_of_a_request() {
    for pace in [Pace::Fast, Pace::Timed] {
        let mut whole = board(pace);
        finish(&mut whole);
        let mut first = board(pace);
        // A request takes 20 microseconds, and so the first one is under way.
        let outcome = first.run(Femtoseconds(15_000_000_000));
        assert_eq!(outcome, Outcome::Limit);
        let snapshot = first.snapshot();
        let mut second = board(pace);
        second.restore(&snapshot).expect("a snapshot of it");
        for mut board in [first, second] {
            finish(&mut board);
            assert_eq!(board.trace_hash(), whole.trace_hash());
        }
    }
}
