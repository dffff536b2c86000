//! Random damage to what is read from outside: the campaign `parsers`. An error is told, or what is taken is in order;
//! nothing panics, and nothing goes on for ever.
//!
//! Each seed damages a description, a campaign's file, a blob, a guest's image, a bitstream, a board's snapshot and a
//! cable's message. The seeds are the same each time; set `PARSERS_SEEDS` to a range (`0..1000000`) for others.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};
use tactus_abi::bitstream;
use tactus_board::board::Board;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};

use crate::guest_image::GuestImage;
use crate::testing::{Bench, ElfFile, elf_file, try_blob, try_cable, try_faults};

/// Seeds that are tried where nothing is said.
const SEEDS: Range<u64> = 0..200;
/// CPU time of this process in which a case has to end; other tests of the process take some of it.
const CASE_SECONDS_MAX: u64 = 300;

/// What is damaged.
struct Samples {
    descriptions: Vec<String>,
    faults: Vec<String>,
    blobs: Vec<Vec<u8>>,
    guest: Vec<u8>,
    bitstream: Vec<u8>,
    snapshot: Vec<u8>,
    message: Vec<u8>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(directory: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(root().join(directory)).expect("the directory");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    // In an order that each machine has.
    paths.sort();
    let files = paths.iter().filter(|path| path.is_file());
    files.map(|path| fs::read(path).expect("a file")).collect()
}

fn texts(directory: &str) -> Vec<String> {
    let texts = files(directory).into_iter().map(String::from_utf8);
    texts.map(|text| text.expect("a text")).collect()
}

fn board() -> Board {
    let profile = Profile::named("mpsoc").expect("a profile");
    let options = Options {
        harts: Some(2),
        memory: Some(1 << 20),
        ..Options::default()
    };
    setup::board(&profile, &options, Vec::new())
        .expect("a board")
        .0
}

impl Samples {
    fn new() -> Self {
        let mut bitstream = vec![0x5a; bitstream::HEADER + 256];
        let header = bitstream::Header { task: 3, region: 1 };
        bitstream::seal(&mut bitstream, header).expect("a bitstream");
        let mut board = board();
        // addi a0, a0, 1; sd a0, 64(a1); j .-8
        let code = [0x0015_0513_u32, 0x04a5_b023, 0xff9f_f06f];
        let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        board.write(0x8000_0000, &bytes).expect("memory");
        for hart in 0..2 {
            board.set_pc(hart, 0x8000_0000);
            board.set_x(hart, 11, 0x8001_0000);
        }
        board.run(board.clock().time_of(1_000));
        Self {
            descriptions: texts("systems"),
            faults: texts("campaigns"),
            blobs: files("fuzz/corpus/blob"),
            guest: elf_file(&ElfFile {
                symbols: vec![("main".to_owned(), 0x8020_0000)],
                ..ElfFile::default()
            }),
            bitstream,
            snapshot: board.snapshot(),
            message: fs::read(root().join("fuzz/corpus/cable/frames")).expect("a message"),
        }
    }
}

/// The bytes with some of them changed, doubled, lost or cut off.
fn damaged(bytes: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.usize(1..6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.usize(..bytes.len());
        let some = |random: &mut Rng, bytes: &[u8]| (at + random.usize(1..40)).min(bytes.len());
        match random.u8(..8) {
            0 => {
                let piece = bytes[at..some(random, &bytes)].to_vec();
                let place = random.usize(..=bytes.len());
                bytes.splice(place..place, piece);
            }
            1 => drop(bytes.drain(at..some(random, &bytes))),
            2 if random.u8(..4) == 0 => bytes.truncate(at),
            2 | 3 => {
                let value = [0, 0xff][random.usize(..2)];
                bytes[at..]
                    .iter_mut()
                    .take(8)
                    .for_each(|byte| *byte = value);
            }
            4 | 5 => bytes[at] ^= 1 << random.u8(..8),
            _ => bytes[at] = random.u8(..),
        }
    }
    bytes
}

/// The text with some of its lines lost, doubled or exchanged, and some values others.
fn damaged_text(text: &str, random: &mut Rng) -> String {
    const VALUES: [&str; 16] = [
        "0",
        "-1",
        "1",
        "9223372036854775807",
        "0x8000_0000",
        "1.5",
        "nan",
        "true",
        "\"\"",
        "\"4KiB\"",
        "\"16EiB\"",
        "\"1ns\"",
        "\"100%\"",
        "[]",
        "[0, 0]",
        "{}",
    ];
    if random.u8(..4) == 0 {
        return String::from_utf8_lossy(&damaged(text.as_bytes(), random)).into_owned();
    }
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    for _ in 0..random.usize(1..4) {
        let (one, other) = (random.usize(..lines.len()), random.usize(..lines.len()));
        match random.u8(..8) {
            0 => lines[one].clear(),
            1 => lines[one] = lines[other].clone(),
            2 => lines.swap(one, other),
            _ => {
                if let Some((key, _)) = lines[one].split_once('=') {
                    let value = match lines[other].split_once('=') {
                        Some((_, value)) if random.bool() => value.trim().to_owned(),
                        _ => VALUES[random.usize(..VALUES.len())].to_owned(),
                    };
                    lines[one] = format!("{key}= {value}");
                }
            }
        }
    }
    lines.join("\n")
}

fn try_bitstream(bytes: &[u8]) {
    if let Ok(header) = bitstream::check(bytes) {
        let mut again = bytes.to_vec();
        bitstream::seal(&mut again, header).expect("it was one");
        assert_eq!(again, bytes);
    }
}

/// A snapshot is refused, or gives a board that runs.
fn try_snapshot(bytes: &[u8]) {
    let mut board = board();
    if board.restore(bytes).is_ok() {
        let now = board.clock().cycle_from(board.time());
        board.run(board.clock().time_of(now.saturating_add(300)));
        let _ = (board.snapshot(), board.trace_hash());
    }
}

/// Ends this process with the seed of a case that does not end.
struct Watchdog {
    seed: AtomicU64,
    is_over: AtomicBool,
}

impl Watchdog {
    fn watch(&self) {
        let seconds = || clock_gettime(ClockId::ProcessCPUTime).tv_sec as u64;
        let (mut seed, mut since) = (u64::MAX, seconds());
        while !self.is_over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(100));
            let now = self.seed.load(Ordering::Relaxed);
            if now != seed {
                (seed, since) = (now, seconds());
            } else if seconds() - since > CASE_SECONDS_MAX {
                eprintln!("PARSERS_SEEDS={seed}..{}: it does not end", seed + 1);
                std::process::abort();
            }
        }
    }
}

/// Tells the seed of a case that panics.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("PARSERS_SEEDS={}..{}", self.0, self.0 + 1);
        }
    }
}

#[test]
fn damage_is_refused_or_harmless() {
    let given = std::env::var("PARSERS_SEEDS").ok();
    let given = given.as_ref().map(|text| {
        let (from, to) = text.split_once("..").expect("a range such as 0..1000");
        let number = |text: &str| text.parse::<u64>().expect("a whole number");
        number(from)..number(to)
    });
    let samples = Samples::new();
    // As they are they are taken.
    bitstream::check(&samples.bitstream).expect("a bitstream");
    GuestImage::parse(&samples.guest).expect("a guest");
    board().restore(&samples.snapshot).expect("a snapshot");
    let bench = Bench::default();
    let watchdog = Watchdog {
        seed: AtomicU64::new(u64::MAX),
        is_over: AtomicBool::new(false),
    };
    let mut refused = 0_u64;
    let seeds = given.unwrap_or(SEEDS);
    let count = seeds.end - seeds.start;
    thread::scope(|scope| {
        scope.spawn(|| watchdog.watch());
        for seed in seeds {
            watchdog.seed.store(seed, Ordering::Relaxed);
            let _told = Told(seed);
            let random = &mut Rng::with_seed(seed);
            // Seeds that are near each other begin alike.
            let random = &mut Rng::with_seed(random.u64(..));
            let text = &samples.descriptions[random.usize(..samples.descriptions.len())];
            let text = damaged_text(text, random);
            refused += u64::from(!bench.try_description(text.as_bytes()));
            let text = &samples.faults[random.usize(..samples.faults.len())];
            try_faults(&damaged_text(text, random));
            let blob = &samples.blobs[random.usize(..samples.blobs.len())];
            try_blob(&damaged(blob, random));
            let _ = GuestImage::parse(&damaged(&samples.guest, random));
            try_bitstream(&damaged(&samples.bitstream, random));
            try_snapshot(&damaged(&samples.snapshot, random));
            try_cable(&damaged(&samples.message, random));
        }
        watchdog.is_over.store(true, Ordering::Relaxed);
    });
    // Damage that nothing refuses would be none.
    assert!(refused > count / 4, "{refused} of {count} were refused");
}
