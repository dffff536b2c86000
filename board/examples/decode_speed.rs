//! Prints how long decoding an instruction takes, in nanoseconds of this machine.
//!
//! `cargo run --release -p tactus-board --example decode_speed`
//!
//! Three streams of 4,096 instructions each, which fit the first-level cache: every operation in turn with random
//! operands, random compressed instructions, and words of random bits, most of which are illegal.

use std::hint::black_box;
use std::time::Instant;

use tactus_board::decode::{Operation, decode};

const WORDS: usize = 4096;
const ROUNDS: usize = 500;
/// The best of so many trials counts: what disturbs a trial only makes it longer.
const TRIALS: usize = 7;

fn main() {
    let mut random = 0x7ac7_u64;
    let mut next = move || {
        // splitmix64
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (random ^ random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as u32
    };
    // In random order, so that the host's branch predictor cannot learn it.
    let operations: Vec<u32> = (0..WORDS)
        .map(|_| {
            let (mask, bits) = Operation::ALL[next() as usize % Operation::COUNT].encoding();
            bits | next() & !mask
        })
        .collect();
    let compressed: Vec<u32> = std::iter::repeat_with(&mut next)
        .filter(|word| word & 3 != 3 && decode(*word).is_some())
        .take(WORDS)
        .collect();
    let random: Vec<u32> = std::iter::repeat_with(&mut next)
        .map(|word| word | 3)
        .take(WORDS)
        .collect();
    for (name, words) in [
        ("every operation", operations),
        ("compressed", compressed),
        ("random words", random),
    ] {
        let best = (0..TRIALS)
            .map(|_| measure(&words))
            .fold(f64::INFINITY, f64::min);
        let legal = words.iter().filter(|&&word| decode(word).is_some()).count();
        println!("{name:16} {best:6.2} ns a decode  ({legal} of {WORDS} legal)");
    }
}

/// Nanoseconds for each decode of `words`, over [`ROUNDS`] rounds.
fn measure(words: &[u32]) -> f64 {
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        for &word in words {
            black_box(decode(black_box(word)));
        }
    }
    begin.elapsed().as_nanos() as f64 / (ROUNDS * words.len()) as f64
}
