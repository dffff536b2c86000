//! Devices that this VM emulates for others (`device` of a channel in `system.toml`, [`tactus_abi::blob::calls`]).
//!
//! ```ignore
//! // A register that adds what is stored to it.
//! fn access(_channel: usize, access: Access) -> Reply {
//!     match access.store {
//!         Some(value) => {
//!             SUM.fetch_add(value, Ordering::Relaxed);
//!             Reply::DONE
//!         }
//!         None => Reply::value(SUM.load(Ordering::Relaxed)),
//!     }
//! }
//! call::serve(|channel, message| access(channel, Access::of(message)).into_message(), &STACK)?;
//! ```

use tactus_abi::blob::calls::{AGAIN, RING, SIZE_SHIFT, STORE};

use crate::call::{self, Message, Serve, Stack};
use crate::channel::Channel;
use crate::{record, trap};

/// Serves calls by `serve`, with that stack, and does nothing else; ends the run where no VM has a device here. To be
/// called when the devices are made.
pub fn run<const BYTES: usize>(serve: Serve, stack: &'static Stack<BYTES>) -> ! {
    begin(serve, stack);
    loop {
        trap::wait_for_interrupt();
    }
}

/// Serves calls as [`run`], and returns: for a VM that does something else as well.
pub fn begin<const BYTES: usize>(serve: Serve, stack: &'static Stack<BYTES>) {
    if call::serve(serve, stack).is_err() {
        record::give_up("no VM has a device here");
    }
    // A life before this one may have left requests, which the drivers' looks for interrupts serve.
    for channel in (0..).map_while(Channel::find) {
        channel.ring();
    }
}

/// A load or store in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where, from the window's first byte; a multiple of `size`.
    pub offset: u32,
    /// Bytes: 1, 2, 4 or 8. A caller that has made the call itself may say another number.
    pub size: u8,
    /// What is stored, in the lowest `size` bytes; `None`: it is a load.
    pub store: Option<u64>,
}

impl Access {
    /// The access that a call is for.
    pub const fn of([place, value, ..]: Message) -> Self {
        Self {
            offset: place as u32,
            size: (place >> SIZE_SHIFT) as u8,
            store: if place & STORE == 0 {
                None
            } else {
                Some(value)
            },
        }
    }
}

/// The end of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What a load gets: its lowest bytes, extended as the instruction says.
    pub value: u64,
    /// The doorbell of this VM's channel of that number rings, for the VM at its other end: the interrupt of the device
    /// that it has there.
    pub ring: Option<u32>,
    /// The access is not done: its instruction is executed again, after pending interrupts.
    pub again: bool,
}

impl Reply {
    /// A store is done.
    pub const DONE: Self = Self::value(0);
    /// A part of a long access is done.
    pub const AGAIN: Self = Self {
        again: true,
        ..Self::DONE
    };

    /// A load gets that.
    pub const fn value(value: u64) -> Self {
        Self {
            value,
            ring: None,
            again: false,
        }
    }

    /// The reply as a call's.
    pub const fn into_message(self) -> Message {
        let ring = match self.ring {
            Some(channel) => RING | channel as u64,
            None => 0,
        };
        let again = if self.again { AGAIN } else { 0 };
        [self.value, ring | again, 0, 0, 0, 0, 0, 0]
    }
}
