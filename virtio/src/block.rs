//! A block device (virtio 1.2, section 5.2).

use crate::disk::{BLOCK_SECTORS, Disk, Failed, SECTOR};
use crate::memory::Memory;
use crate::mmio::{Device, Served};
use crate::queue::{Buffer, Chain, Fault, Queue};

/// The most bytes of a buffer of data, and of buffers of data in a request: what a request may take is bounded by them.
pub const BUFFER_MAX: u32 = 4096;
/// ... buffers.
pub const BUFFERS_MAX: u32 = 4;
/// Sectors of a request, at most.
pub(crate) const SECTORS_MAX: u64 = (BUFFER_MAX * BUFFERS_MAX) as u64 / SECTOR as u64;

/// The most segments of a request to discard sectors, or to write zeroes: what stays of the first and of the last block
/// of each is copied.
pub const SEGMENTS_MAX: u32 = 2;
/// The most sectors of a segment.
pub const SEGMENT_SECTORS_MAX: u32 = 8192;

/// Features (section 5.2.3).
pub(crate) mod feature {
    pub const SIZE_MAX: u64 = 1 << 1;
    pub const SEG_MAX: u64 = 1 << 2;
    pub const READ_ONLY: u64 = 1 << 5;
    pub const BLOCK_SIZE: u64 = 1 << 6;
    pub const FLUSH: u64 = 1 << 9;
    pub const DISCARD: u64 = 1 << 13;
    pub const WRITE_ZEROES: u64 = 1 << 14;
}

/// Kinds of requests (section 5.2.6).
pub(crate) mod kind {
    pub const IN: u32 = 0;
    pub const OUT: u32 = 1;
    pub const FLUSH: u32 = 4;
    pub const GET_ID: u32 = 8;
    pub const DISCARD: u32 = 11;
    pub const WRITE_ZEROES: u32 = 13;
}

/// What a request's last byte says (section 5.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Status {
    Ok = 0,
    IoError = 1,
    Unsupported = 2,
}

impl From<Result<(), Failed>> for Status {
    fn from(done: Result<(), Failed>) -> Self {
        done.map_or(Self::IoError, |()| Self::Ok)
    }
}

/// Bytes of a request's header, and of what identifies a device.
pub(crate) const HEADER: u64 = 16;
const ID: usize = 20;
/// Bytes of a segment (section 5.2.6).
pub(crate) const SEGMENT: usize = 16;

/// What identifies a device: at most 20 bytes count.
pub(crate) fn identity(id: &[u8]) -> [u8; ID] {
    let mut own = [0; ID];
    let length = id.len().min(ID);
    own[..length].copy_from_slice(&id[..length]);
    own
}

/// A device's configuration (section 5.2.4); what is not put there is zero.
pub(crate) struct Configuration([u8; 60]);

impl Configuration {
    /// That of a disk of so many sectors, with the sizes of requests that all have.
    pub(crate) fn new(sectors: u64) -> Self {
        let mut own = Self([0; 60]);
        own.0[..8].copy_from_slice(&sectors.to_le_bytes());
        // size_max, seg_max
        own.put(8, BUFFER_MAX);
        own.put(12, BUFFERS_MAX);
        own
    }

    pub(crate) fn put(&mut self, at: usize, word: u32) {
        self.0[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }

    pub(crate) fn read(&self, offset: u32, size: u8) -> u64 {
        let mut value = [0; 8];
        for (at, byte) in value.iter_mut().enumerate().take(size.into()) {
            *byte = self.0.get(offset as usize + at).copied().unwrap_or(0);
        }
        u64::from_le_bytes(value)
    }
}

/// Sectors that are discarded, or made zeroes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) sector: u64,
    pub(crate) sectors: u32,
    pub(crate) flags: u32,
}

impl Segment {
    /// The flag that allows the device to give the sectors' storage to others.
    pub(crate) const UNMAP: u32 = 1;

    pub(crate) const fn of(bytes: [u8; SEGMENT]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, flags @ ..] = bytes;
        Self {
            sector: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            sectors: u32::from_le_bytes([i, j, k, l]),
            flags: u32::from_le_bytes(flags),
        }
    }

    /// Whether a disk of so many sectors has all of these, and a segment may have so many.
    pub(crate) fn is_within(&self, sectors: u64) -> bool {
        let end = self.sector.checked_add(self.sectors.into());
        self.sectors <= SEGMENT_SECTORS_MAX && end.is_some_and(|end| end <= sectors)
    }
}

/// A block device before a disk.
#[derive(Debug)]
pub struct Block<D> {
    disk: D,
    id: [u8; ID],
}

impl<D: Disk> Block<D> {
    /// Before that disk, with what identifies it: at most 20 bytes count.
    pub fn new(disk: D, id: &[u8]) -> Self {
        Self {
            disk,
            id: identity(id),
        }
    }

    /// The disk.
    pub const fn disk_mut(&mut self) -> &mut D {
        &mut self.disk
    }

    /// A request's data, and how many bytes of buffers were written.
    fn transfer(
        &mut self,
        request: &Request<'_>,
        memory: &impl Memory,
    ) -> Result<(Status, u32), Fault> {
        let mut data = [0; SECTOR];
        match request.kind {
            kind::IN | kind::OUT => {
                let is_in = request.kind == kind::IN;
                let bytes = if is_in {
                    request.writable - 1
                } else {
                    request.readable - HEADER
                };
                let sectors = bytes / SECTOR as u64;
                if bytes % SECTOR as u64 != 0 || sectors > SECTORS_MAX {
                    return Ok((Status::IoError, 0));
                }
                for number in 0..sectors {
                    let at = number * SECTOR as u64;
                    let Some(sector) = request.sector.checked_add(number) else {
                        return Ok((Status::IoError, at as u32));
                    };
                    let done = if is_in {
                        let done = self.disk.read(sector, &mut data);
                        if done.is_ok() {
                            request.write(memory, at, &data)?;
                        }
                        done
                    } else {
                        request.read(memory, HEADER + at, &mut data)?;
                        self.disk.write(sector, &data)
                    };
                    if done.is_err() {
                        return Ok((Status::IoError, if is_in { at as u32 } else { 0 }));
                    }
                }
                Ok((Status::Ok, if is_in { bytes as u32 } else { 0 }))
            }
            kind::FLUSH => Ok((self.disk.flush().into(), 0)),
            kind::DISCARD | kind::WRITE_ZEROES if self.disk.is_writable() => {
                Ok((self.zero(request, memory)?, 0))
            }
            kind::GET_ID => {
                let length = (request.writable - 1).min(ID as u64) as usize;
                request.write(memory, 0, &self.id[..length])?;
                Ok((Status::Ok, length as u32))
            }
            _ => Ok((Status::Unsupported, 0)),
        }
    }

    /// Makes a request's segments zeroes. It changes nothing before all segments are in order, and looks at each once:
    /// the driver may change them meanwhile.
    fn zero(&mut self, request: &Request<'_>, memory: &impl Memory) -> Result<Status, Fault> {
        let bytes = request.readable - HEADER;
        let count = bytes / SEGMENT as u64;
        let mut segments = [Segment::default(); SEGMENTS_MAX as usize];
        let is_whole = bytes.is_multiple_of(SEGMENT as u64) && count > 0;
        let Some(segments) = segments.get_mut(..count as usize).filter(|_| is_whole) else {
            return Ok(Status::IoError);
        };
        for (number, segment) in segments.iter_mut().enumerate() {
            let mut own = [0; SEGMENT];
            request.read(memory, HEADER + (number * SEGMENT) as u64, &mut own)?;
            *segment = Segment::of(own);
        }
        // A request to discard sectors has no flags (section 5.2.6.2).
        let flags = if request.kind == kind::DISCARD {
            0
        } else {
            Segment::UNMAP
        };
        if segments.iter().any(|segment| segment.flags & !flags != 0) {
            return Ok(Status::Unsupported);
        }
        let sectors = self.disk.sectors();
        if !segments.iter().all(|segment| segment.is_within(sectors)) {
            return Ok(Status::IoError);
        }
        let done = segments
            .iter()
            .try_for_each(|segment| self.disk.zero(segment.sector, segment.sectors.into()));
        Ok(done.into())
    }
}

/// A request, however its driver has divided it into buffers (section 2.7.4).
pub(crate) struct Request<'c> {
    buffers: &'c [Buffer],
    pub(crate) readable: u64,
    pub(crate) writable: u64,
    pub(crate) kind: u32,
    pub(crate) sector: u64,
}

impl<'c> Request<'c> {
    pub(crate) fn of(chain: &'c Chain, memory: &impl Memory) -> Result<Self, Fault> {
        let buffers = chain.buffers();
        let bytes = |writable| {
            let own = buffers.iter().filter(|buffer| buffer.writable == writable);
            own.map(|buffer| u64::from(buffer.length)).sum::<u64>()
        };
        let mut own = Self {
            buffers,
            readable: bytes(false),
            writable: bytes(true),
            kind: 0,
            sector: 0,
        };
        if own.readable < HEADER || own.writable == 0 {
            return Err(Fault::Request);
        }
        let mut header = [0; HEADER as usize];
        own.read(memory, 0, &mut header)?;
        let [a, b, c, d, _, _, _, _, sector @ ..] = header;
        own.kind = u32::from_le_bytes([a, b, c, d]);
        own.sector = u64::from_le_bytes(sector);
        Ok(own)
    }

    /// Carries out `each` for the pieces of the readable, or of the writable, bytes from `at` on: with an address, and
    /// the piece of what is to be copied.
    fn pieces(
        &self,
        writable: bool,
        at: u64,
        length: usize,
        mut each: impl FnMut(u64, core::ops::Range<usize>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut skip = at;
        let mut done = 0;
        for buffer in self
            .buffers
            .iter()
            .filter(|buffer| buffer.writable == writable)
        {
            let bytes = u64::from(buffer.length);
            if skip >= bytes {
                skip -= bytes;
                continue;
            }
            let count = (bytes - skip).min((length - done) as u64) as usize;
            let address = buffer.address.checked_add(skip).ok_or(Fault::Outside)?;
            if count > 0 {
                each(address, done..done + count)?;
            }
            done += count;
            skip = 0;
        }
        if done == length {
            Ok(())
        } else {
            Err(Fault::Request)
        }
    }

    pub(crate) fn read(&self, memory: &impl Memory, at: u64, to: &mut [u8]) -> Result<(), Fault> {
        self.pieces(false, at, to.len(), |address, piece| {
            Ok(memory.read(address, &mut to[piece])?)
        })
    }

    pub(crate) fn write(&self, memory: &impl Memory, at: u64, from: &[u8]) -> Result<(), Fault> {
        self.pieces(true, at, from.len(), |address, piece| {
            Ok(memory.write(address, &from[piece])?)
        })
    }
}

impl<D: Disk> Device for Block<D> {
    const KIND: u32 = 2;
    const QUEUES: usize = 1;

    fn features(&self) -> u64 {
        let rights = if self.disk.is_writable() {
            feature::DISCARD | feature::WRITE_ZEROES
        } else {
            feature::READ_ONLY
        };
        feature::SIZE_MAX | feature::SEG_MAX | feature::BLOCK_SIZE | feature::FLUSH | rights
    }

    fn configuration(&self, offset: u32, size: u8) -> u64 {
        let mut configuration = Configuration::new(self.disk.sectors());
        // blk_size
        configuration.put(20, SECTOR as u32);
        if self.disk.is_writable() {
            // max_discard_sectors, max_discard_seg, discard_sector_alignment
            configuration.put(36, SEGMENT_SECTORS_MAX);
            configuration.put(40, SEGMENTS_MAX);
            configuration.put(44, BLOCK_SECTORS as u32);
            // max_write_zeroes_sectors, max_write_zeroes_seg; write_zeroes_may_unmap is zero: none gives storage up.
            configuration.put(48, SEGMENT_SECTORS_MAX);
            configuration.put(52, SEGMENTS_MAX);
        }
        configuration.read(offset, size)
    }

    fn serve(
        &mut self,
        _: usize,
        queue: &mut Queue,
        memory: &impl Memory,
    ) -> Result<Served, Fault> {
        let mut chain = Chain::EMPTY;
        if !queue.peek(memory, &mut chain)? {
            return Ok(Served::default());
        }
        let request = Request::of(&chain, memory)?;
        let (status, written) = self.transfer(&request, memory)?;
        request.write(memory, request.writable - 1, &[status as u8])?;
        let interrupts = queue.complete(memory, &chain, written + 1)?;
        Ok(Served {
            interrupts,
            more: queue.waiting(memory)? > 0,
        })
    }
}
