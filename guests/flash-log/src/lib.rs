//! A journal in two sectors of NOR flash, from which no confirmed record is lost when power fails at any time.
//!
//! Records have successive numbers. They are programmed one behind the other into the slots of a sector. When that is
//! full, the other one is erased and begins with a header, which takes the number of the last record over. What an
//! interrupted program or erase leaves is unpredictable, so that nothing counts but what has the right checksum:
//!
//! * a slot that a loss of power has torn is skipped when the journal is [opened](Journal::open), and so is the first one
//!   behind it that looks erased: its program may have been interrupted before any bit had changed for good;
//! * the sector whose header has the highest generation is the current one. The other is needed no more once that
//!   header is whole, and it is always erased before it is used: one that looks erased may be so by half;
//! * a record is confirmed when [`Journal::append`] returns: then the flash has done.
#![no_std]

#[cfg(test)]
extern crate std;

/// Bytes of a slot: a header or a record. Pages of flash hold whole ones.
pub const SLOT: usize = 32;
/// Bytes of a sector, which is erased at once.
pub const SECTOR: u32 = 4096;
/// Records that fit in a sector behind its header.
pub const RECORDS_MAX: u32 = SECTOR / SLOT as u32 - 1;

/// What a slot begins with.
const HEADER: u8 = 0xc3;
const RECORD: u8 = 0xa5;

/// The flash, from the beginning of the journal's two sectors on.
pub trait Flash {
    /// Why an operation failed.
    type Error;

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// The flash's.
    fn read(&mut self, address: u32, to: &mut [u8]) -> Result<(), Self::Error>;

    /// Programs bytes, within a page, and returns when the flash has done.
    ///
    /// # Errors
    ///
    /// The flash's. Part of it may have been programmed.
    fn program(&mut self, address: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Erases the sector at an address, and returns when the flash has done.
    ///
    /// # Errors
    ///
    /// The flash's. Part of it may have been erased.
    fn erase(&mut self, address: u32) -> Result<(), Self::Error>;
}

/// What a journal is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Records of a sector, 1 to [`RECORDS_MAX`].
    pub records: u32,
    /// Whether records with a wrong checksum are left out. `false` is a mistake, for tests that have to find it: all
    /// that is not erased counts.
    pub checks: bool,
}

/// What was found in a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The number of the last record; 0: there is none.
    pub last: u64,
    /// Records in the current sector.
    pub records: u32,
    /// Torn slots in it.
    pub torn: u32,
}

/// Why a journal cannot be opened or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<E> {
    /// The flash.
    Flash(E),
    /// A record that counts as whole is not: its text is not that of its number, or its number is not the next one.
    Torn,
}

impl<E> From<E> for Failure<E> {
    fn from(error: E) -> Self {
        Self::Flash(error)
    }
}

/// A journal that has been opened.
#[derive(Debug)]
pub struct Journal<F> {
    flash: F,
    settings: Settings,
    /// The current sector, 0 or 1.
    sector: u32,
    generation: u32,
    /// The next slot, from 1.
    next: u32,
    found: Found,
}

impl<F: Flash> Journal<F> {
    /// Looks for what is there, and makes a new journal where nothing is.
    ///
    /// # Errors
    ///
    /// The flash's; or a torn record counts as whole.
    pub fn open(mut flash: F, settings: Settings) -> Result<Self, Failure<F::Error>> {
        let settings = Settings {
            records: settings.records.clamp(1, RECORDS_MAX),
            ..settings
        };
        let mut current: Option<(u32, Slot)> = None;
        for sector in 0..2 {
            let bytes = read_slot(&mut flash, sector, 0)?;
            let header = Slot::parse(&bytes, HEADER, true);
            let header = header.map(|header| (sector, header));
            let generation =
                |one: &Option<(u32, Slot)>| one.as_ref().map(|(_, one)| one.generation);
            if generation(&header) > generation(&current) {
                current = header;
            }
        }
        let mut journal = Self {
            flash,
            settings,
            sector: 1,
            generation: 0,
            next: 1,
            found: Found::default(),
        };
        match current {
            None => journal.begin_sector()?,
            Some((sector, header)) => {
                journal.sector = sector;
                journal.generation = header.generation;
                journal.found.last = header.number;
                journal.scan()?;
            }
        }
        Ok(journal)
    }

    /// What was found when it was opened, and was written since.
    pub const fn found(&self) -> Found {
        self.found
    }

    /// Writes the next record, and gives its number when the flash has it.
    ///
    /// # Errors
    ///
    /// The flash's. The record may be there when the journal is opened again.
    pub fn append(&mut self) -> Result<u64, Failure<F::Error>> {
        if self.next > self.settings.records {
            self.begin_sector()?;
        }
        let number = self.found.last + 1;
        let record = Slot {
            generation: self.generation,
            number,
        };
        self.flash
            .program(address(self.sector, self.next), &record.bytes(RECORD))?;
        self.next += 1;
        self.found.last = number;
        self.found.records += 1;
        Ok(number)
    }

    /// Erases the other sector and goes on there. Until its header is whole, the current one counts.
    fn begin_sector(&mut self) -> Result<(), Failure<F::Error>> {
        let other = 1 - self.sector;
        self.flash.erase(other * SECTOR)?;
        let header = Slot {
            generation: self.generation + 1,
            number: self.found.last,
        };
        self.flash.program(other * SECTOR, &header.bytes(HEADER))?;
        self.sector = other;
        self.generation = header.generation;
        self.next = 1;
        (self.found.records, self.found.torn) = (0, 0);
        Ok(())
    }

    /// Looks at the slots of the current sector.
    fn scan(&mut self) -> Result<(), Failure<F::Error>> {
        for slot in 1..=RECORDS_MAX {
            let bytes = read_slot(&mut self.flash, self.sector, slot)?;
            if bytes == [0xff; SLOT] {
                continue;
            }
            self.next = slot + 1;
            let record = Slot::parse(&bytes, RECORD, self.settings.checks);
            let is_current =
                |record: &Slot| !self.settings.checks || record.generation == self.generation;
            let Some(record) = record.filter(is_current) else {
                self.found.torn += 1;
                continue;
            };
            let is_next = record.number == self.found.last + 1;
            if !is_next || bytes[16..24] != record.text().to_le_bytes() {
                return Err(Failure::Torn);
            }
            self.found.last = record.number;
            self.found.records += 1;
        }
        self.next += 1;
        Ok(())
    }
}

/// A header or a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    generation: u32,
    /// Of a record its own, of a header that of the last one before the sector.
    number: u64,
}

impl Slot {
    /// What a record says: follows from its number, so that it can be checked.
    const fn text(self) -> u64 {
        (self.number ^ 0x5555_5555_5555_5555).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn bytes(self, kind: u8) -> [u8; SLOT] {
        let mut bytes = [0; SLOT];
        bytes[0] = kind;
        bytes[4..8].copy_from_slice(&self.generation.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.text().to_le_bytes());
        let (covered, sum) = bytes.split_at_mut(SLOT - 4);
        sum.copy_from_slice(&crc32(covered).to_le_bytes());
        bytes
    }

    /// What is in a slot of that kind; `None`: it is another one, or not whole, if that is looked at.
    fn parse(bytes: &[u8; SLOT], kind: u8, checks: bool) -> Option<Self> {
        let slot = Self {
            generation: u32::from_le_bytes(*bytes[4..].first_chunk()?),
            number: u64::from_le_bytes(*bytes[8..].first_chunk()?),
        };
        let is_whole = slot.bytes(kind) == *bytes;
        (is_whole || !checks).then_some(slot)
    }
}

fn address(sector: u32, slot: u32) -> u32 {
    sector * SECTOR + slot * SLOT as u32
}

fn read_slot<F: Flash>(flash: &mut F, sector: u32, slot: u32) -> Result<[u8; SLOT], F::Error> {
    let mut bytes = [0; SLOT];
    flash.read(address(sector, slot), &mut bytes)?;
    Ok(bytes)
}

/// The checksum of IEEE 802.3.
fn crc32(bytes: &[u8]) -> u32 {
    let sum = bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            sum >> 1 ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    });
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_ethernet() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
