//! The board's random numbers: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
//! 2014, section 5), which is short, fast, and the same everywhere. They are not fit for keys, and need not
//! be: the same seed gives the same run.

/// A generator.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator whose numbers are a function of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Fills `bytes`. Each call begins with a new number.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that the generator's authors publish for this seed.
    #[test]
    fn it_gives_the_published_numbers() {
        let mut random = Random::new(1_234_567);
        let numbers: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn bytes_are_the_numbers_in_order() {
        let (mut random, mut bytes) = (Random::new(5), [0; 12]);
        random.fill(&mut bytes);
        let mut again = Random::new(5);
        assert_eq!(bytes[..8], again.next().to_le_bytes());
        assert_eq!(bytes[8..], again.next().to_le_bytes()[..4]);
    }
}
