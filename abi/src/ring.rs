//! Rings in a channel's shared memory: one each way, with one producer and one consumer each.
//!
//! A channel's memory, of `size` bytes, is:
//!
//! | bytes | content | written by |
//! |---|---|---|
//! | 0..8 | ring 0: [`Position`] of its producer | end 0 |
//! | 64..72 | ring 0: position of its consumer | end 1 |
//! | 128..136 | ring 1: position of its producer | end 1 |
//! | 192..200 | ring 1: position of its consumer | end 0 |
//! | 256.. | ring 0: [`capacity`] bytes of records | end 0 |
//! | after it | ring 1: as many | end 1 |
//! | the rest | available to the guests | |
//!
//! End 0 is the VM that is first in `system.toml`; the devicetree tells the guest its end (`tactus,end`). End 0
//! produces into ring 0 and consumes from ring 1. Each writer has cache lines of its own.
//!
//! A *record* is a doubleword with its length in bytes, and its bytes, padded to a multiple of 8; it may wrap at the
//! end of the ring. A *position* is one doubleword that is stored and loaded as a whole: an epoch, and a sequence,
//! which counts the bytes of records that have been produced, or consumed, in this epoch. The sequence begins at
//! [`FIRST`] and wraps; byte `s` of the sequence is at `s` modulo the capacity.
//!
//! A producer begins an epoch when it starts and when it finds the consumer's position impossible: it chooses a number
//! that neither position has, never 0, and its ring is empty. A consumer that finds a new epoch begins at [`FIRST`] in
//! it. Bytes that it has copied are valid only if the epoch is still the same afterwards.

/// Bytes before the first ring's records.
pub const CONTROL: usize = 256;
/// Bytes between the words that different ends write.
pub const LINE: usize = 64;
/// Bytes of a record's length; records and their lengths are aligned to as much.
pub const ALIGN: usize = 8;
/// The sequence with which an epoch begins: near its end, so that it wraps in every use and not after four gigabytes.
pub const FIRST: u32 = 0u32.wrapping_sub(4096);
/// Largest capacity: differences of sequences are never ambiguous.
pub const CAPACITY_MAX: usize = 1 << 30;

/// Bytes of each ring in a channel of `size` bytes: the largest power of two of which two fit; 0: a record does not
/// fit. Depends on the configuration alone, never on the content of the memory.
pub const fn capacity(size: usize) -> usize {
    let each = size.saturating_sub(CONTROL) / 2;
    if each < 2 * ALIGN {
        0
    } else if each >= CAPACITY_MAX {
        CAPACITY_MAX
    } else {
        1 << each.ilog2()
    }
}

/// Bytes of the longest record in a ring of this capacity.
pub const fn record_max(capacity: usize) -> usize {
    capacity.saturating_sub(ALIGN)
}

/// Bytes that a record of `length` bytes takes in a ring. `length` is at most [`CAPACITY_MAX`].
pub const fn record_size(length: usize) -> usize {
    ALIGN + length.next_multiple_of(ALIGN)
}

/// Offset of the position of a ring's producer. `ring`: 0 or 1.
pub const fn produced_at(ring: usize) -> usize {
    2 * ring * LINE
}

/// Offset of the position of a ring's consumer.
pub const fn consumed_at(ring: usize) -> usize {
    produced_at(ring) + LINE
}

/// Offset of a ring's records.
pub const fn records_at(ring: usize, capacity: usize) -> usize {
    CONTROL + ring * capacity
}

/// The progress of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The epoch; 0: the end has not started.
    pub epoch: u32,
    /// The sequence.
    pub sequence: u32,
}

impl Position {
    /// The beginning of an epoch.
    pub const fn first(epoch: u32) -> Self {
        Self {
            epoch,
            sequence: FIRST,
        }
    }

    /// The representation in memory.
    pub const fn to_word(self) -> u64 {
        (self.epoch as u64) << 32 | self.sequence as u64
    }

    /// Decodes the representation in memory. Any word is a position.
    pub const fn from_word(word: u64) -> Self {
        Self {
            epoch: (word >> 32) as u32,
            sequence: word as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_the_largest_that_fits_twice() {
        for size in (0..1 << 16).step_by(8) {
            let capacity = capacity(size);
            if capacity == 0 {
                assert!(size < CONTROL + 4 * ALIGN);
            } else {
                assert!(capacity.is_power_of_two());
                assert!(records_at(2, capacity) <= size);
                assert!(records_at(2, 2 * capacity) > size);
            }
        }
        assert_eq!(capacity(usize::MAX), CAPACITY_MAX);
        assert_eq!(capacity(4096), 1024);
        assert_eq!(capacity(20 << 10), 8192);
    }

    #[test]
    fn position_survives_encoding() {
        let position = Position {
            epoch: 0x1234_5678,
            sequence: 0xffff_fff8,
        };
        assert_eq!(position.to_word(), 0x1234_5678_ffff_fff8);
        assert_eq!(Position::from_word(position.to_word()), position);
    }
}
