//! The transport over memory-mapped registers (Virtual I/O Device specification 1.2, section 4.2, version 2, without
//! the legacy interface).

use super::core::{Core, replace_half};
use super::{Backend, QUEUE_SIZE_MAX};
use crate::bus::{BadState, Device, Port, Refused};
use crate::devices::dma::Direct;
use crate::devices::state;
use crate::memory::Memory;
use crate::time::Femtoseconds;
use virtio_bindings::virtio_mmio::{
    VIRTIO_MMIO_CONFIG, VIRTIO_MMIO_CONFIG_GENERATION, VIRTIO_MMIO_DEVICE_FEATURES,
    VIRTIO_MMIO_DEVICE_FEATURES_SEL, VIRTIO_MMIO_DEVICE_ID, VIRTIO_MMIO_DRIVER_FEATURES,
    VIRTIO_MMIO_DRIVER_FEATURES_SEL, VIRTIO_MMIO_INTERRUPT_ACK, VIRTIO_MMIO_INTERRUPT_STATUS,
    VIRTIO_MMIO_MAGIC_VALUE, VIRTIO_MMIO_QUEUE_AVAIL_HIGH, VIRTIO_MMIO_QUEUE_AVAIL_LOW,
    VIRTIO_MMIO_QUEUE_DESC_HIGH, VIRTIO_MMIO_QUEUE_DESC_LOW, VIRTIO_MMIO_QUEUE_NOTIFY,
    VIRTIO_MMIO_QUEUE_NUM, VIRTIO_MMIO_QUEUE_NUM_MAX, VIRTIO_MMIO_QUEUE_READY,
    VIRTIO_MMIO_QUEUE_SEL, VIRTIO_MMIO_QUEUE_USED_HIGH, VIRTIO_MMIO_QUEUE_USED_LOW,
    VIRTIO_MMIO_SHM_BASE_HIGH, VIRTIO_MMIO_SHM_BASE_LOW, VIRTIO_MMIO_SHM_LEN_HIGH,
    VIRTIO_MMIO_SHM_LEN_LOW, VIRTIO_MMIO_STATUS, VIRTIO_MMIO_VENDOR_ID, VIRTIO_MMIO_VERSION,
};

/// "virt", little-endian.
const MAGIC: u32 = 0x7472_6976;
const VERSION: u32 = 2;
/// "tact", little-endian.
const VENDOR: u32 = 0x7463_6174;
/// Where the registers end.
const END: u64 = 0x200;

/// A transport, with a device behind it or none.
#[derive(Debug)]
pub struct Virtio {
    line: u32,
    core: Option<Core>,
}

impl Virtio {
    /// A transport that interrupts on `line`, with a device.
    #[must_use]
    pub fn new(line: u32, backend: Box<dyn Backend>) -> Self {
        Self {
            line,
            core: Some(Core::new(backend, 0)),
        }
    }

    /// A transport without a device: drivers find the device number 0 and leave it alone (section 4.2.2).
    #[must_use]
    pub const fn empty(line: u32) -> Self {
        Self { line, core: None }
    }

    /// Resets it, as a driver does by writing 0 to its status. What is behind it stays: a disk keeps what was written.
    pub fn reset(&mut self, port: &mut Port<'_>) {
        if let Some(core) = &mut self.core {
            core.reset();
        }
        self.settle(port);
    }

    /// Does what is due, and asks for what is next.
    fn advance(&mut self, port: &mut Port<'_>) {
        if let Some(core) = &mut self.core {
            core.advance(&mut Direct(port.memory()), port.now());
        }
        self.settle(port);
    }

    /// Drives the line, and asks for the next waking.
    fn settle(&self, port: &mut Port<'_>) {
        let core = self.core.as_ref();
        port.interrupt(self.line, core.is_some_and(|core| core.interrupts() != 0));
        port.wake_at(core.map_or(Femtoseconds::NEVER, |core| core.next(port.now())));
    }

    fn read_register(&self, offset: u32) -> u32 {
        match offset {
            VIRTIO_MMIO_MAGIC_VALUE => return MAGIC,
            VIRTIO_MMIO_VERSION => return VERSION,
            VIRTIO_MMIO_VENDOR_ID => return VENDOR,
            _ => {}
        }
        let Some(core) = &self.core else {
            return 0;
        };
        match offset {
            VIRTIO_MMIO_DEVICE_ID => core.id(),
            VIRTIO_MMIO_DEVICE_FEATURES => core.device_features(),
            VIRTIO_MMIO_QUEUE_NUM_MAX => core.ring().map_or(0, |_| QUEUE_SIZE_MAX.into()),
            VIRTIO_MMIO_QUEUE_READY => core.ring().map_or(0, |ring| ring.ready.into()),
            VIRTIO_MMIO_INTERRUPT_STATUS => core.interrupts(),
            VIRTIO_MMIO_STATUS => core.status(),
            // A region of shared memory that does not exist has the length -1 (section 4.2.2).
            VIRTIO_MMIO_SHM_LEN_LOW
            | VIRTIO_MMIO_SHM_LEN_HIGH
            | VIRTIO_MMIO_SHM_BASE_LOW
            | VIRTIO_MMIO_SHM_BASE_HIGH => u32::MAX,
            VIRTIO_MMIO_CONFIG_GENERATION => 0,
            _ => 0,
        }
    }
}

fn write_register(core: &mut Core, offset: u32, value: u32, memory: &Memory) {
    match offset {
        VIRTIO_MMIO_DEVICE_FEATURES_SEL => core.select_device_features(value),
        VIRTIO_MMIO_DRIVER_FEATURES_SEL => core.select_driver_features(value),
        VIRTIO_MMIO_DRIVER_FEATURES => core.write_features(value),
        VIRTIO_MMIO_QUEUE_SEL => core.select_queue(value),
        VIRTIO_MMIO_INTERRUPT_ACK => core.acknowledge(value),
        VIRTIO_MMIO_STATUS => core.write_status(value),
        VIRTIO_MMIO_QUEUE_READY if value & 1 != 0 => core.enable_ring(&Direct(memory)),
        VIRTIO_MMIO_QUEUE_READY => core.disable_ring(),
        // What else there is belongs to a queue.
        _ => {
            let Some(ring) = core.ring_to_set() else {
                return;
            };
            match offset {
                VIRTIO_MMIO_QUEUE_NUM => ring.size = u16::try_from(value).unwrap_or(0),
                VIRTIO_MMIO_QUEUE_DESC_LOW => replace_half(&mut ring.descriptors, false, value),
                VIRTIO_MMIO_QUEUE_DESC_HIGH => replace_half(&mut ring.descriptors, true, value),
                VIRTIO_MMIO_QUEUE_AVAIL_LOW => replace_half(&mut ring.available, false, value),
                VIRTIO_MMIO_QUEUE_AVAIL_HIGH => replace_half(&mut ring.available, true, value),
                VIRTIO_MMIO_QUEUE_USED_LOW => replace_half(&mut ring.used, false, value),
                VIRTIO_MMIO_QUEUE_USED_HIGH => replace_half(&mut ring.used, true, value),
                _ => {}
            }
        }
    }
}

impl Device for Virtio {
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        let config = u64::from(VIRTIO_MMIO_CONFIG);
        if offset >= END || size == 8 && offset < config {
            return Err(Refused);
        }
        if offset >= config {
            let core = self.core.as_ref();
            return Ok(core.map_or(0, |core| core.read_config((offset - config) as usize, size)));
        }
        // Section 4.2.2.2: registers are read as words. Other sizes find nothing.
        if size != 4 {
            return Ok(0);
        }
        self.advance(port);
        Ok(self.read_register(offset as u32).into())
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        let config = u64::from(VIRTIO_MMIO_CONFIG);
        if offset >= END || size == 8 && offset < config {
            return Err(Refused);
        }
        // No device here has anything in its configuration space that a driver could write.
        if size == 4
            && offset < config
            && let Some(core) = &mut self.core
        {
            if offset as u32 != VIRTIO_MMIO_QUEUE_NOTIFY {
                write_register(core, offset as u32, value as u32, port.memory());
            }
            self.advance(port);
        }
        Ok(())
    }

    fn wake(&mut self, port: &mut Port<'_>) {
        self.advance(port);
    }

    fn save(&self) -> Vec<u8> {
        self.core.as_ref().map_or_else(Vec::new, Core::save)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        match &mut self.core {
            Some(core) => core.restore(bytes),
            None => state::require(bytes.is_empty(), "virtio", "it is of a device"),
        }
    }
}
