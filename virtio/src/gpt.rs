//! Partitions of a disk: the GUID partition table (UEFI Specification 2.10, section 5.3).
//!
//! The first header counts, if it and its entries are whole; else the one at the disk's end.

use crc32fast::Hasher;

use crate::disk::{Failed, SECTOR};

/// Sectors of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first.
    pub first: u64,
    /// How many.
    pub sectors: u64,
}

impl Part {
    /// Whether a disk of so many sectors has them, and one at least.
    pub fn is_within(&self, sectors: u64) -> bool {
        let end = self.first.checked_add(self.sectors);
        self.sectors > 0 && end.is_some_and(|end| end <= sectors)
    }

    /// Whether two have a sector in common.
    pub const fn overlaps(&self, other: &Self) -> bool {
        // None wraps: they are within a disk.
        self.first < other.first + other.sectors && other.first < self.first + self.sectors
    }
}

/// Why there is no such partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The disk cannot be read.
    Failed,
    /// It has no whole table.
    Table,
    /// The table has no partition of that number.
    Partition,
    /// The partition is not within what the table says partitions may have.
    Bounds,
}

impl Lack {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Failed => "the disk cannot be read",
            Self::Table => "the disk has no whole GUID partition table",
            Self::Partition => "the disk has no partition of that number",
            Self::Bounds => "a partition is not within the disk",
        }
    }
}

impl From<Failed> for Lack {
    fn from(_: Failed) -> Self {
        Self::Failed
    }
}

/// A sector's bytes.
type Sector = [u8; SECTOR];

/// Bytes of the header that this version of the table has, and of an entry.
const HEADER: usize = 92;
const ENTRY: usize = 128;
/// Entries of a table, at most: all of them are read.
const ENTRIES_MAX: u32 = 1024;

fn word(sector: &[u8], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&sector[at..at + 4]);
    u32::from_le_bytes(bytes)
}

fn double(sector: &[u8], at: usize) -> u64 {
    u64::from(word(sector, at)) | u64::from(word(sector, at + 4)) << 32
}

/// A header that is in order.
struct Header {
    usable: core::ops::RangeInclusive<u64>,
    entries_at: u64,
    entries: u32,
    entries_check: u32,
}

impl Header {
    /// The header in a sector of a disk of so many.
    fn of(sector: &Sector, at: u64, sectors: u64) -> Option<Self> {
        let size = word(sector, 12) as usize;
        if !sector.starts_with(b"EFI PART") || !(HEADER..=SECTOR).contains(&size) {
            return None;
        }
        let mut check = Hasher::new();
        check.update(&sector[..16]);
        check.update(&[0; 4]);
        check.update(&sector[20..size]);
        let own = Self {
            usable: double(sector, 40)..=double(sector, 48),
            entries_at: double(sector, 72),
            entries: word(sector, 80),
            entries_check: word(sector, 88),
        };
        let is_sound = check.finalize() == word(sector, 16)
            && double(sector, 24) == at
            && word(sector, 84) as usize == ENTRY
            && (1..=ENTRIES_MAX).contains(&own.entries)
            && *own.usable.end() < sectors
            && own.entries_at.checked_add(own.sectors())? <= sectors;
        is_sound.then_some(own)
    }

    /// Sectors of the entries.
    fn sectors(&self) -> u64 {
        (self.entries as usize * ENTRY).div_ceil(SECTOR) as u64
    }
}

/// The partition of that number, from 1 on, of a disk of so many sectors of 512 bytes, which `read` reads.
///
/// # Errors
///
/// [`Lack`].
pub fn partition(
    number: u32,
    sectors: u64,
    mut read: impl FnMut(u64, &mut Sector) -> Result<(), Failed>,
) -> Result<Part, Lack> {
    let mut sector = [0; SECTOR];
    for at in [1, sectors.saturating_sub(1)] {
        if at >= sectors {
            continue;
        }
        read(at, &mut sector)?;
        let Some(header) = Header::of(&sector, at, sectors) else {
            continue;
        };
        let mut check = Hasher::new();
        let mut entry = None;
        let mut left = header.entries as usize * ENTRY;
        let wanted = u64::from(number.saturating_sub(1)) * ENTRY as u64;
        for index in 0..header.sectors() {
            read(header.entries_at + index, &mut sector)?;
            let bytes = left.min(SECTOR);
            check.update(&sector[..bytes]);
            left -= bytes;
            if (1..=header.entries).contains(&number) && wanted / SECTOR as u64 == index {
                let at = (wanted % SECTOR as u64) as usize;
                let mut own = [0; ENTRY];
                own.copy_from_slice(&sector[at..at + ENTRY]);
                entry = Some(own);
            }
        }
        if check.finalize() != header.entries_check {
            continue;
        }
        // An entry whose type is zero is unused.
        let entry = entry.filter(|entry| entry[..16] != [0; 16]);
        let entry = entry.ok_or(Lack::Partition)?;
        let (first, last) = (double(&entry, 32), double(&entry, 40));
        let is_within = header.usable.contains(&first) && header.usable.contains(&last);
        if !is_within || last < first {
            return Err(Lack::Bounds);
        }
        return Ok(Part {
            first,
            sectors: last - first + 1,
        });
    }
    Err(Lack::Table)
}
