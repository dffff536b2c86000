//! A real-time guest whose every job is the same work: what a job takes beside others, and alone, is what they cost it.
//!
//! Its vCPU has a reservation; a job begins with its release. Boot arguments: `jobs=N` (200): measured jobs, after one
//! that warms up; `steps=N` (50000): length of the loop that is a job; `listen=HOW` (`none`): how it takes the doorbells
//! of all its channels: `none`: not at all; `masked`: enabled at the controller, never taken; `page`: by an interrupt
//! page, never taken; `unmasked`: taken by a handler in the midst of a job.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    channel::Channel, devicetree, interrupts, power, println, record, rt, start, stopwatch::Spread,
    time, trap,
};

tactus_guest::entry!(main);

/// Doorbells taken by the handler.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// A job: registers only, so that the neighbours' caches cost it nothing.
fn work(steps: u64) {
    // SAFETY: counts a register down.
    unsafe {
        asm!("0: addi {0}, {0}, -1", "bnez {0}, 0b", inout(reg) steps => _, options(nomem, nostack));
    }
}

/// Enables the doorbells of all channels.
fn listen(how: &str) {
    if how == "none" {
        return;
    }
    if how == "page" {
        interrupts::use_page().expect("Tactus has interrupt pages");
    }
    for channel in (0..).map_while(Channel::find) {
        channel.enable_interrupt(1);
    }
    if how == "unmasked" {
        trap::on_external(|_| {
            TAKEN.fetch_add(1, Ordering::Relaxed);
        });
        trap::enable_interrupts();
    }
}

fn main() {
    let jobs = devicetree::number("jobs", 200);
    let steps = devicetree::number("steps", 50_000);
    listen(devicetree::argument("listen").unwrap_or("none"));
    let status = || rt::status().expect("it has a reservation");
    let mut cycles = Spread::new();
    let job = || {
        rt::yield_now();
        let begin = time::cycles();
        work(steps);
        time::cycles() - begin
    };
    // Its start takes longer than a budget.
    job();
    let before = status();
    for _ in 0..jobs {
        cycles.add(job());
    }
    // The account of the last job is not closed before the next release.
    rt::yield_now();
    let after = status();
    let [overruns, missed] = [
        after.overruns - before.overruns,
        after.missed - before.missed,
    ];
    println!(
        "{jobs} jobs: {} to {} cycles, {overruns} cut off, {missed} late, {} doorbells",
        cycles.min,
        cycles.max,
        TAKEN.load(Ordering::Relaxed)
    );
    record::metric("victim_job_cycles_min", cycles.min, "cycles");
    record::metric("victim_job_cycles_max", cycles.max, "cycles");
    record::metric("victim_overruns", overruns, "count");
    record::metric("victim_missed", missed, "count");
    record::metric("victim_doorbells", TAKEN.load(Ordering::Relaxed), "count");
    record::pass(start::program());
    power::off();
}
