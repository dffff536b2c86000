//! The configuration space of a function: a header of type 0, base address registers and capabilities (PCI Express Base
//! Specification 5.0, section 7.5; PCI Local Bus Specification 3.0, chapter 6).

use crate::bus::BadState;
use crate::devices::state;

/// Bytes that have registers. Those behind, up to 4 KiB, read as zero: there are no extended capabilities.
const SIZE: usize = 256;
/// Registers of the header.
const COMMAND: usize = 0x04;
const STATUS: usize = 0x06;
const CACHE_LINE: usize = 0x0c;
const BARS: usize = 0x10;
const SUBSYSTEM: usize = 0x2c;
const CAPABILITIES: usize = 0x34;
const INTERRUPT_LINE: usize = 0x3c;
const INTERRUPT_PIN: usize = 0x3d;
/// Where the first capability is.
const FIRST_CAPABILITY: usize = 0x40;
/// Bits of `Command`.
const MEMORY_SPACE: u16 = 1 << 1;
const BUS_MASTER: u16 = 1 << 2;
const INTERRUPT_DISABLE: u16 = 1 << 10;
/// Bits of `Status`.
const INTERRUPT_STATUS: u8 = 1 << 3;
const CAPABILITIES_LIST: u8 = 1 << 4;
/// Bits of a base address register: memory, of 64 bits.
const BAR_WIDE: u8 = 2 << 1;

/// What a function is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub vendor: u16,
    pub device: u16,
    /// Class, subclass and interface, the class in the highest of three bytes.
    pub class: u32,
    pub revision: u8,
    pub subsystem_vendor: u16,
    pub subsystem: u16,
}

/// A base address register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar {
    /// Its number, 0 to 5; one of 64 bits takes the next, too.
    pub number: usize,
    /// Bytes: a power of two, 16 at least.
    pub size: u64,
    /// Whether it has 64 bits.
    pub wide: bool,
}

/// A function's configuration space.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    bytes: Vec<u8>,
    /// The bits that software can write.
    writable: Vec<u8>,
    /// The registers after a reset.
    initial: Vec<u8>,
    bars: Vec<Bar>,
    /// Where the last capability is, and where the next one goes.
    last: usize,
    next: usize,
}

impl Config {
    /// That of a function without base addresses, capabilities and interrupt.
    pub fn new(identity: Identity) -> Self {
        let mut bytes = vec![0; SIZE];
        bytes[0..2].copy_from_slice(&identity.vendor.to_le_bytes());
        bytes[2..4].copy_from_slice(&identity.device.to_le_bytes());
        let class = identity.class << 8 | u32::from(identity.revision);
        bytes[8..12].copy_from_slice(&class.to_le_bytes());
        bytes[SUBSYSTEM..SUBSYSTEM + 2].copy_from_slice(&identity.subsystem_vendor.to_le_bytes());
        bytes[SUBSYSTEM + 2..SUBSYSTEM + 4].copy_from_slice(&identity.subsystem.to_le_bytes());
        Self {
            initial: bytes.clone(),
            bytes,
            writable: vec![0; SIZE],
            bars: Vec::new(),
            last: CAPABILITIES,
            next: FIRST_CAPABILITY,
        }
    }

    /// The same with what every function has that answers, masters the bus and interrupts by INTA.
    pub fn of_endpoint(identity: Identity) -> Self {
        let mut config = Self::new(identity);
        let command = MEMORY_SPACE | BUS_MASTER | INTERRUPT_DISABLE;
        config.writable[COMMAND..COMMAND + 2].copy_from_slice(&command.to_le_bytes());
        config.writable[CACHE_LINE] = 0xff;
        config.writable[INTERRUPT_LINE] = 0xff;
        config.set(INTERRUPT_PIN, 1);
        config
    }

    /// Sets a byte that it has after reset.
    fn set(&mut self, offset: usize, value: u8) {
        self.bytes[offset] = value;
        self.initial[offset] = value;
    }

    /// The same with a base address register for memory.
    pub fn with_bar(mut self, bar: Bar) -> Self {
        let at = BARS + 4 * bar.number;
        let mask = (!(bar.size - 1)).to_le_bytes();
        let length = if bar.wide { 8 } else { 4 };
        self.writable[at..at + length].copy_from_slice(&mask[..length]);
        if bar.wide {
            self.set(at, BAR_WIDE);
        }
        self.bars.push(bar);
        self
    }

    /// Adds a capability: its number, what follows the pointer to the next one, and which bits of that can be written.
    /// Gives where it is.
    pub fn add_capability(&mut self, id: u8, body: &[u8], writable: &[(usize, u8)]) -> usize {
        let at = self.next;
        self.set(at, id);
        for (index, byte) in body.iter().enumerate() {
            self.set(at + 2 + index, *byte);
        }
        for (offset, bits) in writable {
            self.writable[at + offset] = *bits;
        }
        let pointer = if self.last == CAPABILITIES {
            self.set(STATUS, CAPABILITIES_LIST);
            CAPABILITIES
        } else {
            self.last + 1
        };
        self.set(pointer, at as u8);
        self.last = at;
        self.next = (at + 2 + body.len()).next_multiple_of(4);
        at
    }

    /// All registers are as after a reset.
    pub fn reset(&mut self) {
        self.bytes.copy_from_slice(&self.initial);
    }

    /// Reads `size` bytes.
    pub fn read(&self, offset: usize, size: u8) -> u64 {
        let byte = |index| self.bytes.get(index).copied().unwrap_or(0);
        (0..usize::from(size)).rev().fold(0, |value, index| {
            value << 8 | u64::from(byte(offset + index))
        })
    }

    /// Writes `size` bytes, so far as they can be written.
    pub fn write(&mut self, offset: usize, size: u8, value: u64) {
        for index in 0..usize::from(size) {
            let Some(byte) = self.bytes.get_mut(offset + index) else {
                return;
            };
            let mask = self.writable[offset + index];
            *byte = *byte & !mask | (value >> (8 * index)) as u8 & mask;
        }
    }

    /// Puts a number of up to 8 bytes into registers that software may not write.
    pub fn put(&mut self, offset: usize, size: u8, value: u64) {
        let length = usize::from(size);
        self.bytes[offset..offset + length].copy_from_slice(&value.to_le_bytes()[..length]);
    }

    fn command(&self) -> u16 {
        self.read(COMMAND, 2) as u16
    }

    /// Whether it may access memory (section 7.5.1.1.3).
    pub fn is_bus_master(&self) -> bool {
        self.command() & BUS_MASTER != 0
    }

    /// Shows in `Status` whether the function wants to interrupt. Gives whether it does: software can forbid it.
    pub fn interrupt(&mut self, wanted: bool) -> bool {
        self.bytes[STATUS] =
            self.bytes[STATUS] & !INTERRUPT_STATUS | if wanted { INTERRUPT_STATUS } else { 0 };
        wanted && self.command() & INTERRUPT_DISABLE == 0
    }

    /// The base address register that an address is decoded by, and the offset in it.
    pub fn decode(&self, address: u64) -> Option<(usize, u64)> {
        if self.command() & MEMORY_SPACE == 0 {
            return None;
        }
        self.bars.iter().find_map(|bar| {
            let width = if bar.wide { 8 } else { 4 };
            let base = self.read(BARS + 4 * bar.number, width) & !15;
            let offset = address.checked_sub(base)?;
            (offset < bar.size).then_some((bar.number, offset))
        })
    }

    pub fn save(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// Takes registers back; those that never change stay as they are.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        state::require(
            bytes.len() == SIZE,
            "pci",
            "a configuration space has another size",
        )?;
        self.bytes.copy_from_slice(&self.initial);
        for (offset, value) in bytes.iter().enumerate() {
            self.write(offset, 1, (*value).into());
        }
        self.bytes[STATUS] |= bytes[STATUS] & INTERRUPT_STATUS;
        Ok(())
    }
}
