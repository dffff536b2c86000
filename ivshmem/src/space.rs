//! The function's configuration space: the header of PCI Local Bus Specification 3.0, and ivshmem's capability.

use crate::REGISTERS;

/// Registers by their offsets, each 32 bits.
pub mod register {
    /// Vendor and device.
    pub const ID: u32 = 0x00;
    /// Command, and status in the upper half.
    pub const COMMAND: u32 = 0x04;
    /// Revision and class.
    pub const CLASS: u32 = 0x08;
    /// BAR 0.
    pub const BAR0: u32 = 0x10;
    /// BAR 2 of version 1, the shared memory: 64 bits.
    pub const BAR2: u32 = 0x18;
    /// Vendor and device of the subsystem.
    pub const SUBSYSTEM: u32 = 0x2c;
    /// Where the first capability is.
    pub const CAPABILITIES: u32 = 0x34;
    /// Interrupt line and pin.
    pub const INTERRUPT: u32 = 0x3c;
    /// The vendor-specific capability: its identifier, the next one, its length, and Privileged Control.
    pub const CAPABILITY: u32 = 0x40;
    /// Bytes of the state table.
    pub const TABLE_SIZE: u32 = 0x44;
    /// Bytes of the section that all peers read and write: 64 bits.
    pub const SHARED_SIZE: u32 = 0x48;
    /// Bytes of each output section: 64 bits.
    pub const OUTPUT_SIZE: u32 = 0x50;
    /// Address of the shared memory: 64 bits.
    pub const BASE: u32 = 0x58;
}

/// Bits of Command.
pub mod command {
    /// The registers are decoded.
    pub const MEMORY: u16 = 1 << 1;
    /// The function may access memory, which it never does.
    pub const MASTER: u16 = 1 << 2;
    /// The function does not interrupt.
    pub const INTERRUPT_DISABLE: u16 = 1 << 10;
    /// Those that can be written.
    pub const WRITABLE: u16 = MEMORY | MASTER | INTERRUPT_DISABLE;
}

/// Vendor: Siemens.
pub const VENDOR: u16 = 0x110a;
/// Device: ivshmem version 2.
pub const DEVICE: u16 = 0x4106;
/// Status: there are capabilities.
const STATUS: u32 = 0x10 << 16;
/// Base class: none of those that are defined.
const CLASS: u32 = 0xff << 24;
/// Interrupt pin: INTA.
const PIN: u32 = 1 << 8;
/// The capability's identifier, vendor-specific; no next one; its length.
const CAPABILITY: u32 = 0x20 << 16 | 0x09;
/// Where bit 0 of Privileged Control is, one-shot interrupts, in the capability's first register.
pub const ONE_SHOT: u32 = 1 << 24;

/// Vendor and device of version 1: Red Hat's for virtual devices, and ivshmem.
pub const ID_OF_VERSION_1: u32 = 0x1110_1af4;
/// Those of its subsystem.
const SUBSYSTEM_OF_VERSION_1: u32 = 0x1100_1af4;
/// Class of version 1: memory. Its revision.
const CLASS_OF_VERSION_1: u32 = 0x05 << 24 | 1;
/// A BAR of memory of 64 bits that is prefetchable.
const PREFETCHABLE_64: u32 = 0xc;

/// Of ivshmem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// Version 1 without interrupts, as QEMU's `ivshmem-plain`: the section that all peers read and write is BAR 2, and
    /// the registers are zero.
    One,
    /// Version 2.
    #[default]
    Two,
}

/// What all peers of a link have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// The version of the functions.
    pub version: Version,
    /// The protocol that the peers use, of which the device knows nothing.
    pub protocol: u16,
    /// Bytes of the state table.
    pub table: u32,
    /// Bytes that all peers read and write, behind it.
    pub shared: u64,
    /// Bytes of each peer's output section, behind that, in the order of the peers.
    pub output: u64,
}

/// Where a peer has the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// BAR 0, in the addresses of the bus.
    pub registers: u32,
    /// The shared memory.
    pub memory: u64,
}

/// What of a configuration space can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    place: Place,
    /// Command.
    pub(crate) command: u16,
    /// BAR 0.
    pub(crate) bar: u32,
    /// Interrupt Control is cleared by an interrupt.
    pub(crate) one_shot: bool,
    /// BAR 2, which decides nothing: the shared memory stays where it is.
    bar2: Option<u64>,
}

impl Space {
    /// As at reset.
    pub const fn new(place: Place) -> Self {
        Self {
            place,
            command: 0,
            bar: place.registers,
            one_shot: false,
            bar2: None,
        }
    }

    /// As it was saved. What cannot be is made as it can be.
    pub const fn restored(place: Place, command: u16, bar: u32, one_shot: bool) -> Self {
        Self {
            place,
            command: command & command::WRITABLE,
            bar: bar & !(REGISTERS - 1),
            one_shot,
            bar2: None,
        }
    }

    /// Whether loads and stores at BAR 0's place reach the registers.
    pub const fn is_decoded(&self) -> bool {
        self.command & command::MEMORY != 0 && self.bar == self.place.registers
    }

    /// Whether the function may interrupt.
    pub const fn may_interrupt(&self) -> bool {
        self.command & command::INTERRUPT_DISABLE == 0
    }

    /// Where BAR 2 has its place: the section that all peers read and write.
    pub(crate) const fn shared(&self, sections: &Sections) -> u64 {
        self.place.memory + sections.table as u64
    }

    const fn bar2(&self, sections: &Sections) -> u64 {
        match self.bar2 {
            Some(bar) => bar,
            None => self.shared(sections),
        }
    }

    /// The register at that offset, a multiple of 4.
    const fn register(&self, offset: u32, sections: &Sections) -> u32 {
        const fn half(value: u64, offset: u32) -> u32 {
            (value >> (8 * (offset & 4))) as u32
        }
        const SHARED_HIGH: u32 = register::SHARED_SIZE + 4;
        const OUTPUT_HIGH: u32 = register::OUTPUT_SIZE + 4;
        const BASE_HIGH: u32 = register::BASE + 4;
        const BAR2_HIGH: u32 = register::BAR2 + 4;
        if matches!(sections.version, Version::One) {
            return match offset {
                register::ID => ID_OF_VERSION_1,
                register::COMMAND => self.command as u32,
                register::CLASS => CLASS_OF_VERSION_1,
                register::BAR0 => self.bar,
                register::BAR2 => self.bar2(sections) as u32 | PREFETCHABLE_64,
                BAR2_HIGH => half(self.bar2(sections), offset),
                register::SUBSYSTEM => SUBSYSTEM_OF_VERSION_1,
                _ => 0,
            };
        }
        match offset {
            register::ID | register::SUBSYSTEM => (DEVICE as u32) << 16 | VENDOR as u32,
            register::COMMAND => STATUS | self.command as u32,
            register::CLASS => CLASS | (sections.protocol as u32) << 8,
            register::BAR0 => self.bar,
            register::CAPABILITIES => register::CAPABILITY,
            register::INTERRUPT => PIN,
            register::CAPABILITY => CAPABILITY | if self.one_shot { ONE_SHOT } else { 0 },
            register::TABLE_SIZE => sections.table,
            register::SHARED_SIZE | SHARED_HIGH => half(sections.shared, offset),
            register::OUTPUT_SIZE | OUTPUT_HIGH => half(sections.output, offset),
            register::BASE | BASE_HIGH => half(self.place.memory, offset),
            _ => 0,
        }
    }

    /// Loads 1, 2 or 4 bytes at a multiple of their number.
    pub const fn load(&self, offset: u32, size: u8, sections: &Sections) -> u64 {
        let register = self.register(offset & !3, sections) >> (8 * (offset & 3));
        register as u64 & (u32::MAX >> (32 - 8 * size as u32)) as u64
    }

    /// Stores 1, 2 or 4 bytes at a multiple of their number.
    pub const fn store(&mut self, offset: u32, size: u8, value: u32, sections: &Sections) {
        let (register, shift) = (offset & !3, 8 * (offset & 3));
        let mask = (u32::MAX >> (32 - 8 * size as u32)) << shift;
        let old = self.register(register, sections);
        let new = old & !mask | value << shift & mask;
        if matches!(sections.version, Version::One) {
            const BAR2_HIGH: u32 = register::BAR2 + 4;
            let bar2 = self.bar2(sections);
            let bar2 = match register {
                register::BAR2 => bar2 >> 32 << 32 | new as u64,
                BAR2_HIGH => (new as u64) << 32 | bar2 & u32::MAX as u64,
                register::CAPABILITY => return,
                _ => bar2,
            };
            self.bar2 = Some(bar2 & !(sections.shared - 1));
        }
        match register {
            register::COMMAND => self.command = new as u16 & command::WRITABLE,
            register::BAR0 => self.bar = new & !(REGISTERS - 1),
            register::CAPABILITY => self.one_shot = new & ONE_SHOT != 0,
            _ => {}
        }
    }
}
