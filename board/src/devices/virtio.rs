//! virtio devices over memory-mapped registers (Virtual I/O Device specification 1.2; the transport is section 4.2,
//! version 2, without the legacy interface).
//!
//! A device serves one request of each queue at a time, and each takes a while of virtual time, never none: so
//! interrupts are asynchronous to the driver that asked, and no driver can keep a device busy within one call.
//!
//! A driver that hands over what makes no sense (a chain that is a loop, lies outside of memory, goes the wrong way, is
//! longer than [`LENGTH_MAX`], an index beyond the queue) finds `DEVICE_NEEDS_RESET` set in the status, and
//! the device does nothing until it is reset (section 2.1.1).

mod block;
mod chain;
mod console;
mod entropy;

pub use block::{Block, Disk, Latency};
pub use chain::{Chain, LENGTH_MAX};
pub use console::VirtioConsole;
pub use entropy::Entropy;

use super::state;
use crate::bus::{BadState, Device, Port, Refused};
use crate::memory::Memory;
use crate::time::Femtoseconds;
use serde::{Deserialize, Serialize};
use virtio_bindings::virtio_config::{
    VIRTIO_CONFIG_S_ACKNOWLEDGE, VIRTIO_CONFIG_S_DRIVER, VIRTIO_CONFIG_S_DRIVER_OK,
    VIRTIO_CONFIG_S_FAILED, VIRTIO_CONFIG_S_FEATURES_OK, VIRTIO_CONFIG_S_NEEDS_RESET,
    VIRTIO_F_VERSION_1,
};
use virtio_bindings::virtio_mmio::{
    VIRTIO_MMIO_CONFIG, VIRTIO_MMIO_CONFIG_GENERATION, VIRTIO_MMIO_DEVICE_FEATURES,
    VIRTIO_MMIO_DEVICE_FEATURES_SEL, VIRTIO_MMIO_DEVICE_ID, VIRTIO_MMIO_DRIVER_FEATURES,
    VIRTIO_MMIO_DRIVER_FEATURES_SEL, VIRTIO_MMIO_INT_CONFIG, VIRTIO_MMIO_INT_VRING,
    VIRTIO_MMIO_INTERRUPT_ACK, VIRTIO_MMIO_INTERRUPT_STATUS, VIRTIO_MMIO_MAGIC_VALUE,
    VIRTIO_MMIO_QUEUE_AVAIL_HIGH, VIRTIO_MMIO_QUEUE_AVAIL_LOW, VIRTIO_MMIO_QUEUE_DESC_HIGH,
    VIRTIO_MMIO_QUEUE_DESC_LOW, VIRTIO_MMIO_QUEUE_NOTIFY, VIRTIO_MMIO_QUEUE_NUM,
    VIRTIO_MMIO_QUEUE_NUM_MAX, VIRTIO_MMIO_QUEUE_READY, VIRTIO_MMIO_QUEUE_SEL,
    VIRTIO_MMIO_QUEUE_USED_HIGH, VIRTIO_MMIO_QUEUE_USED_LOW, VIRTIO_MMIO_SHM_BASE_HIGH,
    VIRTIO_MMIO_SHM_BASE_LOW, VIRTIO_MMIO_SHM_LEN_HIGH, VIRTIO_MMIO_SHM_LEN_LOW,
    VIRTIO_MMIO_STATUS, VIRTIO_MMIO_VENDOR_ID, VIRTIO_MMIO_VERSION,
};
use virtio_bindings::virtio_ring::{VIRTIO_RING_F_INDIRECT_DESC, VRING_AVAIL_F_NO_INTERRUPT};
use virtio_queue::{Queue, QueueOwnedT, QueueState, QueueT};
use vm_memory::{Bytes, GuestAddress};

/// "virt", little-endian.
const MAGIC: u32 = 0x7472_6976;
const VERSION: u32 = 2;
/// "tact", little-endian.
const VENDOR: u32 = 0x7463_6174;
/// Where the registers end.
const END: u64 = 0x200;

/// The largest size of each queue.
pub const QUEUE_SIZE_MAX: u16 = 256;

/// The shortest time of a request.
const LATENCY_MIN: Femtoseconds = Femtoseconds(1_000_000);

/// A driver passed an invalid descriptor or request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the driver's queue or request makes no sense")]
pub struct Malformed;

/// A request that has been served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// How many bytes were written, from the first writable one on (section 2.7.8).
    pub written: u32,
    /// After how long the driver learns of it; at least a nanosecond.
    pub latency: Femtoseconds,
}

/// The device behind a transport.
pub trait Backend: Send {
    /// The kind of device (section 5).
    fn id(&self) -> u32;

    /// Features of the device type (bits 0 to 23).
    fn features(&self) -> u64;

    /// How many queues it has.
    fn queues(&self) -> usize;

    /// Its configuration space; it never changes.
    fn config(&self) -> Vec<u8>;

    /// From when on it can serve a request of `queue`; [`Femtoseconds::NEVER`]: not before something happens.
    fn ready(&self, queue: usize) -> Femtoseconds {
        let _ = queue;
        Femtoseconds::default()
    }

    /// Serves a request.
    ///
    /// # Errors
    ///
    /// When it makes no sense: the device then needs to be reset.
    fn serve(
        &mut self,
        queue: usize,
        chain: &Chain<'_>,
        now: Femtoseconds,
    ) -> Result<Served, Malformed>;

    /// All of its state, for a snapshot.
    fn save(&self) -> Vec<u8>;

    /// Takes back what [`save`](Self::save) gave.
    ///
    /// # Errors
    ///
    /// When the bytes are not such a state; nothing has changed then.
    fn restore(&mut self, state: &[u8]) -> Result<(), BadState>;
}

/// A request that was served and of which the driver has not been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InFlight {
    head: u16,
    written: u32,
    due: Femtoseconds,
}

/// A queue's registers and position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Ring {
    size: u16,
    ready: bool,
    descriptors: u64,
    available: u64,
    used: u64,
    next_available: u16,
    next_used: u16,
    in_flight: Option<InFlight>,
}

impl Ring {
    const fn new() -> Self {
        Self {
            size: QUEUE_SIZE_MAX,
            ready: false,
            descriptors: 0,
            available: 0,
            used: 0,
            next_available: 0,
            next_used: 0,
            in_flight: None,
        }
    }

    /// The queue that the registers describe.
    fn queue(&self) -> Result<Queue, Malformed> {
        let state = QueueState {
            max_size: QUEUE_SIZE_MAX,
            next_avail: self.next_available,
            next_used: self.next_used,
            event_idx_enabled: false,
            size: self.size,
            ready: self.ready,
            desc_table: self.descriptors,
            avail_ring: self.available,
            used_ring: self.used,
        };
        Queue::try_from(state).map_err(|_| Malformed)
    }

    /// Takes the next chain that the driver has made available.
    fn take<'a>(&mut self, memory: &'a Memory) -> Result<Option<(u16, Chain<'a>)>, Malformed> {
        let mut queue = self.queue()?;
        let next = queue
            .iter(memory.guest())
            .map_err(|_| Malformed)?
            .next()
            .map(|descriptors| {
                let head = descriptors.head_index();
                Chain::new(memory, descriptors, self.size).map(|chain| (head, chain))
            });
        self.next_available = queue.next_avail();
        next.transpose()
    }

    /// Hands a chain back; whether the driver wants to be interrupted.
    fn give(&mut self, memory: &Memory, served: InFlight) -> Result<bool, Malformed> {
        let mut queue = self.queue()?;
        queue
            .add_used(memory.guest(), served.head, served.written)
            .map_err(|_| Malformed)?;
        self.next_used = queue.next_used();
        // Section 2.7.7: the flags of the available ring.
        let flags: u16 = memory
            .guest()
            .read_obj(GuestAddress(self.available))
            .map_err(|_| Malformed)?;
        Ok(u32::from(u16::from_le(flags)) & VRING_AVAIL_F_NO_INTERRUPT == 0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The kind of device; 0: none.
    id: u32,
    device_features_select: u32,
    driver_features_select: u32,
    driver_features: u64,
    queue_select: u32,
    status: u32,
    interrupts: u32,
    rings: Vec<Ring>,
    backend: Vec<u8>,
}

/// A transport, with a device behind it or none.
pub struct Virtio {
    line: u32,
    backend: Option<Box<dyn Backend>>,
    state: State,
}

impl std::fmt::Debug for Virtio {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Virtio")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// Replaces one half of a register of 64 bits.
const fn replace_half(register: &mut u64, high: bool, value: u32) {
    *register = if high {
        *register & 0xffff_ffff | (value as u64) << 32
    } else {
        *register & !0xffff_ffff | value as u64
    };
}

impl Virtio {
    /// A transport that interrupts on `line`, with a device.
    #[must_use]
    pub fn new(line: u32, backend: Box<dyn Backend>) -> Self {
        let (id, queues) = (backend.id(), backend.queues());
        Self {
            line,
            backend: Some(backend),
            state: State::new(id, queues),
        }
    }

    /// A transport without a device: drivers find the device number 0 and leave it alone (section 4.2.2).
    #[must_use]
    pub fn empty(line: u32) -> Self {
        Self {
            line,
            backend: None,
            state: State::new(0, 0),
        }
    }

    /// Resets it, as a driver does by writing 0 to its status. What is behind it stays: a disk keeps what was written.
    pub fn reset(&mut self, port: &mut Port<'_>) {
        self.write_status(0);
        self.settle(port);
    }

    /// Features offered to the driver.
    fn features(&self) -> u64 {
        let own = self
            .backend
            .as_ref()
            .map_or(0, |backend| backend.features());
        own | 1 << VIRTIO_F_VERSION_1 | 1 << VIRTIO_RING_F_INDIRECT_DESC
    }

    fn ring(&mut self) -> Option<&mut Ring> {
        self.state.rings.get_mut(self.state.queue_select as usize)
    }

    /// Whether the driver lets the device work.
    const fn runs(&self) -> bool {
        let status = self.state.status;
        status & VIRTIO_CONFIG_S_DRIVER_OK != 0
            && status & (VIRTIO_CONFIG_S_NEEDS_RESET | VIRTIO_CONFIG_S_FAILED) == 0
    }

    fn needs_reset(&mut self) {
        self.state.status |= VIRTIO_CONFIG_S_NEEDS_RESET;
        if self.state.status & VIRTIO_CONFIG_S_DRIVER_OK != 0 {
            self.state.interrupts |= VIRTIO_MMIO_INT_CONFIG;
        }
    }

    /// Does what is due and can be begun.
    fn advance(&mut self, memory: &Memory, now: Femtoseconds) {
        for index in 0..self.state.rings.len() {
            if self.runs() && self.advance_ring(index, memory, now).is_err() {
                self.needs_reset();
            }
        }
    }

    fn advance_ring(
        &mut self,
        index: usize,
        memory: &Memory,
        now: Femtoseconds,
    ) -> Result<(), Malformed> {
        let Some(backend) = &mut self.backend else {
            return Ok(());
        };
        let ring = &mut self.state.rings[index];
        if !ring.ready {
            return Ok(());
        }
        match ring.in_flight {
            Some(served) if served.due > now => return Ok(()),
            Some(served) => {
                ring.in_flight = None;
                if ring.give(memory, served)? {
                    self.state.interrupts |= VIRTIO_MMIO_INT_VRING;
                }
            }
            None => {}
        }
        if backend.ready(index) > now {
            return Ok(());
        }
        if let Some((head, chain)) = ring.take(memory)? {
            let served = backend.serve(index, &chain, now)?;
            ring.in_flight = Some(InFlight {
                head,
                written: served.written,
                due: now.saturating_add(served.latency.max(LATENCY_MIN)),
            });
        }
        Ok(())
    }

    /// Drives the line, and asks for the next waking.
    fn settle(&self, port: &mut Port<'_>) {
        port.interrupt(self.line, self.state.interrupts != 0);
        let mut next = Femtoseconds::NEVER;
        if let Some(backend) = self.backend.as_ref().filter(|_| self.runs()) {
            for (index, ring) in self
                .state
                .rings
                .iter()
                .enumerate()
                .filter(|(_, ring)| ring.ready)
            {
                let time = match ring.in_flight {
                    Some(served) => served.due,
                    // What it was ready for by now has been looked for; the driver will tell of more.
                    None => Some(backend.ready(index))
                        .filter(|&time| time > port.now())
                        .unwrap_or(Femtoseconds::NEVER),
                };
                next = next.min(time);
            }
        }
        port.wake_at(next);
    }

    fn read_register(&mut self, offset: u32) -> u32 {
        match offset {
            VIRTIO_MMIO_MAGIC_VALUE => MAGIC,
            VIRTIO_MMIO_VERSION => VERSION,
            VIRTIO_MMIO_VENDOR_ID => VENDOR,
            _ if self.backend.is_none() => 0,
            VIRTIO_MMIO_DEVICE_ID => self.state.id,
            VIRTIO_MMIO_DEVICE_FEATURES => match self.state.device_features_select {
                0 => self.features() as u32,
                1 => (self.features() >> 32) as u32,
                _ => 0,
            },
            VIRTIO_MMIO_QUEUE_NUM_MAX => self.ring().map_or(0, |_| QUEUE_SIZE_MAX.into()),
            VIRTIO_MMIO_QUEUE_READY => self.ring().map_or(0, |ring| ring.ready.into()),
            VIRTIO_MMIO_INTERRUPT_STATUS => self.state.interrupts,
            VIRTIO_MMIO_STATUS => self.state.status,
            // A region of shared memory that does not exist has the length -1 (section 4.2.2).
            VIRTIO_MMIO_SHM_LEN_LOW
            | VIRTIO_MMIO_SHM_LEN_HIGH
            | VIRTIO_MMIO_SHM_BASE_LOW
            | VIRTIO_MMIO_SHM_BASE_HIGH => u32::MAX,
            VIRTIO_MMIO_CONFIG_GENERATION => 0,
            _ => 0,
        }
    }

    fn write_register(&mut self, offset: u32, value: u32, memory: &Memory) {
        match offset {
            VIRTIO_MMIO_DEVICE_FEATURES_SEL => self.state.device_features_select = value,
            VIRTIO_MMIO_DRIVER_FEATURES_SEL => self.state.driver_features_select = value,
            VIRTIO_MMIO_DRIVER_FEATURES => self.write_features(value),
            VIRTIO_MMIO_QUEUE_SEL => self.state.queue_select = value,
            VIRTIO_MMIO_INTERRUPT_ACK => self.state.interrupts &= !value,
            VIRTIO_MMIO_STATUS => self.write_status(value),
            VIRTIO_MMIO_QUEUE_READY => self.write_ready(value & 1 != 0, memory),
            // What else there is belongs to a queue, and is not to change while that is ready (section 4.2.2.2).
            _ => {
                if let Some(ring) = self.ring().filter(|ring| !ring.ready) {
                    match offset {
                        VIRTIO_MMIO_QUEUE_NUM => ring.size = u16::try_from(value).unwrap_or(0),
                        VIRTIO_MMIO_QUEUE_DESC_LOW => {
                            replace_half(&mut ring.descriptors, false, value)
                        }
                        VIRTIO_MMIO_QUEUE_DESC_HIGH => {
                            replace_half(&mut ring.descriptors, true, value)
                        }
                        VIRTIO_MMIO_QUEUE_AVAIL_LOW => {
                            replace_half(&mut ring.available, false, value)
                        }
                        VIRTIO_MMIO_QUEUE_AVAIL_HIGH => {
                            replace_half(&mut ring.available, true, value)
                        }
                        VIRTIO_MMIO_QUEUE_USED_LOW => replace_half(&mut ring.used, false, value),
                        VIRTIO_MMIO_QUEUE_USED_HIGH => replace_half(&mut ring.used, true, value),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Features count until they are agreed on (section 3.1.1).
    fn write_features(&mut self, value: u32) {
        if self.state.status & VIRTIO_CONFIG_S_FEATURES_OK == 0
            && self.state.driver_features_select < 2
        {
            let high = self.state.driver_features_select == 1;
            replace_half(&mut self.state.driver_features, high, value);
        }
    }

    fn write_status(&mut self, value: u32) {
        if value == 0 {
            self.state = State::new(self.state.id, self.state.rings.len());
            return;
        }
        let own = VIRTIO_CONFIG_S_ACKNOWLEDGE
            | VIRTIO_CONFIG_S_DRIVER
            | VIRTIO_CONFIG_S_DRIVER_OK
            | VIRTIO_CONFIG_S_FEATURES_OK
            | VIRTIO_CONFIG_S_FAILED;
        // Bits are set, and all cleared by reset alone.
        let mut status = self.state.status | value & own;
        let driver = self.state.driver_features;
        let agreed = driver & !self.features() == 0 && driver >> VIRTIO_F_VERSION_1 & 1 != 0;
        if !agreed {
            status &= !VIRTIO_CONFIG_S_FEATURES_OK;
        }
        // Without agreement there is no device to drive.
        if status & VIRTIO_CONFIG_S_FEATURES_OK == 0 {
            status &= !VIRTIO_CONFIG_S_DRIVER_OK;
        }
        self.state.status = status;
    }

    fn write_ready(&mut self, ready: bool, memory: &Memory) {
        let Some(ring) = self.ring() else {
            return;
        };
        if !ready {
            let size = ring.size;
            *ring = Ring {
                size,
                ..Ring::new()
            };
            return;
        }
        if ring.ready {
            return;
        }
        ring.ready = true;
        // An available ring at 0 would be one that was never set.
        let good = ring
            .queue()
            .is_ok_and(|queue| queue.is_valid(memory.guest()))
            && ring.available != 0;
        if !good {
            ring.ready = false;
            self.needs_reset();
        }
    }

    fn read_config(&self, offset: usize, size: u8) -> u64 {
        let config = self
            .backend
            .as_ref()
            .map_or_else(Vec::new, |backend| backend.config());
        let byte = |index| config.get(index).copied().unwrap_or(0);
        (0..usize::from(size)).rev().fold(0, |value, index| {
            value << 8 | u64::from(byte(offset + index))
        })
    }
}

impl State {
    fn new(id: u32, queues: usize) -> Self {
        Self {
            id,
            device_features_select: 0,
            driver_features_select: 0,
            driver_features: 0,
            queue_select: 0,
            status: 0,
            interrupts: 0,
            rings: vec![Ring::new(); queues],
            backend: Vec::new(),
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
            return Ok(self.read_config((offset - config) as usize, size));
        }
        // Section 4.2.2.2: registers are read as words. Other sizes find nothing.
        if size != 4 {
            return Ok(0);
        }
        self.advance(port.memory(), port.now());
        self.settle(port);
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
        if size == 4 && offset < config && self.backend.is_some() {
            if offset as u32 != VIRTIO_MMIO_QUEUE_NOTIFY {
                self.write_register(offset as u32, value as u32, port.memory());
            }
            self.advance(port.memory(), port.now());
            self.settle(port);
        }
        Ok(())
    }

    fn wake(&mut self, port: &mut Port<'_>) {
        self.advance(port.memory(), port.now());
        self.settle(port);
    }

    fn save(&self) -> Vec<u8> {
        let backend = self
            .backend
            .as_ref()
            .map_or_else(Vec::new, |backend| backend.save());
        state::save(&State {
            backend,
            ..self.state.clone()
        })
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let mut new: State = state::restore("virtio", bytes)?;
        let same = new.id == self.state.id && new.rings.len() == self.state.rings.len();
        state::require(same, "virtio", "it is of another device")?;
        let good = new
            .rings
            .iter()
            .all(|ring| !ring.ready || ring.queue().is_ok());
        state::require(good, "virtio", "its queues cannot be")?;
        let backend = std::mem::take(&mut new.backend);
        match &mut self.backend {
            Some(own) => own.restore(&backend)?,
            None => state::require(backend.is_empty(), "virtio", "it is of a device")?,
        }
        self.state = new;
        Ok(())
    }
}
