//! Software for the computations of the fabric's hardware tasks, equal to the bit
//! (`docs/src/reference/hardware-tasks.md`): for a guest without a region, and to judge an accelerator's speed.
//!
//! Optimized for one hart without vectors: tables in place of branches, no allocation, memory in words of 64
//! bits. Input and output are words that devices share, little-endian as the tasks define them.
#![no_std]

mod fft;
mod qam;

use core::sync::atomic::{AtomicU64, Ordering};

/// A hardware task with an equivalent in software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// 4 bits to a symbol.
    Qam16,
    /// 6 bits to a symbol.
    Qam64,
    /// Blocks of 512 symbols.
    Fft512,
    /// Blocks of 1,024 symbols.
    Fft1024,
}

/// Memory for intermediate results.
#[derive(Clone, Debug)]
pub struct Workspace {
    even: [fft::Complex; fft::HALF_MAX],
    odd: [fft::Complex; fft::HALF_MAX],
}

impl Workspace {
    /// Creates an empty workspace.
    pub const fn new() -> Self {
        Self {
            even: [[0; 2]; fft::HALF_MAX],
            odd: [[0; 2]; fft::HALF_MAX],
        }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Task {
    /// The task of that number.
    pub const fn of_number(number: u8) -> Option<Self> {
        match number {
            2 => Some(Self::Qam16),
            3 => Some(Self::Qam64),
            4 => Some(Self::Fft512),
            5 => Some(Self::Fft1024),
            _ => None,
        }
    }

    /// Bytes of the output for `length` bytes of input.
    pub const fn output_bytes(self, length: usize) -> usize {
        match self {
            Self::Qam16 => 8 * length,
            Self::Qam64 => 4 * (8 * length).div_ceil(6),
            Self::Fft512 => length.next_multiple_of(4 * 512),
            Self::Fft1024 => length.next_multiple_of(4 * 1024),
        }
    }

    /// Computes the output of the first `length` bytes of the input. The rest of the output's last word becomes zero.
    ///
    /// # Panics
    ///
    /// Input or output are shorter than that.
    pub fn compute(
        self,
        length: usize,
        input: &[AtomicU64],
        output: &[AtomicU64],
        workspace: &mut Workspace,
    ) {
        let input = Input::new(length, input);
        let bytes = self.output_bytes(length);
        let output = &output[..bytes.div_ceil(8)];
        let Workspace { even, odd } = workspace;
        match self {
            Self::Qam16 => qam::qam16(&input, output),
            Self::Qam64 => qam::qam64(&input, output),
            Self::Fft512 => fft::fft512(&input, output, even, odd),
            Self::Fft1024 => fft::fft1024(&input, output, even, odd),
        }
        if let Some(last) = output.get(bytes / 8) {
            store(last, load(last) & !(!0 << (8 * (bytes % 8))));
        }
    }
}

/// A frame, padded with zeros.
struct Input<'a> {
    words: &'a [AtomicU64],
    last: u64,
}

impl<'a> Input<'a> {
    fn new(length: usize, words: &'a [AtomicU64]) -> Self {
        let words = &words[..length.div_ceil(8)];
        let (whole, rest) = (length / 8, 8 * (length % 8));
        let last = words
            .get(whole)
            .map_or(0, |word| load(word) & !(!0 << rest));
        Self {
            words: &words[..whole],
            last,
        }
    }

    fn word(&self, index: usize) -> u64 {
        match self.words.get(index) {
            Some(word) => load(word),
            None if index == self.words.len() => self.last,
            None => 0,
        }
    }
}

fn load(word: &AtomicU64) -> u64 {
    u64::from_le(word.load(Ordering::Relaxed))
}

fn store(word: &AtomicU64, value: u64) {
    word.store(value.to_le(), Ordering::Relaxed);
}
