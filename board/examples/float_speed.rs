//! Prints how long floating-point operations take, in nanoseconds of this machine.
//!
//! `cargo run --release -p tactus-board --example float_speed`
//!
//! Three columns: rounding to nearest even, which the host computes where it can; the same with half of all values
//! small integers, so that results are often exact; and rounding down, which SoftFloat computes. Values are random
//! and of moderate size, 1,024 of them, and the flags of all operations are gathered, as an engine does. The last
//! column is the second again, each result being an operand of the next operation, which shows latency.

use std::hint::black_box;
use std::time::Instant;

use tactus_board::decode::Operation;
use tactus_board::float::{Compute, File, Flags, Rounding, lookup};

const VALUES: usize = 1024;
const ROUNDS: usize = 200;
/// The best of so many trials counts: what disturbs a trial only makes it longer.
const TRIALS: usize = 7;

fn main() {
    let mut random = 0x7ac7_u64;
    let mut next = move || {
        // splitmix64
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (random ^ random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    let mut numbers = |small_integers: bool| -> Vec<f64> {
        (0..VALUES)
            .map(|_| {
                let bits = next();
                if small_integers && bits & 1 == 0 {
                    return (1 + (bits >> 1) % 1000) as f64;
                }
                // Between 0.5 and 1000.
                0.5 + (bits >> 11) as f64 / (1_u64 << 53) as f64 * 999.5
            })
            .collect()
    };
    let (fractions, integers) = (numbers(false), numbers(true));
    println!(
        "{:10} {:>8} {:>8} {:>8} {:>8}  ns",
        "", "nearest", "exacter", "down", "chained"
    );
    for operation in Operation::ALL {
        let Some(kind) = lookup(operation) else {
            continue;
        };
        // How a register holds a number: by the suffix for what the operation takes.
        let single = operation.mnemonic().ends_with(".s") || operation.mnemonic().ends_with(".w");
        let register = |&number: &f64| match kind.sources[0] {
            File::Integer => number as u64,
            File::Float if single => 0xffff_ffff_0000_0000 | u64::from((number as f32).to_bits()),
            File::Float => number.to_bits(),
        };
        let fractions: Vec<u64> = fractions.iter().map(register).collect();
        let integers: Vec<u64> = integers.iter().map(register).collect();
        let best = |values: &[u64], rounding, measure: fn(Compute, &[u64], Rounding) -> f64| {
            (0..TRIALS)
                .map(|_| measure(kind.compute, values, rounding))
                .fold(f64::INFINITY, f64::min)
        };
        println!(
            "{:10} {:8.2} {:8.2} {:8.2} {:8.2}",
            operation.mnemonic(),
            best(&fractions, Rounding::NearestEven, throughput),
            best(&integers, Rounding::NearestEven, throughput),
            best(&fractions, Rounding::Down, throughput),
            best(&integers, Rounding::NearestEven, latency),
        );
    }
}

/// Nanoseconds for each operation, of many that do not depend on one another.
fn throughput(compute: Compute, values: &[u64], rounding: Rounding) -> f64 {
    let compute = black_box(compute);
    let begin = Instant::now();
    let mut flags = Flags::empty();
    for _ in 0..ROUNDS {
        for (index, &value) in values.iter().enumerate() {
            let other = values[(index + 1) % VALUES];
            let (result, raised) = compute(value, other, values[0], rounding);
            flags |= raised;
            black_box(result);
        }
    }
    black_box(flags);
    begin.elapsed().as_nanos() as f64 / (ROUNDS * VALUES) as f64
}

/// The same, each depending on the one before: on the lowest bit of its result alone, so that values stay moderate.
fn latency(compute: Compute, values: &[u64], rounding: Rounding) -> f64 {
    let compute = black_box(compute);
    let begin = Instant::now();
    let mut flags = Flags::empty();
    let mut last = 0;
    for _ in 0..ROUNDS {
        for (index, &value) in values.iter().enumerate() {
            let other = values[(index + 1) % VALUES];
            let (result, raised) = compute(value ^ last & 1, other, values[0], rounding);
            flags |= raised;
            last = result;
        }
    }
    black_box((flags, last));
    begin.elapsed().as_nanos() as f64 / (ROUNDS * VALUES) as f64
}
