//! Compares the software to the bit with the independent models in NumPy for the same frames.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use tactus_tasks::{Task, Workspace};

const TASKS: [(&str, Task); 4] = [
    ("qam16", Task::Qam16),
    ("qam64", Task::Qam64),
    ("fft512", Task::Fft512),
    ("fft1024", Task::Fft1024),
];

/// The model's output of a task for frames.
fn modelled(task: &str, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |number: usize| folder.path().join(number.to_string());
    let files: Vec<PathBuf> = (0..frames.len()).map(file).collect();
    for (frame, file) in frames.iter().zip(&files) {
        std::fs::write(file, frame).expect("a file");
    }
    let done = Command::new(root.join("build/setup/python/bin/python3"))
        .arg(root.join("fabric/test/hw_task_frames.py"))
        .arg(task)
        .args(&files)
        .status()
        .expect("Python; `make setup` installs what it needs");
    assert!(done.success());
    let read = |file: &PathBuf| std::fs::read(file.with_extension("out")).expect("an output");
    files.iter().map(read).collect()
}

fn computed(task: Task, frame: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8]| {
        // The memory behind the frame is not checked.
        let mut word = [0x5a; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        AtomicU64::new(u64::from_ne_bytes(word))
    };
    let input: Vec<AtomicU64> = frame.chunks(8).map(word).collect();
    let length = task.output_bytes(frame.len());
    let output: Vec<AtomicU64> = (0..length.div_ceil(8))
        .map(|_| AtomicU64::new(!0))
        .collect();
    task.compute(frame.len(), &input, &output, &mut Workspace::new());
    let words = output.iter().map(|word| word.load(Ordering::Relaxed));
    let mut bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
    assert!(bytes.drain(length..).all(|byte| byte == 0));
    bytes
}

/// Pseudorandom bytes, by xorshift.
fn random(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let bytes = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    bytes.take(length).collect()
}

#[test]
fn every_bit_is_the_models() {
    for (name, task) in TASKS {
        // Frames of all short lengths, of the experiment's, of several blocks; for the transforms, of whole symbols.
        let mut frames: Vec<Vec<u8>> = (1..60)
            .map(|n| {
                random(
                    n,
                    if name.starts_with('q') {
                        n as usize
                    } else {
                        92 * n as usize
                    },
                )
            })
            .collect();
        frames.push(random(100, 2348));
        frames.push(random(101, 18_800));
        // The largest values, for which a part could overflow.
        for pattern in [
            [0x00, 0x80, 0x00, 0x80],
            [0xff, 0x7f, 0xff, 0x7f],
            [0x00, 0x80, 0xff, 0x7f],
        ] {
            frames.push(pattern.repeat(1024));
        }
        let turning = [[0x00, 0x80, 0x00, 0x80], [0xff, 0x7f, 0xff, 0x7f]].concat();
        frames.push(turning.repeat(512));
        let signs = random(102, 8192).into_iter().flat_map(|byte| {
            let largest: i16 = if byte & 1 == 0 { i16::MAX } else { i16::MIN };
            largest.to_le_bytes()
        });
        frames.push(signs.collect());
        for (frame, expected) in frames.iter().zip(modelled(name, &frames)) {
            assert_eq!(
                computed(task, frame),
                expected,
                "{name}, {} bytes",
                frame.len()
            );
        }
    }
}
