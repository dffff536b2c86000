//! A device's registers (virtio 1.2, section 4.2): virtio-mmio, version 2.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::memory::Memory;
use crate::queue::{Fault, Queue, SIZE_MAX};

/// The registers (section 4.2.2), by their offsets.
pub mod register {
    /// "virt".
    pub const MAGIC: u32 = 0x0;
    /// 2.
    pub const VERSION: u32 = 0x4;
    /// The kind of device (section 5).
    pub const DEVICE: u32 = 0x8;
    /// Who made it.
    pub const VENDOR: u32 = 0xc;
    /// 32 features that it has.
    pub const DEVICE_FEATURES: u32 = 0x10;
    /// Which 32.
    pub const DEVICE_FEATURES_SELECT: u32 = 0x14;
    /// 32 features that the driver uses.
    pub const DRIVER_FEATURES: u32 = 0x20;
    /// Which 32.
    pub const DRIVER_FEATURES_SELECT: u32 = 0x24;
    /// The queue that the following registers are about.
    pub const QUEUE_SELECT: u32 = 0x30;
    /// Its largest size.
    pub const QUEUE_SIZE_MAX: u32 = 0x34;
    /// Its size.
    pub const QUEUE_SIZE: u32 = 0x38;
    /// It is enabled.
    pub const QUEUE_READY: u32 = 0x44;
    /// Requests wait in the queue of that number.
    pub const QUEUE_NOTIFY: u32 = 0x50;
    /// Why the device interrupts.
    pub const INTERRUPT_STATUS: u32 = 0x60;
    /// What of that the driver has seen.
    pub const INTERRUPT_ACKNOWLEDGE: u32 = 0x64;
    /// The device's status (section 2.1).
    pub const STATUS: u32 = 0x70;
    /// Its descriptors, available ring and used ring: each a low and a high half.
    pub const QUEUE_DESCRIPTORS: u32 = 0x80;
    /// ... the available ring.
    pub const QUEUE_AVAILABLE: u32 = 0x90;
    /// ... the used ring.
    pub const QUEUE_USED: u32 = 0xa0;
    /// Of the shared memory regions, of which there are none: their lengths and addresses are all ones.
    pub const SHARED_MEMORY: core::ops::Range<u32> = 0xb0..0xc0;
    /// Changes with the device's configuration, which never does.
    pub const GENERATION: u32 = 0xfc;
    /// Behind it is the device's configuration.
    pub const CONFIGURATION: u32 = 0x100;
}

/// Bits of the device's status (section 2.1).
pub mod status {
    /// A driver has found the device.
    pub const ACKNOWLEDGE: u32 = 1;
    /// The driver knows the kind of device.
    pub const DRIVER: u32 = 2;
    /// The driver is ready to drive the device.
    pub const DRIVER_OK: u32 = 4;
    /// Features are agreed.
    pub const FEATURES_OK: u32 = 8;
    /// The device cannot go on.
    pub const NEEDS_RESET: u32 = 64;
    /// The driver has given the device up.
    pub const FAILED: u32 = 128;
}

/// Reasons of an interrupt (section 4.2.2).
pub mod interrupt {
    /// A buffer was used.
    pub const USED: u32 = 1;
    /// The configuration, or the status, has changed.
    pub const CONFIGURATION: u32 = 2;
}

/// The device complies with version 1 (section 6).
pub const VERSION_1: u64 = 1 << 32;
/// It has not all memory of its driver (section 6: `VIRTIO_F_ACCESS_PLATFORM`).
pub const ACCESS_PLATFORM: u64 = 1 << 33;

const MAGIC: u32 = u32::from_le_bytes(*b"virt");
const VENDOR: u32 = u32::from_le_bytes(*b"TACT");

/// The most queues of a device.
pub const QUEUES: usize = 2;

/// What a device does with its queues.
pub trait Device {
    /// Its kind (section 5).
    const KIND: u32;
    /// Its queues, at most [`QUEUES`].
    const QUEUES: usize;

    /// The features of its kind.
    fn features(&self) -> u64;

    /// `size` bytes of its configuration, from `offset` on, little-endian.
    fn configuration(&self, offset: u32, size: u8) -> u64;

    /// The driver resets the device: its queues are as at first.
    fn reset(&mut self) {}

    /// Serves at most one request of a queue, which is ready.
    ///
    /// # Errors
    ///
    /// The driver's fault.
    fn serve(
        &mut self,
        number: usize,
        queue: &mut Queue,
        memory: &impl Memory,
    ) -> Result<Served, Fault>;
}

/// What became of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// A request was completed, and the driver wants an interrupt.
    pub interrupts: bool,
    /// There is more to serve.
    pub more: bool,
}

/// What an access comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What a load gets.
    pub value: u64,
    /// The device interrupts.
    pub interrupts: bool,
    /// The driver makes the access again, as there is more to do than one access is to take.
    pub again: bool,
}

/// Where the registers are kept for the next life of the device: words, each written as a whole. A life that ends
/// between two of them leaves what a driver may have written.
pub trait Saved {
    /// Word `number`, below [`WORDS`].
    fn load(&self, number: usize) -> u64;
    /// Changes it.
    fn store(&self, number: usize, word: u64);
}

/// Words of memory: [`WORDS`] of them.
impl Saved for &[AtomicU64] {
    fn load(&self, number: usize) -> u64 {
        self[number].load(Ordering::Relaxed)
    }

    fn store(&self, number: usize, word: u64) {
        self[number].store(word, Ordering::Relaxed);
    }
}

/// Words that the registers are kept in.
pub const WORDS: usize = 4 + 4 * QUEUES;

/// The registers of a device that its driver may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    device_features_select: u32,
    driver_features_select: u32,
    queue_select: u32,
    status: u32,
    interrupt: u32,
    driver_features: u64,
    queues: [Queue; QUEUES],
}

impl Registers {
    /// As words. The status is first: with it zero, nothing else counts.
    fn words(&self) -> [u64; WORDS] {
        let both = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let mut words = [0; WORDS];
        words[0] = self.status_word();
        words[1] = self.driver_features;
        words[2] = both(self.device_features_select, self.driver_features_select);
        words[3] = self.queue_select.into();
        for (words, queue) in words[4..].chunks_exact_mut(4).zip(&self.queues) {
            words[0] = u64::from(queue.size) | u64::from(queue.ready) << 16;
            words[1] = queue.descriptors;
            words[2] = queue.available;
            words[3] = queue.used;
        }
        words
    }

    /// The word of the status and the reasons of an interrupt.
    fn status_word(&self) -> u64 {
        u64::from(self.status) | u64::from(self.interrupt) << 32
    }

    fn save(&self, saved: &impl Saved) {
        for (number, word) in self.words().into_iter().enumerate() {
            if saved.load(number) != word {
                saved.store(number, word);
            }
        }
    }

    /// The same after an access that changes nothing but the status and the reasons of an interrupt.
    fn save_status(&self, saved: &impl Saved) {
        let word = self.status_word();
        if saved.load(0) != word {
            saved.store(0, word);
        }
    }

    /// The registers of an earlier life. Its driver may have changed what was kept: no value is trusted more than one
    /// that the driver stores.
    fn restore(saved: &impl Saved, memory: &impl Memory) -> Self {
        let words: [u64; WORDS] = core::array::from_fn(|number| saved.load(number));
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let [status, interrupt] = halves(words[0]);
        if status == 0 {
            return Self::default();
        }
        let [device_features_select, driver_features_select] = halves(words[2]);
        let mut own = Self {
            device_features_select,
            driver_features_select,
            queue_select: words[3] as u32,
            status,
            interrupt: interrupt & (interrupt::USED | interrupt::CONFIGURATION),
            driver_features: words[1],
            queues: [Queue::default(); QUEUES],
        };
        for (words, queue) in words[4..].chunks_exact(4).zip(&mut own.queues) {
            *queue = Queue {
                size: words[0] as u16,
                ready: words[0] >> 16 & 1 != 0,
                descriptors: words[1],
                available: words[2],
                used: words[3],
                next: 0,
            };
            if queue.ready && (!queue.is_sound() || queue.resume(memory).is_err()) {
                queue.ready = false;
                own.status |= status::NEEDS_RESET;
            }
        }
        // That life may have completed a request, and ended before it has kept that it has to interrupt.
        if own.status & (status::DRIVER_OK | status::NEEDS_RESET) == status::DRIVER_OK {
            own.interrupt |= interrupt::USED;
        }
        own
    }
}

/// A device, with its registers and the memory of its driver.
#[derive(Debug)]
pub struct Port<D, M, S> {
    /// What the device does.
    pub device: D,
    memory: M,
    saved: S,
    registers: Registers,
}

impl<D: Device, M: Memory, S: Saved> Port<D, M, S> {
    /// A device that goes on where an earlier life of it has ended, if `saved` has one: it then has to interrupt its
    /// driver once.
    pub fn new(device: D, memory: M, saved: S) -> Self {
        let registers = Registers::restore(&saved, &memory);
        Self {
            device,
            memory,
            saved,
            registers,
        }
    }

    /// The registers.
    pub const fn registers(&self) -> &Registers {
        &self.registers
    }

    fn features(&self) -> u64 {
        self.device.features() | VERSION_1 | ACCESS_PLATFORM
    }

    fn queue(&mut self) -> Option<&mut Queue> {
        let number = self.registers.queue_select as usize;
        self.registers.queues[..D::QUEUES].get_mut(number)
    }

    /// A load or a store (`Some`) of `size` bytes. Registers are 4 bytes and accessed as a whole (section 4.2.2.2);
    /// any other access has no effect.
    pub fn access(&mut self, offset: u32, size: u8, store: Option<u64>) -> Outcome {
        let before = self.registers.interrupt;
        let mut outcome = Outcome::default();
        match store {
            None if offset >= register::CONFIGURATION => {
                let offset = offset - register::CONFIGURATION;
                outcome.value = self.device.configuration(offset, size);
                return outcome;
            }
            _ if size != 4 => return outcome,
            None if offset == register::INTERRUPT_STATUS => {
                // What the device finds that begins again, and what came meanwhile.
                outcome.again = self.serve_all();
                outcome.value = self.registers.interrupt.into();
            }
            None => {
                outcome.value = self.load(offset).into();
                return outcome;
            }
            Some(value) => outcome.again = self.store(offset, value as u32),
        }
        let acknowledges = store.is_some() && offset == register::INTERRUPT_ACKNOWLEDGE;
        let now = self.registers.interrupt;
        // A driver that reads the reasons is told of a new one by their value.
        let is_told = store.is_none();
        outcome.interrupts = !is_told && now & !before != 0 || acknowledges && now != 0;
        match offset {
            register::QUEUE_NOTIFY
            | register::INTERRUPT_STATUS
            | register::INTERRUPT_ACKNOWLEDGE => self.registers.save_status(&self.saved),
            _ => self.registers.save(&self.saved),
        }
        outcome
    }

    /// Serves at most one request of each queue without an access: for a device that begins again, whose driver may
    /// wait for one without making any, as an earlier life has not seen its last access.
    pub fn resume(&mut self) -> Outcome {
        let before = self.registers.interrupt;
        let again = self.serve_all();
        self.registers.save_status(&self.saved);
        Outcome {
            value: 0,
            interrupts: self.registers.interrupt & !before != 0,
            again,
        }
    }

    fn load(&mut self, offset: u32) -> u32 {
        let features = self.features();
        match offset {
            register::MAGIC => MAGIC,
            register::VERSION => 2,
            register::DEVICE => D::KIND,
            register::VENDOR => VENDOR,
            register::DEVICE_FEATURES => match self.registers.device_features_select {
                0 => features as u32,
                1 => (features >> 32) as u32,
                _ => 0,
            },
            register::QUEUE_SIZE_MAX => self.queue().map_or(0, |_| SIZE_MAX.into()),
            register::QUEUE_READY => self.queue().map_or(0, |queue| queue.ready.into()),
            register::STATUS => self.registers.status,
            _ if register::SHARED_MEMORY.contains(&offset) => u32::MAX,
            _ => 0,
        }
    }

    /// Returns whether there is more to serve.
    fn store(&mut self, offset: u32, value: u32) -> bool {
        let registers = &mut self.registers;
        match offset {
            register::DEVICE_FEATURES_SELECT => registers.device_features_select = value,
            register::DRIVER_FEATURES_SELECT => registers.driver_features_select = value,
            register::DRIVER_FEATURES if registers.status & status::FEATURES_OK == 0 => {
                let (shift, kept) = match registers.driver_features_select {
                    0 => (0, 0xffff_ffff << 32),
                    1 => (32, 0xffff_ffff),
                    _ => return false,
                };
                registers.driver_features =
                    registers.driver_features & kept | u64::from(value) << shift;
            }
            register::QUEUE_SELECT => registers.queue_select = value,
            register::QUEUE_NOTIFY => return self.serve(value as usize),
            register::INTERRUPT_ACKNOWLEDGE => registers.interrupt &= !value,
            register::STATUS => self.set_status(value),
            register::QUEUE_READY => self.set_ready(value),
            _ => self.set_queue(offset, value),
        }
        false
    }

    fn set_status(&mut self, value: u32) {
        if value == 0 {
            self.registers = Registers::default();
            self.device.reset();
            return;
        }
        let wrong = self.registers.driver_features & !self.features() != 0
            || self.registers.driver_features & VERSION_1 == 0;
        let kept = self.registers.status & status::NEEDS_RESET;
        let refused = if wrong { status::FEATURES_OK } else { 0 };
        self.registers.status = value & 0xff & !refused | kept;
    }

    fn set_ready(&mut self, value: u32) {
        let Some(queue) = self.queue() else {
            return;
        };
        if value != 1 {
            queue.ready = false;
        } else if queue.is_sound() && !queue.ready {
            queue.ready = true;
            queue.next = 0;
        } else if !queue.ready {
            self.fail();
        }
    }

    /// The size and the addresses of a queue, while it is not ready (section 4.2.3.2).
    fn set_queue(&mut self, offset: u32, value: u32) {
        let Some(queue) = self.queue().filter(|queue| !queue.ready) else {
            return;
        };
        let address = match offset & !4 {
            register::QUEUE_SIZE if offset == register::QUEUE_SIZE => {
                // Of one that is too large nothing is left that could be taken for a good one.
                queue.size = u16::try_from(value).unwrap_or(0);
                return;
            }
            register::QUEUE_DESCRIPTORS => &mut queue.descriptors,
            register::QUEUE_AVAILABLE => &mut queue.available,
            register::QUEUE_USED => &mut queue.used,
            _ => return,
        };
        let shift = if offset & 4 == 0 { 0 } else { 32 };
        *address = *address & !(0xffff_ffff << shift) | u64::from(value) << shift;
    }

    /// The driver is at fault (section 2.1.2).
    fn fail(&mut self) {
        self.registers.status |= status::NEEDS_RESET;
        if self.registers.status & status::DRIVER_OK != 0 {
            self.registers.interrupt |= interrupt::CONFIGURATION;
        }
    }

    /// Serves at most one request of a queue. Returns whether there is more.
    fn serve(&mut self, number: usize) -> bool {
        let runs = self.registers.status & (status::DRIVER_OK | status::NEEDS_RESET);
        let queues = &mut self.registers.queues[..D::QUEUES];
        let Some(queue) = queues.get_mut(number).filter(|queue| queue.ready) else {
            return false;
        };
        if runs != status::DRIVER_OK {
            return false;
        }
        match self.device.serve(number, queue, &self.memory) {
            Ok(served) => {
                if served.interrupts {
                    self.registers.interrupt |= interrupt::USED;
                }
                served.more
            }
            Err(_) => {
                self.fail();
                false
            }
        }
    }

    /// Serves at most one request of each queue. Returns whether there is more.
    fn serve_all(&mut self) -> bool {
        (0..D::QUEUES).fold(false, |more, number| self.serve(number) | more)
    }
}
