//! The memory layout of an image, and the lists of CSRs: one source for the generator and for the harness.
//!
//! The harness gets them as `layout.inc`.

use std::fmt::Write;

/// The harness's code and data.
pub const HARNESS: u64 = 0x8000_0000;
/// The range of tests to run, and whether to print each log entry.
pub const HEADER: u64 = 0x8010_0000;
/// A megapage of code: the page of the handlers, the landing page, then the tests' code.
pub const CODE: u64 = 0x8020_0000;
/// The target page of jumps to random addresses: instructions that trap.
pub const LANDING: u64 = CODE + 0x1000;
/// Memory that each test starts with again: scratch pages, then page tables.
pub const LIVE: u64 = 0x8040_0000;
/// Pages that programs load from and store to, at [`LIVE`].
pub const SCRATCH_PAGES: u64 = 8;
/// Pages of [`LIVE`].
pub const LIVE_PAGES: u64 = 38;
/// The initial contents of [`LIVE`].
pub const PRISTINE: u64 = 0x8060_0000;
/// The tests' records.
pub const RECORDS: u64 = 0x8080_0000;
/// The distance of the virtual addresses of the code in user mode when addresses are translated.
pub const USER: u64 = 0x1_0000_0000;

/// A CSR by name and number.
pub type Csr = (&'static str, u16);

/// The CSRs that a record sets, in this order.
pub const SET: &[Csr] = &[
    ("pmpaddr0", 0x3b0),
    ("pmpaddr1", 0x3b1),
    ("pmpaddr2", 0x3b2),
    ("pmpaddr3", 0x3b3),
    ("pmpaddr4", 0x3b4),
    ("pmpcfg0", 0x3a0),
    ("medeleg", 0x302),
    ("mideleg", 0x303),
    ("hedeleg", 0x602),
    ("hideleg", 0x603),
    ("mcounteren", 0x306),
    ("menvcfg", 0x30a),
    ("mcountinhibit", 0x320),
    ("scounteren", 0x106),
    ("senvcfg", 0x10a),
    ("hcounteren", 0x606),
    ("henvcfg", 0x60a),
    ("htimedelta", 0x605),
    ("stimecmp", 0x14d),
    ("vstimecmp", 0x24d),
    ("satp", 0x180),
    ("hgatp", 0x680),
    ("vsatp", 0x280),
    ("hgeie", 0x607),
    ("hstatus", 0x600),
    ("vsstatus", 0x200),
    ("stvec", 0x105),
    ("vstvec", 0x205),
    ("sscratch", 0x140),
    ("vsscratch", 0x240),
    ("sepc", 0x141),
    ("vsepc", 0x241),
    ("scause", 0x142),
    ("vscause", 0x242),
    ("stval", 0x143),
    ("vstval", 0x243),
    ("htval", 0x643),
    ("htinst", 0x64a),
    ("mtval2", 0x34b),
    ("mtinst", 0x34a),
    ("mcause", 0x342),
    ("mtval", 0x343),
    ("mie", 0x304),
    ("mip", 0x344),
    ("hvip", 0x645),
    ("fcsr", 0x003),
    ("mstatus", 0x300),
];

/// The CSRs at the beginning of a log entry, in this order.
pub const LOGGED: &[Csr] = &[
    ("mcause", 0x342),
    ("mepc", 0x341),
    ("mtval", 0x343),
    ("mtval2", 0x34b),
    ("mtinst", 0x34a),
    ("mstatus", 0x300),
    ("mip", 0x344),
    ("mie", 0x304),
    ("medeleg", 0x302),
    ("mideleg", 0x303),
    ("mcounteren", 0x306),
    ("menvcfg", 0x30a),
    ("mcountinhibit", 0x320),
    ("pmpcfg0", 0x3a0),
    ("pmpaddr0", 0x3b0),
    ("pmpaddr1", 0x3b1),
    ("pmpaddr2", 0x3b2),
    ("pmpaddr3", 0x3b3),
    ("scause", 0x142),
    ("sepc", 0x141),
    ("stval", 0x143),
    ("stvec", 0x105),
    ("sscratch", 0x140),
    ("satp", 0x180),
    ("scounteren", 0x106),
    ("senvcfg", 0x10a),
    ("stimecmp", 0x14d),
    ("hstatus", 0x600),
    ("hedeleg", 0x602),
    ("hideleg", 0x603),
    ("htval", 0x643),
    ("htinst", 0x64a),
    ("hvip", 0x645),
    ("hgeie", 0x607),
    ("hgatp", 0x680),
    ("hcounteren", 0x606),
    ("henvcfg", 0x60a),
    ("htimedelta", 0x605),
    ("vsstatus", 0x200),
    ("vscause", 0x242),
    ("vsepc", 0x241),
    ("vstval", 0x243),
    ("vstvec", 0x205),
    ("vsscratch", 0x240),
    ("vsatp", 0x280),
    ("vstimecmp", 0x24d),
];

/// Double words of a log entry: the CSRs, `fcsr`, the segment's number, x1 to x31, f0 to f31.
pub const ENTRY_WORDS: usize = LOGGED.len() + 2 + 31 + 32;

/// The name of a double word of a log entry.
pub fn entry_name(word: usize) -> String {
    let Some(rest) = word.checked_sub(LOGGED.len()) else {
        return LOGGED[word].0.to_owned();
    };
    match rest {
        0 => "fcsr".to_owned(),
        1 => "segment".to_owned(),
        2..33 => format!("x{}", rest - 1),
        _ => format!("f{}", rest - 33),
    }
}

/// Double words of a record: addresses and counts of patches and segments, f0 to f31, x0 to x31, CSRs.
pub const RECORD_WORDS: usize = 4 + 32 + 32 + SET.len();
/// Double words of a segment's descriptor: pc, bits of `mstatus`, x2, x8 to x15.
pub const SEGMENT_WORDS: usize = 3 + 8;

/// The most traps of a test: more than its segments and all its interrupts.
const TRAP_LIMIT: u64 = 100;

/// The harness's part of this layout.
pub fn include() -> String {
    let mut text = String::new();
    let mut define = |name: &str, value: u64| {
        writeln!(text, ".equ {name}, {value:#x}").expect("writing to a string");
    };
    define("HEADER", HEADER);
    define("HEADER_FIRST", 0);
    define("HEADER_END", 8);
    define("HEADER_VERBOSE", 16);
    define("HEADER_TESTS", 24);
    define("LIVE", LIVE);
    define("LIVE_END", LIVE + LIVE_PAGES * 0x1000);
    define("PRISTINE", PRISTINE);
    define("RECORD_PATCHES", 0);
    define("RECORD_PATCH_COUNT", 8);
    define("RECORD_SEGMENTS", 16);
    define("RECORD_SEGMENT_COUNT", 24);
    define("RECORD_F", 32);
    define("RECORD_X", 32 + 256);
    define("RECORD_CSRS", 32 + 512);
    define("SEGMENT_SIZE", 8 * SEGMENT_WORDS as u64);
    define("SEGMENT_PC", 0);
    define("SEGMENT_STATUS", 8);
    define("SEGMENT_SP", 16);
    define("SEGMENT_X8", 24);
    define("ENTRY_WORDS", ENTRY_WORDS as u64);
    define("ENTRY_FCSR", 8 * LOGGED.len() as u64);
    define("ENTRY_X", 8 * (LOGGED.len() as u64 + 1));
    define("ENTRY_F", 8 * (LOGGED.len() as u64 + 33));
    let htinst = LOGGED
        .iter()
        .position(|(name, _)| *name == "htinst")
        .expect("htinst is logged");
    define("ENTRY_HTINST", 8 * htinst as u64);
    define("CODE", CODE);
    define("TRAP_LIMIT", TRAP_LIMIT);
    define("HASH_START", 0xcbf2_9ce4_8422_2325);
    define("HASH_FACTOR", 0x9e37_79b9_7f4a_7c15);
    text.push_str(".macro set_csrs\n");
    for (index, (_, number)) in SET.iter().enumerate() {
        writeln!(text, "ld t0, {}(a0)\ncsrw {number:#x}, t0", 8 * index)
            .expect("writing to a string");
    }
    text.push_str(".endm\n.macro log_csrs\n");
    for (index, (_, number)) in LOGGED.iter().enumerate() {
        // Without the CSRs that QEMU 10.0 implements otherwise than the specification (see isa.rs).
        let mask = match number {
            // SD of vsstatus, which QEMU does not show.
            0x200 => "slli t0, t0, 1\nsrli t0, t0, 1\n",
            // GVA of mstatus, which QEMU never clears.
            0x300 => "bclri t0, t0, 38\n",
            // hvip, which QEMU shows with bits of mip.
            0x645 => "andi t0, t0, 0x444\n",
            // Bits of mideleg, mie and mip from 12 on: interrupts that the hart does not have.
            0x303 | 0x304 | 0x344 => "slli t0, t0, 52\nsrli t0, t0, 52\n",
            // Fields of Zicbom and Zicboz in senvcfg, which the hart does not have either.
            0x10a => "andi t0, t0, 1\n",
            _ => "",
        };
        writeln!(text, "csrr t0, {number:#x}\n{mask}sd t0, {}(a0)", 8 * index)
            .expect("writing to a string");
    }
    text.push_str(".endm\n");
    text
}
