//! Random tests: state, page tables and segments, and the image that holds them.

use super::image::Piece;
use super::layout::{
    self, CODE, HEADER, LANDING, LIVE, LIVE_PAGES, PRISTINE, RECORDS, SCRATCH_PAGES, USER,
};
use super::program::{self, Allowed, Mode};
use super::random::Random;

/// Segments of a test.
const SEGMENTS: usize = 12;

// The pages of LIVE that are page tables. Each root could be a G stage's, at 16 KiB: QEMU 10.0 keeps the lowest bits of
// hgatp's PPN, which should read as zeros.
const S_ROOT48: u64 = 8;
const S_ROOT: u64 = 12;
const VS_ROOT48: u64 = 20;
const VS_ROOT: u64 = 24;
/// Tables of a stage, from its Sv39 root on: the second level for supervisor and for user addresses, and the last
/// level.
const SECOND: u64 = 1;
const SECOND_USER: u64 = 2;
const LAST: u64 = 3;
const LAST_USER: u64 = 4;
const G_ROOT: u64 = 32;
const G_SECOND: u64 = 36;
const G_LAST: u64 = 37;
/// The index in the last tables of a page with other rights that maps to the landing page, at this distance from LIVE.
const LANDING_INDEX: u64 = 64;

const V: u64 = 1;
const R: u64 = 2;
const W: u64 = 4;
const X: u64 = 8;
const U: u64 = 16;
const A: u64 = 64;
const D: u64 = 128;

/// The translation of a test's addresses.
#[derive(Clone, Copy)]
struct Translation {
    satp: u64,
    vsatp: u64,
    hgatp: u64,
}

impl Translation {
    /// The distance of addresses in `mode` from physical ones.
    const fn distance(self, mode: Mode) -> u64 {
        match mode {
            Mode::User if self.satp != 0 => USER,
            Mode::VirtualUser if self.vsatp != 0 => USER,
            _ => 0,
        }
    }
}

const fn page(number: u64) -> u64 {
    LIVE + number * 0x1000
}

const fn entry(address: u64, flags: u64) -> u64 {
    address >> 12 << 10 | flags
}

/// The initial memory of all tests: random scratch pages, and page tables that map all pages of a test.
fn pristine() -> Vec<u8> {
    let mut random = Random::new(0);
    let mut words = vec![0_u64; (LIVE_PAGES * 512) as usize];
    for word in &mut words[..(SCRATCH_PAGES * 512) as usize] {
        *word = if random.once_in(2) {
            random.float()
        } else {
            random.value()
        };
    }
    let mut set =
        |table: u64, index: u64, value: u64| words[(table * 512 + index) as usize] = value;
    let code_index = CODE >> 21 & 511;
    let live_index = LIVE >> 21 & 511;
    for (root48, root) in [(S_ROOT48, S_ROOT), (VS_ROOT48, VS_ROOT)] {
        set(root48, 0, entry(page(root), V));
        set(root, 2, entry(page(root + SECOND), V));
        set(root, 6, entry(page(root + SECOND_USER), V));
        for (second, last, user) in [(SECOND, LAST, 0), (SECOND_USER, LAST_USER, U)] {
            set(
                root + second,
                code_index,
                entry(CODE, V | R | X | A | D | user),
            );
            set(root + second, live_index, entry(page(root + last), V));
            for number in 0..SCRATCH_PAGES {
                set(
                    root + last,
                    number,
                    entry(page(number), V | R | W | A | D | user),
                );
            }
            set(
                root + last,
                LANDING_INDEX,
                entry(LANDING, V | R | X | A | D | user),
            );
        }
    }
    set(G_ROOT, 2, entry(page(G_SECOND), V));
    set(G_ROOT, 6, entry(page(G_SECOND), V));
    set(G_SECOND, code_index, entry(CODE, V | R | X | U | A | D));
    set(G_SECOND, live_index, entry(page(G_LAST), V));
    for number in 0..LIVE_PAGES {
        set(G_LAST, number, entry(page(number), V | R | W | U | A | D));
    }
    set(G_LAST, LANDING_INDEX, entry(LANDING, V | R | X | U | A | D));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The handlers of delegated traps, which always call machine mode, and the landing page.
fn fixed_code() -> Vec<u8> {
    let mut bytes = 0x0000_0073_u32.to_le_bytes().repeat(0x400);
    for offset in (0..0x1000_usize).step_by(8) {
        // An ecall, illegal instructions, an ecall's first half. At an address two bytes further, all instructions are
        // shifted.
        let words = if offset % 16 == 0 {
            [0x73, 0, 0, 0, 0, 0, 0, 0]
        } else {
            [0x73, 0, 0, 0, 0, 0, 0x73, 0]
        };
        bytes.extend_from_slice(&words);
    }
    bytes
}

/// A test's record, segments and patches as they are in memory from `address` on, and its code at `code`.
struct Test {
    record: Vec<u64>,
    code: Vec<u8>,
    segments: Vec<u64>,
}

/// A page-table entry that is likely wrong in some way.
fn odd_entry(random: &mut Random, target: u64, user: bool) -> u64 {
    let good = V | R | W | A | D | if user { U } else { 0 };
    let flags = match random.below(4) {
        0 => random.below(256),
        1 => good ^ 1 << random.below(8),
        2 => {
            random.pick(&[
                V | R | A | D,
                V | X | A | D,
                V | R | X | A | D,
                V | A | D,
                V | W | A | D,
            ]) | good & U
        }
        _ => good | random.below(4) << 8,
    };
    // Jumps go to the landing page only, so that executable scratch pages do no harm.
    let entry = entry(target, flags);
    if random.once_in(10) {
        entry | 1 << (54 + random.below(10))
    } else {
        entry
    }
}

fn patches(random: &mut Random) -> Vec<u64> {
    let mut words = Vec::new();
    for _ in 0..random.below(24) {
        let user = random.once_in(2);
        let scratch = |random: &mut Random| page(random.below(SCRATCH_PAGES));
        let (table, index, value) = match random.below(40) {
            0..28 => {
                let root = if random.once_in(2) { S_ROOT } else { VS_ROOT };
                let table = root + if user { LAST_USER } else { LAST };
                let target = if random.once_in(20) {
                    0x9000_0000
                } else {
                    scratch(random)
                };
                (
                    table,
                    random.below(SCRATCH_PAGES),
                    odd_entry(random, target, user),
                )
            }
            28..31 => {
                let root = if random.once_in(2) { S_ROOT } else { VS_ROOT };
                let table = root + if user { LAST_USER } else { LAST };
                (
                    table,
                    LANDING_INDEX + random.below(2),
                    odd_entry(random, LANDING, user) | random.pick(&[0, X, X | V]),
                )
            }
            31..36 => {
                let index = random.below(LIVE_PAGES);
                // Tables stay in place: QEMU reports a walk's access that PMP refuses as a guest-page fault.
                let elsewhere = scratch(random);
                let target = if index < SCRATCH_PAGES {
                    elsewhere
                } else {
                    page(index)
                };
                let value = odd_entry(random, target, true);
                // The specification leaves open whether MXR lets a walk read an entry in an execute-only page.
                let walk_by_mxr = index >= SCRATCH_PAGES && value & (X | R) == X;
                (G_LAST, index, if walk_by_mxr { value & !V } else { value })
            }
            36 => (
                G_LAST,
                LANDING_INDEX + random.below(2),
                odd_entry(random, LANDING, true) | random.pick(&[0, X, X | V]),
            ),
            37 => {
                let root = if random.once_in(2) { S_ROOT } else { VS_ROOT };
                (root, 3, odd_entry(random, 0x8000_0000, user) & !(X | W))
            }
            38 => {
                let root = if random.once_in(2) { S_ROOT } else { VS_ROOT };
                (root + SECOND, 3, odd_entry(random, LIVE, false) & !X)
            }
            _ => (
                G_ROOT,
                random.pick(&[3, 7, 2047]),
                odd_entry(random, 0x8000_0000, true) & !(X | W),
            ),
        };
        // Where G-stage pages of tables are redirected, the walk reads scratch memory as a table, which is harmless as
        // well.
        words.extend([page(table) + index * 8, value]);
    }
    words
}

/// An address that likely faults, as a pointer.
fn bad_pointer(random: &mut Random, mode: Mode, translation: Translation) -> u64 {
    let distance = translation.distance(mode);
    let near = random.below(32).wrapping_sub(16);
    match random.below(12) {
        0 => near,
        1 => (1_u64 << 38).wrapping_add(near),
        2 => (1_u64 << 39).wrapping_add(near),
        3 => (1_u64 << random.pick(&[40_u64, 41, 47, 48, 56, 63])).wrapping_add(near),
        4 => 0x9000_0000_u64.wrapping_add(near & !7),
        5 => 0xc000_0000 + random.below(1 << 29),
        6 => page(LANDING_INDEX) + distance + random.below(0x1000),
        7 => page(random.below(SCRATCH_PAGES)) + (USER - distance),
        8 => (0xffff_ffc0_0000_0000_u64).wrapping_add(near),
        9 => 0x8060_0000 + random.below(0x1000),
        _ => page(random.below(SCRATCH_PAGES))
            .wrapping_add(distance)
            .wrapping_add(near),
    }
}

fn jump_target(random: &mut Random, mode: Mode, translation: Translation) -> u64 {
    let distance = translation.distance(mode);
    match random.below(8) {
        0..3 => LANDING + distance + random.below(64) * 2,
        3 => LANDING + distance + random.below(64),
        4 => page(LANDING_INDEX) + distance + random.below(64) * 2,
        5 => page(LANDING_INDEX) + distance + 0xffe,
        6 => LANDING + (USER - distance),
        _ => random.pick(&[
            0x9000_0000,
            1 << 39,
            1 << 41,
            1 << 63,
            0x80_0000_0000,
            u64::MAX - 1,
            0x1800_0000,
        ]),
    }
}

/// The fields of `mstatus` and the like that a program may set to any value, with a legal MPP and unchanged UXL and
/// SXL.
fn status(random: &mut Random) -> u64 {
    let mpp = random.pick(&[0, 1, 3]);
    // TSR, TW, TVM, MXR, SUM, FS, SPP, MPIE, SPIE, MIE, SIE.
    let mut value = random.word() & (0x7c_0000 | 0x6000 | 0x1aa);
    value = value & !0x0008 | mpp << 11 | random.bit(4) << 3;
    // FS is off or dirty: QEMU 10.0 does not set it when an instruction changes only flags, which the specification
    // forbids.
    value &= !0x6000;
    if !random.once_in(8) {
        value |= 0x6000;
    }
    value | random.below(2) << 39 | random.bit(8) << 17 | 0xa_0000_0000
}

/// `hstatus`: VSXL is unchanged; VTSR, VTW, VTVM, HU, SPVP and SPV are random.
fn hypervisor_status(random: &mut Random) -> u64 {
    random.word() & 0x70_0380 | 2 << 32
}

/// `medeleg` and `hedeleg` without the exceptions that could make a handler unreachable.
fn delegation(random: &mut Random) -> u64 {
    let fetches_and_calls = 1 << 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 20;
    let some = random.word_pair();
    let all = random.pick(&[0, u64::MAX, some]);
    all & 0xf0_b1ff & !fetches_and_calls
}

impl Random {
    /// Random bits, of which a half or a quarter are set.
    fn word_pair(&mut self) -> u64 {
        let word = self.word();
        if self.once_in(2) {
            word
        } else {
            word & self.word()
        }
    }
}

fn csr(random: &mut Random, name: &str, translation: Translation, allowed: Allowed) -> u64 {
    let interrupts = 0x222;
    let any = random.word();
    let dense = random.word_pair();
    match name {
        // One entry over all memory, or that entry after two others.
        "pmpaddr0" | "pmpaddr1" if random.once_in(2) => {
            (page(random.below(SCRATCH_PAGES)) + random.below(4) * 0x400) >> 2
        }
        "pmpaddr0" => page(random.below(SCRATCH_PAGES)) >> 2 | random.pick(&[0, 1, 3, 7, 0x1ff]),
        "pmpaddr4" => u64::MAX >> 10,
        // No entry covers the page tables: QEMU 10.0 reports PMP's refusals there as guest-page faults.
        "pmpaddr1" => random.pick(&[0, LIVE >> 2, page(3) >> 2]),
        "pmpaddr2" | "pmpaddr3" => random.pick(&[0, LIVE >> 2, any >> 10]),
        "pmpcfg0" => {
            let all = 0x1f << 32;
            // Entries 1 to 3 are off, or cover little memory. Writable without readable is reserved. No entry is an
            // empty range: on QEMU 10.0 an empty range covers some memory.
            let rights = random.pick(&[0, 1, 3, 4, 5, 7]) | random.below(4) << 3;
            if dense & 3 == 0 {
                all | rights | random.pick(&[0, 0x10, 0x17, 0x18, 0x19, 0x1f]) << 8
            } else {
                all
            }
        }
        "medeleg" | "hedeleg" => delegation(random),
        "mideleg" => dense & interrupts,
        "hideleg" => dense & 0x444,
        "mcounteren" | "scounteren" | "hcounteren" => random.pick(&[0, 7, any & 0xffff_ffff]),
        // FIOM and ADUE.
        "menvcfg" | "henvcfg" => {
            random.bit(4) | u64::from(allowed.marks) << 61 | u64::from(allowed.timer) << 63
        }
        "senvcfg" => random.below(2),
        "htimedelta" => random.pick(&[0, any]),
        "stimecmp" if !allowed.timer || allowed.interrupt != 0x20 => u64::MAX,
        "vstimecmp" if !allowed.timer || allowed.interrupt != 0x40 => u64::MAX,
        "stimecmp" | "vstimecmp" => random.pick(&[0, u64::MAX, u64::MAX, any]),
        "satp" => translation.satp,
        "vsatp" => translation.vsatp,
        "hgatp" => translation.hgatp,
        "hstatus" => hypervisor_status(random),
        "vsstatus" | "mstatus" => {
            let value = status(random)
                & allowed.status()
                & !(1 << 17)
                & if name == "mstatus" { !0x8 } else { u64::MAX };
            if name == "vsstatus" {
                value & 0xc_6122 | 2 << 32
            } else {
                value
            }
        }
        "stvec" | "vstvec" => CODE + random.below(2),
        "scause" | "vscause" | "mcause" => random.below(16) | random.below(2) << 63,
        "mie" => random.pick(&[0, 0, any & 0x1fff]),
        "hvip" if allowed.timer => any & 0x404 & allowed.interrupt,
        "hvip" => any & 0x444 & allowed.interrupt,
        "mip" => any & 0x222 & allowed.interrupt,
        "sepc" | "vsepc" => any & !1,
        "sscratch" | "vsscratch" | "stval" | "vstval" | "htval" | "mtval2" | "mtval" => {
            random.value()
        }
        "fcsr" => random.below(5) << 5 | random.below(32),
        _ => 0,
    }
}

impl Test {
    /// The test of a seed, with its record at `address` and its code at `code_address`.
    fn new(seed: u64, address: u64, code_address: u64) -> Self {
        let random = &mut Random::new(seed);
        let bare_or = |random: &mut Random, roots: [u64; 2]| match random.below(6) {
            0 => 0,
            1 => 9 << 60 | page(roots[0]) >> 12,
            _ => 8 << 60 | page(roots[1]) >> 12,
        };
        let translation = Translation {
            satp: bare_or(random, [S_ROOT48, S_ROOT]),
            vsatp: bare_or(random, [VS_ROOT48, VS_ROOT]),
            hgatp: if random.once_in(6) {
                0
            } else {
                8 << 60 | random.below(4) << 44 | page(G_ROOT) >> 12
            },
        };
        let interrupt = random.pick(&[2, 0x20, 0x200, 4, 0x40, 0x400]);
        let allowed = Allowed {
            tsr: random.once_in(2),
            timer: random.once_in(2),
            marks: random.once_in(2),
            interrupt,
        };
        let patches = if random.once_in(8) {
            Vec::new()
        } else {
            patches(random)
        };
        let head = layout::RECORD_WORDS as u64;
        let patch_address = address + head * 8;
        let segment_address = patch_address + patches.len() as u64 * 8;
        let mut record = vec![
            patch_address,
            patches.len() as u64 / 2,
            segment_address,
            SEGMENTS as u64,
        ];
        record.extend((0..32).map(|_| random.float()));
        record.extend((0..32).map(|_| random.value()));
        record.extend(
            layout::SET
                .iter()
                .map(|(name, _)| csr(random, name, translation, allowed)),
        );
        record.extend(patches);
        let mut bytes = Vec::new();
        let mut segments = Vec::new();
        for _ in 0..SEGMENTS {
            let mode = random.pick(&Mode::ALL);
            let length = 6 + random.below(26) as usize;
            let odd_root = random.once_in(4);
            let segment = program::code(random, mode, length, odd_root, allowed);
            let distance = translation.distance(mode);
            let start = code_address + bytes.len() as u64;
            segments.push(start);
            // MPIE is rare, so that interrupts do not preempt all segments.
            record.extend([start + distance, mode.status() | random.bit(4) << 7]);
            record.push(page(2 + random.below(4)) + distance + 0x400 + random.below(0x80) * 8);
            for register in [8, 9] {
                let within = match random.below(6) {
                    0 => random.below(0x1000),
                    1 => 0xff0 + random.below(16),
                    _ => random.below(0x200) * 8,
                };
                let within = if register == 9 { within & !7 } else { within };
                record.push(page(1 + random.below(SCRATCH_PAGES - 2)) + distance + within);
            }
            record.push(bad_pointer(random, mode, translation));
            record.push(jump_target(random, mode, translation));
            // x12: the address of a later instruction, as the mode or user mode sees it.
            let offset = random.pick(&segment.targets);
            record.push(start + offset + random.pick(&[0, distance, USER]));
            record.push(match random.below(6) {
                _ if odd_root => random.pick(&[1, 5, 10]) << 60 | random.word() >> 20,
                0 => 0,
                1 => translation.satp | random.below(4) << 44,
                2 => 8 << 60 | page(VS_ROOT) >> 12,
                3 => 8 << 60 | page(S_ROOT) >> 12,
                4 => 9 << 60 | page(S_ROOT48) >> 12 | 0x3fff << 44,
                _ => 8 << 60 | page(G_ROOT) >> 12,
            });
            record.push(status(random) & allowed.status());
            record.push(hypervisor_status(random));
            bytes.extend(segment.bytes);
            while bytes.len() % 4 != 0 {
                bytes.push(0);
            }
        }
        Self {
            record,
            code: bytes,
            segments,
        }
    }
}

/// An image of `count` tests.
pub struct Image {
    /// The code, from [`CODE`] on.
    pub code: Vec<u8>,
    records: Vec<u8>,
    tests: Vec<u64>,
    /// The first address of each segment, ascending.
    segments: Vec<u64>,
}

impl Image {
    /// The image of a seed.
    ///
    /// # Panics
    ///
    /// The code of that many tests is too long.
    pub fn new(seed: u64, count: usize) -> Self {
        let mut code = fixed_code();
        let mut records: Vec<u8> = Vec::new();
        let (mut tests, mut segments) = (Vec::new(), Vec::new());
        let mut seeds = Random::new(seed);
        for _ in 0..count {
            let address = RECORDS + records.len() as u64;
            tests.push(address);
            let test = Test::new(seeds.word(), address, CODE + code.len() as u64);
            records.extend(test.record.iter().flat_map(|word| word.to_le_bytes()));
            code.extend(test.code);
            segments.extend(test.segments);
        }
        assert!(
            CODE + code.len() as u64 <= LIVE,
            "the code of {count} tests is too long"
        );
        Self {
            code,
            records,
            tests,
            segments,
        }
    }

    /// The first address of the segment that contains an address of any mode.
    pub fn segment_of(&self, address: u64) -> Option<u64> {
        let address = address & !USER;
        let known = address.checked_sub(CODE)? < self.code.len() as u64;
        self.segments
            .iter()
            .rev()
            .copied()
            .find(|&begin| known && begin <= address)
    }

    /// The contents of memory besides the harness, to run the tests from `first` on and before `end`.
    pub fn pieces(&self, first: usize, end: usize, verbose: bool) -> [Piece; 4] {
        let mut header: Vec<u8> = Vec::new();
        for word in [first as u64, end as u64, u64::from(verbose), HEADER + 32]
            .iter()
            .chain(&self.tests)
        {
            header.extend_from_slice(&word.to_le_bytes());
        }
        [
            Piece {
                address: HEADER,
                bytes: header,
            },
            Piece {
                address: CODE,
                bytes: self.code.clone(),
            },
            Piece {
                address: PRISTINE,
                bytes: pristine(),
            },
            Piece {
                address: RECORDS,
                bytes: self.records.clone(),
            },
        ]
    }
}
