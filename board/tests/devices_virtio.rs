//! virtio devices, driven as a guest's driver does: by registers, and by queues laid out by hand in memory.
//!
//! See Virtual I/O Device specification 1.2, sections 2.7 and 4.2.

use proptest::prelude::*;
use std::sync::Arc;
use tactus_board::bus::{Device, Effects, Lines, Port, Refused};
use tactus_board::devices::virtio::{
    Backend, Block, Disk, Entropy, LENGTH_MAX, Latency, QUEUE_SIZE_MAX, VirtioConsole,
};
use tactus_board::devices::{Console, Virtio};
use tactus_board::memory::Memory;
use tactus_board::time::Femtoseconds;

const BASE: u64 = 0x8000_0000;
const SIZE: u64 = 1 << 20;
/// Buffers are from here on; queues are below, 16 KiB each.
const BUFFERS: u64 = BASE + 0x1_0000;
const LINE: u32 = 1;

const DEVICE_FEATURES: u64 = 0x10;
const DEVICE_FEATURES_SELECT: u64 = 0x14;
const DRIVER_FEATURES: u64 = 0x20;
const DRIVER_FEATURES_SELECT: u64 = 0x24;
const QUEUE_SELECT: u64 = 0x30;
const QUEUE_SIZE: u64 = 0x38;
const QUEUE_READY: u64 = 0x44;
const NOTIFY: u64 = 0x50;
const INTERRUPTS: u64 = 0x60;
const ACKNOWLEDGE: u64 = 0x64;
const STATUS: u64 = 0x70;
const DESCRIPTORS: u64 = 0x80;
const AVAILABLE: u64 = 0x90;
const USED: u64 = 0xa0;
const CONFIG: u64 = 0x100;

const ACKNOWLEDGED: u64 = 1;
const DRIVER: u64 = 2;
const DRIVER_OK: u64 = 4;
const FEATURES_OK: u64 = 8;
const NEEDS_RESET: u64 = 64;

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;

/// The size of the queues that the driver sets up.
const ENTRIES: u16 = 8;

/// A buffer of a request: offset from [`BUFFERS`], length, and whether the device writes it.
type Buffer = (u64, u32, bool);

struct Guest {
    memory: Memory,
    lines: Lines,
    now: Femtoseconds,
    wake_at: Femtoseconds,
    device: Virtio,
    /// For each queue, the number of chains made available and of chains seen used.
    available: [u16; 2],
    used: [u16; 2],
}

impl Guest {
    fn new(backend: impl Backend + 'static) -> Self {
        Self::with(Virtio::new(LINE, Box::new(backend)))
    }

    fn with(device: Virtio) -> Self {
        Self {
            memory: Memory::new(BASE, SIZE).expect("a mebibyte"),
            lines: Lines::default(),
            now: Femtoseconds::default(),
            wake_at: Femtoseconds::NEVER,
            device,
            available: [0; 2],
            used: [0; 2],
        }
    }

    fn call<T>(&mut self, call: impl FnOnce(&mut Virtio, &mut Port<'_>) -> T) -> T {
        let mut effects = Effects::default();
        let mut port = Port::new(self.now, &self.memory, &mut self.lines, &mut effects);
        let result = call(&mut self.device, &mut port);
        self.wake_at = effects.wake_at.unwrap_or(self.wake_at);
        result
    }

    fn read(&mut self, register: u64) -> u64 {
        self.call(|device, port| device.read(register, 4, port))
            .expect("a register")
    }

    fn write(&mut self, register: u64, value: u64) {
        self.call(|device, port| device.write(register, 4, value, port))
            .expect("a register");
    }

    fn write_both(&mut self, register: u64, value: u64) {
        self.write(register, value & 0xffff_ffff);
        self.write(register + 4, value >> 32);
    }

    fn features(&mut self) -> u64 {
        self.write(DEVICE_FEATURES_SELECT, 1);
        let high = self.read(DEVICE_FEATURES);
        self.write(DEVICE_FEATURES_SELECT, 0);
        high << 32 | self.read(DEVICE_FEATURES)
    }

    fn accept(&mut self, features: u64) {
        for (select, value) in [(0, features & 0xffff_ffff), (1, features >> 32)] {
            self.write(DRIVER_FEATURES_SELECT, select);
            self.write(DRIVER_FEATURES, value);
        }
    }

    const fn queue(index: u64) -> u64 {
        BASE + index * 0x4000
    }

    /// Initializes the device with `queues` queues, as in section 3.1.1.
    fn start(&mut self, queues: u64) {
        self.write(STATUS, 0);
        self.write(STATUS, ACKNOWLEDGED);
        self.write(STATUS, ACKNOWLEDGED | DRIVER);
        let features = self.features();
        self.accept(features);
        self.write(STATUS, ACKNOWLEDGED | DRIVER | FEATURES_OK);
        assert_ne!(self.read(STATUS) & FEATURES_OK, 0);
        for index in 0..queues {
            self.memory
                .write(Self::queue(index), &[0; 0x4000])
                .expect("memory");
            self.write(QUEUE_SELECT, index);
            assert_eq!(self.read(QUEUE_READY), 0);
            self.write(QUEUE_SIZE, ENTRIES.into());
            self.write_both(DESCRIPTORS, Self::queue(index));
            self.write_both(AVAILABLE, Self::queue(index) + 0x1000);
            self.write_both(USED, Self::queue(index) + 0x2000);
            self.write(QUEUE_READY, 1);
            assert_eq!(self.read(QUEUE_READY), 1);
        }
        (self.available, self.used) = ([0; 2], [0; 2]);
        self.write(STATUS, ACKNOWLEDGED | DRIVER | FEATURES_OK | DRIVER_OK);
    }

    fn descriptor(&self, at: u64, address: u64, length: u32, flags: u16, next: u16) {
        let mut bytes = address.to_le_bytes().to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend(next.to_le_bytes());
        self.memory.write(at, &bytes).expect("memory");
    }

    /// Makes the chain that begins at `head` available and notifies the device.
    fn offer(&mut self, queue: u64, head: u16) {
        let ring = Self::queue(queue) + 0x1000;
        let index = self.available[queue as usize];
        let place = ring + 4 + u64::from(index % ENTRIES) * 2;
        self.memory
            .write(place, &head.to_le_bytes())
            .expect("memory");
        self.available[queue as usize] = index.wrapping_add(1);
        let index = self.available[queue as usize];
        self.memory
            .write(ring + 2, &index.to_le_bytes())
            .expect("memory");
        self.write(NOTIFY, queue);
    }

    /// Submits a request of these buffers, with descriptors from 0 on.
    fn submit(&mut self, queue: u64, buffers: &[Buffer]) {
        for (index, &(offset, length, write)) in (0u16..).zip(buffers) {
            let last = usize::from(index) + 1 == buffers.len();
            let flags = if write { WRITE } else { 0 } | if last { 0 } else { NEXT };
            let at = Self::queue(queue) + u64::from(index) * 16;
            self.descriptor(at, BUFFERS + offset, length, flags, index + 1);
        }
        self.offer(queue, 0);
    }

    /// The next used element: head and length.
    fn take_used(&mut self, queue: u64) -> Option<(u32, u32)> {
        let ring = Self::queue(queue) + 0x2000;
        let seen = self.used[queue as usize];
        let index = u16::from_le_bytes(self.bytes(ring + 2));
        if index == seen {
            return None;
        }
        let place = ring + 4 + u64::from(seen % ENTRIES) * 8;
        self.used[queue as usize] = seen.wrapping_add(1);
        let head = u32::from_le_bytes(self.bytes(place));
        Some((head, u32::from_le_bytes(self.bytes(place + 4))))
    }

    fn bytes<const LENGTH: usize>(&self, address: u64) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        self.memory.read(address, &mut bytes).expect("memory");
        bytes
    }

    fn interrupt(&self) -> bool {
        self.lines.levels()[0] >> LINE & 1 != 0
    }

    /// Advances time to the device's next wake-up.
    fn sleep(&mut self) {
        assert_ne!(
            self.wake_at,
            Femtoseconds::NEVER,
            "the device waits for nothing"
        );
        assert!(self.wake_at > self.now, "time stands still");
        self.now = self.wake_at;
        self.wake();
    }

    fn wake(&mut self) {
        self.call(Virtio::wake);
    }

    /// Carries out one request, from submission to its used element.
    fn request(&mut self, queue: u64, buffers: &[Buffer]) -> u32 {
        self.submit(queue, buffers);
        assert_eq!(self.take_used(queue), None);
        assert!(!self.interrupt());
        self.sleep();
        let (head, length) = self.take_used(queue).expect("a used element");
        assert_eq!(head, 0);
        assert!(self.interrupt());
        assert_eq!(self.read(INTERRUPTS), 1);
        self.write(ACKNOWLEDGE, 1);
        assert!(!self.interrupt());
        length
    }

    /// Carries out a block request of type `kind`, with data at 0x1000. Returns the used length and the status.
    fn block(&mut self, kind: u32, sector: u64, data: Option<(u32, bool)>) -> (u32, u8) {
        let mut header = kind.to_le_bytes().to_vec();
        header.extend([0; 4]);
        header.extend(sector.to_le_bytes());
        self.memory.write(BUFFERS, &header).expect("memory");
        self.memory.write(BUFFERS + 0x100, &[0xee]).expect("memory");
        let mut buffers = vec![(0, 16, false)];
        buffers.extend(data.map(|(length, write)| (0x1000, length, write)));
        buffers.push((0x100, 1, true));
        let length = self.request(0, &buffers);
        let [status] = self.bytes(BUFFERS + 0x100);
        (length, status)
    }

    /// Checks that the device has stopped, reports it, and works again after a reset.
    fn is_broken(&mut self, why: &str) {
        assert_eq!(self.read(STATUS) & NEEDS_RESET, NEEDS_RESET, "{why}");
        assert_eq!(self.read(INTERRUPTS) & 2, 2, "{why}");
        assert!(self.interrupt(), "{why}");
        assert_eq!(self.wake_at, Femtoseconds::NEVER, "{why}");
        self.write(STATUS, 0);
        assert_eq!(self.read(STATUS), 0);
        assert!(!self.interrupt(), "{why}");
    }
}

fn image(sectors: u64) -> Arc<[u8]> {
    (0..sectors * 512)
        .map(|index| (index / 512 * 31 + index % 251) as u8)
        .collect()
}

fn disk() -> Block {
    Block::new(Disk::new(image(64)), "disk-0")
}

const IN: u32 = 0;
const OUT: u32 = 1;
const FLUSH: u32 = 4;
const IDENTIFY: u32 = 8;

#[test]
fn transport_identifies_itself() {
    let mut guest = Guest::new(disk());
    assert_eq!(guest.read(0), 0x7472_6976);
    assert_eq!(guest.read(4), 2);
    assert_eq!(guest.read(8), 2);
    assert_eq!(guest.read(0x34), u64::from(QUEUE_SIZE_MAX));
    guest.write(QUEUE_SELECT, 1);
    assert_eq!(guest.read(0x34), 0);
    // Shared memory that the device does not have (section 4.2.2).
    assert_eq!(guest.read(0xb0), 0xffff_ffff);
    guest.call(|device, port| {
        assert_eq!(device.read(0, 2, port), Ok(0));
        assert_eq!(device.read(0, 8, port), Err(Refused));
        assert_eq!(device.read(0x200, 4, port), Err(Refused));
        assert_eq!(device.write(0x200, 4, 0, port), Err(Refused));
        // The capacity, in one access and in parts.
        assert_eq!(device.read(CONFIG, 8, port), Ok(64));
        assert_eq!(device.read(CONFIG, 1, port), Ok(64));
        assert_eq!(device.read(CONFIG + 4, 4, port), Ok(0));
        assert_eq!(device.read(CONFIG + 20, 4, port), Ok(512));
        assert_eq!(device.read(CONFIG + 0xf8, 8, port), Ok(0));
    });
}

#[test]
fn an_empty_transport_has_device_0() {
    let mut guest = Guest::with(Virtio::empty(LINE));
    assert_eq!(guest.read(0), 0x7472_6976);
    assert_eq!(guest.read(4), 2);
    assert_eq!(guest.read(8), 0);
    guest.write(STATUS, 1);
    assert_eq!(guest.read(STATUS), 0);
    assert_eq!(guest.read(CONFIG), 0);
}

#[test]
fn features_are_agreed_on_or_nothing_works() {
    let mut guest = Guest::new(disk());
    let offered = guest.features();
    assert_ne!(offered & 1 << 32, 0, "version 1");
    for refused in [offered & !(1 << 32), offered | 1 << 40, offered | 1 << 3] {
        guest.write(STATUS, 0);
        guest.write(STATUS, ACKNOWLEDGED | DRIVER);
        guest.accept(refused);
        guest.write(STATUS, ACKNOWLEDGED | DRIVER | FEATURES_OK);
        assert_eq!(guest.read(STATUS), ACKNOWLEDGED | DRIVER);
        guest.write(STATUS, ACKNOWLEDGED | DRIVER | DRIVER_OK);
        assert_eq!(guest.read(STATUS) & DRIVER_OK, 0);
    }
    guest.accept(1 << 32);
    guest.write(STATUS, ACKNOWLEDGED | DRIVER | FEATURES_OK);
    assert_ne!(guest.read(STATUS) & FEATURES_OK, 0);
}

#[test]
fn a_block_device_reads_and_writes() {
    let image = image(64);
    let mut guest = Guest::new(disk());
    guest.start(1);
    assert_eq!(guest.block(IN, 3, Some((1024, true))), (1025, 0));
    let data: [u8; 1024] = guest.bytes(BUFFERS + 0x1000);
    assert_eq!(data[..], image[3 * 512..5 * 512]);
    // Written across a block boundary, and read back with its neighbours.
    guest
        .memory
        .write(BUFFERS + 0x1000, &[0x5a; 1024])
        .expect("memory");
    assert_eq!(guest.block(OUT, 7, Some((1024, false))), (1, 0));
    assert_eq!(guest.block(IN, 6, Some((2048, true))), (2049, 0));
    let data: [u8; 2048] = guest.bytes(BUFFERS + 0x1000);
    assert_eq!(data[..512], image[6 * 512..7 * 512]);
    assert_eq!(data[512..1536], [0x5a; 1024]);
    assert_eq!(data[1536..], image[9 * 512..10 * 512]);
    assert_eq!(guest.block(FLUSH, 0, None), (1, 0));
    assert_eq!(guest.block(IDENTIFY, 0, Some((20, true))), (21, 0));
    assert_eq!(
        &guest.bytes::<20>(BUFFERS + 0x1000),
        b"disk-0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    );
}

#[test]
fn requests_that_cannot_be_served_say_so() {
    let mut guest = Guest::new(disk());
    guest.start(1);
    for (kind, sector, data, status) in [
        (IN, 63, Some((1024, true)), 1),
        (IN, u64::MAX, Some((512, true)), 1),
        (IN, 1 << 55, Some((512, true)), 1),
        (IN, 0, Some((500, true)), 1),
        (OUT, 64, Some((512, false)), 1),
        (IDENTIFY, 0, Some((19, true)), 1),
        (77, 0, None, 2),
    ] {
        assert_eq!(guest.block(kind, sector, data).1, status);
    }
    let mut guest = Guest::new(disk().read_only());
    assert_ne!(guest.features() & 1 << 5, 0);
    guest.start(1);
    assert_eq!(guest.block(OUT, 0, Some((512, false))).1, 1);
    assert_eq!(guest.block(IN, 0, Some((512, true))).1, 0);
}

#[test]
fn a_file_is_never_written() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("disk.img");
    // A last sector that is incomplete.
    let content = &image(3)[..1500];
    std::fs::write(&path, content).expect("a file");
    let mut guest = Guest::new(Block::new(
        Disk::open(&path).expect("a file"),
        "a name of more than 20 bytes",
    ));
    guest.start(1);
    assert_eq!(guest.read(CONFIG), 3);
    assert_eq!(guest.block(IN, 2, Some((512, true))), (513, 0));
    let data: [u8; 512] = guest.bytes(BUFFERS + 0x1000);
    assert_eq!(data[..476], content[1024..]);
    assert_eq!(data[476..], [0; 36]);
    // The rest beyond the file's end reads as zero, whatever the buffer contained before.
    let mut bytes = [0xee; 100];
    let disk = Disk::open(&path).expect("a file");
    disk.read(1490, &mut bytes).expect("a sector");
    assert_eq!(bytes[..10], content[1490..]);
    assert_eq!(bytes[10..], [0; 90]);
    assert_eq!(guest.block(OUT, 0, Some((1536, false))), (1, 0));
    assert_eq!(std::fs::read(&path).expect("a file"), content);
}

#[test]
fn requests_take_the_time_that_was_set() {
    let latency = Latency {
        request: Femtoseconds(5_000_000_000),
        byte: Femtoseconds(2_000_000),
    };
    let mut guest = Guest::new(disk().with_latency(latency));
    guest.start(1);
    guest.block(IN, 0, Some((1024, true)));
    assert_eq!(guest.now, Femtoseconds(5_000_000_000 + 1024 * 2_000_000));
    // Two requests at a time are served one after the other.
    let start = guest.now;
    guest.submit(0, &[(0, 16, false), (0x1000, 512, true), (0x100, 1, true)]);
    guest.offer(0, 0);
    guest.sleep();
    assert_eq!(guest.take_used(0), Some((0, 513)));
    assert_eq!(guest.take_used(0), None);
    guest.sleep();
    assert_eq!(guest.take_used(0), Some((0, 513)));
    assert_eq!(
        guest.now - start,
        Femtoseconds(2 * (5_000_000_000 + 512 * 2_000_000))
    );
    // Even without latency, the device does not answer at once.
    let none = Latency {
        request: Femtoseconds(0),
        byte: Femtoseconds(0),
    };
    let mut guest = Guest::new(disk().with_latency(none));
    guest.start(1);
    guest.block(IN, 0, Some((1024, true)));
    assert_eq!(guest.now, Femtoseconds(1_000_000));
}

#[test]
fn reset_keeps_written_data() {
    let mut guest = Guest::new(disk());
    guest.start(1);
    guest
        .memory
        .write(BUFFERS + 0x1000, &[0x5a; 512])
        .expect("memory");
    assert_eq!(guest.block(OUT, 1, Some((512, false))).1, 0);
    guest.submit(0, &[(0, 16, false), (0x1000, 512, true), (0x100, 1, true)]);
    guest.call(Virtio::reset);
    assert_eq!(guest.read(STATUS), 0);
    assert_eq!(guest.wake_at, Femtoseconds::NEVER);
    guest.start(1);
    assert_eq!(guest.block(IN, 1, Some((512, true))).1, 0);
    assert_eq!(guest.bytes(BUFFERS + 0x1000), [0x5a; 512]);
}

#[test]
fn a_driver_may_do_without_interrupts() {
    let mut guest = Guest::new(disk());
    guest.start(1);
    let flags = Guest::queue(0) + 0x1000;
    guest
        .memory
        .write(flags, &1u16.to_le_bytes())
        .expect("memory");
    guest.submit(0, &[(0, 16, false), (0x1000, 512, true), (0x100, 1, true)]);
    guest.sleep();
    assert!(!guest.interrupt());
    assert_eq!(guest.take_used(0), Some((0, 513)));
}

#[test]
fn a_chain_may_lie_in_a_table_of_its_own() {
    let mut guest = Guest::new(disk());
    guest.start(1);
    let table = BUFFERS + 0x800;
    guest.memory.write(BUFFERS, &[0; 16]).expect("memory");
    guest.descriptor(table, BUFFERS, 16, NEXT, 2);
    guest.descriptor(table + 32, BUFFERS + 0x1000, 512, NEXT | WRITE, 1);
    guest.descriptor(table + 16, BUFFERS + 0x100, 1, WRITE, 0);
    guest.descriptor(Guest::queue(0) + 3 * 16, table, 48, INDIRECT, 0);
    guest.offer(0, 3);
    guest.sleep();
    assert_eq!(guest.take_used(0), Some((3, 513)));
    assert_eq!(guest.bytes::<512>(BUFFERS + 0x1000)[..], image(1)[..]);
}

#[test]
fn indices_wrap() {
    let mut guest = Guest::new(Entropy::new(1));
    guest.start(1);
    for _ in 0..70_000 {
        assert_eq!(guest.request(0, &[(0, 8, true)]), 8);
    }
}

#[test]
fn entropy_is_a_function_of_the_seed() {
    let numbers = |seed| {
        let mut guest = Guest::new(Entropy::new(seed));
        guest.start(1);
        // At most a page at a time.
        assert_eq!(
            guest.request(0, &[(0, 3000, true), (3000, 3000, true)]),
            4096
        );
        guest.bytes::<4096>(BUFFERS)
    };
    assert_eq!(numbers(1), numbers(1));
    assert_ne!(numbers(1), numbers(2));
    assert!(numbers(1).iter().filter(|&&byte| byte == 0).count() < 40);
}

fn console() -> (Guest, Console) {
    let (backend, console) = VirtioConsole::new();
    let mut guest = Guest::new(backend);
    guest.start(2);
    (guest, console)
}

#[test]
fn a_console_sends_and_receives() {
    let (mut guest, console) = console();
    guest.memory.write(BUFFERS, b"hello world").expect("memory");
    assert_eq!(guest.request(1, &[(0, 6, false), (6, 5, false)]), 0);
    assert_eq!(console.take_output(), b"hello world");
    // A buffer waits for input, which arrives at its time.
    guest.submit(0, &[(0, 4, true), (0x100, 4, true)]);
    assert_eq!(guest.wake_at, Femtoseconds::NEVER);
    let time = Femtoseconds(guest.now.0 + 5_000_000_000);
    console.send_at(time, b"abcdefghij");
    guest.wake();
    assert_eq!(guest.wake_at, time);
    guest.sleep();
    guest.sleep();
    assert_eq!(guest.take_used(0), Some((0, 8)));
    assert_eq!(guest.bytes(BUFFERS), *b"abcd");
    assert_eq!(guest.bytes(BUFFERS + 0x100), *b"efgh");
    // Input that did not fit waits for a buffer.
    assert_eq!(guest.wake_at, Femtoseconds::NEVER);
    guest.write(ACKNOWLEDGE, 1);
    assert_eq!(guest.request(0, &[(0, 4, true)]), 2);
    assert_eq!(guest.bytes(BUFFERS), *b"ij");
}

/// A way to offer an invalid chain.
type Attack = fn(&mut Guest);

/// A valid header of a flush at descriptor 0, and a valid status at descriptor `status`.
fn flush(guest: &mut Guest, status: u64, flags: u16, next: u16) {
    let header = u128::from(FLUSH).to_le_bytes();
    guest.memory.write(BUFFERS, &header).expect("memory");
    let queue = Guest::queue(0);
    guest.descriptor(queue, BUFFERS, 16, NEXT, 1);
    guest.descriptor(queue + status * 16, BUFFERS + 0x100, 1, WRITE | flags, next);
}

/// A flush with one more buffer between header and status, which the device may write.
fn flush_with(guest: &mut Guest, address: u64, length: u32, flags: u16) {
    flush(guest, 2, 0, 0);
    guest.descriptor(Guest::queue(0) + 16, address, length, flags, 2);
    guest.offer(0, 0);
}

/// A flush with an indirect table of `count` buffers, all but the first for the status.
fn flush_with_table(guest: &mut Guest, count: u16) {
    flush(guest, 1, 0, 0);
    let table = BUFFERS + 0x1000;
    guest.descriptor(table, BUFFERS, 16, NEXT, 1);
    for index in 1..count {
        let last = index + 1 == count;
        let at = table + u64::from(index) * 16;
        let flags = WRITE | if last { 0 } else { NEXT };
        guest.descriptor(at, BUFFERS + 0x100, 1, flags, index + 1);
    }
    let length = u32::from(count) * 16;
    guest.descriptor(Guest::queue(0), table, length, INDIRECT, 0);
    guest.offer(0, 0);
}

/// Valid chains are accepted; each attack differs from one of them in one detail.
#[test]
fn chains_with_sense_do_not() {
    let mut guest = Guest::new(disk());
    for good in [
        (|guest| flush_with(guest, BUFFERS + 0x200, 8, NEXT | WRITE)) as Attack,
        |guest| flush_with(guest, BASE + SIZE - 8, 8, NEXT | WRITE),
        |guest| flush_with_table(guest, ENTRIES),
    ] {
        guest.start(1);
        good(&mut guest);
        guest.sleep();
        assert!(guest.take_used(0).is_some());
        assert_eq!(guest.read(STATUS) & NEEDS_RESET, 0);
    }
}

#[test]
fn chains_without_sense_need_a_reset() {
    let attacks: [(&str, Attack); 17] = [
        ("a chain that is a loop", |guest| {
            flush(guest, 1, NEXT, 2);
            guest.descriptor(Guest::queue(0) + 32, BUFFERS, 1, NEXT | WRITE, 1);
            guest.offer(0, 0);
        }),
        ("a chain that is its own next", |guest| {
            flush(guest, 1, NEXT, 1);
            guest.offer(0, 0);
        }),
        ("a head beyond the queue", |guest| guest.offer(0, ENTRIES)),
        ("a next beyond the queue", |guest| {
            flush(guest, 1, NEXT, 0xffff);
            guest.offer(0, 0);
        }),
        ("a buffer outside of memory", |guest| {
            flush_with(guest, BASE + SIZE - 8, 9, NEXT | WRITE);
        }),
        ("a buffer at the end of all addresses", |guest| {
            flush_with(guest, u64::MAX - 7, 16, NEXT | WRITE);
        }),
        ("a huge buffer", |guest| {
            flush_with(guest, BUFFERS, u32::MAX, NEXT | WRITE);
        }),
        ("an empty buffer", |guest| {
            flush_with(guest, BUFFERS, 0, NEXT | WRITE);
        }),
        ("what is read after what is written", |guest| {
            guest.submit(0, &[(0, 16, false), (0x100, 1, true), (8, 8, false)]);
        }),
        ("no room for the status", |guest| {
            guest.submit(0, &[(0, 16, false)]);
        }),
        ("half a header", |guest| {
            guest.submit(0, &[(0, 15, false), (0x100, 1, true)]);
        }),
        ("a header that is to be written", |guest| {
            guest.submit(0, &[(0, 16, true), (0x100, 1, true)]);
        }),
        ("a table within a table", |guest| {
            let inner = BUFFERS + 0x800;
            guest.descriptor(inner, BUFFERS + 0x100, 1, WRITE, 0);
            flush(guest, 1, 0, 0);
            guest.descriptor(BUFFERS + 0x1000, BUFFERS, 16, NEXT, 1);
            guest.descriptor(BUFFERS + 0x1010, inner, 16, INDIRECT, 0);
            guest.descriptor(Guest::queue(0), BUFFERS + 0x1000, 32, INDIRECT, 0);
            guest.offer(0, 0);
        }),
        ("a table outside of memory", |guest| {
            guest.descriptor(Guest::queue(0), BASE + SIZE, 16, INDIRECT, 0);
            guest.offer(0, 0);
        }),
        ("a table of a broken length", |guest| {
            guest.descriptor(Guest::queue(0), BUFFERS, 17, INDIRECT, 0);
            guest.offer(0, 0);
        }),
        ("more chains than the queue has", |guest| {
            let index = Guest::queue(0) + 0x1002;
            guest
                .memory
                .write(index, &(ENTRIES + 1).to_le_bytes())
                .expect("memory");
            guest.write(NOTIFY, 0);
        }),
        ("a table with more buffers than the queue", |guest| {
            flush_with_table(guest, ENTRIES + 1);
        }),
    ];
    let mut guest = Guest::new(disk());
    for (why, attack) in attacks {
        guest.start(1);
        attack(&mut guest);
        guest.is_broken(why);
        // The same device serves a correct driver.
        guest.start(1);
        assert_eq!(guest.block(IN, 0, Some((512, true))), (513, 0), "{why}");
    }
}

#[test]
fn buffers_that_overlap_have_a_limit_too() {
    let mut guest = Guest::new(VirtioConsole::new().0);
    // All the same half mebibyte, again and again.
    let length = 1u32 << 19;
    let count = LENGTH_MAX / u64::from(length) + 1;
    guest.start(2);
    guest.write(STATUS, 0);
    guest.write(STATUS, ACKNOWLEDGED | DRIVER);
    guest.accept(1 << 32);
    guest.write(STATUS, ACKNOWLEDGED | DRIVER | FEATURES_OK);
    guest.write(QUEUE_SELECT, 1);
    guest.write(QUEUE_SIZE, 256);
    guest.write_both(DESCRIPTORS, Guest::queue(0));
    guest.write_both(AVAILABLE, Guest::queue(1));
    guest.write_both(USED, Guest::queue(1) + 0x2000);
    guest.write(QUEUE_READY, 1);
    guest.write(STATUS, ACKNOWLEDGED | DRIVER | FEATURES_OK | DRIVER_OK);
    for index in 0..count {
        let next = if index + 1 == count { 0 } else { NEXT };
        guest.descriptor(
            Guest::queue(0) + index * 16,
            BUFFERS,
            length,
            next,
            index as u16 + 1,
        );
    }
    guest
        .memory
        .write(Guest::queue(1), &[0, 0, 1, 0, 0, 0])
        .expect("memory");
    guest.write(NOTIFY, 1);
    guest.is_broken("a chain of more than the limit");
}

#[test]
fn queues_without_sense_need_a_reset() {
    for (why, size, descriptors, available, used) in [
        ("a size of 0", 0, 0, 0x1000, 0x2000),
        ("a size that is no power of two", 3, 0, 0x1000, 0x2000),
        ("a size beyond the largest", 512, 0, 0x1000, 0x2000),
        ("a size beyond 16 bits", 0x1_0008, 0, 0x1000, 0x2000),
        ("a table outside of memory", 8, SIZE, 0x1000, 0x2000),
        (
            "a table that ends outside of memory",
            8,
            SIZE - 16,
            0x1000,
            0x2000,
        ),
        ("a table out of line", 8, 8, 0x1000, 0x2000),
        ("an available ring out of line", 8, 0, 0x1001, 0x2000),
        ("a used ring out of line", 8, 0, 0x1000, 0x2002),
        (
            "a used ring at the end of all addresses",
            8,
            0,
            0x1000,
            u64::MAX - 3 - BASE,
        ),
    ] {
        let mut guest = Guest::new(disk());
        guest.write(STATUS, ACKNOWLEDGED | DRIVER);
        guest.accept(1 << 32);
        guest.write(STATUS, ACKNOWLEDGED | DRIVER | FEATURES_OK);
        guest.write(QUEUE_SIZE, size);
        guest.write_both(DESCRIPTORS, BASE + descriptors);
        guest.write_both(AVAILABLE, BASE + available);
        guest.write_both(USED, BASE + used);
        guest.write(QUEUE_READY, 1);
        assert_eq!(guest.read(QUEUE_READY), 0, "{why}");
        assert_eq!(guest.read(STATUS) & NEEDS_RESET, NEEDS_RESET, "{why}");
        guest.write(STATUS, 0);
        assert_eq!(guest.read(STATUS), 0, "{why}");
        // The device works after the reset.
        guest.start(1);
        assert_eq!(guest.block(IN, 0, Some((512, true))).1, 0, "{why}");
    }
}

#[test]
fn a_snapshot_is_taken_in_the_middle_of_a_request() {
    let mut guest = Guest::new(disk());
    guest.start(1);
    assert_eq!(guest.block(OUT, 9, Some((512, false))).1, 0);
    guest.submit(0, &[(0, 16, false), (0x1000, 512, true), (0x100, 1, true)]);
    let (saved, due) = (guest.device.save(), guest.wake_at);
    let mut fresh = Virtio::new(LINE, Box::new(disk()));
    assert_eq!(fresh.restore(&saved), Ok(()));
    assert_eq!(fresh.save(), saved);
    guest.device = fresh;
    guest.wake();
    assert_eq!(guest.wake_at, due);
    guest.sleep();
    assert_eq!(guest.take_used(0), Some((0, 513)));
    // Other devices refuse the state.
    for mut other in [
        Virtio::empty(LINE),
        Virtio::new(LINE, Box::new(Entropy::new(1))),
        Virtio::new(LINE, Box::new(Block::new(Disk::new(image(63)), ""))),
    ] {
        let before = other.save();
        assert!(other.restore(&saved).is_err());
        assert!(other.restore(&saved[..saved.len() - 1]).is_err());
        assert_eq!(other.save(), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// With any contents of memory and registers, the device does a bounded amount of work or needs a reset.
    #[test]
    fn rubbish_in_the_queue_breaks_nothing(
        descriptors in prop::collection::vec(
            (0..0x3000u64, prop_oneof![0..600u32, any::<u32>()], 0..8u16, 0..10u16), 8),
        heads in prop::collection::vec(0..9u16, 8),
        index in 0..10u16,
        kind in 0..4usize,
    ) {
        let (backend, console) = VirtioConsole::new();
        console.send(b"some input");
        let mut guest = match kind {
            0 => Guest::new(disk()),
            1 => Guest::new(Entropy::new(7)),
            _ => Guest::new(backend),
        };
        let (queues, queue) = if kind < 2 { (1, 0) } else { (2, kind as u64 - 2) };
        guest.start(queues);
        for (place, &(address, length, flags, next)) in (0..).zip(&descriptors) {
            // Some addresses are within the queue itself.
            let at = Guest::queue(queue) + place * 16;
            guest.descriptor(at, Guest::queue(queue) + address, length, flags, next);
        }
        for (place, head) in (0..).zip(&heads) {
            let at = Guest::queue(queue) + 0x1004 + place * 2;
            guest.memory.write(at, &head.to_le_bytes()).expect("memory");
        }
        let at = Guest::queue(queue) + 0x1002;
        guest.memory.write(at, &index.to_le_bytes()).expect("memory");
        guest.write(NOTIFY, queue);
        // Requests may write to the queue and so create more requests; each takes time.
        let mut wakings = 0;
        while guest.wake_at != Femtoseconds::NEVER && wakings < 100 {
            guest.sleep();
            wakings += 1;
        }
        if index > ENTRIES {
            prop_assert_eq!(guest.read(STATUS) & NEEDS_RESET, NEEDS_RESET);
        }
        let saved = guest.device.save();
        prop_assert_eq!(guest.device.restore(&saved), Ok(()));
    }
}
