//! QAM: 3GPP TS 36.211, 7.1.3 and 7.1.4.

use core::array;
use core::sync::atomic::AtomicU64;

use super::{Input, store};

/// The levels of a part, by its bits behind the sign; with 14 fractional bits.
const LEVELS_16: [i16; 2] = [5181, 15543];
const LEVELS_64: [i16; 4] = [7584, 2528, 12641, 17697];

/// One part of a symbol, whose bits are in the even positions of `bits`.
const fn part(symbol_bits: u32, bits: usize) -> u16 {
    let level = if symbol_bits == 4 {
        LEVELS_16[bits & 1]
    } else {
        LEVELS_64[bits >> 1 & 2 | bits & 1]
    };
    let is_negative = bits >> (symbol_bits - 2) & 1 != 0;
    (if is_negative { -level } else { level }) as u16
}

const fn symbol(symbol_bits: u32, bits: usize) -> u32 {
    part(symbol_bits, bits >> 1) as u32 | (part(symbol_bits, bits) as u32) << 16
}

/// The two symbols of each byte; that of the upper bits comes first.
static PAIRS_16: [u64; 256] = {
    let mut pairs = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = symbol(4, byte >> 4) as u64 | (symbol(4, byte & 15) as u64) << 32;
        byte += 1;
    }
    pairs
};

static SYMBOLS_64: [u32; 64] = {
    let mut symbols = [0; 64];
    let mut bits = 0;
    while bits < 64 {
        symbols[bits] = symbol(6, bits);
        bits += 1;
    }
    symbols
};

/// Computes a word for each byte.
pub fn qam16(input: &Input<'_>, output: &[AtomicU64]) {
    let (whole, rest) = output.as_chunks::<8>();
    for (index, words) in whole.iter().enumerate() {
        eight_16(input.word(index), words);
    }
    eight_16(input.word(whole.len()), rest);
}

#[inline(always)]
fn eight_16(bytes: u64, words: &[AtomicU64]) {
    for (word, byte) in words.iter().zip(bytes.to_le_bytes()) {
        store(word, PAIRS_16[usize::from(byte)]);
    }
}

/// The four symbols of three bytes, as two words.
#[inline(always)]
fn four_64(bytes: u64) -> [u64; 2] {
    let symbol = |bits: u64| u64::from(SYMBOLS_64[(bits & 63) as usize]);
    let first = symbol(bytes >> 2);
    let second = symbol((bytes & 3) << 4 | bytes >> 12 & 15);
    let third = symbol((bytes >> 8 & 15) << 2 | bytes >> 22 & 3);
    let fourth = symbol(bytes >> 16);
    [first | second << 32, third | fourth << 32]
}

/// Computes 16 words for each 24 bytes.
pub fn qam64(input: &Input<'_>, output: &[AtomicU64]) {
    let (whole, rest) = output.as_chunks::<16>();
    for (index, words) in whole.iter().enumerate() {
        let values = sixteen_64(array::from_fn(|n| input.word(3 * index + n)));
        for (word, value) in words.iter().zip(values) {
            store(word, value);
        }
    }
    let values = sixteen_64(array::from_fn(|n| input.word(3 * whole.len() + n)));
    for (word, value) in rest.iter().zip(values) {
        store(word, value);
    }
}

#[inline(always)]
fn sixteen_64([first, second, third]: [u64; 3]) -> [u64; 16] {
    let bytes = [
        first,
        first >> 24,
        first >> 48 | second << 16,
        second >> 8,
        second >> 32,
        second >> 56 | third << 8,
        third >> 16,
        third >> 40,
    ];
    let mut words = [0; 16];
    for (pair, bytes) in words.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = four_64(bytes);
    }
    words
}
