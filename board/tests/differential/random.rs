//! Random choices that are the same in every run: splitmix64.

/// A source of random words.
pub struct Random(u64);

impl Random {
    /// The source of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// One of 0 to `count` - 1.
    pub const fn below(&mut self, count: u64) -> u64 {
        self.word() % count
    }

    /// True once in `count` times.
    pub const fn once_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// 1 once in `count` times, else 0.
    pub const fn bit(&mut self, count: u64) -> u64 {
        self.once_in(count) as u64
    }

    /// One of `choices`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A value that finds errors: small, extreme, one bit, about a sign's change, or random.
    pub fn value(&mut self) -> u64 {
        match self.below(8) {
            0 => self.below(16),
            1 => self.below(16).wrapping_neg(),
            2 => 1 << self.below(64),
            3 => u64::MAX << self.below(64),
            4 => self.pick(&[
                0,
                u64::MAX,
                i64::MIN as u64,
                i64::MAX as u64,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffff_8000_0000,
            ]),
            5 => u64::from(self.word() as u32),
            _ => self.word(),
        }
    }

    /// A value of a floating-point register: doubles and boxed singles of every class, and badly boxed ones.
    pub fn float(&mut self) -> u64 {
        let sign = self.word() << 63;
        let exponent: u64 = match self.below(8) {
            0 => 0,
            1 => 0x7ff,
            2 => 1,
            3 => 0x7fe,
            4 => self.below(0x800),
            _ => 0x3ff - 60 + self.below(120),
        };
        let fraction: u64 = match self.below(5) {
            0 => 0,
            1 => 1 << self.below(52),
            2 => u64::MAX >> 12,
            _ => self.word() >> 12,
        };
        let double = sign | exponent << 52 | fraction;
        let exponent = match self.below(8) {
            0 => 0,
            1 => 0xff,
            2 => 1,
            3 => 0xfe,
            4 => self.below(0x100),
            _ => 0x7f - 28 + self.below(56),
        };
        let single = 0xffff_ffff_0000_0000 | sign >> 32 | exponent << 23 | fraction >> 29;
        match self.below(16) {
            0 => self.word(),
            1 => single & !(1 << (32 + self.below(32))),
            2..9 => single,
            _ => double,
        }
    }
}
