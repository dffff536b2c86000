//! Code shared by the benchmarks: releases to the cycle, exact means and deviations, pseudorandom
//! numbers.
#![no_std]
#![cfg(target_arch = "riscv64")]

use core::arch::asm;
use core::fmt::{self, Display};

use tactus_guest::abi::hypercall::{EXTENSION, RT_YIELD};
use tactus_guest::stopwatch::Wakeup;
use tactus_guest::{csr, record, start, time};

/// The start of a real-time vCPU's job.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// The time at which the job was due, in ticks.
    pub due: u64,
    /// The time at which it started: `cycle` as read by its first instruction. The cause is meaningless.
    pub wakeup: Wakeup,
}

/// Ends the job of the calling real-time vCPU; returns when the next is released. The first instruction reads
/// the clock.
///
/// # Panics
///
/// When the caller has no reservation.
#[inline(never)]
pub fn next_release() -> Release {
    let (error, due, cycles): (isize, u64, u64);
    // SAFETY: an SBI call preserves every register but a0 and a1 (SBI specification, "Binary Encoding").
    unsafe {
        asm!(
            "ecall",
            "csrr {cycles}, {cycle}",
            lateout("a0") error,
            lateout("a1") due,
            in("a6") RT_YIELD,
            in("a7") EXTENSION,
            cycles = lateout(reg) cycles,
            cycle = const csr::CYCLE,
            options(nostack),
        );
    }
    assert_eq!(error, 0, "this vCPU has no reservation");
    Release {
        due,
        wakeup: Wakeup { cycles, cause: 0 },
    }
}

/// Spins until the time `ticks`.
pub fn busy_until(ticks: u64) {
    while time::now() < ticks {
        core::hint::spin_loop();
    }
}

/// Count, sum and sum of squares of a series, and its extremes: all exact.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// The count.
    pub count: u64,
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: u64,
    sum: u64,
    squares: u128,
}

impl Moments {
    /// Creates an empty series.
    pub const fn new() -> Self {
        Self {
            count: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
            squares: 0,
        }
    }

    /// Adds a value.
    pub fn add(&mut self, figure: u64) {
        self.count += 1;
        self.min = self.min.min(figure);
        self.max = self.max.max(figure);
        self.sum += figure;
        self.squares += u128::from(figure) * u128::from(figure);
    }

    /// The mean.
    pub fn mean(&self) -> Thousandths {
        Thousandths((self.sum * 1000).checked_div(self.count).unwrap_or(0))
    }

    /// The standard deviation, with these values as the whole population.
    pub fn deviation(&self) -> Thousandths {
        let (count, sum) = (u128::from(self.count), u128::from(self.sum));
        // The variance times the square of the count.
        let variance = count * self.squares - sum * sum;
        let deviation = (variance * 1_000_000).isqrt();
        Thousandths(deviation.checked_div(count).unwrap_or(0) as u64)
    }
}

impl Default for Moments {
    fn default() -> Self {
        Self::new()
    }
}

/// Capacity of a [`Samples`].
const SAMPLES_MAX: usize = 250;

/// Individual values, without the first ones.
#[derive(Clone, Debug)]
pub struct Samples {
    values: [u64; SAMPLES_MAX],
    count: usize,
    /// Values still to be skipped.
    warm: usize,
}

impl Samples {
    /// Creates an empty series, which skips the first `warm` values.
    pub const fn new(warm: usize) -> Self {
        Self {
            values: [0; SAMPLES_MAX],
            count: 0,
            warm,
        }
    }

    /// The capacity.
    pub const fn room(&self) -> usize {
        SAMPLES_MAX
    }

    /// Adds a value; none beyond the capacity.
    pub fn add(&mut self, figure: u64) {
        if self.warm > 0 {
            self.warm -= 1;
        } else if let Some(place) = self.values.get_mut(self.count) {
            *place = figure;
            self.count += 1;
        }
    }

    /// The value that `quarters` quarters of all values do not exceed: 2 for the median. 0 if there are none.
    #[inline(never)]
    pub fn quartile(&self, quarters: usize) -> u64 {
        let mut sorted = self.values;
        let sorted = &mut sorted[..self.count];
        sorted.sort_unstable();
        let place = (sorted.len() * quarters / 4).min(sorted.len().saturating_sub(1));
        sorted.get(place).copied().unwrap_or(0)
    }

    /// The variance, with these values as the whole population, and of their being whole numbers: 1/12, which is all
    /// that is known of the true values where all are alike.
    pub fn variance(&self) -> Thousandths {
        let values = &self.values[..self.count];
        let count = values.len() as u128;
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        let squares: u128 = values.iter().map(|value| u128::from(*value).pow(2)).sum();
        let scaled = (count * squares - sum * sum) * 1000;
        Thousandths(scaled.checked_div(count * count).unwrap_or(0) as u64 + 1000 / 12)
    }

    /// Reports the values, and `NAME_cycles`, their median, `NAME_q1_cycles` and `NAME_q3_cycles`, the other quartiles,
    /// and `NAME_variance`.
    #[inline(never)]
    pub fn report(&self, name: &str) {
        record::samples(name, "all", "cycles", &self.values[..self.count]);
        record::metric_with_suffix(name, "_q1_cycles", self.quartile(1), "cycles");
        record::metric_with_suffix(name, "_cycles", self.quartile(2), "cycles");
        record::metric_with_suffix(name, "_q3_cycles", self.quartile(3), "cycles");
        record::metric_with_suffix(name, "_variance", self.variance(), "count");
    }
}

/// Memory that is read to empty the caches: four times the second-level cache of the profile `soc`.
const SWEEP: usize = 2 << 20;
/// Bytes of a cache line.
const LINE: usize = 32;

/// Evicts everything from the caches that is not in use at once: data by reading other data, code with it where
/// the second level includes the first one. Needs 4 MiB of memory behind the image.
#[inline(never)]
pub fn evict() {
    let begin = start::image_end().next_multiple_of(SWEEP);
    for at in (begin..begin + SWEEP).step_by(LINE) {
        // SAFETY: memory behind the image, which is this guest's.
        unsafe { (at as *const u8).read_volatile() };
    }
}

/// A value in thousandths, rounded down; shown with three decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thousandths(pub u64);

impl Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Pseudorandom numbers: xorshift64* (Vigna, ACM TOMS 42(4), 2016).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts a sequence that the seed determines.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number, less than `bound`, which is above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
        ((u128::from(bits) * u128::from(bound)) >> 64) as u64
    }
}

/// Reports the maximum, minimum, mean and deviation of a series, in cycles, as `NAME_max` and so on.
pub fn report(name: &str, moments: &Moments) {
    record::metric_with_suffix(name, "_max", moments.max, "cycles");
    record::metric_with_suffix(name, "_min", moments.min, "cycles");
    record::metric_with_suffix(name, "_mean", moments.mean(), "cycles");
    record::metric_with_suffix(name, "_stddev", moments.deviation(), "cycles");
}
