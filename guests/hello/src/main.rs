//! The first guest to try: it prints, takes five timer interrupts, and powers off.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{devicetree, println, record, start, time, trap};

tactus_guest::entry!(main);

/// Interrupts to wait for.
const BEATS: u64 = 5;

static BEATS_SEEN: AtomicU64 = AtomicU64::new(0);

fn main() {
    println!(
        "Hello from vCPU {}, boot arguments \"{}\".",
        start::hart(),
        devicetree::arguments()
    );
    trap::on_timer(beat);
    time::set_deadline(time::now() + time::hz() / 1000);
    trap::enable_interrupts();
    while BEATS_SEEN.load(Ordering::Relaxed) < BEATS {
        trap::wait_for_interrupt();
    }
    record::pass(start::program());
    // Returning from here powers the machine off.
}

/// Handles a timer interrupt: counts it and schedules the next, a millisecond later.
fn beat() {
    time::set_deadline(time::now() + time::hz() / 1000);
    let beats = BEATS_SEEN.fetch_add(1, Ordering::Relaxed) + 1;
    println!("beat {beats} at {} ticks", time::now());
}
