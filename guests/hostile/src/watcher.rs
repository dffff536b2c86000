//! The real-time guest beside a hostile one: wakes a thousand times a second and verifies its release latency.
//!
//! Boot arguments: `periods=N` (300): least number of periods; `until=done`: continues until the hostile guest has done
//! all steps, at most `periods_max=N` (60000) periods; `bound=N`: greatest latency allowed, in cycles.
//!
//! The release latency is counted from the deadline to the first instruction of the timer interrupt's vector, as in
//! `bench-switch-rt`. A latency of a period or more is a missed deadline. A cycle is an instruction under QEMU's
//! `-icount shift=0` and on the virtual board in fast mode.
//!
//! It sleeps with a pattern in its floating-point registers, which must be unchanged when it wakes.
#![no_std]
#![no_main]

use tactus_guest::{
    devicetree, power, println, record, start,
    stopwatch::{self, Scale, Spread, Wakeup},
    time, trap,
};
use tactus_guest_hostile::{Page, Word, floating};

tactus_guest::entry!(main);

/// Bound of the latency in instructions, unless the boot arguments override it: the longest non-preemptible path
/// through the hypervisor, which reports a fault (some 5,000), and a reserve for changes.
const BOUND: u64 = 8_000;

fn main() {
    let periods = devicetree::number("periods", 300);
    let bound = devicetree::number("bound", BOUND);
    let until_done = devicetree::argument("until") == Some("done");
    let periods_max = if until_done {
        devicetree::number("periods_max", 60_000)
    } else {
        periods
    };
    // SAFETY: systems with `until=done` have a channel between the two guests.
    let page = until_done.then(|| unsafe { Page::get() });

    let scale = Scale::measure();
    let period = time::hz() / 1000;
    let mut latency = Spread::new();
    let mut missed = 0u64;
    let mut over_bound = 0u64;
    let mut floating_lost = false;
    let mut deadline = time::now() + period;
    let mut done = page.is_none();
    while latency.count < periods_max && (latency.count < periods || !done) {
        let mut wakeup = Wakeup::default();
        let pattern = 0x3ff0_0000_0000_0000 | latency.count;
        floating_lost |= !floating::keeps(pattern, || wakeup = stopwatch::wait_until(deadline));
        assert!(
            wakeup.is_timer(),
            "expected the timer's interrupt, got {}",
            trap::cause_name(wakeup.cause)
        );
        let late = scale.late_by(wakeup, deadline);
        latency.add(late);
        over_bound += u64::from(late > bound);
        // Releases missed meanwhile count as missed, and are not made up for.
        let periods_late = late / scale.cycles(period);
        missed += periods_late;
        deadline += (1 + periods_late) * period;
        done = page.is_none_or(|page| page.load(Word::Done) != 0);
    }

    println!(
        "release latency of {} periods: min {} mean {} max {} instructions, {missed} missed, {over_bound} over {bound}",
        latency.count,
        latency.min,
        latency.mean(),
        latency.max
    );
    record::metric("watcher_periods", latency.count, "count");
    record::metric(
        "watcher_latency_instructions_max",
        latency.max,
        "instructions",
    );
    record::metric(
        "watcher_latency_instructions_mean",
        latency.mean(),
        "instructions",
    );
    record::metric("watcher_missed", missed, "count");
    let verdict = if missed != 0 {
        Err("missed a deadline")
    } else if over_bound != 0 {
        Err("latency over the bound")
    } else if floating_lost {
        Err("floating-point registers changed in its sleep")
    } else if !done {
        Err("the hostile guest has not done everything")
    } else {
        Ok(())
    };
    match verdict {
        Ok(()) => record::pass(start::program()),
        Err(reason) => {
            record::fail(start::program(), reason);
            power::off_failed();
        }
    }
}
