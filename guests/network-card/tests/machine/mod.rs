//! Drivers and their devices, which are cards of one switch, in memory of this process.

#![allow(dead_code, reason = "not every user uses all of it")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tactus_network_card::{Card, FRAME_MAX, FRAMES, MEMORY, Registers, Shared, StartError};
use tactus_virtio::memory::{Memory as _, Window};
use tactus_virtio::mmio::{Port, Saved, WORDS};
use tactus_virtio::switch::{Bucket, Card as Device, PortSettings, Switch};

/// Where drivers have their memory, for the devices.
const THERE: u64 = 0x3000_2000;

/// Registers that are kept for a device's next life.
#[derive(Clone, Default)]
struct Kept(Rc<[Cell<u64>; WORDS]>);

impl Saved for Kept {
    fn load(&self, number: usize) -> u64 {
        self.0[number].get()
    }

    fn store(&self, number: usize, word: u64) {
        self.0[number].set(word);
    }
}

/// The registers of a device.
#[derive(Clone)]
pub struct Bus(Rc<RefCell<Port<Device<'static>, Window, Kept>>>);

impl Bus {
    fn access(&self, offset: u32, store: Option<u32>) -> u32 {
        // As often as the device wants, which completes a request each time.
        for _ in 0..=FRAMES {
            let mut port = self.0.borrow_mut();
            let outcome = port.access(offset, 4, store.map(u64::from));
            if !outcome.again {
                return outcome.value as u32;
            }
        }
        panic!("an access takes more pieces than there are requests");
    }
}

impl Registers for Bus {
    fn load(&self, offset: u32) -> u32 {
        self.access(offset, None)
    }

    fn store(&self, offset: u32, value: u32) {
        self.access(offset, Some(value));
    }
}

/// Memory of a driver, that is there for ever: its address for the driver, and the device's window to it.
fn memory() -> (usize, Window) {
    let words = Box::leak(vec![0u128; MEMORY.div_ceil(16)].into_boxed_slice());
    let here = words.as_mut_ptr() as usize;
    // SAFETY: leaked. The driver's accesses and the window's are on one thread, by raw pointers and atomics.
    (here, unsafe { Window::new(here, MEMORY, THERE) })
}

fn shared(here: usize) -> Shared {
    // SAFETY: as above.
    unsafe { Shared::new(here, THERE) }
}

/// Two machines at a switch.
pub struct Machine {
    pub cards: [Card<Bus>; 2],
    places: [Place; 2],
    switch: &'static RefCell<Switch>,
}

/// A driver's memory, as it and its device have it, and the device.
#[derive(Clone)]
struct Place {
    here: usize,
    window: Window,
    bus: Bus,
    kept: Kept,
}

impl Machine {
    pub const fn address(number: u8) -> [u8; 6] {
        [2, 0, 0, 0, 0, number]
    }

    pub fn new() -> Self {
        let switch: &RefCell<Switch> = Box::leak(Box::new(RefCell::new(Switch::new())));
        let places = [0u8, 1].map(|number| {
            let settings = PortSettings {
                address: Self::address(number),
                vlan: 0,
                bytes: Bucket::new(0, 0, 1000),
                group_frames: Bucket::new(0, 0, 1000),
            };
            assert!(switch.borrow_mut().add(number.into(), settings));
            let (here, window) = memory();
            let device = Device::new(switch, number.into());
            let kept = Kept::default();
            let port = Port::new(device, window, kept.clone());
            Place {
                here,
                window,
                bus: Bus(Rc::new(RefCell::new(port))),
                kept,
            }
        });
        let cards = [0, 1].map(|number: usize| start(&places[number]));
        Self {
            cards,
            places,
            switch,
        }
    }

    /// A device begins another life, with the registers of the one before.
    pub fn restart_device(&mut self, number: usize) {
        let place = &self.places[number];
        let device = Device::new(self.switch, number);
        *place.bus.0.borrow_mut() = Port::new(device, place.window, place.kept.clone());
    }

    /// A driver begins again.
    pub fn restart(&mut self, number: usize) {
        self.cards[number] = start(&self.places[number]);
    }

    pub fn receive(&mut self, number: usize) -> Option<Vec<u8>> {
        let mut frame = [0; FRAME_MAX];
        let length = self.cards[number].receive(&mut frame).expect("sound")?;
        Some(frame[..length].to_vec())
    }
}

fn start(place: &Place) -> Card<Bus> {
    match Card::start(place.bus.clone(), shared(place.here)) {
        Ok(card) => card,
        Err((error, _)) => panic!("{error:?}"),
    }
}

/// A device that is one but for a register.
struct Changed {
    bus: Bus,
    offset: u32,
    value: u32,
}

impl Registers for Changed {
    fn load(&self, offset: u32) -> u32 {
        if offset == self.offset {
            self.value
        } else {
            self.bus.load(offset)
        }
    }

    fn store(&self, offset: u32, value: u32) {
        self.bus.store(offset, value);
    }
}

/// Starts a card one of whose registers reads as something else.
pub fn start_with(offset: u32, value: u32) -> Result<(), StartError> {
    let machine = Machine::new();
    let Place { here, bus, .. } = machine.places[0].clone();
    let changed = Changed { bus, offset, value };
    Card::start(changed, shared(here))
        .map(drop)
        .map_err(|(error, _)| error)
}

/// A device that does what bytes say: each register reads as the next ones.
struct Hostile<'b> {
    bytes: Cell<&'b [u8]>,
    memory: Window,
}

impl Hostile<'_> {
    fn next<const N: usize>(&self) -> [u8; N] {
        let Some((first, rest)) = self.bytes.get().split_first_chunk() else {
            return [0; N];
        };
        self.bytes.set(rest);
        *first
    }

    /// Writes some of the driver's memory, rings more often than buffers.
    fn scribble(&self) {
        for _ in 0..self.next::<1>()[0] % 16 {
            let place = u64::from(u16::from_le_bytes(self.next()));
            let half = place % 2 * (MEMORY as u64 / 2);
            let at = half + place / 2 % 0x240;
            let small = u64::from(self.next::<1>()[0] % 20);
            // It is within.
            let _ = self.memory.write(THERE + at, &small.to_le_bytes()[..2]);
        }
    }
}

impl Registers for Hostile<'_> {
    fn load(&self, offset: u32) -> u32 {
        self.scribble();
        // With the right name, or there is nothing to see.
        match offset {
            0 => u32::from_le_bytes(*b"virt"),
            4 => 2,
            8 => 1,
            0x10 => u32::MAX,
            0x34 => 256,
            0x70 => 8,
            _ => u32::from_le_bytes(self.next()),
        }
    }

    fn store(&self, _: u32, _: u32) {
        self.scribble();
    }
}

thread_local! {
    /// Memory of one machine after the other.
    static MEMORIES: (usize, Window) = memory();
}

/// A driver that does what the bytes say, with a device that does so too.
///
/// # Panics
///
/// The driver does.
pub fn hostile(bytes: &[u8]) {
    let (here, memory) = MEMORIES.with(|memory| *memory);
    let half = bytes.len() / 2;
    let (steps, bytes) = bytes.split_at(half);
    let device = Hostile {
        bytes: Cell::new(bytes),
        memory,
    };
    let Ok(mut card) = Card::start(device, shared(here)) else {
        return;
    };
    let mut frame = [0; FRAME_MAX];
    for step in steps {
        let is_broken = match step % 3 {
            0 => card.acknowledge().is_err(),
            1 => card.receive(&mut frame).is_err(),
            _ => card.send(&frame[..usize::from(*step)]).is_err(),
        };
        if is_broken {
            return;
        }
    }
}
