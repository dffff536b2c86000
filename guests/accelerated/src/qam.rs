//! What the QAM tasks compute, in software: 3GPP TS 36.211, 7.1.3 and 7.1.4 (`docs/src/reference/hardware-tasks.md`).

use core::sync::atomic::{AtomicU64, Ordering};

/// The levels of a part, by its bits behind the sign; 14 bits behind the point.
const LEVELS_16: [i16; 2] = [5181, 15543];
const LEVELS_64: [i16; 4] = [7584, 2528, 12641, 17697];

/// Bits of a symbol of the task of that number; `None`: it is no QAM.
pub const fn symbol_bits(task: u8) -> Option<u32> {
    match task {
        2 => Some(4),
        3 => Some(6),
        _ => None,
    }
}

/// One part of a symbol, whose bits are in the even places of `bits`.
const fn part(symbol_bits: u32, bits: u32) -> u16 {
    let level = if symbol_bits == 4 {
        LEVELS_16[(bits & 1) as usize]
    } else {
        LEVELS_64[(bits >> 1 & 2 | bits & 1) as usize]
    };
    let is_negative = bits >> (symbol_bits - 2) & 1 != 0;
    (if is_negative { -level } else { level }) as u16
}

/// The symbols of so many bytes of input.
pub fn compute(symbol_bits: u32, length: usize, input: &[AtomicU64], output: &[AtomicU64]) {
    let bit = |index: usize| {
        if index >= 8 * length {
            return 0;
        }
        let bytes = input[index / 64].load(Ordering::Relaxed).to_le_bytes();
        u32::from(bytes[index / 8 % 8] >> (7 - index % 8) & 1)
    };
    let symbols = (8 * length).div_ceil(symbol_bits as usize);
    for (pair, word) in output[..symbols.div_ceil(2)].iter().enumerate() {
        let symbol = |number: usize| {
            if number >= symbols {
                return 0;
            }
            let first = number * symbol_bits as usize;
            let bits = (0..symbol_bits as usize).fold(0, |all, n| all << 1 | bit(first + n));
            let (i, q) = (part(symbol_bits, bits >> 1), part(symbol_bits, bits));
            u64::from(i) | u64::from(q) << 16
        };
        let both = symbol(2 * pair) | symbol(2 * pair + 1) << 32;
        word.store(both.to_le(), Ordering::Relaxed);
    }
}
