//! Text to the console: by the SBI's debug console where there is one, else by the 16550.
//!
//! The debug console takes physical addresses: it serves as long as the guest's own translation (off at first) leaves
//! this crate's memory where it is.

use core::fmt::{self, Write};
use core::sync::atomic::{AtomicUsize, Ordering};

use sbi_spec::dbcn::EID_DBCN;

use crate::{sbi, start, uart::Uart};

/// Prints to the console, as `std::print!`.
#[macro_export]
macro_rules! print {
    ($($arguments:tt)*) => { $crate::console::print(::core::format_args!($($arguments)*)) };
}

/// Prints a line to the console, as `std::println!`.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($arguments:tt)*) => { $crate::print!("{}\n", ::core::format_args!($($arguments)*)) };
}

/// The destination of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Sink {
    /// The SBI's debug console.
    DebugConsole = 1,
    /// The 16550.
    Uart = 2,
}

/// The sink in use, 0 before it is known.
static SINK: AtomicUsize = AtomicUsize::new(0);
/// Number of the hart that prints, plus one; 0 when none does.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// Sends all further text to `sink` instead of the default.
pub fn use_sink(sink: Sink) {
    SINK.store(sink as usize, Ordering::Relaxed);
}

fn sink() -> Sink {
    match SINK.load(Ordering::Relaxed) {
        1 => Sink::DebugConsole,
        2 => Sink::Uart,
        _ => {
            let sink = if sbi::probe(EID_DBCN) {
                Sink::DebugConsole
            } else {
                Sink::Uart
            };
            use_sink(sink);
            sink
        }
    }
}

/// Prints. Texts of different vCPUs do not interleave. The text of an interrupt handler that interrupts printing on its
/// own vCPU is inserted there.
pub fn print(text: fmt::Arguments<'_>) {
    let me = start::hart() + 1;
    let nested = OWNER.load(Ordering::Relaxed) == me;
    if !nested {
        while OWNER
            .compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            core::hint::spin_loop();
        }
    }
    let mut chunk = Chunk {
        sink: sink(),
        length: 0,
        bytes: [0; 256],
    };
    // Neither `Chunk` nor the text of a correct `Display` fails, and an error could not be reported.
    let _ = chunk.write_fmt(text);
    chunk.flush();
    if !nested {
        OWNER.store(0, Ordering::Release);
    }
}

/// Releases the console for the caller, even if a vCPU is printing.
///
/// # Safety
///
/// Sound at any time; `unsafe` marks that another vCPU's text may be torn. For the panic handler.
pub(crate) unsafe fn steal() {
    OWNER.store(0, Ordering::Release);
}

/// A buffer for text, so that a call below is made for a line and not for a word.
struct Chunk {
    sink: Sink,
    length: usize,
    bytes: [u8; 256],
}

impl Chunk {
    fn flush(&mut self) {
        let mut bytes = &self.bytes[..self.length];
        self.length = 0;
        while !bytes.is_empty() {
            match self.sink {
                Sink::DebugConsole => match sbi::console_write(bytes) {
                    Ok(taken) => bytes = bytes.get(taken..).unwrap_or_default(),
                    // An error cannot be reported, and the program need not stop for lost text.
                    Err(_) => return,
                },
                Sink::Uart => {
                    for &byte in bytes {
                        Uart::CONSOLE.send(byte);
                    }
                    return;
                }
            }
        }
    }
}

impl Write for Chunk {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.length == self.bytes.len() {
                self.flush();
            }
            self.bytes[self.length] = byte;
            self.length += 1;
        }
        Ok(())
    }
}
