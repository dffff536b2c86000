//! A driver of a block device, for tests: it does what a driver of an operating system does, in memory of this process.

#![allow(dead_code, reason = "not every test uses all of it")]

pub mod any;
pub mod function;
pub mod table;

use std::cell::Cell;
use std::rc::Rc;

use tactus_virtio::block::Block;
use tactus_virtio::disk::{Layered, SECTOR};
use tactus_virtio::memory::{Memory, Outside, Window};
use tactus_virtio::mmio::{Outcome, Port, Saved, WORDS, register};

/// Where the driver's memory begins, for it.
pub const BASE: u64 = 0x8000_0000;
/// Bytes of it.
pub const MEMORY: usize = 1 << 16;
/// Entries of the queue.
pub const SIZE: u16 = 16;
pub const DESCRIPTORS: u64 = BASE;
pub const AVAILABLE: u64 = BASE + 0x1000;
pub const USED: u64 = BASE + 0x2000;
/// Headers, statuses and data of requests: a page for each.
pub const BUFFERS: u64 = BASE + 0x4000;

/// Memory that is there for ever.
pub fn window(size: usize, there: u64) -> Window {
    let words = Box::leak(vec![0u64; size / 8].into_boxed_slice());
    // SAFETY: leaked, and used by this window only.
    unsafe { Window::new(words.as_mut_ptr() as usize, size, there) }
}

/// The driver's memory as the device has it: the device's life ends at an access.
#[derive(Clone)]
pub struct Mortal {
    pub memory: Window,
    /// Accesses until then; `None`: it does not.
    pub left: Rc<Cell<Option<u32>>>,
}

/// The end of a device's life.
pub struct Death;

impl Mortal {
    pub fn new(memory: Window) -> Self {
        Self {
            memory,
            left: Rc::new(Cell::new(None)),
        }
    }

    fn age(&self) {
        age(&self.left);
    }
}

fn age(of: &Cell<Option<u32>>) {
    if let Some(left) = of.get() {
        if left == 0 {
            std::panic::resume_unwind(Box::new(Death));
        }
        of.set(Some(left - 1));
    }
}

impl Memory for Mortal {
    fn read(&self, address: u64, to: &mut [u8]) -> Result<(), Outside> {
        self.age();
        self.memory.read(address, to)
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), Outside> {
        self.age();
        self.memory.write(address, from)
    }

    fn load_index(&self, address: u64) -> Result<u16, Outside> {
        self.age();
        self.memory.load_index(address)
    }

    fn store_index(&self, address: u64, index: u16) -> Result<(), Outside> {
        self.age();
        self.memory.store_index(address, index)
    }
}

/// What outlives a device's life, which may end at an access to it.
#[derive(Clone, Default)]
pub struct Kept {
    pub words: Rc<[Cell<u64>; WORDS]>,
    /// Accesses until then; `None`: it does not.
    pub left: Rc<Cell<Option<u32>>>,
}

impl Saved for Kept {
    fn load(&self, number: usize) -> u64 {
        age(&self.left);
        self.words[number].get()
    }

    fn store(&self, number: usize, word: u64) {
        age(&self.left);
        self.words[number].set(word);
    }
}

pub type Device = Port<Block<Layered>, Mortal, Kept>;

/// A driver and its device.
pub struct Machine {
    pub memory: Mortal,
    pub kept: Kept,
    pub disk: Layered,
    image: &'static [u8],
    layer: Window,
    pub device: Device,
    /// The driver's side of the queue: the next entry of the available ring, and of the used one.
    pub added: u16,
    pub seen: u16,
    pub interrupts: u32,
}

impl Machine {
    /// With this image, and room for so many pages in front of it.
    pub fn new(image: &'static [u8], pages: usize) -> Self {
        Self::of(window(MEMORY, BASE), image, window(pages * 4096, 0))
    }

    /// With this memory, and this layer over the image.
    pub fn of(memory: Window, image: &'static [u8], layer: Window) -> Self {
        let memory = Mortal::new(memory);
        let kept = Kept::default();
        let disk = Layered::new(image, layer);
        Self {
            device: Port::new(Block::new(disk, b"test"), memory.clone(), kept.clone()),
            memory,
            kept,
            disk,
            image,
            layer,
            added: 0,
            seen: 0,
            interrupts: 0,
        }
    }

    /// The device begins another life.
    pub fn restart(&mut self) {
        self.memory.left.set(None);
        self.kept.left.set(None);
        self.disk = Layered::new(self.image, self.layer);
        let block = Block::new(self.disk, b"test");
        self.device = Port::new(block, self.memory.clone(), self.kept.clone());
    }

    /// An access, made as often as the device wants.
    pub fn access(&mut self, offset: u32, store: Option<u64>) -> u64 {
        for _ in 0..=SIZE {
            let Outcome {
                value,
                interrupts,
                again,
            } = self.device.access(offset, 4, store);
            self.interrupts += u32::from(interrupts);
            if !again {
                return value;
            }
        }
        panic!("an access takes more pieces than there are requests");
    }

    pub fn read(&mut self, offset: u32) -> u64 {
        self.access(offset, None)
    }

    pub fn write(&mut self, offset: u32, value: u64) {
        self.access(offset, Some(value));
    }

    /// Section 3.1.1.
    pub fn start(&mut self) {
        self.write(register::STATUS, 0);
        self.write(register::STATUS, 1);
        self.write(register::STATUS, 3);
        self.write(register::DRIVER_FEATURES_SELECT, 1);
        self.write(register::DRIVER_FEATURES, 1);
        self.write(register::STATUS, 11);
        assert_eq!(self.read(register::STATUS), 11);
        self.write(register::QUEUE_SELECT, 0);
        self.write(register::QUEUE_SIZE, SIZE.into());
        for (register, address) in [
            (register::QUEUE_DESCRIPTORS, DESCRIPTORS),
            (register::QUEUE_AVAILABLE, AVAILABLE),
            (register::QUEUE_USED, USED),
        ] {
            self.write(register, address & 0xffff_ffff);
            self.write(register + 4, address >> 32);
        }
        self.write(register::QUEUE_READY, 1);
        assert_eq!(self.read(register::QUEUE_READY), 1);
        self.write(register::STATUS, 15);
        (self.added, self.seen) = (0, 0);
    }

    /// The page of request `slot`: its header at 0, its status at 32, its data at 64.
    pub fn buffer(slot: u16) -> u64 {
        BUFFERS + 0x800 * u64::from(slot)
    }

    pub fn descriptor(&self, number: u16, address: u64, length: u32, flags: u16, next: u16) {
        let rest = u64::from(length) | u64::from(flags) << 32 | u64::from(next) << 48;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&address.to_le_bytes());
        bytes[8..].copy_from_slice(&rest.to_le_bytes());
        let at = DESCRIPTORS + 16 * u64::from(number);
        self.memory.memory.write(at, &bytes).expect("within");
    }

    /// Announces the request that begins with that descriptor.
    pub fn add(&mut self, head: u16) {
        let memory = &self.memory.memory;
        let slot = u64::from(self.added % SIZE);
        memory
            .write(AVAILABLE + 4 + 2 * slot, &head.to_le_bytes())
            .expect("within");
        self.added = self.added.wrapping_add(1);
        memory
            .store_index(AVAILABLE + 2, self.added)
            .expect("within");
    }

    /// Announces a request of that kind with its data, of at most 3 sectors, in three descriptors: those of `slot`, 0
    /// to 4.
    pub fn request(&mut self, slot: u16, kind: u32, sector: u64, data: &[u8]) {
        let at = Self::buffer(slot);
        let mut header = [0; 16];
        header[..4].copy_from_slice(&kind.to_le_bytes());
        header[8..].copy_from_slice(&sector.to_le_bytes());
        let memory = self.memory.memory;
        memory.write(at, &header).expect("within");
        memory.write(at + 32, &[0xff]).expect("within");
        memory.write(at + 64, data).expect("within");
        let first = 3 * slot;
        self.descriptor(first, at, 16, 1, first + 1);
        let writes = if kind == 0 { 2 } else { 0 };
        self.descriptor(first + 1, at + 64, data.len() as u32, 1 | writes, first + 2);
        self.descriptor(first + 2, at + 32, 1, 2, 0);
        self.add(first);
    }

    /// Requests that were completed since the last look: their first descriptors and lengths.
    pub fn completed(&mut self) -> Vec<(u32, u32)> {
        let memory = self.memory.memory;
        let index = memory.load_index(USED + 2).expect("within");
        let mut all = Vec::new();
        while self.seen != index {
            let mut entry = [0; 8];
            let slot = u64::from(self.seen % SIZE);
            memory
                .read(USED + 4 + 8 * slot, &mut entry)
                .expect("within");
            let entry = u64::from_le_bytes(entry);
            all.push((entry as u32, (entry >> 32) as u32));
            self.seen = self.seen.wrapping_add(1);
        }
        all
    }

    pub fn status(&self, slot: u16) -> u8 {
        let mut status = [0];
        self.memory
            .memory
            .read(Self::buffer(slot) + 32, &mut status)
            .expect("within");
        status[0]
    }

    pub fn data(&self, slot: u16, sectors: usize) -> Vec<u8> {
        let mut data = vec![0; sectors * SECTOR];
        self.memory
            .memory
            .read(Self::buffer(slot) + 64, &mut data)
            .expect("within");
        data
    }
}

/// A segment of a request to discard sectors, or to write zeroes.
pub fn segment(sector: u64, sectors: u32, flags: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&sector.to_le_bytes());
    bytes[8..12].copy_from_slice(&sectors.to_le_bytes());
    bytes[12..].copy_from_slice(&flags.to_le_bytes());
    bytes
}

/// Accesses that a device makes of its driver's memory for one of the driver's, at most.
const ACCESSES_MAX: u32 = 200;
/// Pages of the disk's layer.
const PAGES: usize = 8;

thread_local! {
    /// Memory of one machine after the other.
    static MEMORIES: [Window; 2] = [window(MEMORY, BASE), window(PAGES * 4096, 0)];
}

/// A driver that does what the bytes say: each step is a byte, two of a place, and eight of a value.
///
/// # Panics
///
/// An access takes more steps than any may, or the device does.
pub fn hostile(bytes: &[u8]) {
    let [memory, layer] = MEMORIES.with(|memories| *memories);
    for window in [&memory, &layer] {
        let at = if std::ptr::eq(window, &memory) {
            BASE
        } else {
            0
        };
        window
            .write(at, &vec![0; window.size()])
            .expect("all of it");
    }
    let mut machine = Machine::of(memory, b"image", layer);
    for step in bytes.as_chunks::<11>().0 {
        let place = u16::from_le_bytes([step[1], step[2]]);
        let mut value = [0; 8];
        value.copy_from_slice(&step[3..]);
        let number = u64::from_le_bytes(value);
        let offset = u32::from(place) & 0x1fc;
        match step[0] % 6 {
            0 => machine.start(),
            1 => {
                let (kind, sector) = (number as u32 % 14, number >> 32);
                let segments = [
                    segment(sector, place.into(), number as u32 >> 30),
                    segment(number >> 8 & 0xff, number as u32 >> 16 & 0xff, 0),
                ];
                match kind {
                    11 | 13 => machine.request(place % 5, kind, 0, segments.as_flattened()),
                    _ => machine.request(place % 5, kind, sector, &[1; SECTOR]),
                }
            }
            // A part may be outside.
            2 => drop(memory.write(BASE + u64::from(place), &value)),
            3 => machine.restart(),
            kind => {
                machine.memory.left.set(Some(ACCESSES_MAX));
                machine
                    .device
                    .access(offset, 4, (kind == 4).then_some(number));
                machine.memory.left.set(None);
            }
        }
    }
}
