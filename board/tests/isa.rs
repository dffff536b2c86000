//! Directed tests of the instruction set: images in assembly, each for a chapter or a group of sections.
//!
//! Each case is named by the specification's section, and checks a statement of it.
//!
//! "I" is The RISC-V Instruction Set Manual, Volume I, 20191213; "II" is Volume II, 20211203; "B" is RISC-V
//! Bit-Manipulation ISA-extensions 1.0.0; "C" is the chapter "CMO" of Volume I, 20240411; "Sstc" and "Svadu" are the
//! extensions' own documents.
//!
//! Needs GNU binutils for RISC-V and QEMU, which `make setup` installs; the tests fail without them.

#[path = "isa/platform.rs"]
pub mod platform;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use platform::{Platform, run_with};
use tactus_board::privileged::Extensions;

/// More than any image takes.
const SECONDS: u32 = 60;

/// Runs a program of binutils.
fn tool(program: &str, arguments: &[&str]) {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| {
            panic!("{program}: {error}; `make setup` installs it (binutils-riscv64-unknown-elf)")
        });
    assert!(
        output.status.success(),
        "{program} {arguments:?}:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Assembles the image of `name`, and counts the cases of its source.
fn build(name: &str, platform: Platform) -> (PathBuf, usize) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isa");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("isa")
        .join(format!("{platform:?}"));
    fs::create_dir_all(&directory).expect("the build directory is writable");
    let text = |path: &Path| path.to_str().expect("paths are UTF-8").to_owned();
    let source = sources.join(name).with_extension("S");
    let (object, image) = (
        directory.join(name).with_extension("o"),
        directory.join(name).with_extension("elf"),
    );
    let include = format!("-I{}", text(&sources));
    tool(
        "riscv64-unknown-elf-as",
        &[
            "-march=rv64gch_zba_zbb_zbs_zicbom_zicbop_zicboz",
            &include,
            &text(&source),
            "-o",
            &text(&object),
        ],
    );
    let script = text(&sources.join("link.ld"));
    tool(
        "riscv64-unknown-elf-ld",
        &[
            "--no-relax",
            "-N",
            "-T",
            &script,
            &text(&object),
            "-o",
            &text(&image),
        ],
    );
    let cases = fs::read(&object).expect("the assembler wrote it");
    // Each case's name is a string that begins with the specification's letter.
    let cases = cases
        .split(|&byte| byte == 0)
        .filter(|text| is_name(text))
        .count();
    (image, cases)
}

/// Whether a string of the image is a case's name: a document, a section, a subject.
fn is_name(text: &[u8]) -> bool {
    ["I-", "II-", "B-", "C-", "Sstc-", "Svadu "]
        .iter()
        .any(|start| text.starts_with(start.as_bytes()))
        && text.contains(&b' ')
}

/// The cases that QEMU 10.0.2 fails, with its behaviour.
const QEMU_DIFFERS: &[(&str, &str)] = &[
    (
        "I-8.2 misaligned SC without a reservation",
        "it fails without a look at the address's alignment",
    ),
    (
        "II-8.6.1 sret from VU is a virtual instruction exception",
        "it raises illegal instruction",
    ),
    (
        "II-8.4.1 TSR is not about VS-mode",
        "it traps SRET of VS-mode, too",
    ),
    (
        "II-8.6.1 TW and wfi from VU",
        "it raises virtual instruction",
    ),
    ("II-3.1.14 mepc and sepc clear bit 0", "they keep bit 0"),
    ("II-8.6.1 satp from VU", "it raises illegal instruction"),
    ("II-8.6.1 sstatus from VU", "it raises illegal instruction"),
    ("II-8.6.1 sscratch from VU", "it raises illegal instruction"),
    (
        "II-4.3.2 a table where no memory is",
        "it raises page faults",
    ),
    ("II-8.2.10 hgatp", "it keeps them"),
    (
        "II-8.4.1 GVA of the faults of HLV",
        "GVA stays 0 where V was",
    ),
    (
        "II-8.3.1 HLVX faults",
        "it raises the exceptions of a fetch",
    ),
    (
        "II-3.1.9 priority: SEI before SSI",
        "without AIA the lowest number goes first",
    ),
    (
        "II-8.4.3 priority: VSEI before VSSI",
        "without AIA the lowest number goes first",
    ),
    (
        "II-3.1.8 calls from M are not delegated",
        "bit 11 of medeleg can be set",
    ),
    ("II-8.2.12 vsstatus.SD", "SD of vsstatus reads as zero"),
    ("II-8.2.15 vsepc clears bit 0", "vsepc keeps bit 0"),
    (
        "C-4.2.1 the trap value of an instruction that is not enabled",
        "it is 0",
    ),
    ("C-4.2.2 the trap value is rs1", "it is the block's address"),
    ("C-4.2.5 the transformed instruction", "it is 0"),
];

/// Runs an image and checks that every case reports ok.
fn check(name: &str, platform: Platform) {
    let (image, cases) = build(name, platform);
    let extensions = if name == "cache_blocks" {
        Extensions::all()
    } else {
        Extensions::empty()
    };
    let console = run_with(platform, &image, SECONDS, extensions)
        .unwrap_or_else(|reason| panic!("{name}: {reason}"));
    let differs = |line: &str| {
        platform == Platform::Qemu
            && QEMU_DIFFERS.iter().any(|(case, _)| {
                line.strip_prefix("FAIL ")
                    .is_some_and(|rest| rest.starts_with(case))
            })
    };
    let (expected, console): (Vec<&str>, Vec<&str>) =
        console.lines().partition(|line| differs(line));
    let failed: Vec<&str> = console
        .iter()
        .copied()
        .filter(|line| !line.starts_with("ok ") && *line != "end")
        .collect();
    assert!(
        failed.is_empty(),
        "{name} on {platform:?}:\n{}",
        failed.join("\n")
    );
    assert_eq!(
        console.last(),
        Some(&"end"),
        "{name} on {platform:?} stopped early"
    );
    assert_eq!(
        console.len() - 1 + expected.len(),
        cases,
        "{name} on {platform:?}: cases that ran, and cases that there are"
    );
}

/// Makes a test of each image on each platform.
macro_rules! images {
    ($($name:ident)+) => {
        mod qemu {
            $(#[test] fn $name() { super::check(stringify!($name), super::Platform::Qemu); })+
        }
        mod board {
            $(#[test] fn $name() { super::check(stringify!($name), super::Platform::Board); })+
        }
        mod board_timed {
            $(#[test] fn $name() { super::check(stringify!($name), super::Platform::BoardTimed); })+
        }
    };
}

images! { cache_blocks float integer interrupts memory traps translation }
