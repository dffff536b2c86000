//! A driver of a virtio block device at virtio-mmio (virtio 1.2, sections 4.2 and 5.2), for guests that try disks of
//! other VMs. One at a time.
//!
//! It trusts the device as little as a driver has to: it looks at the used ring only when the device has interrupted
//! for used buffers, and takes from there no request that is not in flight.
#![no_std]

use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{Ordering, fence};

use tactus_guest::plic::Plic;
use tactus_guest::{devicetree, start};
use tactus_virtio::mmio::{VERSION_1, interrupt, register, status};

/// Requests in flight, at most: slots, each with its descriptors and buffers.
pub const SLOTS: usize = 8;
/// Bytes of a request's data, at most.
pub const DATA: usize = 4096;
/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// Kinds of requests (section 5.2.6).
pub mod kind {
    /// Reads.
    pub const IN: u32 = 0;
    /// Writes.
    pub const OUT: u32 = 1;
    /// Makes what was written permanent.
    pub const FLUSH: u32 = 4;
    /// Discards sectors: the data is a segment.
    pub const DISCARD: u32 = 11;
    /// Makes sectors zeroes, likewise.
    pub const WRITE_ZEROES: u32 = 13;
}

/// Bytes of a segment: a word of its first sector, and one of their number.
pub const SEGMENT: usize = 16;

/// A request's status before its device has written it.
pub const PENDING: u8 = 0xff;

/// Entries of the queue: three for each slot.
const ENTRIES: usize = 32;
/// Flags of a descriptor (section 2.7.5).
const NEXT: u16 = 1;
const WRITE: u16 = 2;
/// "virt".
const MAGIC: u32 = 0x7472_6976;
/// Loads until a device that was reset has to say so.
const RESET_LOADS: u32 = 1000;

/// The queue and the buffers.
#[repr(C, align(4096))]
struct Shared {
    data: [[u64; DATA / 8]; SLOTS],
    descriptors: [[u64; 2]; ENTRIES],
    /// Flags, index, and an entry each.
    available: [u16; 2 + ENTRIES],
    /// The same, in a cache line of its own; an entry is two words.
    used: Used,
    headers: [[u64; 2]; SLOTS],
    status: [u8; SLOTS],
}

#[repr(C, align(64))]
struct Used {
    flags: u16,
    index: u16,
    entries: [[u32; 2]; ENTRIES],
}

static mut SHARED: Shared = Shared {
    data: [[0; DATA / 8]; SLOTS],
    descriptors: [[0; 2]; ENTRIES],
    available: [0; 2 + ENTRIES],
    used: Used {
        flags: 0,
        index: 0,
        entries: [[0; 2]; ENTRIES],
    },
    headers: [[0; 2]; SLOTS],
    status: [0; SLOTS],
};

/// The queue and the buffers, which the device may access at any time.
const fn shared() -> *mut Shared {
    &raw mut SHARED
}

fn load<T: Copy>(from: *const T) -> T {
    // SAFETY: a field of `SHARED`, or a register of a device of this VM.
    unsafe { read_volatile(from) }
}

fn store<T>(to: *mut T, value: T) {
    // SAFETY: as above.
    unsafe { write_volatile(to, value) }
}

/// The address of a field, or of an element, of [`Shared`].
macro_rules! at {
    ($($field:tt)+) => {
        // SAFETY: only the address is taken, within a static.
        unsafe { &raw mut (*shared()).$($field)+ }
    };
}

/// The device and its queue.
#[derive(Debug)]
pub struct Driver {
    registers: usize,
    source: u32,
    /// Requests announced, and seen to be used, modulo 2^16.
    added: u16,
    seen: u16,
    /// Slots in flight, as bits.
    in_flight: u32,
}

/// A request that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// That of this slot, with its status.
    Slot(usize, u8),
    /// One that was not in flight.
    Unknown,
}

impl Driver {
    /// That of the VM's first virtio device; `None`: there is none.
    pub fn find() -> Option<Self> {
        Self::find_number(0)
    }

    /// That of the virtio device of that number.
    pub fn find_number(number: usize) -> Option<Self> {
        let page = devicetree::page("virtio,mmio", number)?;
        Some(Self {
            registers: page.registers,
            source: page.source?,
            added: 0,
            seen: 0,
            in_flight: 0,
        })
    }

    /// A register.
    pub fn read(&self, offset: u32) -> u32 {
        load((self.registers + offset as usize) as *const u32)
    }

    /// Changes it.
    pub fn write(&self, offset: u32, value: u32) {
        store((self.registers + offset as usize) as *mut u32, value);
    }

    /// The address of a register, for code that counts instructions.
    pub const fn register(&self, offset: u32) -> usize {
        self.registers + offset as usize
    }

    /// Whether the VM that emulates the device serves it.
    pub fn is_there(&self) -> bool {
        self.read(register::MAGIC) == MAGIC
    }

    /// Resets the device and gives it a queue (section 3.1.1): nothing is in flight then. `false`: it is no block
    /// device, or its VM did not serve all of that.
    pub fn begin(&mut self) -> bool {
        if !self.is_there() || self.read(register::DEVICE) != 2 {
            return false;
        }
        self.write(register::STATUS, 0);
        if !(0..RESET_LOADS).any(|_| self.read(register::STATUS) == 0) || !self.is_there() {
            return false;
        }
        // SAFETY: the device uses none of it: it was reset, by an access that was served.
        unsafe { shared().write_bytes(0, 1) };
        (self.added, self.seen, self.in_flight) = (0, 0, 0);
        self.write(register::STATUS, 3);
        for (half, features) in [(0, 0), (1, (VERSION_1 >> 32) as u32)] {
            self.write(register::DRIVER_FEATURES_SELECT, half);
            self.write(register::DRIVER_FEATURES, features);
        }
        self.write(register::STATUS, 11);
        self.write(register::QUEUE_SELECT, 0);
        self.write(register::QUEUE_SIZE, ENTRIES as u32);
        for (register, part) in [
            (register::QUEUE_DESCRIPTORS, at!(descriptors) as u64),
            (register::QUEUE_AVAILABLE, at!(available) as u64),
            (register::QUEUE_USED, at!(used) as u64),
        ] {
            self.write(register, part as u32);
            self.write(register + 4, (part >> 32) as u32);
        }
        self.write(register::QUEUE_READY, 1);
        self.write(register::STATUS, 15);
        let is_ready = self.read(register::QUEUE_READY) == 1;
        Plic::of_hart(start::hart()).enable(self.source, 1);
        is_ready && self.read(register::STATUS) == 15
    }

    /// Sectors of the disk.
    pub fn capacity(&self) -> u64 {
        let half = |at| u64::from(self.read(register::CONFIGURATION + at));
        half(0) | half(4) << 32
    }

    /// Whether a slot has a request in flight.
    pub const fn is_busy(&self, slot: usize) -> bool {
        self.in_flight >> slot & 1 != 0
    }

    /// Whether any has.
    pub const fn is_any_busy(&self) -> bool {
        self.in_flight != 0
    }

    /// A word of a slot's data.
    pub fn word(slot: usize, number: usize) -> u64 {
        load(at!(data[slot][number]))
    }

    /// Changes it.
    pub fn set_word(slot: usize, number: usize, word: u64) {
        store(at!(data[slot][number]), word);
    }

    /// Announces a request of a slot that is not busy, of `bytes` of data; the device is not told so yet.
    pub fn add(&mut self, slot: usize, kind: u32, sector: u64, bytes: usize) {
        store(at!(headers[slot]), [kind.into(), sector]);
        store(at!(status[slot]), PENDING);
        let first = 3 * slot as u16;
        let writes = if kind == kind::IN { WRITE } else { 0 };
        let parts = [
            (at!(headers[slot]) as u64, 16, 0),
            (at!(data[slot]) as u64, bytes as u64, writes),
            (at!(status[slot]) as u64, 1, WRITE),
        ];
        let parts = parts.into_iter().enumerate();
        let mut own = parts.filter(|(_, (_, length, _))| *length != 0).peekable();
        while let Some((number, (address, length, flags))) = own.next() {
            let next = own.peek().map_or(0, |(next, _)| first + *next as u16);
            let flags = u64::from(flags | if own.peek().is_some() { NEXT } else { 0 });
            let rest = length | flags << 32 | u64::from(next) << 48;
            store(
                at!(descriptors[usize::from(first) + number]),
                [address, rest],
            );
        }
        store(at!(available[2 + usize::from(self.added) % ENTRIES]), first);
        self.added = self.added.wrapping_add(1);
        fence(Ordering::Release);
        store(at!(available[1]), self.added);
        self.in_flight |= 1 << slot;
    }

    /// Tells the device that requests wait.
    pub fn notify(&self) {
        fence(Ordering::SeqCst);
        self.write(register::QUEUE_NOTIFY, 0);
    }

    /// Whether the device's interrupt was pending; what it interrupts for is acknowledged, and if that is used buffers,
    /// `each` is told of them.
    pub fn interrupted(&mut self, mut each: impl FnMut(&mut Self, Ended)) -> bool {
        let plic = Plic::of_hart(start::hart());
        let Some(source) = plic.claim() else {
            return false;
        };
        let reasons = self.read(register::INTERRUPT_STATUS);
        self.write(register::INTERRUPT_ACKNOWLEDGE, reasons);
        plic.complete(source);
        if reasons & interrupt::USED != 0 {
            while let Some(used) = self.next_used() {
                each(self, used);
            }
        }
        true
    }

    /// Whether the device says that it cannot go on.
    pub fn needs_reset(&self) -> bool {
        self.read(register::STATUS) & status::NEEDS_RESET != 0
    }

    /// The next entry of the used ring.
    pub fn next_used(&mut self) -> Option<Ended> {
        if load(at!(used.index)) == self.seen {
            return None;
        }
        fence(Ordering::Acquire);
        let [head, _] = load(at!(used.entries[usize::from(self.seen) % ENTRIES]));
        self.seen = self.seen.wrapping_add(1);
        let slot = head as usize / 3;
        if slot >= SLOTS || head % 3 != 0 || !self.is_busy(slot) {
            return Some(Ended::Unknown);
        }
        self.in_flight &= !(1 << slot);
        Some(Ended::Slot(slot, load(at!(status[slot]))))
    }
}
