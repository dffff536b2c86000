//! Properties of the devices under any software, for the tests and for the fuzz targets.
//!
//! No call panics or runs without end, time moves on, and a saved state can be restored.

use tactus_board::bus::{Device, Effects, Lines, Port};
use tactus_board::devices::pci::{Sizes, window};
use tactus_board::devices::virtio::{Block, Disk, Entropy, Net, VirtioConsole};
use tactus_board::devices::{Clint, Console, Finisher, Iommu, Pci, Plic, Rtc, Uart, Virtio, map};
use tactus_board::memory::Memory;
use tactus_board::time::{Clock, Femtoseconds};

const BASE: u64 = 0x8000_0000;
const SIZE: u64 = 0x1_0000;

/// The rest of the input.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    /// The next bytes as a number; zeros after the end.
    fn number(&mut self, size: usize) -> u64 {
        let (taken, rest) = self.0.split_at(size.min(self.0.len()));
        self.0 = rest;
        taken
            .iter()
            .rev()
            .fold(0, |value, &byte| value << 8 | u64::from(byte))
    }
}

struct Bench {
    memory: Memory,
    lines: Lines,
    now: Femtoseconds,
    wake_at: Femtoseconds,
    device: Box<dyn Device>,
    console: Option<Console>,
}

impl Bench {
    fn new(kind: u64) -> Self {
        let image = (0..=255).cycle().take(5000).collect();
        let mut far = None;
        let device: Box<dyn Device> = match kind % 9 {
            0 => Box::new(Finisher::new()),
            1 => Box::new(Clint::new(3, 10_000_000)),
            2 => Box::new(Plic::new(3, map::PLIC_SOURCES)),
            3 => {
                let (uart, console) = Uart::new(map::UART_LINE);
                far = Some(console);
                Box::new(uart)
            }
            4 => Box::new(Rtc::new(map::RTC_LINE, Rtc::START)),
            5 => Box::new(Virtio::empty(1)),
            6 => Box::new(Virtio::new(
                1,
                Box::new(Block::new(Disk::new(image), "disk")),
            )),
            7 => {
                let (backend, console) = VirtioConsole::new();
                far = Some(console);
                Box::new(Virtio::new(1, Box::new(backend)))
            }
            _ => Box::new(Virtio::new(1, Box::new(Entropy::new(1)))),
        };
        Self::with(device, far)
    }

    fn with(device: Box<dyn Device>, far: Option<Console>) -> Self {
        Self {
            memory: Memory::new(BASE, SIZE).expect("memory"),
            lines: Lines::default(),
            now: Femtoseconds::default(),
            wake_at: Femtoseconds::NEVER,
            device,
            console: far,
        }
    }

    fn call<T>(&mut self, call: impl FnOnce(&mut dyn Device, &mut Port<'_>) -> T) -> T {
        let mut effects = Effects::default();
        let mut port = Port::new(self.now, &self.memory, &mut self.lines, &mut effects);
        let result = call(self.device.as_mut(), &mut port);
        self.wake_at = effects.wake_at.unwrap_or(self.wake_at);
        for (hart, bits, _) in effects.wires {
            assert!(hart < 3 && bits != 0);
        }
        result
    }

    fn wake(&mut self) {
        self.call(|device, port| device.wake(port));
        assert!(self.wake_at > self.now, "it is to be woken again at once");
    }

    /// Advances time up to a limit, with the wake-ups that the device requests.
    fn pass(&mut self, duration: u64) {
        let end = self.now.saturating_add(Femtoseconds(duration));
        for _ in 0..64 {
            if self.wake_at >= end {
                break;
            }
            self.now = self.now.max(self.wake_at);
            self.wake();
        }
        self.now = end.max(self.now).min(Femtoseconds(u64::MAX - 1));
        self.wake();
    }

    /// Gives the device a state from the rest of the input. A refused state changes nothing.
    fn take_state(&mut self, state: &[u8]) {
        let before = self.device.save();
        if self.device.restore(state).is_err() {
            assert_eq!(self.device.save(), before);
        }
        self.wake();
    }

    /// Asserts that a saved state can be restored, and is then the same.
    fn comes_back(&mut self) {
        let saved = self.device.save();
        self.device.restore(&saved).expect("its own state");
        assert_eq!(self.device.save(), saved);
    }
}

/// Reads, writes, input, time and states in the order of the bytes.
pub fn registers(bytes: &[u8]) {
    let mut input = Input(bytes);
    let mut bench = Bench::new(input.number(1));
    bench.wake();
    while !input.0.is_empty() {
        let action = input.number(1);
        let size = 1u8 << (action >> 4 & 3);
        let offset = input.number(3) & !u64::from(size - 1);
        match action & 15 {
            0..6 => {
                let value = input.number(size.into());
                let _ = bench.call(|device, port| device.write(offset, size, value, port));
            }
            6..12 => {
                let read =
                    |device: &mut dyn Device, port: &mut Port<'_>| device.read(offset, size, port);
                let _ = bench.call(read);
            }
            12 => bench.pass(offset << (action >> 4 & 15)),
            13 => {
                if let Some(console) = &bench.console {
                    console.send_at(Femtoseconds(offset << 8), b"input");
                }
                // Lines of other devices.
                bench.lines.set(offset as u32, action >> 7 != 0);
                bench.wake();
            }
            14 => bench.comes_back(),
            _ => bench.take_state(input.0),
        }
    }
    bench.pass(1 << 50);
    bench.comes_back();
}

/// A correct driver that negotiates features and sets up its queues in memory with these bytes.
///
/// The queues are in the first 512 bytes, buffers at any address in the bytes.
pub fn queues(bytes: &[u8]) {
    let mut input = Input(bytes);
    let kind = input.number(1) % 3;
    let mut bench = Bench::new(6 + kind);
    if let Some(console) = &bench.console {
        console.send(b"some input that waits");
    }
    let size = 1 << (input.number(1) % 5);
    let notifications = input.number(1) % 8;
    let image = &input.0[..input.0.len().min(SIZE as usize)];
    bench.memory.write(BASE, image).expect("memory");
    let write = |bench: &mut Bench, register, value| {
        bench
            .call(|device, port| device.write(register, 4, value, port))
            .expect("a register");
    };
    for (register, value) in [(0x70, 3), (0x24, 1), (0x20, 1), (0x70, 11)] {
        write(&mut bench, register, value);
    }
    for queue in 0..2 {
        write(&mut bench, 0x30, queue);
        write(&mut bench, 0x38, size);
        for (register, place) in [(0x80, 0), (0x90, 0x100), (0xa0, 0x140)] {
            write(&mut bench, register, BASE + place);
        }
        write(&mut bench, 0x44, 1);
    }
    write(&mut bench, 0x70, 15);
    for queue in 0..=notifications {
        write(&mut bench, 0x50, queue % 2);
        bench.pass(100_000_000_000);
        bench.comes_back();
    }
}

/// Where the functions of [`pci`] have their registers.
const REGISTERS: u64 = 0x5000_0000;

/// A PCI host with a disk and two linked network devices behind an IOMMU. Software has placed and started them, and the
/// IOMMU passes all, or has the directory, the tables and the queues that are in the bytes. Those begin with what
/// memory has; the rest are accesses to configuration spaces, registers of functions and of the IOMMU, time, and states
/// to take back.
pub fn pci(bytes: &[u8]) {
    let mut input = Input(bytes);
    let sizes = Sizes {
        translations: 3,
        contexts: 2,
    };
    let iommu = Iommu::new(&[36, 37], sizes);
    let mut host = Pci::new(
        Clock::from_hertz(1_000_000_000),
        [32, 33, 34, 35],
        Some(iommu),
    );
    let (mut one, mut other) = (Net::new([2; 6]), Net::new([4; 6]));
    one.link(&mut other);
    let image = (0..=255).cycle().take(5000).collect();
    host.plug(Box::new(Block::new(Disk::new(image), "disk")));
    host.plug(Box::new(one));
    host.plug(Box::new(other));
    let mut bench = Bench::with(Box::new(host), None);
    let ddtp = input.number(1) % 5;
    // Pages of memory, as the first bytes of each.
    for page in 0..8 {
        let length = input.number(1) as usize * 2;
        let (image, rest) = input.0.split_at(length.min(input.0.len()));
        input.0 = rest;
        bench
            .memory
            .write(BASE + page * 0x1000, image)
            .expect("memory");
    }
    let write = |bench: &mut Bench, offset, size, value| {
        let _ = bench.call(|device, port| device.write(offset, size, value, port));
    };
    for (register, value) in [
        (16, BASE >> 2 | ddtp),
        (24, (BASE + 0x1000) >> 2),
        (40, (BASE + 0x2000) >> 2),
        (72, 3),
        (76, 3),
    ] {
        write(&mut bench, window::IOMMU + register, 8, value);
    }
    for slot in 1..4 {
        let (config, place) = (slot << 15, REGISTERS + slot * 0x1_0000);
        for (register, value) in [(0x10, place), (0x20, place + 0x8000), (4, 6)] {
            write(&mut bench, window::ECAM + config + register, 4, value);
        }
        let common = window::MEMORY + place + 0x8000;
        for (register, size, value) in [(20, 1, 3), (8, 4, 1), (12, 4, 1), (20, 1, 11)] {
            write(&mut bench, common + register, size, value);
        }
        for queue in 0..2 {
            let at = BASE + 0x3000 + (slot * 2 + queue) % 4 * 0x1000;
            write(&mut bench, common + 22, 2, queue);
            write(&mut bench, common + 24, 2, 4);
            for (register, value) in [(32, at), (40, at + 0x40), (48, at + 0x80)] {
                write(&mut bench, common + register, 8, value);
            }
            write(&mut bench, common + 28, 2, 1);
        }
        write(&mut bench, common + 20, 1, 15);
    }
    bench.wake();
    while !input.0.is_empty() {
        let action = input.number(1);
        let size = 1u8 << (action >> 4 & 3);
        let place = input.number(2);
        let (slot, register) = (place >> 13 & 3, place & 0x1fff);
        let base = match action >> 6 {
            0 => window::ECAM + (slot << 15) + (register & 0xfff),
            1 => window::MEMORY + REGISTERS + (slot << 16) + 0x8000 + (register & 0xfff),
            // Notifications, and what lies around.
            2 => window::MEMORY + REGISTERS + (place & 0xffff) * 4,
            _ => window::IOMMU + (register & 0x3ff),
        };
        let offset = base & !u64::from(size - 1);
        match action & 15 {
            0..7 => {
                let value = input.number(size.into());
                write(&mut bench, offset, size, value);
            }
            7..11 => {
                let _ = bench.call(|device, port| device.read(offset, size, port));
            }
            11 | 12 => bench.pass(place << (action >> 4 & 15)),
            13 | 14 => bench.comes_back(),
            _ => bench.take_state(input.0),
        }
    }
    bench.pass(1 << 50);
    bench.comes_back();
}
