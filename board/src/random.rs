//! The generator behind random replacement and weak memory.

use serde::{Deserialize, Serialize};

/// `splitmix64` (Steele, Lea and Flood, OOPSLA 2014): a counter in steps of an odd constant, and a mixing function
/// over it. Any seed is as good as any other, and the whole state is one word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator of its own for each `stream` under one `seed`.
    pub const fn new(seed: u64, stream: u64) -> Self {
        // The state after a first mix, so that neighbouring streams share nothing.
        let mut random = Self(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Self(random.next())
    }

    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound` (1 to 2^32), all equally likely but for 2^-32 or less.
    pub const fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }
}
