//! The integer mix: four kinds of work that programs without floating point are made of, each on a working set
//! of a few KiB, about the same number of instructions each.
//!
//! Every part of every round verifies its own result by an independent computation, and returns a number that
//! depends on all of it. The numbers of all rounds make the checksum.
#![no_std]

#[cfg(test)]
extern crate std;

use core::hint::black_box;

pub mod crc;
pub mod list;
pub mod matrix;
pub mod recursion;

/// Parts of a round.
pub const PARTS: [&str; 4] = ["crc", "list", "matrix", "recursion"];

/// A part's own check did not hold: the machine computes wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The part, one of [`PARTS`].
    pub part: &'static str,
    /// The round, counted from 0.
    pub round: u64,
}

/// Random numbers that depend on the seed alone (xorshift, G. Marsaglia, "Xorshift RNGs", 2003).
#[derive(Clone, Debug)]
pub struct Random(u32);

impl Random {
    /// A sequence; the seeds 0 and 1 give the same.
    pub fn new(seed: u32) -> Self {
        Self(seed.max(1))
    }

    /// The next number; never 0.
    pub fn draw(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

/// The working sets of all parts: about 20 KiB.
#[derive(Debug)]
pub struct Mix {
    random: Random,
    crc: crc::Crc,
    list: list::List,
    matrix: matrix::Matrices,
    checksum: u32,
    round: u64,
}

impl Mix {
    /// The mix before its first round.
    pub fn new(seed: u32) -> Self {
        Self {
            random: Random::new(seed),
            crc: crc::Crc::new(),
            list: list::List::new(),
            matrix: matrix::Matrices::new(),
            checksum: 0,
            round: 0,
        }
    }

    /// Does one round; `mark` is called behind each part with its index in [`PARTS`].
    ///
    /// # Errors
    /// A part's own check did not hold.
    pub fn round(&mut self, mut mark: impl FnMut(usize)) -> Result<(), Wrong> {
        let seed = self.random.draw();
        // The compiler must neither know a part's input nor do without its result.
        let mut part = |index: usize, result: Option<u32>| {
            mark(index);
            let result = black_box(result).ok_or(Wrong {
                part: PARTS[index],
                round: self.round,
            })?;
            self.checksum = self.checksum.rotate_left(1) ^ result;
            Ok(())
        };
        part(0, self.crc.work(black_box(seed)))?;
        part(1, self.list.work(black_box(seed)))?;
        part(2, self.matrix.work(black_box(seed)))?;
        part(3, recursion::work(black_box(seed)))?;
        self.round += 1;
        Ok(())
    }

    /// The combined result of all rounds so far.
    pub fn checksum(&self) -> u32 {
        self.checksum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checksum(seed: u32, rounds: u64) -> u32 {
        let mut mix = Mix::new(seed);
        for _ in 0..rounds {
            mix.round(|_| {}).expect("the host computes rightly");
        }
        mix.checksum()
    }

    #[test]
    fn checksum_depends_on_seed_and_rounds_alone() {
        assert_eq!(checksum(7, 3), checksum(7, 3));
        assert_ne!(checksum(7, 3), checksum(8, 3));
        assert_ne!(checksum(7, 3), checksum(7, 4));
    }

    #[test]
    fn parts_come_in_order() {
        let mut order = std::vec::Vec::new();
        Mix::new(1)
            .round(|part| order.push(part))
            .expect("the host computes rightly");
        assert_eq!(order, [0, 1, 2, 3]);
    }
}
