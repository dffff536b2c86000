//! A disk in memory: an image that is never changed, and the blocks that were written.
//!
//! Written blocks are in memory that outlives the device, in which each block has a state of two bits: its sectors
//! are those of the image, those that were written, or zeroes. A block is written first, all of it, and its state is
//! changed then, with the one word that has it: a life of the device that ends between the two leaves the block as it
//! was. A sector of a written block is written to a place of its own first, and then over the old one: the next life
//! finishes what had begun. So a sector is the old one or the new one, and never a part of each.

use core::ops::Range;

use crate::memory::{Memory, Outside, Window};

/// Bytes of a sector, the unit of requests (virtio 1.2, section 5.2).
pub const SECTOR: usize = 512;
/// Bytes of a block.
pub const BLOCK: usize = 4096;
/// Sectors of a block.
pub const BLOCK_SECTORS: u64 = (BLOCK / SECTOR) as u64;

/// A disk cannot do that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// What is behind a block device.
pub trait Disk {
    /// Its size in sectors.
    fn sectors(&self) -> u64;

    /// Whether it can be written.
    fn is_writable(&self) -> bool;

    /// Reads a sector.
    ///
    /// # Errors
    ///
    /// There is none of that number.
    fn read(&self, sector: u64, to: &mut [u8; SECTOR]) -> Result<(), Failed>;

    /// Writes a sector.
    ///
    /// # Errors
    ///
    /// There is none of that number, or the disk cannot be written.
    fn write(&mut self, sector: u64, from: &[u8; SECTOR]) -> Result<(), Failed>;

    /// Makes `count` sectors from `first` on zeroes.
    ///
    /// # Errors
    ///
    /// Not all of them exist, or the disk cannot be written: nothing has changed then.
    fn zero(&mut self, first: u64, count: u64) -> Result<(), Failed>;

    /// Returns when all that was written outlives the device.
    ///
    /// # Errors
    ///
    /// It does not.
    fn flush(&mut self) -> Result<(), Failed>;
}

/// States of a block, each of [`STATE_BITS`] bits.
mod state {
    /// Its sectors are those of the image.
    pub const IMAGE: u64 = 0;
    /// Its sectors were written.
    pub const WRITTEN: u64 = 1;
    /// Its sectors are zeroes.
    pub const ZEROES: u64 = 2;
}

const STATE_BITS: u64 = 2;
/// States in a word.
const STATES: u64 = 64 / STATE_BITS;

/// A disk of an image and the blocks written over it.
#[derive(Clone, Copy, Debug)]
pub struct Layered {
    image: &'static [u8],
    /// The blocks' states, in words of 64 bits; empty: it cannot be written.
    states: Window,
    /// The sector that is being written: a word with its number plus one, or 0, and its bytes.
    begun: Window,
    blocks: Window,
    sectors: u64,
}

/// Bytes in front of the states for the sector that is being written.
const BEGUN: usize = 8 + SECTOR;

impl Layered {
    /// A disk of the size of `image`, or without one (it is empty then) of as many blocks as fit `layer`. What `layer`
    /// has in it was written before; it begins as zeros. The disk can be written if all blocks fit the layer.
    pub fn new(image: &'static [u8], layer: Window) -> Self {
        // Whole pages in front of the blocks, with a state for each page of the layer.
        let pages = layer.size() / BLOCK;
        let state_bytes = pages.div_ceil(STATES as usize) * 8;
        let head = (BEGUN + state_bytes).div_ceil(BLOCK).min(pages);
        let room = pages - head;
        let blocks = match image.len() {
            0 => room,
            length => length.div_ceil(BLOCK),
        };
        let is_writable = blocks <= room;
        let sectors = match image.len() {
            0 => blocks * (BLOCK / SECTOR),
            length => length / SECTOR,
        };
        let disk = Self {
            image,
            states: layer.part(BEGUN, if is_writable { state_bytes } else { 0 }),
            begun: layer.part(0, BEGUN),
            blocks: layer.part(head * BLOCK, room * BLOCK),
            sectors: sectors as u64,
        };
        if is_writable {
            // It fails only where the note names a sector that the disk lacks. Then the driver's VM has written the
            // note, in the memory that it shares with this one: what it spoils is its own disk.
            let _ = disk.finish();
        }
        disk
    }

    /// Finishes the write of a sector that an earlier life has begun, if there is one.
    fn finish(&self) -> Result<(), Outside> {
        let mut word = [0; 8];
        self.begun.read(0, &mut word)?;
        let Some(sector) = u64::from_le_bytes(word).checked_sub(1) else {
            return Ok(());
        };
        let mut data = [0; SECTOR];
        self.begun.read(8, &mut data)?;
        let at = sector.checked_mul(SECTOR as u64).ok_or(Outside)?;
        self.blocks.write(at, &data)?;
        self.begun.write(0, &[0; 8])
    }

    /// Writes a sector of a written block.
    fn replace(&self, sector: u64, from: &[u8; SECTOR]) -> Result<(), Outside> {
        // A life that begins after this one sees all that this one has written, in this order up to its end.
        self.begun.write(8, from)?;
        self.begun.write(0, &(sector + 1).to_le_bytes())?;
        self.blocks.write(sector * SECTOR as u64, from)?;
        self.begun.write(0, &[0; 8])
    }

    /// The address of the word that has a block's state, the word, and the state's place in it.
    fn word(&self, block: u64) -> Result<(u64, u64, u64), Outside> {
        let address = block / STATES * 8;
        let mut word = [0; 8];
        self.states.read(address, &mut word)?;
        let shift = block % STATES * STATE_BITS;
        Ok((address, u64::from_le_bytes(word), shift))
    }

    fn state(&self, block: u64) -> Result<u64, Outside> {
        let (_, word, shift) = self.word(block)?;
        Ok(word >> shift & ((1 << STATE_BITS) - 1))
    }

    /// Changes the states of as many blocks from `first` on as are in the same word, `count` at most, and says how many
    /// these are.
    fn set_states(&self, first: u64, count: u64, state: u64) -> Result<u64, Outside> {
        let (address, word, shift) = self.word(first)?;
        let count = count.min(STATES - first % STATES);
        let mask = u64::MAX >> (64 - count * STATE_BITS) << shift;
        // The state, at each place of the word.
        let all = state * (u64::MAX / ((1 << STATE_BITS) - 1));
        let word = word & !mask | all & mask;
        self.states.write(address, &word.to_le_bytes())?;
        Ok(count)
    }

    /// Makes all of these sectors, of one block, the same.
    fn put(&self, sectors: Range<u64>, data: &[u8; SECTOR]) -> Result<(), Outside> {
        let block = sectors.start / BLOCK_SECTORS;
        let state = self.state(block)?;
        if state == state::WRITTEN {
            return sectors
                .into_iter()
                .try_for_each(|sector| self.replace(sector, data));
        }
        let first = block * BLOCK_SECTORS;
        let mut other = [0; SECTOR];
        for sibling in first..first + BLOCK_SECTORS {
            let from = if sectors.contains(&sibling) {
                data
            } else {
                if state == state::IMAGE {
                    self.read_image(sibling, &mut other);
                }
                &other
            };
            self.blocks.write(sibling * SECTOR as u64, from)?;
        }
        self.set_states(block, 1, state::WRITTEN)?;
        Ok(())
    }

    /// [`Disk::zero`], of sectors that exist.
    fn zero_all(&self, sectors: Range<u64>) -> Result<(), Outside> {
        let mut at = sectors.start;
        // Each step is a word of states, or one of at most two blocks of which a part stays.
        while at < sectors.end {
            let block = at / BLOCK_SECTORS;
            let blocks = sectors.end / BLOCK_SECTORS - block;
            if at.is_multiple_of(BLOCK_SECTORS) && blocks > 0 {
                at += self.set_states(block, blocks, state::ZEROES)? * BLOCK_SECTORS;
                continue;
            }
            let end = sectors.end.min((block + 1) * BLOCK_SECTORS);
            if self.state(block)? & state::ZEROES == 0 {
                self.put(at..end, &[0; SECTOR])?;
            }
            at = end;
        }
        Ok(())
    }

    fn read_image(&self, sector: u64, to: &mut [u8; SECTOR]) {
        let start = usize::try_from(sector)
            .ok()
            .and_then(|sector| sector.checked_mul(SECTOR));
        let part = start.and_then(|start| self.image.get(start..start.checked_add(SECTOR)?));
        match part {
            Some(part) => to.copy_from_slice(part),
            None => to.fill(0),
        }
    }
}

impl Disk for Layered {
    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn is_writable(&self) -> bool {
        self.states.size() != 0
    }

    fn read(&self, sector: u64, to: &mut [u8; SECTOR]) -> Result<(), Failed> {
        if sector >= self.sectors {
            return Err(Failed);
        }
        let state = if self.is_writable() {
            self.state(sector / BLOCK_SECTORS).map_err(|_| Failed)?
        } else {
            state::IMAGE
        };
        match state {
            state::IMAGE => self.read_image(sector, to),
            state::WRITTEN => {
                let at = sector * SECTOR as u64;
                return self.blocks.read(at, to).map_err(|_| Failed);
            }
            _ => to.fill(0),
        }
        Ok(())
    }

    fn write(&mut self, sector: u64, from: &[u8; SECTOR]) -> Result<(), Failed> {
        if sector >= self.sectors || !self.is_writable() {
            return Err(Failed);
        }
        self.put(sector..sector + 1, from).map_err(|_| Failed)
    }

    fn zero(&mut self, first: u64, count: u64) -> Result<(), Failed> {
        let end = first.checked_add(count).ok_or(Failed)?;
        if end > self.sectors || !self.is_writable() {
            return Err(Failed);
        }
        self.zero_all(first..end).map_err(|_| Failed)
    }

    /// There is nothing to do: each write, and each change of a state, is in memory that outlives the device when it
    /// returns.
    fn flush(&mut self) -> Result<(), Failed> {
        Ok(())
    }
}
