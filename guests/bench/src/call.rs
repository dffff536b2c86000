//! How long a call of another VM takes, from before it to behind its reply, in cycles. One VM runs this as
//! `role=caller`: `samples=` calls, after 16 that are not counted; with `cold=1` it evicts the caches before each. The
//! other runs it as `role=server`, and gives each message back.
#![no_std]
#![no_main]

use core::time::Duration;

use tactus_bench::Samples;
use tactus_guest::call::{self, CallError, Stack};
use tactus_guest::{devicetree, power, record, start, stopwatch, time, trap};

tactus_guest::entry!(main);

/// Rounds before those that are counted.
const WARM: usize = 16;
/// Time between two calls before that.
const PAUSE: Duration = Duration::from_micros(100);
/// The server serves within this time.
const START: Duration = Duration::from_millis(200);

static STACK: Stack = Stack::new();

fn main() {
    match devicetree::argument("role") {
        Some("caller") => measure(),
        Some("server") => serve(),
        _ => refuse("the boot arguments name no role"),
    }
}

/// Ends a run whose configuration permits no measurement.
fn refuse(reason: &str) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}

fn serve() -> ! {
    if call::serve(|_, message| message, &STACK).is_err() {
        refuse("the VM may not serve");
    }
    loop {
        trap::wait_for_interrupt();
    }
}

fn measure() {
    let samples = devicetree::number("samples", 250) as usize;
    let cold = devicetree::number("cold", 0) != 0;
    let end = time::now() + time::ticks(START);
    while call::call(0, [0; 8]) == Err(CallError::Closed) {
        if time::now() >= end {
            refuse("no VM serves");
        }
        // Gives up the hart.
        stopwatch::wait_until(time::now() + time::ticks(PAUSE));
    }
    let mut calls = Samples::new(WARM);
    for round in 0..WARM + samples.min(calls.room()) {
        let message = [round as u64, 1, 2, 3, 4, 5, 6, 7];
        if cold {
            tactus_bench::evict();
        }
        let before = time::cycles();
        let reply = call::call(0, message);
        let after = time::cycles();
        if reply != Ok(message) {
            refuse("another reply");
        }
        calls.add(after - before);
    }
    calls.report("call");
    record::pass(start::program());
}
