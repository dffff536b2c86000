//! A virtio device behind its transport: features, status, queues (Virtual I/O Device specification 1.2, sections 2 and
//! 3).

use super::ring::{InFlight, Ring};
use super::{Backend, LATENCY_MIN, Malformed};
use crate::bus::BadState;
use crate::devices::dma::Dma;
use crate::devices::state;
use crate::time::Femtoseconds;
use serde::{Deserialize, Serialize};
use virtio_bindings::virtio_config::{
    VIRTIO_CONFIG_S_ACKNOWLEDGE, VIRTIO_CONFIG_S_DRIVER, VIRTIO_CONFIG_S_DRIVER_OK,
    VIRTIO_CONFIG_S_FAILED, VIRTIO_CONFIG_S_FEATURES_OK, VIRTIO_CONFIG_S_NEEDS_RESET,
    VIRTIO_F_VERSION_1,
};
use virtio_bindings::virtio_ring::VIRTIO_RING_F_INDIRECT_DESC;

/// The interrupt's causes, as both transports show them (sections 4.1.4.5 and 4.2.2): a queue has a used buffer,
pub(super) const INTERRUPT_QUEUE: u32 = 1;
/// or the device's state has changed.
const INTERRUPT_STATE: u32 = 2;

/// What the driver has set, and what the device has come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The kind of device.
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

/// A device, as its transport has it.
pub(super) struct Core {
    backend: Box<dyn Backend>,
    /// Features of the transport and of what is between the device and memory.
    transport: u64,
    state: State,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Core")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// Replaces one half of a register of 64 bits.
pub(super) const fn replace_half(register: &mut u64, high: bool, value: u32) {
    *register = if high {
        *register & 0xffff_ffff | (value as u64) << 32
    } else {
        *register & !0xffff_ffff | value as u64
    };
}

impl Core {
    /// The device whose transport offers these features beyond those that both have.
    pub fn new(backend: Box<dyn Backend>, transport: u64) -> Self {
        let state = State::new(backend.id(), backend.queues());
        Self {
            backend,
            transport,
            state,
        }
    }

    /// The kind of device.
    pub const fn id(&self) -> u32 {
        self.state.id
    }

    /// As a driver resets it by writing 0 to its status. What is behind it stays: a disk keeps what was written.
    pub fn reset(&mut self) {
        self.state = State::new(self.state.id, self.state.rings.len());
    }

    /// Features offered to the driver.
    fn features(&self) -> u64 {
        self.backend.features()
            | self.transport
            | 1 << VIRTIO_F_VERSION_1
            | 1 << VIRTIO_RING_F_INDIRECT_DESC
    }

    /// The half of the offered features that the driver has selected.
    pub fn device_features(&self) -> u32 {
        match self.state.device_features_select {
            0 => self.features() as u32,
            1 => (self.features() >> 32) as u32,
            _ => 0,
        }
    }

    /// The half of the features that the driver has accepted and selected.
    pub const fn driver_features(&self) -> u32 {
        match self.state.driver_features_select {
            0 => self.state.driver_features as u32,
            1 => (self.state.driver_features >> 32) as u32,
            _ => 0,
        }
    }

    pub const fn device_features_select(&self) -> u32 {
        self.state.device_features_select
    }

    pub const fn select_device_features(&mut self, value: u32) {
        self.state.device_features_select = value;
    }

    pub const fn driver_features_select(&self) -> u32 {
        self.state.driver_features_select
    }

    pub const fn select_driver_features(&mut self, value: u32) {
        self.state.driver_features_select = value;
    }

    /// Features count until they are agreed on (section 3.1.1).
    pub const fn write_features(&mut self, value: u32) {
        if self.state.status & VIRTIO_CONFIG_S_FEATURES_OK == 0
            && self.state.driver_features_select < 2
        {
            let high = self.state.driver_features_select == 1;
            replace_half(&mut self.state.driver_features, high, value);
        }
    }

    /// How many queues there are.
    pub const fn queues(&self) -> usize {
        self.state.rings.len()
    }

    pub const fn queue_select(&self) -> u32 {
        self.state.queue_select
    }

    pub const fn select_queue(&mut self, value: u32) {
        self.state.queue_select = value;
    }

    /// The selected queue, if it exists.
    pub fn ring(&self) -> Option<&Ring> {
        self.state.rings.get(self.state.queue_select as usize)
    }

    /// The selected queue, if it exists and may be changed: not while it is ready (sections 4.1.4.3.2 and 4.2.2.2).
    pub fn ring_to_set(&mut self) -> Option<&mut Ring> {
        self.state
            .rings
            .get_mut(self.state.queue_select as usize)
            .filter(|ring| !ring.ready)
    }

    /// Makes the selected queue ready.
    pub fn enable_ring(&mut self, dma: &dyn Dma) {
        let Some(ring) = self.ring_to_set() else {
            return;
        };
        ring.ready = ring.is_usable(dma);
        if !ring.ready {
            self.needs_reset();
        }
    }

    /// Makes the selected queue as it was at reset, but for its size.
    pub fn disable_ring(&mut self) {
        if let Some(ring) = self.state.rings.get_mut(self.state.queue_select as usize) {
            ring.disable();
        }
    }

    pub const fn status(&self) -> u32 {
        self.state.status
    }

    /// Writes the status (section 2.1).
    pub fn write_status(&mut self, value: u32) {
        if value == 0 {
            self.reset();
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

    /// Why it interrupts.
    pub const fn interrupts(&self) -> u32 {
        self.state.interrupts
    }

    pub const fn acknowledge(&mut self, interrupts: u32) {
        self.state.interrupts &= !interrupts;
    }

    /// Whether the driver lets the device work.
    const fn runs(&self) -> bool {
        let status = self.state.status;
        status & VIRTIO_CONFIG_S_DRIVER_OK != 0
            && status & (VIRTIO_CONFIG_S_NEEDS_RESET | VIRTIO_CONFIG_S_FAILED) == 0
    }

    const fn needs_reset(&mut self) {
        self.state.status |= VIRTIO_CONFIG_S_NEEDS_RESET;
        if self.state.status & VIRTIO_CONFIG_S_DRIVER_OK != 0 {
            self.state.interrupts |= INTERRUPT_STATE;
        }
    }

    /// Does what is due and can be begun.
    pub fn advance(&mut self, dma: &mut dyn Dma, now: Femtoseconds) {
        for index in 0..self.state.rings.len() {
            if self.runs() && self.advance_ring(index, dma, now).is_err() {
                self.needs_reset();
            }
        }
    }

    fn advance_ring(
        &mut self,
        index: usize,
        dma: &mut dyn Dma,
        now: Femtoseconds,
    ) -> Result<(), Malformed> {
        let ring = &mut self.state.rings[index];
        if !ring.ready {
            return Ok(());
        }
        match ring.in_flight {
            Some(served) if served.due > now => return Ok(()),
            Some(served) => {
                ring.in_flight = None;
                if ring.give(dma, served)? {
                    self.state.interrupts |= INTERRUPT_QUEUE;
                }
            }
            None => {}
        }
        if self.backend.ready(index) > now {
            return Ok(());
        }
        let Some((head, mut chain)) = ring.take(dma)? else {
            return Ok(());
        };
        let served = self.backend.serve(index, &mut chain, now)?;
        let spent = dma.take_spent();
        let busy = served.latency.max(LATENCY_MIN).max(spent.transfers);
        ring.in_flight = Some(InFlight {
            head,
            written: served.written,
            due: now.saturating_add(busy).saturating_add(spent.translations),
        });
        Ok(())
    }

    /// When there is something to do next, if nothing happens before.
    pub fn next(&self, now: Femtoseconds) -> Femtoseconds {
        if !self.runs() {
            return Femtoseconds::NEVER;
        }
        let rings = self.state.rings.iter().enumerate();
        let times =
            rings
                .filter(|(_, ring)| ring.ready)
                .map(|(index, ring)| match ring.in_flight {
                    Some(served) => served.due,
                    // What it was ready for by now has been looked for; the driver will tell of more.
                    None => Some(self.backend.ready(index))
                        .filter(|&time| time > now)
                        .unwrap_or(Femtoseconds::NEVER),
                });
        times.min().unwrap_or(Femtoseconds::NEVER)
    }

    /// Bytes of the device's configuration; zeros behind its end.
    pub fn read_config(&self, offset: usize, size: u8) -> u64 {
        let config = self.backend.config();
        let byte = |index| config.get(index).copied().unwrap_or(0);
        (0..usize::from(size)).rev().fold(0, |value, index| {
            value << 8 | u64::from(byte(offset + index))
        })
    }

    pub fn save(&self) -> Vec<u8> {
        state::save(&State {
            backend: self.backend.save(),
            ..self.state.clone()
        })
    }

    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let mut new: State = state::restore("virtio", bytes)?;
        let same = new.id == self.state.id && new.rings.len() == self.state.rings.len();
        state::require(same, "virtio", "it is of another device")?;
        let good = new.rings.iter().all(|ring| !ring.ready || ring.is_sound());
        state::require(good, "virtio", "its queues cannot be")?;
        self.backend.restore(&std::mem::take(&mut new.backend))?;
        self.state = new;
        Ok(())
    }
}
