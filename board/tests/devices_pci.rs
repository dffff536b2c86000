//! PCI and the IOMMU, driven as software does: by configuration spaces, registers, and tables laid out by hand in
//! memory.
//!
//! See PCI Express Base Specification 5.0, sections 6.6.2 and 7.5; Virtual I/O Device specification 1.2, section 4.1;
//! RISC-V IOMMU Architecture Specification 1.0.

use proptest::prelude::*;
use std::sync::Arc;
use tactus_board::bus::{Device, Effects, Lines, Port};
use tactus_board::devices::pci::{Sizes, window};
use tactus_board::devices::virtio::{Backend, Block, Disk, FRAME_MAX, Frame, Net};
use tactus_board::devices::{Iommu, Pci};
use tactus_board::memory::Memory;
use tactus_board::time::{Clock, Femtoseconds};

const BASE: u64 = 0x8000_0000;
const SIZE: u64 = 1 << 20;
/// The driver's: queue, and buffers in the pages behind it.
const QUEUE: u64 = BASE + 0x1_0000;
const BUFFERS: u64 = BASE + 0x1_4000;
/// The IOMMU's: directories, queues, page tables from here on.
const DIRECTORY: u64 = BASE + 0x2_0000;
const COMMANDS: u64 = BASE + 0x2_4000;
const FAULTS: u64 = BASE + 0x2_5000;
const TABLES: u64 = BASE + 0x3_0000;
/// Where functions' registers are put.
const WINDOW: u64 = 0x5000_0000;
/// INTA to INTD, and the wires of the IOMMU.
const LINES: [u32; 4] = [32, 33, 34, 35];
const WIRES: [u32; 4] = [36, 37, 38, 39];

/// Registers of configuration spaces.
const COMMAND: u64 = 4;
const STATUS: u64 = 6;
const BARS: u64 = 0x10;
/// Bits of `Command`.
const MEMORY_SPACE: u64 = 2;
const BUS_MASTER: u64 = 4;
const NO_INTERRUPTS: u64 = 0x400;

/// The IOMMU's registers.
const DDTP: u64 = 16;
const CQB: u64 = 24;
const CQH: u64 = 32;
const CQT: u64 = 36;
const FQB: u64 = 40;
const FQH: u64 = 48;
const FQT: u64 = 52;
const CQCSR: u64 = 72;
const FQCSR: u64 = 76;
const IPSR: u64 = 84;
const ICVEC: u64 = 760;

/// Bits of page-table entries: valid, and all rights of a user's page in use.
const VALID: u64 = 1;
const READ: u64 = 0b0101_0011;
const WRITE: u64 = 0b1101_0111;
const SV39: u64 = 8 << 60;

/// How far virtual addresses of the device are from physical ones in the tests of translations.
const SHIFT: u64 = 0x1000_0000;

/// Kinds of block requests.
const IN: u32 = 0;
const OUT: u32 = 1;

struct Guest {
    memory: Memory,
    lines: Lines,
    now: Femtoseconds,
    wake_at: Femtoseconds,
    host: Pci,
    /// What is added to physical addresses that a function is given.
    shift: u64,
    available: u16,
    used: u16,
    /// Where the next page table goes.
    tables: u64,
}

/// Of the IOMMU's caches.
const SIZES: Sizes = Sizes {
    translations: 8,
    contexts: 2,
};

fn disk() -> Box<dyn Backend> {
    let image: Arc<[u8]> = (0..64 * 512)
        .map(|at| (at / 512 * 31 + at % 251) as u8)
        .collect();
    Box::new(Block::new(Disk::new(image), "disk"))
}

impl Guest {
    /// A host with disks as devices 1 to `disks`.
    fn new(disks: usize, iommu: bool) -> Self {
        let iommu = iommu.then(|| Iommu::new(&WIRES, SIZES));
        let functions = (0..disks).map(|_| disk()).collect();
        Self::with(functions, iommu)
    }

    /// A host with functions from device 1 on.
    fn with(functions: Vec<Box<dyn Backend>>, iommu: Option<Iommu>) -> Self {
        let mut host = Pci::new(Clock::from_hertz(1_000_000_000), LINES, iommu);
        for (slot, function) in (1..).zip(functions) {
            assert_eq!(host.plug(function), Some(slot));
        }
        Self {
            memory: Memory::new(BASE, SIZE).expect("a mebibyte"),
            lines: Lines::default(),
            now: Femtoseconds::default(),
            wake_at: Femtoseconds::NEVER,
            host,
            shift: 0,
            available: 0,
            used: 0,
            tables: TABLES,
        }
    }

    fn call<T>(&mut self, call: impl FnOnce(&mut Pci, &mut Port<'_>) -> T) -> T {
        let mut effects = Effects::default();
        let mut port = Port::new(self.now, &self.memory, &mut self.lines, &mut effects);
        let result = call(&mut self.host, &mut port);
        self.wake_at = effects.wake_at.unwrap_or(self.wake_at);
        result
    }

    fn read(&mut self, offset: u64, size: u8) -> u64 {
        let mask = u64::MAX >> (64 - 8 * u32::from(size));
        self.call(|host, port| host.read(offset, size, port))
            .expect("a register")
            & mask
    }

    fn write(&mut self, offset: u64, size: u8, value: u64) {
        self.call(|host, port| host.write(offset, size, value, port))
            .expect("a register");
    }

    fn config(slot: u64, register: u64) -> u64 {
        window::ECAM + (slot << 15) + register
    }

    fn read_config(&mut self, slot: u64, register: u64, size: u8) -> u64 {
        self.read(Self::config(slot, register), size)
    }

    fn write_config(&mut self, slot: u64, register: u64, size: u8, value: u64) {
        self.write(Self::config(slot, register), size, value);
    }

    /// Where the test puts the registers of a device: notifications, and the others.
    fn places(slot: u64) -> (u64, u64) {
        (WINDOW + slot * 0x1_0000, WINDOW + slot * 0x1_0000 + 0x8000)
    }

    fn place(&mut self, slot: u64) {
        let (notify, others) = Self::places(slot);
        self.write_config(slot, BARS, 4, notify);
        self.write_config(slot, BARS + 16, 4, others);
        self.write_config(slot, BARS + 20, 4, 0);
        self.write_config(slot, COMMAND, 2, MEMORY_SPACE | BUS_MASTER);
    }

    fn common(slot: u64, register: u64) -> u64 {
        window::MEMORY + Self::places(slot).1 + register
    }

    fn write_common(&mut self, slot: u64, register: u64, size: u8, value: u64) {
        self.write(Self::common(slot, register), size, value);
    }

    fn status(&mut self, slot: u64) -> u64 {
        self.read(Self::common(slot, 20), 1)
    }

    fn interrupt_status(&mut self, slot: u64) -> u64 {
        self.read(Self::common(slot, 0x1000), 1)
    }

    /// Begins with a device that has one queue of 8 entries, as a driver does (section 3.1.1).
    fn start(&mut self, slot: u64) {
        self.place(slot);
        self.write_common(slot, 20, 1, 0);
        assert_eq!(self.status(slot), 0);
        self.write_common(slot, 20, 1, 3);
        self.write_common(slot, 0, 4, 1);
        let high = self.read(Self::common(slot, 4), 4);
        assert_eq!(high & 1, 1, "version 1");
        self.write_common(slot, 8, 4, 1);
        self.write_common(slot, 12, 4, high);
        self.write_common(slot, 20, 1, 11);
        assert_eq!(self.status(slot), 11);
        self.memory.write(QUEUE, &[0; 0x3000]).expect("memory");
        self.write_common(slot, 22, 2, 0);
        assert_eq!(self.read(Self::common(slot, 24), 2), 256);
        self.write_common(slot, 24, 2, 8);
        let queue = QUEUE.wrapping_add(self.shift);
        self.write_common(slot, 32, 8, queue);
        // In halves, as section 4.1.3.1 has it.
        self.write_common(slot, 40, 4, (queue + 0x1000) & 0xffff_ffff);
        self.write_common(slot, 44, 4, (queue + 0x1000) >> 32);
        self.write_common(slot, 48, 8, queue + 0x2000);
        self.write_common(slot, 28, 2, 1);
        assert_eq!(self.read(Self::common(slot, 28), 2), 1);
        (self.available, self.used) = (0, 0);
        self.write_common(slot, 20, 1, 15);
    }

    fn descriptor(&self, index: u64, address: u64, length: u32, flags: u16, next: u16) {
        let mut bytes = address.to_le_bytes().to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend(next.to_le_bytes());
        self.memory
            .write(QUEUE + index * 16, &bytes)
            .expect("memory");
    }

    /// Makes the chain from descriptor 0 on available, and notifies.
    fn offer(&mut self, slot: u64) {
        self.available = self.available.wrapping_add(1);
        let index = self.available.to_le_bytes();
        self.memory.write(QUEUE + 0x1002, &index).expect("memory");
        self.write(window::MEMORY + Self::places(slot).0, 2, 0);
    }

    /// Submits a block request with 512 bytes of data at [`BUFFERS`] + 0x1000.
    fn submit(&mut self, slot: u64, kind: u32, sector: u64) {
        let mut header = kind.to_le_bytes().to_vec();
        header.extend([0; 4]);
        header.extend(sector.to_le_bytes());
        self.memory.write(BUFFERS, &header).expect("memory");
        self.memory.write(BUFFERS + 0x100, &[0xee]).expect("memory");
        let buffers = BUFFERS.wrapping_add(self.shift);
        let write = if kind == IN { 2 } else { 0 };
        self.descriptor(0, buffers, 16, 1, 1);
        self.descriptor(1, buffers + 0x1000, 512, 1 | write, 2);
        self.descriptor(2, buffers + 0x100, 1, 2, 0);
        self.offer(slot);
    }

    fn bytes<const LENGTH: usize>(&self, address: u64) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        self.memory.read(address, &mut bytes).expect("memory");
        bytes
    }

    /// All memory.
    fn everything(&self) -> Vec<u8> {
        let mut bytes = vec![0; SIZE as usize];
        self.memory.read(BASE, &mut bytes).expect("memory");
        bytes
    }

    fn word(&self, address: u64) -> u64 {
        u64::from_le_bytes(self.bytes(address))
    }

    fn put(&self, address: u64, value: u64) {
        self.memory
            .write(address, &value.to_le_bytes())
            .expect("memory");
    }

    fn used_index(&self) -> u16 {
        u16::from_le_bytes(self.bytes(QUEUE + 0x2002))
    }

    /// Whether a request has been handed back since this was asked last.
    fn take_used(&mut self) -> bool {
        let index = self.used_index();
        let there = index != self.used;
        self.used = index;
        there
    }

    fn line(&self, line: u32) -> bool {
        self.lines.levels()[0] >> line & 1 != 0
    }

    /// Lets time pass until nothing is to do any more.
    fn sleep(&mut self) {
        for _ in 0..100 {
            if self.wake_at == Femtoseconds::NEVER {
                return;
            }
            assert!(self.wake_at > self.now, "time stands still");
            self.now = self.wake_at;
            self.call(Pci::wake);
        }
        panic!("it never rests");
    }

    /// Carries out a block request. Gives the status byte, or `None` where the device has broken off.
    fn request(&mut self, slot: u64, kind: u32, sector: u64) -> Option<u8> {
        self.submit(slot, kind, sector);
        self.sleep();
        let [status] = self.bytes(BUFFERS + 0x100);
        if self.take_used() {
            self.interrupt_status(slot);
            Some(status)
        } else {
            assert_eq!(self.status(slot) & 64, 64, "it needs to be reset");
            None
        }
    }

    fn iommu(&mut self, register: u64, size: u8) -> u64 {
        self.read(window::IOMMU + register, size)
    }

    fn set_iommu(&mut self, register: u64, size: u8, value: u64) {
        self.write(window::IOMMU + register, size, value);
    }

    /// Turns the queues on: 4 commands, and as many faults as `1 << log2`.
    fn turn_on_queues(&mut self, log2: u64) {
        self.set_iommu(CQB, 8, COMMANDS >> 2 | 1);
        self.set_iommu(FQB, 8, FAULTS >> 2 | (log2 - 1));
        self.set_iommu(ICVEC, 8, 0x3210);
        self.set_iommu(CQCSR, 4, 3);
        self.set_iommu(FQCSR, 4, 3);
        assert_eq!(self.iommu(CQCSR, 4), 0x1_0003);
        assert_eq!(self.iommu(FQCSR, 4), 0x1_0003);
    }

    /// Puts a context into the directory, and makes it the IOMMU's.
    fn direct(&mut self, levels: u64, slot: u64, context: [u64; 4]) {
        let device = slot << 3;
        let mut table = DIRECTORY;
        for level in (1..levels).rev() {
            let index = if level == 1 {
                device >> 7
            } else {
                device >> 16
            };
            self.put(table + index * 8, (table + 0x1000) >> 2 | VALID);
            table += 0x1000;
        }
        for (word, value) in (0..).zip(context) {
            self.put(table + (device & 0x7f) * 32 + word * 8, value);
        }
        self.set_iommu(DDTP, 8, DIRECTORY >> 2 | (levels + 1));
        assert_eq!(self.iommu(DDTP, 8) & 15, levels + 1);
    }

    /// A second stage that maps nothing.
    fn second_stage(&mut self) -> u64 {
        let root = self.tables.next_multiple_of(0x4000);
        self.tables = root + 0x4000;
        SV39 | 5 << 44 | root >> 12
    }

    /// Maps a page in the tables of 3 levels that `root` names; `wide`: the root table has 2 bits more.
    fn map(&mut self, root: u64, address: u64, physical: u64, rights: u64, wide: bool) {
        let mut table = (root << 12) & ((1 << 56) - 1);
        for level in [2, 1] {
            let bits = if wide && level == 2 { 11 } else { 9 };
            let place = table + (address >> (12 + 9 * level) & ((1 << bits) - 1)) * 8;
            if self.word(place) & VALID == 0 {
                self.put(place, self.tables >> 2 | VALID);
                self.tables += 0x1000;
            }
            table = self.word(place) >> 10 << 12;
        }
        let place = table + (address >> 12 & 0x1ff) * 8;
        self.put(place, physical >> 2 | rights);
    }

    /// Maps all that requests need, for device 1 at [`SHIFT`], in a second stage. Gives its `iohgatp`.
    fn translate_requests(&mut self) -> u64 {
        self.shift = SHIFT;
        let root = self.second_stage();
        for page in (QUEUE..BUFFERS + 0x2000).step_by(0x1000) {
            self.map(root, page + SHIFT, page, WRITE, true);
        }
        self.direct(1, 1, [VALID, root, 0, 0]);
        root
    }

    /// Submits a command, and waits until the IOMMU has nothing to do.
    fn command(&mut self, first: u64, second: u64) {
        let tail = self.iommu(CQT, 4);
        self.put(COMMANDS + tail * 16, first);
        self.put(COMMANDS + tail * 16 + 8, second);
        self.set_iommu(CQT, 4, (tail + 1) & 3);
        self.sleep();
    }

    /// Takes the oldest fault record: cause, whether it was a write, device, address, and what is told beside.
    fn take_fault(&mut self) -> Option<(u64, bool, u64, u64, u64)> {
        let (head, tail) = (self.iommu(FQH, 4), self.iommu(FQT, 4));
        if head == tail {
            return None;
        }
        let at = FAULTS + head * 32;
        let first = self.word(at);
        let mask = 2 << (self.iommu(FQB, 8) & 31);
        self.set_iommu(FQH, 4, (head + 1) & (mask - 1));
        let kind = first >> 34 & 0x3f;
        assert!(kind == 2 || kind == 3);
        Some((
            first & 0xfff,
            kind == 3,
            first >> 40,
            self.word(at + 16),
            self.word(at + 24),
        ))
    }
}

#[test]
fn absent_functions_answer_with_ones() {
    let mut guest = Guest::new(1, false);
    assert_eq!(guest.read_config(0, 0, 4), 0x0008_1b36);
    assert_eq!(guest.read_config(0, 8, 4), 0x0600_0000);
    assert_eq!(guest.read_config(1, 0, 4), 0x1042_1af4);
    assert_eq!(guest.read_config(1, 8, 4), 0x0100_0001);
    assert_eq!(guest.read_config(2, 0, 4), 0xffff_ffff);
    // Function 1 of the device, and of the bridge.
    assert_eq!(
        guest.read(window::ECAM + (1 << 15) + (1 << 12), 4),
        0xffff_ffff
    );
    assert_eq!(guest.read(window::ECAM + (1 << 12), 2), 0xffff);
    guest.write_config(2, COMMAND, 2, 7);
    assert_eq!(guest.read_config(2, COMMAND, 2), 0xffff);
    // There are no extended capabilities.
    assert_eq!(guest.read_config(1, 0x100, 4), 0);
    // Nothing is decoded before software has placed it.
    assert_eq!(guest.read(window::MEMORY + WINDOW, 4), 0xffff_ffff);
}

#[test]
fn base_address_registers_tell_their_sizes() {
    let mut guest = Guest::new(1, false);
    for (register, size, kind) in [(0, 0x1000, 0), (4, 0x4000, 4)] {
        guest.write_config(1, BARS + register * 4, 4, 0xffff_ffff);
        let value = guest.read_config(1, BARS + register * 4, 4);
        assert_eq!(value & 15, kind);
        assert_eq!(!(value & !15) as u32 + 1, size);
    }
    guest.write_config(1, BARS + 20, 4, 0xffff_ffff);
    assert_eq!(guest.read_config(1, BARS + 20, 4), 0xffff_ffff);
    // The others are not there.
    for register in [1, 2, 3] {
        guest.write_config(1, BARS + register * 4, 4, 0xffff_ffff);
        assert_eq!(guest.read_config(1, BARS + register * 4, 4), 0);
    }
    guest.place(1);
    assert_eq!(guest.read(Guest::common(1, 18), 2), 1);
    guest.write_config(1, COMMAND, 2, BUS_MASTER);
    assert_eq!(guest.read(Guest::common(1, 18), 2), 0xffff);
}

#[test]
fn capabilities_name_the_structures() {
    let mut guest = Guest::new(1, false);
    assert_eq!(guest.read_config(1, STATUS, 2) & 0x10, 0x10);
    let mut found = Vec::new();
    let mut at = guest.read_config(1, 0x34, 1);
    while at != 0 {
        found.push((
            guest.read_config(1, at, 1),
            guest.read_config(1, at + 3, 1),
            guest.read_config(1, at + 4, 1),
            guest.read_config(1, at + 8, 4),
        ));
        if found[found.len() - 1].0 == 0x10 {
            // Function-level reset, of a root complex integrated endpoint.
            assert_eq!(guest.read_config(1, at + 2, 2), 0x92);
            assert_eq!(guest.read_config(1, at + 4, 4) >> 28, 1);
        }
        at = guest.read_config(1, at + 1, 1);
    }
    let structures: Vec<_> = found.iter().filter(|(id, ..)| *id == 9).collect();
    let expected = [
        (9, 1, 4, 0),
        (9, 3, 4, 0x1000),
        (9, 4, 4, 0x2000),
        (9, 2, 0, 0),
        (9, 5, 0, 0),
    ];
    assert!(structures.into_iter().eq(&expected), "{found:x?}");
}

#[test]
fn disks_are_read_and_written() {
    let mut guest = Guest::new(2, false);
    for slot in [1, 2] {
        guest.start(slot);
        // Capacity.
        assert_eq!(guest.read(Guest::common(slot, 0x2000), 8), 64);
        let data: [u8; 512] = std::array::from_fn(|at| at as u8 ^ slot as u8);
        guest.memory.write(BUFFERS + 0x1000, &data).expect("memory");
        assert_eq!(guest.request(slot, OUT, 7), Some(0));
        guest
            .memory
            .write(BUFFERS + 0x1000, &[0; 512])
            .expect("memory");
        assert_eq!(guest.request(slot, IN, 7), Some(0));
        assert_eq!(guest.bytes::<512>(BUFFERS + 0x1000), data);
        assert_eq!(guest.request(slot, IN, 64), Some(1), "behind the end");
    }
}

#[test]
fn interrupts_take_the_device_s_line() {
    let mut guest = Guest::new(5, false);
    for (slot, line) in [(1, 33), (2, 34), (3, 35), (4, 32), (5, 33)] {
        guest.start(slot);
        guest.submit(slot, IN, 0);
        assert!(!guest.line(line));
        guest.sleep();
        assert!(
            LINES
                .iter()
                .all(|other| guest.line(*other) == (*other == line))
        );
        assert_eq!(guest.read_config(slot, STATUS, 2) & 8, 8);
        // Forbidden, it is still shown.
        guest.write_config(slot, COMMAND, 2, MEMORY_SPACE | BUS_MASTER | NO_INTERRUPTS);
        assert!(!guest.line(line));
        assert_eq!(guest.read_config(slot, STATUS, 2) & 8, 8);
        guest.write_config(slot, COMMAND, 2, MEMORY_SPACE | BUS_MASTER);
        assert!(guest.line(line));
        assert_eq!(guest.interrupt_status(slot), 1);
        assert_eq!(guest.interrupt_status(slot), 0);
        assert!(!guest.line(line));
        assert_eq!(guest.read_config(slot, STATUS, 2) & 8, 0);
    }
}

#[test]
fn memory_is_left_alone_without_bus_mastering() {
    let mut guest = Guest::new(1, false);
    guest.start(1);
    guest.write_config(1, COMMAND, 2, MEMORY_SPACE);
    let before = guest.bytes::<0x3000>(QUEUE);
    guest.submit(1, IN, 0);
    guest.sleep();
    assert!(!guest.take_used());
    assert_eq!(guest.bytes::<0x1000>(QUEUE + 0x2000)[..], before[0x2000..]);
    assert_eq!(guest.bytes::<1>(BUFFERS + 0x100), [0xee]);
    // What waited is done then.
    guest.write_config(1, COMMAND, 2, MEMORY_SPACE | BUS_MASTER);
    guest.sleep();
    assert!(guest.take_used());
    // Taken away while a request is under way: its end waits.
    guest.submit(1, IN, 1);
    guest.write_config(1, COMMAND, 2, MEMORY_SPACE);
    guest.sleep();
    assert!(!guest.take_used());
    guest.write_config(1, COMMAND, 2, MEMORY_SPACE | BUS_MASTER);
    guest.sleep();
    assert!(guest.take_used());
}

/// Where the PCI Express capability has `Device Control`.
fn device_control(guest: &mut Guest) -> u64 {
    let at = guest.read_config(1, 0x34, 1);
    assert_eq!(guest.read_config(1, at, 1), 0x10);
    at + 8
}

#[test]
fn a_function_level_reset_ends_a_request() {
    let mut guest = Guest::new(1, false);
    let control = device_control(&mut guest);
    for size in [2, 4] {
        guest.start(1);
        guest.submit(1, IN, 0);
        assert_ne!(guest.wake_at, Femtoseconds::NEVER);
        let value = guest.read_config(1, control, size) | 0x8000;
        guest.write_config(1, control, size, value);
        let before = guest.bytes::<0x6000>(QUEUE);
        assert_eq!(guest.wake_at, Femtoseconds::NEVER);
        guest.now += Femtoseconds::SECOND;
        guest.call(Pci::wake);
        assert_eq!(guest.bytes::<0x6000>(QUEUE), before);
        assert!(!guest.line(33));
        for register in [COMMAND, BARS, BARS + 16] {
            assert_eq!(guest.read_config(1, register, 2) & !15, 0);
        }
        assert_eq!(guest.read_config(1, control, 2), 0);
        guest.start(1);
        assert_eq!(guest.request(1, IN, 0), Some(0));
    }
}

#[test]
fn the_window_in_the_configuration_space_reaches_the_structures() {
    let mut guest = Guest::new(1, false);
    guest.place(1);
    let mut at = guest.read_config(1, 0x34, 1);
    while (guest.read_config(1, at, 1), guest.read_config(1, at + 3, 1)) != (9, 5) {
        at = guest.read_config(1, at + 1, 1);
    }
    let set = |guest: &mut Guest, offset, length| {
        guest.write_config(1, at + 4, 1, 4);
        guest.write_config(1, at + 8, 4, offset);
        guest.write_config(1, at + 12, 4, length);
    };
    set(&mut guest, 18, 2);
    assert_eq!(guest.read_config(1, at + 16, 4), 1);
    set(&mut guest, 20, 1);
    guest.write_config(1, at + 16, 1, 3);
    assert_eq!(guest.status(1), 3);
    assert_eq!(guest.read_config(1, at + 16, 4), 3);
    // A length that is none reaches nothing.
    set(&mut guest, 20, 3);
    guest.write_config(1, at + 16, 4, 0);
    assert_eq!(guest.status(1), 3);
}

#[test]
fn registers_of_the_iommu_say_what_it_can() {
    let mut guest = Guest::new(1, true);
    assert_eq!(
        guest.iommu(0, 8),
        0x10 | 1 << 9 | 1 << 10 | 1 << 17 | 1 << 18 | 1 << 28 | 56 << 32
    );
    assert_eq!(guest.iommu(8, 4), 2);
    assert_eq!(guest.iommu(DDTP, 8), 0, "off after reset");
    // Modes that do not exist leave the mode.
    guest.set_iommu(DDTP, 8, 1);
    guest.set_iommu(DDTP, 8, 0x1234_0007);
    assert_eq!(guest.iommu(DDTP, 8), 0x1234_0001);
    guest.set_iommu(ICVEC, 8, 0xffff_ffff);
    assert_eq!(guest.iommu(ICVEC, 8), 0x3333);
    // Neither read-only registers nor those that are not there take anything.
    for register in [0, CQH, FQT, 56, 600, 0xff0] {
        let before = guest.iommu(register, 4);
        guest.set_iommu(register, 4, 0xffff_ffff);
        assert_eq!(guest.iommu(register, 4), before);
    }
}

#[test]
fn off_refuses_and_bare_passes() {
    let mut guest = Guest::new(1, true);
    guest.turn_on_queues(4);
    guest.start(1);
    assert_eq!(guest.request(1, IN, 0), None);
    // It begins with the index of the available ring.
    assert_eq!(guest.take_fault(), Some((256, false, 8, QUEUE + 0x1002, 0)));
    assert_eq!(guest.take_fault(), None);
    assert_eq!(guest.iommu(IPSR, 4), 2);
    assert!(guest.line(WIRES[1]));
    guest.set_iommu(IPSR, 4, 2);
    assert!(!guest.line(WIRES[1]));
    guest.set_iommu(DDTP, 8, 1);
    guest.start(1);
    assert_eq!(guest.request(1, IN, 0), Some(0));
    assert_eq!(guest.take_fault(), None);
}

/// As some hardware is after reset: the same functions as behind one that is set up.
#[test]
fn one_that_begins_as_bare_passes_all() {
    let iommu = Iommu::bare(&WIRES, SIZES);
    let mut guest = Guest::with(vec![disk()], Some(iommu));
    assert_eq!(guest.iommu(DDTP, 8), 1);
    guest.start(1);
    assert_eq!(guest.request(1, IN, 0), Some(0));
    assert_eq!(guest.take_fault(), None);
}

#[test]
fn directories_have_up_to_three_levels() {
    for levels in 1..=3 {
        let mut guest = Guest::new(1, true);
        guest.turn_on_queues(4);
        let root = guest.translate_requests();
        guest.direct(levels, 1, [VALID, root, 0, 0]);
        guest.start(1);
        assert_eq!(guest.request(1, IN, 3), Some(0), "{levels} levels");
        assert_eq!(guest.take_fault(), None);
    }
}

#[test]
fn both_stages_translate() {
    let mut guest = Guest::new(1, true);
    guest.turn_on_queues(4);
    guest.shift = SHIFT;
    // The first stage's tables are guest physical: the second maps them where they are, and the pages elsewhere.
    let second = guest.second_stage();
    let first = SV39 | guest.tables >> 12;
    guest.tables += 0x1000;
    let pages: Vec<u64> = (QUEUE..BUFFERS + 0x2000).step_by(0x1000).collect();
    for page in &pages {
        guest.map(first, page + SHIFT, page + 2 * SHIFT, WRITE, false);
    }
    let end = guest.tables;
    for page in pages {
        guest.map(second, page + 2 * SHIFT, page, WRITE, true);
    }
    guest.direct(1, 1, [VALID, second, 0, first]);
    guest.start(1);
    assert_eq!(guest.request(1, IN, 3), None);
    // The root of the first stage is not mapped: the fault is at the table, by the IOMMU's own access.
    let (cause, write, _, address, guest_address) = guest.take_fault().expect("a fault");
    assert_eq!((cause, write), (21, false));
    assert_eq!(address, QUEUE + 0x1002 + SHIFT);
    assert_eq!(guest_address >> 12 << 12, (first << 12) & ((1 << 56) - 1));
    assert_eq!(guest_address & 3, 1);
    for page in (TABLES..end).step_by(0x1000) {
        guest.map(second, page, page, READ, true);
    }
    guest.start(1);
    assert_eq!(guest.request(1, IN, 3), Some(0));
    assert_eq!(guest.take_fault(), None);
}

/// Why an access is refused: what is done to the tables, and the cause that is reported.
type Refusal = (&'static str, fn(&mut Guest, u64), u64);

#[test]
fn faults_are_recorded_by_cause() {
    let refusals: [Refusal; 15] = [
        ("off", |guest, _| guest.set_iommu(DDTP, 8, 0), 256),
        (
            "the directory is not memory",
            |guest, _| guest.set_iommu(DDTP, 8, 0x1000 << 10 | 2),
            257,
        ),
        (
            "no context",
            |guest, root| guest.direct(1, 1, [0, root, 0, 0]),
            258,
        ),
        (
            "an entry without V",
            |guest, _| guest.set_iommu(DDTP, 8, (DIRECTORY + 0x3000) >> 2 | 3),
            258,
        ),
        (
            "a reserved bit of an entry",
            |guest, root| {
                guest.direct(2, 1, [VALID, root, 0, 0]);
                guest.put(DIRECTORY, (DIRECTORY + 0x1000) >> 2 | VALID | 2);
            },
            259,
        ),
        (
            "a reserved bit of the context",
            |guest, root| guest.direct(1, 1, [VALID | 1 << 20, root, 0, 0]),
            259,
        ),
        (
            "ATS",
            |guest, root| guest.direct(1, 1, [VALID | 2, root, 0, 0]),
            259,
        ),
        (
            "hardware's A and D",
            |guest, root| guest.direct(1, 1, [VALID | 1 << 7, root, 0, 0]),
            259,
        ),
        (
            "a root that is not aligned",
            |guest, root| guest.direct(1, 1, [VALID, root | 1, 0, 0]),
            259,
        ),
        (
            "a mode that is none",
            |guest, root| guest.direct(1, 1, [VALID, root & ((1 << 60) - 1) | 3 << 60, 0, 0]),
            259,
        ),
        (
            "a page that is not mapped",
            |guest, root| guest.map(root, QUEUE + SHIFT + 0x1000, 0, 0, true),
            21,
        ),
        (
            "a page that cannot be written",
            |guest, root| {
                let page = BUFFERS + 0x1000;
                guest.map(root, page + SHIFT, page, READ, true);
            },
            23,
        ),
        (
            "a page table that is not memory",
            |guest, _| guest.direct(1, 1, [VALID, SV39 | 0x1000, 0, 0]),
            5,
        ),
        (
            "a first stage that maps nothing",
            |guest, _| {
                let root = SV39 | guest.tables >> 12;
                guest.direct(1, 1, [VALID, 0, 0, root]);
            },
            13,
        ),
        (
            "a page in use for the first time",
            |guest, root| {
                let page = QUEUE + 0x1000;
                guest.map(root, page + SHIFT, page, READ & !0x40, true);
            },
            21,
        ),
    ];
    for (why, change, cause) in refusals {
        let mut guest = Guest::new(1, true);
        guest.turn_on_queues(4);
        let root = guest.translate_requests();
        change(&mut guest, root);
        guest.start(1);
        assert_eq!(guest.request(1, IN, 3), None, "{why}");
        let (found, write, device, address, _) = guest.take_fault().expect(why);
        assert_eq!((found, device), (cause, 8), "{why}");
        assert_eq!(write, matches!(cause, 7 | 15 | 23), "{why}");
        let expected = if write {
            BUFFERS + 0x1000
        } else {
            QUEUE + 0x1002
        };
        assert_eq!(address, expected + SHIFT, "{why}");
        assert_eq!(guest.take_fault(), None, "{why}");
    }
}

#[test]
fn wide_identities_need_levels() {
    // Device 16 is requester 0x80, of which a directory of one level knows nothing.
    let mut guest = Guest::new(16, true);
    guest.turn_on_queues(4);
    let root = guest.translate_requests();
    guest.start(16);
    assert_eq!(guest.request(16, IN, 0), None);
    let (cause, _, device, ..) = guest.take_fault().expect("a fault");
    assert_eq!((cause, device), (260, 0x80));
    guest.direct(2, 16, [VALID, root, 0, 0]);
    guest.start(16);
    assert_eq!(guest.request(16, IN, 0), Some(0));
}

#[test]
fn a_context_can_hide_faults_of_translations() {
    let mut guest = Guest::new(1, true);
    guest.turn_on_queues(4);
    let root = guest.translate_requests();
    guest.map(root, QUEUE + SHIFT + 0x1000, 0, 0, true);
    guest.direct(1, 1, [VALID | 1 << 4, root, 0, 0]);
    guest.start(1);
    assert_eq!(guest.request(1, IN, 3), None);
    assert_eq!(guest.take_fault(), None);
}

#[test]
fn a_full_fault_queue_loses_what_comes() {
    let mut guest = Guest::new(1, true);
    // Two entries, of which one can be used.
    guest.turn_on_queues(1);
    for _ in 0..2 {
        guest.start(1);
        assert_eq!(guest.request(1, IN, 0), None);
    }
    assert_eq!(guest.iommu(FQCSR, 4) & 0x300, 0x200);
    assert_eq!(guest.iommu(IPSR, 4), 2);
    assert!(guest.take_fault().is_some());
    assert_eq!(guest.take_fault(), None);
    // With the bit set nothing is recorded though there is room, and the interrupt stays.
    guest.start(1);
    assert_eq!(guest.request(1, IN, 0), None);
    assert_eq!(guest.take_fault(), None);
    guest.set_iommu(IPSR, 4, 2);
    assert_eq!(guest.iommu(IPSR, 4), 2);
    guest.set_iommu(FQCSR, 4, 0x203);
    guest.set_iommu(IPSR, 4, 2);
    assert_eq!(guest.iommu(IPSR, 4), 0);
    guest.start(1);
    assert_eq!(guest.request(1, IN, 0), None);
    assert!(guest.take_fault().is_some());
}

#[test]
fn queues_outside_of_memory_stop() {
    let mut guest = Guest::new(1, true);
    guest.turn_on_queues(4);
    guest.set_iommu(FQCSR, 4, 0);
    guest.set_iommu(FQB, 8, 0x1000 << 10);
    guest.set_iommu(FQCSR, 4, 3);
    guest.start(1);
    assert_eq!(guest.request(1, IN, 0), None);
    assert_eq!(guest.iommu(FQCSR, 4) & 0x300, 0x100);
    guest.set_iommu(CQCSR, 4, 0);
    guest.set_iommu(CQB, 8, 0x1000 << 10);
    guest.set_iommu(CQCSR, 4, 3);
    guest.set_iommu(CQT, 4, 1);
    guest.sleep();
    assert_eq!(guest.iommu(CQCSR, 4) & 0x700, 0x100);
    assert_eq!(guest.iommu(CQH, 4), 0);
    assert_eq!(guest.iommu(IPSR, 4), 3);
}

/// Commands.
const INVALIDATE_GUEST: u64 = 1 | 1 << 7 | 1 << 33 | 5 << 44;
const FENCE: u64 = 2;
const INVALIDATE_CONTEXT: u64 = 3;

#[test]
fn old_translations_are_used_until_they_are_invalidated() {
    let page = BUFFERS + 0x1000;
    let invalidations = [
        Some((INVALIDATE_GUEST, 0)),
        Some((INVALIDATE_GUEST | 1 << 10, (page + SHIFT) >> 2)),
        // All guests.
        Some((1 | 1 << 7, 0)),
        // Another guest, another page, a host.
        None,
    ];
    for invalidation in invalidations {
        let mut guest = Guest::new(1, true);
        guest.turn_on_queues(4);
        let root = guest.translate_requests();
        guest.start(1);
        assert_eq!(guest.request(1, IN, 3), Some(0));
        let other = BASE + 0x8_0000;
        guest.map(root, page + SHIFT, other, WRITE, true);
        guest.memory.write(page, &[0; 512]).expect("memory");
        assert_eq!(guest.request(1, IN, 3), Some(0));
        assert_ne!(guest.bytes::<512>(page), [0; 512], "the old one");
        assert_eq!(guest.bytes::<512>(other), [0; 512]);
        match invalidation {
            Some((first, second)) => guest.command(first, second),
            None => {
                guest.command(INVALIDATE_GUEST & !(0xffff << 44) | 6 << 44, 0);
                guest.command(INVALIDATE_GUEST | 1 << 10, (page + SHIFT + 0x1000) >> 2);
                guest.command(1, 0);
            }
        }
        assert_eq!(guest.request(1, IN, 3), Some(0));
        let arrived = guest.bytes::<512>(other) != [0; 512];
        assert_eq!(arrived, invalidation.is_some(), "{invalidation:x?}");
    }
}

#[test]
fn old_contexts_are_used_until_they_are_invalidated() {
    let mut guest = Guest::new(1, true);
    guest.turn_on_queues(4);
    let root = guest.translate_requests();
    guest.start(1);
    assert_eq!(guest.request(1, IN, 3), Some(0));
    guest.direct(1, 1, [0, root, 0, 0]);
    assert_eq!(guest.request(1, IN, 3), Some(0));
    // Of another device.
    guest.command(INVALIDATE_CONTEXT | 1 << 33 | 16 << 40, 0);
    assert_eq!(guest.request(1, IN, 3), Some(0));
    guest.command(INVALIDATE_CONTEXT | 1 << 33 | 8 << 40, 0);
    assert_eq!(guest.request(1, IN, 3), None);
    assert_eq!(guest.take_fault().map(|fault| fault.0), Some(258));
}

#[test]
fn fences_tell_of_their_end() {
    let mut guest = Guest::new(1, true);
    guest.turn_on_queues(4);
    let done = BASE + 0x9_0004;
    let first = FENCE | 1 << 10 | 1 << 11 | 0xcafe_f00d << 32;
    guest.put(COMMANDS, first);
    guest.put(COMMANDS + 8, done >> 2);
    guest.set_iommu(CQT, 4, 1);
    // Not at once: it takes a while.
    assert_eq!(guest.iommu(CQH, 4), 0);
    guest.sleep();
    assert_eq!(guest.iommu(CQH, 4), 1);
    assert_eq!(guest.bytes::<4>(done), 0xcafe_f00d_u32.to_le_bytes());
    assert_eq!(guest.iommu(CQCSR, 4), 0x1_0803);
    assert_eq!(guest.iommu(IPSR, 4), 1);
    assert!(guest.line(WIRES[0]));
    guest.set_iommu(CQCSR, 4, 0x803);
    guest.set_iommu(IPSR, 4, 1);
    assert!(!guest.line(WIRES[0]));
    // A place that is not memory.
    guest.command(FENCE | 1 << 10, 0x1000);
    assert_eq!(guest.iommu(CQCSR, 4) & 0x700, 0x100);
    assert_eq!(guest.iommu(CQH, 4), 1);
}

#[test]
fn commands_that_are_none_stop_the_queue() {
    for (first, second) in [
        (0, 0),
        (1 | 2 << 7, 0),
        // PSCV of the second stage; a reserved bit.
        (INVALIDATE_GUEST | 1 << 32, 0),
        (1 | 1 << 62, 0),
        (FENCE | 1 << 14, 0),
        (FENCE | 1 << 7, 0),
        // Process contexts and ATS are not there.
        (3 | 1 << 7 | 1 << 33, 0),
        (4, 0),
        (INVALIDATE_CONTEXT, 1),
    ] {
        let mut guest = Guest::new(1, true);
        guest.turn_on_queues(4);
        guest.command(first, second);
        assert_eq!(guest.iommu(CQCSR, 4) & 0x700, 0x400, "{first:#x}");
        assert_eq!(guest.iommu(CQH, 4), 0);
        assert_eq!(guest.iommu(IPSR, 4), 1);
        // Corrected, it goes on there.
        guest.put(COMMANDS, FENCE);
        guest.put(COMMANDS + 8, 0);
        guest.set_iommu(CQCSR, 4, 0x403);
        guest.sleep();
        assert_eq!(guest.iommu(CQH, 4), 1);
    }
}

#[test]
fn lengths_that_wrap_are_refused() {
    for (address, length) in [
        (u64::MAX - 0xff, 0x200),
        (u64::MAX, 1),
        (BUFFERS + SHIFT + 0x1000, u32::MAX),
        // Into the page behind, which is not mapped.
        (BUFFERS + SHIFT + 0x1f00, 0x200),
    ] {
        let mut guest = Guest::new(1, true);
        guest.turn_on_queues(4);
        guest.translate_requests();
        guest.start(1);
        guest.memory.write(BUFFERS, &[0; 16]).expect("memory");
        let behind = guest.bytes::<0x1000>(BUFFERS + 0x2000);
        guest.descriptor(0, BUFFERS + SHIFT, 16, 1, 1);
        guest.descriptor(1, address, length, 3, 2);
        guest.descriptor(2, BUFFERS + SHIFT + 0x100, 1, 2, 0);
        guest.offer(1);
        guest.sleep();
        assert!(!guest.take_used());
        assert_eq!(guest.status(1) & 64, 64);
        assert_eq!(guest.bytes::<0x1000>(BUFFERS + 0x2000), behind);
    }
}

#[test]
fn a_state_goes_on_where_it_was_saved() {
    let mut guest = Guest::new(2, true);
    guest.turn_on_queues(4);
    guest.translate_requests();
    guest.start(1);
    assert_eq!(guest.request(1, OUT, 3), Some(0));
    guest.submit(1, IN, 3);
    guest.put(COMMANDS, FENCE);
    guest.set_iommu(CQT, 4, 1);
    let saved = guest.host.save();
    let mut other = Guest::new(2, true);
    other.host.restore(&saved).expect("a state");
    assert_eq!(other.host.save(), saved);
    other
        .memory
        .write(BASE, &guest.everything())
        .expect("memory");
    (other.now, other.wake_at) = (guest.now, guest.wake_at);
    guest.sleep();
    other.sleep();
    assert_eq!(guest.now, other.now);
    assert_eq!(guest.host.save(), other.host.save());
    assert!(guest.everything() == other.everything());
    // A host with other functions has other states.
    for mut host in [Guest::new(1, true).host, Guest::new(2, false).host] {
        let before = host.save();
        assert!(host.restore(&saved).is_err());
        assert_eq!(host.save(), before);
    }
}

/// A driver of network devices: each has two queues of 8 entries with one buffer each, 64 KiB from device to device.
impl Guest {
    const fn net_queue(slot: u64, queue: u64) -> u64 {
        BASE + slot * 0x1_0000 + queue * 0x8000
    }

    fn start_net(&mut self, slot: u64) {
        self.place(slot);
        self.write_common(slot, 20, 1, 3);
        self.write_common(slot, 8, 4, 1);
        self.write_common(slot, 12, 4, 1);
        self.write_common(slot, 20, 1, 11);
        for queue in 0..2 {
            let at = Self::net_queue(slot, queue);
            self.write_common(slot, 22, 2, queue);
            self.write_common(slot, 24, 2, 8);
            self.write_common(slot, 32, 8, at);
            self.write_common(slot, 40, 8, at + 0x1000);
            self.write_common(slot, 48, 8, at + 0x2000);
            self.write_common(slot, 28, 2, 1);
        }
        self.write_common(slot, 20, 1, 15);
    }

    /// Makes so many buffers of a queue available: of a length that the device reads or writes.
    fn offer_net(&mut self, slot: u64, queue: u64, count: u16, length: u32) {
        let at = Self::net_queue(slot, queue);
        for index in 0..u64::from(count) {
            let mut bytes = (at + 0x3000 + index * 0x800).to_le_bytes().to_vec();
            bytes.extend(length.to_le_bytes());
            bytes.extend([if queue == 0 { 2 } else { 0 }, 0, 0, 0]);
            self.memory.write(at + index * 16, &bytes).expect("memory");
            let entry = at + 0x1004 + index * 2;
            self.memory
                .write(entry, &(index as u16).to_le_bytes())
                .expect("memory");
        }
        self.memory
            .write(at + 0x1002, &count.to_le_bytes())
            .expect("memory");
        self.write(window::MEMORY + Self::places(slot).0 + queue * 4, 2, queue);
    }

    /// What a device has received: the frames in its used buffers.
    fn received(&self, slot: u64) -> Vec<Vec<u8>> {
        let at = Self::net_queue(slot, 0);
        let count = u16::from_le_bytes(self.bytes(at + 0x2002));
        (0..u64::from(count))
            .map(|index| {
                let length = u32::from_le_bytes(self.bytes(at + 0x2008 + index * 8)) as usize;
                let mut bytes = vec![0; length];
                let place = at + 0x3000 + index * 0x800;
                self.memory.read(place, &mut bytes).expect("memory");
                assert_eq!(bytes[..12], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
                bytes.split_off(12)
            })
            .collect()
    }
}

const MAC: [u8; 6] = [0x52, 0x54, 0, 0x12, 0x34, 0x56];

fn net() -> Net {
    Net::new(MAC)
}

#[test]
fn frames_arrive_at_their_times_and_are_recorded_when_sent() {
    let frame = |time, byte| -> Frame { (Femtoseconds(time), vec![byte; 60]) };
    let frames = vec![frame(9_000_000_000, 2), frame(4_000_000_000, 1)];
    let mut device = net().receiving(frames).expect("frames");
    let sent = device.record();
    let mut guest = Guest::with(vec![Box::new(device)], None);
    guest.start_net(1);
    let config: [u64; 8] =
        std::array::from_fn(|byte| guest.read(Guest::common(1, 0x2000 + byte as u64), 1));
    assert_eq!(config, [0x52, 0x54, 0, 0x12, 0x34, 0x56, 1, 0]);
    guest.offer_net(1, 0, 4, 2000);
    assert_eq!(guest.wake_at, Femtoseconds(4_000_000_000));
    guest.sleep();
    assert_eq!(guest.now, Femtoseconds(10_000_000_000));
    assert_eq!(guest.received(1), [[1; 60], [2; 60]]);
    let at = Guest::net_queue(1, 1) + 0x3000;
    guest.memory.write(at + 12, &[7; 100]).expect("memory");
    guest.offer_net(1, 1, 1, 112);
    guest.sleep();
    assert_eq!(sent.take(), [(Femtoseconds(10_000_000_000), vec![7; 100])]);
    assert!(
        net()
            .receiving(vec![frame(0, 0), (Femtoseconds(0), vec![])])
            .is_err()
    );
    let long = vec![0; FRAME_MAX + 1];
    assert!(net().receiving(vec![(Femtoseconds(0), long)]).is_err());
}

#[test]
fn linked_devices_receive_what_the_other_sends() {
    let (mut one, mut other) = (net(), net());
    one.link(&mut other);
    let mut guest = Guest::with(vec![Box::new(one), Box::new(other)], None);
    for slot in [1, 2] {
        guest.start_net(slot);
        guest.offer_net(slot, 0, 8, 2000);
    }
    for (slot, count) in [(1, 3), (2, 2)] {
        for index in 0..u64::from(count) {
            let at = Guest::net_queue(slot, 1) + 0x3000 + index * 0x800;
            let bytes = [(slot * 16 + index) as u8; 64];
            guest.memory.write(at + 12, &bytes).expect("memory");
        }
        guest.offer_net(slot, 1, count, 12 + 64);
    }
    let saved = guest.host.save();
    guest.host.restore(&saved).expect("its own state");
    guest.sleep();
    assert_eq!(guest.received(2), [[16; 64], [17; 64], [18; 64]]);
    assert_eq!(guest.received(1), [[32; 64], [33; 64]]);
}

#[test]
fn network_requests_that_make_no_sense_end_the_device_s_work() {
    // Shorter than a header, without a frame, longer than a frame.
    for length in [11, 12, 12 + FRAME_MAX as u32 + 1] {
        let mut guest = Guest::with(vec![Box::new(net())], None);
        guest.start_net(1);
        guest.offer_net(1, 1, 1, length);
        assert_eq!(guest.status(1) & 64, 64, "{length}");
    }
    // Without room for what has come.
    let frames = vec![(Femtoseconds(1), vec![1; 60])];
    let device = net().receiving(frames).expect("a frame");
    let mut guest = Guest::with(vec![Box::new(device)], None);
    guest.start_net(1);
    guest.offer_net(1, 0, 1, 71);
    guest.sleep();
    assert_eq!(guest.status(1) & 64, 64);
}

/// What is in memory that no device may see.
const SECRET: u64 = 0x5ec2_e75e_c2e7_5ec2;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    /// Whatever a driver puts into its queue, the device reads and writes mapped pages alone: 10,500 random
    /// descriptors.
    #[test]
    fn no_access_leaves_the_mapped_pages(
        kinds in prop::collection::vec(any::<bool>(), 4),
        descriptors in prop::collection::vec(
            (
                prop_oneof![
                    (0..0x7000_u64).prop_map(|at| QUEUE + SHIFT + at),
                    (0..SIZE).prop_map(|at| BASE + at),
                    (0..SIZE).prop_map(|at| BASE + SHIFT + at),
                    any::<u64>(),
                ],
                prop_oneof![0..0x3000_u32, any::<u32>()],
                0..8_u16,
                0..9_u16,
            ),
            8,
        ),
    ) {
        let mut guest = Guest::new(1, true);
        let secrets = SECRET.to_le_bytes().repeat(SIZE as usize / 8);
        guest.memory.write(BASE, &secrets).expect("memory");
        let mapped = QUEUE..BUFFERS + 0x2000;
        for range in [mapped.clone(), DIRECTORY..TABLES + 0x1_0000] {
            let zeros = vec![0; (range.end - range.start) as usize];
            guest.memory.write(range.start, &zeros).expect("memory");
        }
        guest.turn_on_queues(4);
        guest.translate_requests();
        guest.start(1);
        let outside = |guest: &Guest| {
            let mut bytes = guest.everything();
            bytes[(mapped.start - BASE) as usize..(mapped.end - BASE) as usize].fill(0);
            // The fault queue is the IOMMU's own.
            bytes[(FAULTS - BASE) as usize..][..0x1000].fill(0);
            bytes
        };
        let before = outside(&guest);
        for write in kinds {
            guest.memory.write(BUFFERS, &u32::from(write).to_le_bytes()).expect("memory");
            guest.descriptor(0, BUFFERS + SHIFT, 16, 1, 1);
            for (index, (address, length, flags, next)) in (1..).zip(&descriptors[1..]) {
                guest.descriptor(index, *address, *length, *flags, *next);
            }
            guest.offer(1);
            guest.sleep();
            if guest.status(1) & 64 != 0 {
                guest.start(1);
            }
        }
        prop_assert!(outside(&guest) == before);
        let saved = guest.host.save();
        prop_assert!(!saved.windows(8).any(|bytes| bytes == SECRET.to_le_bytes()));
    }
}
