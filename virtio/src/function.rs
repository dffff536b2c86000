//! A virtio PCI function (virtio 1.2, section 4.1), for a service VM that has one: its structures, and how it is begun.

use crate::mmio::{ACCESS_PLATFORM, VERSION_1, status};
use crate::requester::Parts;

/// Accesses to configuration spaces and registers of functions, by their addresses for this VM.
pub trait Bus {
    /// Reads a byte.
    fn read_byte(&self, address: u64) -> u8;
    /// Reads two bytes, aligned.
    fn read_half(&self, address: u64) -> u16;
    /// Reads four bytes, aligned.
    fn read_word(&self, address: u64) -> u32;
    /// Writes a byte.
    fn write_byte(&self, address: u64, value: u8);
    /// Writes two bytes, aligned.
    fn write_half(&self, address: u64, value: u16);
    /// Writes four bytes, aligned.
    fn write_word(&self, address: u64, value: u32);
}

/// The vendor of virtio functions, and the device of kind 0 (section 4.1.2).
const VENDOR: u16 = 0x1af4;
const FIRST_DEVICE: u16 = 0x1040;

/// Registers of the configuration space (PCI Local Bus Specification 3.0, chapter 6).
mod space {
    pub const VENDOR: u64 = 0;
    pub const DEVICE: u64 = 2;
    pub const COMMAND: u64 = 4;
    pub const FIRST_BAR: u64 = 0x10;
    pub const CAPABILITIES: u64 = 0x34;
    /// Memory space, bus master; INTx is not disabled.
    pub const ENABLED: u16 = 6;
    /// The vendor's own capability.
    pub const VENDOR_SPECIFIC: u8 = 9;
    /// Capabilities begin behind the header, each at a multiple of 4.
    pub const HEADER: u8 = 0x40;
    pub const CAPABILITIES_MAX: usize = (0x100 - 0x40) / 4;
}

/// Fields of a virtio capability (section 4.1.4).
mod capability {
    pub const NEXT: u64 = 1;
    pub const KIND: u64 = 3;
    pub const BAR: u64 = 4;
    pub const OFFSET: u64 = 8;
    pub const LENGTH: u64 = 12;
    pub const MULTIPLIER: u64 = 16;
    /// Where the last one can be; one with a multiplier is in front of that.
    pub const LAST: u8 = 0xf0;
    pub const COMMON: usize = 1;
    pub const NOTIFY: usize = 2;
    pub const INTERRUPT: usize = 3;
    pub const DEVICE: usize = 4;
    /// One more than the last kind that matters.
    pub const KINDS: usize = 5;
}

/// Registers of the common structure (section 4.1.4.3).
mod common {
    pub const DEVICE_FEATURE_SELECT: u64 = 0;
    pub const DEVICE_FEATURE: u64 = 4;
    pub const DRIVER_FEATURE_SELECT: u64 = 8;
    pub const DRIVER_FEATURE: u64 = 12;
    pub const STATUS: u64 = 20;
    pub const QUEUE_SELECT: u64 = 22;
    pub const QUEUE_SIZE: u64 = 24;
    pub const QUEUE_ENABLE: u64 = 28;
    pub const QUEUE_NOTIFY: u64 = 30;
    pub const QUEUE_DESCRIPTORS: u64 = 32;
    pub const QUEUE_AVAILABLE: u64 = 40;
    pub const QUEUE_USED: u64 = 48;
    pub const SIZE: u64 = 56;
}

/// Reads until a function that was reset has to say so.
const RESET_READS: u32 = 1_000_000;

/// Why a function cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Its structures are not there, or not in its registers.
    Structure,
    /// It does not end its reset.
    Reset,
    /// It does not agree on features, or does not comply with virtio 1.
    Features,
    /// Its queue is smaller, or is not there.
    Queue,
}

impl Lack {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Structure => "the function's structures are not in its registers",
            Self::Reset => "the function does not end its reset",
            Self::Features => "the function does not agree on features",
            Self::Queue => "the function's queue is too small",
        }
    }
}

/// A structure in a function's registers.
#[derive(Clone, Copy, Debug, Default)]
struct Structure {
    at: u64,
    length: u64,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Function<B> {
    bus: B,
    common: Structure,
    notify: Structure,
    interrupt: Structure,
    device: Structure,
    multiplier: u64,
}

impl<B: Bus> Function<B> {
    /// Whether the function with this configuration space is a virtio device of that kind (section 5).
    pub fn is_there(bus: &B, space: u64, kind: u32) -> bool {
        bus.read_half(space + space::VENDOR) == VENDOR
            && u32::from(bus.read_half(space + space::DEVICE)) == u32::from(FIRST_DEVICE) + kind
    }

    /// The function with this configuration space, whose registers are in the `window` of the bus's memory.
    ///
    /// # Errors
    ///
    /// [`Lack::Structure`].
    pub fn find(bus: B, space: u64, window: core::ops::Range<u64>) -> Result<Self, Lack> {
        bus.write_half(space + space::COMMAND, space::ENABLED);
        let mut found = [Structure::default(); capability::KINDS];
        let mut multiplier = 0;
        let mut at = bus.read_byte(space + space::CAPABILITIES) & !3;
        for _ in 0..space::CAPABILITIES_MAX {
            if at < space::HEADER {
                break;
            }
            let own = space + u64::from(at);
            let kind = usize::from(bus.read_byte(own + capability::KIND));
            let is_virtio = at <= capability::LAST && bus.read_byte(own) == space::VENDOR_SPECIFIC;
            // The first of each kind counts, as the device prefers it (section 4.1.4.1).
            if let Some(structure) = found.get_mut(kind).filter(|one| is_virtio && one.at == 0) {
                let bar = u64::from(bus.read_byte(own + capability::BAR));
                if bar < 6 {
                    let base = bus.read_word(space + space::FIRST_BAR + 4 * bar) & !0xf;
                    let offset = bus.read_word(own + capability::OFFSET);
                    structure.at = u64::from(base) + u64::from(offset);
                    structure.length = bus.read_word(own + capability::LENGTH).into();
                }
                if kind == capability::NOTIFY && at < capability::LAST {
                    multiplier = bus.read_word(own + capability::MULTIPLIER);
                }
            }
            at = bus.read_byte(own + capability::NEXT) & !3;
        }
        let part = |kind: usize, least: u64| {
            let own = found[kind];
            let end = own.at.checked_add(own.length).ok_or(Lack::Structure)?;
            let is_within = window.start <= own.at && end <= window.end && own.length >= least;
            let is_aligned = own.at.is_multiple_of(4) || kind == capability::INTERRUPT;
            if is_within && is_aligned {
                Ok(own)
            } else {
                Err(Lack::Structure)
            }
        };
        Ok(Self {
            common: part(capability::COMMON, common::SIZE)?,
            notify: part(capability::NOTIFY, 2)?,
            interrupt: part(capability::INTERRUPT, 1)?,
            device: part(capability::DEVICE, 4)?,
            multiplier: multiplier.into(),
            bus,
        })
    }

    /// Resets it, and agrees on those of the `wanted` features that it has (section 3.1.1): they are returned. Queues
    /// come next, then [`Function::go`].
    ///
    /// # Errors
    ///
    /// [`Lack::Reset`], [`Lack::Features`].
    pub fn begin(&self, wanted: u64) -> Result<u64, Lack> {
        let common = self.common.at;
        self.set_status(0);
        if !(0..RESET_READS).any(|_| self.status() == 0) {
            return Err(Lack::Reset);
        }
        self.set_status(status::ACKNOWLEDGE | status::DRIVER);
        let mut offered = 0;
        for half in 0..2 {
            self.bus
                .write_word(common + common::DEVICE_FEATURE_SELECT, half);
            let word = self.bus.read_word(common + common::DEVICE_FEATURE);
            offered |= u64::from(word) << (32 * half);
        }
        if offered & VERSION_1 == 0 {
            return Err(Lack::Features);
        }
        let agreed = offered & (wanted | VERSION_1 | ACCESS_PLATFORM);
        for half in 0..2 {
            self.bus
                .write_word(common + common::DRIVER_FEATURE_SELECT, half);
            let word = (agreed >> (32 * half)) as u32;
            self.bus.write_word(common + common::DRIVER_FEATURE, word);
        }
        let ready = status::ACKNOWLEDGE | status::DRIVER | status::FEATURES_OK;
        self.set_status(ready);
        if self.status() & status::FEATURES_OK == 0 {
            return Err(Lack::Features);
        }
        Ok(agreed)
    }

    /// Gives it a queue of `size` entries. Returns the address to announce requests of that queue at.
    ///
    /// # Errors
    ///
    /// [`Lack::Queue`]; [`Lack::Structure`]: the address is not in its registers.
    pub fn set_queue(&self, number: u16, size: u16, parts: Parts) -> Result<u64, Lack> {
        let common = self.common.at;
        self.bus.write_half(common + common::QUEUE_SELECT, number);
        if self.bus.read_half(common + common::QUEUE_SIZE) < size {
            return Err(Lack::Queue);
        }
        self.bus.write_half(common + common::QUEUE_SIZE, size);
        for (register, address) in [
            (common::QUEUE_DESCRIPTORS, parts.descriptors),
            (common::QUEUE_AVAILABLE, parts.available),
            (common::QUEUE_USED, parts.used),
        ] {
            self.bus.write_word(common + register, address as u32);
            self.bus
                .write_word(common + register + 4, (address >> 32) as u32);
        }
        self.bus.write_half(common + common::QUEUE_ENABLE, 1);
        let offset = u64::from(self.bus.read_half(common + common::QUEUE_NOTIFY)) * self.multiplier;
        if offset + 2 > self.notify.length || !offset.is_multiple_of(2) {
            return Err(Lack::Structure);
        }
        Ok(self.notify.at + offset)
    }

    /// It begins to serve its queues.
    pub fn go(&self) {
        self.set_status(
            status::ACKNOWLEDGE | status::DRIVER | status::FEATURES_OK | status::DRIVER_OK,
        );
    }

    fn status(&self) -> u32 {
        self.bus.read_byte(self.common.at + common::STATUS).into()
    }

    fn set_status(&self, status: u32) {
        let address = self.common.at + common::STATUS;
        self.bus.write_byte(address, status as u8);
    }

    /// Whether it cannot go on (section 2.1.2).
    pub fn needs_reset(&self) -> bool {
        self.status() & status::NEEDS_RESET != 0
    }

    /// Why it interrupts (`mmio::interrupt`): it does so no more (section 4.1.4.5).
    pub fn take_reasons(&self) -> u32 {
        self.bus.read_byte(self.interrupt.at).into()
    }

    /// Tells it that requests wait in a queue, by the address and the number that the queue has.
    pub fn notify(&self, address: u64, queue: u16) {
        self.bus.write_half(address, queue);
    }

    /// Four bytes of its configuration; 0 where there are none.
    pub fn configuration(&self, offset: u64) -> u32 {
        if offset + 4 <= self.device.length {
            self.bus.read_word(self.device.at + offset)
        } else {
            0
        }
    }
}
