//! A disk in memory: an image that is never changed, and the blocks that were written.
//!
//! Written blocks are in memory that outlives the device, in which each block has a bit. A block is written there
//! first, all of it, and its bit is set then: a life of the device that ends between the two leaves the block as it
//! was. A sector of a block that has its bit is written to a place of its own first, and then over the old one: the
//! next life finishes what had begun. So a sector is the old one or the new one, and never a part of each.

use crate::memory::{Memory, Outside, Window};

/// Bytes of a sector, the unit of requests (virtio 1.2, section 5.2).
pub const SECTOR: usize = 512;
/// Bytes of a block.
pub const BLOCK: usize = 4096;

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

    /// Writes a sector. When this returns the data outlives the device: there is nothing that a flush would have to do.
    ///
    /// # Errors
    ///
    /// There is none of that number, or the disk cannot be written.
    fn write(&mut self, sector: u64, from: &[u8; SECTOR]) -> Result<(), Failed>;
}

/// A disk of an image and the blocks written over it.
#[derive(Clone, Copy, Debug)]
pub struct Layered {
    image: &'static [u8],
    /// A bit for each block, in words of 64 bits; empty: it cannot be written.
    bits: Window,
    /// The sector that is being written: a word with its number plus one, or 0, and its bytes.
    begun: Window,
    blocks: Window,
    sectors: u64,
}

/// Bytes in front of the bits for the sector that is being written.
const BEGUN: usize = 8 + SECTOR;

impl Layered {
    /// A disk of the size of `image`, or without one (it is empty then) of as many blocks as fit `layer`. What `layer`
    /// has in it was written before; it begins as zeros. The disk can be written if all blocks fit the layer.
    pub fn new(image: &'static [u8], layer: Window) -> Self {
        // Whole pages in front of the blocks, with a bit for each page of the layer.
        let pages = layer.size() / BLOCK;
        let bit_bytes = pages.div_ceil(64) * 8;
        let head = (BEGUN + bit_bytes).div_ceil(BLOCK).min(pages);
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
            bits: layer.part(BEGUN, if is_writable { bit_bytes } else { 0 }),
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

    /// Writes a sector of a block that has its bit.
    fn replace(&self, sector: u64, from: &[u8; SECTOR]) -> Result<(), Outside> {
        // A life that begins after this one sees all that this one has written, in this order up to its end.
        self.begun.write(8, from)?;
        self.begun.write(0, &(sector + 1).to_le_bytes())?;
        self.blocks.write(sector * SECTOR as u64, from)?;
        self.begun.write(0, &[0; 8])
    }

    /// The address of the word that has a block's bit, the word, and the bit.
    fn bit(&self, block: u64) -> Result<(u64, u64, u64), Failed> {
        let address = block / 64 * 8;
        let mut word = [0; 8];
        self.bits.read(address, &mut word).map_err(|_| Failed)?;
        Ok((address, u64::from_le_bytes(word), 1 << (block % 64)))
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
        self.bits.size() != 0
    }

    fn read(&self, sector: u64, to: &mut [u8; SECTOR]) -> Result<(), Failed> {
        if sector >= self.sectors {
            return Err(Failed);
        }
        let at = sector * SECTOR as u64;
        if self.is_writable() {
            let (_, word, bit) = self.bit(at / BLOCK as u64)?;
            if word & bit != 0 {
                return self.blocks.read(at, to).map_err(|_| Failed);
            }
        }
        self.read_image(sector, to);
        Ok(())
    }

    fn write(&mut self, sector: u64, from: &[u8; SECTOR]) -> Result<(), Failed> {
        if sector >= self.sectors || !self.is_writable() {
            return Err(Failed);
        }
        let at = sector * SECTOR as u64;
        let block = at / BLOCK as u64;
        let (address, word, bit) = self.bit(block)?;
        if word & bit != 0 {
            return self.replace(sector, from).map_err(|_| Failed);
        }
        let first = block * (BLOCK / SECTOR) as u64;
        let mut other = [0; SECTOR];
        for sibling in first..first + (BLOCK / SECTOR) as u64 {
            let data = if sibling == sector {
                from
            } else {
                self.read_image(sibling, &mut other);
                &other
            };
            self.blocks
                .write(sibling * SECTOR as u64, data)
                .map_err(|_| Failed)?;
        }
        self.bits
            .write(address, &(word | bit).to_le_bytes())
            .map_err(|_| Failed)
    }
}
