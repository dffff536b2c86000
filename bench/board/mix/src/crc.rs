//! Bytes, bits and tables: a cyclic redundancy check, bit by bit and with a table of 256 entries.

use crate::Random;

/// Bytes that are checked in a round.
const BYTES: usize = 4096;
/// The generator polynomial of IEEE 802.3, section 3.2.9, lowest power first.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The data and the table.
#[derive(Debug)]
pub struct Crc {
    table: [u32; 256],
    data: [u8; BYTES],
}

impl Crc {
    /// With the table filled and the data empty.
    pub fn new() -> Self {
        let mut table = [0; 256];
        for (index, entry) in table.iter_mut().enumerate() {
            *entry = (0..8).fold(index as u32, |value, _| step(value));
        }
        Self {
            table,
            data: [0; BYTES],
        }
    }

    /// A round's work: the remainder of random data, by the table and bit by bit, which must be the same.
    pub fn work(&mut self, seed: u32) -> Option<u32> {
        let mut random = Random::new(seed);
        for word in self.data.chunks_exact_mut(4) {
            word.copy_from_slice(&random.draw().to_le_bytes());
        }
        let remainder = self.remainder(u32::MAX, &self.data);
        let expected = self.data.iter().fold(u32::MAX, |value, &byte| {
            (0..8).fold(value ^ u32::from(byte), |value, _| step(value))
        });
        (remainder == expected).then_some(!remainder)
    }

    /// The remainder after more bytes.
    fn remainder(&self, from: u32, bytes: &[u8]) -> u32 {
        bytes.iter().fold(from, |value, &byte| {
            self.table[usize::from(value as u8 ^ byte)] ^ (value >> 8)
        })
    }
}

impl Default for Crc {
    fn default() -> Self {
        Self::new()
    }
}

/// One bit of the division.
fn step(value: u32) -> u32 {
    let reduced = value >> 1;
    if value & 1 == 0 {
        reduced
    } else {
        reduced ^ POLYNOMIAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_value_is_the_published_one() {
        // The check value that catalogues of CRCs give for CRC-32/ISO-HDLC.
        assert_eq!(!Crc::new().remainder(!0, b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn damage_is_noticed() {
        let mut crc = Crc::new();
        assert!(crc.work(5).is_some());
        crc.table[77] ^= 1;
        assert_eq!(crc.work(5), None);
    }
}
