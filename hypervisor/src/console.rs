//! All VMs' consoles and the hypervisor's log on one line; the framing is [`tactus_abi::console`]'s.

use crate::arch::firmware;
use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tactus_abi::blob::limit;
use tactus_abi::console::{Demux, Event, LOG_STREAM, SELECT, STREAM_BASE};
use tactus_abi::uart;
use tactus_hypervisor::lock::Lock;
use tactus_hypervisor::ring::Ring;
use tactus_policy::table::{Array, bits};

/// Bytes that wait for each stream.
const BUFFER: usize = 2048;
const STREAMS: usize = limit::VMS + 1;
/// Bytes that a stream sends at most before it is another's turn; more than a line of the log or a record.
const TURN: usize = 512;
/// Bytes sent at once at most: few, since interrupts wait meanwhile.
const SEND_AT_ONCE: usize = 2;
/// Bytes taken from the UART at once at most.
const RECEIVE_AT_ONCE: usize = 4;

#[derive(Clone, Copy)]
enum Line {
    /// The firmware's console.
    Firmware,
    /// A 16550 at this physical address; `true`: with its interrupt.
    Uart(u64, bool),
}

struct Console {
    line: Line,
    buffers: Array<Ring<BUFFER>, STREAMS>,
    /// Streams with bytes waiting.
    waiting: u64,
    /// Streams that had no room for a byte and have not been told of room since.
    starved: u64,
    /// The stream that the line's bytes belong to.
    selected: Option<u8>,
    /// The selected stream has had its turn: its last byte ended a line of text, or it has sent many.
    turn_over: bool,
    /// Bytes it has sent in this turn.
    sent: usize,
    /// Second byte of a sequence whose first has been sent.
    escape: Option<u8>,
    /// The UART interrupts when it can take bytes.
    armed: bool,
    /// Bytes of the log that found no room.
    lost: u32,
    input: Demux,
}

static CONSOLE: Lock<Console> = Lock::new(Console {
    line: Line::Firmware,
    buffers: Array([const { Ring::new() }; STREAMS]),
    waiting: 0,
    starved: 0,
    selected: None,
    turn_over: false,
    sent: 0,
    escape: None,
    armed: false,
    lost: 0,
    input: Demux::new(),
});

/// Bytes wait to be sent, and no interrupt will say when: as far as is known without the lock.
static UNSENT: AtomicBool = AtomicBool::new(false);

/// Streams, as bits, whose buffers may be full.
static FULL: AtomicU64 = AtomicU64::new(0);

/// Streams, as bits, that have room again.
pub type Room = u64;

impl Console {
    fn ready(&self) -> bool {
        match self.line {
            Line::Firmware => true,
            Line::Uart(base, _) => uart_read(base, uart::LSR) & uart::LSR_TRANSMITTER_EMPTY != 0,
        }
    }

    fn send(&self, byte: u8) {
        match self.line {
            Line::Firmware => firmware::console_write(byte),
            Line::Uart(base, _) => uart_write(base, uart::DATA, byte),
        }
    }

    /// Adds as many of the bytes as there is room for; how many.
    #[inline(never)]
    fn push(&mut self, stream: u8, bytes: &[u8]) -> usize {
        let buffer = &mut self.buffers[usize::from(stream)];
        let taken = buffer.push_all(bytes);
        if taken > 0 {
            self.waiting |= 1 << stream;
        }
        if taken < bytes.len() {
            self.starved |= 1 << stream;
        }
        if buffer.space() == 0 {
            FULL.fetch_or(1 << stream, Ordering::Relaxed);
        }
        taken
    }

    /// Whose turn it is. A stream keeps the line to the end of a line of text of up to [`TURN`] bytes, as long as it
    /// has bytes.
    fn turn(&self) -> Option<u8> {
        if self.waiting == 0 {
            return None;
        }
        let after = match self.selected {
            Some(stream) if self.waiting >> stream & 1 != 0 && !self.turn_over => {
                return Some(stream);
            }
            Some(stream) => u64::MAX << stream << 1,
            None => u64::MAX,
        };
        let later = self.waiting & after;
        Some(if later != 0 { later } else { self.waiting }.trailing_zeros() as u8)
    }

    /// The next byte for the line.
    fn next(&mut self) -> Option<u8> {
        if let Some(byte) = self.escape.take() {
            return Some(byte);
        }
        let stream = self.turn()?;
        if self.turn_over {
            self.turn_over = false;
            self.sent = 0;
        }
        if self.selected != Some(stream) {
            self.selected = Some(stream);
            self.sent = 0;
            self.escape = Some(STREAM_BASE + stream);
            return Some(SELECT);
        }
        let buffer = &mut self.buffers[usize::from(stream)];
        let byte = buffer.pop()?;
        if buffer.is_empty() {
            self.waiting &= !(1 << stream);
        }
        if byte == SELECT {
            self.escape = Some(SELECT);
        }
        self.sent += 1;
        self.turn_over = byte == b'\n' || self.sent >= TURN;
        Some(byte)
    }

    /// Has what waits sent, if there is `more` of it: by a hart that the UART interrupts, or by one that looks for it.
    fn arm(&mut self, more: bool) {
        if let Line::Uart(base, true) = self.line {
            if more != self.armed {
                self.armed = more;
                let transmit = if more { uart::IER_TRANSMITTER_EMPTY } else { 0 };
                uart_write(base, uart::IER, uart::IER_RECEIVED | transmit);
            }
        } else {
            UNSENT.store(more, Ordering::Relaxed);
        }
    }

    /// Sends up to `few` bytes, as far as the line takes them.
    fn pump(&mut self, few: usize) -> Room {
        let few = match self.line {
            // Hundreds of instructions a byte, and nothing interrupts the firmware.
            Line::Firmware => 1,
            Line::Uart(..) => few,
        };
        for _ in 0..few {
            if !self.ready() {
                break;
            }
            let Some(byte) = self.next() else { break };
            self.send(byte);
        }
        self.arm(self.waiting != 0 || self.escape.is_some());
        let mut room = 0;
        for stream in bits(self.starved) {
            if self.buffers[stream].space() >= BUFFER / 2 {
                self.starved &= !(1 << stream);
                FULL.fetch_and(!(1 << stream), Ordering::Relaxed);
                room |= 1 << stream;
            }
        }
        room
    }
}

fn uart_read(base: u64, register: u64) -> u8 {
    // Safety: a register of the UART that the configuration names; no guest can reach it.
    unsafe { read_volatile((base + register) as *const u8) }
}

fn uart_write(base: u64, register: u64, value: u8) {
    // Safety: as for `uart_read`.
    unsafe { write_volatile((base + register) as *mut u8, value) }
}

/// Uses a 16550 at physical address `base` for the line, and its interrupt or not.
///
/// # Safety
/// `base` is the address of a 16550 with byte-wide registers that no guest can reach.
pub unsafe fn use_uart(base: u64, interrupt: bool) {
    let mut console = CONSOLE.lock();
    console.line = Line::Uart(base, interrupt);
    if interrupt {
        uart_write(base, uart::IER, uart::IER_RECEIVED);
    }
}

/// Whether a stream's buffer can take a byte.
pub fn has_room(stream: u8) -> bool {
    FULL.load(Ordering::Relaxed) >> stream & 1 == 0 || has_room_again(stream)
}

#[cold]
#[inline(never)]
fn has_room_again(stream: u8) -> bool {
    let mut console = CONSOLE.lock();
    let space = console.buffers[usize::from(stream)].space();
    if space == 0 {
        console.starved |= 1 << stream;
    } else if space >= BUFFER / 2 {
        FULL.fetch_and(!(1 << stream), Ordering::Relaxed);
    }
    space > 0
}

/// Adds a stream's bytes; tells how many were taken, and which streams have room again.
pub fn write(stream: u8, bytes: &[u8]) -> (usize, Room) {
    let mut console = CONSOLE.lock();
    let taken = console.push(stream, bytes);
    let room = console.pump(taken.min(SEND_AT_ONCE));
    (taken, room)
}

/// Whether bytes wait to be sent that no interrupt will see to.
pub fn has_unsent() -> bool {
    UNSENT.load(Ordering::Relaxed)
}

/// Sends a few of the bytes that wait.
pub fn pump() -> Room {
    CONSOLE.lock().pump(SEND_AT_ONCE)
}

/// Serves the UART's interrupt: sends what it takes, and takes what it has got, byte by byte, as (stream, byte).
pub fn interrupt(mut deliver: impl FnMut(u8, u8)) -> Room {
    let mut received = [0; RECEIVE_AT_ONCE];
    let mut count = 0;
    let room = {
        let mut console = CONSOLE.lock();
        if let Line::Uart(base, _) = console.line {
            while count < received.len() && uart_read(base, uart::LSR) & uart::LSR_RECEIVED != 0 {
                received[count] = uart_read(base, uart::DATA);
                count += 1;
            }
        }
        console.pump(SEND_AT_ONCE)
    };
    for &byte in &received[..count] {
        let event = CONSOLE.lock().input.push(byte);
        if let Event::Byte(Some(stream), byte) = event {
            deliver(stream, byte);
        }
    }
    room
}

/// Sends all that waits, however long it takes: before the machine stops. Other harts, which serve interrupts
/// meanwhile, wait for a piece of it at most.
#[inline(never)]
pub fn flush() {
    loop {
        let mut console = CONSOLE.lock();
        console.pump(SEND_AT_ONCE);
        if console.waiting == 0 && console.escape.is_none() {
            return;
        }
    }
}

/// Adds a line to the log's stream. A line without room is dropped and counted.
pub fn log(line: &[u8]) {
    let mut console = CONSOLE.lock();
    let room = console.buffers[usize::from(LOG_STREAM)].space();
    if room < line.len() {
        console.lost = console.lost.saturating_add(line.len() as u32);
        return;
    }
    console.push(LOG_STREAM, line);
    console.arm(true);
}

/// Bytes of the log that were dropped since this was asked last.
pub fn take_lost() -> u32 {
    core::mem::take(&mut CONSOLE.lock().lost)
}

/// Copies what a stream has written, sent or not, from byte `position` of all on; how many.
///
/// # Errors
/// What is kept does not include it, nor is it the next; the first byte that is kept.
#[cfg(feature = "management")]
pub fn recall(stream: u8, position: u64, to: &mut [u8]) -> Result<usize, u64> {
    const { assert!(BUFFER == tactus_abi::management::CONSOLE_KEPT) };
    let console = CONSOLE.lock();
    let (written, bytes) = console.buffers[usize::from(stream)].pushed();
    let end = u64::from(written);
    let first = end.saturating_sub(BUFFER as u64);
    if !(first..=end).contains(&position) {
        return Err(first);
    }
    for (byte, at) in to.iter_mut().zip(position..end) {
        *byte = bytes[at as usize % BUFFER];
    }
    Ok(to.len().min((end - position) as usize))
}
