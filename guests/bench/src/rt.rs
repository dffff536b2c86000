//! A real-time vCPU of the configuration, with a reservation: how late are its jobs released, whatever goes on beside
//! it? Each job is busy for some time that changes, up to `busy_us`.
//!
//! `late` is from the moment of a release to the first instruction after; `blocked` is how much more the latest was
//! than the earliest: what the hypervisor was doing for others, without looking. Everything is printed after the last
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
    // It has taken longer than a job until here; and the others have yet to start, perhaps.
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
        // The floating-point unit changes hands.
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

/// Whoever looks on sees the rounds begin.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn bench_rounds_begin() {
    // Unlike the other, or they would be one.
    black_box(0);
}

/// Whoever looks on sees them end.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn bench_rounds_end() {
    black_box(1);
}

/// Jobs that were cut off, and that missed their deadlines.
fn lost() -> u64 {
    rt::status().map_or(u64::MAX, |status| status.overruns + status.missed)
}
