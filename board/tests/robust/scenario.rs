//! Arbitrary software from random bytes, which a board has to tolerate.
//!
//! A [`Scenario`] is read from bytes, so that both seeded tests and fuzzers can make it. It has harts with their CSRs,
//! page tables, and registers that point to memory, code and devices. Most instructions of its code use those
//! registers.

use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::decode::Operation;
use tactus_board::devices::virtio::{Backend, Block, Disk, Entropy};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

/// The first address of memory.
pub const BASE: u64 = 0x8000_0000;
/// The size of memory in bytes.
const SIZE: u64 = 1 << 20;
/// The pages of the code of all harts, from the start of memory.
const CODE_PAGES: u64 = 8;
/// The offset of the page tables in memory; a multiple of 16 KiB.
pub const TABLES: u64 = 0x1_0000;
/// The offset of the harts' own words, 4 KiB for each hart.
const OWN: u64 = 0x2_0000;
/// The offset of the code that sets the CSRs, 4 KiB for each hart.
const PROLOGUE: u64 = 0x3_0000;
/// The offset of data, with garbage in its first pages.
const DATA: u64 = 0x4_0000;

/// Bytes as choices. After the last byte, all are 0.
pub struct Source<'a> {
    bytes: &'a [u8],
}

impl<'a> Source<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        let value = if bound <= 256 {
            u64::from(self.byte())
        } else {
            self.word()
        };
        value % bound
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn half(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    pub fn chance(&mut self, of: u8) -> bool {
        self.byte().is_multiple_of(of)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }
}

/// Bytes from a seed.
pub fn seeded(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = state;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(value ^ value >> 31).to_le_bytes());
    }
    bytes
}

/// Restrictions of a scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes {
    /// The number of harts. `None`: 1 to 4.
    pub harts: Option<usize>,
    /// The pace. `None`: either.
    pub timed: Option<bool>,
    /// No access to time, and no interrupts: the result is then the same at any pace.
    pub timeless: bool,
}

/// A board's software, and the settings of its run.
#[derive(Clone)]
pub struct Scenario {
    pub harts: usize,
    pub quantum: u64,
    pub timed: bool,
    memory: Vec<(u64, Vec<u8>)>,
    registers: Vec<[u64; 32]>,
    /// The length of the run, in cycles.
    pub cycles: u64,
    kept_code: usize,
    seed: u64,
}

/// CSRs that are set at the beginning, with random values.
fn set_up(source: &mut Source<'_>, hart: u64, wishes: Wishes) -> Vec<(u16, u64)> {
    let own = BASE + OWN + hart * 0x1000;
    let sv = |source: &mut Source<'_>, root: u64| -> u64 {
        let mode: u64 = source.one(&[8, 8, 8, 9, 0, 0]);
        mode << 60 | (source.below(3) << 44) | (BASE + TABLES + root) >> 12
    };
    let code = |source: &mut Source<'_>| BASE + source.below(CODE_PAGES * 4096);
    let mut list = Vec::new();
    for _ in 0..source.below(5) {
        // A range of memory, often one that ends within a page.
        let entry = source.below(15);
        let address = match source.below(4) {
            0 => (BASE + source.below(SIZE)) >> 2,
            1 => (BASE + DATA + source.below(0x2000)) >> 2,
            2 => (BASE + source.below(CODE_PAGES * 4096)) >> 2,
            _ => source.word(),
        };
        list.push((0x3b0 + entry as u16, address));
    }
    // The last entry opens all of memory to all modes.
    list.push((0x3bf, u64::MAX >> 10));
    let mut configuration = if source.chance(3) { source.word() } else { 0 };
    configuration &= !0x8080_8080_8080_8080;
    list.push((0x3a0, configuration));
    list.push((
        0x3a2,
        0x1f << 56
            | if source.chance(8) {
                source.word() & 0x7f7f_7f7f_7f7f
            } else {
                0
            },
    ));
    let enabled = if wishes.timeless { 0 } else { source.word() };
    list.extend([
        (0x305, own + 0x800),
        (0x340, own),
        (0x302, if source.chance(2) { source.word() } else { 0 }),
        (0x303, if source.chance(2) { source.word() } else { 0 }),
        (0x304, enabled),
        (0x306, if wishes.timeless { 0 } else { source.word() }),
        (
            0x30a,
            if wishes.timeless {
                1 << 61
            } else {
                source.word()
            },
        ),
        (0x105, code(source) & !3 | source.below(2)),
        (0x205, code(source) & !3),
        (0x602, source.word()),
        (0x603, source.word()),
        (0x606, source.word()),
        (0x60a, source.word()),
        (0x605, source.word()),
        (
            0x14d,
            if source.chance(2) {
                source.below(2000)
            } else {
                source.word()
            },
        ),
        (0x24d, source.word()),
        (0x180, sv(source, 0)),
        (0x280, sv(source, 0x4000)),
        (0x680, sv(source, 0x8000)),
        (0x600, source.word()),
        (0x200, source.word()),
        (0x141, code(source)),
        (0x241, code(source)),
        (0x341, code(source)),
        // Interrupts in M-mode, the first mode, and floating point.
        (0x300, source.word() & !0x8 | 0x6000),
    ]);
    list
}

/// Encodings of `ld rd, offset(rs1)`, `sd`, `csrrw`, and other instructions that are needed by name.
const fn ld(rd: u32, rs1: u32, offset: u32) -> u32 {
    offset << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x03
}
const fn sd(rs2: u32, rs1: u32, offset: u32) -> u32 {
    offset >> 5 << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | (offset & 31) << 7 | 0x23
}
const fn csrrw(rd: u32, csr: u32, rs1: u32) -> u32 {
    csr << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73
}
const fn csrrs(rd: u32, csr: u32, rs1: u32) -> u32 {
    csr << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x73
}
const fn addi(rd: u32, rs1: u32, value: u32) -> u32 {
    value << 20 | rs1 << 15 | rd << 7 | 0x13
}
const fn andi(rd: u32, rs1: u32, value: u32) -> u32 {
    value << 20 | rs1 << 15 | 7 << 12 | rd << 7 | 0x13
}
const fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | rd << 7 | 0x33
}
/// A branch ahead by less than 32 bytes.
const fn branch(kind: u32, rs1: u32, rs2: u32, to: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | kind << 12 | (to >> 1 & 15) << 8 | 0x63
}
const MRET: u32 = 0x3020_0073;

/// CSRs that the code reads and writes.
const CSRS: [u16; 62] = [
    0x001, 0x002, 0x003, 0x100, 0x104, 0x105, 0x106, 0x10a, 0x140, 0x141, 0x142, 0x143, 0x144,
    0x14d, 0x180, 0x200, 0x204, 0x205, 0x240, 0x241, 0x244, 0x24d, 0x280, 0x300, 0x302, 0x303,
    0x304, 0x306, 0x30a, 0x320, 0x323, 0x341, 0x342, 0x343, 0x344, 0x34a, 0x34b, 0x3a0, 0x3a2,
    0x3b0, 0x3b1, 0x3b2, 0x600, 0x602, 0x603, 0x604, 0x605, 0x606, 0x60a, 0x643, 0x644, 0x645,
    0x64a, 0x680, 0xb00, 0xb02, 0xb03, 0xc00, 0xc01, 0xc02, 0xc03, 0xf14,
];
/// CSRs that depend on time or on pending interrupts.
const TIMELY: [u16; 22] = [
    0x104, 0x144, 0x14d, 0x204, 0x244, 0x24d, 0x304, 0x306, 0x30a, 0x344, 0x604, 0x605, 0x644,
    0x645, 0xb00, 0xb03, 0xc00, 0xc01, 0xc03, 0x323, 0x320, 0x60a,
];

/// A register with an address: 8 to 15. The others have any value.
fn pointer(source: &mut Source<'_>) -> u32 {
    8 + source.below(8) as u32
}

fn any_register(source: &mut Source<'_>) -> u32 {
    source.below(32) as u32
}

/// A destination register, rarely one with an address.
fn result(source: &mut Source<'_>) -> u32 {
    let register = any_register(source);
    if (8..16).contains(&register) && !source.chance(16) {
        register - 8
    } else {
        register
    }
}

fn operation(source: &mut Source<'_>) -> u32 {
    let (mask, bits) = Operation::ALL[source.below(Operation::COUNT as u64) as usize].encoding();
    bits | source.half() & !mask
}

fn instruction(source: &mut Source<'_>, wishes: Wishes) -> u32 {
    let offset = |source: &mut Source<'_>| {
        if source.chance(3) {
            source.half() & 0xfff
        } else {
            u32::from(source.byte() & 0x38)
        }
    };
    loop {
        let bits = match source.below(20) {
            0..=3 => {
                let (mask, bits) = (0x707f, [0x13, 0x33, 0x1b, 0x3b][source.below(4) as usize]);
                let rest = source.half()
                    & !mask
                    & !0xf80
                    & if bits & 0x20 != 0 { !0xbc00_0000 } else { !0 };
                bits | rest | result(source) << 7 | u32::from(source.byte() & 7) << 12
            }
            4 | 5 => {
                offset(source) << 20
                    | pointer(source) << 15
                    | (source.below(7) as u32) << 12
                    | result(source) << 7
                    | 0x03
            }
            6 | 7 => {
                let offset = offset(source);
                offset >> 5 << 25
                    | any_register(source) << 20
                    | pointer(source) << 15
                    | (source.below(4) as u32) << 12
                    | (offset & 31) << 7
                    | 0x23
            }
            8 => {
                let kind: u32 = source.one(&[0, 1, 4, 8, 12, 16, 20, 24, 28]);
                kind << 27
                    | any_register(source) << 20
                    | pointer(source) << 15
                    | (2 + source.below(2) as u32) << 12
                    | result(source) << 7
                    | 0x2f
            }
            // Load-reserved and store-conditional of one address.
            9 => {
                let kind = 2 + source.below(2) as u32;
                kind << 27
                    | (if kind == 2 { 0 } else { any_register(source) }) << 20
                    | 10 << 15
                    | 3 << 12
                    | result(source) << 7
                    | 0x2f
            }
            10 | 11 => {
                // A short branch.
                let to = if source.chance(2) {
                    4 + u32::from(source.byte() & 0x3e)
                } else {
                    0x1000 | source.half() & 0xffe
                };
                let to = if source.chance(6) {
                    (to as i32).wrapping_neg() as u32
                } else {
                    to
                };
                (to >> 12 & 1) << 31
                    | (to >> 5 & 0x3f) << 25
                    | any_register(source) << 20
                    | any_register(source) << 15
                    | source.one::<u32>(&[0, 1, 4, 5, 6, 7]) << 12
                    | (to >> 1 & 15) << 8
                    | (to >> 11 & 1) << 7
                    | 0x63
            }
            12 => {
                let to = source.half() & 0x7ffe;
                let to = if source.chance(3) {
                    (to as i32).wrapping_neg() as u32
                } else {
                    to
                };
                (to >> 20 & 1) << 31
                    | (to >> 1 & 0x3ff) << 21
                    | (to >> 11 & 1) << 20
                    | (to >> 12 & 0xff) << 12
                    | result(source) << 7
                    | 0x6f
            }
            13 => offset(source) << 20 | pointer(source) << 15 | result(source) << 7 | 0x67,
            14 => {
                let csr = source.one(&CSRS);
                if wishes.timeless && TIMELY.contains(&csr) {
                    continue;
                }
                u32::from(csr) << 20
                    | any_register(source) << 15
                    | source.one::<u32>(&[1, 2, 3, 5, 6, 7]) << 12
                    | result(source) << 7
                    | 0x73
            }
            15 => {
                // Calls, returns, fences, wfi.
                let pointer = if source.chance(2) { pointer(source) } else { 0 };
                source.one(&[
                    0x73,
                    0x10_0073,
                    0x1020_0073,
                    0x3020_0073,
                    0x1050_0073,
                    0x100f,
                    0x0ff0_000f,
                    0x1200_0073 | pointer << 15,
                    0x2200_0073 | pointer << 15,
                    0x6200_0073 | pointer << 15,
                ])
            }
            16 => {
                // The hypervisor's loads and stores.
                let (mask, bits) = source
                    .one(&[
                        Operation::HlvB,
                        Operation::HlvxHu,
                        Operation::HlvD,
                        Operation::HsvB,
                        Operation::HsvD,
                        Operation::HlvxWu,
                    ])
                    .encoding();
                bits | (source.half() & !mask & !0xf_8f80
                    | pointer(source) << 15
                    | result(source) << 7)
                    & !mask
            }
            17 => operation(source),
            18 => source.half() & 0xffff_fffc | source.below(3) as u32,
            _ => source.half(),
        };
        // Without interrupts a wfi would wait for ever, and any word can be a wfi.
        if wishes.timeless
            && (bits == 0x1050_0073
                || bits & 0x7f == 0x73
                    && bits >> 12 & 3 != 0
                    && TIMELY.contains(&((bits >> 20) as u16)))
        {
            continue;
        }
        return bits;
    }
}

impl Scenario {
    /// The scenario that the bytes encode.
    pub fn of(source: &mut Source<'_>, wishes: Wishes) -> Self {
        let harts = wishes.harts.unwrap_or(1 + source.below(4) as usize);
        let quantum = match source.below(4) {
            0 => 1,
            1 => 1 + source.below(16),
            _ => 1 + source.below(1000),
        };
        let timed = wishes.timed.unwrap_or(source.chance(2));
        let mut memory = Vec::new();
        let mut put = |at: u64, bytes: Vec<u8>| memory.push((BASE + at, bytes));
        let words = |words: &[u64]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        let code =
            |code: &[u32]| -> Vec<u8> { code.iter().flat_map(|word| word.to_le_bytes()).collect() };

        // Code at random places, often at the beginning and about the ends of pages.
        for _ in 0..source.below(12) {
            let page = source.below(CODE_PAGES);
            let at = if source.chance(2) {
                source.below(2048) * 2
            } else {
                4096 - 2 - source.below(24) * 2
            };
            let mut text = Vec::new();
            for _ in 0..source.below(40) {
                let bits = instruction(source, wishes);
                let long = bits & 3 == 3;
                text.extend_from_slice(&bits.to_le_bytes()[..if long { 4 } else { 2 }]);
            }
            put((page * 4096 + at).min(CODE_PAGES * 4096 - 200), text);
        }

        // Page tables: one gigapage at memory, and small pages at 0 to 2 MiB that lead anywhere. There is a set of
        // three for each of satp, vsatp and hgatp; hgatp's has a root of four pages.
        for (number, root) in [0, 0x4000, 0x8000].into_iter().enumerate() {
            let table = |page: u64| (BASE + TABLES + root + page * 0x1000) >> 12 << 10 | 1;
            let (middle, low) = if number == 2 { (4, 5) } else { (1, 2) };
            let flags = |source: &mut Source<'_>| match source.below(4) {
                0 => 0xdf,
                1 => 0xcf | if number == 2 { 0x10 } else { 0 },
                2 => 0x1f,
                _ => u64::from(source.byte()) | 1,
            };
            put(
                TABLES + root,
                words(&[table(middle), 0, (BASE >> 12) << 10 | flags(source)]),
            );
            put(
                TABLES + root + middle * 0x1000,
                words(&[table(low), (BASE >> 12) << 10 | flags(source)]),
            );
            let mut entries = Vec::new();
            for _ in 0..64 {
                let page = match source.below(4) {
                    0 => source.below(CODE_PAGES),
                    1 => (DATA >> 12) + source.below(2),
                    2 => (TABLES >> 12) + source.below(16),
                    _ => source.below(SIZE >> 12),
                };
                entries.push(((BASE >> 12) + page) << 10 | flags(source));
            }
            put(TABLES + root + low * 0x1000, words(&entries));
        }
        put(DATA, (0..64).map(|_| source.byte()).collect());

        let devices: [u64; 10] = [
            0x200_4000,
            0x200_bff8,
            0x200_0000,
            0xc00_0000,
            0xc20_0004,
            0x1000_0000,
            0x1000_1000,
            0x1000_2000,
            0x10_1000,
            0xc00_2000,
        ];
        let mut registers = Vec::new();
        for hart in 0..harts as u64 {
            let setting = set_up(source, hart, wishes);
            let own = OWN + hart * 0x1000;
            let mut values: Vec<u64> = vec![0; 8];
            // Addresses to which the M-mode handler sometimes returns.
            values.extend((0..8).map(|_| match source.below(4) {
                0 => source.below(64 << 12),
                1 => BASE + source.below(CODE_PAGES) * 4096 + 4096 - 2 * source.below(32),
                _ => (BASE + source.below(CODE_PAGES * 4096)) & !1,
            }));
            values.extend(setting.iter().map(|(_, value)| value));
            let mut text = Vec::new();
            for (index, (csr, _)) in setting.iter().enumerate() {
                text.extend([
                    ld(30, 31, 128 + 8 * index as u32),
                    csrrw(0, (*csr).into(), 30),
                ]);
            }
            text.push(MRET);
            put(own, words(&values));
            put(PROLOGUE + hart * 0x1000, code(&text));
            // The handler usually continues after the instruction, and sometimes elsewhere.
            let every = source.one::<u32>(&[0x38, 0x78, 0xf8]);
            let handler = [
                csrrw(31, 0x340, 31),
                sd(30, 31, 0),
                csrrs(30, 0xb02, 0),
                andi(30, 30, every),
                branch(1, 30, 0, 24),
                csrrs(30, 0xb02, 0),
                andi(30, 30, 0x38),
                add(30, 30, 31),
                ld(30, 30, 64),
                branch(0, 0, 0, 12),
                csrrs(30, 0x341, 0),
                addi(30, 30, 4),
                csrrw(0, 0x341, 30),
                ld(30, 31, 0),
                csrrw(31, 0x340, 31),
                MRET,
            ];
            put(own + 0x800, code(&handler));
            let mut x: [u64; 32] = std::array::from_fn(|_| {
                if source.chance(2) {
                    source.word()
                } else {
                    u64::from(source.byte())
                }
            });
            for pointer in &mut x[8..16] {
                *pointer = match source.below(12) {
                    0 => BASE + source.below(CODE_PAGES * 4096),
                    1 => BASE + DATA + source.below(256),
                    2 => BASE + DATA + 4096 - source.below(16),
                    3 => source.below(64 << 12),
                    4 => source.below(64) << 12,
                    5 => (1 << 21) + source.below(SIZE),
                    6 if !wishes.timeless => source.one(&devices),
                    7 => (BASE + TABLES + source.below(0xf000)) & !7,
                    8 => u64::MAX - source.below(32),
                    9 => BASE + SIZE - source.below(32),
                    _ => BASE + DATA + 8 * source.below(8),
                };
            }
            x[10] = BASE + DATA + 8 * source.below(3);
            x[31] = BASE + own;
            registers.push(x);
        }
        let cycles = 200 + source.below(6000);
        let kept_code = source.one(&[0, 1 << 10, 1 << 14, 1 << 20]);
        Self {
            harts,
            quantum,
            timed,
            memory,
            registers,
            cycles,
            kept_code,
            seed: source.word(),
        }
    }

    /// The board without software.
    pub fn bare(&self, quantum: u64, timed: bool) -> Board {
        let profile = Profile::named("soc").expect("a profile of the product");
        let options = Options {
            harts: Some(self.harts),
            memory: Some(SIZE),
            quantum: Some(quantum),
            seed: self.seed,
            ..Options::default()
        };
        let disk: Box<dyn Backend> =
            Box::new(Block::new(Disk::new(vec![0x5a; 64 << 10].into()), "disk"));
        let entropy: Box<dyn Backend> = Box::new(Entropy::new(self.seed));
        let (mut board, console) =
            setup::board(&profile, &options, vec![disk, entropy]).expect("a board of the product");
        board.keep_code(self.kept_code);
        console.send_at(Femtoseconds(1_000_000_000), b"typed");
        if timed {
            board.set_pace(Pace::Timed);
        }
        board
    }

    /// The board with the software in memory.
    pub fn board_of(&self, quantum: u64, timed: bool) -> Board {
        let mut board = self.bare(quantum, timed);
        for (address, bytes) in &self.memory {
            board.write(*address, bytes).expect("memory is there");
        }
        for (hart, registers) in self.registers.iter().enumerate() {
            for (register, value) in registers.iter().enumerate() {
                board.set_x(hart, register, *value);
            }
            board.set_pc(hart, BASE + PROLOGUE + hart as u64 * 0x1000);
        }
        board
    }

    pub fn board(&self) -> Board {
        self.board_of(self.quantum, self.timed)
    }

    /// An address with code, for probes.
    pub fn place(source: &mut Source<'_>) -> u64 {
        match source.below(3) {
            0 => source.below(64 << 12) & !1,
            1 => BASE + OWN + 0x800 + 4 * source.below(16),
            _ => (BASE + source.below(CODE_PAGES * 4096)) & !1,
        }
    }
}

/// Runs to a cycle and checks properties of every run. A board that stopped continues.
pub fn run_to(board: &mut Board, cycle: u64) {
    let limit = board.clock().time_of(cycle);
    loop {
        let before: Vec<_> = (0..board.harts())
            .map(|hart| (board.cycle(hart), board.instructions(hart)))
            .collect();
        let outcome = board.run(limit);
        for (hart, (cycle_before, instructions_before)) in before.into_iter().enumerate() {
            let (now, instructions) = (board.cycle(hart), board.instructions(hart));
            assert_eq!(board.x(hart, 0), 0);
            assert!(
                now >= cycle_before && instructions >= instructions_before,
                "a hart went back"
            );
            assert_eq!(board.pc(hart) & 1, 0);
            if board.pace() == Pace::Fast {
                assert!(
                    instructions - instructions_before <= now - cycle_before,
                    "instructions that take no time"
                );
                // Beside other harts, a hart completes its quantum.
                let beside = if board.harts() > 1 {
                    board.quantum()
                } else {
                    0
                };
                assert!(
                    now <= cycle.max(cycle_before) + beside,
                    "hart {hart} is at {now}, was at {cycle_before}, was to stop at {cycle}"
                );
            }
            if outcome == Outcome::Limit {
                assert!(now >= cycle, "a hart is behind");
            }
        }
        match outcome {
            Outcome::Stop(_)
            | Outcome::Breakpoint { .. }
            | Outcome::Watchpoint { .. }
            | Outcome::Condition => {}
            Outcome::Limit => return,
            Outcome::Deadlock => panic!("no such end was asked for"),
        }
    }
}
