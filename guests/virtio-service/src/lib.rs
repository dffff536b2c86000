//! Virtio devices that a service VM emulates for others, one for the VM at the other end of each of its channels.
//!
//! ```ignore
//! static DEVICES: Devices<Entropy, 8> = Devices::new();
//! static STACK: Stack<16384> = Stack::new();
//!
//! fn main() {
//!     DEVICES.make(|number, channel| Some((device(number), channel.words())));
//!     emulation::run(|channel, message| DEVICES.serve(channel, message), &STACK)
//! }
//! ```
#![no_std]

pub mod faults;
pub mod function;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use faults::Faults;
use tactus_guest::call::Message;
use tactus_guest::channel::Channel;
use tactus_guest::emulation::{Access, Reply};
use tactus_guest::{devicetree, record};
use tactus_virtio::memory::Window;
use tactus_virtio::mmio::{Device, Outcome, Port, WORDS};

/// Rings the doorbells of these channels, as bits.
pub fn ring(channels: u32) {
    for number in (0..u32::BITS as usize).filter(|number| channels >> number & 1 != 0) {
        if let Some(channel) = Channel::find(number) {
            channel.ring();
        }
    }
}

/// A device, whose registers are in its channel's memory.
type Kept<D> = Port<D, Window, &'static [AtomicU64]>;

/// The devices of a VM, by channel: at most `N`.
pub struct Devices<D, const N: usize> {
    /// [`Devices::with`] uses the devices.
    used: AtomicBool,
    /// An access was lost meanwhile.
    lost: AtomicBool,
    devices: UnsafeCell<[Option<Kept<D>>; N]>,
    faults: Faults,
}

// SAFETY: only `with` uses the devices, by one vCPU at a time.
unsafe impl<D: Send, const N: usize> Sync for Devices<D, N> {}

impl<D: Device, const N: usize> Devices<D, N> {
    /// None yet.
    #[expect(clippy::new_without_default, reason = "it is for a static")]
    pub const fn new() -> Self {
        Self {
            used: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            devices: UnsafeCell::new([const { None }; N]),
            faults: Faults::none(),
        }
    }

    /// Makes the device of each channel: `make` is told the channel and its number, and gives the device and the words
    /// of the channel's memory that its registers are kept in. Ends the VM where there is no device for a channel. To
    /// be called once, before calls begin.
    pub fn make(&self, mut make: impl FnMut(usize, Channel) -> Option<(D, &'static [AtomicU64])>) {
        self.faults.begin();
        for number in 0..N {
            let Some(channel) = Channel::find(number) else {
                break;
            };
            let device = devicetree::peer_memory(number).and_then(|[here, size, there]| {
                let (device, kept) = make(number, channel)?;
                let kept = kept.get(..WORDS)?;
                // SAFETY: the devicetree is the system's own description of what it gives this VM, which uses it by
                // this window, and by words of the channel that are not in others.
                let memory = unsafe { Window::new(here, size, there as u64) };
                Some(Port::new(device, memory, kept))
            });
            if device.is_none() {
                record::give_up("a channel is too small, or no device");
            }
            let _ = self.with(|devices| devices[number] = device);
        }
    }

    /// Calls `what` with the devices, unless they are in use: by `make` or `resume`, as calls are one after the other.
    fn with<R>(&self, what: impl FnOnce(&mut [Option<Kept<D>>; N]) -> R) -> Option<R> {
        if self.used.swap(true, Ordering::Acquire) {
            return None;
        }
        // SAFETY: no other vCPU has found it unused since, and none does before it is unused again.
        let result = what(unsafe { &mut *self.devices.get() });
        self.used.store(false, Ordering::Release);
        Some(result)
    }

    /// For a device whose driver may wait in a loop that makes no access: serves what the driver waits for since a life
    /// before this one, in which its last access was lost. To be called when calls have begun, until it returns `true`:
    /// nothing is left then.
    pub fn resume(&self) -> bool {
        self.lost.store(false, Ordering::Relaxed);
        let mut is_done = true;
        for (number, channel) in (0..N).map_while(|number| Some((number, Channel::find(number)?))) {
            let more = self.with(|devices| {
                let device = devices[number].as_mut();
                device.is_some_and(|device| device.resume().again)
            });
            is_done &= more == Some(false);
            channel.ring();
        }
        is_done && !self.lost.load(Ordering::Relaxed)
    }

    /// An access of the driver at the other end of a channel. It is lost where that has no device, and while the
    /// devices are in use.
    fn access(&self, channel: usize, access: Access) -> Outcome {
        let outcome = self.with(|devices| {
            let device = devices.get_mut(channel)?.as_mut()?;
            Some(device.access(access.offset, access.size, access.store))
        });
        if outcome.is_none() {
            self.lost.store(true, Ordering::Relaxed);
        }
        self.faults.count();
        outcome.flatten().unwrap_or_default()
    }

    /// Serves a call, by which a driver makes an access.
    pub fn serve(&self, channel: usize, message: Message) -> Message {
        let outcome = self.access(channel, Access::of(message));
        let reply = Reply {
            value: outcome.value,
            ring: outcome.interrupts.then_some(channel as u32),
            again: outcome.again,
        };
        reply.into_message()
    }
}
