//! A real-time guest whose every job is the same work: what a job takes beside others, and alone, is what they cost it.
//!
//! Its vCPU has a reservation; a job begins with its release. Boot arguments: `jobs=N` (200): measured jobs; `warm=N`
//! (1): jobs before them, which warm up; `steps=N` (50000): length of the loop that is a job; `kib=N` (0): memory that
//! a job reads as well, at most 512, line by line, `passes=N` (2) times; `listen=HOW` (`none`): how it takes the
//! doorbells of all its channels: `none`: not at all; `masked`: enabled at the controller, never taken; `page`: by an
//! interrupt page, never taken; `unmasked`: taken by a handler in the midst of a job.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    channel::Channel, devicetree, interrupts, power, println, record, rt, start, stopwatch::Spread,
    time, trap,
};

tactus_guest::entry!(main);

/// Distance of what a job reads, in bytes: the line of the caches of the profile `soc`.
const LINE: usize = 32;

/// What a job reads.
static SET: [AtomicU64; 64 << 10] = [const { AtomicU64::new(0) }; 64 << 10];

/// Doorbells taken by the handler.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The part of a job in registers only, so that the neighbours' caches cost it nothing.
fn work(steps: u64) {
    // SAFETY: counts a register down.
    unsafe {
        asm!("0: addi {0}, {0}, -1", "bnez {0}, 0b", inout(reg) steps => _, options(nomem, nostack));
    }
}

/// The part of a job that depends on the caches: reads a line after the other.
fn read(set: &[AtomicU64], passes: u64) {
    for _ in 0..passes {
        for word in set.iter().step_by(LINE / size_of::<AtomicU64>()) {
            word.load(Ordering::Relaxed);
        }
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
    let kib = devicetree::number("kib", 0) as usize;
    let passes = devicetree::number("passes", 2);
    let set = &SET[..kib * 1024 / size_of::<AtomicU64>()];
    listen(devicetree::argument("listen").unwrap_or("none"));
    let status = || rt::status().expect("it has a reservation");
    let mut cycles = Spread::new();
    let job = || {
        rt::yield_now();
        let begin = time::cycles();
        work(steps);
        read(set, passes);
        time::cycles() - begin
    };
    // Its start takes longer than a budget.
    for _ in 0..devicetree::number("warm", 1) {
        job();
    }
    let before = status();
    for _ in 0..jobs {
        cycles.add(job());
    }
    // The account of the last job is not closed before the next release.
    rt::yield_now();
    let after = status();
    let [overruns, missed] = [
        after.record.overruns - before.record.overruns,
        after.record.missed - before.record.missed,
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
