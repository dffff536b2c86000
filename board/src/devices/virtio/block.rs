//! A block device (Virtual I/O Device specification 1.2, section 5.2).
//!
//! Its disk is an image in memory or a file that is only read: what the run writes is kept beside it, so a run never
//! changes its inputs.

use super::{Backend, Chain, Malformed, QUEUE_SIZE_MAX, Served};
use crate::bus::BadState;
use crate::devices::state;
use crate::time::Femtoseconds;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use virtio_bindings::virtio_blk::{
    VIRTIO_BLK_F_BLK_SIZE, VIRTIO_BLK_F_FLUSH, VIRTIO_BLK_F_RO, VIRTIO_BLK_F_SEG_MAX,
    VIRTIO_BLK_ID_BYTES, VIRTIO_BLK_S_IOERR, VIRTIO_BLK_S_OK, VIRTIO_BLK_S_UNSUPP,
    VIRTIO_BLK_T_FLUSH, VIRTIO_BLK_T_GET_ID, VIRTIO_BLK_T_IN, VIRTIO_BLK_T_OUT,
};
use virtio_bindings::virtio_ids::VIRTIO_ID_BLOCK;

/// Bytes of a sector (section 5.2.4).
const SECTOR: u64 = 512;
/// Bytes that are copied on the first write to any of them.
const BLOCK: usize = 4096;
/// The request's header: type, reserved, sector.
const HEADER: u64 = 16;

enum Base {
    Memory(Arc<[u8]>),
    File(File),
}

/// A disk: a base that is never written, and what was written since.
pub struct Disk {
    base: Base,
    /// Bytes of the base; the disk is longer by what is missing to a sector.
    length: u64,
    /// By the number of the block.
    written: BTreeMap<u64, Box<[u8; BLOCK]>>,
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Disk")
            .field("length", &self.length)
            .field("written", &self.written.len())
            .finish_non_exhaustive()
    }
}

impl Disk {
    /// A disk that begins as the given bytes, filled up with zeros to a whole sector.
    #[must_use]
    pub fn new(image: Arc<[u8]>) -> Self {
        let length = image.len() as u64;
        Self {
            base: Base::Memory(image),
            length,
            written: BTreeMap::new(),
        }
    }

    /// A disk that begins as the file, which must not change while the board is in use.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened for reading.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self {
            base: Base::File(file),
            length,
            written: BTreeMap::new(),
        })
    }

    /// How many sectors of 512 bytes there are.
    #[must_use]
    pub const fn sectors(&self) -> u64 {
        self.length.div_ceil(SECTOR)
    }

    /// Whether `length` bytes from `offset` on are on the disk.
    #[must_use]
    pub const fn holds(&self, offset: u64, length: u64) -> bool {
        let size = self.sectors() * SECTOR;
        offset <= size && length <= size - offset
    }

    /// Reads bytes. What lies beyond the disk is zero.
    ///
    /// # Errors
    ///
    /// When the host cannot read the file.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        for (block, start, piece) in pieces_mut(offset, bytes) {
            match self.written.get(&block) {
                Some(written) => piece.copy_from_slice(&written[start..start + piece.len()]),
                None => self.read_base(block * BLOCK as u64 + start as u64, piece)?,
            }
        }
        Ok(())
    }

    /// Writes bytes; the caller has seen to it that the disk [`holds`](Self::holds) them.
    fn write(&mut self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (block, start) = (offset / BLOCK as u64, (offset % BLOCK as u64) as usize);
            let (piece, rest) = bytes.split_at(bytes.len().min(BLOCK - start));
            if !self.written.contains_key(&block) {
                let mut copy = Box::new([0; BLOCK]);
                self.read_base(block * BLOCK as u64, &mut copy[..])?;
                self.written.insert(block, copy);
            }
            if let Some(copy) = self.written.get_mut(&block) {
                copy[start..start + piece.len()].copy_from_slice(piece);
            }
            offset += piece.len() as u64;
            bytes = rest;
        }
        Ok(())
    }

    fn read_base(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let there = self.length.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (bytes, beyond) = bytes.split_at_mut(there);
        beyond.fill(0);
        match &self.base {
            // Where nothing is there, the offset may lie beyond the image.
            _ if there == 0 => {}
            Base::Memory(image) => {
                bytes.copy_from_slice(&image[offset as usize..offset as usize + there]);
            }
            Base::File(file) => file.read_exact_at(bytes, offset)?,
        }
        Ok(())
    }
}

/// The range cut at block boundaries: number of the block, where in it, and the bytes.
fn pieces_mut(mut offset: u64, bytes: &mut [u8]) -> impl Iterator<Item = (u64, usize, &mut [u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (block, start) = (offset / BLOCK as u64, (offset % BLOCK as u64) as usize);
        let length = rest.len().min(BLOCK - start);
        let (piece, others) = std::mem::take(&mut rest).split_at_mut(length);
        rest = others;
        offset += length as u64;
        Some((block, start, piece))
    })
}

/// How long requests take, in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Each request.
    pub request: Femtoseconds,
    /// And each byte of its data.
    pub byte: Femtoseconds,
}

impl Default for Latency {
    /// 20 microseconds a request and 1 GB/s: the order of a flash drive.
    fn default() -> Self {
        Self {
            request: Femtoseconds(20_000_000_000),
            byte: Femtoseconds(1_000_000),
        }
    }
}

/// A block device.
#[derive(Debug)]
pub struct Block {
    disk: Disk,
    name: String,
    read_only: bool,
    latency: Latency,
}

impl Block {
    /// A block device with that disk. Of `name`, drivers can read the first 20 bytes.
    #[must_use]
    pub fn new(disk: Disk, name: &str) -> Self {
        Self {
            disk,
            name: name.to_owned(),
            read_only: false,
            latency: Latency::default(),
        }
    }

    /// The same, refusing writes.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// The same, with other latencies.
    #[must_use]
    pub const fn with_latency(mut self, latency: Latency) -> Self {
        self.latency = latency;
        self
    }

    /// The disk as it is now.
    #[must_use]
    pub const fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Whether a transfer is one of whole sectors on the disk; where it begins.
    fn place(&self, sector: u64, length: u64) -> Option<u64> {
        let offset = sector.checked_mul(SECTOR)?;
        (length.is_multiple_of(SECTOR) && self.disk.holds(offset, length)).then_some(offset)
    }

    fn read(&self, sector: u64, chain: &mut Chain<'_>) -> Result<u32, Malformed> {
        let length = chain.writable() - 1;
        let Some(offset) = self.place(sector, length) else {
            return Ok(VIRTIO_BLK_S_IOERR);
        };
        let mut buffer = [0; BLOCK];
        for (at, size) in steps(length) {
            if self.disk.read(offset + at, &mut buffer[..size]).is_err() {
                return Ok(VIRTIO_BLK_S_IOERR);
            }
            chain.write(at, &buffer[..size])?;
        }
        Ok(VIRTIO_BLK_S_OK)
    }

    fn write(&mut self, sector: u64, chain: &mut Chain<'_>) -> Result<u32, Malformed> {
        let length = chain.readable() - HEADER;
        let Some(offset) = self.place(sector, length).filter(|_| !self.read_only) else {
            return Ok(VIRTIO_BLK_S_IOERR);
        };
        let mut buffer = [0; BLOCK];
        for (at, size) in steps(length) {
            chain.read(HEADER + at, &mut buffer[..size])?;
            if self.disk.write(offset + at, &buffer[..size]).is_err() {
                return Ok(VIRTIO_BLK_S_IOERR);
            }
        }
        Ok(VIRTIO_BLK_S_OK)
    }

    fn identify(&self, chain: &mut Chain<'_>) -> Result<u32, Malformed> {
        let mut text = [0; VIRTIO_BLK_ID_BYTES as usize];
        let length = self.name.len().min(text.len());
        text[..length].copy_from_slice(&self.name.as_bytes()[..length]);
        if chain.writable() - 1 < text.len() as u64 {
            return Ok(VIRTIO_BLK_S_IOERR);
        }
        chain.write(0, &text)?;
        Ok(VIRTIO_BLK_S_OK)
    }
}

/// `length` bytes in steps of a block: offset and size.
fn steps(length: u64) -> impl Iterator<Item = (u64, usize)> {
    (0..length)
        .step_by(BLOCK)
        .map(move |at| (at, (length - at).min(BLOCK as u64) as usize))
}

impl Backend for Block {
    fn id(&self) -> u32 {
        VIRTIO_ID_BLOCK
    }

    fn features(&self) -> u64 {
        1 << VIRTIO_BLK_F_SEG_MAX
            | 1 << VIRTIO_BLK_F_BLK_SIZE
            | 1 << VIRTIO_BLK_F_FLUSH
            | u64::from(self.read_only) << VIRTIO_BLK_F_RO
    }

    fn queues(&self) -> usize {
        1
    }

    fn config(&self) -> Vec<u8> {
        let mut config = vec![0; 24];
        config[0..8].copy_from_slice(&self.disk.sectors().to_le_bytes());
        // Header and status take a buffer each.
        config[12..16].copy_from_slice(&u32::from(QUEUE_SIZE_MAX - 2).to_le_bytes());
        config[20..24].copy_from_slice(&(SECTOR as u32).to_le_bytes());
        config
    }

    fn serve(
        &mut self,
        _queue: usize,
        chain: &mut Chain<'_>,
        _now: Femtoseconds,
    ) -> Result<Served, Malformed> {
        let mut header = [0; HEADER as usize];
        chain.read(0, &mut header)?;
        // The last byte is for the status.
        let status_at = chain.writable().checked_sub(1).ok_or(Malformed)?;
        let [kind, _, low, high] = std::array::from_fn(|word| {
            let bytes: [u8; 4] = std::array::from_fn(|byte| header[word * 4 + byte]);
            u32::from_le_bytes(bytes)
        });
        let sector = u64::from(high) << 32 | u64::from(low);
        let status = match kind {
            VIRTIO_BLK_T_IN => self.read(sector, chain)?,
            VIRTIO_BLK_T_OUT => self.write(sector, chain)?,
            // What is written is there at once.
            VIRTIO_BLK_T_FLUSH => VIRTIO_BLK_S_OK,
            VIRTIO_BLK_T_GET_ID => self.identify(chain)?,
            _ => VIRTIO_BLK_S_UNSUPP,
        };
        chain.write(status_at, &[status as u8])?;
        let data = status_at + chain.readable() - HEADER;
        let transfer = Femtoseconds(self.latency.byte.0.saturating_mul(data));
        // Data that was not written is not to be counted.
        let whole = status == VIRTIO_BLK_S_OK || status_at == 0;
        Ok(Served {
            written: if whole { chain.writable() as u32 } else { 0 },
            latency: self.latency.request.saturating_add(transfer),
        })
    }

    fn save(&self) -> Vec<u8> {
        let written: Vec<(u64, &[u8])> = self
            .disk
            .written
            .iter()
            .map(|(&block, bytes)| (block, &bytes[..]))
            .collect();
        state::save(&(self.disk.length, written))
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let (length, blocks): (u64, Vec<(u64, Vec<u8>)>) = state::restore("block", bytes)?;
        state::require(
            length == self.disk.length,
            "block",
            "it is of a disk of another size",
        )?;
        let mut written = BTreeMap::new();
        for (block, bytes) in blocks {
            let copy: Box<[u8; BLOCK]> = bytes
                .into_boxed_slice()
                .try_into()
                .map_err(|_| BadState("block: a block has another size".into()))?;
            let there = block < length.div_ceil(BLOCK as u64);
            state::require(there, "block", "a block lies beyond the disk")?;
            written.insert(block, copy);
        }
        self.disk.written = written;
        Ok(())
    }
}
