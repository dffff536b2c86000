//! A console (virtio 1.2, section 5.3) with one port, whose text waits in rings.
//!
//! A driver whose text finds no room makes its access again until there is some: it waits in its own time, and nothing
//! of others waits for it. After [`PATIENCE_MS`] without room the request's text is dropped, and a line says so: no
//! driver waits for ever for a reader that has stopped.

use core::fmt::{self, Write};

use crate::memory::{Memory, Window};
use crate::mmio::{Device, Served};
use crate::queue::{Chain, Fault, Queue};
use crate::text::{Mark, Ring};

/// The most bytes of text that are copied in one piece: what an access may take is bounded by it.
pub const PIECE_MAX: usize = 256;
/// How long a driver waits for room, at most.
pub const PATIENCE_MS: u64 = 200;

/// The queue from the console to its driver; the other one is from the driver (section 5.3.2).
const RECEIVE: usize = 0;
/// The longest line that tells of dropped text.
const NOTE_MAX: usize = 40;

/// A clock: the present time, in ticks.
pub type Clock = fn() -> u64;

/// A console.
#[derive(Debug)]
pub struct Console {
    /// What the driver has written.
    output: Ring<Window>,
    /// What it is to read.
    input: Ring<Window>,
    clock: Clock,
    /// Ticks that a driver waits, and since when it does.
    patience: u64,
    full_since: Option<u64>,
    /// Bytes that were dropped since the last line that says so.
    dropped: u32,
}

impl Console {
    /// A console before these rings, with a clock of `hz` ticks in a second. `None`: a ring is not whole.
    pub fn new(output: Ring<Window>, input: Ring<Window>, clock: Clock, hz: u64) -> Option<Self> {
        (output.is_whole() && input.is_whole()).then_some(Self {
            output,
            input,
            clock,
            patience: hz * PATIENCE_MS / 1000,
            full_since: None,
            dropped: 0,
        })
    }

    /// Whether the driver has waited for room for longer than it has to.
    fn has_no_patience(&mut self) -> bool {
        let now = (self.clock)();
        let since = *self.full_since.get_or_insert(now);
        now.saturating_sub(since) > self.patience
    }

    /// Tells of dropped text in front of the request of that number, if there is room for that.
    fn tell_of_dropped(&mut self, number: u16) {
        if self.dropped == 0 || self.output.room() < NOTE_MAX {
            return;
        }
        let mut note = Note {
            bytes: [0; NOTE_MAX],
            length: 0,
        };
        if write!(note, "\n[{} bytes lost]\n", self.dropped).is_ok() {
            let mark = Mark { number, done: 0 };
            self.output.write(&note.bytes[..note.length], mark);
        }
        self.dropped = 0;
    }

    /// The driver writes.
    fn transmit(&mut self, queue: &mut Queue, memory: &impl Memory) -> Result<Served, Fault> {
        let mut chain = Chain::EMPTY;
        if !queue.peek(memory, &mut chain)? {
            return Ok(Served::default());
        }
        if chain.buffers().iter().any(|buffer| buffer.writable) {
            return Err(Fault::Request);
        }
        let total = length_within(&chain, memory)?;
        let number = queue.next;
        let done = self.output.done(number).min(total);
        if done == 0 {
            self.tell_of_dropped(number);
        }
        let mut bytes = [0; PIECE_MAX];
        let left = (total - done) as usize;
        let length = left.min(PIECE_MAX).min(self.output.room());
        read(&chain, memory, done, &mut bytes[..length])?;
        if length > 0 {
            self.full_since = None;
            let done = done + length as u32;
            self.output.write(&bytes[..length], Mark { number, done });
        } else if left > 0 && self.has_no_patience() {
            self.dropped = self.dropped.saturating_add(left as u32);
        } else if left > 0 {
            return Ok(WAITS);
        }
        let is_dropped = length == 0;
        if length < left && !is_dropped {
            return Ok(WAITS);
        }
        let interrupts = queue.complete(memory, &chain, 0)?;
        Ok(Served {
            interrupts,
            more: queue.waiting(memory)? > 0,
        })
    }

    /// The driver reads: as much as there is, and its first buffer has room for. It is written as a whole, or not at
    /// all.
    fn receive(&self, queue: &mut Queue, memory: &impl Memory) -> Result<Served, Fault> {
        let mut bytes = [0; PIECE_MAX];
        let mut chain = Chain::EMPTY;
        if self.input.waiting() == 0 || !queue.peek(memory, &mut chain)? {
            return Ok(Served::default());
        }
        if chain.buffers().iter().any(|buffer| !buffer.writable) {
            return Err(Fault::Request);
        }
        let mut filled = chain.buffers().iter().filter(|buffer| buffer.length > 0);
        let first = filled.next().ok_or(Fault::Request)?;
        let room = PIECE_MAX.min(first.length as usize);
        let length = self.input.peek(0, &mut bytes[..room]);
        memory.write(first.address, &bytes[..length])?;
        // Lost, and not there twice, where this life ends between the two.
        self.input.skip(length);
        queue.complete(memory, &chain, length as u32)?;
        Ok(Served {
            // Whatever the driver wants: it has looked why it was interrupted, and is told.
            interrupts: true,
            more: self.input.waiting() > 0 && queue.waiting(memory)? > 0,
        })
    }
}

/// The access is made again.
const WAITS: Served = Served {
    interrupts: false,
    more: true,
};

/// The bytes of a request, all of which are in memory: nothing of another one is written.
fn length_within(chain: &Chain, memory: &impl Memory) -> Result<u32, Fault> {
    let mut total = 0u32;
    for buffer in chain.buffers() {
        total = total.checked_add(buffer.length).ok_or(Fault::Request)?;
        let Some(last) = buffer.length.checked_sub(1) else {
            continue;
        };
        let last = buffer.address.checked_add(last.into());
        memory.read(buffer.address, &mut [0])?;
        memory.read(last.ok_or(Fault::Outside)?, &mut [0])?;
    }
    Ok(total)
}

/// Copies the bytes of a request from the one of that number on.
fn read(chain: &Chain, memory: &impl Memory, from: u32, to: &mut [u8]) -> Result<(), Fault> {
    let mut skip = u64::from(from);
    let mut rest = to;
    for buffer in chain.buffers() {
        let length = u64::from(buffer.length);
        if skip >= length {
            skip -= length;
            continue;
        }
        let count = (length - skip).min(rest.len() as u64) as usize;
        let address = buffer.address.checked_add(skip).ok_or(Fault::Outside)?;
        let (now, later) = rest.split_at_mut(count);
        memory.read(address, now)?;
        rest = later;
        skip = 0;
    }
    Ok(())
}

/// A line in the making.
struct Note {
    bytes: [u8; NOTE_MAX],
    length: usize,
}

impl Write for Note {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let to = self.bytes[self.length..].get_mut(..text.len());
        to.ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

impl Device for Console {
    const KIND: u32 = 3;
    const QUEUES: usize = 2;

    fn features(&self) -> u64 {
        0
    }

    fn configuration(&self, _: u32, _: u8) -> u64 {
        0
    }

    fn reset(&mut self) {
        self.output.mark(Mark::default());
        self.full_since = None;
    }

    fn serve(
        &mut self,
        number: usize,
        queue: &mut Queue,
        memory: &impl Memory,
    ) -> Result<Served, Fault> {
        if number == RECEIVE {
            self.receive(queue, memory)
        } else {
            self.transmit(queue, memory)
        }
    }
}
