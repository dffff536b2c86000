//! Bitstreams: a sealed one is accepted, a damaged one is rejected.

use proptest::prelude::*;
use tactus_abi::bitstream::{self, Error, HEADER, Header};

fn made(header: Header, content: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    bytes.extend(content.iter().flat_map(|word| word.to_le_bytes()));
    bitstream::seal(&mut bytes, header).expect("a task, and content");
    bytes
}

/// CRC-32 bit by bit, from the polynomial: independent of the library under test.
fn crc32(bytes: impl Iterator<Item = u8>) -> u32 {
    !bytes.fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ ((crc & 1) * 0xedb8_8320)
        })
    })
}

prop_compose! {
    fn bitstreams()(
        task in 1..=u8::MAX, region: u8, content in prop::collection::vec(any::<u32>(), 1..200),
    ) -> (Header, Vec<u8>) {
        let header = Header { task, region };
        (header, made(header, &content))
    }
}

proptest! {
    #[test]
    fn sealed_bitstream_is_accepted((header, bytes) in bitstreams()) {
        prop_assert_eq!(bitstream::check(&bytes), Ok(header));
        let covered = bytes[..12].iter().chain(&bytes[16..]).copied();
        prop_assert_eq!(bytes[12..16].to_vec(), crc32(covered).to_le_bytes().to_vec());
    }

    #[test]
    fn flipped_bit_is_detected((_, mut bytes) in bitstreams(), at: prop::sample::Index, bit in 0..8_u32) {
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        prop_assert!(bitstream::check(&bytes).is_err());
    }

    #[test]
    fn wrong_length_is_detected((_, mut bytes) in bitstreams(), length in 0..1000_usize) {
        let whole = bytes.len();
        bytes.resize(length, 0);
        prop_assert_eq!(bitstream::check(&bytes).is_ok(), length == whole);
    }

    #[test]
    fn arbitrary_bytes_are_rejected(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        prop_assert!(bitstream::check(&bytes).is_err());
    }
}

#[test]
fn invalid_content_or_task_is_not_sealed() {
    let header = Header { task: 1, region: 0 };
    for length in [0, 3, HEADER, HEADER + 2] {
        let mut bytes = vec![7; length];
        let found = bitstream::seal(&mut bytes, header);
        assert!(matches!(found, Err(Error::Length { found, .. }) if found == length));
        assert_eq!(bytes, vec![7; length]);
    }
    let mut bytes = [7; HEADER + 4];
    let none = Header { task: 0, region: 0 };
    assert_eq!(bitstream::seal(&mut bytes, none), Err(Error::Task));
    assert_eq!(bytes, [7; HEADER + 4]);
}
