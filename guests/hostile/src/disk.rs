//! A disk, a virtio PCI function (Virtual I/O Device specification 1.2), as guests use it that attack by it: one
//! request at a time, with queues and buffers wherever they want them.

use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{Ordering, fence};

use tactus_guest::abi::map;
use tactus_guest::time;

use crate::random::Random;

/// Registers of the configuration space, and the vendor's capability (Virtual I/O Device specification 1.2, 4.1.4).
const COMMAND: u64 = 0x04;
const FIRST_BAR: u64 = 0x10;
const CAPABILITIES: u64 = 0x34;
/// Memory space, bus master.
const ENABLED: u16 = 6;
const COMMON: u8 = 1;
const NOTIFY: u8 = 2;

/// The common structure (4.1.4.3).
const DRIVER_FEATURE_SELECT: u64 = 8;
const DRIVER_FEATURE: u64 = 12;
const STATUS: u64 = 20;
const QUEUE_SELECT: u64 = 22;
const QUEUE_SIZE: u64 = 24;
const QUEUE_ENABLE: u64 = 28;
const QUEUES: [u64; 3] = [32, 40, 48];
/// `VERSION_1` and `ACCESS_PLATFORM`, of the upper half.
const FEATURES: u32 = 3;

/// A request that reads the disk.
pub const READ: u32 = 0;
/// A request that writes it.
pub const WRITE: u32 = 1;
/// Bits of descriptors.
const NEXT: u16 = 1;
const DEVICE_WRITES: u16 = 2;
/// Entries of the queue.
const ENTRIES: u16 = 8;

/// The sector that is written and read, its bytes, and what is in it at first.
const SECTOR: u64 = 8;
/// Bytes of a sector.
pub const BYTES: usize = 512;
const PATTERN: u8 = 0x5a;

/// The queue and the buffers.
#[repr(C, align(4096))]
struct Shared {
    descriptors: [[u64; 2]; ENTRIES as usize],
    available: [u16; 4 + ENTRIES as usize],
    padding: [u8; 104],
    used: [u32; 2 + 2 * ENTRIES as usize],
    header: [u32; 4],
    status: u8,
    data: [u8; BYTES],
}

static mut SHARED: Shared = Shared {
    descriptors: [[0; 2]; ENTRIES as usize],
    available: [0; 4 + ENTRIES as usize],
    padding: [0; 104],
    used: [0; 2 + 2 * ENTRIES as usize],
    header: [0; 4],
    status: 0,
    data: [0; BYTES],
};

/// The queue and the buffers.
fn shared() -> *mut Shared {
    &raw mut SHARED
}

/// Reads a register or shared memory.
pub fn read<T>(address: u64) -> T {
    // SAFETY: of the function's registers, which are mapped, or of `SHARED`.
    unsafe { read_volatile(address as *const T) }
}

/// Writes the same.
fn write<T>(address: u64, value: T) {
    // SAFETY: as above.
    unsafe { write_volatile(address as *mut T, value) }
}

/// The disk.
#[derive(Debug)]
pub struct Disk {
    space: u64,
    common: u64,
    doorbell: u64,
    /// Requests that the queue has been given.
    given: u16,
}

impl Disk {
    /// The disk in a slot.
    pub fn find(slot: u64) -> Self {
        let space = map::PCI_ECAM_BASE + (slot << 15);
        write(space + COMMAND, ENABLED);
        let (mut common, mut doorbell) = (0, 0);
        let mut at = read::<u8>(space + CAPABILITIES);
        while at != 0 {
            let capability = space + u64::from(at);
            let bar = u64::from(read::<u8>(capability + 4));
            let base = u64::from(read::<u32>(space + FIRST_BAR + 4 * (bar % 6)) & !0xf);
            let structure = base + u64::from(read::<u32>(capability + 8));
            match read::<u8>(capability + 3) {
                COMMON => common = structure,
                NOTIFY => doorbell = structure,
                _ => {}
            }
            at = read(capability + 1);
        }
        assert!(
            common != 0 && doorbell != 0,
            "the slot has no virtio function"
        );
        Self {
            space,
            common,
            doorbell,
            given: 0,
        }
    }

    /// Resets it, and gives it a queue whose parts are there.
    pub fn begin(&mut self, queue: [u64; 3]) {
        self.given = 0;
        write(self.common + STATUS, 0_u8);
        while read::<u8>(self.common + STATUS) != 0 {}
        // SAFETY: the device has been reset, and reads nothing before it is told to.
        unsafe { shared().write_bytes(0, 1) };
        write(self.common + STATUS, 3_u8);
        for (half, features) in [(0_u32, 0_u32), (1, FEATURES)] {
            write(self.common + DRIVER_FEATURE_SELECT, half);
            write(self.common + DRIVER_FEATURE, features);
        }
        write(self.common + STATUS, 11_u8);
        write(self.common + QUEUE_SELECT, 0_u16);
        write(self.common + QUEUE_SIZE, ENTRIES);
        for (register, part) in QUEUES.into_iter().zip(queue) {
            write(self.common + register, part as u32);
            write(self.common + register + 4, (part >> 32) as u32);
        }
        write(self.common + QUEUE_ENABLE, 1_u16);
        write(self.common + STATUS, 15_u8);
    }

    /// The same with a queue in this guest's memory.
    pub fn begin_well(&mut self) {
        self.begin(Self::own_queue());
    }

    /// Where the parts of a queue in this guest's memory are.
    pub fn own_queue() -> [u64; 3] {
        let own = shared();
        // SAFETY: places within it.
        unsafe {
            [
                &raw const (*own).descriptors as u64,
                &raw const (*own).available as u64,
                &raw const (*own).used as u64,
            ]
        }
    }

    /// Has the disk do something with `length` bytes from `address` on, and does not wait for it.
    pub fn ask(&mut self, kind: u32, address: u64, length: u32) {
        let own = shared();
        let data = if kind == READ { DEVICE_WRITES } else { 0 };
        // SAFETY: the device uses none of it before it is told to.
        unsafe {
            (*own).header = [kind, 0, SECTOR as u32, 0];
            (*own).status = 0xff;
            let (header, status) = (
                &raw const (*own).header as u64,
                &raw const (*own).status as u64,
            );
            let descriptor = |address, length: u32, flags: u16, next: u64| {
                [
                    address,
                    u64::from(length) | u64::from(flags) << 32 | next << 48,
                ]
            };
            (*own).descriptors[0] = descriptor(header, 16, NEXT, 1);
            (*own).descriptors[1] = descriptor(address, length, NEXT | data, 2);
            (*own).descriptors[2] = descriptor(status, 1, DEVICE_WRITES, 0);
            (*own).available[2 + usize::from(self.given % ENTRIES)] = 0;
            self.given = self.given.wrapping_add(1);
            fence(Ordering::SeqCst);
            write(&raw mut (*own).available[1] as u64, self.given);
        }
        fence(Ordering::SeqCst);
        self.ring();
    }

    /// Waits for the disk, at most so many ticks: `true`: it has done what it was asked.
    pub fn answers(&self, patience: u64) -> bool {
        let own = shared();
        let end = time::now() + patience;
        // SAFETY: places within it.
        let (used, status) = unsafe {
            (
                &raw const (*own).used as u64 + 2,
                &raw const (*own).status as u64,
            )
        };
        while read::<u16>(used) != self.given {
            if time::now() > end {
                return false;
            }
        }
        read::<u8>(status) == 0
    }

    /// Tells it to look at its queue.
    pub fn ring(&self) {
        write(self.doorbell, 0_u16);
    }

    /// A request to the guest's own buffer, from the beginning.
    pub fn well(&mut self, kind: u32) {
        // SAFETY: a place within it.
        let data = unsafe { &raw mut (*shared()).data };
        self.begin_well();
        if kind == WRITE {
            // SAFETY: the device uses none of it before it is told to.
            unsafe { (*data).fill(PATTERN) };
        }
        self.ask(kind, data as u64, BYTES as u32);
        assert!(self.answers(60 * time::hz()), "the disk does not answer");
    }

    /// Whether anything but the pattern and zeros is on the disk now, behind so many bytes.
    pub fn has_foreign(&mut self, behind: usize) -> bool {
        self.well(READ);
        // SAFETY: the device has done with it.
        let data = unsafe { (&raw const (*shared()).data).read_volatile() };
        data[behind..]
            .iter()
            .any(|byte| ![0, PATTERN].contains(byte))
    }

    /// Writes garbage to the configuration space, and whether the registers are where they were.
    pub fn garble(&self, random: &mut Random) -> bool {
        let bars = || {
            core::array::from_fn::<u32, 6, _>(|bar| read(self.space + FIRST_BAR + 4 * bar as u64))
        };
        let before = bars();
        for _ in 0..100 {
            let (offset, value) = (random.next() % map::PAGE_SIZE, random.next());
            match random.next() % 3 {
                0 => write(self.space + offset, value as u8),
                1 => write(self.space + (offset & !1), value as u16),
                _ => write(self.space + (offset & !3), value as u32),
            }
        }
        for bar in 0..6 {
            write(self.space + FIRST_BAR + 4 * bar, 0_u32);
        }
        write(self.space + COMMAND, ENABLED);
        before == bars()
    }
}
