//! Which words an instruction's encoding covers, written the way the specification's tables show them.

/// The fixed bits of an encoding: a word belongs to it when `word & mask == bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// One for each bit that the encoding fixes.
    pub mask: u32,
    /// The fixed bits' values; zero wherever `mask` is.
    pub bits: u32,
}

impl Pattern {
    /// Reads a pattern of `width` bits, highest first: `0` and `1` are fixed, `.` is an operand's, spaces part
    /// the fields for the reader.
    ///
    /// # Panics
    ///
    /// When the text has another length or other characters. Tables call this while compiling, so that such a
    /// text does not compile.
    pub const fn parse(text: &str, width: u32) -> Self {
        let text = text.as_bytes();
        let (mut mask, mut bits, mut count) = (0_u32, 0_u32, 0);
        let mut i = 0;
        while i < text.len() {
            let (fixed, one) = match text[i] {
                b'0' => (1, 0),
                b'1' => (1, 1),
                b'.' => (0, 0),
                b' ' => {
                    i += 1;
                    continue;
                }
                _ => panic!("a pattern consists of 0, 1, '.' and spaces"),
            };
            mask = mask << 1 | fixed;
            bits = bits << 1 | one;
            count += 1;
            i += 1;
        }
        assert!(
            count == width,
            "a pattern has as many digits and dots as the instruction has bits"
        );
        Self { mask, bits }
    }

    /// Whether `word` has this pattern's fixed bits.
    pub const fn matches(self, word: u32) -> bool {
        word & self.mask == self.bits
    }

    /// Whether some word matches both.
    pub const fn overlaps(self, other: Self) -> bool {
        (self.bits ^ other.bits) & self.mask & other.mask == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn digits_are_fixed_and_dots_are_free() {
        let pattern = Pattern::parse("10. .01", 6);
        assert_eq!(
            pattern,
            Pattern {
                mask: 0b11_0011,
                bits: 0b10_0001
            }
        );
        assert!(pattern.matches(0b10_1101));
        assert!(!pattern.matches(0b10_1111));
    }

    #[test]
    fn patterns_overlap_when_a_word_is_in_both() {
        let pattern = Pattern::parse("10.", 3);
        assert!(pattern.overlaps(Pattern::parse(".01", 3)));
        assert!(!pattern.overlaps(Pattern::parse(".11", 3)));
    }

    #[test]
    #[should_panic(expected = "as many digits")]
    fn a_pattern_of_another_length_is_refused() {
        let _ = Pattern::parse("0101", 5);
    }

    #[test]
    #[should_panic(expected = "consists of")]
    fn a_pattern_of_other_characters_is_refused() {
        let _ = Pattern::parse("01x1", 4);
    }
}
