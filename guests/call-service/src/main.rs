//! A service that other VMs call (`systems/linux-calls.toml`).
//!
//! `role=service`: keeps a table. Linux's programs call it by the window of a channel with `device`, other guests by
//! hypercalls, all with the same messages. `clients=N` (32) is how many of Linux's programs may call at a time.
//! `role=control`: a real-time guest that calls the service each millisecond, until the first word of its last
//! channel's memory is not 0. A release that is later than `bound=N` microseconds (150) is an error.
#![no_std]
#![no_main]

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use tactus_call_window::{CLIENTS_MAX, Window};
use tactus_guest::call::{self, CallError, Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::emulation::{Access, Reply};
use tactus_guest::stopwatch;
use tactus_guest::{devicetree, power, record, start, time, trap};

tactus_guest::entry!(main);

/// Commands: the first word of a message. The second is an entry, or a number of bytes, the third a value.
mod command {
    /// Does nothing.
    pub const NOTHING: u64 = 0;
    /// Replies with all further words inverted.
    pub const INVERT: u64 = 1;
    /// Replies with an entry's value.
    pub const GET: u64 = 2;
    /// Stores a value, and replies with the one before.
    pub const SET: u64 = 3;
    /// Adds a value, and replies with the sum.
    pub const ADD: u64 = 4;
    /// Makes lower-case letters in the first bytes of the client's data upper-case.
    pub const UPPER: u64 = 5;
    /// A fault of the service, for tests.
    pub const FAULT: u64 = 6;
    /// A call that does not end, for tests.
    pub const HANG: u64 = 7;
}

/// Statuses: the first word of a reply. The last word is the message's.
mod status {
    pub const DONE: u64 = 0;
    /// No such command, no such entry, or more bytes than the client has data. Nothing was changed.
    pub const REFUSED: u64 = 1;
}

/// "STORE", and a version.
const SERVICE: u64 = u64::from_le_bytes(*b"STORE\0\0\x01");
/// Entries of the table.
const ENTRIES: usize = 16;
/// Channels of this VM, at most.
const CHANNELS: usize = 32;
/// Time between two calls of `role=control`.
const PERIOD: Duration = Duration::from_millis(1);
/// The entry that `role=control` adds to.
const OWN_ENTRY: u64 = 15;

/// The windows, by channel. Made before calls begin.
struct Windows(UnsafeCell<[Option<Window<'static>>; CHANNELS]>);

// SAFETY: `serve` makes them before the first call; then nothing writes them.
unsafe impl Sync for Windows {}

static WINDOWS: Windows = Windows(UnsafeCell::new([None; CHANNELS]));
static STACK: Stack = Stack::new();
static TABLE: [AtomicU64; ENTRIES] = [const { AtomicU64::new(0) }; ENTRIES];

fn main() {
    match devicetree::argument("role") {
        Some("service") => serve(),
        Some("control") => control(),
        _ => record::give_up("which role?"),
    }
}

fn serve() -> ! {
    let clients = devicetree::number("clients", CLIENTS_MAX as u64) as usize;
    for number in 0..CHANNELS {
        // Only a channel with a window has it.
        if devicetree::peer_memory(number).is_none() {
            continue;
        }
        let channel = Channel::find(number);
        let window = channel.and_then(|it| Window::new(it.words(), clients, SERVICE, time::now()));
        if window.is_none() {
            record::give_up("`clients` is not 1 to 32");
        }
        // SAFETY: no calls yet.
        unsafe { (*WINDOWS.0.get())[number] = window };
    }
    if call::serve(answer, &STACK).is_err() {
        record::give_up("no VM may call this one");
    }
    loop {
        trap::wait_for_interrupt();
    }
}

/// A call by a window's load, or by a hypercall.
fn answer(channel: usize, message: Message) -> Message {
    // SAFETY: `serve` has made them, and nothing writes them.
    let windows = unsafe { &*WINDOWS.0.get() };
    match windows.get(channel) {
        Some(Some(window)) => {
            let access = Access::of(message);
            let value = window.access(access.offset, access.store, |call| {
                execute(call.message, call.data)
            });
            Reply::value(value).into_message()
        }
        _ => execute(message, &[]),
    }
}

/// Executes a command, with the data of the one that calls.
fn execute(message: Message, data: &[AtomicU64]) -> Message {
    let [command, argument, value, .., last] = message;
    let entry = usize::try_from(argument)
        .ok()
        .and_then(|entry| TABLE.get(entry));
    let done = |value| [status::DONE, value, 0, 0, 0, 0, 0, last];
    match (command, entry) {
        (command::NOTHING, _) => done(0),
        (command::INVERT, _) => {
            let mut reply = message.map(|word| !word);
            reply[0] = status::DONE;
            reply
        }
        (command::GET, Some(entry)) => done(entry.load(Ordering::Acquire)),
        (command::SET, Some(entry)) => done(entry.swap(value, Ordering::AcqRel)),
        (command::ADD, Some(entry)) => {
            done(entry.fetch_add(value, Ordering::AcqRel).wrapping_add(value))
        }
        (command::UPPER, _) if argument <= size_of_val(data) as u64 => done(upper(data, argument)),
        // SAFETY: the VM has a fault by it.
        (command::FAULT, _) => unsafe { asm!("unimp", options(noreturn)) },
        (command::HANG, _) => loop {
            core::hint::spin_loop();
        },
        _ => [status::REFUSED, 0, 0, 0, 0, 0, 0, last],
    }
}

/// Makes the letters in the first bytes upper-case; returns how many were not.
fn upper(data: &[AtomicU64], bytes: u64) -> u64 {
    let mut changed = 0;
    for (number, word) in data.iter().enumerate() {
        let left = bytes.saturating_sub(8 * number as u64);
        if left == 0 {
            break;
        }
        // The client may change its data now: what is stored was made of one load.
        let mut text = word.load(Ordering::Relaxed).to_le_bytes();
        for letter in text.iter_mut().take(left.min(8) as usize) {
            changed += u64::from(letter.is_ascii_lowercase());
            letter.make_ascii_uppercase();
        }
        word.store(u64::from_le_bytes(text), Ordering::Relaxed);
    }
    changed
}

fn control() {
    let channels = (0..).map_while(Channel::find);
    let end = channels.last().and_then(|channel| channel.words().first());
    let end = end.unwrap_or_else(|| record::give_up("it has no channel"));
    let bound = time::ticks(Duration::from_micros(devicetree::number("bound", 150)));
    let period = time::ticks(PERIOD);
    let (mut replies, mut closed, mut wrong) = (0u64, 0u64, 0u64);
    let (mut latest, mut too_late) = (0, 0u64);
    let mut total = None;
    let mut deadline = time::now() + period;
    while end.load(Ordering::Acquire) == 0 {
        stopwatch::wait_until(deadline);
        let late = time::now() - deadline;
        latest = late.max(latest);
        too_late += u64::from(late > bound);
        deadline += period;
        match call::call(0, [command::ADD, OWN_ENTRY, 1, 0, 0, 0, 0, replies]) {
            Ok([status::DONE, sum, .., last]) => {
                // It counts on, or begins at 1 where the service has restarted.
                wrong +=
                    u64::from(last != replies || total.is_some_and(|it| sum != it + 1) && sum != 1);
                total = Some(sum);
                replies += 1;
            }
            // It has not started yet, or restarts.
            Err(CallError::Closed) => closed += 1,
            _ => wrong += 1,
        }
    }
    record::metric("replies", replies, "count");
    record::metric("closed", closed, "count");
    record::metric("late_max", latest * 1_000_000_000 / time::hz(), "ns");
    let verdict = match (wrong, too_late, replies) {
        (_, _, 0) => Err("the service never serves"),
        (0, 0, _) => Ok(()),
        (0, _, _) => Err("a release was later than the bound"),
        _ => Err("a reply is wrong"),
    };
    match verdict {
        Ok(()) => record::pass(start::program()),
        Err(reason) => {
            record::fail(start::program(), reason);
            power::off_failed();
        }
    }
    end.store(2, Ordering::Release);
}
