//! The paper's experiment: release latency of real-time vCPUs.
//!
//! `vcpus` of them share `harts` harts, each hart in quanta of `quantum_us`. The period of a vCPU is as many quanta as
//! vCPUs share its hart, and they are released one quantum after the other. A job keeps its hart for most of its
//! quantum, `busy_us`, less a number of microseconds below `less_us` that changes from job to job. `rounds` jobs of
//! each are measured.

use core::time::Duration;

use tactus_bench::Thousandths;
use tactus_guest::rt::Reservation;
use tactus_guest::stopwatch::{self, Scale};
use tactus_guest::{devicetree, println, record, time};

use crate::app::{self, App, Work};
use crate::refuse;

/// Capacity for real-time vCPUs.
const MOST: usize = 4;
/// Budget of a job, in hundredths of the quantum.
const BUDGET: u64 = 90;

static APPS: [App; MOST] = [const { App::new() }; MOST];

/// Runs the measurement.
pub fn measure() {
    let microseconds = |name, default| {
        let value = devicetree::number(name, default);
        time::ticks(Duration::from_micros(value))
    };
    let harts = devicetree::number("harts", 1).max(1);
    let vcpus = devicetree::number("vcpus", 1).clamp(1, MOST as u64);
    let rounds = devicetree::number("rounds", 1000);
    let quantum = microseconds("quantum_us", 10_000);
    let busy = microseconds("busy_us", 8_900);
    let less = microseconds("less_us", 100);
    let apps = &APPS[..vcpus as usize];
    let each = vcpus.div_ceil(harts);
    let reservation = Reservation::new(quantum * each, quantum * BUDGET / 100);

    let scale = Scale::measure();
    let begin = time::now() + quantum;
    let mut used = [0u64; 64];
    for (number, app) in (0..).zip(apps) {
        stopwatch::wait_until(begin + number * quantum);
        let work = Work {
            // All are present by then.
            from: begin + vcpus * quantum,
            rounds,
            busy,
            less,
            seed: number,
        };
        let vcpu = app.start(scale, work, reservation);
        match vcpu.status() {
            Ok(status) => used[status.hart as usize] += 1,
            Err(error) => refuse(error),
        }
    }
    if used.iter().any(|used| *used > each) {
        refuse("the vCPUs are not evenly on the harts");
    }
    // Sleeps until they should be done.
    let end = begin + (rounds + 2 + vcpus) * reservation.period;
    app::wait_for(apps, end, quantum);

    let mut worst = [Thousandths(0); 2];
    let mut extremes = [u64::MAX, 0];
    let mut lost = [0; 2];
    for (number, app) in (1..).zip(apps) {
        let Some(found) = app.found() else { return };
        let late = found.late;
        println!(
            "RT-App {number}: {} releases, {} to {} cycles late",
            late.count, late.min, late.max
        );
        let [mean, deviation] = [late.mean(), late.deviation()];
        record::metric(format_args!("jitter_vcpu{number}"), mean, "cycles");
        let name = format_args!("jitter_stddev_vcpu{number}");
        record::metric(name, deviation, "cycles");
        worst = [worst[0].max(mean), worst[1].max(deviation)];
        extremes = [extremes[0].min(late.min), extremes[1].max(late.max)];
        lost[0] += found.status.record.overruns;
        lost[1] += found.status.record.missed;
    }
    record::metric("jitter", worst[0], "cycles");
    record::metric("jitter_stddev", worst[1], "cycles");
    record::metric("jitter_min", extremes[0], "cycles");
    record::metric("jitter_max", extremes[1], "cycles");
    if lost != [0; 2] {
        refuse(format_args!(
            "{} jobs were cut off, {} missed their deadlines",
            lost[0], lost[1]
        ));
    }
}
