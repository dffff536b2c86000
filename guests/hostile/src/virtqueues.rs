//! A driver of a virtio device at virtio-mmio (virtio 1.2, sections 2.7 and 4.2) that is wrong in every way: for guests
//! that attack what another VM emulates for them.

use core::cell::UnsafeCell;

use tactus_guest::devicetree;

use crate::random::Random;

/// Registers (section 4.2.2).
const STATUS: usize = 0x70;
const FEATURES: usize = 0x20;
const FEATURES_SELECT: usize = 0x24;
const QUEUE_SELECT: usize = 0x30;
const QUEUE_SIZE: usize = 0x38;
const QUEUE_READY: usize = 0x44;
const QUEUE_NOTIFY: usize = 0x50;
const INTERRUPT_STATUS: usize = 0x60;
const INTERRUPT_ACKNOWLEDGE: usize = 0x64;
const QUEUE_PARTS: [usize; 3] = [0x80, 0x90, 0xa0];

/// Entries of a queue that is set up in good order.
const ENTRIES: u16 = 16;
const PAGE: usize = 4096;

/// Descriptors, rings and buffers: a page each, and more for buffers.
#[repr(align(4096))]
struct Memory(UnsafeCell<[u8; 8 * PAGE]>);

// SAFETY: only its address is used, for volatile accesses; what is in it means nothing to this program.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; 8 * PAGE]));

/// A device that is attacked.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    registers: usize,
    /// Address of [`MEMORY`].
    memory: usize,
}

impl Victim {
    /// The VM's device of that number; `None`: it has fewer.
    pub fn find(number: usize) -> Option<Self> {
        let page = devicetree::page("virtio,mmio", number)?;
        Some(Self {
            registers: page.registers,
            memory: MEMORY.0.get() as usize,
        })
    }

    fn write(self, register: usize, value: u32) {
        // SAFETY: a register of a device of this VM.
        unsafe { ((self.registers + register) as *mut u32).write_volatile(value) }
    }

    fn read(self, register: usize) -> u32 {
        // SAFETY: as above.
        unsafe { ((self.registers + register) as *const u32).read_volatile() }
    }

    fn put<T>(self, offset: usize, value: T) {
        // SAFETY: within `MEMORY`: each offset is one of the first pages and a field of it.
        unsafe { ((self.memory + offset) as *mut T).write_volatile(value) }
    }

    /// Takes a step: most set up, change or notify a queue; others are accesses of any register.
    pub fn step(self, random: &mut Random) {
        let number = random.next();
        match number % 16 {
            0 => self.begin(random),
            1 => self.write(STATUS, (number >> 32) as u32 & 0xff),
            // In the middle of everything.
            2 if number >> 8 & 7 == 0 => self.write(STATUS, 0),
            3 => self.write((number >> 8) as usize & 0xffc, (number >> 32) as u32),
            4 => drop(self.read((number >> 8) as usize & 0xffc)),
            5 => self.put::<u16>(
                PAGE + 2,
                random.choose(&[0, 1, ENTRIES, ENTRIES + 1, 0x7fff, 0xffff]),
            ),
            6 => {
                let reasons = self.read(INTERRUPT_STATUS);
                self.write(INTERRUPT_ACKNOWLEDGE, reasons);
            }
            _ => {
                let requests = 1 + (number >> 60);
                for _ in 0..requests {
                    self.request(random);
                }
                self.write(QUEUE_NOTIFY, (number >> 8) as u32 % 3);
            }
        }
    }

    /// Resets the device and sets a queue up; once in a while with parts that are not this VM's.
    fn begin(self, random: &mut Random) {
        self.write(STATUS, 0);
        self.write(STATUS, 3);
        for (half, features) in [(0, 0), (1, 1)] {
            self.write(FEATURES_SELECT, half);
            self.write(FEATURES, features);
        }
        self.write(STATUS, 11);
        for number in 0..2 {
            self.write(QUEUE_SELECT, number);
            let size = random.choose(&[ENTRIES, ENTRIES, ENTRIES, 0, 3, 256, 0xffff]);
            self.write(QUEUE_SIZE, size.into());
            for (page, register) in QUEUE_PARTS.into_iter().enumerate() {
                let own = self.memory + page * PAGE;
                let any = self.any(random);
                let part = random.choose(&[own, own, own, own, own, own, own, any]);
                self.write(register, part as u32);
                self.write(register + 4, (part as u64 >> 32) as u32);
            }
            self.write(QUEUE_READY, 1);
        }
        self.put::<u32>(PAGE, 0);
        self.put::<u32>(2 * PAGE, 0);
        self.write(STATUS, 15);
    }

    /// An address that is not this VM's, or is near the end of what is.
    fn any(self, random: &mut Random) -> usize {
        let number = random.next() as usize;
        random.choose(&[
            0,
            0x2a00_0000,
            0x3000_0000,
            0x8000_0000,
            0x10_0000_0000,
            self.memory + number % (1 << 24),
            usize::MAX & !0xf,
            number,
            number & !0xf,
        ])
    }

    /// Announces a request, each of whose fields may be wrong.
    fn request(self, random: &mut Random) {
        let first = random.next() as u16 % ENTRIES;
        let length = 1 + random.next() % 4;
        let buffer = self.memory + 3 * PAGE + usize::from(first % 8) * 512;
        // A block device's header: kind and sector; a network card's is zeros.
        let sector = random.choose(&[0, 1, 8, 100, u64::MAX, u64::MAX / 512]);
        self.put::<u64>(
            buffer - self.memory,
            random.choose(&[0, 1, 4, 8, 11, u64::MAX]),
        );
        self.put::<u64>(buffer - self.memory + 8, sector);
        for number in 0..length {
            let wrong = random.next() % 64;
            let place = (u64::from(first) + number) % u64::from(ENTRIES);
            let address = if wrong == 0 { self.any(random) } else { buffer };
            let bytes = match (wrong, number) {
                (1, _) => random.next() as u32,
                (2, _) => random.choose(&[0, u32::MAX, 0x8000_0000, 1 << 20]),
                (_, 0) => 16,
                _ => random.choose(&[1, 16, 512, 1024]),
            };
            let mut flags = u16::from(number + 1 < length) | if number > 0 { 2 } else { 0 };
            if wrong == 3 {
                flags = random.next() as u16;
            }
            let next = match wrong {
                // A loop, or none of the queue.
                4 => first,
                5 => random.next() as u16,
                _ => (place as u16 + 1) % ENTRIES,
            };
            let rest = u64::from(bytes) | u64::from(flags) << 32 | u64::from(next) << 48;
            self.put::<u64>(place as usize * 16, address as u64);
            self.put::<u64>(place as usize * 16 + 8, rest);
        }
        // SAFETY: the available ring's index, in this driver's memory.
        let index = unsafe { ((self.memory + PAGE + 2) as *const u16).read_volatile() };
        let entry = if random.next().is_multiple_of(64) {
            random.next() as u16
        } else {
            first
        };
        self.put::<u16>(PAGE + 4 + 2 * usize::from(index % ENTRIES), entry);
        self.put::<u16>(PAGE + 2, index.wrapping_add(1));
    }
}
