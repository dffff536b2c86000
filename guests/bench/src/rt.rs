//! A real-time vCPU of the configuration, with a reservation: how late are its jobs released, whatever goes on beside it? Each job is busy for some time that
//! changes, up to `busy_us`.
//!
//! `late` is from the moment of a release to the first instruction after; `blocked` is how much more the latest was than the earliest: what the hypervisor was doing for
//! others, without looking. Everything is printed after the last round.
#![no_std]
#![no_main]

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
    for _ in 0..rounds {
        let release = next_release();
        late.add(scale.late_by(release.wakeup, release.due));
        busy_until(time::now() + random.below(busy + 1));
    }
    let status = rt::status();
    report("late", &late);
    record::metric("blocked", late.max - late.min, "cycles");
    match status {
        Ok(status) if status.missed + status.overruns == 0 => record::pass(start::program()),
        status => record::fail(start::program(), format_args!("jobs were lost: {status:?}")),
    }
}
