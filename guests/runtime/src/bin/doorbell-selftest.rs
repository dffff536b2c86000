//! Doorbells that cross each other: with the boot argument `channels=N` a VM answers each ring of N channels with one;
//! without, it rings its only channel and waits for the answer, again and again. Several of these ring at the same
//! time, and none must be lost. With `page=1` it takes its interrupts by a page. `systems/doorbell.toml` and
//! `systems/doorbell-page.toml` say who is who.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use tactus_guest::abi::map;
use tactus_guest::channel::Channel;
use tactus_guest::{devicetree, hypervisor, interrupts, power, record, start, time, trap};

tactus_guest::entry!(main);

/// Rings of each VM that is answered.
const ROUNDS: u32 = 3_000;
/// Ticks between them.
const PAUSE: u32 = 50;
/// No answer takes so long.
const LOST: Duration = Duration::from_millis(100);

static HEARD: AtomicU32 = AtomicU32::new(0);

fn main() {
    if devicetree::number("page", 0) != 0 {
        interrupts::use_page().expect("it is a VM");
    }
    trap::enable_interrupts();
    match devicetree::number("channels", 0) {
        0 => ask(),
        channels => answer(channels as u32),
    }
    record::metric("doorbells", HEARD.load(Ordering::Relaxed), "count");
    record::pass(start::program());
}

fn channel(number: u32) -> Channel {
    Channel::find(number as usize).expect("the system gives it the channel")
}

fn answer(channels: u32) {
    trap::on_external(|source| {
        let number = source - map::CHANNEL_SOURCE;
        hypervisor::channel_notify(number as usize).expect("it has the channel");
        HEARD.fetch_add(1, Ordering::Relaxed);
    });
    for number in 0..channels {
        channel(number).enable_interrupt(1);
    }
    while HEARD.load(Ordering::Relaxed) < channels * ROUNDS {
        trap::wait_for_interrupt();
    }
}

fn ask() {
    trap::on_external(|_| {
        HEARD.fetch_add(1, Ordering::Relaxed);
    });
    let channel = channel(0);
    channel.enable_interrupt(1);
    for round in 0..ROUNDS {
        // Sooner or later, so that rings meet in all ways; but not so soon that the first channel's are all that is
        // ever answered.
        time::busy_wait(u64::from(PAUSE + round % PAUSE));
        channel.ring();
        let end = time::now() + time::ticks(LOST);
        while HEARD.load(Ordering::Relaxed) <= round {
            if time::now() >= end {
                record::fail(
                    start::program(),
                    format_args!("ring {round} is not answered"),
                );
                power::off_failed();
            }
            core::hint::spin_loop();
        }
    }
}
