//! The transport as a PCI function (Virtual I/O Device specification 1.2, section 4.1, without the legacy interface).

use super::Backend;
use super::core::{Core, replace_half};
use crate::bus::BadState;
use crate::devices::dma::Dma;
use crate::devices::pci::{Bar, Config, Identity};
use crate::devices::state;
use crate::time::Femtoseconds;
use serde::{Deserialize, Serialize};
use virtio_bindings::virtio_config::VIRTIO_F_ACCESS_PLATFORM;
use virtio_bindings::virtio_ids::{VIRTIO_ID_BLOCK, VIRTIO_ID_NET};

/// Section 4.1.2: the vendor, and the number of device 0.
const VENDOR: u16 = 0x1af4;
const DEVICE: u16 = 0x1040;
/// What QEMU's devices without the legacy interface have as their subsystem.
const SUBSYSTEM: u16 = 0x1100;

/// The base address register of notifications, one word for each queue,
const NOTIFY_BAR: usize = 0;
const NOTIFY_STRIDE: u64 = 4;
/// and that of the other structures, a page for each.
const BAR: usize = 4;
const COMMON: u64 = 0;
const ISR: u64 = 0x1000;
const DEVICE_CONFIG: u64 = 0x2000;
const PAGE: u64 = 0x1000;

/// Capabilities: vendor-specific (section 4.1.4), and PCI Express (PCI Express Base Specification 5.0, section 7.5.3).
const VENDOR_SPECIFIC: u8 = 0x09;
const EXPRESS: u8 = 0x10;
/// Version 2, root complex integrated endpoint.
const EXPRESS_FLAGS: u16 = 0x92;
/// Role-based error reporting, and function-level reset.
const EXPRESS_DEVICE: u32 = 1 << 28 | 1 << 15;
/// Bytes of the capability behind its first two, and where `Device Control` is in it.
const EXPRESS_BODY: usize = 58;
const DEVICE_CONTROL: usize = 8;
/// Bits of `Device Control`: what is written and has no effect here, and the start of a function-level reset.
const DEVICE_CONTROL_BITS: u16 = 0x78ff;
const INITIATE_RESET: u64 = 1 << 15;

/// Kinds of structures (section 4.1.4).
const KIND_COMMON: u8 = 1;
const KIND_NOTIFY: u8 = 2;
const KIND_ISR: u8 = 3;
const KIND_DEVICE: u8 = 4;
const KIND_WINDOW: u8 = 5;
/// Registers of the last one, which is a window to the others: from its begin.
const WINDOW_BAR: usize = 4;
const WINDOW_OFFSET: usize = 8;
const WINDOW_LENGTH: usize = 12;
const WINDOW_DATA: usize = 16;

/// Registers of the common structure (section 4.1.4.3).
const DEVICE_FEATURE_SELECT: u64 = 0;
const DEVICE_FEATURE: u64 = 4;
const DRIVER_FEATURE_SELECT: u64 = 8;
const DRIVER_FEATURE: u64 = 12;
const CONFIG_VECTOR: u64 = 16;
const NUM_QUEUES: u64 = 18;
const STATUS: u64 = 20;
const QUEUE_SELECT: u64 = 22;
const QUEUE_SIZE: u64 = 24;
const QUEUE_VECTOR: u64 = 26;
const QUEUE_ENABLE: u64 = 28;
const QUEUE_NOTIFY_OFFSET: u64 = 30;
const QUEUE_DESCRIPTORS: u64 = 32;
const QUEUE_AVAILABLE: u64 = 40;
const QUEUE_USED: u64 = 48;
const QUEUE_NOTIFY_DATA: u64 = 56;
/// Where each begins, and its bytes.
const REGISTERS: [(u64, u8); 19] = [
    (DEVICE_FEATURE_SELECT, 4),
    (DEVICE_FEATURE, 4),
    (DRIVER_FEATURE_SELECT, 4),
    (DRIVER_FEATURE, 4),
    (CONFIG_VECTOR, 2),
    (NUM_QUEUES, 2),
    (STATUS, 1),
    // The configuration's generation: it never changes.
    (21, 1),
    (QUEUE_SELECT, 2),
    (QUEUE_SIZE, 2),
    (QUEUE_VECTOR, 2),
    (QUEUE_ENABLE, 2),
    (QUEUE_NOTIFY_OFFSET, 2),
    (QUEUE_DESCRIPTORS, 8),
    (QUEUE_AVAILABLE, 8),
    (QUEUE_USED, 8),
    (QUEUE_NOTIFY_DATA, 2),
    // Resets of single queues are a feature that is not offered.
    (58, 2),
    (60, 4),
];
/// No vector: there is no MSI-X.
const NO_VECTOR: u64 = 0xffff;

#[derive(Serialize, Deserialize)]
struct State {
    config: Vec<u8>,
    core: Vec<u8>,
    notified: bool,
    due: Femtoseconds,
}

/// A virtio device as a PCI function.
#[derive(Debug)]
pub struct VirtioFunction {
    config: Config,
    core: Core,
    /// It is to look at its queues: it was notified, or may do what it had to leave.
    notified: bool,
    /// When it goes on by itself.
    due: Femtoseconds,
    /// Where the PCI Express capability is, and the window to the structures.
    express: usize,
    window: usize,
}

impl VirtioFunction {
    /// The function of a device; `translated`: an IOMMU may be between it and memory.
    pub(crate) fn new(backend: Box<dyn Backend>, translated: bool) -> Self {
        let core = Core::new(backend, u64::from(translated) << VIRTIO_F_ACCESS_PLATFORM);
        let identity = Identity {
            vendor: VENDOR,
            device: DEVICE + core.id() as u16,
            class: match core.id() {
                // Mass storage, SCSI; network, Ethernet; as QEMU has them.
                VIRTIO_ID_BLOCK => 0x01_0000,
                VIRTIO_ID_NET => 0x02_0000,
                _ => 0xff_0000,
            },
            revision: 1,
            subsystem_vendor: VENDOR,
            subsystem: SUBSYSTEM,
        };
        let mut config = Config::of_endpoint(identity)
            .with_bar(Bar {
                number: NOTIFY_BAR,
                size: PAGE,
                wide: false,
            })
            .with_bar(Bar {
                number: BAR,
                size: 4 * PAGE,
                wide: true,
            });
        let express = config.add_capability(EXPRESS, &express(), &control_bits());
        let queues = core.queues() as u64;
        for (kind, bar, offset, length) in [
            (KIND_COMMON, BAR, COMMON, PAGE),
            (KIND_ISR, BAR, ISR, PAGE),
            (KIND_DEVICE, BAR, DEVICE_CONFIG, PAGE),
            (KIND_NOTIFY, NOTIFY_BAR, 0, queues * NOTIFY_STRIDE),
        ] {
            let body = structure(kind, bar, offset, length);
            config.add_capability(VENDOR_SPECIFIC, &body, &[]);
        }
        let all = |from: usize, count: usize| (from..from + count).map(|offset| (offset, 0xff));
        let writable: Vec<_> = all(WINDOW_BAR, 1)
            .chain(all(WINDOW_OFFSET, 4))
            .chain(all(WINDOW_LENGTH, 4))
            .chain(all(WINDOW_DATA, 4))
            .collect();
        let body = structure(KIND_WINDOW, 0, 0, 0);
        let window = config.add_capability(VENDOR_SPECIFIC, &body, &writable);
        Self {
            config,
            core,
            notified: false,
            due: Femtoseconds::NEVER,
            express,
            window,
        }
    }

    /// Does what is due, or was notified of, unless software has not let it master the bus: then it waits.
    pub(crate) fn advance(&mut self, dma: &mut dyn Dma, now: Femtoseconds) {
        if self.config.is_bus_master() && (self.notified || self.due <= now) {
            self.notified = false;
            self.core.advance(dma, now);
        }
    }

    /// Finds out when there is something to do next, if nothing happens before.
    pub(crate) fn next(&mut self, now: Femtoseconds) -> Femtoseconds {
        self.due = if self.config.is_bus_master() {
            self.core.next(now)
        } else {
            Femtoseconds::NEVER
        };
        self.due
    }

    /// Whether it interrupts.
    pub(crate) fn interrupts(&mut self) -> bool {
        self.config.interrupt(self.core.interrupts() != 0)
    }

    /// Reads a register of the configuration space.
    pub(crate) fn read_config(&mut self, offset: usize, size: u8) -> u64 {
        if let Some((bar, place, length)) = self.window_access(offset, size) {
            let value = self.read(bar, place, length);
            self.config.put(self.window + WINDOW_DATA, 4, value);
        }
        self.config.read(offset, size)
    }

    /// Writes a register of the configuration space.
    pub(crate) fn write_config(&mut self, offset: usize, size: u8, value: u64, dma: &mut dyn Dma) {
        self.config.write(offset, size, value);
        // It may have become a bus master.
        self.notified = true;
        let control = self.express + DEVICE_CONTROL;
        let resets = (control + 1).checked_sub(offset).is_some_and(|byte| {
            byte < usize::from(size) && value >> (8 * byte) << 8 & INITIATE_RESET != 0
        });
        if resets {
            // PCI Express Base Specification 5.0, section 6.6.2: what was under way is forgotten.
            self.config.reset();
            self.core.reset();
            self.notified = false;
        } else if let Some((bar, place, length)) = self.window_access(offset, size) {
            let data = self.config.read(self.window + WINDOW_DATA, length);
            self.write(bar, place, length, data, dma);
        }
    }

    /// The access that one to the window's data stands for (section 4.1.4.9): base address register, offset, size.
    fn window_access(&self, offset: usize, size: u8) -> Option<(usize, u64, u8)> {
        let data = self.window + WINDOW_DATA;
        let touched = offset < data + 4 && data < offset + usize::from(size);
        let bar = self.config.read(self.window + WINDOW_BAR, 1) as usize;
        let place = self.config.read(self.window + WINDOW_OFFSET, 4);
        let length = self.config.read(self.window + WINDOW_LENGTH, 4);
        (touched && matches!(length, 1 | 2 | 4) && place.is_multiple_of(length)).then_some((
            bar,
            place,
            length as u8,
        ))
    }

    /// The base address register that an address is decoded by, and the offset in it.
    pub(crate) fn decode(&self, address: u64) -> Option<(usize, u64)> {
        self.config.decode(address)
    }

    /// Reads what a base address register leads to.
    pub(crate) fn read(&mut self, bar: usize, offset: u64, size: u8) -> u64 {
        if bar != BAR {
            return 0;
        }
        match offset / PAGE * PAGE {
            COMMON => (0..u64::from(size)).rev().fold(0, |value, index| {
                value << 8 | u64::from(self.common_byte(offset + index))
            }),
            // Section 4.1.4.5: reading it takes the interrupt back.
            ISR if offset == ISR => {
                let interrupts = self.core.interrupts();
                self.core.acknowledge(interrupts);
                interrupts.into()
            }
            DEVICE_CONFIG => self
                .core
                .read_config((offset - DEVICE_CONFIG) as usize, size),
            _ => 0,
        }
    }

    /// Writes what a base address register leads to.
    pub(crate) fn write(
        &mut self,
        bar: usize,
        offset: u64,
        size: u8,
        value: u64,
        dma: &mut dyn Dma,
    ) {
        if bar == BAR && offset < PAGE {
            self.write_common(offset, size, value, dma);
        }
        // By a notification, or by what begins its work: a queue or the status.
        self.notified = true;
    }

    fn common_byte(&self, offset: u64) -> u8 {
        let Some((begin, _)) = REGISTERS
            .iter()
            .find(|(begin, size)| (*begin..begin + u64::from(*size)).contains(&offset))
        else {
            return 0;
        };
        (self.common(*begin) >> (8 * (offset - begin))) as u8
    }

    /// A register of the common structure. Those of a queue that does not exist are 0, also its size (section 4.1.4.3).
    fn common(&self, register: u64) -> u64 {
        let core = &self.core;
        let ring = core.ring();
        match register {
            DEVICE_FEATURE_SELECT => core.device_features_select().into(),
            DEVICE_FEATURE => core.device_features().into(),
            DRIVER_FEATURE_SELECT => core.driver_features_select().into(),
            DRIVER_FEATURE => core.driver_features().into(),
            CONFIG_VECTOR | QUEUE_VECTOR => NO_VECTOR,
            NUM_QUEUES => core.queues() as u64,
            STATUS => core.status().into(),
            QUEUE_SELECT => core.queue_select().into(),
            QUEUE_SIZE => ring.map_or(0, |ring| ring.size.into()),
            QUEUE_ENABLE => ring.map_or(0, |ring| ring.ready.into()),
            // The queue's number, and what its notifications carry.
            QUEUE_NOTIFY_OFFSET | QUEUE_NOTIFY_DATA => {
                ring.map_or(0, |_| core.queue_select().into())
            }
            QUEUE_DESCRIPTORS => ring.map_or(0, |ring| ring.descriptors),
            QUEUE_AVAILABLE => ring.map_or(0, |ring| ring.available),
            QUEUE_USED => ring.map_or(0, |ring| ring.used),
            _ => 0,
        }
    }

    /// Writes a register of the common structure: in its own width, or, of 64 bits, a half (section 4.1.3.1).
    fn write_common(&mut self, offset: u64, size: u8, value: u64, dma: &dyn Dma) {
        let word = value as u32;
        match (offset, size) {
            (DEVICE_FEATURE_SELECT, 4) => self.core.select_device_features(word),
            (DRIVER_FEATURE_SELECT, 4) => self.core.select_driver_features(word),
            (DRIVER_FEATURE, 4) => self.core.write_features(word),
            (STATUS, 1) => self.core.write_status(word),
            (QUEUE_SELECT, 2) => self.core.select_queue(word),
            (QUEUE_SIZE, 2) => {
                if let Some(ring) = self.core.ring_to_set() {
                    ring.size = word as u16;
                }
            }
            (QUEUE_ENABLE, 2) if word == 1 => self.core.enable_ring(dma),
            (QUEUE_DESCRIPTORS.., 4) => self.write_address(offset, word),
            (QUEUE_DESCRIPTORS.., 8) => {
                self.write_address(offset, word);
                self.write_address(offset + 4, (value >> 32) as u32);
            }
            _ => {}
        }
    }

    /// Writes half of an address of the selected queue.
    fn write_address(&mut self, offset: u64, value: u32) {
        let Some(ring) = self.core.ring_to_set() else {
            return;
        };
        let register = match offset & !7 {
            QUEUE_DESCRIPTORS => &mut ring.descriptors,
            QUEUE_AVAILABLE => &mut ring.available,
            QUEUE_USED => &mut ring.used,
            _ => return,
        };
        replace_half(register, offset & 4 != 0, value);
    }

    pub(crate) fn save(&self) -> Vec<u8> {
        state::save(&State {
            config: self.config.save(),
            core: self.core.save(),
            notified: self.notified,
            due: self.due,
        })
    }

    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let new: State = state::restore("virtio-pci", bytes)?;
        let mut config = self.config.clone();
        config.restore(&new.config)?;
        self.core.restore(&new.core)?;
        self.config = config;
        (self.notified, self.due) = (new.notified, new.due);
        Ok(())
    }
}

/// The PCI Express capability, behind its first two bytes.
fn express() -> [u8; EXPRESS_BODY] {
    let mut body = [0; EXPRESS_BODY];
    body[0..2].copy_from_slice(&EXPRESS_FLAGS.to_le_bytes());
    body[2..6].copy_from_slice(&EXPRESS_DEVICE.to_le_bytes());
    body
}

/// What can be written of it.
fn control_bits() -> [(usize, u8); 2] {
    let [low, high] = DEVICE_CONTROL_BITS.to_le_bytes();
    [(DEVICE_CONTROL, low), (DEVICE_CONTROL + 1, high)]
}

/// A capability that says where a structure is, behind its first two bytes (section 4.1.4).
fn structure(kind: u8, bar: usize, offset: u64, length: u64) -> Vec<u8> {
    // Behind it stands what the kind has beside: the multiplier of notifications' offsets, or the window's data.
    let own = match kind {
        KIND_NOTIFY => Some(NOTIFY_STRIDE as u32),
        KIND_WINDOW => Some(0),
        _ => None,
    };
    let size = if own.is_some() { 20 } else { 16 };
    let mut body = vec![size, kind, bar as u8, 0, 0, 0];
    body.extend((offset as u32).to_le_bytes());
    body.extend((length as u32).to_le_bytes());
    body.extend(own.map(u32::to_le_bytes).into_iter().flatten());
    body
}
