//! Random differential tests: images of random programs must behave identically on two machines, trap by trap.
//!
//! The programs run in all privilege modes and with both stages of address translation.
//!
//! The tests need `qemu-system-riscv64` and GNU binutils for RISC-V, which `make setup` installs, and fail without
//! them. `TACTUS_DIFFERENTIAL_IMAGES` is the number of images of the long test, `TACTUS_DIFFERENTIAL_SEED` its first
//! seed.

#[path = "differential/generate.rs"]
mod generate;
#[path = "differential/image.rs"]
mod image;
#[path = "differential/layout.rs"]
mod layout;
#[path = "differential/program.rs"]
mod program;
#[path = "differential/random.rs"]
mod random;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::isa::platform::{Platform, run};
use generate::Image;
use tactus_board::decode::decode;

/// The number of tests in an image.
const TESTS: usize = 400;
/// The number of further differing tests with a line of detail.
const OTHERS: usize = 12;
/// More than any image takes on any of the machines.
const SECONDS: u32 = 60;

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("differential")
        .join(name)
}

/// Runs the tests from `first` to before `end` of an image on a machine.
fn console(
    directory: &Path,
    image: &Image,
    tests: (usize, usize),
    verbose: bool,
    machine: Platform,
) -> String {
    eprintln!(
        "{} with tests {} to {} on {machine:?}",
        directory.display(),
        tests.0,
        tests.1
    );
    let harness = image::harness(directory);
    let pieces = image.pieces(tests.0, tests.1, verbose);
    let all: Vec<&image::Piece> = std::iter::once(&harness).chain(&pieces).collect();
    let file = image::write(&directory.join("image.elf"), &all);
    run(machine, &file, SECONDS)
        .unwrap_or_else(|reason| panic!("{machine:?}, {}: {reason}", file.display()))
}

/// Compares two machines on the images of some seeds, and describes the difference of the first differing test.
fn compare(name: &str, seeds: impl Iterator<Item = u64>, machines: [Platform; 2]) {
    let directory = directory(name);
    for seed in seeds {
        eprintln!("seed {seed}");
        let image = Image::new(seed, TESTS);
        let [first, second] =
            machines.map(|machine| console(&directory, &image, (0, TESTS), false, machine));
        assert_eq!(
            first.lines().count(),
            TESTS + 1,
            "{:?}, seed {seed}:\n{first}",
            machines[0]
        );
        if first == second {
            continue;
        }
        let differing: Vec<usize> = (0..TESTS)
            .filter(|&test| first.lines().nth(test) != second.lines().nth(test))
            .collect();
        let Some(&test) = differing.first() else {
            panic!("seed {seed}: {:?} ends with {second}", machines[1]);
        };
        let log = |from| {
            machines.map(|machine| console(&directory, &image, (from, test + 1), true, machine))
        };
        let mut logs = log(test);
        if logs[0] == logs[1] {
            // The difference depends on the tests before this one.
            logs = log(0);
        }
        let mut others = String::new();
        for &test in differing.iter().skip(1).take(OTHERS) {
            let logs = machines
                .map(|machine| console(&directory, &image, (test, test + 1), true, machine));
            writeln!(others, "test {test}: {}", brief(&image, &logs)).expect("writing to a string");
        }
        panic!(
            "seed {seed}: {} of {TESTS} tests differ, the first is {test}\n{}\n{others}To see it alone: TACTUS_DIFFERENTIAL_SEED={seed} \
             TACTUS_DIFFERENTIAL_TEST={test} cargo test -p tactus-board --test suite differential::one -- --ignored --nocapture",
            differing.len(),
            difference(&image, &logs, machines)
        );
    }
}

/// The first entry in which two logs differ, on one line.
fn brief(image: &Image, logs: &[String; 2]) -> String {
    let [ours, theirs] = [entries(&logs[0]), entries(&logs[1])];
    let Some(index) = ours
        .iter()
        .zip(&theirs)
        .position(|(one, other)| one != other)
    else {
        return "alone it does not differ".to_owned();
    };
    let (one, other) = (&ours[index], &theirs[index]);
    let mut text = format!("entry {index},");
    if one.len() < layout::ENTRY_WORDS || other.len() < layout::ENTRY_WORDS {
        return text + " memory or the number of traps";
    }
    for word in 0..layout::ENTRY_WORDS {
        let (a, b) = (one[word], other[word]);
        if a != b {
            write!(text, " {} {a:#x} / {b:#x}", layout::entry_name(word))
                .expect("writing to a string");
        }
    }
    for entry in [one, other] {
        let [mepc, sepc] = ["mepc", "sepc"].map(|name| {
            let word = layout::LOGGED
                .iter()
                .position(|(logged, _)| *logged == name);
            instruction(image, word.map_or(0, |word| entry[word]))
        });
        write!(text, "; mepc {mepc}, sepc {sepc}").expect("writing to a string");
    }
    text
}

/// The instruction at an address of the code, as any mode sees it.
fn instruction(image: &Image, address: u64) -> String {
    let offset = (address & !layout::USER).wrapping_sub(layout::CODE) as usize;
    let Some(bytes) = image.code.get(offset..).filter(|bytes| bytes.len() >= 4) else {
        return "outside the code".to_owned();
    };
    let bits = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    match decode(bits) {
        Some(instruction) => format!("{bits:#010x} {}", instruction.at(address)),
        None => format!("{bits:#010x}, reserved"),
    }
}

/// A log as numbers: its entries, then the line that ends it.
fn entries(log: &str) -> Vec<Vec<u64>> {
    let number = |word: &str| u64::from_str_radix(word, 16).unwrap_or(0);
    log.lines()
        .map(|line| line.split_whitespace().map(number).collect())
        .collect()
}

/// The first entry in which two logs differ.
fn difference(image: &Image, logs: &[String; 2], machines: [Platform; 2]) -> String {
    let [ours, theirs] = [entries(&logs[0]), entries(&logs[1])];
    let mut text = String::new();
    let count = ours.len().max(theirs.len());
    let Some(index) = (0..count).find(|&index| ours.get(index) != theirs.get(index)) else {
        return "alone it does not differ".to_owned();
    };
    let empty = Vec::new();
    let (one, other) = (
        ours.get(index).unwrap_or(&empty),
        theirs.get(index).unwrap_or(&empty),
    );
    writeln!(text, "entry {index}: {:?} / {:?}", machines[0], machines[1])
        .expect("writing to a string");
    if one.len() < layout::ENTRY_WORDS || other.len() < layout::ENTRY_WORDS {
        writeln!(text, "memory or the number of traps differs").expect("writing to a string");
    }
    let mepc = layout::LOGGED
        .iter()
        .position(|(name, _)| *name == "mepc")
        .expect("mepc is logged");
    let sepc = layout::LOGGED
        .iter()
        .position(|(name, _)| *name == "sepc")
        .expect("sepc is logged");
    let vsepc = layout::LOGGED
        .iter()
        .position(|(name, _)| *name == "vsepc")
        .expect("vsepc is logged");
    for entry in [one, other] {
        if entry.len() == layout::ENTRY_WORDS {
            for word in [mepc, sepc, vsepc] {
                let at = entry[word];
                writeln!(
                    text,
                    "{} {at:#x}: {}",
                    layout::entry_name(word),
                    instruction(image, at)
                )
                .expect("writing to a string");
            }
        }
    }
    for word in 0..one.len().min(other.len()) {
        let (a, b) = (one[word], other[word]);
        if a != b {
            writeln!(
                text,
                "  {:<12} {a:#018x} / {b:#018x}",
                layout::entry_name(word)
            )
            .expect("writing to a string");
        }
    }
    if let Some(before) = index.checked_sub(1).and_then(|index| ours.get(index)) {
        writeln!(text, "before it, the same on both:").expect("writing to a string");
        describe(&mut text, before);
    }
    writeln!(text, "on {:?}:", machines[0]).expect("writing to a string");
    describe(&mut text, one);
    for line in segment(image, one) {
        writeln!(text, "{line}").expect("writing to a string");
    }
    text
}

/// Describes an entry in full.
fn describe(text: &mut String, entry: &[u64]) {
    if entry.len() != layout::ENTRY_WORDS {
        return;
    }
    for (word, value) in entry.iter().enumerate() {
        let end = if word % 6 == 5 { '\n' } else { ' ' };
        write!(text, "{:>9}={value:#x}{end}", layout::entry_name(word))
            .expect("writing to a string");
    }
    text.push('\n');
}

/// The code before the end of an entry's segment, as far as the addresses in the entry identify it.
fn segment(image: &Image, entry: &[u64]) -> Vec<String> {
    let mut lines = Vec::new();
    for name in ["mepc", "sepc", "vsepc"] {
        let Some(word) = layout::LOGGED
            .iter()
            .position(|(logged, _)| *logged == name)
        else {
            continue;
        };
        let Some(&end) = entry.get(word) else {
            continue;
        };
        let Some(begin) = image.segment_of(end) else {
            continue;
        };
        lines.push(format!("the segment in which {name} is:"));
        let distance = end & layout::USER;
        let mut at = begin;
        while at <= end & !layout::USER {
            lines.push(format!(
                "  {:#x}: {}",
                at + distance,
                instruction(image, at)
            ));
            let offset = (at - layout::CODE) as usize;
            at += u64::from(tactus_board::decode::length(u16::from_le_bytes([
                image.code[offset],
                image.code[offset + 1],
            ])));
        }
    }
    lines
}

fn variable(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => default,
    }
}

/// The images depend only on the instruction set: QEMU's results are the same when it translates each instruction
/// alone.
#[test]
fn qemu_in_two_ways() {
    compare("two_ways", 1..2, [Platform::Qemu, Platform::QemuStepwise]);
}

/// The board behaves as QEMU does.
#[test]
fn board_and_qemu() {
    compare("board", 1..4, [Platform::Board, Platform::Qemu]);
}

/// The board's timed mode behaves as its fast mode does.
#[test]
fn board_in_two_modes() {
    compare("modes", 4..5, [Platform::Board, Platform::BoardTimed]);
}

/// The board and QEMU at length.
///
/// A difference in one bit of memory can be a known one (`privileged.rs`): QEMU does not mark the second-stage entry of
/// a page as dirty when a walk marks a first-stage entry in that page (seed 5011, test 285).
#[test]
#[ignore = "as long as one likes"]
fn board_and_qemu_at_length() {
    let first = variable("TACTUS_DIFFERENTIAL_SEED", 1000);
    let count = variable("TACTUS_DIFFERENTIAL_IMAGES", 50);
    compare(
        "board_long",
        first..first + count,
        [Platform::Board, Platform::Qemu],
    );
}

/// QEMU in its two ways at length.
#[test]
#[ignore = "as long as one likes"]
fn qemu_in_two_ways_at_length() {
    let first = variable("TACTUS_DIFFERENTIAL_SEED", 1000);
    let count = variable("TACTUS_DIFFERENTIAL_IMAGES", 50);
    compare(
        "two_ways_long",
        first..first + count,
        [Platform::Qemu, Platform::QemuStepwise],
    );
}

/// Prints the log of one test, entry by entry.
#[test]
#[ignore = "shows one test"]
fn one() {
    let seed = variable("TACTUS_DIFFERENTIAL_SEED", 1);
    let test = variable("TACTUS_DIFFERENTIAL_TEST", 0) as usize;
    let image = Image::new(seed, TESTS);
    let log = console(
        &directory("one"),
        &image,
        (test, test + 1),
        true,
        Platform::Qemu,
    );
    let mut text = String::new();
    for entry in entries(&log) {
        describe(&mut text, &entry);
        if entry.len() == layout::ENTRY_WORDS {
            writeln!(text, "     {}\n", instruction(&image, entry[1]))
                .expect("writing to a string");
        }
    }
    println!(
        "{text}{}",
        log.lines().rev().take(2).collect::<Vec<_>>().join("\n")
    );
}
