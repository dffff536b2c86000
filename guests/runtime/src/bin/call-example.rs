//! The Rust ends of `systems/freertos-calls.toml`. `role=table`: serves a table of values. `role=operator`: calls a
//! service in C (`guests/freertos/app/serve.c`) until the caller under FreeRTOS (`app/call.c`) says that it has ended.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use tactus_guest::call::{self, CallError, Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::{devicetree, record, start, stopwatch, time, trap};

tactus_guest::entry!(main);

/// Commands to the table, and its statuses (`guests/freertos/app/valve.h`).
mod table {
    pub const GET: u64 = 1;
    pub const SET: u64 = 2;
    pub const INVERT: u64 = 3;
    pub const DONE: u64 = 0;
    pub const REFUSED: u64 = 1;
    /// Its entries.
    pub const ENTRIES: usize = 16;
    /// The first one at first: the limit of the valve's position.
    pub const LIMIT: u64 = 40;
}

/// Commands to the valve, and its statuses (`guests/freertos/app/valve.h`).
mod valve {
    pub const MOVE: u64 = 1;
    pub const READ: u64 = 2;
    pub const DONE: u64 = 0;
    pub const REFUSED: u64 = 1;
    pub const BUSY: u64 = 2;
    pub const NO_LIMIT: u64 = 3;
    /// A position that no limit of the table allows.
    pub const TOO_FAR: u64 = 200;
}

/// The operator's channels: the first is the valve's, the other that of the caller that says when it has ended.
const VALVE: usize = 0;
const END: usize = 1;
/// Time between two of the operator's calls.
const PAUSE: Duration = Duration::from_micros(100);

static STACK: Stack = Stack::new();
static TABLE: [AtomicU64; table::ENTRIES] =
    [const { AtomicU64::new(table::LIMIT) }; table::ENTRIES];

fn main() {
    match devicetree::argument("role") {
        Some("table") => serve_table(),
        Some("operator") => operate(),
        _ => record::give_up("which role?"),
    }
}

/// Serves for ever.
fn serve_table() -> ! {
    if call::serve(answer, &STACK).is_err() {
        record::give_up("no VM may call this one");
    }
    loop {
        trap::wait_for_interrupt();
    }
}

fn answer(_: usize, message: Message) -> Message {
    let [command, entry, value, ..] = message;
    if command == table::INVERT {
        return message.map(|word| !word);
    }
    let entry = usize::try_from(entry)
        .ok()
        .and_then(|entry| TABLE.get(entry));
    let (status, value) = match (command, entry) {
        (table::GET, Some(entry)) => (table::DONE, entry.load(Ordering::Acquire)),
        (table::SET, Some(entry)) => (table::DONE, entry.swap(value, Ordering::AcqRel)),
        _ => (table::REFUSED, 0),
    };
    [status, value, 0, 0, 0, 0, 0, 0]
}

fn operate() {
    let end = Channel::find(END).and_then(|channel| channel.words().first());
    let end = end.unwrap_or_else(|| record::give_up("it has no second channel"));
    let (mut replies, mut closed) = (0u64, 0u64);
    while end.load(Ordering::Acquire) == 0 {
        let command = if replies & 1 == 0 {
            valve::MOVE
        } else {
            valve::READ
        };
        match call::call(VALVE, [command, valve::TOO_FAR, 0, 0, 0, 0, 0, 0]) {
            Ok([status, ..]) => {
                replies += 1;
                let expected = match command {
                    // The table may not serve yet.
                    valve::MOVE => matches!(status, valve::REFUSED | valve::NO_LIMIT),
                    _ => matches!(status, valve::DONE | valve::BUSY),
                };
                if !expected {
                    record::give_up("the valve has another reply");
                }
            }
            // It has not started yet, or restarts.
            Err(CallError::Closed) => closed += 1,
            Err(_) => record::give_up("a call fails"),
        }
        stopwatch::wait_until(time::now() + time::ticks(PAUSE));
    }
    record::metric("replies", replies, "count");
    record::metric("closed", closed, "count");
    if replies == 0 {
        record::give_up("the valve never serves");
    }
    record::pass(start::program());
    end.store(2, Ordering::Release);
}
