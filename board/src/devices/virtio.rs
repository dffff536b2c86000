//! virtio devices (Virtual I/O Device specification 1.2), over memory-mapped registers and as PCI functions.
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
mod core;
mod entropy;
mod mmio;
mod net;
mod pci;
mod ring;

pub use block::{Block, Disk, Latency};
pub use chain::{Chain, LENGTH_MAX};
pub use console::VirtioConsole;
pub use entropy::Entropy;
pub use mmio::Virtio;
pub use net::{BadFrame, FRAME_MAX, FarEnd, Frame, Net, Sent};
pub(crate) use pci::VirtioFunction;

use crate::bus::BadState;
use crate::time::Femtoseconds;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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

    /// Set when something has come from outside while the board did not run; `None`: nothing ever does.
    fn attention(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// Serves a request.
    ///
    /// # Errors
    ///
    /// When it makes no sense: the device then needs to be reset.
    fn serve(
        &mut self,
        queue: usize,
        chain: &mut Chain<'_>,
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
