//! What the guests that measure share: releases to the cycle, exact means and deviations, numbers that only look
//! random.
#![no_std]
#![cfg(target_arch = "riscv64")]

use core::arch::asm;
use core::fmt::{self, Display};

use tactus_guest::abi::hypercall::{EXTENSION, RT_YIELD};
use tactus_guest::stopwatch::Wakeup;
use tactus_guest::{csr, record, start, time};

/// A job of a real-time vCPU begins.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// When it should have, in ticks.
    pub due: u64,
    /// When it did: `cycle` as the first instruction read it. The cause means nothing.
    pub wakeup: Wakeup,
}

/// Ends the job of the calling real-time vCPU; returns when the next is released. The clock is read by the first
/// instruction.
///
/// # Panics
///
/// When the caller has no reservation.
#[inline(never)]
pub fn next_release() -> Release {
    let (error, due, cycles): (isize, u64, u64);
    // SAFETY: an SBI call keeps every register but a0 and a1 (SBI specification, "Binary Encoding").
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

/// Runs until the clock is there.
pub fn busy_until(ticks: u64) {
    while time::now() < ticks {
        core::hint::spin_loop();
    }
}

/// Count, sum and sum of squares of a series, and its extremes: all exact.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// How many.
    pub count: u64,
    /// Least.
    pub min: u64,
    /// Greatest.
    pub max: u64,
    sum: u64,
    squares: u128,
}

impl Moments {
    /// Of none.
    pub const fn new() -> Self {
        Self {
            count: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
            squares: 0,
        }
    }

    /// Adds a figure.
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

    /// The standard deviation, of these figures as the whole population.
    pub fn deviation(&self) -> Thousandths {
        let (count, sum) = (u128::from(self.count), u128::from(self.sum));
        // As many times the variance as there are figures, squared.
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

/// Most samples of a [`Samples`].
const SAMPLES_MAX: usize = 250;

/// Figures one by one, but for the first ones.
#[derive(Clone, Debug)]
pub struct Samples {
    values: [u64; SAMPLES_MAX],
    count: usize,
    /// How many are not counted yet.
    warm: usize,
}

impl Samples {
    /// The first `warm` figures are not counted.
    pub const fn new(warm: usize) -> Self {
        Self {
            values: [0; SAMPLES_MAX],
            count: 0,
            warm,
        }
    }

    /// How many it can have.
    pub const fn room(&self) -> usize {
        SAMPLES_MAX
    }

    /// Adds a figure; none beyond its room.
    pub fn add(&mut self, figure: u64) {
        if self.warm > 0 {
            self.warm -= 1;
        } else if let Some(place) = self.values.get_mut(self.count) {
            *place = figure;
            self.count += 1;
        }
    }

    /// The figure that `quarters` of four quarters of them do not exceed: 2 for the median. 0 of none.
    #[inline(never)]
    pub fn quartile(&self, quarters: usize) -> u64 {
        let mut sorted = self.values;
        let sorted = &mut sorted[..self.count];
        sorted.sort_unstable();
        let place = (sorted.len() * quarters / 4).min(sorted.len().saturating_sub(1));
        sorted.get(place).copied().unwrap_or(0)
    }

    /// The variance, of these figures as the whole population.
    pub fn variance(&self) -> Thousandths {
        let values = &self.values[..self.count];
        let count = values.len() as u128;
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        let squares: u128 = values.iter().map(|value| u128::from(*value).pow(2)).sum();
        let scaled = (count * squares - sum * sum) * 1000;
        Thousandths(scaled.checked_div(count * count).unwrap_or(0) as u64)
    }

    /// Reports them, and `NAME_cycles`, their median, `NAME_q1_cycles` and `NAME_q3_cycles`, the other quartiles, and
    /// `NAME_variance`.
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
/// Bytes of its lines.
const LINE: usize = 32;

/// Takes everything out of the caches that is not in use right now: data by reading other data, and code with it where
/// the second level has all that the first ones have. Needs 4 MiB of memory behind the image.
#[inline(never)]
pub fn evict() {
    let begin = start::image_end().next_multiple_of(SWEEP);
    for at in (begin..begin + SWEEP).step_by(LINE) {
        // SAFETY: memory behind the image, which is this guest's.
        unsafe { (at as *const u8).read_volatile() };
    }
}

/// A figure in thousandths, rounded down; shown with three decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thousandths(pub u64);

impl Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Numbers that look random: xorshift64* (Vigna, ACM TOMS 42(4), 2016).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
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

/// Reports a series' greatest, least and mean, and what it deviates, in cycles, as `NAME_max` and so on.
pub fn report(name: &str, moments: &Moments) {
    record::metric_with_suffix(name, "_max", moments.max, "cycles");
    record::metric_with_suffix(name, "_min", moments.min, "cycles");
    record::metric_with_suffix(name, "_mean", moments.mean(), "cycles");
    record::metric_with_suffix(name, "_stddev", moments.deviation(), "cycles");
}
