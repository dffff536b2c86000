//! A configured real-time vCPU, with a reservation: measures its release latency under any load beside it.
//! Each job is busy for a varying time, up to `busy_us`.
//!
//! `late` is from the time of a release to the first instruction after it; `blocked` is the difference of the latest
//! and the earliest: non-preemptible work of the hypervisor for other vCPUs. Everything is printed after the last
//! round.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::time::Duration;

use tactus_bench::{Moments, Random, busy_until, next_release, report};
use tactus_guest::stopwatch::Scale;
use tactus_guest::{devicetree, record, rt, start, time};

tactus_guest::entry!(main);

fn main() {
    let rounds = devicetree::number("rounds", 1000);
    let busy = time::ticks(Duration::from_micros(devicetree::number("busy_us", 100)));
    let scale = Scale::measure();
    let mut random = Random::new(1);
    let mut late = Moments::new();
    // The setup has taken longer than a job; and other vCPUs may not have started yet.
    for _ in 0..devicetree::number("skip", 0) {
        next_release();
    }
    next_release();
    let before = lost();
    bench_rounds_begin();
    let mut floating = 1.0;
    for _ in 0..rounds {
        let release = next_release();
        late.add(scale.late_by(release.wakeup, release.due));
        // The floating-point unit changes its owner.
        floating = black_box(floating * 1.000_001 + 0.5);
        busy_until(time::now() + random.below(busy + 1));
    }
    bench_rounds_end();
    let lost = lost() - before;
    report("late", &late);
    record::metric("blocked", late.max - late.min, "cycles");
    if lost == 0 {
        record::pass(start::program());
    } else {
        record::fail(
            start::program(),
            format_args!("{lost} jobs were cut off or late"),
        );
    }
}

/// Marks the start of the rounds for an observer outside.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn bench_rounds_begin() {
    // Differs from the other function, so that the linker does not merge the two.
    black_box(0);
}

/// Marks the end of the rounds for an observer outside.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn bench_rounds_end() {
    black_box(1);
}

/// Jobs that overran their budget, and jobs that missed their deadlines.
fn lost() -> u64 {
    rt::status().map_or(u64::MAX, |status| {
        status.record.overruns + status.record.missed
    })
}
