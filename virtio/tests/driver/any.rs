//! A driver of any device, for tests: in good order, or a hostile one.

use std::cell::Cell;

use tactus_virtio::console::Console;
use tactus_virtio::entropy::{Entropy, Generator, KEY};
use tactus_virtio::lines::{Line, Name};
use tactus_virtio::memory::{Memory as _, Window};
use tactus_virtio::mmio::{Device, Outcome, Port, register, status};
use tactus_virtio::text::{Mark, Ring, SIZE as SIZE_OF_RING};

use super::{
    ACCESSES_MAX, AVAILABLE, BASE, BUFFERS, DESCRIPTORS, Kept, MEMORY, Mortal, SIZE, USED, window,
};

/// Bytes between the parts of one queue and those of the next.
const APART: u64 = 0x400;

/// A driver and its device.
pub struct AnyMachine<D> {
    pub memory: Mortal,
    pub kept: Kept,
    pub device: Port<D, Mortal, Kept>,
    make: fn() -> D,
    pub interrupts: u32,
    /// Descriptors that were used, modulo 2^16.
    placed: u16,
}

impl<D: Device> AnyMachine<D> {
    /// With the device that `make` makes for each life.
    pub fn new(make: fn() -> D) -> Self {
        Self::of(window(MEMORY, BASE), make)
    }

    /// With this memory.
    pub fn of(memory: Window, make: fn() -> D) -> Self {
        let memory = Mortal::new(memory);
        let kept = Kept::default();
        Self {
            device: Port::new(make(), memory.clone(), kept.clone()),
            memory,
            kept,
            make,
            interrupts: 0,
            placed: 0,
        }
    }

    /// The device begins another life.
    pub fn restart(&mut self) {
        self.memory.left.set(None);
        self.kept.left.set(None);
        self.device = Port::new((self.make)(), self.memory.clone(), self.kept.clone());
    }

    /// An access, made as often as the device wants, up to `most` times. Whether it was enough.
    pub fn access(&mut self, offset: u32, store: Option<u64>, most: u32) -> Option<u64> {
        (0..most).find_map(|_| {
            let Outcome {
                value,
                interrupts,
                again,
            } = self.device.access(offset, 4, store);
            self.interrupts += u32::from(interrupts);
            (!again).then_some(value)
        })
    }

    pub fn read(&mut self, offset: u32) -> u64 {
        let value = self.access(offset, None, 1000);
        value.expect("it ends")
    }

    pub fn write(&mut self, offset: u32, value: u64) {
        self.access(offset, Some(value), 1000).expect("it ends");
    }

    /// Section 3.1.1.
    pub fn start(&mut self) {
        self.write(register::STATUS, 0);
        self.write(register::STATUS, 3);
        self.write(register::DRIVER_FEATURES_SELECT, 1);
        self.write(register::DRIVER_FEATURES, 1);
        self.write(register::STATUS, 11);
        for queue in 0..D::QUEUES as u64 {
            self.write(register::QUEUE_SELECT, queue);
            self.write(register::QUEUE_SIZE, SIZE.into());
            for (register, address) in [
                (register::QUEUE_DESCRIPTORS, DESCRIPTORS),
                (register::QUEUE_AVAILABLE, AVAILABLE),
                (register::QUEUE_USED, USED),
            ] {
                self.write(register, address + APART * queue);
                self.write(register + 4, 0);
            }
            self.write(register::QUEUE_READY, 1);
            for ring in [AVAILABLE, USED] {
                let index = ring + APART * queue + 2;
                self.memory.memory.store_index(index, 0).expect("within");
            }
        }
        self.write(register::STATUS, 15);
    }

    /// Announces a request of these buffers: addresses, lengths, and whether the device writes them.
    pub fn request(&mut self, queue: usize, buffers: &[(u64, u32, bool)]) {
        let memory = &self.memory.memory;
        let apart = APART * queue as u64;
        let index = memory.load_index(AVAILABLE + apart + 2).expect("within");
        let head = self.placed % SIZE;
        self.placed = self.placed.wrapping_add(buffers.len() as u16);
        for (number, (address, length, writable)) in (0..).zip(buffers) {
            let place = (head + number) % SIZE;
            let is_last = usize::from(number) + 1 == buffers.len();
            let flags = u64::from(!is_last) | u64::from(*writable) << 1;
            let next = u64::from((place + 1) % SIZE);
            let rest = u64::from(*length) | flags << 32 | next << 48;
            let at = DESCRIPTORS + apart + 16 * u64::from(place);
            memory.write(at, &address.to_le_bytes()).expect("within");
            memory.write(at + 8, &rest.to_le_bytes()).expect("within");
        }
        let entry = AVAILABLE + apart + 4 + 2 * u64::from(index % SIZE);
        memory.write(entry, &head.to_le_bytes()).expect("within");
        let index = index.wrapping_add(1);
        memory
            .store_index(AVAILABLE + apart + 2, index)
            .expect("within");
    }

    /// Requests that were completed, and bytes written by the last of them.
    pub fn completed(&self, queue: usize) -> (u16, u32) {
        let at = USED + APART * queue as u64;
        let index = self.memory.memory.load_index(at + 2).expect("within");
        let slot = u64::from(index.wrapping_sub(1) % SIZE);
        let mut written = [0; 4];
        self.memory
            .memory
            .read(at + 8 + 8 * slot, &mut written)
            .expect("within");
        (index, u32::from_le_bytes(written))
    }

    pub fn bytes(&self, at: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.memory.memory.read(at, &mut bytes).expect("within");
        bytes
    }

    pub fn needs_reset(&mut self) -> bool {
        self.read(register::STATUS) as u32 & status::NEEDS_RESET != 0
    }
}

thread_local! {
    /// Memory of one driver after the other.
    static MEMORY_OF: Window = window(MEMORY, BASE);
    /// What a console's driver has written, and what it is to read: of one console after the other.
    static RINGS: [Window; 2] = [window(SIZE_OF_RING, 0), window(SIZE_OF_RING, 0)];
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// Ticks of a console's clock in a second.
pub const HZ: u64 = 1000;

/// Sets a console's clock.
pub fn set_time(now: u64) {
    NOW.set(now);
}

/// The rings of the console.
pub fn rings() -> [Ring<Window>; 2] {
    RINGS.with(|rings| rings.map(Ring::new))
}

/// Empties the rings of the console.
pub fn clear_rings() {
    RINGS.with(|rings| {
        for ring in rings {
            ring.write(0, &[0; SIZE_OF_RING]).expect("all of it");
        }
    });
}

/// A life of the console.
pub fn console() -> Console {
    let [output, input] = rings();
    Console::new(output, input, || NOW.get(), HZ).expect("the rings are whole")
}

/// A life of an entropy device: each has the same bytes.
pub fn entropy() -> Entropy {
    Entropy::new(Generator::new(&[1; KEY], 5))
}

/// A driver of an entropy device that does what the bytes say.
pub fn hostile_entropy(bytes: &[u8]) {
    hostile(entropy, bytes, |_, _| ());
}

/// A driver of a console that does what the bytes say, to the rings too; and the screen that its text is shown on.
///
/// # Panics
///
/// As [`hostile`], or a line is shown that is another console's, or acts on a terminal.
pub fn hostile_console(bytes: &[u8]) {
    clear_rings();
    let name = Name::new("own").expect("it is a name");
    let mut line = Line::new();
    hostile(console, bytes, |place, value| {
        set_time(NOW.get() + u64::from(place));
        let [output, input] = rings();
        if place % 4 == 0 {
            RINGS.with(|rings| _ = rings[1].write(value % 200, &value.to_le_bytes()));
        }
        if place % 4 == 1 {
            RINGS.with(|rings| _ = rings[0].write(value % 200, &value.to_le_bytes()));
        }
        if input.room() > 0 {
            input.write(&[value as u8], Mark::default());
        }
        let mut text = [0; 300];
        let count = output.peek(value as usize % 64, &mut text);
        let mut screen = String::new();
        for byte in &text[..count] {
            if line.push(*byte) {
                line.show(name, &mut screen).expect("there is room");
            }
        }
        output.skip(count);
        for line in screen.split_terminator('\n') {
            assert!(
                line.starts_with("own: ") && !line.contains(char::is_control),
                "{line:?}"
            );
        }
    });
}

/// Calls `each` with the files of a fuzz target's corpus; how many there are.
///
/// # Panics
///
/// They cannot be read.
pub fn each_of_corpus(target: &str, each: fn(&[u8])) -> usize {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/");
    let files = std::fs::read_dir(format!("{corpus}{target}")).expect("the corpus");
    files
        .map(|file| each(&std::fs::read(file.expect("an entry").path()).expect("it can be read")))
        .count()
}

/// Does what the bytes say: each step is a byte, two of a place, and eight of a value, which `also` is told then.
///
/// # Panics
///
/// An access takes more steps than any may, or the device panics.
fn hostile<D: Device>(make: fn() -> D, bytes: &[u8], mut also: impl FnMut(u16, u64)) {
    let memory = MEMORY_OF.with(|memory| *memory);
    memory.write(BASE, &[0; MEMORY]).expect("all of it");
    let mut machine = AnyMachine::of(memory, make);
    for step in bytes.as_chunks::<11>().0 {
        let place = u16::from_le_bytes([step[1], step[2]]);
        let mut value = [0; 8];
        value.copy_from_slice(&step[3..]);
        let number = u64::from_le_bytes(value);
        match step[0] % 6 {
            0 => machine.start(),
            1 => {
                let address = BUFFERS + u64::from(place);
                let buffer = (address, number as u32 >> 16, number & 1 != 0);
                let second = (address, (number >> 32) as u32, number & 2 != 0);
                let count = 1 + (number as usize >> 2) % 2;
                machine.request(number as usize >> 3 & 1, &[buffer, second][..count]);
            }
            // A part may be outside.
            2 => drop(memory.write(BASE + u64::from(place), &value)),
            3 => machine.restart(),
            kind => {
                machine.memory.left.set(Some(ACCESSES_MAX));
                machine
                    .device
                    .access(u32::from(place) & 0x1fc, 4, (kind == 4).then_some(number));
                machine.memory.left.set(None);
            }
        }
        also(place, number);
    }
}
