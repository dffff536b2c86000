//! Partition tables, for tests: whole ones, and damaged ones.

#![allow(dead_code, reason = "not every test uses all of it")]

use tactus_virtio::disk::{Failed, SECTOR};
use tactus_virtio::gpt::{Lack, Part, partition};

/// Sectors of a disk.
pub const SECTORS: usize = 128;
/// Sectors of a table's entries.
pub const TABLE: usize = 32;

/// The check of IEEE 802.3, by its definition.
pub fn check_of(bytes: &[u8]) -> u32 {
    let step = |check: u32, _| check >> 1 ^ if check & 1 == 0 { 0 } else { 0xedb8_8320 };
    let add = |check: u32, byte: &u8| (0..8).fold(check ^ u32::from(*byte), step);
    !bytes.iter().fold(u32::MAX, add)
}

/// A disk with these partitions: numbers, first and last sectors.
pub fn disk(parts: &[(usize, u64, u64)]) -> Vec<u8> {
    let mut bytes = vec![0; SECTORS * SECTOR];
    let mut entries = vec![0; TABLE * SECTOR];
    for (number, first, last) in parts {
        let entry = &mut entries[128 * (number - 1)..][..128];
        entry[..16].fill(1);
        entry[32..40].copy_from_slice(&first.to_le_bytes());
        entry[40..48].copy_from_slice(&last.to_le_bytes());
    }
    let last = SECTORS - 1;
    for (own, other, table) in [(1, last, 2), (last, 1, last - TABLE)] {
        let header = &mut [0; SECTOR];
        header[..8].copy_from_slice(b"EFI PART");
        header[8..16].copy_from_slice(&[0, 0, 1, 0, 92, 0, 0, 0]);
        for (at, number) in [
            (24, own),
            (32, other),
            (40, 34),
            (48, last - 33),
            (72, table),
        ] {
            header[at..at + 8].copy_from_slice(&(number as u64).to_le_bytes());
        }
        header[80..88].copy_from_slice(&[128, 0, 0, 0, 128, 0, 0, 0]);
        header[88..92].copy_from_slice(&check_of(&entries).to_le_bytes());
        seal(header);
        bytes[own * SECTOR..][..SECTOR].copy_from_slice(header);
        bytes[table * SECTOR..][..entries.len()].copy_from_slice(&entries);
    }
    bytes
}

/// Puts a header's check into it.
pub fn seal(header: &mut [u8]) {
    header[16..20].fill(0);
    let check = check_of(&header[..92]);
    header[16..20].copy_from_slice(&check.to_le_bytes());
}

pub fn find(disk: &[u8], number: u32) -> Result<Part, Lack> {
    partition(number, (disk.len() / SECTOR) as u64, |sector, to| {
        let at = sector as usize * SECTOR;
        to.copy_from_slice(disk.get(at..at + SECTOR).ok_or(Failed)?);
        Ok(())
    })
}

/// A disk with two partitions, damaged as the bytes say: which partition is wanted, whether the checks of the first
/// table are made right again, and bytes with their places. What is found is within the disk.
pub fn damaged(bytes: &[u8]) {
    let [number, flags, damage @ ..] = bytes else {
        return;
    };
    let mut disk = disk(&[(1, 34, 41), (2, 42, 94)]);
    for [low, high, byte] in damage.as_chunks::<3>().0 {
        disk[usize::from(u16::from_le_bytes([*low, *high]))] = *byte;
    }
    if flags & 1 != 0 {
        let entries = check_of(&disk[2 * SECTOR..(2 + TABLE) * SECTOR]);
        disk[SECTOR + 88..SECTOR + 92].copy_from_slice(&entries.to_le_bytes());
    }
    if flags & 2 != 0 {
        seal(&mut disk[SECTOR..2 * SECTOR]);
    }
    if let Ok(part) = find(&disk, (*number).into()) {
        assert!(part.is_within(SECTORS as u64), "{part:?}");
    }
}
