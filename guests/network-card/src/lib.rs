//! Driver of a virtio network card (virtio 1.2, section 5.1) by virtio-mmio, version 2, with one queue in each
//! direction: no allocation, no waiting, and a bounded number of steps for each call, whatever the device does.
//!
//! Queues and buffers are in memory that the device has, and which may be all that it has: frames are copied into and
//! out of it. What the device writes there is checked before it is used, so that a card that misbehaves is
//! [`Broken`], and does no harm.
//!
//! ```ignore
//! let mut card = Card::start(registers, memory)?;
//! card.send(&frame)?;
//! // After an interrupt:
//! card.acknowledge();
//! while let Some(length) = card.receive(&mut frame)? {
//!     // ...
//! }
//! ```
#![cfg_attr(not(test), no_std)]

mod memory;
mod ring;

pub use memory::Shared;
use ring::Ring;
use tactus_virtio::mmio::{ACCESS_PLATFORM, VERSION_1, interrupt, register, status};

/// The longest frame, without its check sequence: 1,500 bytes of payload, two addresses, and its type (IEEE 802.3).
pub const FRAME_MAX: usize = 1514;
/// Frames that each queue has room for.
pub const FRAMES: usize = 16;
/// Bytes of memory that queues and buffers take.
pub const MEMORY: usize = 2 * (ring::BYTES + FRAMES * BUFFER);

/// Bytes of the header in front of a frame (section 5.1.6).
const HEADER: usize = 12;
/// Bytes of a buffer: a header and the longest frame.
const BUFFER: usize = (HEADER + FRAME_MAX).next_multiple_of(8);

const MAGIC: u32 = u32::from_le_bytes(*b"virt");
const VERSION: u32 = 2;
const NETWORK_CARD: u32 = 1;
/// `VIRTIO_NET_F_MAC` (section 5.1.3): the configuration has the card's address.
const FEATURE_MAC: u64 = 1 << 5;

const RECEIVE: u32 = 0;
const TRANSMIT: u32 = 1;

/// A card's registers.
pub trait Registers {
    /// Loads the 32 bits at `offset`, a multiple of 4 below 0x200.
    fn load(&self, offset: u32) -> u32;
    /// Stores them.
    fn store(&self, offset: u32, value: u32);
}

/// Registers that are mapped.
#[derive(Debug)]
pub struct Mapped(usize);

impl Mapped {
    /// Those at that address.
    ///
    /// # Safety
    ///
    /// A page of registers, or what reads as zero and ignores stores, is there for as long as the program runs.
    pub const unsafe fn new(address: usize) -> Self {
        Self(address)
    }
}

impl Registers for Mapped {
    fn load(&self, offset: u32) -> u32 {
        // SAFETY: `new`; the driver's offsets are within a page, and aligned.
        u32::from_le(unsafe { ((self.0 + offset as usize) as *const u32).read_volatile() })
    }

    fn store(&self, offset: u32, value: u32) {
        // SAFETY: as above.
        unsafe { ((self.0 + offset as usize) as *mut u32).write_volatile(value.to_le()) };
    }
}

/// Why there is no card to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// No network card by virtio-mmio, version 2, has registers there, or not yet.
    Absent,
    /// The card does not agree to the features that the driver needs: version 1, and an address of its own.
    Features,
    /// Its queues have fewer than [`FRAMES`] entries.
    Queues,
}

/// The device has written to its queues what no device may write, or says itself that it needs a reset. The card is to
/// be started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// Why a frame was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// [`FRAMES`] frames wait already.
    Full,
    /// It is longer than [`FRAME_MAX`].
    TooLong,
    /// See [`Broken`].
    Broken,
}

impl From<Broken> for SendError {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}

/// A network card.
#[derive(Debug)]
pub struct Card<R> {
    registers: R,
    address: [u8; 6],
    receive: Ring,
    transmit: Ring,
    /// Buffers that the device was not told of yet.
    untold: bool,
}

impl<R: Registers> Card<R> {
    /// Starts a card, whatever it did before (section 3.1.1). Its queues and buffers are in `memory`, all of it.
    ///
    /// # Errors
    ///
    /// See [`StartError`].
    pub fn start(registers: R, memory: Shared) -> Result<Self, (StartError, R)> {
        match Self::negotiate(&registers, memory) {
            Ok((address, receive, transmit)) => Ok(Self {
                registers,
                address,
                receive,
                transmit,
                untold: false,
            }),
            Err(error) => {
                if error != StartError::Absent {
                    registers.store(register::STATUS, status::FAILED);
                }
                Err((error, registers))
            }
        }
    }

    fn negotiate(registers: &R, memory: Shared) -> Result<([u8; 6], Ring, Ring), StartError> {
        let load = |offset| registers.load(offset);
        let store = |offset, value| registers.store(offset, value);
        let identity = [register::MAGIC, register::VERSION, register::DEVICE].map(load);
        if identity != [MAGIC, VERSION, NETWORK_CARD] {
            return Err(StartError::Absent);
        }
        store(register::STATUS, 0);
        let mut now = status::ACKNOWLEDGE | status::DRIVER;
        store(register::STATUS, now);
        // With the latter, addresses are those by which the device has its memory.
        let (needed, optional) = (FEATURE_MAC | VERSION_1, ACCESS_PLATFORM);
        for half in 0..2 {
            let [needed, optional] = [needed, optional].map(|all| (all >> (32 * half)) as u32);
            store(register::DEVICE_FEATURES_SELECT, half);
            let offered = load(register::DEVICE_FEATURES);
            if offered & needed != needed {
                return Err(StartError::Features);
            }
            store(register::DRIVER_FEATURES_SELECT, half);
            store(register::DRIVER_FEATURES, offered & (needed | optional));
        }
        now |= status::FEATURES_OK;
        store(register::STATUS, now);
        if load(register::STATUS) & status::FEATURES_OK == 0 {
            return Err(StartError::Features);
        }
        let (receive, transmit) = memory.halves();
        let rings = (Ring::new(receive, true), Ring::new(transmit, false));
        for (number, ring) in [(RECEIVE, &rings.0), (TRANSMIT, &rings.1)] {
            store(register::QUEUE_SELECT, number);
            if (load(register::QUEUE_SIZE_MAX) as usize) < FRAMES {
                return Err(StartError::Queues);
            }
            store(register::QUEUE_SIZE, FRAMES as u32);
            let registers = [
                register::QUEUE_DESCRIPTORS,
                register::QUEUE_AVAILABLE,
                register::QUEUE_USED,
            ];
            for (register, address) in registers.into_iter().zip(ring.addresses()) {
                store(register, address as u32);
                store(register + 4, (address >> 32) as u32);
            }
            store(register::QUEUE_READY, 1);
        }
        let low = load(register::CONFIGURATION).to_le_bytes();
        let high = load(register::CONFIGURATION + 4).to_le_bytes();
        let address = [low[0], low[1], low[2], low[3], high[0], high[1]];
        store(register::STATUS, now | status::DRIVER_OK);
        store(register::QUEUE_NOTIFY, RECEIVE);
        Ok((address, rings.0, rings.1))
    }

    /// Its Ethernet address.
    pub const fn address(&self) -> [u8; 6] {
        self.address
    }

    /// Acknowledges the card's interrupt, before [`Card::receive`].
    ///
    /// # Errors
    ///
    /// The card needs a reset.
    pub fn acknowledge(&mut self) -> Result<(), Broken> {
        let reasons = self.registers.load(register::INTERRUPT_STATUS);
        if reasons != 0 {
            self.registers
                .store(register::INTERRUPT_ACKNOWLEDGE, reasons);
        }
        // A changed configuration is a changed status: this driver uses nothing else that may change.
        let has_changed = reasons & interrupt::CONFIGURATION != 0;
        if has_changed && self.registers.load(register::STATUS) & status::NEEDS_RESET != 0 {
            return Err(Broken);
        }
        Ok(())
    }

    /// Copies the next frame that has arrived, and says how long it is; `None`: there is none.
    ///
    /// # Errors
    ///
    /// See [`Broken`].
    pub fn receive(&mut self, frame: &mut [u8; FRAME_MAX]) -> Result<Option<usize>, Broken> {
        // Each pass takes a buffer that the device has used; those it has at once are as many as there are buffers.
        for _ in 0..=FRAMES {
            let Some((buffer, written)) = self.receive.take_used()? else {
                // Told of all buffers at once, the device may have more frames for them.
                if !core::mem::take(&mut self.untold) {
                    return Ok(None);
                }
                self.registers.store(register::QUEUE_NOTIFY, RECEIVE);
                continue;
            };
            let length = (written as usize).min(HEADER + FRAME_MAX);
            let length = length.saturating_sub(HEADER);
            self.receive.read(buffer, HEADER, &mut frame[..length]);
            self.receive.offer(buffer, BUFFER as u32);
            self.untold = true;
            // What has no frame behind its header is left out.
            if length > 0 {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }

    /// Whether there is room for a frame to send.
    ///
    /// # Errors
    ///
    /// See [`Broken`].
    pub fn can_send(&mut self) -> Result<bool, Broken> {
        // As many as there are.
        for _ in 0..FRAMES {
            if self.transmit.take_used()?.is_none() {
                break;
            }
        }
        Ok(self.transmit.has_free())
    }

    /// Sends a frame: its addresses, its type and what it carries.
    ///
    /// # Errors
    ///
    /// See [`SendError`].
    pub fn send(&mut self, frame: &[u8]) -> Result<(), SendError> {
        if frame.len() > FRAME_MAX {
            return Err(SendError::TooLong);
        }
        if !self.can_send()? {
            return Err(SendError::Full);
        }
        let buffer = self.transmit.take_free().ok_or(SendError::Full)?;
        self.transmit.write(buffer, 0, &[0; HEADER]);
        self.transmit.write(buffer, HEADER, frame);
        self.transmit.offer(buffer, (HEADER + frame.len()) as u32);
        self.registers.store(register::QUEUE_NOTIFY, TRANSMIT);
        Ok(())
    }
}
