//! Programs that once made the board fail, or whose results depended on the slices of the run.

use tactus_board::board::{Board, Outcome};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

const BASE: u64 = 0x8000_0000;

const fn i(opcode: u32, kind: u32, rd: u32, rs1: u32, value: i32) -> u32 {
    (value as u32) << 20 | rs1 << 15 | kind << 12 | rd << 7 | opcode
}
const fn addi(rd: u32, rs1: u32, value: i32) -> u32 {
    i(0x13, 0, rd, rs1, value)
}
const fn ld(rd: u32, rs1: u32, offset: i32) -> u32 {
    i(0x03, 3, rd, rs1, offset)
}
const fn sd(rs2: u32, rs1: u32, offset: i32) -> u32 {
    let offset = offset as u32 & 0xfff;
    offset >> 5 << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | (offset & 31) << 7 | 0x23
}
const fn csrrw(rd: u32, csr: i32, rs1: u32) -> u32 {
    i(0x73, 1, rd, rs1, csr)
}
const fn csrr(rd: u32, csr: i32) -> u32 {
    i(0x73, 2, rd, 0, csr)
}
const fn jalr(rd: u32, rs1: u32) -> u32 {
    i(0x67, 0, rd, rs1, 0)
}
const fn jal(to: i32) -> u32 {
    let to = to as u32;
    (to >> 20 & 1) << 31
        | (to >> 1 & 0x3ff) << 21
        | (to >> 11 & 1) << 20
        | (to >> 12 & 0xff) << 12
        | 0x6f
}
const fn lr_d(rd: u32, rs1: u32) -> u32 {
    2 << 27 | rs1 << 15 | 3 << 12 | rd << 7 | 0x2f
}
const fn sc_d(rd: u32, rs2: u32, rs1: u32) -> u32 {
    3 << 27 | rs2 << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x2f
}
const NOP: u32 = addi(0, 0, 0);
const ECALL: u32 = 0x73;
const MRET: u32 = 0x3020_0073;
const WFI: u32 = 0x1050_0073;
const FENCE_I: u32 = 0x100f;
const SFENCE_VMA: u32 = 0x1200_0073;

const MSTATUS: i32 = 0x300;
const MTVEC: i32 = 0x305;
const MENVCFG: i32 = 0x30a;
const MEPC: i32 = 0x341;
const MCAUSE: i32 = 0x342;
const SATP: i32 = 0x180;
const STIMECMP: i32 = 0x14d;
const PMPCFG0: i32 = 0x3a0;
const PMPADDR0: i32 = 0x3b0;

/// A board with this many harts, all of which start at the beginning of memory.
fn board(harts: usize, quantum: u64) -> Board {
    let profile = Profile::named("soc").expect("a profile of the product");
    let options = Options {
        harts: Some(harts),
        memory: Some(1 << 20),
        quantum: Some(quantum),
        ..Options::default()
    };
    let (mut board, _) =
        setup::board(&profile, &options, Vec::new()).expect("a board of the product");
    for hart in 0..harts {
        board.set_pc(hart, BASE);
    }
    board
}

fn put(board: &mut Board, address: u64, code: &[u32]) {
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    board.write(address, &bytes).expect("memory");
}

fn put_words(board: &mut Board, address: u64, words: &[u64]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    board.write(address, &bytes).expect("memory");
}

fn run_to(board: &mut Board, cycle: u64) {
    let limit = board.clock().time_of(cycle);
    assert_eq!(board.run(limit), Outcome::Limit);
}

#[test]
fn a_run_ends_at_its_limit_where_a_block_follows_another() {
    let mut board = board(1, 1);
    put(
        &mut board,
        BASE,
        &[addi(5, 5, 1), jal(4), addi(5, 5, 1), jal(-12)],
    );
    for cycle in [100, 102, 104, 106, 107, 108, 109, 110, 200, 300, 302] {
        run_to(&mut board, cycle);
        assert_eq!(board.cycle(0), cycle);
    }
}

#[test]
fn a_misaligned_store_to_the_last_byte_while_another_hart_holds_a_reservation_is_an_access_fault() {
    let mut board = board(2, 10);
    put(&mut board, BASE, &[lr_d(5, 10), WFI]);
    put(
        &mut board,
        BASE + 0x100,
        &[csrrw(0, MTVEC, 11), NOP, sd(0, 0, -1)],
    );
    put(&mut board, BASE + 0x200, &[csrr(12, MCAUSE), WFI]);
    board.set_x(0, 10, BASE + 0x800);
    board.set_pc(1, BASE + 0x100);
    board.set_x(1, 11, BASE + 0x200);
    run_to(&mut board, 100);
    assert_eq!(board.x(1, 12), 7);
}

/// Opens all of memory to S-mode and U-mode by PMP entry 0. Changes x31.
const ALLOW_ALL: [u32; 4] = [
    addi(31, 0, -1),
    csrrw(0, PMPADDR0, 31),
    addi(31, 0, 0x1f),
    csrrw(0, PMPCFG0, 31),
];

/// Page tables for S-mode: 0x1000 maps to the physical page `first`, 0x2000 to `second`, with these flags.
///
/// Returns `satp` and the address of the entries.
fn tables(board: &mut Board, first: u64, second: u64, flags: u64) -> (u64, u64) {
    let (root, middle, low) = (BASE + 0x1_0000, BASE + 0x1_1000, BASE + 0x1_2000);
    put_words(board, root, &[middle >> 12 << 10 | 1]);
    put_words(board, middle, &[low >> 12 << 10 | 1]);
    put_words(
        board,
        low,
        &[0, first >> 12 << 10 | flags, second >> 12 << 10 | flags],
    );
    (8 << 60 | root >> 12, low)
}

#[test]
fn a_jump_to_another_page_that_was_this_one_too_is_translated_again() {
    let mut board = board(1, 1000);
    let code = BASE + 0x4000;
    let (satp, entries) = tables(&mut board, code, code, 0xcf);
    // From 0x1000 to 0x2008, which is at first the same physical page.
    put(&mut board, code, &[jal(0x1008), NOP, ECALL]);
    // The first trap unmaps the second page and returns, the second trap ends the test.
    let main = [
        csrrw(0, SATP, 10),
        csrrw(0, MTVEC, 12),
        csrrw(0, MEPC, 13),
        csrrw(0, MSTATUS, 14),
        MRET,
    ];
    put(&mut board, BASE, &[&ALLOW_ALL[..], &main].concat());
    put(
        &mut board,
        BASE + 0x200,
        &[
            csrr(5, MCAUSE),
            sd(0, 11, 16),
            SFENCE_VMA,
            csrrw(0, MTVEC, 15),
            csrrw(0, MEPC, 13),
            MRET,
        ],
    );
    put(
        &mut board,
        BASE + 0x300,
        &[csrr(6, MCAUSE), csrr(7, MEPC), WFI],
    );
    let values = [
        (10, satp),
        (11, entries),
        (12, BASE + 0x200),
        (13, 0x1000),
        (14, 1 << 11),
        (15, BASE + 0x300),
    ];
    for (register, value) in values {
        board.set_x(0, register, value);
    }
    run_to(&mut board, 200);
    assert_eq!(board.x(0, 5), 9, "the call");
    assert_eq!(board.x(0, 6), 12, "the page fault");
    assert_eq!(board.x(0, 7), 0x2008);
}

#[test]
fn code_that_a_walk_marked_is_decoded_again() {
    let mut board = board(1, 1000);
    let (satp, entries) = tables(&mut board, 0, 0, 0);
    // The entry of a page that U may read. As an instruction it is an addi, and becomes one of floating point when A is
    // set.
    put_words(
        &mut board,
        entries,
        &[0, (BASE + 0x2_0000) >> 12 << 10 | 0x13],
    );
    let main = [
        csrrw(0, MTVEC, 12),
        csrrw(0, SATP, 10),
        // The entry's upper half is no instruction, nor is the marked lower half.
        jalr(0, 11),
    ];
    put(&mut board, BASE, &[&ALLOW_ALL[..], &main].concat());
    let first = [
        csrr(5, MCAUSE),
        csrr(6, MEPC),
        csrrw(0, MTVEC, 15),
        // A load with U's rights.
        csrrw(0, MSTATUS, 14),
        ld(9, 13, 0),
        csrrw(0, MSTATUS, 0),
        FENCE_I,
        jalr(0, 11),
    ];
    put(&mut board, BASE + 0x200, &first);
    put(
        &mut board,
        BASE + 0x300,
        &[csrr(7, MCAUSE), csrr(8, MEPC), WFI],
    );
    let entry = entries + 8;
    let values = [
        (10, satp),
        (11, entry),
        (12, BASE + 0x200),
        (13, 0x1000),
        (14, 1 << 17),
        (15, BASE + 0x300),
    ];
    for (register, value) in values {
        board.set_x(0, register, value);
    }
    run_to(&mut board, 200);
    assert_eq!(
        (board.x(0, 5), board.x(0, 6)),
        (2, entry + 4),
        "the entry is an instruction at first"
    );
    assert_eq!((board.x(0, 7), board.x(0, 8)), (2, entry), "and none then");
}

#[test]
fn a_mark_in_a_page_table_breaks_a_reservation_of_another_hart() {
    let mut board = board(2, 1);
    let (satp, entries) = tables(&mut board, BASE + 0x5000, 0, 0x17);
    put(&mut board, BASE, &[lr_d(5, 11)]);
    put(&mut board, BASE + 4, &[NOP; 40]);
    put(&mut board, BASE + 4 + 160, &[sc_d(6, 5, 11), WFI]);
    let other = [
        csrrw(0, SATP, 10),
        NOP,
        NOP,
        NOP,
        csrrw(0, MSTATUS, 14),
        ld(9, 13, 0),
        WFI,
    ];
    put(&mut board, BASE + 0x400, &[&ALLOW_ALL[..], &other].concat());
    board.set_pc(1, BASE + 0x400);
    board.set_x(0, 11, entries + 8);
    for (register, value) in [(10, satp), (13, 0x1000), (14, 1 << 17)] {
        board.set_x(1, register, value);
    }
    run_to(&mut board, 100);
    assert_eq!(board.x(0, 6), 1, "the conditional store fails");
    let mut entry = [0; 8];
    board
        .memory()
        .read(entries + 8, &mut entry)
        .expect("memory");
    assert_eq!(entry[0], 0x57, "the mark is there");
}

#[test]
fn timer_that_never_expires_does_not_stop_the_board_after_the_time_was_set_back() {
    let mut board = board(1, 1000);
    put(
        &mut board,
        BASE,
        &[csrrw(0, MENVCFG, 10), csrrw(0, STIMECMP, 11)],
    );
    put(&mut board, BASE + 8, &[NOP; 500]);
    put(&mut board, BASE + 8 + 2000, &[sd(0, 12, 0), NOP, WFI]);
    board.set_x(0, 10, 1 << 63);
    board.set_x(0, 11, u64::MAX);
    board.set_x(0, 12, 0x200_bff8);
    run_to(&mut board, 10_000);
    assert_eq!(board.cycle(0), 10_000);
}

#[test]
fn a_reservation_lasts_the_same_however_the_run_is_cut() {
    for between in [10, 62, 63, 64, 65, 200] {
        let result = |piece: u64| {
            let mut board = board(1, 1000);
            put(&mut board, BASE, &[lr_d(5, 11)]);
            put(&mut board, BASE + 4, &vec![NOP; between]);
            put(
                &mut board,
                BASE + 4 + 4 * between as u64,
                &[sc_d(6, 5, 11), WFI],
            );
            board.set_x(0, 11, BASE + 0x800);
            for cycle in (piece..400).step_by(piece as usize) {
                run_to(&mut board, cycle);
            }
            board.x(0, 6)
        };
        assert_eq!(
            result(399),
            u64::from(between > 63),
            "{between} instructions between"
        );
        assert_eq!(result(1), result(399), "{between} instructions between");
        assert_eq!(result(70), result(399), "{between} instructions between");
    }
}

#[test]
fn little_room_for_decoded_code_changes_nothing() {
    let result = |room: Option<usize>| {
        let mut board = board(1, 1000);
        if let Some(bytes) = room {
            board.keep_code(bytes);
        }
        put(
            &mut board,
            BASE,
            &[addi(5, 5, 1), jal(8), WFI, addi(5, 5, 1), jal(4), jal(-20)],
        );
        run_to(&mut board, 1000);
        board.x(0, 5)
    };
    assert_eq!(result(None), 400);
    assert_eq!(result(Some(0)), 400);
}

#[test]
fn a_board_on_which_nothing_will_happen_says_so() {
    let mut board = board(1, 1000);
    put(&mut board, BASE, &[WFI]);
    assert_eq!(board.run(Femtoseconds::NEVER), Outcome::Deadlock);
}
