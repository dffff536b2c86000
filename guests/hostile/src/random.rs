//! Repeatable random numbers: splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).

/// The generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence that the seed determines.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Chooses one of the given values.
    pub fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.next() % from.len() as u64) as usize]
    }
}
