//! Which of the table's rows can be a given 32-bit word: a handful, found by the word's opcode and function
//! fields. Worked out from the patterns while compiling.

use super::Operation;
use super::pattern::Pattern;
use super::table::TABLE;

/// The major opcode OP-FP (Volume I, 20191213, table 24.1), bits 6:2. Its instructions are told apart by bits
/// 31:25, where those of all others are by bits 14:12 (which hold a rounding mode here).
const OP_FP: u32 = 0b10100;
/// Slots of the other opcodes: 8 for each of 32.
const SLOTS_BY_FUNCT3: usize = 32 * 8;
/// And 128 for OP-FP.
const SLOTS: usize = SLOTS_BY_FUNCT3 + 128;

/// A row that a word may be.
#[derive(Clone, Copy)]
struct Candidate {
    pattern: Pattern,
    operation: Operation,
}

/// Rows by slot: slot `s` has `candidates[starts[s]..starts[s + 1]]`, in the order of the table.
struct Index<const N: usize> {
    starts: [u16; SLOTS + 1],
    candidates: [Candidate; N],
}

static INDEX: Index<CANDIDATES> = index();

/// The operation of a 32-bit word, going by its fixed bits alone.
#[inline]
pub(super) fn operation(word: u32) -> Option<Operation> {
    let slot = slot(word);
    let (start, end) = (INDEX.starts[slot], INDEX.starts[slot + 1]);
    INDEX.candidates[start as usize..end as usize]
        .iter()
        .find(|candidate| candidate.pattern.matches(word))
        .map(|candidate| candidate.operation)
}

/// The slot of a word. Bits 1:0 are not part of it, but of every pattern.
const fn slot(word: u32) -> usize {
    let opcode = word >> 2 & 31;
    if opcode == OP_FP {
        SLOTS_BY_FUNCT3 + (word >> 25) as usize
    } else {
        (opcode << 3 | word >> 12 & 7) as usize
    }
}

/// The words of a slot.
const fn words(slot: usize) -> Pattern {
    if slot < SLOTS_BY_FUNCT3 {
        let (opcode, funct3) = (slot as u32 >> 3, slot as u32 & 7);
        Pattern {
            mask: 0x0000_707f,
            bits: funct3 << 12 | opcode << 2 | 0b11,
        }
    } else {
        let funct7 = (slot - SLOTS_BY_FUNCT3) as u32;
        Pattern {
            mask: 0xfe00_007f,
            bits: funct7 << 25 | OP_FP << 2 | 0b11,
        }
    }
}

/// First slot of the opcode that a pattern has, and the number of that opcode's slots.
const fn slots_of_opcode(pattern: Pattern) -> (usize, usize) {
    assert!(
        pattern.mask & 0x7f == 0x7f && pattern.bits & 3 == 3,
        "a 32-bit instruction's pattern fixes bits 6:0, and bits 1:0 are 11"
    );
    let opcode = pattern.bits >> 2 & 31;
    if opcode == OP_FP {
        (SLOTS_BY_FUNCT3, 128)
    } else {
        ((opcode << 3) as usize, 8)
    }
}

/// How many candidates each slot has.
const fn counts() -> [u16; SLOTS] {
    let mut counts = [0; SLOTS];
    let mut row = 0;
    while row < TABLE.len() {
        let (first, number) = slots_of_opcode(TABLE[row].pattern);
        let mut slot = first;
        while slot < first + number {
            counts[slot] += words(slot).overlaps(TABLE[row].pattern) as u16;
            slot += 1;
        }
        row += 1;
    }
    counts
}

/// How many candidates there are in all.
const CANDIDATES: usize = {
    let counts = counts();
    let (mut sum, mut slot) = (0, 0);
    while slot < SLOTS {
        sum += counts[slot] as usize;
        slot += 1;
    }
    sum
};

const fn index() -> Index<CANDIDATES> {
    let counts = counts();
    let mut starts = [0; SLOTS + 1];
    let mut slot = 0;
    while slot < SLOTS {
        starts[slot + 1] = starts[slot] + counts[slot];
        slot += 1;
    }
    let mut next = starts;
    let nothing = Candidate {
        pattern: TABLE[0].pattern,
        operation: Operation::ALL[0],
    };
    let mut candidates = [nothing; CANDIDATES];
    let mut row = 0;
    while row < TABLE.len() {
        let pattern = TABLE[row].pattern;
        let (first, number) = slots_of_opcode(pattern);
        let mut slot = first;
        while slot < first + number {
            if words(slot).overlaps(pattern) {
                candidates[next[slot] as usize] = Candidate {
                    pattern,
                    operation: Operation::ALL[row],
                };
                next[slot] += 1;
            }
            slot += 1;
        }
        row += 1;
    }
    Index { starts, candidates }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slots_words_lead_to_that_slot() {
        for number in (0..SLOTS).filter(|&number| number >> 3 != OP_FP as usize) {
            let words = words(number);
            for free in [0, u32::MAX, 0xaaaa_aaaa, 0x5555_5555] {
                assert_eq!(slot(words.bits | free & !words.mask), number);
            }
        }
    }

    #[test]
    fn every_operation_is_found_by_its_fixed_bits() {
        for operation in Operation::ALL {
            let Pattern { mask, bits } = TABLE[operation as usize].pattern;
            // With all of its operands 0, `ori` is a prefetch.
            let free = if operation == Operation::Ori {
                !mask
            } else {
                0
            };
            assert_eq!(super::operation(bits | free), Some(operation));
        }
    }

    #[test]
    fn where_encodings_overlap_the_more_specific_one_stands_first() {
        for (second, row) in TABLE.iter().enumerate() {
            for earlier in &TABLE[..second] {
                if earlier.pattern.overlaps(row.pattern) {
                    let (specific, general) = (earlier.pattern.mask, row.pattern.mask);
                    assert!(
                        specific & general == general && specific != general,
                        "{} hides {}",
                        earlier.mnemonic,
                        row.mnemonic
                    );
                }
            }
        }
    }

    #[test]
    fn no_word_has_many_candidates() {
        // Decoding's time grows with this; the most are those of SYSTEM and of the bit manipulation immediates.
        assert!(counts().iter().all(|&count| count <= 16), "{:?}", counts());
    }
}
