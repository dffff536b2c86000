//! Block devices before parts of one disk that the service VM has itself, a virtio block device behind a queue
//! ([`crate::requester`]): each has its own part, and no request of its driver is about another sector.
//!
//! A device has one request of its driver before the disk at a time, in a slot of the service VM's own memory. The disk
//! accesses that memory alone, and never the driver's. What it has done is found when the driver looks why it was
//! interrupted, so that the service VM interrupts a driver whose request the disk has done ([`Completions`]).
//!
//! A life of the device that ends with requests before the disk has not completed them: the next one makes them again,
//! when the disk has ended the old ones. As no later request of that driver was made meanwhile, and no other one's is
//! about the same sectors, they come to the same.

use core::cell::RefCell;

use crate::block::{
    Configuration, HEADER, Request, SECTORS_MAX, SEGMENT, SEGMENT_SECTORS_MAX, Segment, Status,
    feature, identity, kind,
};
use crate::disk::{Failed, SECTOR};
use crate::gpt::Part;
use crate::memory::{Memory, Outside};
use crate::mmio::{Device, Served};
use crate::queue::{Buffer, Chain, Fault, Queue};
use crate::requester::{Parts, Requester, UsedRing};

/// Devices before one disk, at most.
pub const SLOTS: usize = 8;
/// Entries of the disk's queue, and descriptors of a slot: a header, data and a status.
pub const ENTRIES: u16 = 32;
const DESCRIPTORS: u16 = 3;
/// Bytes of a slot, and where its parts are.
const SLOT: u64 = DATA + SECTORS_MAX * SECTOR as u64;
const STATUS: u64 = 16;
const DATA: u64 = 64;
/// A status that the disk has not written.
const PENDING: u8 = 0xff;
/// Where slots begin, behind the queue.
const FIRST_SLOT: u64 = Parts::bytes(ENTRIES).next_multiple_of(DATA);

/// Bytes of memory that a disk's queue and slots take.
pub const MEMORY: usize = (FIRST_SLOT + SLOT * SLOTS as u64) as usize;

/// The features that are of use here, if the disk has them.
pub const FEATURES: u64 = feature::READ_ONLY
    | feature::BLOCK_SIZE
    | feature::FLUSH
    | feature::DISCARD
    | feature::WRITE_ZEROES;

/// Tells the disk that requests wait.
pub trait Bell: core::fmt::Debug {
    /// Tells it.
    fn ring(&self);
}

/// What a disk is like.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    features: u64,
    /// Its sectors.
    pub sectors: u64,
    /// Sectors of a block: each request is about whole blocks.
    pub block: u64,
    discard: u32,
    discard_alignment: u32,
    zeroes: u32,
    may_unmap: bool,
}

impl Limits {
    /// Of the features that were agreed with it, and of its configuration (virtio 1.2, section 5.2.4), of which `word`
    /// reads a word. `None`: its blocks are no whole sectors.
    pub fn of(features: u64, word: impl Fn(u64) -> u32) -> Option<Self> {
        let has = |feature| features & feature != 0;
        let bytes = if has(feature::BLOCK_SIZE) {
            word(20)
        } else {
            SECTOR as u32
        };
        let segment = |wanted: u64, at| {
            let most = if has(wanted) { word(at) } else { 0 };
            most.min(SEGMENT_SECTORS_MAX)
        };
        let is_whole = bytes as usize >= SECTOR && bytes.is_power_of_two();
        is_whole.then(|| Self {
            features,
            sectors: u64::from(word(0)) | u64::from(word(4)) << 32,
            block: u64::from(bytes) / SECTOR as u64,
            discard: segment(feature::DISCARD, 36),
            discard_alignment: word(44),
            zeroes: segment(feature::WRITE_ZEROES, 48),
            may_unmap: has(feature::WRITE_ZEROES) && word(56) & 0xff != 0,
        })
    }

    const fn has(&self, feature: u64) -> bool {
        self.features & feature != 0
    }
}

/// What a slot is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Free,
    /// Its request is before the disk.
    Begun,
    /// The disk has done with it.
    Done,
}

/// A request of a slot.
struct Order {
    kind: u32,
    /// On the disk.
    sector: u64,
    /// Of data.
    bytes: u32,
    /// The disk writes the data.
    is_in: bool,
}

/// The disk and its slots.
#[derive(Debug)]
pub struct Shared<M, B> {
    memory: M,
    /// The address of the first slot.
    slots: u64,
    queue: Requester<M>,
    used: UsedRing<M>,
    uses: [Use; SLOTS],
    bell: B,
    limits: Limits,
}

impl<M: Memory + Clone, B: Bell> Shared<M, B> {
    /// The disk that has that queue, in [`MEMORY`] bytes of memory from the address `first` on, and that `bell` tells
    /// of requests.
    pub fn new(memory: M, first: u64, queue: Requester<M>, bell: B, limits: Limits) -> Self {
        Self {
            memory,
            slots: first + FIRST_SLOT,
            used: queue.used(),
            queue,
            uses: [Use::Free; SLOTS],
            bell,
            limits,
        }
    }

    /// What it is like.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What tells which devices' requests it has done.
    pub fn completions(&self) -> Completions<M> {
        Completions {
            used: self.queue.used(),
        }
    }

    const fn slot(&self, number: usize) -> u64 {
        self.slots + SLOT * number as u64
    }

    /// Looks which requests it has done, of which there are not more than slots.
    fn look(&mut self) {
        for _ in 0..SLOTS {
            let Some(used) = self.used.next() else {
                return;
            };
            // What it claims to have done and had not is nothing.
            if let Some(own) = slot_of(used.first).and_then(|slot| self.uses.get_mut(slot))
                && *own == Use::Begun
            {
                *own = Use::Done;
            }
        }
    }

    fn begin(&mut self, slot: usize, order: &Order) -> Result<(), Outside> {
        let at = self.slot(slot);
        let mut header = [0; HEADER as usize];
        header[..4].copy_from_slice(&order.kind.to_le_bytes());
        header[8..].copy_from_slice(&order.sector.to_le_bytes());
        self.memory.write(at, &header)?;
        self.memory.write(at + STATUS, &[PENDING])?;
        let buffer = |address, length, writable| Buffer {
            address,
            length,
            writable,
        };
        let header = buffer(at, HEADER as u32, false);
        let status = buffer(at + STATUS, 1, true);
        let data = buffer(at + DATA, order.bytes, order.is_in);
        let first = DESCRIPTORS * slot as u16;
        match order.bytes {
            0 => self.queue.add(first, &[header, status])?,
            _ => self.queue.add(first, &[header, data, status])?,
        }
        self.uses[slot] = Use::Begun;
        self.bell.ring();
        Ok(())
    }

    /// What became of a slot's request, which is done; the slot is free then.
    fn end(&mut self, slot: usize) -> Status {
        self.uses[slot] = Use::Free;
        let mut status = [PENDING];
        // Within the memory, as it was when the request began.
        let _ = self.memory.read(self.slot(slot) + STATUS, &mut status);
        match status[0] {
            0 => Status::Ok,
            2 => Status::Unsupported,
            _ => Status::IoError,
        }
    }

    /// Reads a sector by the first slot, before there are devices; `wait` is called until the disk has done it, at most
    /// while it returns `true`.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn read(
        &mut self,
        sector: u64,
        to: &mut [u8; SECTOR],
        mut wait: impl FnMut() -> bool,
    ) -> Result<(), Failed> {
        let order = Order {
            kind: kind::IN,
            sector,
            bytes: SECTOR as u32,
            is_in: true,
        };
        self.begin(0, &order).map_err(|_| Failed)?;
        while self.uses[0] != Use::Done {
            if !wait() {
                return Err(Failed);
            }
            self.look();
        }
        if self.end(0) != Status::Ok {
            return Err(Failed);
        }
        let data = self.slot(0) + DATA;
        self.memory.read(data, to).map_err(|_| Failed)
    }
}

/// The slot whose first descriptor that is.
fn slot_of(first: u32) -> Option<usize> {
    let slot = (first / u32::from(DESCRIPTORS)) as usize;
    (first.is_multiple_of(DESCRIPTORS.into()) && slot < SLOTS).then_some(slot)
}

/// Tells which devices' requests the disk has done: it changes nothing, and can be used while devices are.
#[derive(Clone, Debug)]
pub struct Completions<M> {
    used: UsedRing<M>,
}

impl<M: Memory> Completions<M> {
    /// The devices, as bits, whose requests were done since this was called last.
    pub fn take(&mut self) -> u32 {
        let mut found = 0;
        for _ in 0..ENTRIES {
            match self.used.next() {
                Some(used) => found |= slot_of(used.first).map_or(0, |slot| 1 << slot),
                None => break,
            }
        }
        found
    }
}

/// A request of the driver that is before the disk.
#[derive(Debug)]
struct Begun {
    chain: Chain,
    /// Bytes that the driver gets.
    bytes: u32,
}

/// A block device before a part of the disk.
#[derive(Debug)]
pub struct Passed<'d, M, B> {
    disk: &'d RefCell<Shared<M, B>>,
    slot: usize,
    part: Part,
    is_writable: bool,
    /// `None` while the slot is used: the driver has given it up by a reset.
    begun: Option<Begun>,
}

impl<'d, M: Memory + Clone, B: Bell> Passed<'d, M, B> {
    /// The device of that number before that part of the disk, which its driver may write unless `is_read_only`.
    /// `None`: the disk has not all of the part, or not as whole blocks, or there are too many devices.
    pub fn new(
        disk: &'d RefCell<Shared<M, B>>,
        number: usize,
        part: Part,
        is_read_only: bool,
    ) -> Option<Self> {
        let limits = *disk.borrow().limits();
        let is_whole = part.first.is_multiple_of(limits.block)
            && part.sectors.is_multiple_of(limits.block)
            && part.is_within(limits.sectors);
        (is_whole && number < SLOTS).then(|| Self {
            disk,
            slot: number,
            part,
            is_writable: !is_read_only && !limits.has(feature::READ_ONLY),
            begun: None,
        })
    }

    /// Whether all of these sectors are the driver's, and whole blocks.
    fn has(&self, sector: u64, sectors: u64, block: u64) -> bool {
        let end = sector.checked_add(sectors);
        end.is_some_and(|end| end <= self.part.sectors)
            && sector.is_multiple_of(block)
            && sectors.is_multiple_of(block)
    }

    /// What the driver's request is for the disk, with its data in the slot, and the bytes that the driver gets; or
    /// what became of it at once.
    fn order(
        &self,
        disk: &Shared<M, B>,
        request: &Request<'_>,
        memory: &impl Memory,
    ) -> Result<Result<Order, (Status, u32)>, Fault> {
        let limits = disk.limits;
        let data = disk.slot(self.slot) + DATA;
        let refused = Ok(Err((Status::IoError, 0)));
        match request.kind {
            kind::IN | kind::OUT => {
                let is_in = request.kind == kind::IN;
                let bytes = if is_in {
                    request.writable - 1
                } else {
                    request.readable - HEADER
                };
                let sectors = bytes / SECTOR as u64;
                let is_whole = bytes % SECTOR as u64 == 0 && sectors <= SECTORS_MAX;
                if !is_whole
                    || !self.has(request.sector, sectors, limits.block)
                    || !(is_in || self.is_writable)
                {
                    return refused;
                }
                if sectors == 0 {
                    return Ok(Err((Status::Ok, 0)));
                }
                if !is_in {
                    let mut sector = [0; SECTOR];
                    for at in (0..bytes).step_by(SECTOR) {
                        request.read(memory, HEADER + at, &mut sector)?;
                        disk.memory.write(data + at, &sector)?;
                    }
                }
                Ok(Ok(Order {
                    kind: request.kind,
                    sector: self.part.first + request.sector,
                    bytes: bytes as u32,
                    is_in,
                }))
            }
            // A disk without it keeps what it has done (section 5.2.6.2).
            kind::FLUSH if !limits.has(feature::FLUSH) => Ok(Err((Status::Ok, 0))),
            kind::FLUSH => Ok(Ok(Order {
                kind: kind::FLUSH,
                sector: 0,
                bytes: 0,
                is_in: false,
            })),
            kind::DISCARD | kind::WRITE_ZEROES if self.is_writable => {
                let (most, flags) = match request.kind {
                    kind::DISCARD => (limits.discard, 0),
                    _ => (limits.zeroes, Segment::UNMAP),
                };
                if most == 0 {
                    return Ok(Err((Status::Unsupported, 0)));
                }
                if request.readable != HEADER + SEGMENT as u64 {
                    return refused;
                }
                let mut bytes = [0; SEGMENT];
                request.read(memory, HEADER, &mut bytes)?;
                let segment = Segment::of(bytes);
                if segment.flags & !flags != 0 {
                    return Ok(Err((Status::Unsupported, 0)));
                }
                let sectors = segment.sectors.into();
                if segment.sectors > most || !self.has(segment.sector, sectors, limits.block) {
                    return refused;
                }
                if sectors == 0 {
                    return Ok(Err((Status::Ok, 0)));
                }
                let sector = self.part.first + segment.sector;
                bytes[..8].copy_from_slice(&sector.to_le_bytes());
                disk.memory.write(data, &bytes)?;
                Ok(Ok(Order {
                    kind: request.kind,
                    sector: 0,
                    bytes: SEGMENT as u32,
                    is_in: false,
                }))
            }
            kind::GET_ID => {
                let id = identity(b"tactus");
                let length = (request.writable - 1).min(id.len() as u64) as usize;
                request.write(memory, 0, &id[..length])?;
                Ok(Err((Status::Ok, length as u32)))
            }
            _ => Ok(Err((Status::Unsupported, 0))),
        }
    }

    /// Completes the driver's request, with the bytes that it has got.
    fn complete(
        queue: &mut Queue,
        memory: &impl Memory,
        chain: &Chain,
        (status, written): (Status, u32),
    ) -> Result<Served, Fault> {
        let request = Request::of(chain, memory)?;
        request.write(memory, request.writable - 1, &[status as u8])?;
        let interrupts = queue.complete(memory, chain, written + 1)?;
        Ok(Served {
            interrupts,
            more: queue.waiting(memory)? > 0,
        })
    }

    /// Completes the driver's request, which the disk has done.
    fn end(
        disk: &mut Shared<M, B>,
        slot: usize,
        begun: &Begun,
        queue: &mut Queue,
        memory: &impl Memory,
    ) -> Result<Served, Fault> {
        let status = disk.end(slot);
        let bytes = if status == Status::Ok { begun.bytes } else { 0 };
        let request = Request::of(&begun.chain, memory)?;
        let data = disk.slot(slot) + DATA;
        let mut sector = [0; SECTOR];
        for at in (0..u64::from(bytes)).step_by(SECTOR) {
            disk.memory.read(data + at, &mut sector)?;
            request.write(memory, at, &sector)?;
        }
        Self::complete(queue, memory, &begun.chain, (status, bytes))
    }
}

impl<M: Memory + Clone, B: Bell> Device for Passed<'_, M, B> {
    const KIND: u32 = 2;
    const QUEUES: usize = 1;

    fn features(&self) -> u64 {
        let limits = *self.disk.borrow().limits();
        let given = |most: u32, feature| {
            if self.is_writable && most > 0 {
                feature
            } else {
                0
            }
        };
        let rights = if self.is_writable {
            0
        } else {
            feature::READ_ONLY
        };
        feature::SIZE_MAX
            | feature::SEG_MAX
            | feature::BLOCK_SIZE
            | feature::FLUSH
            | given(limits.discard, feature::DISCARD)
            | given(limits.zeroes, feature::WRITE_ZEROES)
            | rights
    }

    fn configuration(&self, offset: u32, size: u8) -> u64 {
        let limits = *self.disk.borrow().limits();
        let mut configuration = Configuration::new(self.part.sectors);
        // blk_size
        configuration.put(20, (limits.block * SECTOR as u64) as u32);
        if self.is_writable && limits.discard > 0 {
            // max_discard_sectors, max_discard_seg, discard_sector_alignment
            configuration.put(36, limits.discard);
            configuration.put(40, 1);
            configuration.put(44, limits.discard_alignment);
        }
        if self.is_writable && limits.zeroes > 0 {
            // max_write_zeroes_sectors, max_write_zeroes_seg, write_zeroes_may_unmap
            configuration.put(48, limits.zeroes);
            configuration.put(52, 1);
            configuration.put(56, limits.may_unmap.into());
        }
        configuration.read(offset, size)
    }

    /// What the driver has asked for before is done by the disk or is not. Nothing that it asks for from now on comes
    /// before that.
    fn reset(&mut self) {
        self.begun = None;
    }

    fn serve(
        &mut self,
        _: usize,
        queue: &mut Queue,
        memory: &impl Memory,
    ) -> Result<Served, Fault> {
        let disk = &mut *self.disk.borrow_mut();
        disk.look();
        match disk.uses[self.slot] {
            Use::Free => {}
            Use::Begun => return Ok(Served::default()),
            Use::Done => match self.begun.take() {
                Some(begun) => return Self::end(disk, self.slot, &begun, queue, memory),
                None => disk.uses[self.slot] = Use::Free,
            },
        }
        let mut chain = Chain::EMPTY;
        if !queue.peek(memory, &mut chain)? {
            return Ok(Served::default());
        }
        let request = Request::of(&chain, memory)?;
        let order = match self.order(disk, &request, memory)? {
            Ok(order) => order,
            Err(ended) => return Self::complete(queue, memory, &chain, ended),
        };
        disk.begin(self.slot, &order)?;
        self.begun = Some(Begun {
            chain,
            bytes: if order.is_in { order.bytes } else { 0 },
        });
        Ok(Served::default())
    }
}
