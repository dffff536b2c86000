//! Partitions of a disk.

mod driver;

use driver::table::{SECTORS, check_of, damaged, disk, find, seal};
use proptest::prelude::*;
use tactus_virtio::disk::{Failed, SECTOR};
use tactus_virtio::gpt::{Lack, Part, partition};

/// The value that the standard gives for these digits.
#[test]
fn the_check_is_the_standards() {
    assert_eq!(check_of(b"123456789"), 0xcbf4_3926);
}

#[test]
fn partitions_are_found() {
    let disk = disk(&[(1, 34, 41), (6, 50, 50), (128, 90, 94)]);
    let part = |first, sectors| Ok(Part { first, sectors });
    assert_eq!(find(&disk, 1), part(34, 8));
    assert_eq!(find(&disk, 6), part(50, 1));
    assert_eq!(find(&disk, 128), part(90, 5));
    for number in [0, 2, 5, 129, u32::MAX] {
        assert_eq!(find(&disk, number), Err(Lack::Partition), "{number}");
    }
}

#[test]
fn what_is_out_of_bounds_is_refused() {
    for (first, last) in [
        (33, 40),
        (40, 39),
        (34, 95),
        (0, 0),
        (u64::MAX, u64::MAX),
        (40, u64::MAX),
    ] {
        assert_eq!(
            find(&disk(&[(1, first, last)]), 1),
            Err(Lack::Bounds),
            "{first}"
        );
    }
}

/// Each damage of the first table is made good by the one at the end, and both are not.
#[test]
fn a_damaged_table_is_not_used() {
    let whole = disk(&[(2, 40, 47)]);
    let wanted = Ok(Part {
        first: 40,
        sectors: 8,
    });
    for at in (SECTOR..SECTOR + 92).chain([2 * SECTOR, 33 * SECTOR + 511]) {
        let mut one = whole.clone();
        one[at] ^= 0x10;
        assert_eq!(find(&one, 2), wanted, "{at}");
        // The header and the entries at the end.
        one[(SECTORS - 1) * SECTOR + 60] ^= 1;
        assert_eq!(find(&one, 2), Err(Lack::Table), "{at}");
    }
    assert_eq!(find(&vec![0; SECTORS * SECTOR], 1), Err(Lack::Table));
    assert_eq!(find(&[0; SECTOR], 1), Err(Lack::Table));
    assert_eq!(find(&[], 1), Err(Lack::Table));
}

/// Headers whose checks are right and whose values are not.
#[test]
fn impossible_headers_are_not_used() {
    for (at, value) in [
        (12, 91_u32),
        (12, 513),
        (24, 2),
        (48, 128),
        (72, 97),
        (76, u32::MAX),
        (80, 0),
        (80, 1025),
        (84, 256),
    ] {
        let mut disk = disk(&[(1, 40, 47)]);
        disk[(SECTORS - 1) * SECTOR..].fill(0);
        let header = &mut disk[SECTOR..2 * SECTOR];
        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
        seal(header);
        assert_eq!(find(&disk, 1), Err(Lack::Table), "{at} {value}");
    }
}

#[test]
fn a_disk_that_cannot_be_read_has_none() {
    assert_eq!(partition(1, 100, |_, _| Err(Failed)), Err(Lack::Failed));
}

/// What the fuzzer begins with, and has found.
#[test]
fn the_corpus_is_within_the_disk() {
    let count = driver::any::each_of_corpus("partition_table", damaged);
    assert!(count >= 3, "the corpus has {count} files");
}

proptest! {
    /// A partition is within the disk, whatever is on that.
    #[test]
    fn a_partition_is_within_the_disk(
        number in 0..4_u8,
        flags in any::<u8>(),
        damage in proptest::collection::vec((0..0x900_u16, any::<u8>()), 0..8),
    ) {
        let mut bytes = vec![number, flags];
        for (at, byte) in damage {
            bytes.extend([SECTOR as u16 + at].map(u16::to_le_bytes).concat());
            bytes.push(byte);
        }
        damaged(&bytes);
    }
}
